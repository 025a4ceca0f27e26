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
import { showMoment } from '../vocabulary/moments.ts'
import { Refusal } from '../vocabulary/refusals.ts'
import { type BillingRuleRecord, pageBillingRules, type ruleSorts } from './contract.ts'
import { type RuleTerms, termsOf } from './rules.ts'

const columnsSql = 'id, app_id, rule_name, rule_type, created_at'
export const termsSql = 'periods, free_minutes, unit_minutes, unit_price, daily_cap'

export const toTerms = (row: Row): RuleTerms => ({
  periods: row.periods,
  freeMinutes: row.free_minutes,
  unitMinutes: row.unit_minutes,
  unitPrice: row.unit_price,
  dailyCap: row.daily_cap,
})

function toRecord(row: Row): BillingRuleRecord {
  return {
    id: row.id,
    appId: row.app_id,
    ruleName: row.rule_name,
    ruleType: row.rule_type,
    ...toTerms(row),
    createTime: showMoment(row.created_at),
  }
}

export interface NewBillingRule extends RuleTerms {
  appId: string
  ruleName: string
  ruleType: number
}

export async function insertBillingRule(tx: Statements, rule: NewBillingRule): Promise<BillingRuleRecord> {
  const [row] = await tx<[Row]>`
    insert into billing_rule (app_id, rule_name, rule_type, created_at)
    values (${rule.appId}, ${rule.ruleName}, ${rule.ruleType}, now())
    returning ${tx.unsafe(columnsSql)}`
  await insertTermsRow(tx, { appId: rule.appId, id: row.id }, rule, { from: '-infinity', changeId: 0, isWritten: true })
  return { ...toRecord(row), ...termsOf(rule) }
}

/** SQL: a rule's latest pricing at a time; without a time, the latest that is written down. */
const newestTerms = (sql: Statements, now: Date | null) => sql`
  and rule_name is null and (is_written or from_at <= ${now}::timestamptz) order by from_at desc, change_id desc limit 1`

/**
 * Returns a rule with its pricing at a time of `settledNow` or, without one, the pricing written down, for a write
 * under the application's lock. Throws 40002 with status 404 (409 in operations of sites).
 */
export async function requireBillingRule(
  sql: Statements,
  appId: string,
  id: number,
  now: Date | null = null,
): Promise<BillingRuleRecord> {
  const [row] = await sql`
    select rule.*, terms.*
    from (select ${sql.unsafe(columnsSql)} from billing_rule where app_id = ${appId} and id = ${id}) as rule
    cross join lateral (
      select ${sql.unsafe(termsSql)} from rule_terms where app_id = ${appId} and rule_id = ${id} ${newestTerms(sql, now)}
    ) as terms`
  if (row === undefined) throw new Refusal('billingRuleNotFound', { status: 404 })
  return toRecord(row)
}

/** SQL: a due price change that is neither cancelled nor written down. */
export const isDueSql = 'applied_at is null and cancelled_at is null and effective_at <= statement_timestamp()'
/** SQL: the database's clock in whole milliseconds, as programs show it. */
export const nowSql = `date_trunc('milliseconds', statement_timestamp())`

/**
 * Returns the database's clock for reading prices, once it is certain which changes took effect by then; `appIds: null`
 * means all. Waits for an earlier cancel that is about to commit, but not for a change to be written down.
 */
export async function settledNow(sql: Statements, appIds: readonly string[] | null): Promise<Date> {
  const rows = await sql<[Row, ...Row[]]>`
    select clock.now, due.app_id, due.id from (select ${sql.unsafe(nowSql)} as now) as clock
    left join price_change as due on ${ofApplications(sql, appIds)}
      and applied_at is null and cancelled_at is null and effective_at <= clock.now`
  const due = groupBy(
    rows.filter(({ id }) => id !== null),
    (row) => row.app_id as string,
  )
  for (const [appId, changes] of due) {
    const ids = textArray(changes.map(({ id }) => id))
    await sql`select 1 from price_change where app_id = ${appId} and id = any(${ids}::bigint[]) for key share`
  }
  return rows[0].now
}

