import type { Row } from 'postgres'
import type { Sql, Statements } from '../database/open.ts'
import { type PageQuery, readPage } from '../database/page.ts'
import { invalidRequest, Refusal } from '../refusals.ts'
import { type DeliveryRecord, maxReplayed, replayTimeoutMs, testType } from './contract.ts'
import { type LoggedAttempt, statuses } from './rules.ts'

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

const columns = `app_id, id, type, status, attempts, next_attempt_at, created_at, finished_at, response_status, error,
  response, duration_ms, attempt_log`

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
export function showDelivery(delivery: Delivery, showMoment: (instant: Date) => string): DeliveryRecord {
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
    nextAttemptTime: show(delivery.nextAttemptAt),
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
}

export function pageOfDeliveries(sql: Sql, filter: DeliveryFilter, showMoment: (instant: Date) => string) {
  const { appId, status, type, eventId, createdFrom, createdTo } = filter
  const conditions = [
    // As a literal, so that every plan can use the indexes of those that are not delivered.
    status === null ? sql`` : sql.unsafe(`and status = ${status}`),
    type === null ? sql`` : sql`and type = ${type}`,
    eventId === null ? sql`` : sql`and id = ${eventId} and type <> ${testType}`,
    createdFrom === null ? sql`` : sql`and created_at >= ${createdFrom}`,
    createdTo === null ? sql`` : sql`and created_at <= ${createdTo}`,
  ]
  const rows = sql`select ${sql.unsafe(columns)} from delivery where app_id = ${appId} ${conditions}`
  const key = [{ column: 'id', type: 'bigint' as const }]
  return readPage(sql, { rows, key, newestFirst: true }, filter, (row) => showDelivery(toDelivery(row), showMoment))
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

/** An id for a delivery that has no event, from the events' own numbers. */
export async function drawTestId(sql: Sql): Promise<number> {
  const [row] = await sql<[{ id: number }]>`select nextval('event_id') as id`
  return row.id
}

/** Keeps a test that has been sent, with what it sent. */
export async function insertTest(sql: Sql, delivery: Delivery, payload: string): Promise<void> {
  await sql`
    insert into delivery (${sql.unsafe(columns)}, payload)
    values (${delivery.appId}, ${delivery.id}, ${delivery.type}, ${delivery.status}, ${delivery.attempts},
      ${delivery.nextAttemptAt}, ${delivery.createdAt}, ${delivery.finishedAt}, ${delivery.responseStatus},
      ${delivery.error}, ${delivery.response}, ${delivery.durationMs}, ${JSON.stringify(delivery.attemptLog)},
      ${payload})`
}

/**
 * Locks the endpoint of an application, so that its worker writes nothing meanwhile, and answers how far it has followed
 * the log: what comes after is sent anyway. Throws 10042.
 */
async function requireLockedEndpoint(tx: Statements, appId: string): Promise<number> {
  const [row] = await tx`select through_event_id, stopped_at from callback_endpoint where app_id = ${appId} for update`
  // What is set due for an endpoint that has stopped would only wait, and look as if it had been sent.
  if (row === undefined || row.stopped_at !== null) throw new Refusal('callbackMissing')
  return row.through_event_id
}

/** Sets a delivery waiting and due now, with its attempts counted anew. Throws 10041 and 10042. */
export async function replayOne(tx: Statements, appId: string, id: number): Promise<number> {
  await requireLockedEndpoint(tx, appId)
  const replayed = await tx`
    update delivery set ${tx.unsafe(dueNow)} where app_id = ${appId} and id = ${id}`
  if (replayed.count === 0) throw new Refusal('deliveryNotFound')
  return 1
}

const dueNow = `status = ${statuses.waiting}, attempts = 0, next_attempt_at = now(), finished_at = null`

export interface ReplayRange {
  appId: string
  from: Date
  to: Date
  /** Ids around the range. */
  firstId: number
  lastId: number
  /** Only deliveries that are in this state. */
  status: number | null
}

/**
 * The same for every event of a time range that the callback asks for now, whether it had a delivery or not. Throws
 * 10001 when there are too many.
 */
export async function replayRange(tx: Statements, range: ReplayRange): Promise<number> {
  const { appId, from, to, firstId, lastId, status } = range
  await tx.unsafe(`set local statement_timeout = ${replayTimeoutMs}`)
  const through = await requireLockedEndpoint(tx, appId)
  const wanted = tx`
    select v.id, v.type from third_party_config c join event v using (app_id)
    where c.app_id = ${appId} and v.app_id = ${appId} and v.type = any(c.callback_events)
      and v.id between ${firstId} and ${Math.min(lastId, through)} and v.time between ${from} and ${to}
      ${status === null ? tx`` : tx`and exists (select from delivery d where d.app_id = ${appId} and d.id = v.id and d.status = ${status})`}`
  const [counted] = await tx`select count(*)::int as count from (select from (${wanted}) w limit ${maxReplayed + 1}) w`
  if (counted?.count > maxReplayed) {
    const reason = {
      en: `holds more than ${maxReplayed} events; replay a shorter range`,
      zh: `包含超过 ${maxReplayed} 个事件；请缩短时间范围`,
    }
    throw invalidRequest([{ field: 'to', reason }])
  }
  const replayed = await tx`
    insert into delivery (app_id, id, type, status, attempts, next_attempt_at, created_at, attempt_log)
    select ${appId}, id, type, ${statuses.waiting}, 0, now(), now(), '[]' from (${wanted}) w
    on conflict (app_id, id) do update set ${tx.unsafe(dueNow)}`
  return replayed.count
}

/** How many deliveries wait and how many are dead, each counted to 100,000. */
export async function countDeliveries(sql: Sql): Promise<{ state: string; count: number }[]> {
  const count = (status: number) => sql`
    (select count(*)::int from (select from delivery where ${sql.unsafe(`status = ${status}`)} limit 100000) d)`
  const [row] = await sql<[{ waiting: number; dead: number }]>`
    select ${count(statuses.waiting)} as waiting, ${count(statuses.dead)} as dead`
  return [
    { state: 'waiting', count: row.waiting },
    { state: 'dead', count: row.dead },
  ]
}

/** For how long the oldest event has waited for its first attempt, in seconds. */
export async function lagSeconds(sql: Sql): Promise<number> {
  const [row] = await sql<[{ lag: number | null }]>`
    select extract(epoch from now() - min(v.time))::float8 as lag
    from callback_endpoint e cross join lateral (
      select time from event where app_id = e.app_id and id > e.through_event_id order by id limit 1) v
    where e.stopped_at is null`
  return Math.max(0, row.lag ?? 0)
}

/** Removes, at most `limit`, deliveries that were made so long ago; one that still waits goes when it is long overdue. */
export async function deleteOldDeliveries(sql: Statements, limit: number, days: number): Promise<number> {
  const deleted = await sql`
    with bound as (select now() - ${days} * interval '1 day' as time),
    old as (
      select d.app_id, d.id from application a cross join bound cross join lateral (
        select app_id, id from delivery
        where app_id = a.app_id and created_at < bound.time and (status <> 1 or next_attempt_at < bound.time)
        order by created_at limit ${limit}) d
      limit ${limit})
    delete from delivery d using old where d.app_id = old.app_id and d.id = old.id`
  return deleted.count
}
