import { describe, expect, test } from 'bun:test'
import type { Static, TObject, TSchema } from 'typebox'
import {
  createDevice,
  createDevices,
  type DeviceRecord,
  updateDevice,
  updateDevices,
} from '../../src/devices/contract.ts'
import { transferDevice, transferDevices, unbindDevice, unbindDevices } from '../../src/devices/ownership/contract.ts'
import {
  removePlacement,
  removePlacements,
  savePlacement,
  savePlacements,
} from '../../src/devices/placement/contract.ts'
import { type DeviceState, reportDeviceState, reportDeviceStates } from '../../src/devices/state/contract.ts'
import { saveSite, saveSites, updateSite, updateSites } from '../../src/sites/contract.ts'
import type { Operation } from '../../src/vocabulary/operation.ts'
import { deviceBody, newApplication, newSerial, siteBody, type TestApplication, takeOffline } from '../kit/records.ts'
import { untyped } from '../kit/untyped.ts'
import {
  client,
  createDeviceOf,
  expectFaults,
  expectRefusal,
  expectSuccess,
  newBareApplication,
  newRule,
  saveSiteOf,
} from './support.ts'

// A batch responds and acts as single requests for its rows would, sent one after another (contract §5).

interface Outcome {
  code: number
  msg: string
  data: unknown
}

/** One operation with its batch, and rows to send to both. */
interface Case {
  single: Operation
  batch: Operation
  /** `list` is the member of the body that holds the rows; `name` is the member that identifies a row in its outcome. */
  list: string
  name: string
  by?: 'operator'
  /**
   * Creates what the rows need and returns rows with every possible outcome: the same rows for each application, apart
   * from serial numbers.
   */
  rows(application: TestApplication): Promise<Record<string, unknown>[]>
  /** A row that is not an object, and the field that the batch names in its refusal. */
  faulty: { row: unknown; field: string }
  /** Set when the batch's rows are bare identifiers; otherwise they are bodies of the single operation. */
  isBare?: true
  /** Members of the batch's body in addition to the list. */
  beside?(application: TestApplication): Promise<Record<string, unknown>>
}

