import { describe, expect } from 'bun:test'
import { pageApplications } from '../../src/applications/contract.ts'
import { createDevice, getDevice, pageDevices, updateDevice } from '../../src/devices/contract.ts'
import { getDeviceHistory, unbindDevice } from '../../src/devices/ownership/contract.ts'
import { reportDeviceState } from '../../src/devices/state/contract.ts'
import { deviceBody, newApplication, type TestApplication, takeOffline } from '../harness.ts'
import { Hand } from './hand.ts'
import {
  browserTest,
  client,
  expectFramed,
  expectSound,
  expectSoundInBothShades,
  leadTo,
  longBrowserTest,
  loseAnswer,
  narrow,
  newSerial,
  picture,
  visit,
} from './support.ts'

/** Creates a device of an application through the API. */
async function newDevice(app: TestApplication, members: Record<string, unknown> = {}) {
  const device = deviceBody(app.appId, members)
  const made = await client.call(createDevice, device, { token: app.token })
  expect(made.code).toBe(0)
  return made.data
}

/** Reads a device through the API, as an operator. */
const look = (appId: string, deviceNo: string) => client.operate(getDevice, { appId, deviceNo })

describe('list of devices', () => {
  browserTest('shows the live state, narrows, and offers a viewer nothing to change', async () => {
    const app = await newApplication(client)
    const east = await newDevice(app, { deviceName: 'East gate' })
    const west = await newDevice(app, { deviceName: 'West gate' })
    const state = { deviceNo: east.deviceNo, onlineStatus: 1, runStatus: 1, batteryStatus: 2, batteryEnergy: '87%' }
    await client.call(reportDeviceState, state, { token: app.token })
    const visited = await visit(`/console/devices?appId=${app.appId}`, { role: 'viewer' })
    const { page } = visited
    const row = page.getByRole('row', { name: /East gate/ })
    for (const words of ['Online', 'Open', '87%']) await row.getByText(words).waitFor()
    await page
      .getByRole('row', { name: /West gate/ })
      .getByText('Offline')
      .waitFor()
    await expectSoundInBothShades(visited, 'Devices', 'devices')
    expect(await page.getByRole('link', { name: 'New device' }).count()).toBe(0)
    await page.getByLabel('Serial number').fill(west.deviceNo)
    await page.waitForURL(`**deviceNo=${west.deviceNo}**`)
    await page.getByText('1 in all').waitFor()
    expect(await page.getByRole('link', { name: 'East gate' }).count()).toBe(0)
    await page.getByRole('button', { name: 'More filters' }).click()
    await new Hand(page).find(page.getByRole('combobox', { name: 'Province, city, district' }), '嘉峪关市')
    await page.getByText('Nothing fits these filters.').waitFor()
    await picture(page, 'devices-filters')
    await page.getByRole('button', { name: 'Clear the filters' }).click()
    await page.getByRole('link', { name: 'East gate' }).click()
    await page.getByRole('heading', { level: 1, name: 'East gate' }).waitFor()
    expect(visited.faults).toEqual([])
  })

  longBrowserTest('follows a state while it is looked at', async () => {
    const app = await newApplication(client)
    const { deviceNo } = await newDevice(app, { deviceName: 'Live gate' })
    const { page } = await visit(`/console/devices?appId=${app.appId}`, { role: 'operator', hasOwnClock: true })
    await page
      .getByRole('row', { name: /Live gate/ })
      .getByText('Offline')
      .waitFor()
    await client.call(reportDeviceState, { deviceNo, onlineStatus: 1 }, { token: app.token })
    await page.clock.fastForward('00:10')
    await page
      .getByRole('row', { name: /Live gate/ })
      .getByText('Online')
      .waitFor()
  })

  longBrowserTest('finds who holds a serial number anywhere, and says when nobody does', async () => {
    const app = await newApplication(client)
    const held = await newDevice(app, { deviceName: 'Held gate' })
    const free = await newDevice(app)
    const reason = 'Taken down for repair'
    await client.call(unbindDevice, { deviceNo: free.deviceNo, reason }, { token: app.token })
    const visited = await visit('/console/devices', { role: 'viewer' })
    const { page } = visited
    const find = async (deviceNo: string) => {
      await page.getByRole('dialog').getByLabel('Serial number').fill(deviceNo)
      await page.keyboard.press('Enter')
    }
    await page.getByRole('button', { name: 'Find a serial number in every application' }).click()
    const unknown = newSerial()
    await find(unknown)
    await page.getByText(`No application has the serial number ${unknown}, and none ever had it.`).waitFor()
    expect(await page.getByText('Devices whose serial number').count()).toBe(0)
    // A part of a serial number is none, and leads to those that have it.
    await find(held.deviceNo.slice(0, -1))
    await page.getByText('Devices whose serial number has it as a part: 1.').waitFor()
    expect(await page.getByRole('link', { name: 'Show them' }).getAttribute('href')).toBe(
      `/console/devices?deviceNo=${held.deviceNo.slice(0, -1)}`,
    )
    await find(free.deviceNo)
    await page.getByText(`${free.deviceNo} is free: no application has it now.`).waitFor()
    await page.getByText(reason).waitFor()
    await expectSound(visited, 'Devices')
    await picture(page, 'devices-find')
    await find(held.deviceNo)
    await page.getByRole('heading', { level: 1, name: 'Held gate' }).waitFor()
    expect(page.url()).toEndWith(`/console/devices/${app.appId}/${held.deviceNo}`)
  })

  longBrowserTest('shows a developer their own application only, empty, on a phone, in Chinese', async () => {
    const { appId } = await newApplication(client)
    const visited = await visit(`/console/devices?appId=${appId}`, {
      role: 'developer',
      appIds: [appId],
      language: 'zh',
      viewport: narrow,
    })
    const { page } = visited
    await page.getByText('还没有设备。').waitFor()
    await expectFramed(visited, '设备')
    await picture(page, 'devices-phone')
    expect(await page.getByRole('button', { name: '在所有应用中查找设备序列号' }).count()).toBe(0)
    const other = await newApplication(client)
    await leadTo(page, `/console/devices?appId=${other.appId}`)
    await page.getByText('您的角色无权查看此内容。').waitFor()
  })
})

