import { lowestEventId } from '../../database/application-lock.ts'
import type { Sql, Statements } from '../../database/open.ts'
import type { Pruned } from '../../database/prune.ts'
import { eventsBetweenSql, historySql } from '../../events/history/store.ts'
import { idAfterEventsBefore } from '../../events/store.ts'
import { showMoment, type TimeRange } from '../../vocabulary/moments.ts'
import { mostMissedLookedAt } from '../contract.ts'

// Events created while an endpoint is disabled (410) get no delivery, and it passes over them when it is enabled: only
// a replay sends them. `callback_stop` remembers which they are.

const mostStops = 10
const endOfIds = Number.MAX_SAFE_INTEGER

/** Does nothing if the endpoint is not disabled or misses nothing. `newestId` is the application's newest event. */
export async function noteStop(tx: Statements, appId: string, newestId: number): Promise<void> {
  // Locked, so that no worker disables the endpoint after this look.
  const [endpoint] = await tx`
    select through_event_id, stopped_at from callback_endpoint where app_id = ${appId} for update`
  if (endpoint === undefined || endpoint.stopped_at === null || newestId <= endpoint.through_event_id) return
  await tx`
    insert into callback_stop (app_id, after_id, through_id, lifted_at)
    values (${appId}, ${endpoint.through_event_id}, ${newestId}, now())
    on conflict (app_id, through_id) do nothing`
  await tx`
    delete from callback_stop where app_id = ${appId} and through_id < (
      select through_id from callback_stop where app_id = ${appId}
      order by through_id desc limit 1 offset ${mostStops - 1})`
}

/** A look-up for each event, not a join. */
const hasNoDeliverySql = '(select d.id from delivery d where d.app_id = $1 and d.id = v.id) is null'

export function eventsOfStops(tx: Statements, appId: string, firstId: number, lastId: number) {
  return tx`
    select c.app_id, v.id, v.type, v.time
    from third_party_config c cross join (
        select greatest(after_id, ${firstId}::bigint - 1) as after_id, least(through_id, ${lastId}::bigint) as through_id
        from callback_stop where app_id = ${appId}) s
      cross join lateral (
        select * from ${tx.unsafe(historySql)} where app_id = ${appId} and id > s.after_id and id <= s.through_id) v
    where c.app_id = ${appId} and v.type = any(c.callback_events)
      and (select d.id from delivery d where d.app_id = ${appId} and d.id = v.id) is null`
}

/** Moves each outage's beginning to its first missed event, so that no read looks again at what a replay has sent. */
export async function trimStops(tx: Statements, appId: string): Promise<void> {
  const stops = await tx<{ after: number; through: number }[]>`
    select after_id as after, through_id as through from callback_stop where app_id = ${appId}`
  for (const { after, through } of stops) {
    const events = eventsBetweenSql('$1', '$2', '$3', String(mostMissedLookedAt))
    const [found] = await tx.unsafe(
      `select coalesce(
          (select v.id - 1 from third_party_config c cross join (select * from ${events}) v
          where c.app_id = $1 and v.type = any(c.callback_events) and ${hasNoDeliverySql} order by v.id limit 1),
          (select case when count(*) = ${mostMissedLookedAt} then max(v.id) end from (select * from ${events}) v),
          $3::bigint) as after`,
      [appId, after, through],
    )
    if (found?.after >= through) await tx`delete from callback_stop where app_id = ${appId} and through_id = ${through}`
    else {
      await tx`update callback_stop set after_id = ${found?.after} where app_id = ${appId} and through_id = ${through}`
    }
  }
}

export interface Missed {
  missedEvents: number
  missedIsExact: boolean
  missedFrom: string | null
  missedTo: string | null
}

/** Also counts an outage that lasts. Looks at a bounded number of events of each one. */
export async function findMissed(sql: Sql, appId: string, { from, before }: TimeRange): Promise<Missed> {
  const stops = await sql<{ after: number; through: number }[]>`
    select after_id as after, through_id as through from callback_stop where app_id = ${appId}
    union all
    select through_event_id, ${endOfIds}::bigint from callback_endpoint
    where app_id = ${appId} and stopped_at is not null`
  const missed = { count: 0, isExact: true, times: [] as Date[] }
  if (stops.length > 0) {
    const firstId = from === null ? 0 : lowestEventId(from)
    const lastId = before === null ? endOfIds : await idAfterEventsBefore(sql, appId, before)
    for (const { after, through } of stops) {
      // A statement for each, so that the planner knows where its events are.
      const [found] = await sql.unsafe(
        `select count(*)::int as looked, count(*) filter (where m)::int as missed, min(time) filter (where m) as first,
          max(time) filter (where m) as last
        from (
          select v.time, v.type = any(c.callback_events) and v.time >= coalesce($4::timestamptz, '-infinity')
            and v.time < coalesce($5::timestamptz, 'infinity') and ${hasNoDeliverySql} as m
          from third_party_config c
            cross join (select * from ${eventsBetweenSql('$1', '$2', '$3', String(mostMissedLookedAt))}) v
          where c.app_id = $1) e`,
        [appId, Math.max(after, firstId - 1), Math.min(through, lastId), from, before],
      )
      missed.count += found?.missed
      missed.isExact &&= found?.looked < mostMissedLookedAt
      if (found?.missed > 0) missed.times.push(found?.first, found?.last)
    }
  }
  const times = missed.times.map(Number)
  const show = (time: number) => (times.length === 0 ? null : showMoment(new Date(time)))
  return {
    missedEvents: missed.count,
    missedIsExact: missed.isExact,
    missedFrom: show(Math.min(...times)),
    missedTo: show(Math.max(...times)),
  }
}

export const oldStops = (days: number): Pruned => ({
  table: 'callback_stop',
  key: 'app_id, through_id',
  isOld: `lifted_at < now() - interval '${days} days'`,
  rests: true,
})