const cases: Case[] = [
  {
    single: untyped(saveSite),
    batch: untyped(saveSites),
    list: 'sites',
    name: 'siteName',
    async rows(application) {
      const [fast, slow] = [await newRule(application, 1), await newRule(application, 2)]
      const { appId, ...site } = siteBody('')
      return [
        { ...site, siteName: 'one', fastChargeBillRuleId: fast, coordinates: '115.9,28.7', tag: 'unknown' },
        { ...site, siteName: 'two', fastChargeBillRuleId: slow },
        { ...site, siteName: 'three', rushingBillRuleId: fast + 1_000_000, placeholderBillRuleId: slow },
        { ...site, siteName: 'four', contacts: '', districtCode: 7, coordinates: '28.7,115.9' },
        { siteName: ['five'] },
        { ...site, siteName: 'one', rushingBillRuleId: slow, detailAddress: '' },
        { ...site, siteName: 'one', rushingBillRuleId: slow, detailAddress: '' },
      ]
    },
    faulty: { row: 'no site', field: 'site' },
  },
  {
    single: untyped(updateSite),
    batch: untyped(updateSites),
    list: 'sites',
    name: 'id',
    async rows(application) {
      const [fast, slow] = [await newRule(application, 1), await newRule(application, 2)]
      const [one, two] = [await newSite(application), await newSite(application)]
      const theirs = await newSite(await newApplication(client))
      return [
        { id: one, siteName: 'one', fastChargeBillRuleId: fast, coordinates: '115.9,28.7' },
        { id: two, fastChargeBillRuleId: slow },
        { id: theirs, siteName: 'taken over' },
        { id: two, siteName: '', coordinates: '28.7,115.9' },
        { id: one, siteName: 'one, again' },
        { id: one, siteName: 'one, again' },
        { id: two },
        { id: two, fastChargeBillRuleId: null, coordinates: '', rushingBillRuleId: slow, tag: 'unknown' },
        { siteName: 'without an id' },
        { id: 'one', siteName: 'x' },
        { id: one, fastChargeBillRuleId: null, detailAddress: null },
      ]
    },
    faulty: { row: 'no site', field: 'site' },
  },
  {
    single: untyped(updateDevice),
    batch: untyped(updateDevices),
    list: 'devices',
    name: 'deviceNo',
    async rows(application) {
      const [one, two] = [await newDevice(application), await newDevice(application)]
      const theirs = await newDevice(await newApplication(client))
      expectSuccess(await client.call('reportDeviceState', { ...one, version: '2' }, { token: application.token }))
      return [
        { ...one, deviceName: 'one', tag: 'lane=1', provinceCode: '110000' },
        { ...theirs, deviceName: 'taken over' },
        { ...two },
        { ...one, deviceName: 'one, again', provinceCode: '', tag: null },
        { ...one, deviceName: 'one, again' },
        { ...two, deviceName: '', coordinates: '28.7,115.9' },
        { deviceNo: 'SN-unknown', deviceName: 'x' },
        { deviceNo: 7 },
        { ...two, detailAddress: 'No. 2', status: 2 },
        { ...one, detailAddress: null, districtCode: '360103', coordinates: '115.9, 28.7' },
      ]
    },
    faulty: { row: 'no device', field: 'device' },
  },
  {
    single: untyped(reportDeviceState),
    batch: untyped(reportDeviceStates),
    list: 'reports',
    name: 'deviceNo',
    async rows(application) {
      const [one, two] = [await newDevice(application), await newDevice(application)]
      const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString()
      return [
        { ...one, version: '1', reportTime: minutesAgo(10) },
        { ...two, onlineStatus: 2 },
        { ...one, version: '2', reportTime: minutesAgo(5) },
        { ...one, version: '3', reportTime: minutesAgo(7) },
        { deviceNo: 'SN-unknown', version: '1' },
        { ...two, batteryEnergy: '101%', reportTime: minutesAgo(-5) },
        { ...one, statusRemark: 'E17' },
        { ...two, runStatus: 2, statusRemark: '' },
        { ...one, version: '4', reportTime: minutesAgo(1) },
        { ...one },
      ]
    },
    faulty: { row: 7, field: 'report' },
  },
  {
    single: untyped(unbindDevice),
    batch: untyped(unbindDevices),
    list: 'deviceNos',
    name: 'deviceNo',
    async rows(application) {
      const [one, two, three] = [
        await newDevice(application),
        await newDevice(application),
        await newDevice(application),
      ]
      const theirs = await newDevice(await newApplication(client))
      const report = { deviceNo: two.deviceNo, version: '2', statusRemark: 'E17' }
      expectSuccess(await client.call('reportDeviceState', report, { token: application.token }))
      return [one, theirs, two, one, { deviceNo: 'two words' }, { deviceNo: 'SN-unknown' }, three]
    },
    faulty: { row: null, field: 'deviceNo' },
    isBare: true,
    beside: async () => ({ reason: 'moved' }),
  },
  {
    single: untyped(transferDevice),
    batch: untyped(transferDevices),
    list: 'deviceNos',
    name: 'deviceNo',
    by: 'operator',
    async rows(application) {
      const other = await newApplication(client)
      const [one, two, mine] = [await newDevice(other), await newDevice(other), await newDevice(application)]
      expectSuccess(await client.call('reportDeviceState', { ...one, version: '2' }, { token: other.token }))
      return [one, { deviceNo: 'SN-unknown' }, mine, two, one, { deviceNo: '' }]
    },
    faulty: { row: ['x'], field: 'deviceNo' },
    isBare: true,
    beside: async ({ appId }) => ({ targetAppId: appId, reason: 'sold' }),
  },
  {
    single: untyped(createDevice),
    batch: untyped(createDevices),
    list: 'devices',
    name: 'deviceNo',
    async rows(application) {
      const [mine, theirs] = [await newDevice(application), await newDevice(await newApplication(client))]
      const { appId, ...device } = deviceBody('')
      const other = { ...device, deviceNo: newSerial(), tag: null, provinceCode: '110000', detailAddress: '' }
      return [
        { ...device, status: 2 },
        { ...device, ...mine },
        { ...device, ...theirs },
        other,
        { ...device, deviceName: 'again' },
        { ...other, deviceNo: newSerial(), coordinates: '28.6,115.9', districtCode: '' },
        { deviceNo: 'two words' },
      ]
    },
    faulty: { row: 'no device', field: 'device' },
  },
  {
    single: untyped(savePlacement),
    batch: untyped(savePlacements),
    list: 'placements',
    name: 'deviceNo',
    async rows(application) {
      const other = await newApplication(client)
      const [one, two, theirs] = [await newDevice(application), await newDevice(application), await newDevice(other)]
      const [north, south] = [await newSite(application), await newSite(application)]
      return [
        { ...one, siteId: north, laneType: 1 },
        { ...theirs, siteId: north, laneType: 1 },
        { ...two, siteId: await newSite(other), laneType: 1 },
        { ...two, siteId: north, laneType: 9, laneName: 7 },
        { ...one, siteId: north, laneType: 2, laneName: 'East' },
        { ...one, siteId: south, laneType: 2 },
        { ...one, siteId: south, laneType: 2 },
        { ...two, siteId: south, laneType: 3, laneName: '' },
        { ...one, siteId: north, laneType: 3 },
        { deviceNo: 'SN-unknown', siteId: north, laneType: 1 },
      ]
    },
    faulty: { row: 7, field: 'placement' },
  },
  {
    single: untyped(removePlacement),
    batch: untyped(removePlacements),
    list: 'deviceNos',
    name: 'deviceNo',
    async rows(application) {
      const other = await newApplication(client)
      const [one, two, nowhere] = [
        await newPlaced(application),
        await newPlaced(application),
        await newDevice(application),
      ]
      return [one, nowhere, { deviceNo: 'SN-unknown' }, await newPlaced(other), two, one, { deviceNo: '' }]
    },
    faulty: { row: 7, field: 'deviceNo' },
    isBare: true,
    beside: async () => ({ reason: 'season is over' }),
  },
]

