import { expect } from 'bun:test'
import { newPerson, signIn } from '../kit/people.ts'
import { newApplication, newSerial } from '../kit/records.ts'
import { newDevice, newSite } from './records.ts'
import { browserTest, client, expectFramed, expectSound, leadTo, longBrowserTest, visit } from './support.ts'

/** A new application with events of a device and of a site. */
async function eventful() {
  const app = await newApplication(client)
  const { deviceNo } = await newDevice(app)
  await client.call('reportDeviceState', { deviceNo, status: 2, statusRemark: 'arm bent' }, app)
  const { id } = await newSite(app)
  await client.call('updateSite', { id, contacts: 'Li Lei' }, app)
  return { appId: app.appId, deviceNo, siteId: id }
}

browserTest('events of an application are shown newest first, with what they changed', async () => {
  const { appId, deviceNo, siteId } = await eventful()
  const { page } = await visit(`/console/events?appId=${appId}`, { role: 'viewer' })
  await page.getByRole('button', { name: /^Site updated, / }).waitFor()
  const first = page.getByRole('row').nth(1)
  await first.getByRole('button', { name: /^Site updated, / }).waitFor()
  await expectSound(page, 'Events', 'events')
  await first.getByRole('button', { name: /^Site updated, / }).click()
  const drawer = page.getByRole('dialog')
  // The change is shown in words, and the record's JSON is folded.
  const sentences = drawer.getByRole('listitem')
  await sentences.getByText('contact').waitFor()
  expect(await sentences.allInnerTexts()).toEqual(['contact Wang Fang → Li Lei'])
  expect(await drawer.getByText('"contactsPhone"').isVisible()).toBe(false)
  await drawer.getByText('Full record (JSON)').click()
  await drawer.getByText('"contactsPhone"').waitFor()
  expect(await drawer.getByRole('link', { name: `Riverside charging park ${siteId}` }).getAttribute('href')).toBe(
    `/console/sites/${appId}/${siteId}`,
  )
  await expectSound(page, 'Events', 'event')
  await leadTo(page, `/console/events?appId=${appId}`)
  await drawer.waitFor({ state: 'detached' })
  await page.getByLabel('Serial number').fill(deviceNo)
  await page.getByRole('button', { name: /^Site updated, / }).waitFor({ state: 'detached' })
  await page.getByRole('button', { name: /^Device bound, / }).waitFor()
  await page.getByRole('button', { name: /^Device state changed, / }).click()
  await page.getByRole('dialog').getByRole('listitem').getByText('arm bent').waitFor()
  // The page's URL shows the same event to a colleague.
  const colleague = await visit(page.url().replace(client.url, ''), { role: 'operator' })
  await colleague.page.getByRole('dialog').getByRole('listitem').getByText('arm bent').waitFor()
  await colleague.page.keyboard.press('Escape')
  await colleague.page.getByRole('dialog').waitFor({ state: 'detached' })
  await colleague.page.getByLabel('Serial number').fill('no-such-device')
  await colleague.page.getByText('No results match these filters.').waitFor()
})

longBrowserTest('events of a person or a key are found by a part of the name, also of a new one', async () => {
  const person = await newPerson(client, 'operator')
  const headers = await signIn(client, person)
  const keyName = newSerial('robot')
  const made = await client.operate('createOperatorKey', { name: keyName, role: 'operator' })
  const { appId } = await newApplication(client)
  const rename = (appName: string, as: { headers: { cookie: string } } | { token: string }) =>
    client.call('updateApplication', { appId, appName }, as)
  await rename('by a person', { headers })
  await rename('by a key', { token: String(made.data.operatorKey) })
  const { page } = await visit('/console/events', { role: 'admin' })
  const who = page.getByRole('combobox', { name: 'By' })
  const chosen = page.locator('.ant-select').filter({ has: who })
  const changes = page.getByRole('button', { name: /^Application updated, / })
  const options = page.locator('.ant-select-item-option')

  // By the keyboard: a part of the name, and Enter.
  await who.focus()
  await page.keyboard.type(person.name.slice(4).toUpperCase())
  await options.getByText(person.name).waitFor()
  expect(await options.count()).toBe(1)
  await expectSound(page, 'Events')
  await page.keyboard.press('Enter')
  await page.waitForURL(({ searchParams }) => searchParams.get('actorId') === String(person.id))
  await page.getByRole('row').nth(3).waitFor({ state: 'detached' })
  await changes.waitFor()
  const actors = await page.locator('tbody td:has([title^="operator"])').allInnerTexts()
  expect(actors).toEqual([person.name, person.name])

  // Under the new name the same account is meant: what it did before stays.
  const renamed = newSerial('renamed')
  await client.operate('updateOperator', { id: person.id, name: renamed })
  await rename('by a renamed person', { headers })
  await page.reload()
  await changes.nth(1).waitFor()
  await chosen.getByText(renamed).waitFor()
  await page.getByRole('cell', { name: person.name }).first().waitFor()
  await expectFramed(page, 'Events')

  await who.fill(keyName.slice(3))
  await options.getByText(keyName).click()
  await page.waitForURL(({ searchParams }) => searchParams.get('actor') === 'operatorKey:')
  await changes.nth(1).waitFor({ state: 'detached' })
  await page.getByRole('cell', { name: keyName }).waitFor()
  await who.fill(newSerial('nobody'))
  await page.getByText('No account or key has this name.').waitFor()
  await page.keyboard.press('Escape')

  // An account that is gone keeps its events, and has an id left.
  await client.operate('deleteOperator', { id: person.id })
  await page.goto(`${client.url}/console/events?actor=operator%3A&actorId=${person.id}`)
  await changes.nth(1).waitFor()
  await chosen.getByText(`Account #${person.id}`).waitFor()
})
