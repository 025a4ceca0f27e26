import type { Sql } from '../database/open.ts'
import { applicationLock, type Columns, callRoutine, column, joinBatch, routine } from '../database/routine.ts'
import type { Caller } from '../http/authenticate.ts'
import type { RefusalName } from '../refusals.ts'
import { callerParameters, findPowerless, joinCallers } from '../tokens/power.ts'
import { type RuleFault, ruleFaults, type SiteMembers } from './rules.ts'

/** A site that is composed and waits to be written. */
export interface SiteInsert extends SiteMembers {
  appId: string
  actor: string
  idempotency: { key: string; bodyHash: string } | undefined
  /** The record as JSON text, from the comma behind its id on. */
  recordAfterId: string
}

/** `unsure`: nothing was written, because a caller of the application has lost its power; look whether this one has. */
export type SiteOutcome = { record: string } | { refusal: RefusalName } | { ruleFaults: RuleFault[] } | { unsure: true }

const columns = {
  app_id: (site: SiteInsert) => site.appId,
  actor: (site) => site.actor,
  site_name: (site) => site.siteName,
  contacts: (site) => site.contacts,
  contacts_phone: (site) => site.contactsPhone,
  customer_service_phone: (site) => site.customerServicePhone,
  business_week_day: (site) => site.businessWeekDay,
  business_start_time: (site) => site.businessStartTime,
  business_closing_time: (site) => site.businessClosingTime,
  site_picture_url: (site) => site.sitePictureUrl,
  fast_rule_id: (site) => site.fastRuleId,
  slow_rule_id: (site) => site.slowRuleId,
  occupancy_rule_id: (site) => site.occupancyRuleId,
  ipc_ids: (site) => site.ipcIds,
  province_code: (site) => site.provinceCode,
  province_name: (site) => site.provinceName,
  city_code: (site) => site.cityCode,
  city_name: (site) => site.cityName,
  district_code: (site) => site.districtCode,
  district_name: (site) => site.districtName,
  detail_address: (site) => site.detailAddress,
  coordinates: (site) => site.coordinates,
  longitude: (site) => site.longitude,
  latitude: (site) => site.latitude,
  key: (site) => site.idempotency?.key ?? null,
  body_hash: (site) => site.idempotency?.bodyHash ?? null,
  record: (site) => site.recordAfterId,
} as const satisfies Columns<SiteInsert>

const names = Object.keys(columns)
/** The rows of the batch, numbered. */
const batch = `unnest(${names.map((name) => column(`c_${name}`)).join(', ')})
    with ordinality as i (${names.join(', ')}, n)`
const replayed = `exists (select from idempotency_key k
      where k.app_id = i.app_id and k.operation = 'saveSite' and k.key = i.key
        and k.created_at > p_now - interval '24 hours')`
const ruleType = (field: string) =>
  `(select rule_type from billing_rule r where r.app_id = i.app_id and r.id = i.${field}::bigint)`
const ruleFits = (field: string, type: number) =>
  `(i.${field} is null or coalesce(${ruleType(field)} = ${type}, false))`

/**
 * Writes a batch of sites: the locks, the checks of document §1, the rows, their events and their idempotency keys in
 * one transaction. Answers a row a site, in any order: its place in the batch, and its id or why it was not written.
 */
