import type { Row } from 'postgres'
import type { RuleTerms } from '../../billing-rules/rules.ts'
import { isDueSql, takesEffect, toTerms } from '../../billing-rules/store.ts'
import type { Sql, Statements } from '../../database/open.ts'
import { ofApplications, type PageKey, type PageQuery, readPage } from '../../database/page.ts'
import { textArray } from '../../database/routine.ts'
import { spendPriceChange } from '../../database/usage.ts'
import type { ShowMoment, TimeRange } from '../../vocabulary/moments.ts'
import { Refusal } from '../../vocabulary/refusals.ts'
import { type GivenRules, type PriceChangeRecord, pagePriceChanges, priceChangeStatus } from './contract.ts'
import { type Field, type PriceChange, type RulesOfSite, ruleFields, showPriceChange } from './rules.ts'

const columns = [
  ...['id', 'app_id', 'effective_at', 'billing_rule_id', 'periods', 'free_minutes', 'unit_minutes', 'unit_price'],
  ...['daily_cap', 'given_fields', 'rules', 'site_count', 'skipped_count', 'reason', 'undo_of', 'created_at'],
  ...['created_by', 'applied_at', 'cancelled_at', 'cancelled_by', 'through_site_id'],
]
const columnsSql = columns.join(', ')
/** SQL: a price change that waits or is to be written down; the index has `effective_at`, which tells the two apart. */
const isOpenSql = 'applied_at is null and cancelled_at is null'
/** SQL: the database's clock in whole milliseconds, which is as exact as programs show it. */
const nowSql = `date_trunc('milliseconds', statement_timestamp())`

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
    throughSiteId: row.through_site_id,
  }
}

/**
 * The database's clock, and the application's first price change that is to be written down, if there is one. The
 * transaction must hold the application's lock: then a change that becomes due after `now` is written after this
 * transaction.
 */
export async function findFirstDue(
  tx: Statements,
  appId: string,
): Promise<{ now: Date; due: PriceChange | undefined }> {
  const [row] = await tx.unsafe<[Row]>(
    `select ${nowSql} as now, due.* from application_lock l left join lateral (
      select ${columnsSql} from price_change where app_id = $1 and ${isDueSql} order by effective_at, id limit 1
    ) as due on true where l.app_id = $1`,
    [appId],
    { prepare: true },
  )
  return { now: row.now, due: row.id === null ? undefined : toChange(row) }
}

/**
 * An application with a price change that waits, and how long until it takes effect. At zero or below, the change is to
 * be written.
 */
export interface Waiting {
  appId: string
  inMs: number
}

/** The price changes of all applications that are to be written next, in the order of their moments. */
export async function findNextWaiting(sql: Statements, limit: number): Promise<Waiting[]> {
  const rows = await sql.unsafe(
    `select app_id, (extract(epoch from effective_at - statement_timestamp()) * 1000)::float8 as in_ms
    from price_change where ${isOpenSql} order by effective_at limit $1`,
    [limit],
    { prepare: true },
  )
  return rows.map((row) => ({ appId: row.app_id, inMs: row.in_ms }))
}

/** The applications with price changes that are to be written down, in the order of their first moments. */
export async function findDueApplications(sql: Statements, limit: number): Promise<string[]> {
  const rows = await sql.unsafe(
    `select app_id from price_change where ${isOpenSql} and effective_at <= statement_timestamp()
    group by app_id order by min(effective_at) limit $1`,
    [limit],
    { prepare: true },
  )
  return rows.map((row) => row.app_id)
}

/**
 * The price changes of an application that wait. The caller must hold the application's lock and must have written the
 * changes that were due.
 */
export async function findWaiting(tx: Statements, appId: string): Promise<PriceChange[]> {
  const rows = await tx.unsafe(
    `select ${columnsSql} from price_change where app_id = $1 and ${isOpenSql} order by effective_at, id`,
    [appId],
    { prepare: true },
  )
  return rows.map(toChange)
}

