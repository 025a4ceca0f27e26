import type { Row } from 'postgres'
import type { Sql, Statements } from '../database/open.ts'
import { byId, ofApplications, type PageQuery, readPage } from '../database/page.ts'
import { textArray } from '../database/routine.ts'
import type { ShowMoment, TimeRange } from '../vocabulary/moments.ts'
import { Refusal } from '../vocabulary/refusals.ts'
import { given } from '../vocabulary/values.ts'
import { type BillingRuleRecord, pageBillingRules } from './contract.ts'
import type { RuleTerms } from './rules.ts'

const columnsSql = `id, app_id, rule_name, rule_type, periods, free_minutes, unit_minutes, unit_price, daily_cap, created_at`

function toRecord(row: Row, showMoment: ShowMoment): BillingRuleRecord {
  return {
    id: row.id,
    appId: row.app_id,
    ruleName: row.rule_name,
    ruleType: row.rule_type,
    periods: row.periods,
    freeMinutes: row.free_minutes,
    unitMinutes: row.unit_minutes,
    unitPrice: row.unit_price,
    dailyCap: row.daily_cap,
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

/** Writes the members that an update can change. The transaction must hold the application's lock. */
export async function saveChangedBillingRule(tx: Statements, rule: BillingRuleRecord): Promise<void> {
  const periods = rule.periods === null ? null : JSON.stringify(rule.periods)
  await tx`
    update billing_rule set rule_name = ${rule.ruleName}, periods = ${periods}::text::json,
      free_minutes = ${rule.freeMinutes}, unit_minutes = ${rule.unitMinutes}, unit_price = ${rule.unitPrice},
      daily_cap = ${rule.dailyCap}
    where app_id = ${rule.appId} and id = ${rule.id}`
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
  // Each by its whole key: for a list of ids, a planner without statistics reads all rules of the application.
  const rows = await tx.unsafe(
    `select i.id, rule.rule_type from unnest($2::bigint[]) as i (id)
    cross join lateral (select rule_type from billing_rule where app_id = $1 and id = i.id limit 1) as rule`,
    [appId, textArray(ids)],
    { prepare: true },
  )
  return new Map(rows.map((row) => [row.id, row.rule_type]))
}

export interface BillingRuleFilter extends PageQuery {
  /** Owners; null for all applications. */
  appIds: readonly string[] | null
  ruleName?: string | null
  ruleType?: number | null | ''
  created: TimeRange
}

export function pageOfBillingRules(sql: Sql, filter: BillingRuleFilter, showMoment: ShowMoment) {
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
  const source = { operation: pageBillingRules.id, rows, key: byId, newestFirst: true, isAcross: appIds?.length !== 1 }
  return readPage(sql, source, filter, (row) => toRecord(row, showMoment))
}
