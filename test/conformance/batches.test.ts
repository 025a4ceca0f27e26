import { describe, expect, test } from 'bun:test'
import type { DeviceRecord } from '../../src/devices/contract.ts'
import type { DeviceState } from '../../src/devices/state/contract.ts'
import type { Answer } from '../kit/client.ts'
import { contractOf, type OperationId } from '../kit/contracts.ts'
import { newApplication, newSerial, type TestApplication, takeOffline } from '../kit/records.ts'
import { newPlaced } from './placement-support.ts'
import {
  client,
  deviceRow,
  expectFaults,
  expectRefusal,
  expectSuccess,
  feedOf,
  newBareApplication,
  newDevice,
  newRule,
  newSite,
  siteRow,
  succeed,
} from './support.ts'

// A batch responds and acts as single requests for its rows would, sent one after another (contract §5).

interface Outcome extends Record<string, unknown> {
  code: number
  msg: string
  data: unknown
}

const named = async (application: TestApplication) => ({ deviceNo: await newDevice(application) })
const namedPlaced = async (application: TestApplication) => ({
  deviceNo: await newPlaced(application, await newSite(application)),
})

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
async function eventsOf(application: TestApplication, rows: Record<string, unknown>[]) {
  const placeOf = ({ data }: { data: unknown }) =>
    rows.findIndex(({ deviceNo }) => deviceNo !== undefined && deviceNo === (data as { deviceNo?: string }).deviceNo)
  return (await feedOf(application))
    .map(({ type, actor, data }) => ({ type, actor, data }))
    .toSorted((a, b) => placeOf(a) - placeOf(b))
}

interface Way {
  /** The member that identifies a row in its outcome. */
  name: string
  by?: 'operator'
  /** Members of the batch's body in addition to the list. */
  beside?(application: TestApplication): object
}

/**
 * Sends the rows one after another, and as a batch. `rows` creates what they need and returns rows with every possible
 * outcome: the same rows for each application, apart from serial numbers.
 */
function likeSingles(
  single: OperationId,
  batch: OperationId,
  { name, by, beside = () => ({}) }: Way,
  rows: (application: TestApplication) => Promise<Record<string, unknown>[]>,
): void {
  const members = Object.entries(contractOf(batch).body?.properties ?? {})
  const list = members.find(([, schema]) => 'minItems' in schema)?.[0] ?? ''
  const call = async (operation: OperationId, application: TestApplication, body: object, headers = {}) => {
    const { appId, token } = application
    const as = by === 'operator' ? { token: client.operatorKey } : { token }
    const about = by === 'operator' ? {} : { appId }
    return client.call(operation, { ...about, ...beside(application), ...body }, { ...as, headers })
  }
  const send = (application: TestApplication, sent: unknown[], headers = {}) =>
    call(batch, application, { [list]: sent }, headers)
  const outcomes = (answer: Answer<unknown>) => (answer.data as { results: Outcome[] }).results
  const sentAs = (row: Record<string, unknown> = {}) => (list === 'deviceNos' ? row[name] : row)

  describe(batch, () => {
    test('answers and does what its rows would one after another, once under one key', async () => {
      const [one, many] = [await newApplication(client), await newApplication(client)]
      const singles: unknown[] = []
      const alone = await rows(one)
      for (const row of alone) {
        const { code, msg, data } = await call(single, one, row)
        singles.push(neutral({ code, msg, data }, one))
      }
      const sent = await rows(many)
      const headers = { 'idempotency-key': newSerial('key') }
      const answer = await send(many, sent.map(sentAs), headers)
      expectSuccess<unknown>(answer)
      const told = outcomes(answer).map((outcome) => {
        expect(Object.keys(outcome)).toEqual([name, 'code', 'msg', 'data'])
        const { [name]: _, ...rest } = outcome
        return neutral(rest, many)
      })
      expect(told).toEqual(singles)
      const isName = (value: unknown) => typeof value === (name === 'id' ? 'number' : 'string')
      const names = sent.map((row) => (isName(row[name]) ? row[name] : null))
      expect(outcomes(answer).map((outcome) => outcome[name])).toEqual(names)
      expect((await send(many, sent.map(sentAs), headers)).text).toBe(answer.text)
      expect(neutral(await eventsOf(many, sent), many)).toEqual(neutral(await eventsOf(one, alone), one))
    })

    test('tells of a row that is no row, and stops no other for it', async () => {
      const application = await newApplication(client)
      const [good] = await rows(application)
      const answer = await send(application, ['no row', 7, null, ['x'], sentAs(good)])
      expect(outcomes(answer).map(({ code }) => code)).toEqual([10001, 10001, 10001, 10001, 0])
      const told = { errors: [{ field: list.slice(0, -1) }] }
      expect(outcomes(answer).map(({ data }) => data)).toMatchObject([told, told, told, told, {}])
    })

    test('takes 1 to 1000 rows, and more than 64 KiB', async () => {
      const application = await newApplication(client)
      expectFaults(await send(application, []), [list])
      expectFaults(await send(application, Array(1001).fill(null)), [list])
      const wide = Array(1000).fill({ remark: 'x'.repeat(1000) })
      expect(outcomes(await send(application, wide))).toHaveLength(1000)
    })
  })
}

