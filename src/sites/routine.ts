import type { Caller } from '../callers/caller.ts'
import { callerParameters, callerValues, findRevokedSql } from '../callers/store.ts'
import type { LaneOutcome } from '../callers/submitter.ts'
import { eventIdOfRow, lockAndNumberSql, lockAndNumberVariablesSql } from '../database/application-lock.ts'
import { noteEvents } from '../database/commits.ts'
import { findKeptKeysSql, keptAnswer, keptKey, type RequestKey } from '../database/idempotency.ts'
import type { Statements } from '../database/open.ts'
import { callRoutine, jsonRowsWithRecords, routine, textArray } from '../database/routine.ts'
import { Refusal } from '../vocabulary/refusals.ts'
import { ruleFaults, ruleRefusal, type SiteMembers } from './rules.ts'
import { siteColumns, valuesByColumn } from './store.ts'

/** A composed site, ready to be written. */
export interface SiteInsert extends SiteMembers {
  appId: string
  actor: string
  idempotency: RequestKey | undefined
  /** The record as JSON text, from the comma after its id. */
  recordAfterId: string
}

const text = 'text'
const id = 'bigint'
const columnTypes = Object.fromEntries(Object.values(siteColumns))
const columnNamesSql = Object.keys(columnTypes).join(', ')

const toRow = (site: SiteInsert) => ({
  ...valuesByColumn(site),
  actor: site.actor,
  ...(site.idempotency && { key: site.idempotency.key, body_hash: site.idempotency.bodyHash }),
})

const rowsSql = (columns: Record<string, string>) => jsonRowsWithRecords('v_rows', columns, 'p_records')

const ruleIds = { fast_rule_id: id, slow_rule_id: id, occupancy_rule_id: id }
/** SQL: the type of the rule that row `i` names in `field`; null if the application has no such rule. */
const ruleTypeSql = (field: string) => `(select split_part(r, ' ', 3)::smallint from unnest(v_rules) r
      where starts_with(r, i.app_id || ' ' || i.${field} || ' '))`
const ruleFitsSql = (field: string, type: number) =>
  `(i.${field} is null or concat_ws(' ', i.app_id, i.${field}, ${type}) = any(v_rules))`

/**
 * Writes a batch of sites: the locks, the checks of document §1, the rows, their events and their idempotency keys in
 * one transaction. Returns a row per site, in any order: its place in the batch, and its id or why it was not written.
 */
export const saveSitesRoutine = routine(
  'save_sites',
  {
    p_now: 'timestamptz',
    p_apps: 'text[]',
    p_rule_owners: 'text[]',
    p_rules: 'bigint[]',
    p_count: 'integer',
    p_key_owners: 'text[]',
    p_keys: 'text[]',
    ...callerParameters,
    p_rows: text,
    p_records: text,
  },
  'n bigint, id bigint, is_revoked boolean, has_application boolean, has_config boolean, fast smallint, slow smallint, occupancy smallint, body_hash text, answer text',
  `${lockAndNumberVariablesSql}
  v_rows json := p_rows;
  v_configured text[];
  -- One text per rule: its application, id and type.
  v_rules text[] := '{}';
  v_has_application boolean;
  v_kept text[] := '{}';
  v_ids bigint[];
  v_revoked text[] := '{}';`,
  `  ${lockAndNumberSql}
  ${findRevokedSql()}
  v_configured := array(select app_id from third_party_config where app_id = any(p_apps));
  if p_rules <> '{}' then
    foreach v_app in array p_apps loop
      -- Looked up one by one: for a list of ids, a planner without statistics reads all rules of the application.
      v_rules := v_rules || array(
        select v_app || ' ' || i.id || ' ' || rule.rule_type from unnest(p_rule_owners, p_rules) as i (app_id, id)
        cross join lateral (select rule_type from billing_rule where app_id = v_app and id = i.id limit 1) as rule
        where i.app_id = v_app);
    end loop;
  end if;
  if p_keys <> '{}' then
    ${findKeptKeysSql('saveSite', 'p_key_owners')}
  end if;
  v_ids := array(
    select case when i.app_id = any(v_configured)
      and ${ruleFitsSql('fast_rule_id', 1)} and ${ruleFitsSql('slow_rule_id', 2)} and ${ruleFitsSql('occupancy_rule_id', 3)}
      and (v_kept = '{}' or i.key is null or ${keptKey} <> all(v_kept))
      and i.app_id <> all(v_revoked) then nextval('site_id') end
    from ${rowsSql({ app_id: text, key: text, ...ruleIds })} order by i.n);

  insert into site (id, ${columnNamesSql}, created_at)
  select v_ids[i.n], ${columnNamesSql}, p_now from ${rowsSql(columnTypes)} where v_ids[i.n] is not null;
  insert into event (app_id, id, type, time, actor, subject, data)
  select i.app_id, ${eventIdOfRow()}, 'site.created', p_now, i.actor, v_ids[i.n]::text, '{"id":' || v_ids[i.n] || i.record
  from ${rowsSql({ app_id: text, actor: text })} where v_ids[i.n] is not null;
  if p_keys <> '{}' then
    insert into idempotency_key (app_id, operation, key, body_hash, answer, created_at)
    select i.app_id, 'saveSite', i.key, i.body_hash, '{"id":' || v_ids[i.n] || i.record, p_now
    from ${rowsSql({ app_id: text, key: text, body_hash: text })} where i.key is not null and v_ids[i.n] is not null
    on conflict (app_id, operation, key) do update
      set body_hash = excluded.body_hash, answer = excluded.answer, created_at = excluded.created_at;
  end if;

  if array_position(v_ids, null) is null then
    return query
    select written.n, written.id, false, true, true, null::smallint, null::smallint, null::smallint, null::text, null::text
    from unnest(v_ids) with ordinality as written (id, n);
    return;
  end if;
  foreach v_app in array p_apps loop
    v_has_application := exists (select 1 from application where app_id = v_app);
    return query
    select i.n, v_ids[i.n], v_app = any(v_revoked), v_has_application, v_app = any(v_configured),
      ${ruleTypeSql('fast_rule_id')}, ${ruleTypeSql('slow_rule_id')}, ${ruleTypeSql('occupancy_rule_id')}, k.body_hash, k.answer
    from ${rowsSql({ app_id: text, key: text, ...ruleIds })}
    left join lateral (${keptAnswer('saveSite')}) as k on true
    where i.app_id = v_app;
  end loop;`,
)