/** The data of a response or event, without values that differ between applications. */
function neutral(data: unknown, { appId }: TestApplication): unknown {
  const text = JSON.stringify(data, (member, value) => {
    if (/^(id|siteId|.*BillRuleId)$/.test(member)) return value === null ? null : 'number'
    return /Time$/.test(member) && value !== null ? 'time' : value
  })
  return JSON.parse(text.replaceAll(appId, 'app').replace(/SN-\w+/g, 'serial'))
}

/**
 * The application's events, oldest first. Events of different devices of one batch have no fixed order, so these are
 * sorted by row.
 */
async function eventsOf({ appId }: TestApplication, rows: Record<string, unknown>[] = []) {
  const { list } = expectSuccess(await client.operate('pageEvents', { appId, pageSize: '100' }))
  const placeOf = ({ data }: { data: unknown }) =>
    rows.findIndex(({ deviceNo }) => deviceNo !== undefined && deviceNo === (data as { deviceNo?: string }).deviceNo)
  return list.map(({ type, actor, data }) => ({ type, actor, data })).toSorted((a, b) => placeOf(a) - placeOf(b))
}

async function newDevice(application: TestApplication) {
  return { deviceNo: expectSuccess(await createDeviceOf(application)).deviceNo }
}

async function newPlaced(application: TestApplication) {
  const device = await newDevice(application)
  const placement = { ...device, siteId: await newSite(application), laneType: 1 }
  expectSuccess(await client.call('savePlacement', placement, { token: application.token }))
  return device
}

const newSite = async (application: TestApplication) => expectSuccess(await saveSiteOf(application)).id

function call<Body extends TObject, Query extends TObject, Data extends TSchema>(
  operation: Operation<Body, Query, Data>,
  by: Case['by'],
  application: TestApplication,
  body: object,
  headers: Record<string, string> = {},
) {
  const token = by === 'operator' ? client.operatorKey : application.token
  return client.call(operation, body, { token, headers })
}

