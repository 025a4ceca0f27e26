import { describe, expect } from 'bun:test'
import { deviceBody, newApplication, newToken, siteBody } from '../kit/records.ts'
import { browserTest, client, expectSound, longBrowserTest, newSerial, visit } from './support.ts'

/** A host name that no DNS server resolves, so that every callback to it fails. */
const callbackUrl = 'https://callbacks.forecourt-browser-test.net/events'
const newName = () => newSerial('Partner')
const pageOf = (appId: string) => `/console/applications/${appId}`
const detail = async (appId: string) => (await client.operate('getApplication', { appId })).data

describe('applications', () => {
  browserTest(
    'are created with a configuration; the refusal loses nothing, and the secrets are shown once',
    async () => {
      const name = newName()
      const visited = await visit('/console/applications', { role: 'operator' })
      const { page } = visited
      await page.getByRole('button', { name: 'New application' }).click()
      await page.getByLabel('Name', { exact: true }).last().fill(name)
      await page.getByLabel('No limit').check()
      await page.getByLabel('Company name').fill('Harbour Energy')
      await page.getByLabel('Company ID').fill('123456789')
      await page.getByLabel('Callback URL').fill('http://localhost/events')
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
      await expectSound(visited, 'Applications')
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
      expect((await client.operate('getThirdPartyConfig', { appId })).data).toMatchObject({
        operatorName: 'Harbour Energy',
        operatorId: '123456789',
        callbackUrl,
      })
      expect(visited.faults).toEqual([])
    },
  )

  longBrowserTest('are taken offline and online, each after a word of what it does, and edited', async () => {
    const name = newName()
    const { appId, token } = await newApplication(client, { appName: name })
    const visited = await visit(pageOf(appId), { role: 'operator' })
    const { page } = visited
    const main = page.getByRole('main')
    await main.getByRole('button', { name: 'Take offline' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('The application can’t create new devices.').waitFor()
    // Nothing changes before the dialog is confirmed.
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    expect((await detail(appId)).onlineStatus).toBe(1)
    await main.getByRole('button', { name: 'Take offline' }).click()
    await dialog.getByRole('button', { name: 'Take offline' }).click()
    await main.getByRole('button', { name: 'Bring online' }).waitFor()
    expect((await client.call('createDevice', deviceBody(appId), { token })).code).toBe(10006)
    expect((await client.call('saveSite', siteBody(appId), { token })).code).toBe(0)
    await main.getByRole('button', { name: 'Bring online' }).click()
    await dialog.getByRole('button', { name: 'Bring online' }).click()
    await main.getByRole('button', { name: 'Take offline' }).waitFor()
    expect((await detail(appId)).onlineStatus).toBe(1)
    await page.getByRole('button', { name: 'Edit' }).click()
    await dialog.getByLabel('Token lifetime (seconds)').fill('3600')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.waitFor({ state: 'detached' })
    expect((await detail(appId)).tokenLifetimeSeconds).toBe(3600)
  })

  longBrowserTest('show until when the old secret works after a rotation, and end it earlier', async () => {
    const name = newName()
    const { appId, appSecret } = await newApplication(client, { appName: name })
    const visited = await visit(pageOf(appId), { role: 'operator' })
    const { page } = visited
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
    await expectSound(visited, name)

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
    const trail = await visit('/console/events?tab=audit&type=application.previousSecretEnded', {
      role: 'admin',
      language: 'zh',
    })
    await trail.page.getByText('停用应用旧密钥').first().waitFor()
    expect(visited.faults.filter((fault) => !fault.includes('412'))).toEqual([])
  })
})
