import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import postgres from 'postgres'
import { pageOfSites, type SiteFilter } from '../src/sites/store.ts'
import { setTimeZone } from '../src/vocabulary/moments.ts'
import { embeddedConnection } from './faults/support.ts'
import { startService } from './harness.ts'

setTimeZone('Asia/Shanghai')
const service = await startService()
const statements: { text: string; parameters: unknown[] }[] = []
const sql = postgres({
  ...embeddedConnection(service.dataDir),
  fetch_types: false,
  types: { bigint: { to: 20, from: [20], serialize: String, parse: Number } },
  debug: (_, text, parameters) => statements.push({ text, parameters }),
})
afterAll(async () => {
  await sql.end()
  await service.stop()
})

const total = 60_000
/** One application has a sixth of all sites; two hundred others share the rest. */
beforeAll(async () => {
  await sql`
    insert into site (app_id, id, site_name, contacts, contacts_phone, customer_service_phone, business_week_day,
      business_start_time, business_closing_time, fast_rule_id, slow_rule_id, occupancy_rule_id, province_code,
      province_name, city_code, city_name, district_code, district_name, coordinates, longitude, latitude, created_at)
    select case when i % 6 = 0 then 'large' else 'app ' || i % 200 end, i, 'Site ' || i, 'Person ' || i % 100, '1', '1',
      'always', '00:00:00', '24:00:00', case when i % 4 = 0 then i % 50 end, case when i % 5 = 0 then i % 50 end,
      case when i % 7 = 0 then i % 50 end, (i % 30)::text, 'x', (i % 300)::text, 'x', (i % 3000)::text, 'x',
      i % 180 || ',' || i % 90, i % 180, i % 90, now() - (${total}::int - i) * interval '1 minute'
    from generate_series(1, ${total}::int) as i`
  await sql`vacuum analyze site`
}, 120_000)

const anything: SiteFilter = {
  appIds: ['large'],
  siteName: null,
  contacts: null,
  provinceCode: null,
  cityCode: null,
  districtCode: null,
  billingRuleId: null,
  hasDevices: null,
  time: { from: null, before: null },
  bbox: null,
}
const hours = (count: number) => new Date(Date.now() - count * 3_600_000)
/**
 * PostgreSQL may count an application's rows with any index that begins with the application; a page needs the index in
 * its own order.
 */
const ownRows = ['site_by_filter', 'site_pkey', 'site_by_content']
const filters: { what: string; filter: Partial<SiteFilter>; indexes: string[] }[] = [
  { what: 'nothing', filter: {}, indexes: ownRows },
  { what: 'nothing, over two applications', filter: { appIds: ['app 8', 'large'] }, indexes: ownRows },
  { what: 'nothing, over all applications', filter: { appIds: null }, indexes: ownRows },
  { what: 'a part of the name', filter: { siteName: 'site 77' }, indexes: ownRows },
  { what: 'a part of the contact’s name', filter: { contacts: 'nobody' }, indexes: ownRows },
  { what: 'a province', filter: { provinceCode: '6' }, indexes: ['site_by_filter'] },
  { what: 'a city', filter: { cityCode: '66' }, indexes: ['site_by_filter'] },
  { what: 'a district', filter: { districtCode: '666' }, indexes: ['site_by_filter'] },
  { what: 'a district that has none', filter: { districtCode: 'x' }, indexes: ['site_by_filter'] },
  {
    what: 'a few hours long ago',
    filter: { time: { from: hours(500), before: hours(490) } },
    indexes: ['site_by_filter'],
  },
  {
    what: 'a box',
    filter: { bbox: { minLng: 30, minLat: 30, maxLng: 31, maxLat: 31 } },
    indexes: ['site_by_filter'],
  },
  {
    what: 'a billing rule that none of them names',
    filter: { billingRuleId: 1_000_000 },
    indexes: ['site_by_fast_rule', 'site_by_slow_rule', 'site_by_occupancy_rule'],
  },
]

describe('a page of sites reads an index', () => {
  test.each(filters)('by $what', async ({ filter, indexes }) => {
    statements.length = 0
    // More rows exist than one page holds, so the first request also counts rows; then the next page is read.
    const asking = { ...anything, ...filter, pageSize: 1 }
    const { nextCursor } = await pageOfSites(sql, asking)
    if (nextCursor !== null) await pageOfSites(sql, { ...asking, cursor: nextCursor })
    // Over all applications, the first 10,001 rows are counted in table order, so that statement may scan the table.
    const isTold = ({ text }: { text: string }) => filter.appIds !== null || text.includes('order by')
    const asked = statements.splice(0).filter(isTold)
    expect(asked.length).toBeGreaterThan(0)
    for (const { text, parameters } of asked) {
      const rows = await sql.unsafe(`explain ${text}`, parameters as never[])
      const plan = rows.map((row) => row['QUERY PLAN']).join('\n')
      expect(plan).not.toContain('Seq Scan')
      const read = [...plan.matchAll(/Scan(?: Backward)?(?: using| on) (site_\w+)/g)].map(([, index]) => index ?? '')
      expect(read.length, plan).toBeGreaterThan(0)
      for (const index of read) expect(indexes, plan).toContain(index)
      if (indexes === ownRows && text.includes('order by')) expect(plan).not.toContain('Sort')
    }
  })
})
