import { expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import type { DeviceRecord } from '../../src/devices/contract.ts'
import { newApplication, newSerial } from '../harness.ts'
import { astral, client, createDeviceOf, expectFaults, expectSuccess, saveSiteOf } from './support.ts'
import { neverText, notGiven, storedAsSent, type TextRule } from './texts.ts'

interface DeviceText extends TextRule {
  required: boolean
  shown: (device: DeviceRecord) => unknown
}

/** The limits of contract §2, and the member of the record that shows each field. */
const textFields: Record<string, DeviceText> = {
  deviceName: { max: 64, required: true, shown: (device) => device.deviceName },
  tag: { max: 512, required: false, shown: (device) => device.tag },
  provinceCode: { max: 12, required: false, shown: (device) => device.deviceBattery.provinceCode },
  cityCode: { max: 12, required: false, shown: (device) => device.deviceBattery.cityCode },
  districtCode: { max: 12, required: true, shown: (device) => device.deviceBattery.districtCode },
  detailAddress: { max: 255, required: false, shown: (device) => device.deviceBattery.detailAddress },
}

for (const [field, rule] of Object.entries(textFields)) {
  test(`createDevice stores a ${field} of 1 to ${rule.max} characters exactly as it is sent`, async () => {
    const application = await newApplication(client)
    const sent = storedAsSent(rule)
    const devices = await Promise.all(sent.map((value) => createDeviceOf(application, { [field]: value })))
    expect(devices.map((answer) => rule.shown(expectSuccess(answer)))).toEqual(sent)
  })

  test(`createDevice refuses a ${field} of ${rule.max + 1} characters, with control characters or of another type`, async () => {
    const application = await newApplication(client)
    const answers = await Promise.all(neverText(rule).map((value) => createDeviceOf(application, { [field]: value })))
    for (const answer of answers) expectFaults(answer, [field])
  })

  if (rule.required) {
    test(`createDevice refuses a ${field} that is empty or only white space`, async () => {
      const application = await newApplication(client)
      const answers = await Promise.all(notGiven.map((value) => createDeviceOf(application, { [field]: value })))
      for (const answer of answers) expectFaults(answer, [field])
    })
  }
}

const serialRule = { max: 64, withoutWhiteSpace: true }

test('createDevice stores a deviceNo of up to 64 characters exactly as it is sent', async () => {
  const application = await newApplication(client)
  const unique = randomBytes(8).toString('hex')
  const serials = [
    ...storedAsSent({ ...serialRule, max: 48 }).map((text) => unique + text),
    ...storedAsSent({ ...serialRule, max: 48 }).map((text) => text + unique),
    (unique + 'x'.repeat(64)).slice(0, 64),
    unique + astral.repeat(48),
  ]
  const distinct = [...new Set(serials)]
  const devices = await Promise.all(distinct.map((deviceNo) => createDeviceOf(application, { deviceNo })))
  expect(devices.map((answer) => expectSuccess(answer).deviceNo)).toEqual(distinct)
})

test('createDevice refuses a deviceNo of 65 characters, with white space, control characters or of another type', async () => {
  const application = await newApplication(client)
  const refused = [...neverText(serialRule), ...notGiven, '\ufeffx']
  const answers = await Promise.all(refused.map((deviceNo) => createDeviceOf(application, { deviceNo })))
  for (const answer of answers) expectFaults(answer, ['deviceNo'])
})

test('createDevice refuses an appId that is not text of 1 to 64 characters, and names it', async () => {
  const application = await newApplication(client)
  const refused = [...neverText({ max: 64 }), ...notGiven]
  const answers = await Promise.all(refused.map((appId) => createDeviceOf(application, { appId })))
  for (const answer of answers) expectFaults(answer, ['appId'])
})

test('createDevice tells every faulty field at once, whatever is wrong with each', async () => {
  const application = await newApplication(client)
  const faulty = {
    deviceNo: 'has space',
    deviceName: '',
    tag: 'x'.repeat(513),
    provinceCode: 360000,
    cityCode: 'a\0',
    districtCode: '\udc00',
    detailAddress: [],
    coordinates: '181,0',
  }
  expectFaults(await createDeviceOf(application, faulty), Object.keys(faulty))
})

/** Valid coordinates, and the longitude and latitude that they mean. */
const goodCoordinates: [string, number, number][] = [
  ['115.899918,28.676493', 115.899918, 28.676493],
  ['-180,-90', -180, -90],
  ['180,90', 180, 90],
  ['180.0,90.000', 180, 90],
  ['-179.999999,89.999999', -179.999999, 89.999999],
  ['0,0', 0, 0],
  ['0.5,-0.5', 0.5, -0.5],
  ['115.9 , 28.6', 115.9, 28.6],
  ['115.9,   28.6', 115.9, 28.6],
  ['115.9   ,28.6', 115.9, 28.6],
  ['9,9', 9, 9],
  ['100.10,20.20', 100.1, 20.2],
  [`115.${'1'.repeat(52)},28.6${'0'.repeat(3)}`, 115.11111111111111, 28.6],
]

const refusedCoordinates: unknown[] = [
  '180.0000001,0',
  '-180.0000001,0',
  '0,90.0000001',
  '0,-90.0000001',
  '181,91',
  '1000,0',
  '115.899918',
  '115.899918,',
  ',28.676493',
  ',',
  '115.899918 28.676493',
  '115.899918;28.676493',
  '115.899918，28.676493',
  '115.899918,28.676493,5',
  '115.9,28.6,',
  '1e2,10',
  '0x10,10',
  'NaN,10',
  '10,NaN',
  'Infinity,0',
  'east,north',
  '115°53′,28°40′',
  '１１５,28',
  '--1,0',
  '1.2.3,0',
  ' 115.9,28.6',
  '115.9,28.6 ',
  '115.9,\t28.6',
  '115.9,\n28.6',
  '115.9\u3000,28.6',
  '115.9,28.6\0',
  `115.${'1'.repeat(52)},28.6${'0'.repeat(4)}`,
  115.899918,
  true,
  { longitude: 115, latitude: 28 },
  [115.899918, 28.676493],
]

test('createDevice takes coordinates up to their limits and echoes their text as it was sent', async () => {
  const application = await newApplication(client)
  for (const [coordinates] of goodCoordinates) {
    expect(expectSuccess(await createDeviceOf(application, { coordinates })).deviceBattery.coordinates).toBe(
      coordinates,
    )
  }
})

test('saveSite echoes the coordinates’ text as it was sent, and longitude and latitude are its numbers', async () => {
  const application = await newApplication(client)
  for (const [coordinates, longitude, latitude] of goodCoordinates) {
    expect(expectSuccess(await saveSiteOf(application, { coordinates }))).toMatchObject({
      coordinates,
      longitude,
      latitude,
    })
  }
})

const places = [
  { name: 'createDevice', send: createDeviceOf, required: true },
  { name: 'saveSite', send: saveSiteOf, required: false },
]

for (const { name, send, required } of places) {
  test(`${name} refuses coordinates that are out of range or are not longitude,latitude`, async () => {
    const application = await newApplication(client)
    const refused = required ? [...refusedCoordinates, ...notGiven] : refusedCoordinates
    const answers = await Promise.all(refused.map((coordinates) => send(application, { coordinates })))
    for (const answer of answers) expectFaults(answer, ['coordinates'])
  })

  test(`${name} says so when coordinates are out of range but in range when swapped`, async () => {
    const application = await newApplication(client)
    const reasonFor = async (coordinates: string) =>
      expectFaults(await send(application, { coordinates }), ['coordinates']).coordinates as string
    const outOfRange = await reasonFor('190,100')
    expect(outOfRange).toMatch(/range|180/)
    for (const swapped of ['28.676493,115.899918', '-89.5, 180', '90 ,-91']) {
      const reason = await reasonFor(swapped)
      expect(reason).not.toBe(outOfRange)
      expect(reason).toMatch(/latitude,\s*longitude|swap|longitude comes first/i)
    }
  })
}

test('createDevice takes a device whose every text is at its limit in characters of four bytes', async () => {
  const application = await newApplication(client)
  const deviceNo = [...newSerial(), ...astral.repeat(64)].slice(0, 64).join('')
  const device = expectSuccess(
    await createDeviceOf(application, {
      deviceNo,
      deviceName: astral.repeat(64),
      tag: astral.repeat(512),
      provinceCode: astral.repeat(12),
      cityCode: astral.repeat(12),
      districtCode: astral.repeat(12),
      detailAddress: astral.repeat(255),
    }),
  )
  expect(device.deviceNo).toBe(deviceNo)
  expect(device.tag).toBe(astral.repeat(512))
  expect(device.deviceBattery.detailAddress).toBe(astral.repeat(255))
})

test('an optional text of white space alone is kept as it was sent', async () => {
  const application = await newApplication(client)
  const answer = await createDeviceOf(application, { tag: ' ', detailAddress: '\u3000' })
  expect([answer.code, answer.data.tag, answer.data.deviceBattery.detailAddress]).toEqual([0, ' ', '\u3000'])
})
