import { afterAll, expect } from 'bun:test'
import { CallbackBed } from '../faults/callback-bed.ts'
import { type Answer, answerWith } from '../kit/receiver.ts'
import { becomes } from '../kit/waits.ts'
import { shows } from './hand.ts'
import { expectSound, longBrowserTest, visit } from './support.ts'

// A receiver that answers 410 stops its callback: what the console tells of the events of that time, and how it sends
// them. With a service of its own, whose callbacks reach this machine.

let bed: CallbackBed | undefined
afterAll(() => bed?.stop(), 60_000)

longBrowserTest('events of a stopped callback are told on its page and in the list, and sent in one act', async () => {
  bed ??= await CallbackBed.start()
  const { client, receiver } = bed
  let isGone = false
  const answer: Answer = (received, response, socket) => answerWith(isGone ? 410 : 200)(received, response, socket)
  const app = await bed.newEndpoint(answer)
  const { appId, token } = app
  const health = async () => (await client.call('getCallbackHealth', { appId }, { token })).data
  isGone = true
  await bed.createDeviceOf(app)
  expect(await becomes('stopped', async () => (await health()).state)).toBe('stopped')
  await bed.createDevicesOf(app, 3)
  const { missedFrom, missedTo } = await health()
  const callback = `/console/applications/${appId}/callback`
  const { page } = await visit(callback, { role: 'operator', through: client })
  const sentence = `3 missed events from ${missedFrom} to ${missedTo}, while the endpoint was disabled (410).`
  await shows(page, sentence, 'Save the configuration to enable the endpoint')
  expect(await page.getByRole('button', { name: 'Replay missed events' }).count()).toBe(0)

  isGone = false
  const callbackUrl = receiver.url(app.path, answer)
  await client.call('saveThirdPartyConfig', { appId, operatorName: 'Operator', callbackUrl }, { token })
  expect(await becomes('delivering', async () => (await health()).state)).toBe('delivering')
  await page.reload()
  await page.getByText(sentence).waitFor()
  await page.getByRole('button', { name: 'Replay missed events' }).waitFor()

  // The list of what is not delivered has only deliveries, and says so; so does the form.
  await page.goto(`${client.url}/console/deliveries?appId=${appId}&status=undelivered`)
  await page.getByText(sentence).waitFor()
  await expectSound(page, 'Deliveries')
  await page.goto(`${client.url}/console/deliveries?appId=${appId}&timeTo=2020-01-01+00%3A00%3A00`)
  await page.getByText('No results match these filters.').waitFor()
  expect(await page.getByText('missed events from').count()).toBe(0)
  await page.goto(`${client.url}/console/deliveries?appId=${appId}&status=3`)
  await page.getByRole('button', { name: 'Replay all 1…' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText('in this range: 3. They have no delivery status').waitFor()
  // The form says what it sends, by the state that is chosen.
  await dialog.getByText('Replays the events in this time range').waitFor()
  expect(await dialog.getByText('all events in this time range').count()).toBe(0)
  await dialog.getByRole('button', { name: 'Cancel' }).click()

  await page.getByRole('button', { name: 'Replay missed events' }).click()
  await dialog.getByText('in this range: 3. They’re replayed too.').waitFor()
  const before = receiver.at(app.path).length
  await dialog.getByRole('button', { name: 'Replay' }).click()
  await dialog.getByText(/^[34] deliveries will be replayed\.$/).waitFor()
  expect((await receiver.waitFor(app.path, before + 3)).length).toBeGreaterThanOrEqual(before + 3)
  await dialog.getByRole('button', { name: 'Close' }).last().click()
  await page.getByText(sentence).waitFor({ state: 'detached' })
})
