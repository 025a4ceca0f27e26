import { expect } from 'bun:test'
import { newApplication, newSerial, newToken } from '../kit/records.ts'
import { confirm, fillIn } from './hand.ts'
import { failingUrl as callbackUrl } from './records.ts'
import { browserTest, client, expectSound, longBrowserTest, visit } from './support.ts'

const newName = () => newSerial('Partner')
const pageOf = (appId: string) => `/console/applications/${appId}`
const detail = async (appId: string) => (await client.operate('getApplication', { appId })).data

browserTest('applications are created with a configuration; a refusal loses nothing; secrets show once', async () => {
  const name = newName()
  const { page } = await visit('/console/applications', { role: 'operator' })
  await page.getByRole('button', { name: 'New application' }).click()
  await page.getByLabel('Name', { exact: true }).last().fill(name)
  await page.getByLabel('No limit').check()
  const company = { 'Company name': 'Harbour Energy', 'Company ID': '123456789' }
  await fillIn(page, { ...company, 'Callback URL': 'http://localhost/events' })
  await page.getByRole('button', { name: 'Create', exact: true }).click()
  await page.getByRole('alert').getByText('Error 10001').waitFor()
  // The faulty field is marked, and the entered values are still in the form.
  expect(await page.getByLabel('Callback URL').getAttribute('aria-invalid')).toBe('true')
  expect(await page.getByLabel('Company name').inputValue()).toBe('Harbour Energy')
  expect((await client.operate('pageApplications', { appName: name })).data.list).toEqual([])
  await page.getByLabel('Callback URL').fill(callbackUrl)
  await page.getByLabel('Callback URL').press('Enter')
  // At the end it shows a sheet for the integrator: address, id, secrets, guide, and commands with these values.
  const sheet = page.getByRole('dialog', { name: `Integration details for ${name}` })
  await sheet.getByText('Copy this now.').waitFor()
  const shown = async (key: string) => (await sheet.getByTestId(`sheet-${key}`).innerText()).trim()
  const secret = await shown('appSecret')
  expect(await shown('callbackSecret')).toStartWith('whsec_')
  await expectSound(page, 'Applications')
  await sheet.getByRole('button', { name: 'Copy all' }).click()
  await page.getByText('Copied').waitFor()
  const copied = await page.evaluate(() => navigator.clipboard.readText())
  for (const part of [client.url, await shown('appId'), secret, '/docs/en/quick-start']) {
    expect(copied).toContain(part)
  }
  await page.emulateMedia({ media: 'print' })
  await sheet.getByTestId('sheet-appSecret').waitFor()
  expect(await sheet.getByRole('button', { name: 'Print' }).isVisible()).toBe(false)
  await page.emulateMedia({ media: 'screen' })
  await sheet.getByRole('button', { name: 'I’ve saved it' }).click()
  await page.getByRole('heading', { level: 1, name }).waitFor()
  const { list } = (await client.operate('pageApplications', { appName: name })).data
  expect(list).toMatchObject([{ appName: name, rateLimitPerSecond: null, tokenLifetimeSeconds: 7200 }])
  const appId = list[0]?.appId ?? ''
  expect(await newToken(client, appId, secret)).not.toBe('')
  const config = { operatorName: 'Harbour Energy', operatorId: '123456789', callbackUrl }
  expect((await client.operate('getThirdPartyConfig', { appId })).data).toMatchObject(config)
})

longBrowserTest('applications are taken offline and online, after a word of what it does, and edited', async () => {
  const name = newName()
  const { appId } = await newApplication(client, { appName: name })
  const { page } = await visit(pageOf(appId), { role: 'operator' })
  const main = page.getByRole('main')
  await main.getByRole('button', { name: 'Take offline' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText('The application can’t create new devices.').waitFor()
  // Nothing changes before the dialog is confirmed.
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  expect((await detail(appId)).onlineStatus).toBe(1)
  await confirm(page, 'Take offline')
  await main.getByRole('button', { name: 'Bring online' }).waitFor()
  expect((await detail(appId)).onlineStatus).toBe(2)
  await confirm(page, 'Bring online')
  await main.getByRole('button', { name: 'Take offline' }).waitFor()
  expect((await detail(appId)).onlineStatus).toBe(1)
  await page.getByRole('button', { name: 'Edit' }).click()
  await dialog.getByLabel('Token lifetime (seconds)').fill('3600')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await dialog.waitFor({ state: 'detached' })
  expect((await detail(appId)).tokenLifetimeSeconds).toBe(3600)
})

longBrowserTest('applications show until when the old secret works after a rotation, and end it earlier', async () => {
  const name = newName()
  const { appId, appSecret } = await newApplication(client, { appName: name })
  const { page } = await visit(pageOf(appId), { role: 'operator' })
  await page.getByRole('heading', { level: 1, name }).waitFor()
  expect(await page.getByText('Old secret', { exact: true }).count()).toBe(0)
  await page.getByRole('button', { name: 'Rotate secret' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('for 1 day').check()
  await dialog.getByRole('textbox').fill(name)
  await dialog.getByRole('button', { name: 'Rotate secret' }).click()
  await page.getByRole('button', { name: 'I’ve saved it' }).click()
  const { overlapUntil } = await detail(appId)
  await page.getByText(`Valid alongside the new one until ${overlapUntil}`).waitFor()
  await expectSound(page, name)

  // Another rotation meanwhile: its old secret is not the one that the dialog named.
  await page.getByRole('button', { name: 'End now' }).click()
  await dialog.getByText(`stops working at ${overlapUntil}`).waitFor()
  const second = await client.operate('rotateApplicationSecret', { appId, overlapSeconds: 7200 })
  await dialog.getByRole('button', { name: 'End now' }).click()
  await dialog.getByRole('alert').getByText('Error 10009').waitFor()
  expect((await detail(appId)).overlapUntil).toBe(second.data.overlapUntil)
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  await expect(newToken(client, appId, appSecret)).rejects.toThrow('10030')

  await page.reload()
  await page.getByText(`until ${second.data.overlapUntil}`).waitFor()
  await page.getByRole('button', { name: 'Rotate secret' }).click()
  await dialog.getByText(`still valid until ${second.data.overlapUntil}`).waitFor()
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  await page.getByRole('button', { name: 'End now' }).click()
  await dialog.getByText('stop working within a second').waitFor()
  await dialog.getByRole('button', { name: 'End now' }).click()
  await page.getByText('Old secret', { exact: true }).waitFor({ state: 'detached' })
  expect((await detail(appId)).overlapUntil).toBeNull()
  await newToken(client, appId, second.data.appSecret ?? '')
})
