import type { PendingQuery, Row } from 'postgres'
import { insertTerms, isDueSql, nowSql, settledNow, toTerms } from '../../billing-rules/store.ts'
import type { Sql, Statements } from '../../database/open.ts'
import { ofApplications, type PageKey, type PageQuery, readPage } from '../../database/page.ts'
import type { Pruned } from '../../database/prune.ts'
import { textArray } from '../../database/routine.ts'
import { spendPriceChange } from '../../database/usage.ts'
import type { Filters } from '../../vocabulary/filters.ts'
import { groupBy } from '../../vocabulary/group-by.ts'
import { Refusal } from '../../vocabulary/refusals.ts'
import { insertSiteRules } from '../prices/store.ts'
import { type PriceChangeRecord, pagePriceChanges, priceChangeStatus } from './contract.ts'
import {
  draftOf,
  type Field,
  fieldOf,
  type NewPriceChange,
  type PriceChange,
  type RulesOfSite,
  rowsOfSites,
  showPriceChange,
} from './rules.ts'

const columns = [
  ...['id', 'app_id', 'effective_at', 'billing_rule_id', 'periods', 'free_minutes', 'unit_minutes', 'unit_price'],
  ...['daily_cap', 'given_fields', 'rules', 'site_count', 'skipped_count', 'reason', 'undo_of', 'created_at'],
  ...['created_by', 'applied_at', 'cancelled_at', 'cancelled_by'],
]
const columnsSql = columns.join(', ')
/** SQL: a change that is scheduled or due; `effective_at` tells which. */
const isOpenSql = 'applied_at is null and cancelled_at is null'

function toChange(row: Row): PriceChange {
  return {
    id: row.id,
    appId: row.app_id,
    effectiveAt: row.effective_at,
    billingRuleId: row.billing_rule_id,
    terms: toTerms(row),
    fields: row.given_fields === null || row.given_fields === '' ? [] : row.given_fields.split(','),
    rules: row.rules,
    siteCount: row.site_count,
    skippedCount: row.skipped_count,
    reason: row.reason,
    undoOf: row.undo_of,
    createdAt: row.created_at,
    createdBy: row.created_by,
    appliedAt: row.applied_at,
    cancelledAt: row.cancelled_at,
    cancelledBy: row.cancelled_by,
  }
}

/**
 * Returns the database's clock and up to `limit` due changes, in order of time. Needs the application's lock: then
 * later changes are written after this transaction.
 */
export async function findDue(
  tx: Statements,
  appId: string,
  limit: number,
): Promise<{ now: Date; due: readonly PriceChange[] }> {
  const rows = await tx.unsafe<[Row, ...Row[]]>(
    `select ${nowSql} as now, due.* from application_lock l left join lateral (
      select ${columnsSql} from price_change where app_id = $1 and ${isDueSql} order by effective_at, id limit $2
    ) as due on true where l.app_id = $1 order by effective_at, id`,
    [appId, limit],
    { prepare: true },
  )
  return { now: rows[0].now, due: rows.filter(({ id }) => id !== null).map(toChange) }
}

/** Returns the milliseconds to the next change of all applications; undefined without one. */
export async function findMsToNext(sql: Statements): Promise<number | undefined> {
  const [row] = await sql.unsafe(
    `select (extract(epoch from effective_at - statement_timestamp()) * 1000)::float8 as in_ms
    from price_change where ${isOpenSql} order by effective_at limit 1`,
    [],
    { prepare: true },
  )
  return row?.in_ms
}

/** Returns the applications with due changes, earliest first. */
export async function findDueApplications(sql: Statements, limit: number): Promise<string[]> {
  const rows = await sql.unsafe(
    `select app_id from price_change where ${isOpenSql} and effective_at <= statement_timestamp()
    group by app_id order by min(effective_at) limit $1`,
    [limit],
    { prepare: true },
  )
  return rows.map((row) => row.app_id)
}