export async function renameBillingRule(tx: Statements, { appId, id, ruleName }: BillingRuleRecord): Promise<void> {
  await tx`update billing_rule set rule_name = ${ruleName} where app_id = ${appId} and id = ${id}`
}

type RuleId = Pick<BillingRuleRecord, 'appId' | 'id'>

interface TermsRow {
  from: Date
  /** 0 for the rule itself and for updates. */
  changeId: number
  isWritten: boolean
}

/** Stores the pricing of a rule from a time on. Needs the application's lock. */
export async function insertTerms(tx: Statements, rule: RuleId, terms: RuleTerms, row: TermsRow): Promise<void> {
  const from = (await laterThanWritten(tx, rule, row.from)).toISOString()
  await insertTermsRow(tx, rule, terms, { ...row, from })
}

async function insertTermsRow(
  tx: Statements,
  { appId, id }: RuleId,
  terms: RuleTerms,
  row: Omit<TermsRow, 'from'> & { from: string },
): Promise<void> {
  const periods = terms.periods === null ? null : JSON.stringify(terms.periods)
  await tx`
    insert into rule_terms (app_id, rule_id, from_at, change_id, is_written, ${tx.unsafe(termsSql)})
    values (${appId}, ${id}, ${row.from}::text::timestamptz, ${row.changeId}, ${row.isWritten}, ${periods}::text::json,
      ${terms.freeMinutes}, ${terms.unitMinutes}, ${terms.unitPrice}, ${terms.dailyCap})`
}

/** Returns the time, or 1 ms after the rule's latest written pricing, so that rows stay in order. */
async function laterThanWritten(tx: Statements, { appId, id }: RuleId, moment: Date): Promise<Date> {
  const [row] = await tx<[{ later: Date }]>`
    select greatest(${moment}::timestamptz, max(from_at) + interval '1 ms') as later from rule_terms
    where app_id = ${appId} and rule_id = ${id} and is_written`
  return row.later
}

/** Marks a price change's pricing as written down, or removes it if it changed nothing. */
export async function settleTerms(
  tx: Statements,
  { appId, id }: RuleId,
  { changeId, isTurn }: { changeId: number; isTurn: boolean },
): Promise<void> {
  const own = tx`where app_id = ${appId} and rule_id = ${id} and change_id = ${changeId} and not is_written`
  await (isTurn ? tx`update rule_terms set is_written = true ${own}` : tx`delete from rule_terms ${own}`)
}

/** Returns a rule's pricing before a price change; undefined if that changed none. */
export async function findFormerTerms(
  tx: Statements,
  { appId, id }: RuleId,
  { changeId, effectiveAt }: { changeId: number; effectiveAt: Date },
): Promise<RuleTerms | undefined> {
  const [row] = await tx`
    select former.* from rule_terms own cross join lateral (
      select ${tx.unsafe(termsSql)} from rule_terms
      where app_id = ${appId} and rule_id = ${id} and (from_at, change_id) < (own.from_at, own.change_id)
      order by from_at desc, change_id desc limit 1) as former
    where app_id = ${appId} and rule_id = ${id} and from_at >= ${effectiveAt} and change_id = ${changeId}`
  return row && toTerms(row)
}

/** Tells whether a site names the rule, which stays true only under the application's lock. */
export async function isRuleInUse(tx: Statements, appId: string, ruleId: number): Promise<boolean> {
  // One look-up per column's index: a single condition could be planned as a scan of all sites.
  const columns = ['fast_rule_id', 'slow_rule_id', 'occupancy_rule_id']
  const lookups = columns.map((column) => `exists (select 1 from site where app_id = $1 and ${column} = $2)`)
  const [found] = await tx.unsafe(`select ${lookups.join(' or ')} as is_named`, [appId, ruleId])
  return found?.is_named === true
}

