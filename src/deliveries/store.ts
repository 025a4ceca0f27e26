import type { Row } from 'postgres'
import type { Sql, Statements } from '../database/open.ts'
import { byId, ofApplications, type PageQuery, readPage } from '../database/page.ts'
import type { Pruned } from '../database/prune.ts'
import { eventsAfterSql, stateType } from '../events/history/store.ts'
import { eventTimeConditions } from '../events/store.ts'
import { showMoment, type TimeRange } from '../vocabulary/moments.ts'
import { Refusal } from '../vocabulary/refusals.ts'
import { type DeliveryRecord, pageDeliveries, testType } from './contract.ts'
import { statuses } from './rules.ts'
import { noteStop } from './stops/store.ts'

const mostWaitingCounted = 10_000
/** For counts of all applications. */
const mostCounted = 100_000

/** Tests count neither as traffic nor as failures of a receiver. */
export const isOfEventSql = `type <> '${testType}'`
/** The status is a literal, so that even a generic plan can use the partial indexes of undelivered rows. */
export const ofEventsSql = (status: number) => `status = ${status} and ${isOfEventSql}`

type Times = 'time' | 'createTime' | 'nextAttemptTime' | 'finishTime'

export interface Delivery extends Omit<DeliveryRecord, 'eventId' | Times> {
  nextAttemptAt: Date | null
  eventTime: Date
  createdAt: Date
  finishedAt: Date | null
}

const deliveryColumnsSql = `app_id, id, type, status, attempts, event_time, created_at, finished_at, response_status, error, response,
  duration_ms, attempt_log`

function toDelivery(row: Row): Delivery {
  return {
    appId: row.app_id,
    id: row.id,
    type: row.type,
    status: row.status,
    attempts: row.attempts,
    nextAttemptAt: row.next_attempt_at,
    eventTime: row.event_time,
    createdAt: row.created_at,
    finishedAt: row.finished_at,
    responseStatus: row.response_status,
    error: row.error,
    response: row.response,
    durationMs: row.duration_ms,
    attemptLog: JSON.parse(row.attempt_log),
  }
}

export function showDelivery(delivery: Delivery): DeliveryRecord {
  const show = (instant: Date | null) => (instant === null ? null : showMoment(instant))
  const { appId, id, type, status, attempts, responseStatus, error, response, durationMs } = delivery
  return {
    id,
    eventId: type === testType ? null : id,
    appId,
    type,
    time: showMoment(delivery.eventTime),
    status,
    attempts,
    createTime: showMoment(delivery.createdAt),
    // Rounded up to a whole second, so that it is never shown as past.
    nextAttemptTime: show(
      delivery.nextAttemptAt && new Date(Math.ceil(delivery.nextAttemptAt.getTime() / 1000) * 1000),
    ),
    finishTime: show(delivery.finishedAt),
    responseStatus,
    error,
    response,
    durationMs,
    attemptLog: delivery.attemptLog.map((attempt) => ({ ...attempt, time: showMoment(new Date(attempt.time)) })),
  }
}

/** Null members match everything. */
export interface DeliveryFilter extends PageQuery {
  appIds: readonly string[] | null
  statuses: readonly number[] | null
  types: readonly string[] | null
  eventId: number | null
  time: TimeRange
}

/** While callbacks are paused, the time of the next attempt is null. */
function shownColumns(sql: Statements, appIds: readonly string[] | null, isPaused: boolean) {
  // A pending delivery is attempted when it is due and its endpoint is not paused.
  const nextAttempt = sql`(
    select greatest(delivery.next_attempt_at, e.held_until, now()) from callback_endpoint e
    where e.app_id = delivery.app_id and ${ofApplications(sql, appIds)} and e.stopped_at is null and delivery.status = ${statuses.waiting}
      and not exists (select 1 from callback_pause))`
  return sql`${sql.unsafe(deliveryColumnsSql)}, ${isPaused ? sql`null::timestamptz` : nextAttempt} as next_attempt_at`
}

export async function requireDelivery(
  sql: Statements,
  appId: string,
  id: number,
  isPaused: boolean,
): Promise<Delivery> {
  const [row] =
    await sql`select ${shownColumns(sql, [appId], isPaused)} from delivery where app_id = ${appId} and id = ${id}`
  if (row === undefined) throw new Refusal('deliveryNotFound')
  return toDelivery(row)
}

