import type { Row } from 'postgres'
import type { RuleTerms } from '../../billing-rules/rules.ts'
import { settledNow, termsSql, toTerms } from '../../billing-rules/store.ts'
import type { Statements } from '../../database/open.ts'
import { textArray } from '../../database/routine.ts'
import { Refusal } from '../../vocabulary/refusals.ts'
import type { SiteRule } from './rules.ts'

/**
 * Stores the rules that sites get at a time, by a price change or an update (0). A site's rows stay in order even if
 * the clock was set back: none is earlier than the latest one written down. The sites must not be changed yet. Needs
 * the application's lock.
 */
export async function insertSiteRules(
  tx: Statements,
  appId: string,
  rules: readonly SiteRule[],
  { from, changeId, isWritten }: { from: Date; changeId: number; isWritten: boolean },
): Promise<void> {
  if (rules.length === 0) return
  const listed = (member: keyof SiteRule) => textArray(rules.map((rule) => rule[member]))
  const known = await tx.unsafe(
    `select i.n, (site.rules ->> i.field - 1)::bigint as present, last.from_at is null as is_first,
      greatest($4::timestamptz, last.from_at + interval '1 ms') as from_at
    from unnest($2::bigint[], $3::smallint[]) with ordinality as i (site_id, field, n) cross join lateral (
      select json_build_array(fast_rule_id, slow_rule_id, occupancy_rule_id) as rules
      from site where app_id = $1 and id = i.site_id limit 1) as site
    left join lateral (
      select from_at from site_rule
      where app_id = $1 and site_id = i.site_id and field = i.field and from_at < 'infinity' and is_written
      order by from_at desc, change_id desc limit 1) as last on true`,
    [appId, listed('siteId'), listed('field'), from.toISOString()],
    { prepare: true },
  )
  const rows = known.flatMap((row) => {
    const rule = rules[Number(row.n) - 1] as SiteRule
    const own = { ...rule, fromAt: row.from_at.toISOString(), changeId, isWritten }
    const first = { ...rule, ruleId: row.present, fromAt: '-infinity', changeId: 0, isWritten: true }
    return row.is_first ? [first, own] : [own]
  })
  await tx.unsafe(
    `insert into site_rule (app_id, site_id, field, rule_id, from_at, change_id, is_written)
    select $1, i.* from unnest(
      $2::bigint[], $3::smallint[], $4::bigint[], $5::timestamptz[], $6::bigint[], $7::boolean[]) as i`,
    [
      appId,
      ...(['siteId', 'field', 'ruleId', 'fromAt', 'changeId', 'isWritten'] as const).map((member) =>
        textArray(rows.map((row) => row[member])),
      ),
    ],
    { prepare: true },
  )
}

/**
 * SQL: the last row before $3, with since when and until when its value is in effect, and by which change. A row with
 * the previous row's value is no turn: an unwritten price change may have brought it.
 */
const lastRowSql = (rows: string, isOther: string) => `(
    select held.*, nullif(start.from_at, '-infinity') as since_at, start.change_id as since_change, next.from_at as until_at
    from (select * from ${rows} and from_at < $3::timestamptz order by from_at desc, change_id desc limit 1) as held
    left join lateral (
      select from_at, change_id from ${rows} and from_at <= held.from_at and ${isOther}
      order by from_at desc, change_id desc limit 1) as former on true
    cross join lateral (
      select from_at, change_id from ${rows}
        and (from_at, change_id) > (coalesce(former.from_at, '-infinity'), coalesce(former.change_id, -1))
      order by from_at, change_id limit 1) as start
    left join lateral (
      select from_at from ${rows} and from_at >= $3::timestamptz and from_at < 'infinity' and ${isOther}
      order by from_at, change_id limit 1) as next on true)`

const comparedSql = (row: string) =>
  `(${['periods::text', 'free_minutes', 'unit_minutes', 'unit_price', 'daily_cap'].map((column) => row + column).join(', ')})`

const siteRuleSql = lastRowSql(
  'site_rule where app_id = $1 and site_id = $2 and field = f.field',
  'rule_id is distinct from held.rule_id',
)
const ruleTermsSql = lastRowSql(
  'rule_terms where app_id = $1 and rule_id = named.id',
  `${comparedSql('')} is distinct from ${comparedSql('held.')}`,
)

interface Held {
  /** Undefined means since the site or rule was created. */
  since: Date | undefined
  changeId: number | null
  until: Date | undefined
}

export interface HeldPrice {
  field: number
  ruleId: number
  ruleName: string
  ruleCreatedAt: Date
  terms: RuleTerms
  ofSite: Held
  ofRule: Held
}

const heldOf = (since: Date | null, change: number | null, until: Date | null): Held => ({
  since: since ?? undefined,
  changeId: change || null,
  until: until ?? undefined,
})

/** Returns a site's prices at the end of a second, or now (null), with the database's clock. Throws 30002. */
export async function readHeldPrices(
  sql: Statements,
  appId: string,
  siteId: number,
  bound: Date | null,
): Promise<{ now: Date; createdAt: Date; prices: HeldPrice[] }> {
  const now = await settledNow(sql, [appId])
  const rows = await sql.unsafe<Row[]>(
    `select site.created_at, f.field, named.id as rule_id, own.since_at, own.since_change, own.until_at,
      terms.since_at as terms_since_at, terms.since_change as terms_since_change, terms.until_at as terms_until_at,
      ${termsSql}, rule.rule_name, rule.created_at as rule_created_at
    from (
      select created_at, json_build_array(fast_rule_id, slow_rule_id, occupancy_rule_id) as rules
      from site where app_id = $1 and id = $2) as site
    cross join (values (1), (2), (3)) as f (field)
    left join lateral ${siteRuleSql} as own on true
    cross join lateral (
      select case when own.site_id is null then (site.rules ->> f.field - 1)::bigint else own.rule_id end as id) as named
    left join lateral ${ruleTermsSql} as terms on terms.rule_name is null
    left join lateral (
      select rule_name, created_at from billing_rule where app_id = $1 and id = named.id
      union all
      (select rule_name, created_at from rule_terms where app_id = $1 and rule_id = named.id
      order by from_at desc, change_id desc limit 1)
      limit 1) as rule on true`,
    [appId, siteId, (bound ?? new Date(now.getTime() + 1)).toISOString()],
  )
  const [first] = rows
  if (first === undefined) throw new Refusal('siteNotFound')
  const prices = rows.flatMap((row): HeldPrice[] => {
    if (row.rule_id === null || row.rule_name === null || (row.periods === null && row.unit_price === null)) return []
    return [
      {
        field: row.field,
        ruleId: row.rule_id,
        ruleName: row.rule_name,
        ruleCreatedAt: row.rule_created_at,
        terms: toTerms(row),
        ofSite: heldOf(row.since_at, row.since_change, row.until_at),
        ofRule: heldOf(row.terms_since_at, row.terms_since_change, row.terms_until_at),
      },
    ]
  })
  return { now, createdAt: first.created_at, prices }
}
