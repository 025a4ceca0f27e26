import type { Row } from 'postgres'
import type { RuleTerms } from '../../billing-rules/rules.ts'
import { laterThan, toTerms } from '../../billing-rules/store.ts'
import type { Statements } from '../../database/open.ts'
import { textArray } from '../../database/routine.ts'
import { Refusal } from '../../vocabulary/refusals.ts'
import type { Known } from './rules.ts'

// The history of the rules that sites name: a row for each rule that a site had, with the moment at which it ended. The
// present rules are in the site's own row.

/** A rule that a site has had until now, before a change. */
export interface FormerRule {
  siteId: number
  /** 1 fast, 2 slow, 3 occupancy, as the types of rules. */
  field: number
  ruleId: number | null
}

/**
 * Stores the rules that sites had until a moment, before a price change, or an update (null), gives them others. The
 * rows of a site have ascending moments, even if the database's clock was set back. The transaction must hold the
 * application's lock.
 */
export async function keepPastRules(
  tx: Statements,
  appId: string,
  former: readonly FormerRule[],
  { until, changeId }: { until: Date; changeId: number | null },
): Promise<void> {
  if (former.length === 0) return
  const siteIds = textArray(former.map(({ siteId }) => siteId))
  const fields = textArray(former.map(({ field }) => field))
  const lasts = await tx.unsafe(
    `select i.n, last.until_at from unnest($2::bigint[], $3::smallint[]) with ordinality as i (site_id, field, n)
    cross join lateral (
      select until_at from past_site_rule where app_id = $1 and site_id = i.site_id and field = i.field
      order by until_at desc limit 1) as last`,
    [appId, siteIds, fields],
    { prepare: true },
  )
  const lastOf = new Map(lasts.map((row) => [Number(row.n) - 1, row.until_at as Date]))
  const untils = former.map((_, place) => laterThan(lastOf.get(place), until).toISOString())
  await tx.unsafe(
    `insert into past_site_rule (app_id, site_id, field, until_at, rule_id, change_id)
    select $1, i.site_id, i.field, i.until_at, i.rule_id, $6::bigint
    from unnest($2::bigint[], $3::smallint[], $4::timestamptz[], $5::bigint[]) as i (site_id, field, until_at, rule_id)`,
    [appId, siteIds, fields, textArray(untils), textArray(former.map(({ ruleId }) => ruleId)), changeId],
    { prepare: true },
  )
}

/** The stored rules of a site around a moment, by field. */
export interface KnownSite {
  /** The database's clock. */
  now: Date
  /** The end of the requested moment: only changes before it count as past. */
  bound: Date
  createdAt: Date
  fields: ReadonlyMap<number, Known<number | null>>
}

/** SQL: the newest row of a history before the bound, and the first one after it, each as JSON. */
const aroundSql = (table: string, key: string, columns: string) => `
    (select to_json(p) from (select until_at, change_id from ${table}
      where app_id = $1 and ${key} and until_at < bound order by until_at desc limit 1) as p) as before,
    (select to_json(p) from (select until_at, change_id, ${columns} from ${table}
      where app_id = $1 and ${key} and until_at >= bound order by until_at limit 1) as p) as after`

interface Kept {
  until_at: string
  change_id: number | null
}

const turnOf = (kept: Kept | null) =>
  kept === null ? undefined : { at: new Date(kept.until_at), changeId: kept.change_id }

function endOf<Value>(kept: Kept | null, value: Value): Known<Value>['after'] {
  const turn = turnOf(kept)
  return turn && { ...turn, value }
}

/**
 * Reads a site's rules around the end of a second, or around now (null), in one statement, so that it sees a price
 * change that is written down meanwhile as a whole or not at all. Throws 30002.
 */