interface SavedRow {
  /** The site's place in the batch, from 1. */
  n: number
  id: number | null
  is_revoked: boolean
  has_application: boolean
  has_config: boolean
  fast: number | null
  slow: number | null
  occupancy: number | null
  body_hash: string | null
  answer: string | null
}

/** Writes sites, of any callers, in one transaction. Returns one outcome per site, in order. */
export async function saveSites(
  sql: Statements,
  sites: SiteInsert[],
  callers: Iterable<Caller>,
  now: Date,
): Promise<LaneOutcome[]> {
  const apps = [...new Set(sites.map((site) => site.appId))].sort()
  // Distinct by application and id.
  const rules = new Map(
    sites.flatMap(({ appId, fastRuleId, slowRuleId, occupancyRuleId }) =>
      [fastRuleId, slowRuleId, occupancyRuleId].flatMap((id) =>
        id === null ? [] : [[`${appId} ${id}`, { appId, id }] as const],
      ),
    ),
  )
  const keyed = sites.flatMap(({ appId, idempotency }) => (idempotency ? [{ appId, key: idempotency.key }] : []))
  const saved = await callRoutine<SavedRow>(sql, saveSitesRoutine, [
    now.toISOString(),
    textArray(apps),
    textArray([...rules.values()].map(({ appId }) => appId)),
    textArray([...rules.values()].map(({ id }) => id)),
    sites.length,
    textArray(keyed.map(({ appId }) => appId)),
    textArray(keyed.map(({ key }) => key)),
    ...callerValues(callers, apps),
    JSON.stringify(sites.map(toRow)),
    sites.map((site) => site.recordAfterId).join('\n'),
  ])
  noteEvents(sql, apps)
  const rowsByPlace = new Map(saved.map((row) => [row.n, row]))
  return sites.map((site, index) => toOutcome(site, rowsByPlace.get(index + 1) as SavedRow))
}

function toOutcome(site: SiteInsert, row: SavedRow): LaneOutcome {
  if (row.id !== null) return { record: `{"id":${row.id}${site.recordAfterId}` }
  if (row.is_revoked) return { revoked: true }
  if (row.answer !== null) {
    const { idempotency } = site
    if (idempotency === undefined || row.body_hash !== idempotency.bodyHash)
      return { refusal: new Refusal('idempotencyKeyReused') }
    idempotency.isReplayed = true
    return { record: row.answer }
  }
  if (!row.has_application) return { refusal: new Refusal('applicationNotFound') }
  if (!row.has_config) return { refusal: new Refusal('thirdPartyConfigMissing') }
  return { refusal: ruleRefusal(ruleFaults(site, row)) }
}