for (const { single, batch, list, name, by, rows, faulty, isBare, beside = async () => ({}) } of cases) {
  const send = async (application: TestApplication, sent: unknown[], headers: Record<string, string> = {}) => {
    const about = by === 'operator' ? {} : { appId: application.appId }
    return call(batch, by, application, { ...about, ...(await beside(application)), [list]: sent }, headers)
  }
  const outcomes = (answer: { data: unknown }) => (answer.data as { results: Outcome[] }).results
  const sentAs = (row: Record<string, unknown>) => (isBare ? row[name] : row)

  describe(batch.id, () => {
    test('answers and does what its rows would one after another', async () => {
      const [one, many] = [await newApplication(client), await newApplication(client)]
      const singles: unknown[] = []
      const alone = await rows(one)
      for (const row of alone) {
        const { code, msg, data } = await call(single, by, one, {
          ...(by ? {} : { appId: one.appId }),
          ...(await beside(one)),
          ...row,
        })
        singles.push(neutral({ code, msg, data }, one))
      }
      const sent = await rows(many)
      const answer = await send(many, sent.map(sentAs))
      expectSuccess(answer as never)
      const told = outcomes(answer).map((outcome) => {
        expect(Object.keys(outcome)).toEqual([name, 'code', 'msg', 'data'])
        const { [name]: _, ...rest } = outcome as unknown as Record<string, unknown>
        return neutral(rest, many)
      })
      expect(told).toEqual(singles)
      const isName = (value: unknown) => typeof value === (name === 'id' ? 'number' : 'string')
      const named = sent.map((row) => (isName(row[name]) ? row[name] : null))
      expect(outcomes(answer).map((outcome) => (outcome as unknown as Record<string, unknown>)[name])).toEqual(named)
      expect(neutral(await eventsOf(many, sent), many)).toEqual(neutral(await eventsOf(one, alone), one))
    })

    test('tells of a row that is no row, and stops no other for it', async () => {
      const application = await newApplication(client)
      const [good] = await rows(application)
      const answer = await send(application, [faulty.row, sentAs(good as Record<string, unknown>)])
      expect(outcomes(answer).map(({ code }) => code)).toEqual([10001, 0])
      expect(outcomes(answer)[0]?.data).toMatchObject({ errors: [{ field: faulty.field }] })
    })

    test('takes 1 to 1000 rows, and more than 64 KiB', async () => {
      const application = await newApplication(client)
      expectFaults(await send(application, []), [list])
      expectFaults(await send(application, Array(1001).fill(null)), [list])
      const wide = Array(1000).fill({ remark: 'x'.repeat(1000) })
      expect(outcomes(await send(application, wide))).toHaveLength(1000)
    })

    test('with a key is done once, and its rows’ keys are nobody else’s', async () => {
      const application = await newApplication(client)
      const sent = (await rows(application)).map(sentAs)
      const headers = { 'idempotency-key': newSerial('key') }
      const before = (await eventsOf(application)).length
      const both = await Promise.all([send(application, sent, headers), send(application, sent, headers)])
      const done = (await eventsOf(application)).length - before
      expect(both[1]?.text).toBe(both[0]?.text as string)
      const again = await send(application, sent, headers)
      expect([again.text, again.headers.get('idempotency-replayed')]).toEqual([both[0]?.text as string, 'true'])
      expect((await eventsOf(application)).length - before).toBe(done)
      expectRefusal(await send(application, sent.slice(1), headers), 'idempotencyKeyReused')
    })
  })
}

test('every row of an offline application is refused with 10006, in the language that is preferred, and none is created', async () => {
  const application = await newApplication(client)
  await takeOffline(client, application.appId)
  const { appId, ...device } = deviceBody('')
  const options = { token: application.token, headers: { 'accept-language': 'zh-CN' } }
  const { results } = expectSuccess(await client.call('createDevices', { devices: [device, {}] }, options))
  expect(results.map(({ code }) => code)).toEqual([10006, 10001])
  for (const { msg } of results) expect(msg).toMatch(/\p{Script=Han}/u)
  expect(JSON.stringify(results[1]?.data)).toMatch(/"reason":"[^"]*\p{Script=Han}/u)
  expectRefusal(await client.call('getDevice', { deviceNo: device.deviceNo }, application), 'deviceNotFound')
})

test('a thousand of the largest rows are created', async () => {
  const application = await newApplication(client)
  const largest = { tag: 'x'.repeat(512), detailAddress: '路'.repeat(255), appId: undefined }
  const devices = Array.from({ length: 1000 }, () => deviceBody('', largest))
  const { results } = expectSuccess(await client.call('createDevices', { devices }, { token: application.token }))
  expect(results.filter(({ code }) => code === 0)).toHaveLength(1000)
})

test('of two batches with one key and different bodies at once, one has no effect at all', async () => {
  const application = await newApplication(client)
  for (let round = 0; round < 3; round++) {
    const options = { token: application.token, headers: { 'idempotency-key': newSerial('key') } }
    const batches = [3, 5].map((length) => Array.from({ length }, () => deviceBody(application.appId)))
    const answers = await Promise.all(batches.map((devices) => client.call('createDevices', { devices }, options)))
    expect(answers.map(({ code }) => code).sort()).toEqual([0, 10008])
    const refused = batches[answers.findIndex(({ code }) => code === 10008)] ?? []
    for (const { deviceNo } of refused) {
      expectRefusal(await client.call('getDevice', { deviceNo }, application), 'deviceNotFound')
    }
  }
})

