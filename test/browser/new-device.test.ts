import { describe, expect } from 'bun:test'
import { newApplication, takeOffline } from '../kit/records.ts'
import { Hand } from './hand.ts'
import { look, newDevice } from './records.ts'
import { browserTest, client, expectSound, leadTo, longBrowserTest, loseAnswer, newSerial, visit } from './support.ts'

describe('a new device', () => {
  browserTest('is registered, after swapped coordinates and a foreign serial number were put right', async () => {
    const [app, other] = [await newApplication(client, { appName: newSerial('app') }), await newApplication(client)]
    const foreign = await newDevice(other)
    const visited = await visit(`/console/devices/new?appId=${app.appId}`, { role: 'operator' })
    const { page } = visited
    await page.getByRole('button', { name: 'Create', exact: true }).click()
    await page.getByText('Required.').first().waitFor()
    await page.getByLabel('Serial number').fill(foreign.deviceNo)
    await page.getByLabel('Name', { exact: true }).fill('North gate')
    await page.getByLabel('Coordinates').fill('28.676493， 115.899918')
    await page.getByLabel('District code').fill('110101')
    await page.getByText('This looks like latitude,longitude. Enter the longitude first.').first().waitFor()
    await page.getByText('Did you mean 115.899918,28.676493?').waitFor()
    await page.getByText('北京市').first().waitFor()
    await expectSound(visited, 'New device')
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

  longBrowserTest('takes the document’s defaults, and is explained what it lacks', async () => {
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
    expect(visited.faults).toEqual([])
  })

  longBrowserTest('stands among several, whose faults are marked, corrected and sent again', async () => {
    const [app, other] = [await newApplication(client), await newApplication(client)]
    const foreign = await newDevice(other)
    const [good, spare, swapped, late] = [newSerial(), newSerial(), newSerial(), newSerial()]
    const visited = await visit(`/console/devices/new?appId=${app.appId}&tab=several`, { role: 'operator' })
    const { page } = visited
    const text = [
      '序列号,名称,区县代码,坐标,colour',
      `${good},"Gate, one",360102,115.899918,28.676493,red`,
      `${foreign.deviceNo},Gate two,360102,"115.899918,28.676493",`,
      `${swapped},Gate three,360102,"28.676493,115.899918",`,
      `${late},Gate four,360102,nowhere,`,
    ]
    await page.getByLabel('Devices', { exact: true }).fill(text.join('\n'))
    await page.getByText('Unknown columns were skipped: colour.').waitFor()
    await page.getByRole('button', { name: 'Preview' }).click()
    await page.getByRole('button', { name: 'Swap all' }).click()
    await page.getByText('Invalid (1)').waitFor()
    await expectSound(visited, 'New device')
    await page.getByRole('button', { name: 'Create 3 devices' }).click()
    await page.getByText('Created (2)').waitFor()
    await page.getByText('(20013)').waitFor()
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
    expect(new Set(listed.data.list.map(({ deviceNo }) => deviceNo))).toEqual(new Set([good, spare, swapped, late]))
    expect(listed.data.list.find(({ deviceNo }) => deviceNo === good)?.deviceName).toBe('Gate, one')
    expect(listed.data.list.find(({ deviceNo }) => deviceNo === late)?.deviceBattery.cityCode).toBe('330100')
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
      await page.getByText('1,001 rows is too many; the limit is 1,000.').waitFor()
      expect(await page.getByRole('link', { name: 'Import a file' }).getAttribute('href')).toContain(app.appId)
      await page.getByLabel('Devices', { exact: true }).fill(serials.slice(0, 3).join('\n'))
      await page.getByLabel('District code').fill('360102')
      await page.getByLabel('Coordinates').fill('115.899918,28.676493')
      await page.getByRole('button', { name: 'Preview' }).click()
      // The service carries out the request, and the response is lost.
      const keys: (string | undefined)[] = []
      await page.route('**/guard/createBatch', (route) => {
        keys.push(route.request().headers()['idempotency-key'])
        return keys.length === 1 ? loseAnswer(route) : route.continue()
      })
      await page.getByRole('button', { name: 'Create 3 devices' }).click()
      await page.getByRole('alert').getByText('didn’t respond').waitFor()
      await page.getByRole('button', { name: 'Create 3 devices' }).click()
      await page.getByText('Created (3)').waitFor()
      await page.getByText('Refused (0)').waitFor()
      expect(keys).toHaveLength(2)
      expect(keys[1]).toBe(keys[0])
      const listed = await client.operate('pageDevices', { appId: app.appId, deviceNo: prefix })
      expect(listed.data.total).toBe(3)
    },
  )
})
