import type { Row } from 'postgres'
import type { Sql, Statements } from '../database/open.ts'
import { type PageQuery, readPage } from '../database/page.ts'
import type { ShowMoment } from '../moments.ts'
import { type DeliveryRecord, testType } from './contract.ts'
import { type LoggedAttempt, statuses } from './rules.ts'

const countedWaiting = 10_000

export interface Delivery {
  appId: string
  id: number
  type: string
  status: number
  attempts: number
  nextAttemptAt: Date | null
  createdAt: Date
  finishedAt: Date | null
  responseStatus: number | null
  error: string | null
  response: string | null
  durationMs: number | null
  attemptLog: LoggedAttempt[]
}

const settledColumns = `app_id, id, type, status, attempts, created_at, finished_at, response_status, error, response,
  duration_ms, attempt_log`

function toDelivery(row: Row): Delivery {
  return {
    appId: row.app_id,
    id: row.id,
    type: row.type,
    status: row.status,
    attempts: row.attempts,
    nextAttemptAt: row.next_attempt_at,
    createdAt: row.created_at,
    finishedAt: row.finished_at,
    responseStatus: row.response_status,
    error: row.error,
    response: row.response,
    durationMs: row.duration_ms,
    attemptLog: JSON.parse(row.attempt_log),
  }
}