describe('a new device', () => {
  browserTest('is registered, after swapped coordinates and a foreign serial number were put right', async () => {
    const [app, other] = [await newApplication(client, { appName: newSerial('app') }), await newApplication(client)]
    const foreign = await newDevice(other)
    const visited = await visit(`/console/devices/new?appId=${app.appId}`, { role: 'operator' })
    const { page } = visited
    await page.getByRole('button', { name: 'Create', exact: true }).click()
    await page.getByText('This is needed.').first().waitFor()
    await page.getByLabel('Serial number').fill(foreign.deviceNo)
    await page.getByLabel('Name', { exact: true }).fill('North gate')
    await page.getByLabel('Coordinates').fill('28.676493， 115.899918')
    await page.getByLabel('District code').fill('110101')
    await page.getByText('This looks like latitude,longitude. Longitude stands first.').first().waitFor()
    await page.getByText('Is 115.899918,28.676493 meant?').waitFor()
    await page.getByText('北京市').first().waitFor()
    await expectSound(visited, 'New device')
    await picture(page, 'device-new')
    await page.getByRole('button', { name: 'Swap the two' }).click()
    expect(await page.getByLabel('Coordinates').inputValue()).toBe('115.899918,28.676493')
    await page.getByRole('button', { name: 'Take province and city from the district' }).click()
    await page.getByRole('button', { name: 'Create', exact: true }).click()
    await page.getByRole('alert').getByText('Code 20013').waitFor()
    await page.getByText('Check the serial number.').waitFor()
    expect(await page.locator('main').textContent()).not.toContain(other.appId)
    await picture(page, 'device-new-refused')
    // The entered values are still in the form.
    expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('North gate')
    const deviceNo = newSerial()
    await page.getByLabel('Serial number').fill(deviceNo)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: 'North gate' }).waitFor()
    const { data } = await look(app.appId, deviceNo)
    expect(data).toMatchObject({ deviceName: 'North gate', tag: null })
    expect(data.deviceBattery).toMatchObject({ coordinates: '115.899918,28.676493', provinceCode: '110000' })
    expect((await look(other.appId, foreign.deviceNo)).code).toBe(0)
  })

  browserTest('takes the document’s defaults, and is explained what it lacks', async () => {
    const app = await newApplication(client)
    const visited = await visit(`/console/devices/new?appId=${app.appId}`, { role: 'developer', appIds: [app.appId] })
    const { page } = visited
    const fill = async (deviceNo: string) => {
      await page.getByLabel('Serial number').fill(deviceNo)
      await page.getByLabel('Name', { exact: true }).fill('South gate')
      await page.getByLabel('Coordinates').fill('115.899918,28.676493')
      await page.getByLabel('District code').fill('360102')
      await page.getByRole('button', { name: 'Create', exact: true }).click()
    }
    await page.getByText('Left empty, it is 360000, the default of the interface document.').waitFor()
    const first = newSerial()
    await fill(first)
    await page.getByRole('heading', { level: 1, name: 'South gate' }).waitFor()
    const { deviceBattery } = (await look(app.appId, first)).data
    expect(deviceBattery).toMatchObject({ provinceCode: '360000', cityCode: '360100' })
    await leadTo(page, `/console/devices/new?appId=${app.appId}`)
    await fill(first)
    await page.getByText('There is nothing left to do').waitFor()
    await takeOffline(client, app.appId)
    const second = newSerial()
    await page.getByLabel('Serial number').fill(second)
    await page.getByRole('button', { name: 'Create', exact: true }).click()
    await page.getByText('Ask an operator to take it online').waitFor()
    expect((await look(app.appId, second)).code).toBe(20002)
    expect(visited.faults).toEqual([])
  })

  longBrowserTest('has its place by the name of a district, also where several are made', async () => {
    const { appId } = await newApplication(client)
    const visited = await visit(`/console/devices/new?appId=${appId}`, { role: 'operator' })
    const { page } = visited
    const codes = async () => {
      const fields = ['Province code', 'City code', 'District code'].map((label) =>
        page.getByLabel(label).locator('visible=true').inputValue(),
      )
      return (await Promise.all(fields)).join(' ')
    }
    const division = page.getByRole('combobox', { name: 'Province, city, district' })
    await new Hand(page).find(division, '濂溪区')
    expect(await codes()).toBe('360000 360400 360402')
    await expectSound(visited, 'New device')
    await picture(page, 'device-division')
    await leadTo(page, `/console/devices/new?appId=${appId}&tab=several`)
    await page.getByRole('textbox', { name: 'Devices' }).waitFor()
    await new Hand(page).find(division, '余杭区')
    expect(await codes()).toBe('330000 330100 330110')
    expect(visited.faults).toEqual([])
  })

  longBrowserTest('stands among several, whose faults are marked, corrected and sent again', async () => {
    const [app, other] = [await newApplication(client), await newApplication(client)]
    const foreign = await newDevice(other)
    const [good, spare, swapped, late] = [newSerial(), newSerial(), newSerial(), newSerial()]
    const visited = await visit(`/console/devices/new?appId=${app.appId}&tab=several`, { role: 'operator' })
    const { page } = visited
    const text = [
      '序列号,名称,区县编码,坐标,colour',
      `${good},"Gate, one",360102,115.899918,28.676493,red`,
      `${foreign.deviceNo},Gate two,360102,"115.899918,28.676493",`,
      `${swapped},Gate three,360102,"28.676493,115.899918",`,
      `${late},Gate four,360102,nowhere,`,
    ]
    await page.getByLabel('Devices', { exact: true }).fill(text.join('\n'))
    await page.getByText('Unknown columns were left out: colour.').waitFor()
    await picture(page, 'several-text')
    await page.getByRole('button', { name: 'Show the table' }).click()
    await page.getByRole('button', { name: 'Swap them' }).click()
    await page.getByText('Faulty 1').waitFor()
    await expectSound(visited, 'New device')
    await picture(page, 'several-table')
    await page.getByRole('button', { name: 'Register 3 devices' }).click()
    await page.getByText('Registered 2').waitFor()
    await page.getByText('(20013)').waitFor()
    await picture(page, 'several-outcomes')
    await page.getByRole('button', { name: 'Copy the refused rows' }).click()
    expect(await page.evaluate(() => navigator.clipboard.readText())).toContain(foreign.deviceNo)
    await page.getByRole('button', { name: 'Correct 2' }).click()
    await page.getByRole('textbox', { name: 'Serial number, 2' }).fill(spare)
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Correct 4' }).click()
    await page.getByRole('textbox', { name: 'Coordinates, 4' }).fill('115.9,28.7')
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Register 2 devices' }).click()
    await page.getByText('Registered 4').waitFor()
    const listed = await client.operate(pageDevices, { appId: app.appId })
    expect(new Set(listed.data.list.map(({ deviceNo }) => deviceNo))).toEqual(new Set([good, spare, swapped, late]))
    expect(listed.data.list.find(({ deviceNo }) => deviceNo === good)?.deviceName).toBe('Gate, one')
    expect((await look(other.appId, foreign.deviceNo)).code).toBe(0)
    expect(visited.faults).toEqual([])
  })

  longBrowserTest(
    'stands among several whose answer is lost, and is not registered twice; thousands are a file’s',
    async () => {
      const app = await newApplication(client)
      const prefix = newSerial()
      const visited = await visit(`/console/devices/new?appId=${app.appId}&tab=several`, { role: 'operator' })
      const { page } = visited
      const serials = Array.from({ length: 1001 }, (_, index) => `${prefix}-${index}`)
      await page.getByLabel('Devices', { exact: true }).fill(serials.join('\n'))
      await page.getByText('These are 1,001 rows; at once 1,000 are taken.').waitFor()
      expect(await page.getByRole('link', { name: 'Import a file' }).getAttribute('href')).toContain(app.appId)
      await page.getByLabel('Devices', { exact: true }).fill(serials.slice(0, 3).join('\n'))
      await page.getByLabel('District code').fill('360102')
      await page.getByLabel('Coordinates').fill('115.899918,28.676493')
      await page.getByRole('button', { name: 'Show the table' }).click()
      // The service carries out the request, and the response is lost.
      const keys: (string | undefined)[] = []
      await page.route('**/guard/createBatch', (route) => {
        keys.push(route.request().headers()['idempotency-key'])
        return keys.length === 1 ? loseAnswer(route) : route.continue()
      })
      await page.getByRole('button', { name: 'Register 3 devices' }).click()
      await page.getByRole('alert').getByText('did not answer').waitFor()
      await page.getByRole('button', { name: 'Register 3 devices' }).click()
      await page.getByText('Registered 3').waitFor()
      await page.getByText('Refused 0').waitFor()
      expect(keys).toHaveLength(2)
      expect(keys[1]).toBe(keys[0])
      const listed = await client.operate(pageDevices, { appId: app.appId, deviceNo: prefix })
      expect(listed.data.total).toBe(3)
    },
  )
})

