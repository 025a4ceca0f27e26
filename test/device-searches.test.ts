import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import postgres from 'postgres'
import { Client } from './kit/client.ts'
import { embeddedConnection } from './kit/database.ts'
import { deviceBody, newApplication, type TestApplication } from './kit/records.ts'
import { isLong } from './kit/scale.ts'
import { type Service, startService } from './kit/service.ts'

// Pages and exports of an application with most of 200,000 devices, and of all applications, against what the table holds:
// more than `limits.joinedDevicesFound` have reported. What the reads cost is in test/operation-costs.test.ts.

function reportedSql(condition: string): string {
  return `exists (select 1 from device_presence p
    where p.app_id = device.app_id and p.device_no = device.device_no and ${condition})`
}

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
  {
    what: 'a report in March',
    query: { lastReportFrom: '2026-03-01T00:00:00Z' },
    condition: reportedSql("reported_at >= '2026-03-01 00:00:00Z'"),
  },
  {
    what: 'a long silence',
    query: { lastReportTo: '2026-01-01 20:00:00' },
    condition: reportedSql("reported_at < '2026-01-01 12:00:01Z'"),
  },
  {
    what: 'a long silence in a city',
    query: { lastReportTo: '2026-02-01 00:00:00', cityCode: '77' },
    condition: `city_code = '77' and ${reportedSql("reported_at < '2026-02-01'")}`,
  },
  { what: 'a longer silence', query: { lastReportTo: '2025-01-01 00:00:00' }, condition: 'false' },
  { what: 'any report', query: { hasReported: 'true' }, condition: reportedSql('true') },
  { what: 'no report', query: { hasReported: 'false' }, condition: `not ${reportedSql('true')}` },
]

/** The number of devices: three of five are of one application, the others of 80 more. */
const total = 200_000

describe.skipIf(!isLong)('among many devices', () => {
  let service: Service
  let client: Client
  let large: TestApplication
  let sql: postgres.Sql

  beforeAll(async () => {
    service = await startService()
    client = new Client(service)
    large = await newApplication(client)
    const { cluster: _, ...connection } = embeddedConnection(service.dataDir)
    sql = postgres({ ...connection, fetch_types: false, onnotice: () => {} })
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
  afterAll(async () => {
    await sql.end()
    await service.stop()
  })

  const asks = [
    {
      whose: 'an application with most of the devices',
      answer: (query: object) => client.call('pageDevices', query, large),
    },
    { whose: 'all applications', answer: (query: object) => client.operate('pageDevices', query) },
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
      const { status, text } = await client.call('createExport', asked, { token: large.token })
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
        const { code } = await client.call('pageSites', {}, { token: large.token })
        if (code === 0) read++
      })
      for (let index = 0; index < 50; index++) {
        const { code } = await client.call('createDevice', deviceBody(large.appId), { token: large.token })
        expect(code).toBe(0)
      }
      return { reads: Promise.all(reads), readMeanwhile: read }
    })
    expect(readMeanwhile, 'sites that were read meanwhile').toBe(0)
    await reads
  })
})
