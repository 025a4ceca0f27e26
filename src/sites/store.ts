import type { Row } from 'postgres'
import type { Sql, Statements } from '../database/open.ts'
import {
  byId,
  ofApplications,
  type PageKey,
  type PageQuery,
  readPage,
  readSort,
  readSortedPage,
  type SortQuery,
} from '../database/page.ts'
import { textArray } from '../database/routine.ts'
import type { Filters } from '../vocabulary/filters.ts'
import { groupBy } from '../vocabulary/group-by.ts'
import { Refusal } from '../vocabulary/refusals.ts'
import { pageSites, type siteSorts } from './contract.ts'
import { type Site, type SiteMembers, showSite } from './rules.ts'

type Members = SiteMembers & { appId: string }

const text = 'text'
const id = 'bigint'
const degrees = 'double precision'

const siteColumns = {
  appId: ['app_id', text],
  siteName: ['site_name', text],
  contacts: ['contacts', text],
  contactsPhone: ['contacts_phone', text],
  customerServicePhone: ['customer_service_phone', text],
  businessWeekDay: ['business_week_day', text],
  businessStartTime: ['business_start_time', text],
  businessClosingTime: ['business_closing_time', text],
  sitePictureUrl: ['site_picture_url', text],
  fastRuleId: ['fast_rule_id', id],
  slowRuleId: ['slow_rule_id', id],
  occupancyRuleId: ['occupancy_rule_id', id],
  ipcIds: ['ipc_ids', text],
  provinceCode: ['province_code', text],
  provinceName: ['province_name', text],
  cityCode: ['city_code', text],
  cityName: ['city_name', text],
  districtCode: ['district_code', text],
  districtName: ['district_name', text],
  detailAddress: ['detail_address', text],
  coordinates: ['coordinates', text],
  longitude: ['longitude', degrees],
  latitude: ['latitude', degrees],
} as const satisfies Record<keyof Members, readonly [column: string, type: string]>

const members = Object.entries(siteColumns).map(([member, [column]]) => ({ member: member as keyof Members, column }))
export const siteColumnsSql = `id, ${members.map(({ column }) => column).join(', ')}, created_at`

function valuesByColumn(site: Members): Record<string, string | number | null> {
  return Object.fromEntries(members.map(({ member, column }) => [column, site[member]]))
}

export function toSite(row: Row): Site {
  const stored = Object.fromEntries(members.map(({ member, column }) => [member, row[column]])) as Members
  return { ...stored, id: row.id, createdAt: row.created_at }
}

/** Returns the application's site. Throws 30002, also for another application's site. */
export async function requireSite(sql: Statements, appId: string, id: number): Promise<Site> {
  const [row] = await sql`select ${sql.unsafe(siteColumnsSql)} from site where app_id = ${appId} and id = ${id}`
  if (row === undefined) throw new Refusal('siteNotFound')
  return toSite(row)
}

export async function findSites(sql: Statements, appId: string, ids: readonly number[]): Promise<Map<number, Site>> {
  if (ids.length === 0) return new Map()
  // By whole keys: given a list, a planner without statistics reads all sites of the application.
  const rows = await sql.unsafe(
    `select s.* from unnest($2::bigint[]) as i (id)
    cross join lateral (select ${siteColumnsSql} from site where app_id = $1 and id = i.id limit 1) as s`,
    [appId, textArray(ids)],
    { prepare: true },
  )
  return new Map(rows.map((row) => [row.id, toSite(row)]))
}

/**
 * The hash of the index `site_by_content`. It covers all fields: with only a few, all sites that share those would be
 * compared. `coordinates` stands for longitude and latitude.
 */
const contentHashSql = (row: string) => {
  const hashed = members.filter(({ column }) => !['app_id', 'longitude', 'latitude'].includes(column))
  return `hashtext(${hashed.map(({ column }) => `coalesce(${row}.${column}::text, '')`).join(` || '/' || `)})`
}

/**
 * Returns the smallest ID of an equal site for each place in `sites`. It looks up each site on its own, because a join
 * reads the whole table without statistics. `id + 0` prevents a search along the primary key.
 */
