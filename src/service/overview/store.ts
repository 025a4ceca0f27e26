import { tryLock } from '../../database/advisory-lock.ts'
import type { Sql, Statements } from '../../database/open.ts'
import { failuresUntilHeld, statuses } from '../../deliveries/rules.ts'
import { readBacklog } from '../../deliveries/store.ts'
import type { ShowMoment } from '../../vocabulary/moments.ts'
import type { Counts, Trouble } from './contract.ts'

/** Counting ten million devices takes some seconds. */
export const countTimeoutMs = 60_000
const mostDeliveries = 100_000

/** SQL: an endpoint that has failed so often in a row that it is left alone between attempts. */
const isFailing = `(e.stopped_at is null and e.failures >= ${failuresUntilHeld})`

export interface LastCount {
  counts: Counts
  /** The troubles, with their instants as JSON holds them. */
  troubles: Trouble[]
  countedAt: Date
}

/** The last count of any process; undefined before the first. */
export async function findCount(sql: Statements): Promise<LastCount | undefined> {
  const [row] = await sql`select counts, counted_at from platform_count`
  return row === undefined ? undefined : { ...row.counts, countedAt: row.counted_at }
}

/** Counts everything in the caller's transaction, unless another process does so or the last count is younger. */
export async function refreshCount(tx: Statements, minutes = 0): Promise<void> {
  if (!(await tryLock(tx, 'overview'))) return
  const [last] = await tx`
    select 1 from platform_count where counted_at > now() - ${minutes} * interval '1 minute'`
  if (last !== undefined) return
  await tx.unsafe(`set local statement_timeout = ${countTimeoutMs}`)
  const deliveries = (status: number) =>
    `(select count(*)::int from (select 1 from delivery where status = ${status} limit ${mostDeliveries}) d)`
  const [counts] = await tx.unsafe(`
    select (select count(*)::int from site) as sites, devices, "devicesOnline",
      (select count(*)::int from device where status <> 1) as "devicesFaulty",
      applications, "applicationsOffline", "applicationsFrozen",
      ${deliveries(statuses.waiting)} as "callbacksWaiting", ${deliveries(statuses.dead)} as "callbacksDead",
      (select count(*)::int from callback_endpoint where stopped_at is null and held_until > now()) as "callbacksHeld",
      (select count(*)::int from callback_endpoint where stopped_at is not null) as "callbacksStopped"
    from (
      select count(*)::int as devices, (count(*) filter (where online_status = 1))::int as "devicesOnline" from device) d,
      (select count(*)::int as applications,
        (count(*) filter (where online_status = 2))::int as "applicationsOffline",
        (count(*) filter (where status = 2))::int as "applicationsFrozen" from application) a`)
  const { on, held } = await readBacklog(tx)
  const troubles = await tx.unsafe(`
    with faulty as (select app_id, count(*)::int as count from device where status <> 1 group by app_id),
    dead as (select app_id, count(*)::int as count from delivery where status = ${statuses.dead} group by app_id)
    select a.app_id as "appId", app_name as "appName", coalesce(f.count, 0) as "devicesFaulty",
      coalesce(d.count, 0) as "callbacksDead", e.stopped_at is not null as "isCallbackStopped",
      case when ${isFailing} then e.failing_since end as "callbackFailingSince",
      case when ${isFailing} then e.failing_reason end as "callbackFailingReason"
    from application a left join faulty f using (app_id) left join dead d using (app_id)
      left join callback_endpoint e using (app_id)
    where f.count > 0 or d.count > 0 or e.stopped_at is not null or ${isFailing}
    order by (e.stopped_at is not null or ${isFailing}) is true desc, coalesce(d.count, 0) + coalesce(f.count, 0) desc, a.app_id limit 10`)
  const text = JSON.stringify({ counts: { ...counts, eventsWaiting: on + held }, troubles })
  await tx`
    insert into platform_count (counts, counted_at) values (${text}::text::json, now())
    on conflict (only_row) do update set counts = excluded.counts, counted_at = excluded.counted_at`
}

/** Adds the counts of one process since its last call. */
export async function addToMinute(sql: Statements, creates: number, refusals: number): Promise<void> {
  await sql`
    insert into minute_figures (minute, creates, refusals) values (date_trunc('minute', now()), ${creates}, ${refusals})
    on conflict (minute) do update set creates = minute_figures.creates + excluded.creates,
      refusals = minute_figures.refusals + excluded.refusals`
}

export async function lastDay(sql: Sql, showMoment: ShowMoment) {
  const rows = await sql`
    select minute, creates, refusals from minute_figures where minute > now() - interval '24 hours' order by minute`
  return rows.map((row) => ({ time: showMoment(row.minute), creates: row.creates, refusals: row.refusals }))
}

/** Removes, at most `limit`, minutes that no chart shows any more. */
export async function deleteOldMinutes(sql: Statements, limit: number): Promise<number> {
  const deleted = await sql`
    delete from minute_figures where minute in (
      select minute from minute_figures where minute < now() - interval '48 hours' limit ${limit})`
  return deleted.count
}
