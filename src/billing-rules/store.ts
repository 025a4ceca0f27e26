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
import type { ShowMoment, TimeRange } from '../vocabulary/moments.ts'
import { Refusal } from '../vocabulary/refusals.ts'
import { given } from '../vocabulary/values.ts'
import { type BillingRuleRecord, pageBillingRules, type ruleSorts } from './contract.ts'
import type { RuleTerms } from './rules.ts'

const columnsSql = `id, app_id, rule_name, rule_type, periods, free_minutes, unit_minutes, unit_price, daily_cap, created_at`

/** The terms in a row of any table that has them. */
export const toTerms = (row: Row): RuleTerms => ({
  periods: row.periods,
  freeMinutes: row.free_minutes,
  unitMinutes: row.unit_minutes,
  unitPrice: row.unit_price,
  dailyCap: row.daily_cap,
})

function toRecord(row: Row, showMoment: ShowMoment): BillingRuleRecord {
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

export async function insertBillingRule(
  tx: Statements,
  rule: NewBillingRule,
  showMoment: ShowMoment,
): Promise<BillingRuleRecord> {
  const periods = rule.periods === null ? null : JSON.stringify(rule.periods)
  const [row] = await tx`
    insert into billing_rule (app_id, rule_name, rule_type, periods, free_minutes, unit_minutes, unit_price,
      daily_cap, created_at)
    values (${rule.appId}, ${rule.ruleName}, ${rule.ruleType}, ${periods}::text::json, ${rule.freeMinutes},
      ${rule.unitMinutes}, ${rule.unitPrice}, ${rule.dailyCap}, now())
    returning ${tx.unsafe(columnsSql)}`
  return toRecord(row as Row, showMoment)
}

/** Throws 40002 with status 404 (in operations of sites it is 409). */
export async function requireBillingRule(
  sql: Statements,
  appId: string,
  id: number,
  showMoment: ShowMoment,
): Promise<BillingRuleRecord> {
  const [row] = await sql`select ${sql.unsafe(columnsSql)} from billing_rule where app_id = ${appId} and id = ${id}`
  if (row === undefined) throw new Refusal('billingRuleNotFound', { status: 404 })
  return toRecord(row, showMoment)
}

/** SQL: a price change that is to be written down: its moment has come, and it was not cancelled. */
export const isDueSql = `applied_at is null and cancelled_at is null and effective_at <= statement_timestamp()`

/**
 * The rule with the terms that are in force by the database's clock, even if their price change has not been written
 * yet. Throws as `requireBillingRule` does. That function reads the row as it is written, which is the base of a write
 * under the application's lock.
 */
export async function requireBillingRuleInForce(
  sql: Statements,
  appId: string,
  id: number,
  showMoment: ShowMoment,
): Promise<BillingRuleRecord> {
  for (;;) {
    const [row] = await sql`
      select rule.*, due.*
      from (select ${sql.unsafe(columnsSql)} from billing_rule where app_id = ${appId} and id = ${id}) as rule
      left join lateral (
        select id as due_id, periods as due_periods, free_minutes as due_free_minutes, unit_minutes as due_unit_minutes,
          unit_price as due_unit_price, daily_cap as due_daily_cap
        from price_change
        where app_id = ${appId} and billing_rule_id = ${id} and ${sql.unsafe(isDueSql)}
        order by effective_at desc limit 1) as due on true`
    if (row === undefined) throw new Refusal('billingRuleNotFound', { status: 404 })
    if (row.due_id === null) return toRecord(row, showMoment)
    if (await takesEffect(sql, appId, row.due_id)) {
      const due = Object.entries(row).flatMap(([column, value]) =>
        column.startsWith('due_') ? [[column.slice('due_'.length), value]] : [],
      )
      return toRecord({ ...row, ...Object.fromEntries(due), id: row.id }, showMoment)
    }
  }
}

/**
 * Whether a price change whose moment has come takes effect. Waits for a cancel that was decided before the moment and
 * is about to commit; a cancel that begins later is refused. It does not wait for the transaction that writes the
 * change.
 */
export async function takesEffect(sql: Statements, appId: string, changeId: number): Promise<boolean> {
  const [standing] = await sql`
    select 1 from price_change where app_id = ${appId} and id = ${changeId} and cancelled_at is null for key share`
  return standing !== undefined
}

/** Writes the members that an update can change. The transaction must hold the application's lock. */
export async function saveChangedBillingRule(tx: Statements, rule: BillingRuleRecord): Promise<void> {
  const periods = rule.periods === null ? null : JSON.stringify(rule.periods)
  await tx`
    update billing_rule set rule_name = ${rule.ruleName}, periods = ${periods}::text::json,
      free_minutes = ${rule.freeMinutes}, unit_minutes = ${rule.unitMinutes}, unit_price = ${rule.unitPrice},
      daily_cap = ${rule.dailyCap}
    where app_id = ${rule.appId} and id = ${rule.id}`
}

/**
 * Keeps the terms that a rule had until a moment, before they change or the rule goes. The rows of a rule have
 * ascending moments, even if the database's clock was set back. The transaction must hold the application's lock.
 */
export async function keepPastTerms(
  tx: Statements,
  rule: BillingRuleRecord,
  { until, changeId }: { until: Date; changeId: number | null },
): Promise<void> {
  const { appId, id } = rule
  const [last] = await tx`
    select until_at from past_terms where app_id = ${appId} and rule_id = ${id} order by until_at desc limit 1`
  const [{ created_at: createdAt } = {}] = await tx`
    select created_at from billing_rule where app_id = ${appId} and id = ${id}`
  await tx`
    insert into past_terms (app_id, rule_id, until_at, rule_name, periods, free_minutes, unit_minutes, unit_price,
      daily_cap, created_at, change_id)
    values (${appId}, ${id}, ${laterThan(last?.until_at, until)}, ${rule.ruleName},
      ${rule.periods === null ? null : JSON.stringify(rule.periods)}::text::json, ${rule.freeMinutes},
      ${rule.unitMinutes}, ${rule.unitPrice}, ${rule.dailyCap}, ${createdAt}, ${changeId})`
}

/** Returns the moment, or the first millisecond after `last` if the moment is not later than that. */
export function laterThan(last: Date | null | undefined, moment: Date): Date {
  return last == null || last < moment ? moment : new Date(last.getTime() + 1)
}

/** Whether a site names the billing rule. The result stays valid only under the application's lock. */
export async function isRuleInUse(tx: Statements, appId: string, ruleId: number): Promise<boolean> {
  // One lookup in each column's index. A single condition could be planned as a scan of all sites, which is quick for a
  // rule that many sites name, but reads every site for a rule that none names.
  const columns = ['fast_rule_id', 'slow_rule_id', 'occupancy_rule_id']
  const lookups = columns.map((column) => `exists (select 1 from site where app_id = $1 and ${column} = $2)`)
  const [found] = await tx.unsafe(`select ${lookups.join(' or ')} as is_named`, [appId, ruleId])
  return found?.is_named === true
}

/** Removes a rule that no site names. The transaction must hold the application's lock. */
export async function removeBillingRule(tx: Statements, { appId, id }: BillingRuleRecord): Promise<void> {
  await tx`delete from billing_rule where app_id = ${appId} and id = ${id}`
}

/** Reads the types of the application's rules with these ids, by id; unknown ids are left out. */
export async function findRuleTypes(
  tx: Statements,
  appId: string,
  ids: readonly number[],
): Promise<Map<number, number>> {
  // Each rule is looked up by its whole key: given a list of ids, a planner without statistics reads all rules of the
  // application.
  const rows = await tx.unsafe(
    `select i.id, rule.rule_type from unnest($2::bigint[]) as i (id)
    cross join lateral (select rule_type from billing_rule where app_id = $1 and id = i.id limit 1) as rule`,
    [appId, textArray(ids)],
    { prepare: true },
  )
  return new Map(rows.map((row) => [row.id, row.rule_type]))
}

export interface BillingRuleFilter extends PageQuery, SortQuery<(typeof ruleSorts)[number]> {
  /** Owners; null for all applications. */
  appIds: readonly string[] | null
  ruleName?: string | null
  ruleType?: number | null | ''
  created: TimeRange
}

const sortKeys: Record<(typeof ruleSorts)[number], PageKey> = {
  createTime: [{ column: 'created_at', type: 'timestamptz' }],
  id: [],
  ruleName: [{ column: 'rule_name', type: 'text', isByCode: true }],
  ruleType: [{ column: 'rule_type', type: 'bigint' }],
}

export async function pageOfBillingRules(sql: Sql, filter: BillingRuleFilter, showMoment: ShowMoment) {
  const { appIds } = filter
  const { from, before } = filter.created
  const ruleName = given(filter.ruleName)
  const ruleType = given(filter.ruleType)
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
  // Read before the page: a price change that becomes due after this need not show on the page.
  const due = await findDueRules(sql, appIds)
  const page = await read(sql, source, filter, (row) => toRecord(row, showMoment))
  if (due.size === 0) return page
  for (const [place, rule] of page.list.entries()) {
    if (due.has(rule.id)) page.list[place] = await inForceOrGone(sql, rule, showMoment)
  }
  return page
}

/** The ids of rules whose terms in force are not written down yet: nearly always none. */
async function findDueRules(sql: Statements, appIds: readonly string[] | null): Promise<Set<number>> {
  const rows = await sql`
    select billing_rule_id from price_change
    where ${ofApplications(sql, appIds)} and ${sql.unsafe(isDueSql)} and billing_rule_id is not null`
  return new Set(rows.map((row) => row.billing_rule_id))
}

/** The rule as it is in force; as it was on the page, if it was deleted meanwhile. */
async function inForceOrGone(sql: Statements, rule: BillingRuleRecord, showMoment: ShowMoment) {
  try {
    return await requireBillingRuleInForce(sql, rule.appId, rule.id, showMoment)
  } catch (error) {
    if (error instanceof Refusal) return rule
    throw error
  }
}
