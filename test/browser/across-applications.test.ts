import { describe, expect } from 'bun:test'
import { getDeviceHistory, transferDevice } from '../../src/device-ownership/contract.ts'
import { reportDeviceState } from '../../src/device-state/contract.ts'
import { createDevice } from '../../src/devices/contract.ts'
import { deviceBody, newApplication, takeOffline } from '../harness.ts'
import { newRule, newSite } from './site-support.ts'
import { browserTest, client, expectFramed, expectSound, leadTo, newSerial, picture, visit } from './support.ts'

/** Two applications, each with a device of this serial's beginning, the second's faulty. */
async function newDevices(name: string) {
  const one = await newApplication(client, { appName: `${name} one` })
  const two = await newApplication(client, { appName: `${name} two` })
  for (const { appId, token } of [one, two]) {
    const deviceNo = `${name}-${appId}`
    await client.call(createDevice, deviceBody(appId, { deviceNo }), { token })
    if (appId === two.appId) await client.call(reportDeviceState, { deviceNo, status: 2 }, { token })
  }
  return { one, two }
}

describe('over all applications', () => {
  browserTest('devices are found by a part of their serial, and the faulty ones from the overview', async () => {
    const name = newSerial('Across')
    const { one, two } = await newDevices(name)
    const visited = await visit('/console', { role: 'viewer' })
    const { page } = visited
    await page.getByRole('link', { name: 'Faulty' }).click()
    await page.waitForURL('**/console/devices?status=2')
    await page.getByLabel('Serial number').fill(name.slice(2).toLowerCase())
    await page.getByRole('cell', { name: `${name}-${two.appId}` }).waitFor()
    await page.getByText('1 in all').waitFor()
    await page.getByRole('link', { name: `${name} two` }).waitFor()
    await leadTo(page, `/console/devices?deviceNo=${name.slice(2)}`)
    await page.getByText('2 in all').waitFor()
    await page.getByRole('link', { name: `${name} one` }).waitFor()
    await expectSound(visited, 'Devices')
    await picture(page, 'devices-of-all')
    // An application is one filter among others; within one, its name would be the same in each row.
    await leadTo(page, `/console/devices?deviceNo=${name.slice(2)}&appId=${one.appId}`)
    await page.getByText('1 in all').waitFor()
    expect(await page.getByRole('columnheader', { name: 'Application' }).count()).toBe(0)
  })

  browserTest('several devices are moved and unbound at once, with one reason and an outcome each', async () => {
    const name = newSerial('Several')
    const { one, two } = await newDevices(name)
    const target = await newApplication(client, { appName: `${name} target` })
    const serials = [one, two].map(({ appId }) => `${name}-${appId}`)
    const visited = await visit(`/console/devices?deviceNo=${name}`, { role: 'operator' })
    const { page } = visited
    await page.getByText('2 in all').waitFor()
    await page.getByRole('checkbox', { name: 'Select all' }).check()
    await page.getByRole('button', { name: 'Transfer 2' }).click()
    const transfer = page.getByRole('dialog', { name: 'Transfer 2 devices?' })
    await transfer.getByRole('combobox', { name: 'Application' }).fill(`${name} target`)
    await page
      .locator('.ant-select-item-option', { hasText: `${name} target` })
      .first()
      .waitFor()
    await transfer.getByRole('combobox', { name: 'Application' }).press('Enter')
    const verb = transfer.getByRole('button', { name: 'Transfer' })
    expect(await verb.isDisabled()).toBe(true)
    await transfer.getByLabel('Reason').fill('One landlord')
    // One of them has changed hands already by the time.
    await client.operate(transferDevice, { deviceNo: serials[0], targetAppId: target.appId, reason: 'earlier' })
    await verb.click()
    await transfer.getByText('1 of 2 done.').waitFor()
    await transfer.getByText('20017').waitFor()
    await expectFramed(visited, 'Devices')
    await picture(page, 'devices-transferred')
    await transfer.getByRole('button', { name: 'Close' }).last().click()
    await transfer.waitFor({ state: 'detached' })
    const moved = await client.operate(getDeviceHistory, { deviceNo: serials[1] })
    expect(moved.data.list.map(({ appId, reason }) => [appId, reason])).toEqual([
      [target.appId, null],
      [two.appId, 'One landlord'],
    ])

    await page.getByRole('checkbox', { name: 'Select all' }).check()
    await page.getByRole('button', { name: 'Unbind 2' }).click()
    const unbind = page.getByRole('dialog', { name: 'Unbind 2 devices?' })
    await unbind.getByRole('button', { name: 'Unbind' }).click()
    await unbind.getByText('2 of 2 done.').waitFor()
    await unbind.getByRole('button', { name: 'Close' }).last().click()
    await page.getByText('Nothing fits these filters.').waitFor()
    expect(visited.faults).toEqual([])
  })

  browserTest('sites and billing rules are shown with the names of their applications', async () => {
    const name = newSerial('Across')
    const apps = await Promise.all(['one', 'two'].map((part) => newApplication(client, { appName: `${name} ${part}` })))
    for (const app of apps) {
      await newRule(app, 3, name)
      await newSite(app, { siteName: `${name} site`, coordinates: '115.899918,28.676493' })
    }
    const visited = await visit(`/console/sites?siteName=${name}`, { role: 'viewer' })
    const { page } = visited
    for (const path of [`sites?siteName=${name}&view=map`, `billing-rules?ruleName=${name}`]) {
      await leadTo(page, `/console/${path}`)
      await page.getByText('2 in all').waitFor()
      for (const part of ['one', 'two']) await page.getByRole('link', { name: `${name} ${part}` }).waitFor()
    }
    expect(visited.faults).toEqual([])
  })

  browserTest('a page leads back to the one before it', async () => {
    const name = newSerial('Turned')
    const app = await newApplication(client)
    for (let index = 0; index < 21; index++) await newRule(app, 3, `${name} ${String(index).padStart(2, '0')}`)
    const { page } = await visit(`/console/billing-rules?ruleName=${name}&pageSize=10`, { role: 'viewer' })
    const [previous, next] = ['Previous page', 'Next page'].map((text) => page.getByRole('button', { name: text }))
    const shows = (index: string) => page.getByRole('link', { name: `${name} ${index}`, exact: true }).waitFor()
    await shows('20')
    expect(await previous?.isDisabled()).toBe(true)
    await next?.click()
    await shows('10')
    await next?.click()
    await shows('00')
    expect(await next?.isDisabled()).toBe(true)
    await previous?.click()
    await shows('10')
    await previous?.click()
    await shows('20')
    expect(await previous?.isDisabled()).toBe(true)
  })

  browserTest('why a device was refused is found by its serial, the application unknown', async () => {
    const app = await newApplication(client, { appName: newSerial('Refused') })
    await takeOffline(client, app.appId)
    const deviceNo = newSerial('REFUSED')
    expect((await client.call(createDevice, deviceBody(app.appId, { deviceNo }), { token: app.token })).code).toBe(
      10006,
    )
    const faulty = deviceBody(app.appId, { deviceNo, deviceName: '', coordinates: '28.6,115.8' })
    expect((await client.call(createDevice, faulty, { token: app.token })).code).toBe(10001)
    const visited = await visit('/console', { role: 'viewer' })
    const { page } = visited
    await page.getByRole('navigation', { name: 'Menu' }).getByRole('link', { name: 'Refusals' }).click()
    await page.getByLabel('Serial number').fill(deviceNo.slice(3).toLowerCase())
    await page.getByText('2 in all').waitFor()
    await page.getByText('The application is offline, so it takes no new device.').waitFor()
    await page.getByText('and 1 more').waitFor()
    await expectSound(visited, 'Refusals')
    await picture(page, 'refusals')
  })
})