/** Returns the application's scheduled changes. Needs its lock, and due changes written down. */
export async function findWaiting(tx: Statements, appId: string): Promise<PriceChange[]> {
  const rows = await tx.unsafe(
    `select ${columnsSql} from price_change where app_id = $1 and ${isOpenSql} order by effective_at, id`,
    [appId],
    { prepare: true },
  )
  return rows.map(toChange)
}

export async function isAnyIn(
  tx: Statements,
  appId: string,
  changeIds: readonly number[],
  siteIds: readonly number[],
): Promise<boolean> {
  if (changeIds.length === 0) return false
  const [found] = await tx.unsafe(
    `select 1 from unnest($2::bigint[]) as c (id) cross join unnest($3::bigint[]) as i (id) cross join lateral (
      select 1 from site_rule where app_id = $1 and change_id = c.id and site_id = i.id limit 1) as found
    limit 1`,
    [appId, textArray(changeIds), textArray(siteIds)],
  )
  return found !== undefined
}

/** Tells whether a scheduled price change gives the rule to sites. One that has no sites left does not. */
export async function isGivenByWaiting(tx: Statements, appId: string, ruleId: number): Promise<boolean> {
  const [found] = await tx.unsafe(
    `select 1 from price_change where app_id = $1 and ${isOpenSql} and given_fields is not null
      and $2::bigint = any(given_rule_ids) and site_count > 0 limit 1`,
    [appId, ruleId],
  )
  return found !== undefined
}

/** Locks a rule's open pricing changes and returns their ids. Reads that find one due wait for this transaction. */
export async function lockOpenOfRule(tx: Statements, appId: string, ruleId: number): Promise<number[]> {
  const rows = await tx.unsafe(
    `select id from price_change where app_id = $1 and ${isOpenSql} and billing_rule_id = $2 order by effective_at, id
    for update`,
    [appId, ruleId],
  )
  return rows.map((row) => row.id)
}

/** Stores a price change with its pricing or rules. Needs the application's lock. Throws 10007 past the daily limit. */
export async function insertPriceChange(tx: Statements, change: NewPriceChange): Promise<PriceChange> {
  const draft = draftOf(change)
  const { appId, billingRuleId, terms, effectiveAt } = draft
  const sites = 'sites' in change.what ? change.what.sites : []
  await spendPriceChange(tx, appId, sites.length)
  const given = new Set(sites.flatMap(({ rules }) => Object.values(rules).filter((id) => id !== null)))
  const [row] = await tx<[{ id: number }]>`
    insert into price_change (app_id, effective_at, billing_rule_id, periods, free_minutes, unit_minutes, unit_price,
      daily_cap, given_fields, rules, site_count, skipped_count, given_rule_ids, reason, undo_of, created_at, created_by)
    values (${appId}, ${effectiveAt}, ${billingRuleId}, ${jsonOf(terms.periods)}::text::json, ${terms.freeMinutes},
      ${terms.unitMinutes}, ${terms.unitPrice}, ${terms.dailyCap},
      ${billingRuleId === null ? draft.fields.join(',') : null}, ${jsonOf(draft.rules)}::text::json,
      ${draft.siteCount}, ${draft.skippedCount}, ${textArray([...given])}::text::bigint[], ${draft.reason},
      ${draft.undoOf}, ${draft.createdAt}, ${draft.createdBy})
    returning id`
  const at = { from: effectiveAt, changeId: row.id, isWritten: false }
  if (billingRuleId !== null) await insertTerms(tx, { appId, id: billingRuleId }, terms, at)
  await insertSiteRules(tx, appId, rowsOfSites(sites), at)
  return { ...draft, id: row.id }
}

const jsonOf = (value: unknown) => (value === null ? null : JSON.stringify(value))

