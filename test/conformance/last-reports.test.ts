import { describe, expect, test } from 'bun:test'
import { parse } from 'csv-parse/sync'
import type { DeviceRecord } from '../../src/devices/contract.ts'
import type { DeviceState } from '../../src/devices/state/contract.ts'
import { newPerson, signIn } from '../kit/people.ts'
import { newApplication, newSerial, type TestApplication } from '../kit/records.ts'
import { client, createDeviceOf, expectFaults, expectRefusal, expectSuccess } from './support.ts'

// Contract §5 and §8: devices by their last report, in pages and exports, and the states of several devices.

const [first, second] = (await Promise.all([newApplication(client), newApplication(client)])).sort((one, other) =>
  one.appId < other.appId ? -1 : 1,
) as [TestApplication, TestApplication]
const developer = await signIn(client, await newPerson(client, 'developer', [first.appId, second.appId]))
/** Part of every serial number here, so that an operator's pages hold nothing else. */
const mark = newSerial('SEEN')
const nanchang = '360100'
const shenzhen = '440300'

async function newDevice(
  owner: TestApplication,
  name: string,
  reports: Record<string, unknown>[],
  cityCode = nanchang,
) {
  const deviceNo = `${mark}-${name}`
  expectSuccess(await createDeviceOf(owner, { deviceNo, deviceName: name, cityCode }))
  for (const report of reports) {
    expectSuccess(await client.call('reportDeviceState', { deviceNo, ...report }, { token: owner.token }))
  }
  return deviceNo
}

const old = '2026-01-01T00:00:00Z'
await newDevice(first, 'old', [{ reportTime: old, status: 2 }])
await newDevice(first, 'half', [{ reportTime: '2026-01-01T01:00:00.500Z', onlineStatus: 2 }], shenzhen)
// An older report does not change when a device reported last.
await newDevice(first, 'spring', [{ reportTime: '2026-03-01T00:00:00Z' }, { reportTime: old }], shenzhen)
await newDevice(first, 'never', [])
await newDevice(first, 'now', [{ reportTime: old }, {}])
const rebound = await newDevice(first, 'rebound', [{ reportTime: old }])
expectSuccess(await client.call('unbindDevice', { deviceNo: rebound }, { token: first.token }))
await newDevice(first, 'rebound', [])
await newDevice(second, 'second', [{ reportTime: old }])
const moved = await newDevice(first, 'moved', [{ reportTime: '2026-02-01T00:00:00Z' }])
const move = { deviceNo: moved, targetAppId: second.appId, reason: 'sold' }
expectSuccess(await client.operate('transferDevice', move))
await newDevice(second, 'fresh', [])

type Filter = Record<string, string | number>

/** The names of the devices that each filter finds, newest first within each application. */
const filters: [Filter, string[], string[]][] = [
  [{ lastReportFrom: '2026-01-01 08:00:00' }, ['now', 'spring', 'half', 'old'], ['moved', 'second']],
  [{ lastReportFrom: '2026-01-01 08:00:01' }, ['now', 'spring', 'half'], ['moved']],
  [{ lastReportTo: '2026-01-01 08:00:00' }, ['old'], ['second']],
  [{ lastReportTo: '2026-01-01 07:59:59' }, [], []],
  // The end includes its whole second, or, for RFC 3339 with a fraction, its millisecond.
  [{ lastReportTo: '2026-01-01 09:00:00' }, ['half', 'old'], ['second']],
  [{ lastReportTo: '2026-01-01T01:00:00.499Z' }, ['old'], ['second']],
  [{ lastReportTo: '2026-01-01T01:00:00.500Z' }, ['half', 'old'], ['second']],
  [{ lastReportFrom: '2026-01-01T01:00:00.501Z' }, ['now', 'spring'], ['moved']],
  [{ lastReportFrom: '2026-01-01T02:00:00+01:00', lastReportTo: '2026-02-15 00:00:00' }, ['half'], ['moved']],
  [{ lastReportFrom: '2026-02-01 00:00:00', lastReportTo: '2026-01-01 00:00:00' }, [], []],
  [{ hasReported: 'true' }, ['now', 'spring', 'half', 'old'], ['moved', 'second']],
  [{ hasReported: 'false' }, ['rebound', 'never'], ['fresh']],
  [{ hasReported: 'true', lastReportTo: '2026-01-31 00:00:00' }, ['half', 'old'], ['second']],
  [{ hasReported: 'false', lastReportTo: '2999-01-01 00:00:00' }, [], []],
  [{ hasReported: '', lastReportFrom: '', lastReportTo: '2026-01-01 09:00:00' }, ['half', 'old'], ['second']],
  [{ lastReportFrom: '2026-01-01 00:00:00', cityCode: shenzhen }, ['spring', 'half'], []],
  [{ lastReportTo: '2026-01-31 00:00:00', onlineStatus: 2 }, ['half'], []],
  [{ lastReportTo: '2026-01-31 00:00:00', onlineStatus: 1, status: 2 }, ['old'], []],
  [{ hasReported: 'false', onlineStatus: 1 }, [], []],
  [{ hasReported: 'false', deviceName: 'NEVER', runStatus: 0, timeFrom: '2026-01-01 00:00:00' }, ['never'], []],
]