likeSingles('saveSite', 'saveSites', { name: 'siteName' }, async (application) => {
  const [fast, slow] = [await newRule(application, 1), await newRule(application, 2)]
  const site = siteRow()
  return [
    { ...site, siteName: 'one', fastChargeBillRuleId: fast, coordinates: '115.9,28.7', tag: 'unknown' },
    { ...site, siteName: 'two', fastChargeBillRuleId: slow },
    { ...site, siteName: 'three', rushingBillRuleId: fast + 1_000_000, placeholderBillRuleId: slow },
    { ...site, siteName: 'four', contacts: '', districtCode: 7, coordinates: '28.7,115.9' },
    { siteName: ['five'] },
    { ...site, siteName: 'one', rushingBillRuleId: slow, detailAddress: '' },
    { ...site, siteName: 'one', rushingBillRuleId: slow, detailAddress: '' },
  ]
})

likeSingles('updateSite', 'updateSites', { name: 'id' }, async (application) => {
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
})

likeSingles('updateDevice', 'updateDevices', { name: 'deviceNo' }, async (application) => {
  const [one, two] = [await named(application), await named(application)]
  const theirs = await named(await newApplication(client))
  await succeed('reportDeviceState', { ...one, version: '2' }, application)
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
})

likeSingles('reportDeviceState', 'reportDeviceStates', { name: 'deviceNo' }, async (application) => {
  const [one, two] = [await named(application), await named(application)]
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
})

likeSingles(
  'unbindDevice',
  'unbindDevices',
  { name: 'deviceNo', beside: () => ({ reason: 'moved' }) },
  async (application) => {
    const [one, two, three] = [await named(application), await named(application), await named(application)]
    const theirs = await named(await newApplication(client))
    await succeed('reportDeviceState', { ...two, version: '2', statusRemark: 'E17' }, application)
    return [one, theirs, two, one, { deviceNo: 'two words' }, { deviceNo: 'SN-unknown' }, three]
  },
)

likeSingles(
  'transferDevice',
  'transferDevices',
  { name: 'deviceNo', by: 'operator', beside: ({ appId }) => ({ targetAppId: appId, reason: 'sold' }) },
  async (application) => {
    const other = await newApplication(client)
    const [one, two, mine] = [await named(other), await named(other), await named(application)]
    await succeed('reportDeviceState', { ...one, version: '2' }, other)
    return [one, { deviceNo: 'SN-unknown' }, mine, two, one, { deviceNo: '' }]
  },
)

likeSingles('createDevice', 'createDevices', { name: 'deviceNo' }, async (application) => {
  const [mine, theirs] = [await named(application), await named(await newApplication(client))]
  const device = deviceRow()
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
})

likeSingles('savePlacement', 'savePlacements', { name: 'deviceNo' }, async (application) => {
  const other = await newApplication(client)
  const [one, two, theirs] = [await named(application), await named(application), await named(other)]
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
})

likeSingles(
  'removePlacement',
  'removePlacements',
  { name: 'deviceNo', beside: () => ({ reason: 'season is over' }) },
  async (application) => {
    const other = await newApplication(client)
    const [one, two] = [await namedPlaced(application), await namedPlaced(application)]
    const nowhere = await named(application)
    return [one, nowhere, { deviceNo: 'SN-unknown' }, await namedPlaced(other), two, one, { deviceNo: '' }]
  },
)