export const saveSitesRoutine = routine(
  'save_sites',
  { p_now: 'timestamptz', p_has_keys: 'boolean', ...callerParameters },
  names,
  'n bigint, id bigint, is_unsure boolean, has_application boolean, has_config boolean, fast smallint, slow smallint, occupancy smallint, body_hash text, answer text',
  `  v_ids bigint[];
  v_powerless text[] := '{}';`,
  `  perform ${applicationLock('a.app_id')} from (
    select distinct app_id collate "C" as app_id from unnest(${column('c_app_id')}) as i (app_id) order by 1) a;
  ${findPowerless}

  with checked as materialized (
    select i.* from ${batch}
    where exists (select from third_party_config c where c.app_id = i.app_id)
      and ${ruleFits('fast_rule_id', 1)} and ${ruleFits('slow_rule_id', 2)} and ${ruleFits('occupancy_rule_id', 3)}
      and (i.key is null or not ${replayed})
      and i.app_id <> all(v_powerless)
  ), numbered as materialized (
    select nextval('site_id') as id, checked.* from checked
  ), saved as (
    insert into site (app_id, id, site_name, contacts, contacts_phone, customer_service_phone, business_week_day,
      business_start_time, business_closing_time, site_picture_url, fast_rule_id, slow_rule_id, occupancy_rule_id,
      ipc_ids, province_code, province_name, city_code, city_name, district_code, district_name, detail_address,
      coordinates, longitude, latitude, created_at)
    select app_id, id, site_name, contacts, contacts_phone, customer_service_phone, business_week_day,
      business_start_time, business_closing_time, site_picture_url, fast_rule_id::bigint, slow_rule_id::bigint,
      occupancy_rule_id::bigint, ipc_ids, province_code, province_name, city_code, city_name, district_code,
      district_name, detail_address, coordinates, longitude::double precision, latitude::double precision, p_now
    from numbered
  ), logged as (
    insert into event (app_id, type, time, actor, subject, data)
    select app_id, 'site.created', p_now, actor, id::text, '{"id":' || id || record from numbered
  ), kept as (
    insert into idempotency_key (app_id, operation, key, body_hash, answer, created_at)
    select app_id, 'saveSite', key, body_hash, '{"id":' || id || record, p_now
    from numbered where p_has_keys and key is not null
    on conflict (app_id, operation, key) do update
      set body_hash = excluded.body_hash, answer = excluded.answer, created_at = excluded.created_at
  )
  select array_agg(numbered.id order by i.n) into v_ids
  from ${batch} left join numbered using (n);

  if array_position(v_ids, null) is null then
    return query
    select written.n, written.id, false, true, true, null::smallint, null::smallint, null::smallint, null::text, null::text
    from unnest(v_ids) with ordinality as written (id, n);
    return;
  end if;
  return query
  select i.n, v_ids[i.n], i.app_id = any(v_powerless), exists (select from application a where a.app_id = i.app_id),
    exists (select from third_party_config c where c.app_id = i.app_id),
    ${ruleType('fast_rule_id')}, ${ruleType('slow_rule_id')}, ${ruleType('occupancy_rule_id')}, k.body_hash, k.answer
  from ${batch}
  left join idempotency_key k on k.app_id = i.app_id and k.operation = 'saveSite' and k.key = i.key
    and k.created_at > p_now - interval '24 hours';`,
)

interface SavedRow {
  /** The site's place in the batch, from 1. */
  n: number
  id: number | null
  is_unsure: boolean
  has_application: boolean
  has_config: boolean
  fast: number | null
  slow: number | null
  occupancy: number | null
  body_hash: string | null
  answer: string | null
}

/** Writes sites, for so many callers, in one transaction; one outcome a site, in order. */
export async function saveSites(
  sql: Sql,
  sites: SiteInsert[],
  callers: Iterable<Caller>,
  now: Date,
): Promise<SiteOutcome[]> {
  const rows = await callRoutine<SavedRow>(sql, saveSitesRoutine, [
    now.toISOString(),
    sites.some((site) => site.idempotency !== undefined),
    ...joinCallers(callers),
    joinBatch(sites, columns),
  ])
  const rowsByPlace = new Map(rows.map((row) => [row.n, row]))
  return sites.map((site, index) => toOutcome(site, rowsByPlace.get(index + 1) as SavedRow))
}

function toOutcome(site: SiteInsert, row: SavedRow): SiteOutcome {
  if (row.id !== null) return { record: `{"id":${row.id}${site.recordAfterId}` }
  if (row.is_unsure) return { unsure: true }
  if (row.answer !== null) {
    return row.body_hash === site.idempotency?.bodyHash ? { record: row.answer } : { refusal: 'idempotencyKeyReused' }
  }
  if (!row.has_application) return { refusal: 'applicationNotFound' }
  if (!row.has_config) return { refusal: 'thirdPartyConfigMissing' }
  return { ruleFaults: ruleFaults(site, row) }
}
