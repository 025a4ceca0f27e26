import { expect } from 'bun:test'
import { newApplication, type TestApplication } from '../kit/records.ts'
import { becomesTrue } from '../kit/waits.ts'
import { Hand, press, shows } from './hand.ts'
import { failingUrl as callbackUrl, newSite } from './records.ts'
import { browserTest, client, expectFramed, expectSound, longBrowserTest, visit } from './support.ts'

/**
 * An application with deliveries: the deliveries of events wait for another attempt, the delivery of a test is dead.
 */
async function withDeliveries(): Promise<TestApplication> {
  const app = await newApplication(client, { thirdPartyConfig: { operatorName: 'Test operator', callbackUrl } })
  for (const siteName of ['Site 0', 'Site 1']) await newSite(app, { siteName })
  await client.call('testDelivery', {}, { token: app.token })
  const isThere = async () => {
    const { list } = (await client.call('pageDeliveries', {}, { token: app.token })).data
    // Those of the configuration, the two sites and the test.
    return list.filter(({ attempts }) => attempts > 0).length === 4
  }
  expect(await becomesTrue(isThere)).toBe(true)
  return app
}

const deliveries = async (appId: string, filter: Record<string, string> = {}) =>
  (await client.operate('pageDeliveries', { appId, ...filter })).data.list

const address = (appId: string, rest = '') => `/console/deliveries?appId=${appId}${rest}`

browserTest('deliveries are listed, filtered, and told in full, light and dark', async () => {
  const { appId } = await withDeliveries()
  const { page } = await visit(address(appId), { role: 'viewer' })
  await page.getByText('Failed').first().waitFor()
  await expectSound(page, 'Deliveries', 'deliveries')
  // A viewer has no controls that send callbacks.
  expect(await page.getByRole('button', { name: 'Replay a time range' }).count()).toBe(0)
  expect(await page.getByRole('checkbox').count()).toBe(0)
  await page.getByRole('row', { name: 'Site created' }).first().getByRole('button').click()
  const drawer = page.getByRole('dialog')
  await drawer.getByText('"siteName": "Site 1"').waitFor()
  expect(await drawer.getByRole('button', { name: 'Replay' }).count()).toBe(0)
  await drawer.getByRole('columnheader', { name: 'HTTP status' }).waitFor()
  await expectSound(page, 'Deliveries', 'delivery')
  await page.goto(client.url + address(appId, '&status=3'))
  await page.getByRole('row', { name: 'test' }).getByRole('button').click()
  await page.getByText('A test event. It isn’t in the event log.').waitFor()
  await page.keyboard.press('Escape')
  // The figures of the overview lead to the list without tests.
  await new Hand(page).choose(page.getByRole('combobox', { name: 'Type' }), 'All except tests')
  await page.getByText('No results match these filters.').waitFor()
  // What waits and what is dead is one choice.
  await page.goto(client.url + address(appId, '&status=undelivered'))
  await page.getByRole('cell', { name: 'Pending' }).first().waitFor()
  expect(await page.getByRole('cell', { name: 'Failed' }).count()).toBe(1)
  await page.goto(client.url + address(appId, '&status=2'))
  await page.getByText('No results match these filters.').waitFor()
  await page.getByRole('button', { name: 'Clear filters' }).click()
  await page.getByRole('row', { name: 'Site created' }).first().waitFor()
  expect(new URL(page.url()).searchParams.get('appId')).toBe(appId)
  // The receiver has never taken anything, as right after it was configured: that is no failure yet.
  await page.goto(`${client.url}/console/applications/${appId}/callback`)
  await page.getByTestId('callback-state').getByText('No successful delivery yet').waitFor()
  await page.getByText('before the receiver has the secret to verify it').waitFor()
  await expectSound(page, 'test', 'callback-unanswered')
  // Those of all applications are not the newest first, and the list says so.
  const order = page.getByText('Sorted by App ID')
  expect(await order.count()).toBe(0)
  await page.goto(`${client.url}/console/deliveries`)
  await order.waitFor()
  await page.goto(`${client.url}/console/price-changes`)
  await order.waitFor()
})

longBrowserTest('deliveries are sent again: all that match, counted before, one, and a time range', async () => {
  const { appId } = await withDeliveries()
  const [dead] = await deliveries(appId, { status: '3' })
  const { page } = await visit(address(appId, '&status=undelivered'), { role: 'operator' })
  await page.getByRole('button', { name: 'Replay all 4…' }).click()
  const range = page.getByRole('dialog', { name: 'Replay a time range' })
  // Without the test, which has no event.
  await range.getByText('Deliveries in this range now: 3.').waitFor()
  await expectFramed(page, 'Deliveries')
  await range.getByRole('button', { name: 'Replay' }).click()
  await range.getByText('3 deliveries will be replayed.').waitFor()
  await range.getByText(/^Pending in this range: \d+\.$/).waitFor()
  await range.getByRole('button', { name: 'Close' }).last().click()
  // All deliveries of one type cannot be sent again as a whole, and the button says so.
  await page.goto(client.url + address(appId, '&type=site.created'))
  const all = page.getByRole('button', { name: 'Replay all 2…' })
  await all.waitFor()
  expect(await all.isDisabled()).toBe(true)
  await all.focus()
  await page.getByRole('tooltip').getByText('Clear the other filters').waitFor()

  await page.goto(client.url + address(appId))
  await press(page, new RegExp(`view delivery ${dead?.id}`))
  await press(page.getByRole('dialog'), 'Replay')
  await page.getByText(`Delivery ${dead?.id} will be replayed.`).waitFor()
  const times = new URLSearchParams({ timeFrom: '2020-01-01 00:00:00', timeTo: '2099-12-31 23:59:59' })
  await page.goto(client.url + address(appId, `&${times}`))
  await press(page, 'Replay a time range')
  await range.getByText('Replays all events in this time range').waitFor()
  await press(range, 'Replay')
  // The third delivery is that of the event which saving the configuration created.
  await range.getByText('3 deliveries will be replayed.').waitFor()
})

longBrowserTest('deliveries are no longer sent without a callback, which stops a selection at the first', async () => {
  const { appId, token } = await withDeliveries()
  await client.call('saveThirdPartyConfig', { operatorName: 'Test operator' }, { token })
  const before = await deliveries(appId)
  const { page } = await visit(address(appId), { role: 'admin' })
  await page.getByRole('checkbox', { name: 'Select all' }).check()
  await page.getByRole('button', { name: `Replay ${before.length}` }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('button', { name: 'Replay' }).click()
  await shows(dialog, `Stopped. 0 of ${before.length} will be replayed.`, 'Error 10042')
  expect((await deliveries(appId)).map(({ status }) => status)).toEqual(before.map(({ status }) => status))
  await dialog.getByRole('link', { name: 'View callback settings' }).click()
  await page.waitForURL(`**/console/applications/${appId}/callback`)
})