test('every row is refused that the application as a whole may not write, in the language that is preferred', async () => {
  const sites = await succeed('saveSites', { sites: [siteRow(), siteRow()] }, await newBareApplication())
  expect(sites.results.map(({ code }) => code)).toEqual([30003, 30003])
  const application = await newApplication(client)
  await takeOffline(client, application.appId)
  const device = deviceRow()
  const inChinese = { token: application.token, headers: { 'accept-language': 'zh-CN' } }
  const { results } = await succeed('createDevices', { devices: [device, {}] }, inChinese)
  expect(results.map(({ code }) => code)).toEqual([10006, 10001])
  for (const { msg } of results) expect(msg).toMatch(/\p{Script=Han}/u)
  expect(JSON.stringify(results[1]?.data)).toMatch(/"reason":"[^"]*\p{Script=Han}/u)
  expectRefusal(await client.call('getDevice', { deviceNo: device.deviceNo }, application), 'deviceNotFound')
})

test('a thousand of the largest rows are created', async () => {
  const largest = { tag: 'x'.repeat(512), detailAddress: '路'.repeat(255) }
  const devices = Array.from({ length: 1000 }, () => deviceRow(largest))
  const { results } = await succeed('createDevices', { devices }, await newApplication(client))
  expect(results.filter(({ code }) => code === 0)).toHaveLength(1000)
})

test('of two batches with one key and different bodies at once, one has no effect at all', async () => {
  const application = await newApplication(client)
  const options = { token: application.token, headers: { 'idempotency-key': newSerial('key') } }
  const batches = [3, 5].map((length) => Array.from({ length }, () => deviceRow()))
  const answers = await Promise.all(batches.map((devices) => client.call('createDevices', { devices }, options)))
  expect(answers.map(({ code }) => code).sort()).toEqual([0, 10008])
  for (const { deviceNo } of batches[answers.findIndex(({ code }) => code === 10008)] ?? []) {
    expectRefusal(await client.call('getDevice', { deviceNo }, application), 'deviceNotFound')
  }
})

test('a thousand changes of one device are made one after the other, and its last is what stays', async () => {
  const application = await newApplication(client)
  const { deviceNo } = await named(application)
  const devices = Array.from({ length: 1000 }, (_, index) => ({ deviceNo, tag: `${index}` }))
  const tags = devices.map(({ tag }) => tag)
  const { results } = await succeed('updateDevices', { devices }, application)
  expect(results.map(({ data }) => (data as DeviceRecord).tag)).toEqual(tags)
  const { list, total } = await succeed('pageEvents', { type: 'device.updated', pageSize: 100 }, application)
  expect([list.map(({ data }) => (data as DeviceRecord).tag), total]).toEqual([tags.slice(0, 100), 1000])
  expect((await succeed('getDevice', { deviceNo }, application)).tag).toBe('999')
})

test('updates that arrive at once, of several applications and devices, each get their own answer', async () => {
  const applications = await Promise.all(Array.from({ length: 4 }, () => newApplication(client)))
  const devices = await Promise.all(
    applications.flatMap((app) => Array.from({ length: 8 }, async () => ({ app, ...(await named(app)) }))),
  )
  const rounds = Array.from({ length: 4 }, (_, round) =>
    devices.map(async ({ app, deviceNo }) => {
      const tag = `${deviceNo} ${round}`
      expect(await succeed('updateDevice', { deviceNo, tag }, app)).toMatchObject({ appId: app.appId, deviceNo, tag })
      const other = applications.find(({ appId }) => appId !== app.appId)
      expectRefusal(await client.call('updateDevice', { deviceNo, tag: 'x' }, other), 'deviceNotFound')
    }),
  )
  await Promise.all(rounds.flat())
})

test.each(['a change', 'what was stored before it'])(
  'reports of one device keep their order beside what repeats the state of another, in a batch that ends with %s',
  async (end) => {
    const isBack = end !== 'a change'
    const application = await newApplication(client)
    const [many, once] = [await named(application), await named(application)]
    // The service notes what repeats the state before it applies the rest, as long as little changes.
    const known = { ...once, version: 'known' }
    const first = { ...many, version: '0' }
    for (const report of [known, known, known, ...(isBack ? [first] : [])]) {
      await succeed('reportDeviceState', report, application)
    }
    const changes = Array.from({ length: 64 }, (_, index) => ({ ...many, version: `${index}` }))
    const reports = [known, ...changes, ...(isBack ? [first] : [])]
    const versions = reports.map(({ version }) => version)
    const { results } = await succeed('reportDeviceStates', { reports }, application)
    expect(results.map(({ data }) => (data as DeviceRecord).version)).toEqual(versions)
    const state = await succeed('getDeviceState', many, application)
    expect((state as DeviceState).version).toBe(versions.at(-1) ?? null)
    const told = await feedOf(application, { ...many, type: 'device.stateChanged' })
    expect(told.map(({ data }) => (data as DeviceRecord).version)).toEqual(versions.slice(1))
  },
)