type Ask = (query: Filter) => Promise<Awaited<ReturnType<typeof asFirst>>>
const asFirst = (query: Filter) => client.call('pageDevices', query, { token: first.token })

const callers: { who: string; ask: Ask; hasSecond: boolean }[] = [
  { who: 'an application', ask: asFirst, hasSecond: false },
  {
    who: 'a developer of two applications',
    ask: (query) => client.call('pageDevices', query, { headers: developer }),
    hasSecond: true,
  },
]

const namesOf = (list: readonly DeviceRecord[]) => list.map(({ deviceNo }) => deviceNo.slice(mark.length + 1))

describe.each(callers)('pageDevices of $who', ({ ask, hasSecond }) => {
  test.each(filters)('%j', async (filter, own, others) => {
    const expected = hasSecond ? [...own, ...others] : own
    const page = expectSuccess(await ask(filter))
    expect({ filter, names: namesOf(page.list) }).toEqual({ filter, names: expected })
    expect([page.total, page.totalIsExact, page.nextCursor]).toEqual([expected.length, true, null])
    const walked: string[] = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const next: typeof page = expectSuccess(await ask({ ...filter, pageSize: 2, cursor }))
      expect([next.total, next.pages]).toEqual([expected.length, Math.ceil(expected.length / 2)])
      walked.push(...namesOf(next.list))
      cursor = next.nextCursor
    }
    expect(walked).toEqual(expected)
    const secondPage = expectSuccess(await ask({ ...filter, pageSize: 1, pageNo: 2 }))
    expect(namesOf(secondPage.list)).toEqual(expected.slice(1, 2))
  })
})

test('each faulty filter is named', async () => {
  const faulty = { lastReportFrom: 'yesterday', lastReportTo: '2026-02-30 00:00:00', hasReported: 'yes' }
  expectFaults(await asFirst(faulty), Object.keys(faulty))
  for (const hasReported of ['TRUE', '1', 'null']) expectFaults(await asFirst({ hasReported }), ['hasReported'])
  expectFaults(await asFirst({ lastReport: '2026-01-01 00:00:00' }), ['lastReport'])
  const exported = await client.call('createExport', { kind: 'devices', ...faulty }, { token: first.token })
  expectFaults(exported, Object.keys(faulty))
  const sites = { kind: 'sites', hasReported: 'true' } as const
  expectFaults(await client.call('createExport', sites, { token: first.token }), ['hasReported'])
})

describe('an export of devices', () => {
  const shown: Record<string, string | null> = {
    half: '2026-01-01 09:00:00',
    old: '2026-01-01 08:00:00',
    spring: '2026-03-01 08:00:00',
    never: null,
    rebound: null,
    second: '2026-01-01 08:00:00',
    moved: '2026-02-01 08:00:00',
    fresh: null,
  }
  const read = async (format: 'csv' | 'ndjson' | 'geojson', filter: Filter, headers?: Record<string, string>) => {
    const as = headers === undefined ? { token: first.token } : { headers }
    const { status, text } = await client.call('createExport', { kind: 'devices', format, ...filter }, as)
    expect(status).toBe(200)
    return text
  }

  test.each(filters)('%j finds what the page finds', async (filter, own, others) => {
    for (const [headers, expected] of [
      [undefined, own],
      [developer, [...own, ...others]],
    ] as const) {
      const lines = (await read('ndjson', filter, headers)).trim()
      const rows: (DeviceRecord & { lastReportTime: string | null })[] =
        lines === '' ? [] : lines.split('\n').map((line) => JSON.parse(line))
      expect({ filter, names: namesOf(rows) }).toEqual({ filter, names: [...expected] })
      for (const row of rows) {
        const name = row.deviceNo.slice(mark.length + 1)
        if (name !== 'now') expect([name, row.lastReportTime]).toEqual([name, shown[name] ?? null])
      }
    }
  })

  test('tells the last report in the column lastReportTime of each format, as GET state tells it', async () => {
    const csv: Record<string, string>[] = parse(await read('csv', {}), { columns: true, bom: true })
    expect(Object.keys(csv[0] ?? {}).at(-1)).toBe('lastReportTime')
    const { features } = JSON.parse(await read('geojson', {}))
    const properties: Record<string, unknown>[] = features.map((feature: { properties: object }) => feature.properties)
    expect(csv).toHaveLength(6)
    for (const { deviceNo, lastReportTime } of csv) {
      const state = expectSuccess(await client.call('getDeviceState', { deviceNo }, { token: first.token }))
      const expected = (state as DeviceState).lastReportTime
      expect([deviceNo, lastReportTime]).toEqual([deviceNo, expected ?? ''])
      expect(properties.find((one) => one.deviceNo === deviceNo)).toMatchObject({ lastReportTime: expected })
    }
  })
})