/** Returns sites of a price change that aren't written down: the first by ID, or those in `siteIds`. */
export async function findUnwritten(
  tx: Statements,
  { appId, id, fields }: PriceChange,
  of: { most: number } | { siteIds: readonly number[] },
): Promise<RulesOfSite[]> {
  const isOf = 'siteIds' in of
  const rows = await tx.unsafe(
    `select site_id, field, rule_id from site_rule where app_id = $1 and change_id = $2 and not is_written
    ${isOf ? 'and site_id = any($3::bigint[]) order by site_id' : 'order by site_id limit $3'}`,
    // A site has a row per field.
    [appId, id, isOf ? textArray(of.siteIds) : of.most * fields.length],
    { prepare: true },
  )
  return [...groupBy(rows, (row) => row.site_id as number)].map(([siteId, own]) => ({
    siteId,
    rules: Object.fromEntries(own.map((row) => [fieldOf(row.field), row.rule_id])),
  }))
}

/** Marks sites of a change as written down. `same` are those that already had what it gives. */
export async function noteWritten(
  tx: Statements,
  { appId, id }: PriceChange,
  siteIds: readonly number[],
  same: ReadonlyMap<number, readonly number[]>,
): Promise<void> {
  const ofSites = 'where app_id = $1 and change_id = $2 and site_id = any($3::bigint[])'
  await tx.unsafe(`update site_rule set is_written = true ${ofSites}`, [appId, id, textArray(siteIds)], {
    prepare: true,
  })
  for (const [field, ids] of same) {
    const values = [appId, id, textArray(ids), field]
    await tx.unsafe(`update site_rule set from_at = 'infinity' ${ofSites} and field = $4`, values, { prepare: true })
  }
}

export async function noteApplied(tx: Statements, { appId, id }: PriceChange, now: Date): Promise<void> {
  await tx`update price_change set applied_at = ${now} where app_id = ${appId} and id = ${id}`
}

/** Locks a change for its cancel and returns the clock after that. Reads that find it due wait (`settledNow`). */
export async function lockForCancel(tx: Statements, appId: string, id: number): Promise<Date | undefined> {
  await tx`select 1 from price_change where app_id = ${appId} and id = ${id} for update`
  const [row] = await tx.unsafe(`select ${nowSql} as now from price_change where app_id = $1 and id = $2`, [appId, id])
  return row?.now
}

/**
 * Cancels a change that `lockForCancel` has locked, and removes its pricing or rules. Returns undefined if it was
 * cancelled before or took effect.
 */
export async function cancelLocked(
  tx: Statements,
  { appId, id }: Pick<PriceChange, 'appId' | 'id'>,
  by: { now: Date; actor: string; reason: string | null },
): Promise<PriceChange | undefined> {
  const [row] = await tx`
    update price_change set cancelled_at = ${by.now}, cancelled_by = ${by.actor},
      reason = case when ${by.reason}::text is null then reason else ${by.reason} end
    where app_id = ${appId} and id = ${id} and cancelled_at is null and effective_at > ${by.now}
    returning ${tx.unsafe(columnsSql)}`
  if (row === undefined) return undefined
  await tx`delete from site_rule where app_id = ${appId} and change_id = ${id}`
  await tx`delete from rule_terms where app_id = ${appId} and rule_id = ${row.billing_rule_id} and change_id = ${id}`
  return toChange(row)
}

/** Others stay, because the price history names them. */
export const cancelledPriceChanges = (days: number): Pruned => ({
  table: 'price_change',
  key: 'app_id, id',
  isOld: `cancelled_at < now() - interval '${days} days'`,
  rests: true,
})

export async function findPriceChange(tx: Statements, appId: string, id: number): Promise<PriceChange | undefined> {
  const [row] = await tx.unsafe(`select ${columnsSql} from price_change where app_id = $1 and id = $2`, [appId, id])
  return row && toChange(row)
}

export interface ChangedField {
  siteId: number
  field: Field
  present: number | null
  gave: number | null
  /** It is undefined if the rule was the same before. */
  former: number | null | undefined
}

