import { expect } from 'bun:test'
import { newApplication, newSerial, takeOffline } from '../kit/records.ts'
import { fillIn, Hand, press, shows } from './hand.ts'
import { look, newDevice } from './records.ts'
import { browserTest, client, expectSound, leadTo, longBrowserTest, loseAnswer, visit } from './support.ts'

browserTest('a new device is made after swapped coordinates and a foreign serial number were put right', async () => {
  const [app, other] = [await newApplication(client, { appName: newSerial('app') }), await newApplication(client)]
  const foreign = await newDevice(other)
  const { page } = await visit(`/console/devices/new?appId=${app.appId}`, { role: 'operator' })
  await page.getByRole('button', { name: 'Create', exact: true }).click()
  await page.getByText('Required.').first().waitFor()
  const swapped = { Coordinates: '28.676493， 115.899918', 'District code': '110101' }
  await fillIn(page, { 'Serial number': foreign.deviceNo, Name: 'North gate', ...swapped })
  await page.getByText('This looks like latitude,longitude. Enter the longitude first.').first().waitFor()
  await page.getByText('Did you mean 115.899918,28.676493?').waitFor()
  await page.getByText('北京市').first().waitFor()
  await expectSound(page, 'New device')
  await page.getByRole('button', { name: 'Swap' }).click()
  expect(await page.getByLabel('Coordinates').inputValue()).toBe('115.899918,28.676493')
  await page.getByRole('button', { name: 'Use the district’s province and city' }).click()
  await page.getByRole('button', { name: 'Create', exact: true }).click()
  await page.getByRole('alert').getByText('Error 20013').waitFor()
  await page.getByText('Check the serial number.').waitFor()
  expect(await page.locator('main').textContent()).not.toContain(other.appId)
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

longBrowserTest('a new device takes the document’s defaults, and is explained what it lacks', async () => {
  const app = await newApplication(client)
  const { page } = await visit(`/console/devices/new?appId=${app.appId}`, { role: 'developer', appIds: [app.appId] })
  const fill = async (deviceNo: string) => {
    const place = { Coordinates: '115.899918,28.676493', 'District code': '360102' }
    await fillIn(page, { 'Serial number': deviceNo, Name: 'South gate', ...place })
    await page.getByRole('button', { name: 'Create', exact: true }).click()
  }
  await page.getByText('If empty: 360000 (the default).').waitFor()
  const first = newSerial()
  await fill(first)
  await page.getByRole('heading', { level: 1, name: 'South gate' }).waitFor()
  const { deviceBattery } = (await look(app.appId, first)).data
  expect(deviceBattery).toMatchObject({ provinceCode: '360000', cityCode: '360100' })
  await leadTo(page, `/console/devices/new?appId=${app.appId}`)
  await fill(first)
  await page.getByText('Nothing to do').waitFor()
  await takeOffline(client, app.appId)
  const second = newSerial()
  await page.getByLabel('Serial number').fill(second)
  await page.getByRole('button', { name: 'Create', exact: true }).click()
  await page.getByText('Ask the platform operator to bring it online').waitFor()
  expect((await look(app.appId, second)).code).toBe(20002)
})

longBrowserTest('a new device has its place by the name of a district, also where several are made', async () => {
  const { appId } = await newApplication(client)
  const { page } = await visit(`/console/devices/new?appId=${appId}`, { role: 'operator' })
  const codes = async () => {
    const fields = ['Province code', 'City code', 'District code'].map((label) =>
      page.getByLabel(label).locator('visible=true').inputValue(),
    )
    return (await Promise.all(fields)).join(' ')
  }
  const division = page.getByRole('combobox', { name: 'Province, city, district' })
  await new Hand(page).find(division, '濂溪区')
  expect(await codes()).toBe('360000 360400 360402')
  await expectSound(page, 'New device')
  await page.getByRole('link', { name: 'Add several devices' }).click()
  await page.getByLabel('Devices', { exact: true }).fill('SN-1')
  // Both forms keep what was entered while the other is shown.
  await page.getByRole('link', { name: 'One device' }).click()
  await page.getByRole('textbox', { name: 'Devices' }).waitFor({ state: 'hidden' })
  expect(await codes()).toBe('360000 360400 360402')
  await page.getByRole('link', { name: 'Add several devices' }).click()
  expect(await page.getByLabel('Devices', { exact: true }).inputValue()).toBe('SN-1')
  await page.getByRole('textbox', { name: 'Devices' }).waitFor()
  await new Hand(page).find(division, '余杭区')
  expect(await codes()).toBe('330000 330100 330110')
})

longBrowserTest('a new device is one of several, whose faults are corrected, and is not made twice', async () => {
  const [app, other] = [await newApplication(client), await newApplication(client)]
  const foreign = await newDevice(other)
  const [good, spare, swapped, late] = [newSerial(), newSerial(), newSerial(), newSerial()]
  const options = { role: 'operator', isCutOff: true } as const
  const { page } = await visit(`/console/devices/new?appId=${app.appId}&tab=several`, options)
  const devices = page.getByLabel('Devices', { exact: true })
  await devices.fill(Array.from({ length: 1001 }, (_, index) => `SN-${index}`).join('\n'))
  await page.getByText('1,001 rows is too many; the limit is 1,000.').waitFor()
  expect(await page.getByRole('link', { name: 'Import a file' }).getAttribute('href')).toContain(app.appId)
  const text = [
    '序列号,名称,区县代码,坐标,colour',
    `${good},"Gate, one",360102,115.899918,28.676493,red`,
    `${foreign.deviceNo},Gate two,360102,"115.899918,28.676493",`,
    `${swapped},Gate three,360102,"28.676493,115.899918",`,
    `${late},Gate four,360102,nowhere,`,
  ]
  await devices.fill(text.join('\n'))
  await page.getByText('Unknown columns were skipped: colour.').waitFor()
  await page.getByRole('button', { name: 'Preview' }).click()
  await page.getByRole('button', { name: 'Swap all' }).click()
  await page.getByText('Invalid (1)').waitFor()
  await expectSound(page, 'New device')
  // The service carries out the request, and the response is lost.
  const keys: (string | undefined)[] = []
  await page.route('**/guard/createBatch', (route) => {
    keys.push(route.request().headers()['idempotency-key'])
    return keys.length === 1 ? loseAnswer(route) : route.continue()
  })
  await press(page, 'Create 3 devices')
  await page.getByRole('alert').getByText('didn’t respond').waitFor()
  await press(page, 'Create 3 devices')
  await shows(page, 'Created (2)', '(20013)')
  expect(keys).toEqual([expect.any(String), keys[0]])
  await page.getByRole('button', { name: 'Copy refused rows' }).click()
  expect(await page.evaluate(() => navigator.clipboard.readText())).toContain(foreign.deviceNo)
  await page.getByRole('button', { name: 'Edit 2' }).click()
  await page.getByRole('textbox', { name: 'Serial number, 2' }).fill(spare)
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Edit 4' }).click()
  await new Hand(page).find(page.getByRole('combobox', { name: 'Province, city, district' }), '余杭区')
  expect(await page.getByRole('textbox', { name: 'District code, 4' }).inputValue()).toBe('330110')
  await page.getByRole('textbox', { name: 'Coordinates, 4' }).fill('115.9,28.7')
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Create 2 devices' }).click()
  await page.getByText('Created (4)').waitFor()
  const listed = await client.operate('pageDevices', { appId: app.appId })
  const made = new Map(listed.data.list.map((device) => [device.deviceNo, device]))
  expect(new Set(made.keys())).toEqual(new Set([good, spare, swapped, late]))
  expect([made.get(good)?.deviceName, made.get(late)?.deviceBattery.cityCode]).toEqual(['Gate, one', '330100'])
  expect((await look(other.appId, foreign.deviceNo)).code).toBe(0)
})
