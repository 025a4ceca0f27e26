import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import postgres, { type Row } from 'postgres'
import { createExport } from '../src/bulk/contract.ts'
import { planByHash, readByIndexOrder } from '../src/database/page.ts'
import { transaction } from '../src/database/transaction.ts'
import { createDevice, deviceSorts, pageDevices } from '../src/devices/contract.ts'
import type { DeviceFilter } from '../src/devices/filter/store.ts'
import { ownOrder, sortedOrder } from '../src/devices/paging/order.ts'
import {
  countStatement,
  exportStatement,
  keySearchStatement,
  keysStatement,
  lookStatement,
  orderedKeysStatement,
  rangeStatement,
  type Statement,
  searchStatement,
  serialsStatement,
} from '../src/devices/paging/statements.ts'
import { planByScan } from '../src/devices/paging/store.ts'
import { pageSites } from '../src/sites/contract.ts'
import { limits } from '../src/vocabulary/limits.ts'
import { type PlanNode, planOf, rowsRead, scansOf } from './device-plans.ts'
import { questions } from './device-questions.ts'
import { atScale, embeddedConnection } from './faults/support.ts'
import { Client, deviceBody, newApplication, startService } from './harness.ts'

// Query plans and pages for an application with most of the devices, and for others that have few each. In the long run
// these are 120,000 and 2,500 devices: more than `limits.joinedDevicesFound` have reported then.

const service = await startService()
const client = new Client(service)
const large = await newApplication(client)
const { cluster: _, ...connection } = embeddedConnection(service.dataDir)
const sql = postgres({ ...connection, fetch_types: false, onnotice: () => {} })
afterAll(async () => {
  await sql.end()
  await service.stop()
})

const total = atScale(40_000, 200_000)
/** The number of devices of each of the 80 other applications. */
const few = total / 80

beforeAll(async () => {
  await sql`
    insert into device (device_no, app_id, device_name, province_code, city_code, district_code, coordinates,
      model_name, tag, status, online_status, run_status, bound_at)
    select 'SN-' || md5(i::text), case when i % 5 < 3 then ${large.appId} else 'app ' || i % 80 end,
      (array['East', 'West', '东湖'])[1 + i % 3] || ' gate ' || i, (i % 30)::text, (i % 300)::text,
      case when i < 500 then 'oldest' else (i % 3000)::text end, i % 180 || ',' || i % 90, 'model ' || i % 50, case when i % 100 = 0 then 'south' end,
      case when i % 97 = 0 then 2 else 1 end, 1 + i % 2, case when i % 20 < 17 then 0 else i % 3 end,
      timestamptz '2026-01-01' + i * interval '1 second'
    from generate_series(1, ${total}::int) as i`
  await sql`vacuum analyze device`
  // Every second device is online. Of the others one of five never reported, and the rest have been silent since January. The
  // planner knows nothing of these rows, as after a load.
  await sql`alter table device_presence set (autovacuum_enabled = off)`
  await sql`
    insert into device_presence (app_id, device_no, reported_at, seen_at)
    select app_id, device_no,
      case when online_status = 1 then timestamptz '2026-03-01' else bound_at end,
      case when online_status = 1 then now() + interval '1 day' end
    from device where online_status = 1 or hashtext(device_no) % 5 <> 0`
}, 120_000)

const plan = (statement: Statement, within?: typeof readByIndexOrder) => planOf(sql, statement, within)

