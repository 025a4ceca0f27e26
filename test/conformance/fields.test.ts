import { describe, expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import type { OperationId } from '../kit/contracts.ts'
import { deviceBody, newApplication, newSerial, siteBody } from '../kit/records.ts'
import {
  astral,
  client,
  createDeviceOf,
  expectFaults,
  expectSuccess,
  newDevice,
  newIdleApplication,
  newRule,
  newSite,
  occupancyTerms,
  raw,
  saveSiteOf,
  withRaw,
} from './support.ts'
import { neverIntegers, neverText, notGiven, storedAsSent, type TextRule } from './texts.ts'

// Values of members (contract §2): what is stored as it is sent, and what is refused, in one table.

interface Members {
  /** Texts, with their limits. */
  required: Record<string, number>
  optional?: Record<string, number>
  integers?: string[]
  /** Where the record shows a member, if not at its top. */
  shown?(record: Record<string, unknown>): object
}

type Row = [
  operation: OperationId,
  /** The other members of a body that is accepted, and those of them that are required. */
  body: () => object,
  beside: string[],
  members: Members,
  /** What an update does not have stays as it is. */
  isUpdate?: 'update',
]

const owner = await newApplication(client)
const { appId } = owner
const changed = await newIdleApplication()
const serialPrefix = newSerial('FIELDS')
const [deviceNo, siteId] = [await newDevice(owner), await newSite(owner)]

const ofDevice: Members = {
  required: { deviceName: 64, districtCode: 12 },
  optional: { tag: 512, detailAddress: 255 },
  shown: (record) => ({ ...record, ...(record.deviceBattery as object) }),
}
const ofSite: Members = {
  required: {
    ...{ siteName: 64, contacts: 64, contactsPhone: 32, customerServicePhone: 32, businessWeekDay: 128 },
    ...{ provinceCode: 12, provinceName: 64, cityCode: 12, cityName: 64, districtCode: 12, districtName: 64 },
  },
  optional: { sitePictureUrl: 2048, ipcIds: 1024, detailAddress: 255 },
  integers: ['fastChargeBillRuleId', 'rushingBillRuleId', 'placeholderBillRuleId'],
}
const ofRule: Members = { required: { ruleName: 64 }, integers: ['freeMinutes', 'unitMinutes'] }
const ofApplication: Members = {
  required: { appName: 64 },
  integers: ['tokenLifetimeSeconds', 'rateLimitPerSecond'],
}
const hours = ['businessStartTime', 'businessClosingTime']
const ruleId = await newRule(owner, 3)

const ofConfig: Members = { required: { operatorName: 64 } }
const ofPlacement: Members = { required: {}, optional: { laneName: 64 } }
const ofFreeze: Members = { required: { reason: 255 }, shown: ({ frozenReason }) => ({ reason: frozenReason }) }
const ofModel: Members = {
  required: { modelName: 64 },
  optional: { productPictureUrl: 2048, deviceType: 64, deviceTypeName: 64 },
}
const placed = { appId, deviceNo, siteId, laneType: 1 }
const { appId: changedId } = changed

const table: Row[] = [
  ['createDevice', () => deviceBody(appId), ['appId', 'deviceNo', 'coordinates'], ofDevice],
  ['updateDevice', () => ({ appId, deviceNo }), ['appId', 'deviceNo'], ofDevice, 'update'],
  ['saveSite', () => siteBody(appId), ['appId', ...hours], ofSite],
  ['updateSite', () => ({ appId, id: siteId }), ['appId', 'id'], ofSite, 'update'],
  ['saveBillingRule', () => ({ appId, ruleType: 3, ...occupancyTerms }), ['appId', 'ruleType'], ofRule],
  ['updateBillingRule', () => ({ appId, id: ruleId }), ['appId', 'id'], ofRule, 'update'],
  ['savePlacement', () => placed, Object.keys(placed), ofPlacement],
  ['saveThirdPartyConfig', () => ({ appId }), ['appId'], ofConfig],
  ['createApplication', () => ({}), [], ofApplication],
  ['updateApplication', () => ({ appId: changedId }), ['appId'], ofApplication, 'update'],
  ['freezeApplication', () => ({ appId: changedId }), ['appId'], ofFreeze],
  ['saveDeviceModel', () => ({ serialPrefix }), ['serialPrefix'], ofModel],
]

/** Each member with one of its values: in turn, so that no two members of a kind have the same one. */
const eachWith = (members: string[], nth: number, valuesOf: (member: string) => unknown[]) =>
  Object.fromEntries(
    members.map((member, index) => [member, valuesOf(member)[(nth + index) % valuesOf(member).length]]),
  )

describe.each(table)('%s', (...[operation, body, beside, members, isUpdate]) => {
  const { required, optional = {}, integers = [], shown = (record) => record } = members
  const limits: Record<string, number> = { ...required, ...optional }
  const texts = Object.keys(limits)
  const ruleOf = (member: string): TextRule => ({ max: limits[member] ?? 0 })
  const ask = (members: object | string) =>
    client.operate(operation, typeof members === 'string' ? members : { ...body(), ...members })
  const record = async (members: object) => shown(expectSuccess<unknown>(await ask(members)) as Record<string, unknown>)

  test('stores texts up to their limits exactly as they are sent', async () => {
    const valuesOf = (member: string) => storedAsSent(ruleOf(member))
    for (let nth = 0; nth < storedAsSent({ max: 1 }).length; nth++) {
      const sent = eachWith(texts, nth, valuesOf)
      expect(await record(sent)).toMatchObject(sent)
    }
  })

  test('refuses texts that are too long, with control characters or of another type, all in one answer', async () => {
    for (let nth = 0; nth < neverText({ max: 1 }).length; nth++) {
      expectFaults(await ask(eachWith(texts, nth, (member) => neverText(ruleOf(member)))), texts)
    }
  })

  test('refuses required texts that are absent, empty or white space, and takes others as not given', async () => {
    const good = Object.fromEntries(texts.map((member) => [member, 'x']))
    const all = (members: object, value: unknown) =>
      Object.fromEntries(Object.keys(members).map((member) => [member, value]))
    // What an update does not have stays as it is.
    const isGiven = (nothing: unknown) => !isUpdate || nothing !== undefined
    for (const nothing of Object.keys(required).length > 0 ? notGiven.filter(isGiven) : []) {
      expectFaults(await ask({ ...good, ...all(required, nothing) }), Object.keys(required))
    }
    for (const nothing of [undefined, null, ''].filter(isGiven)) {
      expect(await record(good)).toMatchObject(good)
      expect(await record({ ...all(required, 'y'), ...all(optional, nothing) })).toMatchObject(all(optional, null))
    }
  })

  test('names every required member that is absent, and no optional one', async () => {
    const absent = [...beside, ...(isUpdate ? [] : Object.keys(required))]
    if (absent.length > 0) expectFaults(await client.operate(operation, {}), absent)
  })

  if (integers.length === 0) return
  test('takes integers of JSON from 0 to 2^53 − 1 only', async () => {
    const good = Object.fromEntries(texts.map((member) => [member, 'x']))
    const whole = Object.fromEntries(integers.map((member) => [member, raw]))
    for (const written of neverIntegers) {
      expectFaults(await ask(withRaw({ ...body(), ...good, ...whole }, written)), integers)
    }
  })
})

test('an optional text of white space alone is kept as it was sent', async () => {
  const { tag, deviceBattery } = expectSuccess(await createDeviceOf(owner, { tag: ' ', detailAddress: '\u3000' }))
  expect([tag, deviceBattery.detailAddress]).toEqual([' ', '\u3000'])
})

describe('a deviceNo', () => {
  const rule = { max: 64, withoutWhiteSpace: true }

  test('of up to 64 characters is stored exactly as it is sent', async () => {
    const unique = randomBytes(8).toString('hex')
    const texts = storedAsSent({ ...rule, max: 48 })
    const serials = [...texts.map((text) => unique + text), ...texts.map((text) => text + unique)]
    // Those that differ in case, in composition or in width differ.
    const alike = ['Sn', 'sN', 'sn', 'é', 'e\u0301', '1', '１'].map((text) => unique + text)
    const longest = [(unique + 'x'.repeat(64)).slice(0, 64), unique + astral.repeat(48)]
    const distinct = [...new Set([...serials, ...alike, ...longest])]
    const devices = await Promise.all(distinct.map((deviceNo) => createDeviceOf(owner, { deviceNo })))
    expect(devices.map((answer) => expectSuccess(answer).deviceNo)).toEqual(distinct)
  })

  test('of 65 characters, with white space, control characters or of another type is refused, a prefix too', async () => {
    for (const serial of [...neverText(rule), ...notGiven, '\ufeffx']) {
      expectFaults(await createDeviceOf(owner, { deviceNo: serial }), ['deviceNo'])
      if (serial === '\ufeffx') continue
      expectFaults(await client.operate('saveDeviceModel', { serialPrefix: serial, modelName: 'x' }), ['serialPrefix'])
    }
  })
})

test('an appId is text of 1 to 64 characters', async () => {
  for (const wrong of [...neverText({ max: 64 }), ...notGiven]) {
    expectFaults(await createDeviceOf(owner, { appId: wrong }), ['appId'])
  }
})

test('division codes of a device have 1 to 12 characters', async () => {
  const codes = ['provinceCode', 'cityCode', 'districtCode']
  for (const code of storedAsSent({ max: 12 })) {
    const sent = Object.fromEntries(codes.map((member) => [member, code]))
    expect(expectSuccess(await createDeviceOf(owner, sent)).deviceBattery).toMatchObject(sent)
  }
  for (const code of neverText({ max: 12 })) {
    expectFaults(await createDeviceOf(owner, Object.fromEntries(codes.map((member) => [member, code]))), codes)
  }
})

test('tokenLifetimeSeconds is from 1 to 604800, rateLimitPerSecond at least 1', async () => {
  for (const [tokenLifetimeSeconds, rateLimitPerSecond] of [
    [1, 1],
    [604_800, null],
  ]) {
    const limits = { tokenLifetimeSeconds, rateLimitPerSecond }
    expect(await newIdleApplication(limits)).toMatchObject(limits)
  }
  for (const tokenLifetimeSeconds of [0, 604_801]) {
    const limits = { tokenLifetimeSeconds, rateLimitPerSecond: 0 }
    expectFaults(await client.operate('createApplication', { appName: 'x', ...limits }), Object.keys(limits))
  }
})

const times = ['00:00:00', '00:00:01', '09:59:59', '12:00:00', '19:30:30', '20:00:00', '23:59:59']
const neverTimes = [
  ...['24:00:01', '25:00:00', '23:60:00', '23:59:60', '8:00:00', '08:00', '08:00:00.0', '080000', ' 08:00:00'],
  ...['08:00:00 ', '08:00:00\n', '08：00：00', '０８:00:00', '-1:00:00', '+8:00:00', '08:00:00Z', '08:0a:00', 'x'],
  ...[80000, true, {}, []],
]

test('times of day are HH:mm:ss; 24:00:00 closes only, and what closes earlier than it opens is past midnight', async () => {
  for (const [index, businessStartTime] of times.entries()) {
    const open = { businessStartTime, businessClosingTime: times.at(-1 - index) }
    expect(expectSuccess(await saveSiteOf(owner, open))).toMatchObject(open)
  }
  for (const time of [...neverTimes, ...notGiven]) {
    expectFaults(await saveSiteOf(owner, Object.fromEntries(hours.map((member) => [member, time]))), hours)
  }
  const closing = { businessClosingTime: '24:00:00' }
  expect(expectSuccess(await saveSiteOf(owner, closing))).toMatchObject(closing)
  expectFaults(await saveSiteOf(owner, { businessStartTime: '24:00:00' }), ['businessStartTime'])
})

test('updateSite changes hours, coordinates and rules, clears what is optional by null or "", and names every fault', async () => {
  const full = {
    ...{ businessStartTime: '09:00:00', businessClosingTime: '02:00:00', coordinates: '115.899918 , -0.0000001' },
    ...{ rushingBillRuleId: await newRule(owner, 2), placeholderBillRuleId: ruleId },
  }
  const update = (members: object) => client.call('updateSite', { id: siteId, ...members }, owner)
  for (const nothing of [null, '']) {
    const numbers = { longitude: 115.899918, latitude: -1e-7 }
    expect(expectSuccess(await update(full))).toMatchObject({ ...full, ...numbers })
    const nulls = { coordinates: null, rushingBillRuleId: null, placeholderBillRuleId: null }
    const cleared = Object.fromEntries(Object.keys(nulls).map((member) => [member, nothing]))
    expect(expectSuccess(await update(cleared))).toMatchObject({ ...nulls, longitude: null, latitude: null })
  }
  const faulty = { coordinates: '28.676493,115.899918', fastChargeBillRuleId: 'x', businessStartTime: '24:00' }
  expectFaults(await update(faulty), Object.keys(faulty))
  for (const nothing of [null, '']) {
    expectFaults(await update(Object.fromEntries(hours.map((member) => [member, nothing]))), hours)
  }
})

describe('coordinates', () => {
  /** Valid coordinates, and the longitude and latitude that they mean. */
  const good: [string, number, number][] = [
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
  const refused: unknown[] = [
    ...['180.0000001,0', '-180.0000001,0', '0,90.0000001', '0,-90.0000001', '181,91', '1000,0', '115.899918'],
    ...['115.899918,', ',28.676493', ',', '115.899918 28.676493', '115.899918;28.676493', '115.899918，28.676493'],
    ...['115.899918,28.676493,5', '115.9,28.6,', '1e2,10', '0x10,10', 'NaN,10', '10,NaN', 'Infinity,0', 'east,north'],
    ...['115°53′,28°40′', '１１５,28', '--1,0', '1.2.3,0', ' 115.9,28.6', '115.9,28.6 ', '115.9,\t28.6'],
    ...['115.9,\n28.6', '115.9\u3000,28.6', '115.9,28.6\0', `115.${'1'.repeat(52)},28.6${'0'.repeat(4)}`],
    ...[115.899918, true, { longitude: 115, latitude: 28 }, [115.899918, 28.676493]],
  ]

  test('are echoed as they were sent, and a site’s longitude and latitude are their numbers', async () => {
    for (const [coordinates, longitude, latitude] of good) {
      const [device, site] = [await createDeviceOf(owner, { coordinates }), await saveSiteOf(owner, { coordinates })]
      expect(expectSuccess(device).deviceBattery.coordinates).toBe(coordinates)
      expect(expectSuccess(site)).toMatchObject({ coordinates, longitude, latitude })
    }
  })

  test('that are out of range or are not longitude,latitude are refused', async () => {
    for (const coordinates of refused) {
      expectFaults(await saveSiteOf(owner, { coordinates }), ['coordinates'])
      expectFaults(await createDeviceOf(owner, { coordinates }), ['coordinates'])
    }
    for (const coordinates of notGiven) expectFaults(await createDeviceOf(owner, { coordinates }), ['coordinates'])
  })

  test.each([
    ['createDevice', createDeviceOf],
    ['saveSite', saveSiteOf],
  ] as const)('that would be in range when swapped are told so by %s', async (_, send) => {
    const reasonFor = async (coordinates: string) =>
      expectFaults(await send(owner, { coordinates }), ['coordinates']).coordinates as string
    const outOfRange = await reasonFor('190,100')
    expect(outOfRange).toMatch(/range|180/)
    for (const swapped of ['28.676493,115.899918', '-89.5, 180', '90 ,-91']) {
      const reason = await reasonFor(swapped)
      expect(reason).not.toBe(outOfRange)
      expect(reason).toMatch(/latitude,\s*longitude|swap|longitude comes first/i)
    }
  })
})
