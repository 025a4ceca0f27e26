import { expect, test } from 'bun:test'
import type { DeviceRecord } from '../../src/devices/contract.ts'
import { deviceBody, newApplication, newSerial } from '../kit/records.ts'
import {
  bearer,
  client,
  createDeviceOf,
  expectFaults,
  expectNow,
  expectRefusal,
  expectSuccess,
  newBareApplication,
  post,
} from './support.ts'

const requiredFields = ['appId', 'deviceNo', 'deviceName', 'districtCode', 'coordinates']

test('create device is POST /api/device/entrance/guard/create and answers the record of a fresh device', async () => {
  const { appId, token } = await newApplication(client)
  const body = deviceBody(appId, { tag: 'lane=1;side=北' })
  const answer = await post('/api/device/entrance/guard/create', JSON.stringify(body), bearer(token))
  const { createTime, ...device } = expectSuccess(answer) as DeviceRecord
  expectNow(createTime)
  // Document §2.3 with contract §4.2, without a device model.
  expect(device).toEqual({
    appId,
    deviceNo: body.deviceNo,
    tag: 'lane=1;side=北',
    deviceName: body.deviceName,
    modelName: null,
    productPictureUrl: null,
    deviceType: null,
    deviceTypeName: null,
    status: 1,
    onlineStatus: 2,
    statusRemark: null,
    runStatus: 0,
    version: null,
    deviceNumber: 1,
    deviceBattery: {
      provinceCode: '360000',
      provinceName: '江西省',
      cityCode: '360100',
      cityName: '南昌市',
      districtCode: '360102',
      districtName: '东湖区',
      detailAddress: 'No. 1 Yangming Road',
      coordinates: '115.899918,28.676493',
    },
    DeviceBatteryOutput: { batteryStatus: null, batteryEnergy: null },
  })
})

test('provinceCode and cityCode default to 360000 and 360100, absent, null or empty', async () => {
  const application = await newApplication(client)
  for (const value of [undefined, null, '']) {
    const members = { provinceCode: value, cityCode: value }
    const { deviceBattery } = expectSuccess(await createDeviceOf(application, members))
    expect(deviceBattery).toMatchObject({
      provinceCode: '360000',
      provinceName: '江西省',
      cityCode: '360100',
      cityName: '南昌市',
    })
  }
})

test('the defaults stand also beside a district of another province, and nothing is corrected', async () => {
  const application = await newApplication(client)
  const defaulted = { provinceCode: undefined, cityCode: undefined, districtCode: '110101' }
  expect(expectSuccess(await createDeviceOf(application, defaulted)).deviceBattery).toMatchObject({
    provinceCode: '360000',
    provinceName: '江西省',
    cityCode: '360100',
    cityName: '南昌市',
    districtCode: '110101',
    districtName: '东城区',
  })
  const half = { provinceCode: '110000', cityCode: undefined, districtCode: '110101' }
  expect(expectSuccess(await createDeviceOf(application, half)).deviceBattery).toMatchObject({
    provinceCode: '110000',
    provinceName: '北京市',
    cityCode: '360100',
    cityName: '南昌市',
  })
})

test('the names of a device’s divisions come from the national table', async () => {
  const application = await newApplication(client)
  const codes = { provinceCode: '440000', cityCode: '440300', districtCode: '440305' }
  expect(expectSuccess(await createDeviceOf(application, codes)).deviceBattery).toMatchObject({
    ...codes,
    provinceName: '广东省',
    cityName: '深圳市',
    districtName: '南山区',
  })
})

test('an unknown division code gives a null name and never a refusal', async () => {
  const application = await newApplication(client)
  for (const code of ['999999', '36', '3601020', 'x', '__proto__', 'constructor', 'toString', ' 360000']) {
    const members = { provinceCode: code, cityCode: code, districtCode: code }
    expect(expectSuccess(await createDeviceOf(application, members)).deviceBattery).toMatchObject({
      ...members,
      provinceName: null,
      cityName: null,
      districtName: null,
    })
  }
})

test('createDevice names every required field that is absent, and no optional one', async () => {
  const { token } = await newApplication(client)
  expectFaults(await client.call('createDevice', {}, { token }), requiredFields)
})

test('createDevice asks for no third-party configuration', async () => {
  expectSuccess(await createDeviceOf(await newBareApplication()))
})

test('createDevice refuses a serial that is bound to another application and tells nothing of it', async () => {
  const owner = await newApplication(client, { appName: 'Secret owner' })
  const other = await newApplication(client)
  const deviceNo = newSerial()
  expectSuccess(await createDeviceOf(owner, { deviceNo, deviceName: 'Secret device', tag: 'Secret tag' }))
  const answer = await createDeviceOf(other, { deviceNo })
  expectRefusal(answer, 'deviceBoundElsewhere')
  expect(answer.data).toBeNull()
  expect(answer.text).not.toContain(owner.appId)
  expect(answer.text).not.toContain('Secret')
  expect([...answer.headers.values()].join('\n')).not.toContain(owner.appId)
})

test('serials that differ in case, in composition or in width are different serials', async () => {
  const application = await newApplication(client)
  const base = newSerial('sn')
  for (const deviceNo of [base, base.toUpperCase(), `${base}é`, `${base}e\u0301`, `${base}1`, `${base}１`]) {
    expect(expectSuccess(await createDeviceOf(application, { deviceNo })).deviceNo).toBe(deviceNo)
  }
})

test('a refused createDevice leaves the serial free', async () => {
  const application = await newApplication(client)
  const deviceNo = newSerial()
  expectFaults(await createDeviceOf(application, { deviceNo, coordinates: 'x' }), ['coordinates'])
  expectSuccess(await createDeviceOf(application, { deviceNo }))
})