const anyDevice: DeviceFilter = {
  appIds: null,
  deviceNo: null,
  deviceName: null,
  tag: null,
  provinceCode: null,
  cityCode: null,
  districtCode: null,
  modelName: null,
  status: null,
  onlineStatus: null,
  runStatus: null,
  siteId: null,
  isPlaced: null,
  time: { from: null, before: null },
  lastReport: null,
  hasReported: null,
  bbox: null,
}
const common: { what: string; filter: Partial<DeviceFilter> }[] = [
  { what: 'nothing', filter: {} },
  { what: 'a state that most have', filter: { status: 1 } },
  {
    what: 'a time',
    filter: { time: { from: new Date('2026-01-01T10:00:00Z'), before: new Date('2026-01-02T10:00:00Z') } },
  },
]
const rare: { what: string; filter: Partial<DeviceFilter> }[] = [
  { what: 'states that few have', filter: { status: 2, onlineStatus: 1, runStatus: 2 } },
  { what: 'a part of the serial', filter: { deviceNo: '7A7' } },
  { what: 'a part of the name', filter: { deviceName: 'GATE 77' } },
  { what: 'a tag', filter: { tag: 'south' } },
  { what: 'a province', filter: { provinceCode: '7' } },
  { what: 'a city', filter: { cityCode: '77' } },
  { what: 'a district', filter: { districtCode: '777' } },
  { what: 'a model', filter: { modelName: 'model 7' } },
  { what: 'a box', filter: { bbox: { minLng: 10, minLat: 10, maxLng: 12, maxLat: 12 } } },
]
const firstPage = { pageSize: 10, pageNo: 1, offset: 0, after: null }
const micros = (moment: string) => String(new Date(moment).getTime() * 1000)
const march = new Date('2026-03-01T00:00:00Z')
/** Filters that look into the table of presence: what most devices fit, some, few and none. */
const joined: { what: string; filter: Partial<DeviceFilter> }[] = [
  { what: 'a report in March', filter: { lastReport: { from: march, before: null } } },
  { what: 'silence since March', filter: { lastReport: { from: null, before: march } } },
  {
    what: 'silence since the first hours',
    filter: { lastReport: { from: null, before: new Date('2026-01-01T01:00:00Z') } },
  },
  { what: 'silence since the year before', filter: { lastReport: { from: null, before: new Date('2025-01-01') } } },
  { what: 'any report', filter: { hasReported: true } },
  { what: 'no report', filter: { hasReported: false } },
  { what: 'no report, in a city', filter: { hasReported: false, cityCode: '77' } },
  {
    what: 'a report of a device that is offline',
    filter: { onlineStatus: 2, lastReport: { from: march, before: null } },
  },
]
const middle = [large.appId, micros('2026-01-01T12:00:00Z'), 'SN-5']

test.each(common)('a page by $what reads the index, and no more of it than the page', async ({ filter }) => {
  const fitting = { ...anyDevice, ...filter, appIds: [large.appId] }
  for (const range of [{ behindApplication: '' }, { behind: middle }]) {
    for (const limit of [11, 101]) {
      const planned = await plan(rangeStatement(fitting, range, limit, 0))
      expect(scansOf(planned)).toContain('Index Only Scan by device_by_age')
      expect(scansOf(planned).join()).not.toContain('Seq Scan')
      // The scan also reads the few devices in between that do not fit, and each row of the page is read a second time.
      expect(rowsRead(planned)).toBeLessThan(3 * limit)
    }
  }
})

test.each([{ appIds: null }, { appIds: [large.appId] }])(
  'a page of an export looks at its own rows alone',
  async ({ appIds }) => {
    for (const range of [{ behindApplication: '' }, { behind: middle }]) {
      // Over all applications, the first page also sorts the rows of its first application.
      if (appIds === null && !('behind' in range)) continue
      const planned = await plan(exportStatement({ ...anyDevice, appIds }, range, 501), readByIndexOrder)
      expect(rowsRead(planned)).toBeLessThan(3 * 501)
      expect(presenceRead(planned).rows).toBeLessThan(502)
    }
  },
)

test.each(common)('a total by $what reads the index alone, and no more of it than is counted', async ({ filter }) => {
  const planned = await plan(countStatement({ ...anyDevice, ...filter, appIds: ['app 8'] }))
  expect(scansOf(planned)).toEqual(['Index Only Scan by device_by_age'])
  expect(rowsRead(planned)).toBeLessThan(few + 50)
})

test('a page over all applications reads the index as far as the applications that it shows', async () => {
  for (const range of [{ behindApplication: 'app 8' }, { behind: ['app 8', ...middle.slice(1)] }]) {
    const planned = await plan(rangeStatement(anyDevice, range, 11, 0))
    expect(scansOf(planned)).toContain('Index Only Scan by device_by_age')
    expect(scansOf(planned).join()).not.toContain('Seq Scan')
    expect(rowsRead(planned)).toBeLessThan(2 * few + 50)
  }
})

test.each([...common, ...rare])('a search by $what is answered by the index of its application', async ({ filter }) => {
  const planned = await plan(searchStatement({ ...anyDevice, ...filter, appIds: ['app 8'] }, firstPage))
  expect(scansOf(planned)).toContain('Index Only Scan by device_by_age')
  expect(scansOf(planned).join()).not.toContain('Seq Scan')
  expect(rowsRead(planned)).toBeLessThan(few + 50)
})