describe('the edit of a device', () => {
  longBrowserTest('keeps what was typed when someone else was faster', async () => {
    const app = await newApplication(client)
    const { deviceNo } = await newDevice(app, { deviceName: 'Old name', tag: 'old', detailAddress: 'Old street' })
    const visited = await visit(`/console/devices/${app.appId}/${deviceNo}/edit`, { role: 'operator' })
    const { page } = visited
    await page.getByLabel('Name', { exact: true }).fill('Typed name')
    await page.getByLabel('Remark').fill('')
    await expectFramed(visited, `Edit ${deviceNo}`)
    const theirs = { appId: app.appId, deviceNo, deviceName: 'Their name', detailAddress: 'Their street' }
    await client.operate(updateDevice, theirs)
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('alert').getByText('Someone has changed this since you opened it.').waitFor()
    expect((await look(app.appId, deviceNo)).data.deviceName).toBe('Their name')
    await page.getByRole('cell', { name: 'Their name' }).waitFor()
    await picture(page, 'device-edit-conflict')
    expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('Typed name')
    await page.getByRole('button', { name: 'Keep mine and save' }).click()
    await page.getByRole('heading', { level: 1, name: 'Typed name' }).waitFor()
    const { data } = await look(app.appId, deviceNo)
    expect(data).toMatchObject({ deviceName: 'Typed name', tag: null })
    expect(data.deviceBattery.detailAddress).toBe('Their street')
  })
})