export async function findEqualSites(
  sql: Statements,
  appId: string,
  sites: readonly SiteMembers[],
): Promise<Map<number, number>> {
  if (sites.length === 0) return new Map()
  const own = members.filter(({ member }) => member !== 'appId').map(({ column }) => column)
  const typed = Object.values(siteColumns).map(([column, type]) => `${column} ${type}`)
  const listed = sites.map((site, place) => ({ place, ...valuesByColumn({ ...site, appId }) }))
  const rows = await sql.unsafe<{ place: number; id: number }[]>(
    `select i.place, found.id
    from json_to_recordset($2::text::json) as i (place integer, ${typed.join(', ')})
    cross join lateral (
      select min(s.id + 0)::bigint as id from site s
      where s.app_id = $1 and ${contentHashSql('s')} = ${contentHashSql('i')}
        and (${own.map((column) => `s.${column}`).join(', ')}) is not distinct from (${own.map((column) => `i.${column}`).join(', ')})
    ) found
    where found.id is not null`,
    [appId, JSON.stringify(listed)],
  )
  return new Map(rows.map(({ place, id }) => [place, id]))
}

export async function drawSiteIds(sql: Statements, count: number): Promise<number[]> {
  const rows = await sql`select nextval('site_id') as id from generate_series(1, ${count}::int)`
  return rows.map((row) => row.id)
}

const insertColumns = Object.values(siteColumns).filter(([column]) => column !== 'app_id')
const insertNames = insertColumns.map(([column]) => column).join(', ')
const insertSitesSql = `insert into site (app_id, id, ${insertNames}, created_at)
  select $1, id, ${insertNames}, $3::timestamptz
  from json_to_recordset($2::text::json) as i (id bigint, ${insertColumns.map((column) => column.join(' ')).join(', ')})`

/** Inserts new sites, one statement per application. Needs the applications' locks. */
export async function insertSites(tx: Statements, sites: readonly Site[], now: Date): Promise<void> {
  const own = groupBy(sites, ({ appId }) => appId)
  await Promise.all(
    [...own].map(([appId, its]) => {
      const rows = JSON.stringify(its.map((site) => ({ id: site.id, ...valuesByColumn(site) })))
      return tx.unsafe(insertSitesSql, [appId, rows, now.toISOString()], { prepare: true })
    }),
  )
}

// On a cluster app_id decides the node, so an update must not set it, not even to its old value.
const changeable = Object.entries(siteColumns)
  .map(([member, [column]]) => ({ member: member as keyof Members, column }))
  .filter(({ member }) => member !== 'appId')

const saveChangedSql = `update site set ${changeable.map(({ column }, place) => `${column} = $${place + 3}`).join(', ')}
  where app_id = $1 and id = $2`

/**
 * Saves what an update can change. Needs the application's lock. One statement per whole key, sent together: for a
 * join, a planner without statistics reads the list again for each site.
 */
export async function saveChangedSites(tx: Statements, appId: string, sites: readonly Site[]): Promise<void> {
  await Promise.all(
    sites.map((site) => {
      const changed = changeable.map(({ member }) => site[member])
      return tx.unsafe(saveChangedSql, [appId, site.id, ...changed], { prepare: true })
    }),
  )
}

const saveRulesSql = `update site set fast_rule_id = $3::bigint, slow_rule_id = $4::bigint, occupancy_rule_id = $5::bigint
  where app_id = $1 and id = any($2::bigint[])`

/** Saves the billing rules of many sites, one statement per set of rules. Needs the application's lock. */
export async function saveRulesOfSites(tx: Statements, appId: string, sites: readonly Site[]): Promise<void> {
  const groups = new Map<string, { rules: (number | null)[]; ids: number[] }>()
  for (const { id, fastRuleId, slowRuleId, occupancyRuleId } of sites) {
    const rules = [fastRuleId, slowRuleId, occupancyRuleId]
    const group = groups.get(rules.join()) ?? { rules, ids: [] }
    group.ids.push(id)
    groups.set(rules.join(), group)
  }
  await Promise.all(
    [...groups.values()].map(({ rules, ids }) =>
      tx.unsafe(saveRulesSql, [appId, textArray(ids), ...rules], { prepare: true }),
    ),
  )
}

