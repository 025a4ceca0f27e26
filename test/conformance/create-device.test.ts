import { expect, test } from 'bun:test'
import { createDevice } from '../../src/devices/contract.ts'
import { deviceBody, newApplication, newSerial } from '../harness.ts'
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

/** Document §2.3 with contract §4.2: the members of a new device without a model, and their types. */
const freshTypes: Record<string, string> = {
  appId: 'string',
  deviceNo: 'string',
  tag: 'string',
  deviceName: 'string',
  modelName: 'null',
  productPictureUrl: 'null',
  deviceType: 'null',
  deviceTypeName: 'null',
  status: 'number',
  onlineStatus: 'number',
  statusRemark: 'null',
  runStatus: 'number',
  version: 'null',
  deviceNumber: 'number',
  deviceBattery: 'object',
  DeviceBatteryOutput: 'object',
  createTime: 'string',
}

const addressFields = [
  'cityCode',
  'cityName',
  'coordinates',
  'detailAddress',
  'districtCode',
  'districtName',
  'provinceCode',
  'provinceName',
]

const requiredFields = ['appId', 'deviceNo', 'deviceName', 'districtCode', 'coordinates']

test('create device is POST /api/device/entrance/guard/create and answers HTTP 200 with the envelope', async () => {
  const { appId, token } = await newApplication(client)
  const path = '/api/device/entrance/guard/create'
  const answer = await post(path, JSON.stringify(deviceBody(appId)), bearer(token))
  expect(answer.status).toBe(200)
  expect(answer.code).toBe(0)
  expect(answer.msg).toBe('success')
  expect(Object.keys(JSON.parse(answer.text)).sort()).toEqual(['code', 'data', 'msg'])
})

test('createDevice answers a record of exactly the documented fields, each of its documented type', async () => {
  const device = expectSuccess(await createDeviceOf(await newApplication(client)))
  const types = Object.fromEntries(
    Object.entries(device).map(([field, value]) => [field, value === null ? 'null' : typeof value]),
  )
  expect(types).toEqual(freshTypes)
})

test('createDevice answers what was sent: appId, deviceNo, tag and deviceName', async () => {
  const { appId, token } = await newApplication(client)
  const sent = { appId, deviceNo: newSerial(), tag: 'lane=1;side=北', deviceName: 'East gate' }
  expect(expectSuccess(await client.call(createDevice, deviceBody(appId, sent), { token }))).toMatchObject(sent)
})

test('a fresh device is normal, offline and closed, is one device, and knows no remark and no version', async () => {
  expect(expectSuccess(await createDeviceOf(await newApplication(client)))).toMatchObject({
    status: 1,
    onlineStatus: 2,
    runStatus: 0,
    statusRemark: null,
    version: null,
    deviceNumber: 1,
  })
})

test('DeviceBatteryOutput of a fresh device is exactly a batteryStatus and a batteryEnergy of null', async () => {
  const device = expectSuccess(await createDeviceOf(await newApplication(client)))
  expect(device.DeviceBatteryOutput).toEqual({ batteryStatus: null, batteryEnergy: null })
})

test('a device that no inventory entry and no device model knows has null for all that they would tell', async () => {
  expect(expectSuccess(await createDeviceOf(await newApplication(client)))).toMatchObject({
    modelName: null,
    productPictureUrl: null,
    deviceType: null,
    deviceTypeName: null,
  })
})

test('createTime is now, as yyyy-MM-dd HH:mm:ss in the service’s time zone', async () => {
  expectNow(expectSuccess(await createDeviceOf(await newApplication(client))).createTime)
})