describe('the page of a device', () => {
  longBrowserTest('shows everything of it, and a viewer may only look', async () => {
    const app = await newApplication(client, { appName: 'Owner of gates' })
    const device = await newDevice(app, { deviceName: 'Shown gate' })
    const state = { deviceNo: device.deviceNo, status: 2, statusRemark: 'Arm is bent', version: '1.4.2' }
    await client.call(reportDeviceState, { ...state, batteryEnergy: '12%' }, { token: app.token })
    const visited = await visit(`/console/devices/${app.appId}/${device.deviceNo}`, { role: 'viewer' })
    const { page } = visited
    for (const words of ['Arm is bent', '1.4.2', '12%', 'Owner of gates', '东湖区', 'until now', 'State changed']) {
      await page.getByText(words).first().waitFor()
    }
    await expectSoundInBothShades(visited, 'Shown gate', 'device')
    for (const name of ['Unbind', 'Transfer', 'Force unbinding']) {
      expect(await page.getByRole('button', { name }).count()).toBe(0)
    }
    expect(await page.getByRole('link', { name: 'Edit' }).count()).toBe(0)
  })

  browserTest('transfers a device, and unbinds it, each after its serial number was typed', async () => {
    const [app, target] = [await newApplication(client), await newApplication(client, { appName: newSerial('target') })]
    const { deviceNo } = await newDevice(app, { deviceName: 'Moving gate' })
    const visited = await visit(`/console/devices/${app.appId}/${deviceNo}`, { role: 'operator' })
    const { page } = visited
    const dialog = page.getByRole('dialog')
    await page.getByRole('button', { name: 'Transfer' }).click()
    const { data } = await client.operate(pageApplications, { appName: 'target-' })
    const { appName = '' } = data.list.find(({ appId }) => appId === target.appId) ?? {}
    await dialog.getByRole('combobox', { name: 'Application' }).fill(appName)
    await page.locator('.ant-select-item-option').filter({ hasText: appName }).click()
    await dialog.getByLabel('Reason').fill('Sold with its site')
    const go = dialog.getByRole('button', { name: 'Transfer' })
    expect(await go.isDisabled()).toBe(true)
    await dialog.getByLabel(`Type ${deviceNo} to confirm`).fill(deviceNo)
    await picture(page, 'device-transfer')
    await expectSound(visited, 'Moving gate')
    await go.click()
    await page.waitForURL(`**/console/devices/${target.appId}/${deviceNo}`)
    await page.getByText('Sold with its site').waitFor()
    expect((await look(target.appId, deviceNo)).code).toBe(0)
    expect((await look(app.appId, deviceNo)).code).toBe(20002)

    await page.getByRole('button', { name: 'Force unbinding' }).click()
    await dialog.getByLabel(`Type ${deviceNo} to confirm`).fill(deviceNo)
    expect(await dialog.getByRole('button', { name: 'Force unbinding' }).isDisabled()).toBe(true)
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    await page.getByRole('button', { name: 'Unbind', exact: true }).click()
    await dialog.getByLabel(`Type ${deviceNo} to confirm`).fill(deviceNo)
    await dialog.getByRole('button', { name: 'Unbind', exact: true }).click()
    await page.waitForURL(`**/console/devices?appId=${target.appId}`)
    expect((await look(target.appId, deviceNo)).code).toBe(20002)
    await page.goto(`${client.url}/console/devices/${target.appId}/${deviceNo}`)
    await page.getByText('This application does not have the device.').waitFor()
    await page.getByText('Sold with its site').waitFor()
    await expectFramed(visited, deviceNo)
  })

  longBrowserTest('unbinds by force for a reason', async () => {
    const app = await newApplication(client)
    const { deviceNo } = await newDevice(app)
    const { page } = await visit(`/console/devices/${app.appId}/${deviceNo}`, { role: 'admin' })
    const dialog = page.getByRole('dialog')
    await page.getByRole('button', { name: 'Force unbinding' }).click()
    await dialog.getByLabel('Reason').fill('Lost contract')
    await dialog.getByLabel(`Type ${deviceNo} to confirm`).fill(deviceNo)
    await page.keyboard.press('Enter')
    await page.waitForURL(`**/console/devices?appId=${app.appId}`)
    const history = await client.operate(getDeviceHistory, { deviceNo })
    expect(history.data.list[0]).toMatchObject({ appId: app.appId, reason: 'Lost contract' })
  })

  longBrowserTest('is a developer’s own to unbind, but not to transfer, on a phone, in Chinese', async () => {
    const app = await newApplication(client)
    const device = await newDevice(app, { deviceName: '东门道闸' })
    const visited = await visit(`/console/devices/${app.appId}/${device.deviceNo}`, {
      role: 'developer',
      appIds: [app.appId],
      language: 'zh',
      viewport: narrow,
      isDark: true,
    })
    const { page } = visited
    await page.getByText('至今').waitFor()
    await page.getByRole('button', { name: /^解\s?绑$/ }).waitFor()
    // The component library inserts a space between two Chinese characters.
    for (const name of [/^转\s?移$/, '强制解绑']) expect(await page.getByRole('button', { name }).count()).toBe(0)
    await expectFramed(visited, '东门道闸')
    await picture(page, 'device-phone')
  })
})