export async function pageOfDeliveries(sql: Sql, filter: DeliveryFilter, isPaused: boolean) {
  const { appIds, types, eventId, time } = filter
  const conditions = [
    types === null ? sql`` : sql`and type in ${sql(types)}`,
    eventId === null ? sql`` : sql`and id = ${eventId} and type <> ${testType}`,
    ...(await eventTimeConditions(sql, appIds, 'event_time', time)),
  ]
  const listed = (condition: string) => sql`
    select ${shownColumns(sql, appIds, isPaused)} from delivery
    where ${ofApplications(sql, appIds)} and ${sql.unsafe(condition)} ${conditions}`
  // Literals, so that a generic plan can use the partial index of undelivered rows, in its order for one application.
  const asked = filter.statuses?.map((status) => `status = ${status}`) ?? ['true']
  const [first = 'false', ...others] = asked
  const rowsOfOne = others.reduce((before, other) => sql`${before} union all ${listed(other)}`, listed(first))
  const isAcross = appIds?.length !== 1
  const rows = isAcross ? listed(`(${asked.join(' or ') || first})`) : rowsOfOne
  const source = { operation: pageDeliveries.id, rows, rowsOfOne, key: byId, newestFirst: true, isAcross }
  return readPage(sql, source, filter, (row) => showDelivery(toDelivery(row)))
}

/** Counts up to 10,000; all null for several applications. */
export async function findWaiting(sql: Sql, appIds: readonly string[] | null) {
  const [appId, ...others] = appIds ?? []
  if (appId === undefined || others.length > 0) return { waitingEvents: null, waitingSince: null, heldUntil: null }
  const [endpoint] = await sql`
    select e.through_event_id, c.callback_events::text as types, case when e.held_until > now() then e.held_until end as held_until
    from callback_endpoint e join third_party_config c using (app_id)
    where e.app_id = ${appId} and c.app_id = ${appId} and e.stopped_at is null`
  if (endpoint === undefined) return { waitingEvents: 0, waitingSince: null, heldUntil: null }
  const { through_event_id: through, types, held_until: heldUntil } = endpoint
  // A separate statement, so that the planner knows the value of `through`.
  const [waiting] = await sql.unsafe<[{ count: number; since: Date | null }]>(
    `select count(*)::int as count, min(time) as since
    from ${eventsAfterSql('$1', '$2', String(mostWaitingCounted))} where type = any($3::text[])`,
    [appId, through, types],
  )
  const show = (instant: Date | null) => (instant === null ? null : showMoment(instant))
  return { waitingEvents: waiting.count, waitingSince: show(waiting.since), heldUntil: show(heldUntil) }
}

export async function findCallback(
  sql: Statements,
  appId: string,
): Promise<{ url: string; sealedQuery: string | null; secrets: string[] } | undefined> {
  const [row] = await sql`
    select callback_url, callback_query, callback_secret,
      case when secret_rotated_at > now() - interval '24 hours' then previous_callback_secret end as previous
    from third_party_config where app_id = ${appId} and callback_url is not null`
  if (row === undefined) return undefined
  const { callback_url: url, callback_query: sealedQuery } = row
  return { url, sealedQuery, secrets: [row.callback_secret, ...(row.previous === null ? [] : [row.previous])] }
}

export async function insertTest(sql: Statements, delivery: Delivery, payload: string): Promise<void> {
  await sql`
    insert into delivery (${sql.unsafe(deliveryColumnsSql)}, next_attempt_at, payload)
    values (${delivery.appId}, ${delivery.id}, ${delivery.type}, ${delivery.status}, ${delivery.attempts},
      ${delivery.eventTime}, ${delivery.createdAt}, ${delivery.finishedAt}, ${delivery.responseStatus}, ${delivery.error},
      ${delivery.response}, ${delivery.durationMs}, ${JSON.stringify(delivery.attemptLog)}, ${delivery.nextAttemptAt},
      ${payload})`
}

/** Runs under the application's lock. A new or formerly disabled endpoint gets the events from now on. */
export async function syncEndpoint(tx: Statements, appId: string, hasCallback: boolean): Promise<void> {
  const [newest] = await tx<[{ id: number }]>`select last_event_id as id from event_head where app_id = ${appId}`
  await noteStop(tx, appId, newest.id)
  if (!hasCallback) {
    await tx`delete from callback_endpoint where app_id = ${appId}`
    return
  }
  await tx`
    insert into callback_endpoint as e (app_id, through_event_id) values (${appId}, ${newest.id})
    on conflict (app_id) do update set
      through_event_id = case when e.stopped_at is null then e.through_event_id else excluded.through_event_id end,
      stopped_at = null, stopped_reason = null, failures = 0, held_until = '-infinity', due_at = '-infinity',
      failing_since = null, failing_reason = null`
}