test('deviceBattery is the address: exactly eight strings', async () => {
  const { deviceBattery } = expectSuccess(await createDeviceOf(await newApplication(client)))
  expect(deviceBattery).toEqual({
    provinceCode: '360000',
    provinceName: '江西省',
    cityCode: '360100',
    cityName: '南昌市',
    districtCode: '360102',
    districtName: '东湖区',
    detailAddress: 'No. 1 Yangming Road',
    coordinates: '115.899918,28.676493',
  })
  expect(Object.keys(deviceBattery).sort()).toEqual(addressFields)
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

test('names that the caller sends beside the codes are unknown members and are ignored', async () => {
  const application = await newApplication(client)
  const names = { provinceName: 'Atlantis', cityName: 'Kitezh', districtName: 'x' }
  expect(expectSuccess(await createDeviceOf(application, names)).deviceBattery).toMatchObject({
    provinceName: '江西省',
    cityName: '南昌市',
    districtName: '东湖区',
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

test.each(['tag', 'detailAddress'])(
  'createDevice takes an absent, a null and an empty %s as the same',
  async (field) => {
    const application = await newApplication(client)
    for (const value of [undefined, null, '']) {
      const device = expectSuccess(await createDeviceOf(application, { [field]: value }))
      expect(field === 'tag' ? device.tag : device.deviceBattery.detailAddress).toBeNull()
      expect(Object.keys(device).sort()).toEqual(Object.keys(freshTypes).sort())
      expect(Object.keys(device.deviceBattery).sort()).toEqual(addressFields)
    }
  },
)

test('createDevice names every required field that is absent, and no optional one', async () => {
  const { token } = await newApplication(client)
  expectFaults(await client.call(createDevice, {}, { token }), requiredFields)
})

test.each(requiredFields)('createDevice refuses a device without %s and names only that field', async (field) => {
  expectFaults(await createDeviceOf(await newApplication(client), { [field]: undefined }), [field])
})

test('createDevice ignores members that it does not know', async () => {
  const application = await newApplication(client)
  const sent = { status: 2, onlineStatus: 1, runStatus: 1, deviceNumber: 9, modelName: 'x', version: '1', id: 5 }
  const device = expectSuccess(await createDeviceOf(application, sent))
  expect(Object.keys(device).sort()).toEqual(Object.keys(freshTypes).sort())
  expect(device).toMatchObject({
    status: 1,
    onlineStatus: 2,
    runStatus: 0,
    deviceNumber: 1,
    modelName: null,
    version: null,
  })
})

test('createDevice asks for no third-party configuration', async () => {
  expectSuccess(await createDeviceOf(await newBareApplication()))
})

test('createDevice refuses a serial that is bound to this application already', async () => {
  const application = await newApplication(client)
  const deviceNo = newSerial()
  expectSuccess(await createDeviceOf(application, { deviceNo }))
  expectRefusal(await createDeviceOf(application, { deviceNo }), 'deviceAlreadyYours')
  expectRefusal(await createDeviceOf(application, { deviceNo, deviceName: 'another' }), 'deviceAlreadyYours')
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

test('the refusal of a serial that is bound elsewhere is the same whoever its owner is', async () => {
  const [first, second, other] = await Promise.all([
    newApplication(client),
    newApplication(client),
    newApplication(client),
  ])
  const [one, two] = [newSerial(), newSerial()]
  expectSuccess(await createDeviceOf(first, { deviceNo: one }))
  expectSuccess(await createDeviceOf(second, { deviceNo: two }))
  const answers = [await createDeviceOf(other, { deviceNo: one }), await createDeviceOf(other, { deviceNo: two })]
  for (const answer of answers) expectRefusal(answer, 'deviceBoundElsewhere')
  expect(answers[0]?.text).toBe(answers[1]?.text as string)
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

test('a serial has one owner under many concurrent requests of two applications', async () => {
  const [one, two] = await Promise.all([newApplication(client), newApplication(client)])
  const deviceNo = newSerial()
  const racers = Array.from({ length: 32 }, (_, index) => (index % 2 === 0 ? one : two))
  const answers = await Promise.all(racers.map((racer) => createDeviceOf(racer, { deviceNo })))
  const winner = racers[answers.findIndex((answer) => answer.code === 0)]
  expect(answers.filter((answer) => answer.code === 0)).toHaveLength(1)
  answers.forEach((answer, index) => {
    if (answer.code === 0) expect(expectSuccess(answer).appId).toBe((winner as typeof one).appId)
    else expectRefusal(answer, racers[index] === winner ? 'deviceAlreadyYours' : 'deviceBoundElsewhere')
  })
})

test('one refused registration does not fail those that are sent at the same time', async () => {
  const application = await newApplication(client)
  const taken = newSerial()
  expectSuccess(await createDeviceOf(application, { deviceNo: taken }))
  const serials = Array.from({ length: 100 }, (_, index) => (index % 3 === 0 ? taken : newSerial()))
  const answers = await Promise.all(serials.map((deviceNo) => createDeviceOf(application, { deviceNo })))
  answers.forEach((answer, index) => {
    if (serials[index] === taken) expectRefusal(answer, 'deviceAlreadyYours')
    else expect(expectSuccess(answer).deviceNo).toBe(serials[index] as string)
  })
})

test('createDevice by an operator binds the device to the application that the body names', async () => {
  const { appId } = await newApplication(client)
  expect(expectSuccess(await client.operate(createDevice, deviceBody(appId))).appId).toBe(appId)
})

test('createDevice by an operator for an unknown application is applicationNotFound', async () => {
  expectRefusal(await client.operate(createDevice, deviceBody('no-such-application')), 'applicationNotFound')
})