/** The delivery as its operations answer it. */
export function showDelivery(delivery: Delivery, showMoment: ShowMoment): DeliveryRecord {
  const show = (instant: Date | null) => (instant === null ? null : showMoment(instant))
  const { appId, id, type, status, attempts, responseStatus, error, response, durationMs } = delivery
  return {
    id,
    eventId: type === testType ? null : id,
    appId,
    type,
    status,
    attempts,
    createTime: showMoment(delivery.createdAt),
    // The next whole second: it is never shown as if it were past.
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

/** A filter of deliveries; what is null does not narrow it. */
export interface DeliveryFilter extends PageQuery {
  appId: string
  status: number | null
  type: string | null
  eventId: number | null
  createdFrom: Date | null
  createdTo: Date | null
  /** No attempt has a time while nothing is sent. */
  isPaused: boolean
}

export function pageOfDeliveries(sql: Sql, filter: DeliveryFilter, showMoment: ShowMoment) {
  const { appId, status, type, eventId, createdFrom, createdTo } = filter
  // Of one that waits: when it is due and nothing is in the way; null when nothing is sent at all.
  const nextAttempt = filter.isPaused
    ? sql`null::timestamptz`
    : sql`(
      select greatest(delivery.next_attempt_at, e.held_until, now()) from callback_endpoint e
      where e.app_id = ${appId} and e.stopped_at is null and delivery.status = ${statuses.waiting})`
  const conditions = [
    // As a literal, so that every plan can use the indexes of those that are not delivered.
    status === null ? sql`` : sql.unsafe(`and status = ${status}`),
    type === null ? sql`` : sql`and type = ${type}`,
    eventId === null ? sql`` : sql`and id = ${eventId} and type <> ${testType}`,
    createdFrom === null ? sql`` : sql`and created_at >= ${createdFrom}`,
    createdTo === null ? sql`` : sql`and created_at <= ${createdTo}`,
  ]
  const rows = sql`
    select ${sql.unsafe(settledColumns)}, ${nextAttempt} as next_attempt_at
    from delivery where app_id = ${appId} ${conditions}`
  const key = [{ column: 'id', type: 'bigint' as const }]
  return readPage(sql, { rows, key, newestFirst: true }, filter, (row) => showDelivery(toDelivery(row), showMoment))
}

/** What an application has before it; events past the first 10,000 are not counted. */
export async function findWaiting(sql: Sql, appId: string, showMoment: ShowMoment) {
  const [row] = await sql`
    select v.count, v.since, case when e.held_until > now() then e.held_until end as held_until
    from callback_endpoint e join third_party_config c using (app_id) cross join lateral (
      select count(*)::int as count, min(w.time) as since from (
        select type, time from event where app_id = ${appId} and id > e.through_event_id order by id limit ${countedWaiting}) w
      where w.type = any(c.callback_events)) v
    where e.app_id = ${appId} and c.app_id = ${appId} and e.stopped_at is null`
  const show = (instant: Date | null | undefined) => (instant ? showMoment(instant) : null)
  return { waitingEvents: row?.count ?? 0, waitingSince: show(row?.since), heldUntil: show(row?.held_until) }
}

/** The callback of an application as it is configured now, its secrets sealed; undefined for none. */
export async function findCallback(
  sql: Statements,
  appId: string,
): Promise<{ url: string; secrets: string[] } | undefined> {
  const [row] = await sql`
    select callback_url, callback_secret,
      case when secret_rotated_at > now() - interval '24 hours' then previous_callback_secret end as previous
    from third_party_config where app_id = ${appId} and callback_url is not null`
  if (row === undefined) return undefined
  return { url: row.callback_url, secrets: [row.callback_secret, ...(row.previous === null ? [] : [row.previous])] }
}

/** Keeps a test that has been sent, with what it sent. */
export async function insertTest(sql: Statements, delivery: Delivery, payload: string): Promise<void> {
  await sql`
    insert into delivery (${sql.unsafe(settledColumns)}, next_attempt_at, payload)
    values (${delivery.appId}, ${delivery.id}, ${delivery.type}, ${delivery.status}, ${delivery.attempts},
      ${delivery.createdAt}, ${delivery.finishedAt}, ${delivery.responseStatus}, ${delivery.error},
      ${delivery.response}, ${delivery.durationMs}, ${JSON.stringify(delivery.attemptLog)}, ${delivery.nextAttemptAt},
      ${payload})`
}

/** How many deliveries wait and how many are dead, each counted to 100,000. */
export async function countDeliveries(sql: Sql): Promise<{ state: string; count: number }[]> {
  const count = (status: number) => sql`
    (select count(*)::int from (select 1 from delivery where ${sql.unsafe(`status = ${status}`)} limit 100000) d)`
  const [row] = await sql<[{ waiting: number; dead: number }]>`
    select ${count(statuses.waiting)} as waiting, ${count(statuses.dead)} as dead`
  return [
    { state: 'waiting', count: row.waiting },
    { state: 'dead', count: row.dead },
  ]
}

/** How many events of all applications wait for their first attempt, counted to 100,000. */
export async function countWaiting(sql: Sql): Promise<number> {
  const [row] = await sql<[{ count: number }]>`
    select count(*)::int as count from (
      select 1 from callback_endpoint e join event v on v.app_id = e.app_id and v.id > e.through_event_id
      where e.stopped_at is null limit 100000) w`
  return row.count
}

/** How many endpoints are sent to, left alone for their failures, and stopped. */
export async function countEndpoints(sql: Sql): Promise<{ state: string; count: number }[]> {
  const [row] = await sql<[Record<'on' | 'held' | 'stopped', number>]>`
    select count(*) filter (where stopped_at is null and held_until <= now())::int as "on",
      count(*) filter (where stopped_at is null and held_until > now())::int as held,
      count(*) filter (where stopped_at is not null)::int as stopped
    from callback_endpoint`
  return Object.entries(row).map(([state, count]) => ({ state, count }))
}

/** How long ago the newest test of an application was sent, in milliseconds; undefined for none. */
export async function sinceTest(sql: Sql, appId: string): Promise<number | undefined> {
  const [row] = await sql<{ ms: number }[]>`
    select extract(epoch from now() - finished_at)::float8 * 1000 as ms from delivery
    where app_id = ${appId} and type = ${testType} order by id desc limit 1`
  return row?.ms
}

/** Endpoints that are looked at together for the event that has waited longest. */
const lookedAtTogether = 100

/** For how long the oldest event has waited for its first attempt, in seconds. */
export async function lagSeconds(sql: Sql): Promise<number> {
  let oldest: { id: number; seconds: number } | undefined
  // The furthest behind first: most often the first few have it, and those that follow are further than that.
  for (let skipped = 0; ; skipped += lookedAtTogether) {
    const behind = await sql<{ app_id: string; through: number }[]>`
      select e.app_id, e.through_event_id as through from callback_endpoint e
      where e.stopped_at is null
        and exists (select 1 from event v where v.app_id = e.app_id and v.id > e.through_event_id)
      order by e.through_event_id limit ${lookedAtTogether} offset ${skipped}`
    const next = await Promise.all(
      behind.map(
        ({ app_id, through }) => sql<{ id: number; seconds: number }[]>`
          select id, extract(epoch from now() - time)::float8 as seconds from event
          where app_id = ${app_id} and id > ${through} order by id limit 1`,
      ),
    )
    for (const event of next.flat()) if (oldest === undefined || event.id < oldest.id) oldest = event
    const last = behind.at(-1)
    if (behind.length < lookedAtTogether || last === undefined || (oldest && oldest.id <= last.through)) break
  }
  return Math.max(0, oldest?.seconds ?? 0)
}

/** Removes, at most `limit`, deliveries that were made so long ago; one that still waits goes when it is long overdue. */
export async function deleteOldDeliveries(sql: Statements, limit: number, days: number): Promise<number> {
  const bound = sql`now() - ${days} * interval '1 day'`
  const isOld = sql`created_at < ${bound} and (status <> ${statuses.waiting} or next_attempt_at < ${bound})`
  const applications = await sql`
    select l.app_id from application_lock l
    where exists (select 1 from delivery d where d.app_id = l.app_id and ${isOld}) limit ${limit}`
  let deleted = 0
  for (const { app_id } of applications) {
    const { count } = await sql`
      delete from delivery where app_id = ${app_id} and id in (
        select id from delivery where app_id = ${app_id} and ${isOld} order by created_at limit ${limit - deleted})`
    deleted += count
    if (deleted === limit) break
  }
  return deleted
}