/** Whether one of these sites is in one of these price changes. */
export async function isAnyIn(
  tx: Statements,
  appId: string,
  changeIds: readonly number[],
  siteIds: readonly number[],
): Promise<boolean> {
  if (changeIds.length === 0) return false
  const [found] = await tx.unsafe(
    `select 1 from unnest($2::bigint[]) as c (id) cross join unnest($3::bigint[]) as i (id) cross join lateral (
      select 1 from price_change_site where app_id = $1 and change_id = c.id and site_id = i.id limit 1) as found
    limit 1`,
    [appId, textArray(changeIds), textArray(siteIds)],
  )
  return found !== undefined
}

/** Whether a price change that is neither in force nor cancelled gives the rule to sites. */
export async function isGivenByWaiting(tx: Statements, appId: string, ruleId: number): Promise<boolean> {
  const [found] = await tx.unsafe(
    `select 1 from price_change where app_id = $1 and ${isOpenSql} and given_fields is not null
      and $2::bigint = any(given_rule_ids) limit 1`,
    [appId, ruleId],
  )
  return found !== undefined
}

/** The ids of the price changes of a rule's terms that are neither in force nor cancelled. */
export async function findWaitingOfRule(tx: Statements, appId: string, ruleId: number): Promise<number[]> {
  const rows = await tx.unsafe(
    `select id from price_change where app_id = $1 and ${isOpenSql} and billing_rule_id = $2 order by effective_at, id`,
    [appId, ruleId],
  )
  return rows.map((row) => row.id)
}

export interface NewPriceChange {
  appId: string
  effectiveAt: Date
  /** New terms of a rule, or other rules at sites. */
  what:
    | { billingRuleId: number; terms: RuleTerms }
    | { fields: readonly Field[]; rules: GivenRules | null; sites: readonly RulesOfSite[] }
  skippedCount: number | null
  reason: string | null
  undoOf: number | null
  createdAt: Date
  createdBy: string
}

/**
 * Stores a price change with its sites. The transaction must hold the application's lock. Throws 10007 when the
 * application has scheduled too much in a day.
 */
export async function insertPriceChange(tx: Statements, change: NewPriceChange): Promise<PriceChange> {
  const { appId, what, createdAt } = change
  const ofRule = 'terms' in what ? what : undefined
  const ofSites = 'sites' in what ? what : undefined
  await spendPriceChange(tx, appId, ofSites?.sites.length ?? 0)
  const periods = ofRule?.terms.periods ?? null
  const given = ofSites === undefined ? [] : [...new Set(ofSites.sites.flatMap(({ rules }) => Object.values(rules)))]
  const [row] = await tx`
    insert into price_change (app_id, effective_at, billing_rule_id, periods, free_minutes, unit_minutes, unit_price,
      daily_cap, given_fields, rules, site_count, skipped_count, given_rule_ids, reason, undo_of, created_at, created_by)
    values (${appId}, ${change.effectiveAt}, ${ofRule?.billingRuleId ?? null},
      ${periods === null ? null : JSON.stringify(periods)}::text::json, ${ofRule?.terms.freeMinutes ?? null},
      ${ofRule?.terms.unitMinutes ?? null}, ${ofRule?.terms.unitPrice ?? null}, ${ofRule?.terms.dailyCap ?? null},
      ${ofSites?.fields.join(',') ?? null}, ${ofSites?.rules ? JSON.stringify(ofSites.rules) : null}::text::json,
      ${ofSites?.sites.length ?? null}, ${change.skippedCount},
      ${textArray(given.filter((id) => id !== null))}::text::bigint[], ${change.reason}, ${change.undoOf}, ${createdAt},
      ${change.createdBy})
    returning ${tx.unsafe(columnsSql)}`
  const inserted = toChange(row as Row)
  if (ofSites !== undefined) await insertSites(tx, inserted, ofSites.sites)
  return inserted
}

async function insertSites(tx: Statements, { appId, id }: PriceChange, sites: readonly RulesOfSite[]): Promise<void> {
  const listed = (field: Field) => textArray(sites.map(({ rules }) => rules[field] ?? null))
  await tx.unsafe(
    `insert into price_change_site (app_id, change_id, site_id, fast_rule_id, slow_rule_id, occupancy_rule_id)
    select $1, $2::bigint, i.site_id, i.fast, i.slow, i.occupancy
    from unnest($3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[]) as i (site_id, fast, slow, occupancy)`,
    [appId, id, textArray(sites.map(({ siteId }) => siteId)), listed('fast'), listed('slow'), listed('occupancy')],
  )
}

