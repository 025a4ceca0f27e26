import { expect } from 'bun:test'
import { newApplication, newSerial } from '../kit/records.ts'
import { fillIn, Hand, row, shows } from './hand.ts'
import { look, newDevice } from './records.ts'
import { browserTest, client, expectFramed, expectSound, longBrowserTest, visit } from './support.ts'

browserTest('the list of devices shows the live state, narrows, and offers a viewer nothing to change', async () => {
  const app = await newApplication(client)
  const east = await newDevice(app, { deviceName: 'East gate' })
  const west = await newDevice(app, { deviceName: 'West gate' })
  const state = { deviceNo: east.deviceNo, onlineStatus: 1, runStatus: 1, batteryStatus: 2, batteryEnergy: '87%' }
  await client.call('reportDeviceState', state, { token: app.token })
  const { page } = await visit(`/console/devices?appId=${app.appId}`, { role: 'viewer' })
  await shows(row(page, /East gate/), 'Online', 'Open', /^\d{4}-\d\d-\d\d [\d:]{8}$/)
  await row(page, /West gate/)
    .getByText('Offline')
    .waitFor()
  await expectSound(page, 'Devices', 'devices')
  expect(await page.getByRole('link', { name: 'New device' }).count()).toBe(0)
  await page.getByLabel('Serial number').fill(west.deviceNo)
  await page.waitForURL(`**deviceNo=${west.deviceNo}**`)
  await page.getByText('1 total').waitFor()
  expect(await page.getByRole('link', { name: 'East gate' }).count()).toBe(0)
  await page.getByRole('button', { name: 'More filters' }).click()
  await new Hand(page).find(page.getByRole('combobox', { name: 'Province, city, district' }), '嘉峪关市')
  await page.getByText('No results match these filters.').waitFor()
  await page.getByRole('button', { name: 'Clear filters' }).click()
  await page.getByRole('link', { name: 'East gate' }).click()
  await page.getByRole('heading', { level: 1, name: 'East gate' }).waitFor()
  await page.getByRole('heading', { name: 'Ownership history', exact: true }).waitFor()
  expect(await page.getByRole('button', { name: /^(Transfer|Unbind|Force-unbind)$/ }).count()).toBe(0)
})

longBrowserTest('the list of devices finds who holds a serial number anywhere, and says when nobody does', async () => {
  const app = await newApplication(client)
  const held = await newDevice(app, { deviceName: 'Held gate' })
  const free = await newDevice(app)
  const reason = 'Taken down for repair'
  await client.call('unbindDevice', { deviceNo: free.deviceNo, reason }, { token: app.token })
  const { page } = await visit('/console/devices', { role: 'viewer' })
  const find = async (deviceNo: string) => {
    await page.getByRole('dialog').getByLabel('Serial number').fill(deviceNo)
    await page.keyboard.press('Enter')
  }
  await page.getByRole('button', { name: 'Look up a complete serial number' }).click()
  const unknown = newSerial()
  await find(unknown)
  await page.getByText(`No application has or ever had exactly the serial number ${unknown}.`).waitFor()
  expect(await page.getByText('Serial numbers that contain it').count()).toBe(0)
  // A part of a serial number is none, and leads to those that have it.
  await find(held.deviceNo.slice(0, -1))
  await page.getByText('Serial numbers that contain it: 1.').waitFor()
  expect(await page.getByRole('link', { name: 'View devices' }).getAttribute('href')).toBe(
    `/console/devices?deviceNo=${held.deviceNo.slice(0, -1)}`,
  )
  await find(free.deviceNo)
  await page.getByText(`${free.deviceNo} is free. No application owns it now.`).waitFor()
  await page.getByText(reason).waitFor()
  await expectSound(page, 'Devices')
  await find(held.deviceNo)
  await page.getByRole('heading', { level: 1, name: 'Held gate' }).waitFor()
  expect(page.url()).toEndWith(`/console/devices/${app.appId}/${held.deviceNo}`)
})

browserTest('a device is transferred, unbound, also by force, each after its serial number was typed', async () => {
  const appName = newSerial('target')
  const [app, target] = [await newApplication(client), await newApplication(client, { appName })]
  const [{ deviceNo }, lost] = [await newDevice(app, { deviceName: 'Moving gate' }), await newDevice(target)]
  const { page } = await visit(`/console/devices/${app.appId}/${deviceNo}`, { role: 'operator' })
  const dialog = page.getByRole('dialog')
  await page.getByRole('button', { name: 'Transfer' }).click()
  await dialog.getByRole('combobox', { name: 'Application' }).fill(appName)
  await page.locator('.ant-select-item-option').filter({ hasText: appName }).click()
  await dialog.getByLabel('Reason').fill('Sold with its site')
  const go = dialog.getByRole('button', { name: 'Transfer' })
  expect(await go.isDisabled()).toBe(true)
  await dialog.getByLabel(`Type ${deviceNo} to confirm`).fill(deviceNo)
  await expectSound(page, 'Moving gate')
  await go.click()
  await page.waitForURL(`**/console/devices/${target.appId}/${deviceNo}`)
  await page.getByText('Sold with its site').waitFor()
  expect((await look(target.appId, deviceNo)).code).toBe(0)
  expect((await look(app.appId, deviceNo)).code).toBe(20002)

  await page.getByRole('button', { name: 'Force-unbind' }).click()
  await dialog.getByLabel(`Type ${deviceNo} to confirm`).fill(deviceNo)
  expect(await dialog.getByRole('button', { name: 'Force-unbind' }).isDisabled()).toBe(true)
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  await page.getByRole('button', { name: 'Unbind', exact: true }).click()
  await dialog.getByLabel(`Type ${deviceNo} to confirm`).fill(deviceNo)
  await dialog.getByRole('button', { name: 'Unbind', exact: true }).click()
  await page.waitForURL(`**/console/devices?appId=${target.appId}`)
  expect((await look(target.appId, deviceNo)).code).toBe(20002)
  await page.goto(`${client.url}/console/devices/${target.appId}/${deviceNo}`)
  await page.getByText('This application doesn’t own the device.').waitFor()
  await page.getByText('Sold with its site').waitFor()
  await expectFramed(page, deviceNo)
  await page.goto(`${client.url}/console/devices/${target.appId}/${lost.deviceNo}`)
  await page.getByRole('button', { name: 'Force-unbind' }).click()
  await fillIn(dialog, { Reason: 'Lost contract', [`Type ${lost.deviceNo} to confirm`]: lost.deviceNo })
  await page.keyboard.press('Enter')
  await page.waitForURL(`**/console/devices?appId=${target.appId}`)
  const history = await client.operate('getDeviceHistory', { deviceNo: lost.deviceNo })
  expect(history.data.list[0]).toMatchObject({ appId: target.appId, reason: 'Lost contract' })
})