/** Deletes sites with their price history, also from price changes. Needs the application's lock. */
export async function removeSites(tx: Statements, appId: string, ids: readonly number[]): Promise<void> {
  const values = [appId, textArray(ids)]
  const left = await tx.unsafe(
    'delete from site_rule where app_id = $1 and site_id = any($2::bigint[]) returning site_id, change_id',
    values,
    { prepare: true },
  )
  // A site has a row for each field of a price change.
  const sitesOf = new Map<number, Set<number>>()
  for (const { site_id: siteId, change_id: changeId } of left)
    sitesOf.set(changeId, (sitesOf.get(changeId) ?? new Set()).add(siteId))
  sitesOf.delete(0)
  for (const [changeId, { size }] of sitesOf) {
    await tx`update price_change set site_count = site_count - ${size} where app_id = ${appId} and id = ${changeId}`
  }
  await tx.unsafe('delete from site where app_id = $1 and id = any($2::bigint[])', values, { prepare: true })
}

const ruleColumns = ['fast_rule_id', 'slow_rule_id', 'occupancy_rule_id']

export type SiteConditions = Filters<typeof pageSites.query>

export interface SiteFilter extends SiteConditions, PageQuery, SortQuery<(typeof siteSorts)[number]> {
  /** Null means all applications. */
  appIds: readonly string[] | null
}

type PlaceFilter = Pick<SiteConditions, 'provinceCode' | 'cityCode' | 'districtCode' | 'billingRuleId'>

function placeConditions(sql: Statements, { provinceCode, cityCode, districtCode, billingRuleId }: PlaceFilter) {
  return [
    provinceCode === null ? sql`` : sql`and province_code = ${provinceCode}`,
    cityCode === null ? sql`` : sql`and city_code = ${cityCode}`,
    districtCode === null ? sql`` : sql`and district_code = ${districtCode}`,
    billingRuleId === null ? sql`` : sql`and ${billingRuleId} in (${sql.unsafe(ruleColumns.join(', '))})`,
  ]
}

/** Returns up to `limit` matching IDs of the application, in order. */
export async function findSiteIds(
  sql: Statements,
  appId: string,
  filter: PlaceFilter,
  limit: number,
): Promise<number[]> {
  const rows = await sql`
    select id from site where app_id = ${appId} ${placeConditions(sql, filter)} order by id limit ${limit}`
  return rows.map((row) => row.id)
}

export function siteConditions(sql: Statements, filter: SiteConditions) {
  const { siteName, contacts, hasDevices, time, bbox } = filter
  const device = sql`
    exists (select 1 from placement where placement.app_id = site.app_id and site_id = site.id and lasts)`
  return [
    ...placeConditions(sql, filter),
    hasDevices === null ? sql`` : hasDevices ? sql`and ${device}` : sql`and not ${device}`,
    siteName === null ? sql`` : sql`and strpos(lower(site_name), lower(${siteName})) > 0`,
    contacts === null ? sql`` : sql`and strpos(lower(contacts), lower(${contacts})) > 0`,
    time.from === null ? sql`` : sql`and created_at >= ${time.from}`,
    time.before === null ? sql`` : sql`and created_at < ${time.before}`,
    bbox === null
      ? sql``
      : sql`and longitude between ${bbox.minLng} and ${bbox.maxLng}
        and latitude between ${bbox.minLat} and ${bbox.maxLat}`,
  ]
}

const sortKeys: Record<(typeof siteSorts)[number], PageKey> = {
  createTime: [{ column: 'created_at', type: 'timestamptz' }],
  id: [],
  siteName: [{ column: 'site_name', type: 'text', isByCode: true }],
  provinceCode: [{ column: 'province_code', type: 'text', isByCode: true }],
  cityCode: [{ column: 'city_code', type: 'text', isByCode: true }],
  districtCode: [{ column: 'district_code', type: 'text', isByCode: true }],
}

/** Reads one page of sites: newest first within each application, or as `sort` asks. */
export function pageOfSites(sql: Sql, filter: SiteFilter) {
  const { appIds } = filter
  const conditions = siteConditions(sql, filter)
  const rows = sql`select ${sql.unsafe(siteColumnsSql)} from site where ${ofApplications(sql, appIds)} ${conditions}`
  const show = (row: Row) => showSite(toSite(row))
  const sort = readSort(filter)
  if (sort !== null) {
    const key = [...sortKeys[sort.by], ...byId]
    return readSortedPage(sql, { operation: pageSites.id, rows, key, newestFirst: sort.isDescending }, filter, show)
  }
  const source = { operation: pageSites.id, rows, key: byId, newestFirst: true, isAcross: appIds?.length !== 1 }
  return readPage(sql, source, filter, show)
}