function toMember(row: Row, fields: readonly Field[]): RulesOfSite {
  return { siteId: row.site_id, rules: Object.fromEntries(fields.map((field) => [field, row[`${field}_rule_id`]])) }
}

/** The next sites of a price change that are to be written down, by id. */
export async function findUnwrittenSites(
  tx: Statements,
  { appId, id, fields, throughSiteId }: PriceChange,
  limit: number,
): Promise<RulesOfSite[]> {
  const rows = await tx.unsafe(
    `select site_id, fast_rule_id, slow_rule_id, occupancy_rule_id from price_change_site
    where app_id = $1 and change_id = $2 and site_id > $3 and not is_written order by site_id limit $4`,
    [appId, id, throughSiteId, limit],
    { prepare: true },
  )
  return rows.map((row) => toMember(row, fields))
}

/**
 * The price changes of these sites that are still to be written, each with the sites among these that it concerns, in
 * the order of their moments.
 */
export async function findUnwrittenOfSites(
  tx: Statements,
  appId: string,
  siteIds: readonly number[],
): Promise<{ change: PriceChange; sites: RulesOfSite[] }[]> {
  const rows = await tx.unsafe(
    `select c.*, m.site_id, m.fast_rule_id, m.slow_rule_id, m.occupancy_rule_id
    from unnest($2::bigint[]) as i (id) cross join lateral (
      select * from price_change_site where app_id = $1 and site_id = i.id and not is_written) as m
    cross join lateral (
      select ${columnsSql} from price_change where app_id = $1 and id = m.change_id and ${isDueSql} limit 1) as c
    where c.through_site_id < m.site_id order by c.effective_at, c.id, m.site_id`,
    [appId, textArray(siteIds)],
    { prepare: true },
  )
  const found = new Map<number, { change: PriceChange; sites: RulesOfSite[] }>()
  for (const row of rows) {
    const change = toChange(row)
    const one = found.get(change.id) ?? { change, sites: [] }
    one.sites.push(toMember(row, change.fields))
    found.set(change.id, one)
  }
  return [...found.values()]
}

/** Stores that some sites of a price change were written down out of turn. */
export async function noteWritten(tx: Statements, { appId, id }: PriceChange, sites: readonly RulesOfSite[]) {
  await tx.unsafe(
    `update price_change_site set is_written = true
    where app_id = $1 and change_id = $2 and site_id = any($3::bigint[])`,
    [appId, id, textArray(sites.map(({ siteId }) => siteId))],
  )
}

/** Stores that the sites of a price change are written down up to this one. */
export async function noteThrough(tx: Statements, { appId, id }: PriceChange, siteId: number): Promise<void> {
  await tx`update price_change set through_site_id = ${siteId} where app_id = ${appId} and id = ${id}`
}

/** Stores that a price change is completely written down. */
export async function noteApplied(tx: Statements, { appId, id }: PriceChange, now: Date): Promise<void> {
  await tx`update price_change set applied_at = ${now} where app_id = ${appId} and id = ${id}`
}

/**
 * Locks a price change for its cancel, and returns it with the database's clock after the lock was taken. Until the
 * transaction ends, a read that finds that the moment has come waits (`takesEffect`).
 */
export async function lockForCancel(
  tx: Statements,
  appId: string,
  id: number,
): Promise<{ change: PriceChange; now: Date } | undefined> {
  await tx`select 1 from price_change where app_id = ${appId} and id = ${id} for update`
  const [row] = await tx.unsafe(
    `select ${columnsSql}, ${nowSql} as now from price_change where app_id = $1 and id = $2`,
    [appId, id],
  )
  return row === undefined ? undefined : { change: toChange(row), now: row.now }
}

/**
 * Cancels a price change that `lockForCancel` has locked before its moment, and removes its sites: up to 10,000 rows that
 * would be kept for ever although they changed nothing. Their number stays.
 */