export async function readKnownSite(
  sql: Statements,
  appId: string,
  siteId: number,
  bound: Date | null,
): Promise<KnownSite> {
  const rows = await sql.unsafe(
    `select s.created_at, s.now, s.bound, f.field, s.rules ->> f.field - 1 as rule_id, around.*, (
        select coalesce(json_agg(w order by w.effective_at, w.change_id), '[]') from (
          select c.effective_at, c.id as change_id,
            case f.field when 1 then m.fast_rule_id when 2 then m.slow_rule_id else m.occupancy_rule_id end as rule_id
          from price_change_site m cross join lateral (
            select id, effective_at, given_fields, through_site_id from price_change
            where app_id = $1 and id = m.change_id and applied_at is null and cancelled_at is null limit 1) as c
          where m.app_id = $1 and m.site_id = $2 and not m.is_written and c.through_site_id < m.site_id
            and (array['fast', 'slow', 'occupancy'])[f.field] = any(string_to_array(c.given_fields, ','))) as w) as waiting
    from (
      select created_at, json_build_array(fast_rule_id, slow_rule_id, occupancy_rule_id) as rules,
        date_trunc('milliseconds', statement_timestamp()) as now,
        coalesce($3::timestamptz, date_trunc('milliseconds', statement_timestamp()) + interval '1 ms') as bound
      from site where app_id = $1 and id = $2) as s
    cross join (values (1), (2), (3)) as f (field)
    cross join lateral (select ${aroundSql('past_site_rule', 'site_id = $2 and field = f.field', 'rule_id')}) as around`,
    [appId, siteId, bound?.toISOString() ?? null],
  )
  const [first] = rows
  if (first === undefined) throw new Refusal('siteNotFound')
  const fields = rows.map((row): [number, Known<number | null>] => [
    row.field,
    {
      before: turnOf(row.before),
      after: endOf(row.after, row.after?.rule_id),
      present: row.rule_id === null ? null : Number(row.rule_id),
      waiting: row.waiting.map((waits: { effective_at: string; change_id: number; rule_id: number | null }) => ({
        at: new Date(waits.effective_at),
        changeId: waits.change_id,
        value: waits.rule_id,
      })),
    },
  ])
  const { now, bound: until, created_at: createdAt } = first
  return { now, bound: until, createdAt, fields: new Map(fields) }
}

/** A rule, with what is stored of its terms before and after a moment. */
export interface KnownRule {
  ruleName: string
  createdAt: Date
  terms: Known<RuleTerms>
}

const termsColumnsSql = 'periods, free_minutes, unit_minutes, unit_price, daily_cap'

/** Reads a rule's terms around a moment, also those of a deleted rule; undefined if there are none. */
export async function readKnownRule(
  sql: Statements,
  appId: string,
  ruleId: number,
  bound: Date,
): Promise<KnownRule | undefined> {
  const [row] = await sql.unsafe<[Row]>(
    `select around.*,
      (select to_json(r) from (select rule_name, created_at, ${termsColumnsSql} from billing_rule
        where app_id = $1 and id = $2) as r) as present,
      (select to_json(r) from (select rule_name, created_at from past_terms
        where app_id = $1 and rule_id = $2 order by until_at desc limit 1) as r) as last, (
        select coalesce(json_agg(w order by w.effective_at), '[]') from (
          select id as change_id, effective_at, ${termsColumnsSql} from price_change
          where app_id = $1 and billing_rule_id = $2 and applied_at is null and cancelled_at is null) as w) as waiting
    from application_lock l cross join lateral (select $3::timestamptz as bound) as b
    cross join lateral (select ${aroundSql('past_terms', 'rule_id = $2', termsColumnsSql)}) as around
    where l.app_id = $1`,
    [appId, ruleId, bound.toISOString()],
  )
  const named = row.present ?? row.last
  if (named === null) return undefined
  const terms = {
    before: turnOf(row.before),
    after: endOf(row.after, row.after && toTerms(row.after)),
    present: row.present === null ? undefined : toTerms(row.present),
    waiting: row.waiting.map((waits: Row) => ({
      at: new Date(waits.effective_at),
      changeId: waits.change_id,
      value: toTerms(waits),
    })),
  }
  return { ruleName: named.rule_name, createdAt: new Date(named.created_at), terms }
}
