import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import postgres from 'postgres'
import type { PageWish } from '../src/database/page.ts'
import { anyDevice, type DeviceFilter } from '../src/device-search/rules.ts'
import {
  changesStatement,
  countStatement,
  devicesStatement,
  foundStatement,
  pageStatement,
  type Statement,
  walkStatement,
} from '../src/device-search/store.ts'
import { createDevice, pageDevices } from '../src/devices/contract.ts'
import { pageSites } from '../src/sites/contract.ts'
import { embeddedConnection } from './faults/support.ts'
import { Client, deviceBody, newApplication, startService } from './harness.ts'

// An application of 120,000 devices among others of 1,000: which plans read them, and what their pages answer.

const service = await startService()
const client = new Client(service)
const large = await newApplication(client)
const { cluster: _, ...connection } = embeddedConnection(service.dataDir)
const sql = postgres({ ...connection, fetch_types: false, onnotice: () => {} })
/** Beside it one that walks along the index, whatever is asked for. */
const walkingService = await startService({
  env: {
    DATABASE_URL: urlOf(connection),
    FORECOURT_SECRETS_KEY_FILE: join(service.dataDir, 'secrets.key'),
    FORECOURT_SEARCH_MEMORY_MB: '0',
  },
})
const walking = new Client(walkingService)
afterAll(async () => {
  await sql.end()
  await walkingService.stop()
  await service.stop()
})

function urlOf({ host, port, user, password, database }: typeof connection): string {
  return `postgres://${user}:${password}@localhost/${database}?host=${encodeURIComponent(host)}&port=${port}`
}

const total = 200_000

beforeAll(async () => {
  await sql`
    insert into device (device_no, app_id, device_name, province_code, city_code, district_code, coordinates,
      model_name, status, online_status, run_status, bound_at)
    select 'SN-' || md5(i::text), case when i % 5 < 3 then ${large.appId} else 'app ' || i % 80 end,
      (array['East', 'West', '东湖'])[1 + i % 3] || ' gate ' || i, (i % 30)::text, (i % 300)::text,
      case when i < 500 then 'oldest' else (i % 3000)::text end, i % 180 || ',' || i % 90, 'model ' || i % 50,
      case when i % 97 = 0 then 2 else 1 end, 1 + i % 2, case when i % 20 < 17 then 0 else i % 3 end,
      timestamptz '2026-01-01' + i * interval '1 second'
    from generate_series(1, ${total}::int) as i`
  await sql`
    insert into event (app_id, type, time, actor, subject, data)
    select app_id, 'device.bound', bound_at, 'test', device_no, '{}' from device where bound_at > '2026-01-03'`
  await sql`vacuum analyze device`
  await sql`vacuum analyze event`
}, 120_000)

interface PlanNode {
  'Node Type': string
  'Relation Name'?: string
  'Index Name'?: string
  'Actual Rows'?: number
  'Actual Loops'?: number
  Plans?: PlanNode[]
}

function nodes(plan: PlanNode): PlanNode[] {
  return [plan, ...(plan.Plans ?? []).flatMap(nodes)]
}

function literal(value: unknown): string {
  if (typeof value === 'number') return String(value)
  return `'${(value instanceof Date ? value.toISOString() : String(value)).replaceAll("'", "''")}'`
}

/** How a statement is carried out: planned for its parameters, or once for all as prepared statements come to be. */
async function plan(mode: 'custom' | 'generic', { text, values }: Statement): Promise<PlanNode[]> {
  return (await sql.begin(async (tx) => {
    await tx.unsafe(`set local plan_cache_mode = force_${mode}_plan`)
    await tx.unsafe(`prepare planned as ${text}`)
    const [row] = await tx.unsafe(`explain (analyze, format json) execute planned (${values.map(literal).join(', ')})`)
    await tx.unsafe('deallocate planned')
    return nodes(row?.['QUERY PLAN'][0].Plan)
  })) as PlanNode[]
}