export async function cancelLocked(
  tx: Statements,
  { appId, id }: PriceChange,
  by: { now: Date; actor: string; reason: string | null },
): Promise<PriceChange> {
  const [row] = await tx`
    update price_change set cancelled_at = ${by.now}, cancelled_by = ${by.actor},
      reason = case when ${by.reason}::text is null then reason else ${by.reason} end
    where app_id = ${appId} and id = ${id} returning ${tx.unsafe(columnsSql)}`
  await tx`delete from price_change_site where app_id = ${appId} and change_id = ${id}`
  return toChange(row as Row)
}

/**
 * Removes at most `limit` price changes that were cancelled more than so many days ago, and the sites of one that the
 * version before has cancelled. Those that took effect stay: the history of prices names them.
 */
export async function deleteOldPriceChanges(tx: Statements, limit: number, days: number): Promise<number> {
  const [whole] = await tx`
    select app_id, id from price_change c where cancelled_at is not null and exists (
      select 1 from price_change_site s where s.app_id = c.app_id and s.change_id = c.id) limit 1`
  if (whole !== undefined) {
    await tx`delete from price_change_site where app_id = ${whole.app_id} and change_id = ${whole.id}`
    return limit
  }
  const rows = await tx`
    select app_id, id from price_change where cancelled_at < now() - ${days} * interval '1 day' limit ${limit}`
  for (const appId of new Set(rows.map((row) => row.app_id as string))) {
    const ids = rows.flatMap((row) => (row.app_id === appId ? [row.id] : []))
    await tx`delete from price_change where app_id = ${appId} and id = any(${textArray(ids)}::bigint[])`
  }
  return rows.length
}

/** The application's price change with this id; undefined for none. */
export async function findPriceChange(tx: Statements, appId: string, id: number): Promise<PriceChange | undefined> {
  const [row] = await tx.unsafe(`select ${columnsSql} from price_change where app_id = $1 and id = $2`, [appId, id])
  return row && toChange(row)
}

/** The terms that a rule had when a price change took effect; undefined if it changed none. */
export async function findFormerTerms(
  tx: Statements,
  appId: string,
  ruleId: number,
  { changeId, effectiveAt }: { changeId: number; effectiveAt: Date },
): Promise<RuleTerms | undefined> {
  const [row] = await tx`
    select periods, free_minutes, unit_minutes, unit_price, daily_cap from past_terms
    where app_id = ${appId} and rule_id = ${ruleId} and until_at >= ${effectiveAt} and change_id = ${changeId}
    order by until_at limit 1`
  return row && toTerms(row)
}

/** A site of a price change that took effect. */
export interface ChangedSite {
  siteId: number
  present: RulesOfSite['rules']
  /** What the change gave it. */
  gave: RulesOfSite['rules']
  /** The rules that the site had before, in the fields in which they differed. */
  former: RulesOfSite['rules']
}

/**
 * The sites of a price change that took effect, with their present rules, the rules that it gave them, and the rules
 * before.
 */
export async function findChangedSites(
  tx: Statements,
  { appId, id, fields, effectiveAt }: PriceChange,
): Promise<ChangedSite[]> {
  const rows = await tx.unsafe(
    `select m.site_id, m.fast_rule_id, m.slow_rule_id, m.occupancy_rule_id, s.present, p.former
    from price_change_site m cross join lateral (
      select json_build_array(fast_rule_id, slow_rule_id, occupancy_rule_id) as present
      from site where app_id = $1 and id = m.site_id limit 1) as s
    cross join lateral (
      select json_object_agg(field, rule_id) as former from past_site_rule
      where app_id = $1 and site_id = m.site_id and until_at >= $3::timestamptz and change_id = $2) as p
    where m.app_id = $1 and m.change_id = $2 order by m.site_id`,
    [appId, id, effectiveAt.toISOString()],
  )
  return rows.map((row) => ({
    siteId: row.site_id,
    present: byField(fields, (number) => row.present[number - 1]),
    gave: toMember(row, fields).rules,
    former: byField(fields, (number) => row.former?.[number]),
  }))
}

