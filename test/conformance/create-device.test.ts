import { expect, test } from 'bun:test'
import type { DeviceRecord } from '../../src/devices/contract.ts'
import { deviceBody, newApplication, newSerial } from '../kit/records.ts'
import {
  bearer,
  client,
  createDeviceOf,
  expectNow,
  expectRefusal,
  expectSuccess,
  newBareApplication,
  post,
} from './support.ts'

const nanchang = { provinceCode: '360000', provinceName: '江西省', cityCode: '360100', cityName: '南昌市' }

test('create device is POST /api/device/entrance/guard/create and answers the record of a fresh device', async () => {
  const { appId, token } = await newApplication(client)
  const body = deviceBody(appId, { tag: 'lane=1;side=北' })
  const answer = await post('/api/device/entrance/guard/create', JSON.stringify(body), bearer(token))
  const { createTime, ...device } = expectSuccess(answer) as DeviceRecord
  expectNow(createTime)
  // Document §2.3 with contract §4.2, without a device model.
  expect(device).toEqual({
    ...{ appId, deviceNo: body.deviceNo, tag: 'lane=1;side=北', deviceName: body.deviceName, deviceNumber: 1 },
    ...{ modelName: null, productPictureUrl: null, deviceType: null, deviceTypeName: null },
    ...{ status: 1, onlineStatus: 2, statusRemark: null, runStatus: 0, version: null },
    deviceBattery: {
      ...nanchang,
      districtCode: '360102',
      districtName: '东湖区',
      detailAddress: 'No. 1 Yangming Road',
      coordinates: '115.899918,28.676493',
    },
    DeviceBatteryOutput: { batteryStatus: null, batteryEnergy: null },
  })
})

/** The codes of divisions that are sent, and what the record shows beside the codes. */
const divisions: [{ provinceCode?: unknown; cityCode?: unknown; districtCode: string }, object][] = [
  ...[undefined, null, ''].map((none): (typeof divisions)[number] => [
    { provinceCode: none, cityCode: none, districtCode: '360102' },
    { ...nanchang, districtName: '东湖区' },
  ]),
  // The defaults stand also beside a district of another province.
  [{ districtCode: '110101' }, { ...nanchang, districtName: '东城区' }],
  [
    { provinceCode: '110000', districtCode: '110101' },
    { provinceName: '北京市', cityCode: '360100', cityName: '南昌市' },
  ],
  [
    { provinceCode: '440000', cityCode: '440300', districtCode: '440305' },
    { provinceName: '广东省', cityName: '深圳市', districtName: '南山区' },
  ],
  ...['999999', '36', '3601020', 'x', '__proto__', 'constructor', 'toString', ' 360000'].map(
    (code): (typeof divisions)[number] => [
      { provinceCode: code, cityCode: code, districtCode: code },
      { provinceCode: code, provinceName: null, cityName: null, districtName: null },
    ],
  ),
]

test('provinceCode and cityCode have defaults, nothing is corrected, and names come from the national table or are null', async () => {
  const application = await newApplication(client)
  for (const [sent, shown] of divisions) {
    const members = { provinceCode: undefined, cityCode: undefined, ...sent }
    const { deviceBattery } = expectSuccess(await createDeviceOf(application, members))
    expect(deviceBattery).toMatchObject({ districtCode: sent.districtCode, ...shown })
  }
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