export async function findChangedFields(tx: Statements, { appId, id }: PriceChange): Promise<ChangedField[]> {
  const rows = await tx.unsafe(
    `select own.site_id, own.field, own.rule_id, own.from_at < 'infinity' as is_turn,
      (site.rules ->> own.field - 1)::bigint as present, former.rule_id as former
    from site_rule own cross join lateral (
      select json_build_array(fast_rule_id, slow_rule_id, occupancy_rule_id) as rules
      from site where app_id = $1 and id = own.site_id limit 1) as site
    left join lateral (
      select rule_id from site_rule where app_id = $1 and site_id = own.site_id and field = own.field
        and (from_at, change_id) < (own.from_at, own.change_id)
      order by from_at desc, change_id desc limit 1) as former on true
    where own.app_id = $1 and own.change_id = $2 order by own.site_id`,
    [appId, id],
  )
  return rows.map((row) => ({
    siteId: row.site_id,
    field: fieldOf(row.field),
    present: row.present,
    gave: row.rule_id,
    former: row.is_turn ? row.former : undefined,
  }))
}

/** Returns a price change by the database's clock; `appIds: null` means all. Throws 40005. */
export async function requirePriceChange(
  sql: Statements,
  appIds: readonly string[] | null,
  id: number,
): Promise<PriceChangeRecord> {
  const now = await settledNow(sql, appIds)
  const [row] = await sql`
    select ${sql.unsafe(columnsSql)} from price_change where ${ofApplications(sql, appIds)} and id = ${id}`
  if (row === undefined) throw new Refusal('priceChangeNotFound')
  return showPriceChange(toChange(row), now)
}

export type PriceChangeFilter = Omit<Filters<typeof pagePriceChanges.query>, 'undoOf'> &
  PageQuery & {
    /** Owners; null for all applications. */
    appIds: readonly string[] | null
    /** Only undos of these. */
    undoOf: readonly number[] | null
  }

const byMoment: PageKey = [
  { column: 'effective_at', type: 'timestamptz' },
  { column: 'id', type: 'bigint' },
]

/** Reads one page of price changes, latest effective time first. */
export async function pageOfPriceChanges(sql: Sql, filter: PriceChangeFilter) {
  const { appIds, status, billingRuleId, siteId, undoOf, time } = filter
  const now = await settledNow(sql, appIds)
  const statusIs: Record<number, PendingQuery<Row[]>> = {
    [priceChangeStatus.waiting]: sql`and ${sql.unsafe(isOpenSql)} and effective_at > ${now}`,
    // One that became due after `now` may be written down.
    [priceChangeStatus.inForce]: sql`and cancelled_at is null and (applied_at is not null or effective_at <= ${now})`,
    [priceChangeStatus.cancelled]: sql`and cancelled_at is not null`,
  }
  const conditions = [
    (status !== null && statusIs[status]) || sql``,
    billingRuleId === null
      ? sql``
      : sql`and (billing_rule_id = ${billingRuleId} or ${billingRuleId}::bigint = any(given_rule_ids))`,
    // An undo is younger than what it undoes.
    undoOf === null ? sql`` : sql`and undo_of in ${sql(undoOf)} and id > ${Math.min(...undoOf)}`,
    time.from === null ? sql`` : sql`and effective_at >= ${time.from}`,
    time.before === null ? sql`` : sql`and effective_at < ${time.before}`,
  ]
  // A site has few price changes. `limit 1` keeps the planner from reading all others.
  const source =
    siteId === null
      ? sql`price_change`
      : sql`(
        select distinct app_id as of_app, change_id from site_rule
        where ${ofApplications(sql, appIds)} and site_id = ${siteId}) as own cross join lateral (
        select * from price_change
        where ${ofApplications(sql, appIds)} and app_id = own.of_app and id = own.change_id limit 1) as price_change`
  const rows = sql`
    select ${sql.unsafe(columnsSql)} from ${source} where ${ofApplications(sql, appIds)} ${conditions}`
  const isAcross = appIds?.length !== 1
  const page = { operation: pagePriceChanges.id, rows, key: byMoment, newestFirst: true, isAcross }
  return readPage(sql, page, filter, (row) => showPriceChange(toChange(row), now))
}
