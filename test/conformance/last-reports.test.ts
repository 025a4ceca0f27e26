import { describe, expect, test } from 'bun:test'
import { parse } from 'csv-parse/sync'
import type { DeviceRecord } from '../../src/devices/contract.ts'
import type { DeviceState } from '../../src/devices/state/contract.ts'
import { newPerson, signIn } from '../kit/people.ts'
import { newApplication, newSerial, type TestApplication } from '../kit/records.ts'
import { client, createDeviceOf, expectFaults, expectSuccess, exported, linesOf, succeed } from './support.ts'

// Contract §5 and §8: devices by their last report, in pages and exports, and the states of several devices.

const [first, second] = (await Promise.all([newApplication(client), newApplication(client)])).sort((one, other) =>
  one.appId < other.appId ? -1 : 1,
) as [TestApplication, TestApplication]
const developer = await signIn(client, await newPerson(client, 'developer', [first.appId, second.appId]))
/** Part of every serial number here, so that an operator's pages hold nothing else. */
const mark = newSerial('SEEN')

async function newDevice(owner: TestApplication, name: string, ...reports: object[]) {
  const deviceNo = `${mark}-${name}`
  expectSuccess(await createDeviceOf(owner, { deviceNo, deviceName: name }))
  for (const report of reports) await succeed('reportDeviceState', { deviceNo, ...report }, owner)
  return deviceNo
}

const old = '2026-01-01T00:00:00Z'
await newDevice(first, 'old', { reportTime: old, status: 2 })
await newDevice(first, 'half', { reportTime: '2026-01-01T01:00:00.500Z', onlineStatus: 2 })
// An older report does not change when a device reported last.
await newDevice(first, 'spring', { reportTime: '2026-03-01T00:00:00Z' }, { reportTime: old })
await newDevice(first, 'never')
await newDevice(first, 'now', { reportTime: old }, {})
const rebound = await newDevice(first, 'rebound', { reportTime: old })
await succeed('unbindDevice', { deviceNo: rebound }, first)
await newDevice(first, 'rebound')
await newDevice(second, 'second', { reportTime: old })
const moved = await newDevice(first, 'moved', { reportTime: '2026-02-01T00:00:00Z' })
await succeed('transferDevice', { deviceNo: moved, targetAppId: second.appId, reason: 'sold' })
await newDevice(second, 'fresh')

type Filter = Record<string, string>

/**
 * The names of the devices that each filter finds, by application, newest first. That filters find what fits them,
 * alone and together, is in device-pages.test.ts; here are the edges of times and what became of a device.
 */
const filters: [Filter, string[]][] = [
  [{ lastReportFrom: '2026-01-01 08:00:00' }, ['now', 'spring', 'half', 'old', 'moved', 'second']],
  [{ lastReportFrom: '2026-01-01 08:00:01' }, ['now', 'spring', 'half', 'moved']],
  [{ lastReportTo: '2026-01-01 08:00:00' }, ['old', 'second']],
  // The end includes its whole second, or, for RFC 3339 with a fraction, its millisecond.
  [{ lastReportTo: '2026-01-01 09:00:00' }, ['half', 'old', 'second']],
  [{ lastReportTo: '2026-01-01T01:00:00.499Z' }, ['old', 'second']],
  [{ lastReportTo: '2026-01-01T01:00:00.500Z' }, ['half', 'old', 'second']],
  [{ lastReportFrom: '2026-01-01T01:00:00.501Z' }, ['now', 'spring', 'moved']],
  [{ lastReportFrom: '2026-01-01T02:00:00+01:00', lastReportTo: '2026-02-15 00:00:00' }, ['half', 'moved']],
  [{ lastReportFrom: '2026-02-01 00:00:00', lastReportTo: '2026-01-01 00:00:00' }, []],
  [{ hasReported: 'false' }, ['rebound', 'never', 'fresh']],
  [{ hasReported: 'false', lastReportTo: '2999-01-01 00:00:00' }, []],
  [{ hasReported: '', lastReportFrom: '', lastReportTo: '2026-01-01 09:00:00' }, ['half', 'old', 'second']],
]

const namesOf = (list: readonly Pick<DeviceRecord, 'deviceNo'>[]) =>
  list.map(({ deviceNo }) => deviceNo.slice(mark.length + 1))

test.each(filters)(
  '%j finds in the page and in the export of a developer of two applications',
  async (filter, names) => {
    const { list, total } = await succeed('pageDevices', { ...filter, pageSize: 100 }, { headers: developer })
    expect([namesOf(list), total]).toEqual([names, names.length])
    expect(namesOf(linesOf(await exported({ headers: developer }, 'devices', 'ndjson', filter)))).toEqual(names)
  },
)

test('each faulty filter is named, and a filter of devices is none of sites', async () => {
  const faulty = { lastReportFrom: 'yesterday', lastReportTo: '2026-02-30 00:00:00', hasReported: 'yes' }
  expectFaults(await client.call('createExport', { kind: 'devices', ...faulty }, first), Object.keys(faulty))
  const sites = { kind: 'sites', hasReported: 'true' }
  expectFaults(await client.call('createExport', sites, first), ['hasReported'])
})

test('an export of devices tells the last report in the column lastReportTime of each format, as GET state tells it', async () => {
  const csv: Record<string, string>[] = parse(await exported(first, 'devices', 'csv'), { columns: true, bom: true })
  expect(Object.keys(csv[0] ?? {}).at(-1)).toBe('lastReportTime')
  const { features } = JSON.parse(await exported(first, 'devices', 'geojson'))
  const properties: Record<string, unknown>[] = features.map((feature: { properties: object }) => feature.properties)
  const rows = linesOf(await exported(first, 'devices', 'ndjson'))
  expect(csv).toHaveLength(6)
  for (const { deviceNo, lastReportTime } of csv) {
    const expected = ((await succeed('getDeviceState', { deviceNo }, first)) as DeviceState).lastReportTime
    expect([deviceNo, lastReportTime]).toEqual([deviceNo, expected ?? ''])
    for (const other of [properties, rows]) {
      expect(other.find((one) => one.deviceNo === deviceNo)).toMatchObject({ lastReportTime: expected })
    }
  }
})

describe('getDeviceState with deviceNos', () => {
  const named = (names: string[]) => names.map((name) => `${mark}-${name}`).join(',')
  const asked = (query: Record<string, unknown>) => client.call('getDeviceState', query, first)
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
  })

  test('answers an operator and a developer for one application or for all that they may see', async () => {
    const deviceNos = named(['second', 'old', 'moved', 'nowhere'])
    const all = ['second', 'old', 'moved']
    expect(namesIn(await client.operate('getDeviceState', { deviceNos }))).toEqual(all)
    const ofSecond = await client.operate('getDeviceState', { appId: second.appId, deviceNos })
    expect(namesIn(ofSecond)).toEqual(['second', 'moved'])
    expect(namesIn(await client.call('getDeviceState', { deviceNos }, { headers: developer }))).toEqual(all)
    const stranger = await signIn(client, await newPerson(client, 'developer', []))
    expect(namesIn(await client.call('getDeviceState', { deviceNos }, { headers: stranger }))).toEqual([])
    const one = await succeed('getDeviceState', { deviceNo: moved })
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