/** Values by field, without those that are undefined. */
function byField(
  fields: readonly Field[],
  valueIn: (number: number) => number | null | undefined,
): RulesOfSite['rules'] {
  return Object.fromEntries(
    fields.flatMap((field) => {
      const value = valueIn(ruleFields[field].number)
      return value === undefined ? [] : [[field, value]]
    }),
  )
}

/** The price change with this id, of these applications (null for all), by the database's clock. Throws 40005. */
export async function requirePriceChange(
  sql: Statements,
  appIds: readonly string[] | null,
  id: number,
  showMoment: ShowMoment,
): Promise<PriceChangeRecord> {
  for (;;) {
    const [row] = await sql`
      select ${sql.unsafe(columnsSql)}, ${sql.unsafe(nowSql)} as now from price_change
      where ${ofApplications(sql, appIds)} and id = ${id}`
    if (row === undefined) throw new Refusal('priceChangeNotFound')
    if (await isSettled(sql, row)) return showPriceChange(toChange(row), row.now, showMoment)
  }
}

/**
 * Whether a row's status is final. After its moment, waits for a cancel that is about to commit; false if there was one, and
 * the row must be read again.
 */
async function isSettled(sql: Statements, row: Row): Promise<boolean> {
  if (row.applied_at !== null || row.cancelled_at !== null || row.effective_at > row.now) return true
  return takesEffect(sql, row.app_id, row.id)
}

export interface PriceChangeFilter extends PageQuery {
  /** Owners; null for all applications. */
  appIds: readonly string[] | null
  status: number | null
  billingRuleId: number | null
  siteId: number | null
  /** Only undos of these. */
  undoOf: readonly number[] | null
  effective: TimeRange
}

const byMoment: PageKey = [
  { column: 'effective_at', type: 'timestamptz' },
  { column: 'id', type: 'bigint' },
]

const statusSql: Record<number, string> = {
  [priceChangeStatus.waiting]: `cancelled_at is null and effective_at > statement_timestamp()`,
  [priceChangeStatus.inForce]: `cancelled_at is null and effective_at <= statement_timestamp()`,
  [priceChangeStatus.cancelled]: `cancelled_at is not null`,
}

/** Reads one page of price changes, latest moment first. */
export async function pageOfPriceChanges(sql: Sql, filter: PriceChangeFilter, showMoment: ShowMoment) {
  const { appIds, status, billingRuleId, siteId, undoOf, effective } = filter
  const conditions = [
    status === null ? sql`` : sql`and ${sql.unsafe(statusSql[status] as string)}`,
    billingRuleId === null
      ? sql``
      : sql`and (billing_rule_id = ${billingRuleId} or ${billingRuleId}::bigint = any(given_rule_ids))`,
    siteId === null
      ? sql``
      : sql`and id in (select change_id from price_change_site where ${ofApplications(sql, appIds)} and site_id = ${siteId})`,
    // An undo is younger than what it undoes.
    undoOf === null ? sql`` : sql`and undo_of in ${sql(undoOf)} and id > ${Math.min(...undoOf)}`,
    effective.from === null ? sql`` : sql`and effective_at >= ${effective.from}`,
    effective.before === null ? sql`` : sql`and effective_at < ${effective.before}`,
  ]
  const rows = sql`
    select ${sql.unsafe(columnsSql)}, ${sql.unsafe(nowSql)} as now from price_change
    where ${ofApplications(sql, appIds)} ${conditions}`
  const isAcross = appIds?.length !== 1
  const source = { operation: pagePriceChanges.id, rows, key: byMoment, newestFirst: true, isAcross }
  const uncertain = new Set<PriceChangeRecord>()
  const page = await readPage(sql, source, filter, (row) => {
    const change = toChange(row)
    const record = showPriceChange(change, row.now, showMoment)
    const isOpen = change.appliedAt === null && change.cancelledAt === null
    if (isOpen && record.status === priceChangeStatus.inForce) uncertain.add(record)
    return record
  })
  for (const [place, record] of page.list.entries()) {
    if (!uncertain.has(record)) continue
    page.list[place] = await requirePriceChange(sql, [record.appId], record.id, showMoment)
  }
  return page
}
