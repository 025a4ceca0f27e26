import { expect } from 'bun:test'
import { newApplication, newSerial } from '../kit/records.ts'
import { confirm, fillIn, press } from './hand.ts'
import { failingUrl as callbackUrl } from './records.ts'
import { browserTest, client, expectFramed, expectSound, longBrowserTest, visit } from './support.ts'

const parking = { freeMinutes: 15, unitMinutes: 10, unitPrice: '1' }

const pageOf = (appId: string) => `/console/applications/${appId}/callback`

browserTest('a callback is configured, tested, and given a new secret', async () => {
  const name = newSerial('Partner')
  const { appId } = (await client.operate('createApplication', { appName: name })).data
  const { page } = await visit(pageOf(appId), { role: 'operator' })
  await page.getByText('The third-party configuration is missing.').waitFor()
  await expectFramed(page, name)
  await press(page, 'Add configuration')
  await fillIn(page, { 'Company name': 'Harbour Energy', 'Company ID': '12' })
  await page.getByText('Enter exactly 9 letters or digits.').waitFor()
  await fillIn(page, { 'Company ID': '', 'Callback URL': 'https://10.0.0.1/events' })
  await press(page, 'Save')
  await page.getByRole('alert').getByText('Error 10001').waitFor()
  expect((await client.operate('getThirdPartyConfig', { appId })).code).toBe(30003)
  await page.getByLabel('Callback URL').fill(callbackUrl)
  // The field's error disappears when its value changes.
  await page.getByLabel('Callback URL').and(page.locator(':not([aria-invalid=true])')).waitFor()
  const events = page.getByLabel('Events to send')
  for (const type of ['site.created', 'site.deleted']) {
    await events.fill(type)
    await page.getByTitle(type).waitFor()
    await events.press('Enter')
  }
  await events.press('Escape')
  await page.getByRole('button', { name: 'Save' }).click()
  const keepSecret = async () => {
    const secret = page.getByRole('dialog', { name: `Callback secret of ${name}` })
    await secret.getByText(/^whsec_/).waitFor()
    await press(secret, 'I’ve saved it')
  }
  await keepSecret()
  expect((await client.operate('getThirdPartyConfig', { appId })).data).toMatchObject({
    operatorName: 'Harbour Energy',
    operatorId: null,
    callbackUrl,
    callbackEvents: ['site.created', 'site.deleted'],
  })
  await page.getByRole('button', { name: 'Send test event' }).click()
  await page.getByText('Test event not delivered.').waitFor({ timeout: 20_000 })
  // A test is no traffic: the callback's health, next to its settings, does not count it.
  await page.getByText('No attempts').first().waitFor()
  await expectSound(page, name)
  await confirm(page, 'Rotate callback secret')
  await keepSecret()

  // An empty selection of events means all events. The settings that another person saved meanwhile are not
  // overwritten.
  await page.getByRole('button', { name: 'Edit' }).click()
  await page.getByLabel('Company name').fill('Harbour Energy Group')
  const theirs = { operatorName: 'Harbour', operatorId: 'ABCDEFGHI', callbackUrl }
  await client.operate('saveThirdPartyConfig', { appId, ...theirs })
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('button', { name: 'Keep mine and save' }).click()
  await page.getByRole('dialog').waitFor({ state: 'hidden' })
  const { data } = await client.operate('getThirdPartyConfig', { appId })
  expect(data).toMatchObject({ operatorName: 'Harbour Energy Group', operatorId: 'ABCDEFGHI' })
  expect(data.callbackEvents.length).toBeGreaterThan(2)
})

browserTest('what is typed into a new configuration stays while an event makes the page read again', async () => {
  const { appId } = (await client.operate('createApplication', { appName: newSerial('Partner') })).data
  const { page } = await visit(pageOf(appId), { role: 'operator' })
  await press(page, 'Add configuration')
  await fillIn(page, { 'Company name': 'Harbour Energy' })
  const asked = Promise.withResolvers<void>()
  const answered = Promise.withResolvers<void>()
  await page.route('**/thirdPartyConfig/detail?*', async (route) => {
    asked.resolve()
    await answered.promise
    await route.continue()
  })
  const made = await client.operate('saveBillingRule', { appId, ruleName: 'Parking', ruleType: 3, ...parking })
  expect(made.code).toBe(0)
  await asked.promise
  await page.waitForTimeout(100)
  expect(await page.getByLabel('Company name').inputValue({ timeout: 1000 })).toBe('Harbour Energy')
  answered.resolve()
  await page.unrouteAll({ behavior: 'wait' })
  expect(await page.getByLabel('Company name').inputValue({ timeout: 1000 })).toBe('Harbour Energy')
})

longBrowserTest('a callback hides its query also from an admin, and keeps it through an edit', async () => {
  const thirdPartyConfig = { operatorName: 'Harbour', callbackUrl: `${callbackUrl}?key=s3cret` }
  const { appId } = await newApplication(client, { thirdPartyConfig })
  const { page } = await visit(pageOf(appId), { role: 'admin' })
  const stored = async () => (await client.operate('getThirdPartyConfig', { appId })).data.callbackUrl
  await page.getByText(`${callbackUrl}?…`).waitFor()
  expect(await page.getByText('s3cret').count()).toBe(0)
  const save = async (address: string) => {
    await page.getByRole('button', { name: 'Edit' }).click()
    const field = page.getByLabel('Callback URL')
    expect(await field.inputValue()).toBe(`${callbackUrl}?…`)
    await fillIn(page, { 'Company name': 'Harbour 2', 'Callback URL': address })
    await press(page, 'Save')
    await field.waitFor({ state: 'hidden' })
  }
  await save(`${callbackUrl}?…`)
  expect(await stored()).toBe(`${callbackUrl}?key=s3cret`)
  // At another address the service has stored no query, so the console sends it along.
  await save(`${callbackUrl}/moved?…`)
  expect(await stored()).toBe(`${callbackUrl}/moved?key=s3cret`)
  await page.getByRole('button', { name: 'Show query' }).click()
  await page.getByText(`${callbackUrl}/moved?key=s3cret`).waitFor()
})