/** The indexes that a plan reads a table by; a scan without one is named too. */
function indexesOf(planned: PlanNode[], table: string): string[] {
  const withIndex = planned.flatMap((node) => node['Index Name'] ?? []).filter((name) => name.startsWith(`${table}_`))
  const without = planned.filter((node) => node['Relation Name'] === table && node['Node Type'].startsWith('Seq'))
  return [...new Set([...withIndex, ...without.map((node) => node['Node Type'])])].sort()
}

/** How many rows a plan's scans of devices have answered. */
function rowsRead(planned: PlanNode[]): number {
  return planned
    .filter((node) => node['Relation Name'] === 'device')
    .reduce((sum, node) => sum + (node['Actual Rows'] ?? 0) * (node['Actual Loops'] ?? 1), 0)
}

const indexed: { what: string; filter: Partial<DeviceFilter> }[] = [
  { what: 'nothing', filter: {} },
  { what: 'a state that most have', filter: { status: 1 } },
  { what: 'a state that few have', filter: { status: 2, onlineStatus: 1, runStatus: 2 } },
  {
    what: 'a time',
    filter: { boundFrom: new Date('2026-01-01T10:00:00Z'), boundBefore: new Date('2026-01-02T10:00:00Z') },
  },
]
const others: { what: string; filter: Partial<DeviceFilter> }[] = [
  { what: 'the beginning of the serial', filter: { deviceNo: 'SN-7' } },
  { what: 'a part of the name', filter: { deviceName: 'GATE 7' } },
  { what: 'a province', filter: { provinceCode: '7' } },
  { what: 'a city', filter: { cityCode: '77' } },
  { what: 'a district', filter: { districtCode: '777' } },
  { what: 'a model', filter: { modelName: 'model 7' } },
  { what: 'a box', filter: { bbox: { minLng: 10, minLat: 10, maxLng: 20, maxLat: 20 } } },
]
const firstPage: PageWish = { pageSize: 10, pageNo: 1, offset: 0, after: null }
const micros = (moment: string) => String(new Date(moment).getTime() * 1000)
const deepPage: PageWish = { pageSize: 100, pageNo: null, offset: 0, after: [micros('2026-01-01T12:00:00Z'), 'SN-5'] }

describe.each(['custom', 'generic'] as const)('with a %s plan', (mode) => {
  test.each(indexed)('a page by $what reads the index, and no more of it than the page', async ({ filter }) => {
    for (const wish of [firstPage, deepPage]) {
      const planned = await plan(mode, pageStatement(large.appId, { ...anyDevice, ...filter }, wish))
      expect(indexesOf(planned, 'device')).toEqual(['device_by_state', 'device_pkey'])
      // From each of twelve ranges one row that is not of the page, and each of the page's once more by its key.
      expect(rowsRead(planned)).toBeLessThan(2 * (wish.pageSize + 1) + 13)
    }
  })

  test.each(indexed)('a total by $what reads the index alone', async ({ filter }) => {
    const planned = await plan(mode, countStatement(large.appId, { ...anyDevice, ...filter }))
    const scans = planned.filter((node) => node['Relation Name'] === 'device')
    expect(new Set(scans.map((node) => node['Node Type']))).toEqual(new Set(['Index Only Scan']))
    expect(indexesOf(planned, 'device')).toEqual(['device_by_state'])
  })

  test.each(others)('a walk by $what reads the application’s devices by the index', async ({ filter }) => {
    const planned = await plan(mode, walkStatement('app 7', { ...anyDevice, ...filter }, firstPage))
    expect(indexesOf(planned, 'device')).toEqual(['device_by_state', 'device_pkey'])
  })

  test('a step of loading a copy reads the index, and no more of it than the step', async () => {
    const after = { boundMicros: Number(micros('2026-01-01T12:00:00Z')), deviceNo: 'SN-5' }
    const planned = await plan(mode, devicesStatement(large.appId, after, 1000))
    expect(indexesOf(planned, 'device')).toEqual(['device_by_state'])
    expect(rowsRead(planned)).toBeLessThan(1000 + 13)
  })

  test('what has changed is read by the log’s key, and the devices by theirs', async () => {
    const [event] = await sql`select id from event where app_id = ${large.appId} order by id desc offset 50 limit 1`
    const planned = await plan(mode, changesStatement(large.appId, event?.id, 4000))
    expect(indexesOf(planned, 'event')).toEqual(['event_pkey'])
    expect(indexesOf(planned, 'device')).toEqual(['device_pkey'])
    const serials = await sql`select device_no from device where app_id = ${large.appId} limit 100`
    const found = foundStatement(
      large.appId,
      serials.map((row) => row.device_no),
      event?.id,
    )
    const read = await plan(mode, found)
    expect(indexesOf(read, 'device')).toEqual(['device_pkey'])
    expect(['event_by_subject', 'event_pkey']).toContain(indexesOf(read, 'event').join())
  })
})

