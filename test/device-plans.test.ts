import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import postgres from 'postgres'
import { readByIndexOrder } from '../src/database/page.ts'
import { transaction } from '../src/database/transaction.ts'
import { createDevice, pageDevices } from '../src/devices/contract.ts'
import {
  countStatement,
  type DeviceFilter,
  rangeStatement,
  type Statement,
  searchStatement,
} from '../src/devices/store.ts'
import { pageSites } from '../src/sites/contract.ts'
import { atScale, embeddedConnection } from './faults/support.ts'
import { Client, deviceBody, newApplication, startService } from './harness.ts'

// Query plans and pages for an application with most of the devices, beside others that have few each. In the long run
// these are 120,000 and 2,500 devices.

const service = await startService()
const client = new Client(service)
const large = await newApplication(client)
const { cluster: _, ...connection } = embeddedConnection(service.dataDir)
const sql = postgres({ ...connection, fetch_types: false, onnotice: () => {} })
afterAll(async () => {
  await sql.end()
  await service.stop()
})

const total = atScale(80_000, 200_000)
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
}, 120_000)

interface PlanNode {
  'Node Type': string
  'Relation Name'?: string
  'Index Name'?: string
  'Actual Rows': number
  'Actual Loops': number
  'Rows Removed by Filter'?: number
  Plans?: PlanNode[]
}

function nodes(plan: PlanNode): PlanNode[] {
  return [plan, ...(plan.Plans ?? []).flatMap(nodes)]
}

function literal(value: unknown): string {
  if (typeof value === 'number') return String(value)
  return `'${(value instanceof Date ? value.toISOString() : String(value)).replaceAll("'", "''")}'`
}

/** The plan of a statement for its actual parameters; the service also lets PostgreSQL plan it anew each time. */
async function plan({ text, values }: Statement, within: typeof readByIndexOrder = transaction): Promise<PlanNode[]> {
  return (await within(sql, async (tx) => {
    await tx.unsafe('set local plan_cache_mode = force_custom_plan')
    await tx.unsafe(`prepare planned as ${text}`)
    const parameters = values.length === 0 ? '' : `(${values.map(literal).join(', ')})`
    const [row] = await tx.unsafe(`explain (analyze, format json) execute planned ${parameters}`)
    await tx.unsafe('deallocate planned')
    return nodes(row?.['QUERY PLAN'][0].Plan)
  })) as PlanNode[]
}

/** The scans of the device table in a plan: the kind of each scan and its index. */
function scansOf(planned: PlanNode[]): string[] {
  const scans = planned.filter((node) => node['Relation Name'] === 'device')
  return [...new Set(scans.map((node) => [node['Node Type'], node['Index Name'] ?? 'none'].join(' by ')))].sort()
}

/** The number of rows that a plan's scans of the device table have read. */
function rowsRead(planned: PlanNode[]): number {
  return planned
    .filter((node) => node['Relation Name'] === 'device')
    .map((node) => (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops'])
    .reduce((sum, rows) => sum + rows, 0)
}

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
  bound: { from: null, before: null },
  bbox: null,
}
const common: { what: string; filter: Partial<DeviceFilter> }[] = [
  { what: 'nothing', filter: {} },
  { what: 'a state that most have', filter: { status: 1 } },
  {
    what: 'a time',
    filter: { bound: { from: new Date('2026-01-01T10:00:00Z'), before: new Date('2026-01-02T10:00:00Z') } },
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
      const planned = await plan(rangeStatement({ ...anyDevice, appIds }, range, 501, 0), readByIndexOrder)
      expect(rowsRead(planned)).toBeLessThan(3 * 501)
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

interface Asked {
  what: string
  query: Record<string, string | number>
  /** The same filter in SQL. */
  condition: string
}

const questions: Asked[] = [
  { what: 'nothing', query: {}, condition: 'true' },
  { what: 'a state', query: { onlineStatus: 2 }, condition: 'online_status = 2' },
  {
    what: 'a time',
    query: { timeFrom: '2026-01-01 20:00:00', timeTo: '2026-01-01 20:59:59' },
    condition: "bound_at >= '2026-01-01 12:00:00Z' and bound_at < '2026-01-01 13:00:00Z'",
  },
  { what: 'a part of the serial', query: { deviceNo: '7A7' }, condition: "device_no like '%7a7%'" },
  { what: 'a tag', query: { tag: 'south' }, condition: "tag = 'south'" },
  { what: 'every serial', query: { deviceNo: 'SN-' }, condition: 'true' },
  { what: 'a part of most names', query: { deviceName: 'GATE' }, condition: "device_name like '%gate%'" },
  { what: 'a part of some names', query: { deviceName: 'gate 77' }, condition: "device_name like '%gate 77%'" },
  { what: 'a Chinese part', query: { deviceName: '湖' }, condition: "device_name like '%湖%'" },
  { what: 'a part of no name', query: { deviceName: 'north' }, condition: 'false' },
  { what: 'a city', query: { cityCode: '77' }, condition: "city_code = '77'" },
  { what: 'what only old devices have', query: { districtCode: 'oldest' }, condition: "district_code = 'oldest'" },
  {
    what: 'a box',
    query: { bbox: '10,10,20,20' },
    condition: `split_part(coordinates, ',', 1)::float between 10 and 20
      and split_part(coordinates, ',', 2)::float between 10 and 20`,
  },
  {
    what: 'a part of the name and a state',
    query: { deviceName: 'east', onlineStatus: 1, runStatus: 1 },
    condition: "device_name like 'East%' and online_status = 1 and run_status = 1",
  },
]

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