/** Tells whether callbacks are paused, as they are after a restore until an operator resumes them. */
async function hasPause(sql: Statements): Promise<boolean> {
  const [row] = await sql`select 1 from callback_pause`
  return row !== undefined
}

/** Neither this process's setting nor the pause of all processes stops them. */
export async function callbacksNow(sql: Statements, setting: 'on' | 'paused'): Promise<'on' | 'paused'> {
  return setting === 'paused' || (await hasPause(sql)) ? 'paused' : 'on'
}

export async function endPause(sql: Statements): Promise<boolean> {
  return (await sql`delete from callback_pause`).count > 0
}

export interface LockedEndpoint {
  /** The last event that was sent or skipped. */
  through: number
  isStopped: boolean
  /** A replay of a range is under way. */
  isReplaying: boolean
}

/** Under this lock replays run one by one, and the worker writes no outcome; undefined for no endpoint. */
export async function lockEndpoint(tx: Statements, appId: string): Promise<LockedEndpoint | undefined> {
  const [row] = await tx`
    select through_event_id, stopped_at, replay_next_id from callback_endpoint where app_id = ${appId} for update`
  if (row === undefined) return undefined
  return { through: row.through_event_id, isStopped: row.stopped_at !== null, isReplaying: row.replay_next_id !== null }
}

export async function countDeliveries(sql: Sql): Promise<{ waiting: number; dead: number }> {
  const count = (status: number) => sql`
    (select count(*)::int from (select 1 from delivery where ${sql.unsafe(ofEventsSql(status))} limit ${mostCounted}) d)`
  const [row] = await sql<[{ waiting: number; dead: number }]>`
    select ${count(statuses.waiting)} as waiting, ${count(statuses.dead)} as dead`
  return row
}

export interface Backlog {
  /** Endpoints that are sent to, and paused ones; each counted up to 100,000. */
  on: number
  held: number
  lagSeconds: number
}

/** An endpoint without new events costs one index look-up. Those that are furthest behind come first. */
export async function readBacklog(sql: Statements): Promise<Backlog> {
  const waiting = (isHeld: boolean) => sql`
    select v.id from (
      select e.app_id, e.through_event_id, t.type from callback_endpoint e join third_party_config c on c.app_id = e.app_id
        cross join lateral unnest(c.callback_events) as t (type)
      where e.stopped_at is null and (e.held_until > now()) = ${isHeld}
        and exists (select 1 from ${sql.unsafe(eventsAfterSql('e.app_id', 'e.through_event_id', '1'))})
      order by e.through_event_id) b
    cross join lateral (
      -- As a row, which only the index of types can look up: by that of ids everything else would be read too.
      (select w.id from event w
      where w.app_id = b.app_id and w.type = b.type and (w.type, w.id) > (b.type, b.through_event_id)
      order by w.type, w.id limit ${mostCounted})
      union all
      (select c.id from state_change c
      where b.type = ${stateType} and c.app_id = b.app_id and c.id > b.through_event_id
      order by c.id limit ${mostCounted})) v
    limit ${mostCounted}`
  const [row] = await sql<[Backlog]>`
    select o.count as "on", h.count as held,
      -- An id begins with the microsecond of its event.
      coalesce(greatest(0, extract(epoch from now()) - least(o.first, h.first) / 1e6), 0)::float8 as "lagSeconds"
    from (select count(*)::int, min(id) as first from (${waiting(false)}) w) o,
      (select count(*)::int, min(id) as first from (${waiting(true)}) w) h`
  return row
}

export async function countEndpoints(sql: Sql): Promise<Record<'on' | 'held' | 'stopped', number>> {
  const [row] = await sql<[Record<'on' | 'held' | 'stopped', number>]>`
    select count(*) filter (where stopped_at is null and held_until <= now())::int as "on",
      count(*) filter (where stopped_at is null and held_until > now())::int as held,
      count(*) filter (where stopped_at is not null)::int as stopped
    from callback_endpoint`
  return row
}

export async function millisecondsSinceTest(sql: Sql, appId: string): Promise<number | undefined> {
  const [row] = await sql<{ ms: number }[]>`
    select extract(epoch from now() - finished_at)::float8 * 1000 as ms from delivery
    where app_id = ${appId} and type = ${testType} order by id desc limit 1`
  return row?.ms
}

export function oldDeliveries(days: number): Pruned {
  const bound = `now() - interval '${days} days'`
  const isOld = `created_at < ${bound} and (status <> ${statuses.waiting} or next_attempt_at < ${bound})`
  return { table: 'delivery', key: 'id', isOld, byAge: { column: 'created_at' }, rests: true }
}