interface Asked {
  what: string
  query: Record<string, string | number>
  /** The same in SQL. */
  condition: string
}

const questions: Asked[] = [
  { what: 'nothing', query: {}, condition: 'true' },
  { what: 'a state', query: { onlineStatus: 2 }, condition: 'online_status = 2' },
  {
    what: 'a time',
    query: { createTimeFrom: '2026-01-01 20:00:00', createTimeTo: '2026-01-01 20:59:59' },
    condition: "bound_at >= '2026-01-01 12:00:00Z' and bound_at < '2026-01-01 13:00:00Z'",
  },
  { what: 'the serial', query: { deviceNo: 'SN-77' }, condition: "device_no like 'SN-77%'" },
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

describe.each([
  { how: 'its copy', asks: client },
  { how: 'a walk', asks: walking },
])('$how of an application with 120,000 devices', ({ asks }) => {
  /** Asks again, as programs do, when the copy is not read yet or others wait for it. */
  async function ask(query: Record<string, unknown>) {
    for (let attempt = 0; ; attempt++) {
      const answer = await asks.call(pageDevices, query, { token: large.token })
      if (answer.code !== 50003 || attempt === 20) return answer.data
      await Bun.sleep(1000 * Number(answer.headers.get('retry-after') ?? 1))
    }
  }

  test.each(questions)('finds by $what what the table holds', async ({ query, condition }) => {
    const expected = await sql.unsafe(
      `select device_no from device where app_id = $1 and ${condition} order by bound_at desc, device_no desc`,
      [large.appId],
    )
    const serials = expected.map((row) => row.device_no)
    const pageSize = 100
    const page = await ask({ ...query, pageSize })
    expect(page.list.map(({ deviceNo }) => deviceNo)).toEqual(serials.slice(0, pageSize))
    expect([page.total, page.totalIsExact]).toEqual([Math.min(100_000, serials.length), serials.length <= 100_000])
    expect(page.pages).toBe(Math.ceil(Math.min(100_000, serials.length) / pageSize))
    for (const pageNo of [2, 999, 1000]) {
      const numbered = await ask({ ...query, pageSize, pageNo })
      const from = (pageNo - 1) * pageSize
      expect(numbered.list.map(({ deviceNo }) => deviceNo)).toEqual(serials.slice(from, from + pageSize))
      if (numbered.nextCursor === null) {
        expect(from + pageSize).toBeGreaterThanOrEqual(serials.length)
        continue
      }
      const next = await ask({ ...query, pageSize, cursor: numbered.nextCursor })
      expect(next.list.map(({ deviceNo }) => deviceNo)).toEqual(serials.slice(from + pageSize, from + 2 * pageSize))
      expect(next.total).toBe(page.total)
    }
  })
})

test('reads that do not end hold up no creates', async () => {
  let read = 0
  const { reads, readMeanwhile } = await sql.begin(async (tx) => {
    // Whoever reads sites waits for the end of this transaction, or for the end of patience.
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