/** The rows that a plan's scans of the presence table have read, and how often each of these scans ran. */
function presenceRead(planned: PlanNode[]) {
  const scans = planned.filter((node) => node['Relation Name'] === 'device_presence')
  const rows = scans.map((node) => (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops'])
  return {
    rows: rows.reduce((sum, read) => sum + read, 0),
    loops: Math.max(...scans.map((node) => node['Actual Loops'])),
  }
}

test.each(joined)('a search by $what reads each of its tables once', async ({ filter }) => {
  const inHash: typeof readByIndexOrder = (sql, read) =>
    transaction(sql, async (tx) => {
      await planByHash(tx)
      return read(tx)
    })
  for (const appIds of [[large.appId], ['app 8'], null]) {
    const search = keySearchStatement(
      { ...anyDevice, ...filter, appIds },
      firstPage,
      limits.joinedDevicesFound,
      ownOrder,
    )
    const planned = await plan(search, inHash)
    // As often as there are workers.
    expect(presenceRead(planned).loops).toBeLessThan(10)
    expect(planned.map((node) => node['Node Type']).filter((type) => type === 'Hash Join').length).toBeLessThan(2)
  }
})

test.each(joined)('a read of an export by $what looks no further than its bound', async ({ filter }) => {
  for (const range of [{ behindApplication: '' }, { behind: middle }]) {
    const planned = await plan(
      exportStatement({ ...anyDevice, ...filter, appIds: [large.appId] }, range, 501),
      readByIndexOrder,
    )
    // Only the rows of the read are sorted.
    expect(planned.filter((node) => node['Node Type'] === 'Sort')).toHaveLength(1)
    const isAboutReports = filter.cityCode === undefined && filter.onlineStatus === undefined
    if (isAboutReports) expect(rowsRead(planned)).toBeLessThan(limits.exportRowsWalked + 3 * 501)
    expect(presenceRead(planned).rows).toBeLessThan(limits.exportRowsWalked + 3 * 501)
  }
})

const keysOf = (rows: number): Row[] =>
  Array.from({ length: rows }, (_, index) => ({
    app_id: large.appId,
    bound_at: new Date(Date.UTC(2026, 0, 1) + index * 1000),
    device_no: 'SN-5',
  }))

test('a look at some devices looks at no more reports than that, and at none of a small application', async () => {
  for (const [appId, most] of [
    [large.appId, limits.joinedDevicesLookedAt + 1],
    ['app 8', 1],
  ] as const) {
    const planned = await plan(lookStatement({ ...anyDevice, hasReported: true, appIds: [appId] }), readByIndexOrder)
    expect(presenceRead(planned).rows).toBeLessThan(most)
  }
})

describe('a sorted page', () => {
  const after = { createTime: [micros('2026-01-01T12:00:00Z'), 'SN-5'], deviceNo: ['SN-5'] }

  test.each([[large.appId], null])('by time reads no more than itself, at any depth, of %p', async (appIds) => {
    const filter = { ...anyDevice, appIds: appIds === null ? null : [large.appId] }
    for (const isDescending of [true, false]) {
      for (const asked of [firstPage, { ...firstPage, after: after.createTime }]) {
        const order = sortedOrder({ by: 'createTime', isDescending }, appIds === null)
        const planned = await plan(orderedKeysStatement(filter, asked, order), readByIndexOrder)
        expect(scansOf(planned)).toEqual([
          appIds === null ? 'Index Scan by device_by_time' : 'Index Only Scan by device_by_age',
        ])
        expect(rowsRead(planned)).toBeLessThan(50)
      }
    }
  })

  test('by serial over all applications reads no more than itself, at any depth', async () => {
    for (const asked of [firstPage, { ...firstPage, after: after.deviceNo }]) {
      const order = sortedOrder({ by: 'deviceNo', isDescending: true }, true)
      const planned = await plan(serialsStatement(asked, order), readByIndexOrder)
      expect(planned.map((node) => node['Index Name'])).toContain('device_binding_pkey')
      expect(planned.map((node) => node['Node Type']).join()).not.toContain('Sort')
    }
  })

  test.each(deviceSorts)('by %s reads the index once, of one application and of all', async (by) => {
    for (const appIds of [['app 8'], ['app 8', 'app 9'], null]) {
      const order = sortedOrder({ by, isDescending: false }, false)
      const filter: DeviceFilter = { ...anyDevice, appIds, status: 1 }
      const search = keySearchStatement(filter, firstPage, limits.pageRowsCounted, order)
      for (const statement of [search, orderedKeysStatement(filter, firstPage, order)]) {
        const planned = await plan(statement, byScan)
        expect(scansOf(planned).join()).not.toMatch(/Seq Scan|Bitmap/)
        expect(rowsRead(planned)).toBeLessThan(appIds === null ? total + 50 : appIds.length * few + 50)
      }
    }
  })
})

/** Planned as the service plans a sort. */
const byScan: typeof readByIndexOrder = (sql, read) =>
  transaction(sql, async (tx) => {
    await planByScan(tx)
    return read(tx)
  })

test('the devices of a page are looked up by their keys', async () => {
  const planned = await plan(keysStatement({ ...anyDevice, appIds: [large.appId] }, keysOf(101)), readByIndexOrder)
  expect(scansOf(planned)).toEqual(['Index Scan by device_by_age'])
  expect(rowsRead(planned)).toBeLessThan(102)
})

const asks = [
  {
    whose: 'an application with most of the devices',
    answer: (query: object) => client.call(pageDevices, query, large),
  },
  { whose: 'all applications', answer: (query: object) => client.operate(pageDevices, query) },
]

describe.each(asks)('among the devices of $whose', ({ whose, answer }) => {
  const isOwn = whose !== 'all applications'

  test.each(questions)('finds by $what what the table holds', async ({ query, condition }) => {
    const expected = await sql.unsafe(
      `select device_no from device where ${isOwn ? `app_id = '${large.appId}'` : 'true'} and ${condition}
      order by app_id, bound_at desc, device_no desc`,
    )
    const serials = expected.map((row) => row.device_no)
    const pageSize = 100
    const ask = async (page: object) => (await answer({ ...query, pageSize, ...page })).data
    const page = await ask({})
    expect(page.list.map(({ deviceNo }) => deviceNo)).toEqual(serials.slice(0, pageSize))
    expect([page.total, page.totalIsExact]).toEqual([Math.min(10_000, serials.length), serials.length <= 10_000])
    expect(page.pages).toBe(Math.ceil(Math.min(10_000, serials.length) / pageSize))
    for (const pageNo of [2, 101, 1000]) {
      const numbered = await ask({ pageNo })
      const from = (pageNo - 1) * pageSize
      expect(numbered.list.map(({ deviceNo }) => deviceNo)).toEqual(serials.slice(from, from + pageSize))
      if (numbered.nextCursor === null) {
        expect(from + pageSize).toBeGreaterThanOrEqual(serials.length)
        continue
      }
      const next = await ask({ cursor: numbered.nextCursor })
      expect(next.list.map(({ deviceNo }) => deviceNo)).toEqual(serials.slice(from + pageSize, from + 2 * pageSize))
      expect(next.total).toBe(page.total)
    }
  })
})

test.each(questions.filter(({ query }) => 'lastReportTo' in query || 'hasReported' in query))(
  'an export by $what is what the table holds',
  async ({ query, condition }) => {
    const expected = await sql.unsafe(
      `select device_no from device where app_id = '${large.appId}' and ${condition}
      order by bound_at desc, device_no desc`,
    )
    const asked = { kind: 'devices', format: 'csv', ...query } as const
    const { status, text } = await client.call(createExport, asked, { token: large.token })
    expect(status).toBe(200)
    const serials = text
      .split('\r\n')
      .slice(1, -1)
      .map((line) => line.split(',')[1])
    expect(serials).toEqual(expected.map((row) => row.device_no))
  },
)

test('reads that do not end hold up no creates', async () => {
  let read = 0
  const { reads, readMeanwhile } = await sql.begin(async (tx) => {
    // The lock makes every read of sites wait until this transaction ends or the read times out.
    await tx`lock table site in access exclusive mode`
    const reads = Array.from({ length: 32 }, async () => {
      const { code } = await client.call(pageSites, {}, { token: large.token })
      if (code === 0) read++
    })
    for (let index = 0; index < 50; index++) {
      const { code } = await client.call(createDevice, deviceBody(large.appId), { token: large.token })
      expect(code).toBe(0)
    }
    return { reads: Promise.all(reads), readMeanwhile: read }
  })
  expect(readMeanwhile, 'sites that were read meanwhile').toBe(0)
  await reads
})
