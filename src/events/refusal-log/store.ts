import { takeLock } from '../../database/advisory-lock.ts'
import type { Sql, Statements } from '../../database/open.ts'
import {
  byId,
  folded,
  ofApplications,
  type PageKey,
  type PageQuery,
  readPage,
  readSort,
  type SortQuery,
} from '../../database/page.ts'
import type { Pruned } from '../../database/prune.ts'
import { textArray } from '../../database/routine.ts'
import type { Filters } from '../../vocabulary/filters.ts'
import { limits } from '../../vocabulary/limits.ts'
import { showMoment } from '../../vocabulary/moments.ts'
import { type FieldFault, type Reason, type RefusalName, refusals } from '../../vocabulary/refusals.ts'
import { readActor } from '../rules.ts'
import { pageRefusals, type RefusalRecord } from './contract.ts'
import { type LoggedRefusal, ofNoApplication } from './refusal-record.ts'

const minuteMs = 60_000

/** Stores refusals up to their limits. One process at a time counts and adds them, so that the limits hold. */
export async function storeRefusals(tx: Statements, batch: readonly LoggedRefusal[]): Promise<void> {
  await takeLock(tx, 'refusal log')
  const named = [...new Set(batch.map(({ appId }) => appId))]
  const existing = await tx`select app_id from application where app_id = any(${textArray(named)}::text[])`
  const known = new Set([ofNoApplication, ...existing.map(({ app_id: appId }) => appId)])
  // An operator's refusal with an unknown application is stored under none.
  const placed = batch.map((refusal) => (known.has(refusal.appId) ? refusal : { ...refusal, appId: ofNoApplication }))
  const shown = new Map<number, number>()
  const count = (time: Date, by: 1 | -1) => {
    const minute = Math.floor(time.getTime() / minuteMs)
    shown.set(minute, (shown.get(minute) ?? 0) + by)
  }
  for (const appId of new Set(placed.map((refusal) => refusal.appId))) {
    const own = placed.filter((refusal) => refusal.appId === appId)
    const minute = new Date(Math.min(...own.map(({ time }) => time.getTime())))
    minute.setUTCSeconds(0, 0)
    const [kept] = await tx<[{ count: number }]>`
      select count(*)::int as count from refusal where app_id = ${appId} and time >= ${minute}`
    const rows = own.slice(0, Math.max(0, limits.refusalsAMinute - kept.count))
    if (rows.length === 0) continue
    for (const { time } of rows) count(time, 1)
    for (const time of await insertRefusals(tx, appId, rows)) count(time, -1)
  }
  await changeMinutes(tx, shown)
}

/**
 * Changes the chart's minutes to count the refusals in the log. A minute without a row is not lowered: it was never
 * counted, or was pruned.
 */
async function changeMinutes(tx: Statements, changes: ReadonlyMap<number, number>): Promise<void> {
  const rows = [...changes].filter(([, by]) => by !== 0).sort(([a], [b]) => a - b)
  const given = (some: typeof rows) =>
    tx`(select to_timestamp(m * 60) as minute, by from unnest(${textArray(some.map(([minute]) => String(minute)))}::bigint[],
      ${textArray(some.map(([, by]) => String(by)))}::int[]) as u (m, by) order by m)`
  const more = rows.filter(([, by]) => by > 0)
  if (more.length > 0) {
    await tx`
      insert into minute_figures (minute, creates, refusals) select g.minute, 0, g.by from ${given(more)} as g
      on conflict (minute) do update set refusals = minute_figures.refusals + excluded.refusals`
  }
  const fewer = rows.filter(([, by]) => by < 0)
  if (fewer.length > 0) {
    await tx`
      update minute_figures f set refusals = greatest(0, f.refusals + g.by) from ${given(fewer)} as g
      where f.minute = g.minute and f.minute > now() - interval '1 day'`
  }
}

/** Stores refusals. Returns the times of older ones that the limit removed. */
async function insertRefusals(tx: Statements, appId: string, rows: readonly LoggedRefusal[]): Promise<Date[]> {
  const values = rows.map(({ time, requestId, operation, code, subject, actor, errors }) => ({
    ...{ app_id: appId, time, request_id: requestId, operation, code, subject, actor },
    errors: errors === null ? null : JSON.stringify(errors),
  }))
  await tx`insert into refusal ${tx(values)}`
  const gone = await tx<{ time: Date }[]>`
    delete from refusal where app_id = ${appId} and id <= (
      select id from refusal where app_id = ${appId} order by id desc limit 1 offset ${limits.refusalsOfOne})
    returning time`
  return gone.map(({ time }) => time)
}

export const oldRefusals = (days: number): Pruned => ({
  table: 'refusal',
  key: 'id',
  isOld: `time < now() - interval '${days} days'`,
  byAge: { column: 'time', noApplication: ofNoApplication },
  rests: true,
})

export type RefusalFilter = Filters<typeof pageRefusals.query> & {
  /** Null for all applications. */
  appIds: readonly string[] | null
}

/** Ids are drawn when refusals are stored, so they are not quite in the order of time. */
const byTime: PageKey = [{ column: 'time', type: 'timestamptz' }, ...byId]

export function pageOfRefusals(
  sql: Sql,
  filter: RefusalFilter,
  query: PageQuery & SortQuery<'time'>,
  language: keyof Reason,
) {
  const { appIds, time, code, operation, deviceNo, subject, requestId } = filter
  const part = (value: string) => sql`strpos(${sql.unsafe(folded('subject', value))}, ${value.toLowerCase()}) > 0`
  const conditions = [
    time.from === null ? sql`` : sql`and time >= ${time.from}`,
    time.before === null ? sql`` : sql`and time < ${time.before}`,
    code === null ? sql`` : sql`and code = ${code}`,
    operation === null ? sql`` : sql`and operation = ${operation}`,
    // Only operations on devices, because sites and rules have subjects too.
    deviceNo === null ? sql`` : sql`and ${part(deviceNo)} and strpos(operation, 'Device') > 0`,
    subject === null ? sql`` : sql`and subject = ${subject}`,
    requestId === null ? sql`` : sql`and request_id = ${requestId}`,
  ]
  // An expression for several applications, because the time index would lead through everybody's refusals.
  const shownTime = appIds !== null && appIds.length > 1 ? sql`time + interval '0' as time` : sql`time`
  const rows = sql`
    select app_id, id, ${shownTime}, request_id, operation, code, subject, actor, errors from refusal
    where ${ofApplications(sql, appIds)} ${conditions}`
  const sort = readSort(query)
  const order =
    sort === null
      ? { key: byId, newestFirst: true, isAcross: appIds?.length !== 1 }
      : { key: byTime, newestFirst: sort.isDescending }
  const source = { operation: pageRefusals.id, rows, ...order }
  return readPage(sql, source, { ...query, ...filter }, (row): RefusalRecord => {
    const errors: FieldFault[] | null = JSON.parse(row.errors ?? 'null')
    return {
      time: showMoment(row.time),
      requestId: row.request_id,
      appId: row.app_id === ofNoApplication ? null : row.app_id,
      operation: row.operation,
      code: row.code,
      name: nameOf(row.code),
      errors: errors?.map(({ field, reason }) => ({ field, reason: reason[language] })) ?? null,
      subject: row.subject,
      actor: readActor(row.actor).actor,
    }
  })
}

const names = new Map(Object.entries(refusals).map(([name, { code }]) => [code as number, name as RefusalName]))

/** Returns a code's name. Another version of the service may have logged a code without a name here. */
function nameOf(code: number): RefusalName {
  return names.get(code) ?? 'internalFault'
}