/** Removes a rule that no site names. Its pricing stays as history. Needs the application's lock. */
export async function removeBillingRule(tx: Statements, rule: BillingRuleRecord, now: Date): Promise<void> {
  const { appId, id } = rule
  await tx`
    insert into rule_terms (app_id, rule_id, from_at, change_id, is_written, rule_name, created_at)
    select app_id, id, ${await laterThanWritten(tx, rule, now)}::timestamptz, 0, true, rule_name, created_at
    from billing_rule where app_id = ${appId} and id = ${id}`
  await tx`delete from billing_rule where app_id = ${appId} and id = ${id}`
}

/** Returns the types of the application's rules by ID; unknown IDs are left out. */
export async function findRuleTypes(
  tx: Statements,
  appId: string,
  ids: readonly number[],
): Promise<Map<number, number>> {
  // By whole keys: given a list, a planner without statistics reads all rules of the application.
  const rows = await tx.unsafe(
    `select i.id, rule.rule_type from unnest($2::bigint[]) as i (id)
    cross join lateral (select rule_type from billing_rule where app_id = $1 and id = i.id limit 1) as rule`,
    [appId, textArray(ids)],
    { prepare: true },
  )
  return new Map(rows.map((row) => [row.id, row.rule_type]))
}

export type BillingRuleFilter = Filters<typeof pageBillingRules.query> &
  PageQuery &
  SortQuery<(typeof ruleSorts)[number]> & {
    /** Owners; null for all applications. */
    appIds: readonly string[] | null
  }

const sortKeys: Record<(typeof ruleSorts)[number], PageKey> = {
  createTime: [{ column: 'created_at', type: 'timestamptz' }],
  id: [],
  ruleName: [{ column: 'rule_name', type: 'text', isByCode: true }],
  ruleType: [{ column: 'rule_type', type: 'bigint' }],
}

export async function pageOfBillingRules(sql: Sql, filter: BillingRuleFilter) {
  const { appIds, ruleName, ruleType } = filter
  const { from, before } = filter.time
  const rows = sql`
    select ${sql.unsafe(columnsSql)} from billing_rule
    where ${ofApplications(sql, appIds)}
      and (${ruleName}::text is null or strpos(lower(rule_name), lower(${ruleName})) > 0)
      and (${ruleType}::smallint is null or rule_type = ${ruleType})
      and (${from}::timestamptz is null or created_at >= ${from})
      and (${before}::timestamptz is null or created_at < ${before})`
  const sort = readSort(filter)
  const source =
    sort === null
      ? { operation: pageBillingRules.id, rows, key: byId, newestFirst: true, isAcross: appIds?.length !== 1 }
      : {
          operation: pageBillingRules.id,
          rows,
          key: [...sortKeys[sort.by], ...byId],
          newestFirst: sort.isDescending,
        }
  const read = sort === null ? readPage : readSortedPage
  const now = await settledNow(sql, appIds)
  const page = await read(sql, source, filter, (row) => row)
  const terms = await findTerms(sql, page.list, now)
  return { ...page, list: page.list.map((row) => toRecord({ ...row, ...terms.get(row.id) })) }
}

async function findTerms(sql: Statements, rules: readonly Row[], now: Date): Promise<Map<number, Row>> {
  const found = new Map<number, Row>()
  for (const [appId, own] of groupBy(rules, (row) => row.app_id as string)) {
    const rows = await sql`
      select i.id as rule_id, terms.* from unnest(${textArray(own.map(({ id }) => id))}::bigint[]) as i (id)
      cross join lateral (
        select ${sql.unsafe(termsSql)} from rule_terms where app_id = ${appId} and rule_id = i.id ${newestTerms(sql, now)}
      ) as terms`
    for (const { rule_id: id, ...terms } of rows) found.set(id, terms)
  }
  return found
}