describe('getDeviceState with deviceNos', () => {
  const named = (names: string[]) => names.map((name) => `${mark}-${name}`).join(',')
  const asked = (query: Record<string, unknown>) => client.call('getDeviceState', query, { token: first.token })
  const namesIn = (answer: Awaited<ReturnType<typeof asked>>) => {
    const data = expectSuccess(answer)
    expect(Object.keys(data)).toEqual(['list'])
    return 'list' in data ? data.list.map(({ deviceNo }) => deviceNo.slice(mark.length + 1)) : []
  }

  test('answers the states in the order asked, each as GET state answers one', async () => {
    const names = ['spring', 'never', 'old', 'rebound', 'half']
    const data = expectSuccess(await asked({ deviceNos: named(names) }))
    const each = await Promise.all(names.map((name) => asked({ deviceNo: `${mark}-${name}` })))
    expect(data).toEqual({ list: each.map(expectSuccess) } as typeof data)
    expect(namesIn(await asked({ appId: first.appId, deviceNos: named(names) }))).toEqual(names)
  })

  test('leaves out what is unknown or another application’s', async () => {
    const names = ['second', 'old', 'moved', 'nowhere', 'never']
    expect(namesIn(await asked({ deviceNos: named(names) }))).toEqual(['old', 'never'])
    expect(namesIn(await asked({ deviceNos: newSerial() }))).toEqual([])
    expectRefusal(await asked({ appId: second.appId, deviceNos: named(['old']) }), 'notPermitted')
  })

  test('answers an operator and a developer for one application or for all that they may see', async () => {
    const deviceNos = named(['second', 'old', 'moved', 'nowhere'])
    const all = ['second', 'old', 'moved']
    expect(namesIn(await client.operate('getDeviceState', { deviceNos }))).toEqual(all)
    expect(namesIn(await client.operate('getDeviceState', { appId: second.appId, deviceNos }))).toEqual([
      'second',
      'moved',
    ])
    expect(namesIn(await client.call('getDeviceState', { deviceNos }, { headers: developer }))).toEqual(all)
    const stranger = await signIn(client, await newPerson(client, 'developer', []))
    expect(namesIn(await client.call('getDeviceState', { deviceNos }, { headers: stranger }))).toEqual([])
    const unknown = { appId: newSerial('app'), deviceNos }
    expectRefusal(await client.operate('getDeviceState', unknown), 'applicationNotFound')
    const one = expectSuccess(await client.operate('getDeviceState', { deviceNo: moved }))
    expect(one).toMatchObject({ appId: second.appId, deviceNo: moved, lastReportTime: '2026-02-01 08:00:00' })
  })

  test('takes 1 to 100 serial numbers, and no device beside them', async () => {
    const hundred = Array.from({ length: 99 }, (_, index) => `nowhere-${index}`)
    expect(namesIn(await asked({ deviceNos: [...hundred, `${mark}-old`].join(',') }))).toEqual(['old'])
    for (const deviceNos of [[...hundred, 'a', 'b'].join(','), 'a,,b', ',a', 'a,', 'a, b', 'x'.repeat(65), ',']) {
      expectFaults(await asked({ deviceNos }), ['deviceNos'])
    }
    expectFaults(await asked({ deviceNo: moved, deviceNos: named(['old']) }), ['deviceNo', 'deviceNos'])
    for (const query of [{}, { deviceNos: '' }, { deviceNo: '', deviceNos: '' }]) {
      expectFaults(await asked(query), ['deviceNo', 'deviceNos'])
    }
    expect(namesIn(await asked({ deviceNo: '', deviceNos: named(['old']) }))).toEqual(['old'])
  })
})