test('a batch of sites is refused row by row without the configuration', async () => {
  const other = await newBareApplication()
  const sites = [siteBody(''), siteBody('')]
  const { results } = expectSuccess(await client.call('saveSites', { sites }, { token: other.token })) as Static<
    typeof saveSites.data
  >
  expect(results.map(({ code }) => code)).toEqual([30003, 30003])
})

test('a thousand changes of one device are made one after the other, and its last is what stays', async () => {
  const application = await newApplication(client)
  const { deviceNo } = await newDevice(application)
  const devices = Array.from({ length: 1000 }, (_, index) => ({ deviceNo, tag: `${index}` }))
  const { results } = expectSuccess(await client.call('updateDevices', { devices }, { token: application.token }))
  expect(results.map(({ data }) => (data as DeviceRecord).tag)).toEqual(devices.map(({ tag }) => tag))
  const query = { deviceNo, type: 'device.updated', pageSize: '100' }
  const first = expectSuccess(await client.call('pageEvents', query, { token: application.token }))
  expect(first.list.map(({ data }) => (data as DeviceRecord).tag)).toEqual(devices.slice(0, 100).map(({ tag }) => tag))
  expect(first.total).toBe(1000)
  const device = expectSuccess(await client.call('getDevice', { deviceNo }, { token: application.token }))
  expect(device.tag).toBe('999')
})

test('updates that arrive at once, of several applications and devices, each get their own answer', async () => {
  const applications = await Promise.all(Array.from({ length: 4 }, () => newApplication(client)))
  const devices = await Promise.all(
    applications.flatMap((app) => Array.from({ length: 8 }, async () => ({ app, ...(await newDevice(app)) }))),
  )
  const rounds = Array.from({ length: 4 }, (_, round) =>
    devices.map(async ({ app, deviceNo }) => {
      const tag = `${deviceNo} ${round}`
      const told = expectSuccess(await client.call('updateDevice', { deviceNo, tag }, { token: app.token }))
      expect(told).toMatchObject({ appId: app.appId, deviceNo, tag })
      const other = applications.find(({ appId }) => appId !== app.appId) as TestApplication
      expectRefusal(await client.call('updateDevice', { deviceNo, tag: 'x' }, { token: other.token }), 'deviceNotFound')
    }),
  )
  await Promise.all(rounds.flat())
})

test('reports of one device keep their order beside those of others, in batches that are under way at once', async () => {
  const application = await newApplication(client)
  const { token } = application
  for (let round = 0; round < 4; round++) {
    const [many, once] = [await newDevice(application), await newDevice(application)]
    // The service notes what repeats the state before it applies the rest, as long as little changes.
    const known = { deviceNo: once.deviceNo, version: 'known' }
    for (let again = 0; again < 3; again++) expectSuccess(await client.call('reportDeviceState', known, { token }))
    const changes = Array.from({ length: 127 }, (_, index) => ({ deviceNo: many.deviceNo, version: `${index}` }))
    // In one round the last row says again what was stored before the batch.
    const reports =
      round % 2 === 0 ? [known, ...changes] : [known, ...changes.slice(0, 64), { ...changes[0], version: '0' }]
    if (round % 2 === 1) expectSuccess(await client.call('reportDeviceState', { ...changes[0] }, { token }))
    const results = expectSuccess(await client.call('reportDeviceStates', { reports }, { token })).results
    expect(results.map(({ data }) => (data as DeviceRecord).version)).toEqual(reports.map(({ version }) => version))
    const state = expectSuccess(await client.call('getDeviceState', { deviceNo: many.deviceNo }, { token }))
    expect((state as DeviceState).version).toBe(reports.at(-1)?.version as string)
    const query = { deviceNo: many.deviceNo, type: 'device.stateChanged', pageSize: '100' }
    const told = expectSuccess(await client.call('pageEvents', query, { token })).list
    const versions = told.map(({ data }) => (data as DeviceRecord).version)
    const expected =
      round % 2 === 0
        ? changes.map(({ version }) => version)
        : [...changes.slice(0, 64).map(({ version }) => version), '0']
    expect(versions).toEqual(expected.slice(0, 100))
  }
})
