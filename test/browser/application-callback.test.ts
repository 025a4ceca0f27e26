import { describe, expect } from 'bun:test'
import { newApplication } from '../kit/records.ts'
import { browserTest, client, expectFramed, expectSound, longBrowserTest, newSerial, visit } from './support.ts'

/** A host name that no DNS server resolves, so that every callback to it fails. */
const callbackUrl = 'https://callbacks.forecourt-browser-test.net/events'
const newName = () => newSerial('Partner')
const pageOf = (appId: string, tab = '') => `/console/applications/${appId}${tab === '' ? '' : `/${tab}`}`

describe('the callback of an application', () => {
  browserTest('is configured, tested, and given a new secret', async () => {
    const name = newName()
    const created = await client.operate('createApplication', { appName: name })
    const { appId } = created.data
    const visited = await visit(pageOf(appId, 'callback'), { role: 'operator' })
    const { page } = visited
    await page.getByText('The third-party configuration is missing.').waitFor()
    await expectFramed(visited, name)
    await page.getByRole('button', { name: 'Add configuration' }).click()
    await page.getByLabel('Company name').fill('Harbour Energy')
    await page.getByLabel('Company ID').fill('12')
    await page.getByText('Enter exactly 9 letters or digits.').waitFor()
    await page.getByLabel('Company ID').fill('')
    await page.getByLabel('Callback URL').fill('https://10.0.0.1/events')
    await page.getByRole('button', { name: 'Save' }).click()
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
    const secret = page.getByRole('dialog', { name: `Callback secret of ${name}` })
    await secret.getByText(/^whsec_/).waitFor()
    await secret.getByRole('button', { name: 'I’ve saved it' }).click()
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
    await expectSound(visited, name)
    await page.getByRole('button', { name: 'Rotate callback secret' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Rotate callback secret' }).click()
    await secret.getByText(/^whsec_/).waitFor()
    await secret.getByRole('button', { name: 'I’ve saved it' }).click()

    // An empty selection of events means all events. The settings that another person saved meanwhile are not
    // overwritten.
    await page.getByRole('button', { name: 'Edit' }).click()
    await page.getByLabel('Company name').fill('Harbour Energy Group')
    await client.operate('saveThirdPartyConfig', {
      appId,
      operatorName: 'Harbour',
      operatorId: 'ABCDEFGHI',
      callbackUrl,
    })
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('button', { name: 'Keep mine and save' }).click()
    await page.getByRole('dialog').waitFor({ state: 'hidden' })
    const { data } = await client.operate('getThirdPartyConfig', { appId })
    expect(data).toMatchObject({ operatorName: 'Harbour Energy Group', operatorId: 'ABCDEFGHI' })
    expect(data.callbackEvents.length).toBeGreaterThan(2)
    expect(visited.faults).toEqual([])
  })

  longBrowserTest('hides its query also from an admin, and keeps it through an edit', async () => {
    const thirdPartyConfig = { operatorName: 'Harbour', callbackUrl: `${callbackUrl}?key=s3cret` }
    const { appId } = await newApplication(client, { thirdPartyConfig })
    const { page, faults } = await visit(pageOf(appId, 'callback'), { role: 'admin' })
    const stored = async () => (await client.operate('getThirdPartyConfig', { appId })).data.callbackUrl
    await page.getByText(`${callbackUrl}?…`).waitFor()
    expect(await page.getByText('s3cret').count()).toBe(0)
    const save = async (address: string) => {
      await page.getByRole('button', { name: 'Edit' }).click()
      const field = page.getByLabel('Callback URL')
      expect(await field.inputValue()).toBe(`${callbackUrl}?…`)
      await page.getByLabel('Company name').fill('Harbour 2')
      await field.fill(address)
      await page.getByRole('button', { name: 'Save' }).click()
      await field.waitFor({ state: 'hidden' })
    }
    await save(`${callbackUrl}?…`)
    expect(await stored()).toBe(`${callbackUrl}?key=s3cret`)
    // At another address the service has stored no query, so the console sends it along.
    await save(`${callbackUrl}/moved?…`)
    expect(await stored()).toBe(`${callbackUrl}/moved?key=s3cret`)
    await page.getByRole('button', { name: 'Show query' }).click()
    await page.getByText(`${callbackUrl}/moved?key=s3cret`).waitFor()
    expect(faults).toEqual([])
  })
})
