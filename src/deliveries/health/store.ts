import type { Config } from '../../config.ts'
import type { Sql } from '../../database/open.ts'
import type { EventType } from '../../vocabulary/event-types.ts'
import { showMoment } from '../../vocabulary/moments.ts'
import { statuses } from '../rules.ts'
import { findMissed } from '../stops/store.ts'
import { callbacksNow, findWaiting, isOfEventSql, ofEventsSql } from '../store.ts'
import { attemptErrorOf, type CallbackHealth, mostFailures, mostLookedAt } from './contract.ts'

interface Endpoint {
  hasUrl: boolean
  isStopped: boolean
  failures: number
  heldUntil: Date | null
  failingSince: Date | null
  failingReason: string | null
}

async function findEndpoint(sql: Sql, appId: string): Promise<Endpoint> {
  const [row] = await sql`
    select stopped_at is not null as stopped, failures, case when held_until > now() then held_until end as held_until,
      failing_since, failing_reason
    from callback_endpoint where app_id = ${appId}`
  return {
    hasUrl: row !== undefined,
    isStopped: row?.stopped ?? false,
    failures: row?.failures ?? 0,
    heldUntil: row?.held_until ?? null,
    failingSince: row?.failing_since ?? null,
    failingReason: row?.failing_reason ?? null,
  }
}

function stateOf(
  { hasUrl, isStopped, heldUntil, failures }: Endpoint,
  callbacks: 'on' | 'paused',
): CallbackHealth['state'] {
  if (!hasUrl) return 'off'
  if (isStopped) return 'stopped'
  if (callbacks === 'paused') return 'paused'
  if (heldUntil !== null) return 'held'
  return failures > 0 ? 'failing' : 'delivering'
}

/** Of the newest deliveries only. Counts by the attempt log, because a replay resets a delivery, but not its log. */
async function countAttempts(sql: Sql, appId: string) {
  const within = (age: string) => sql`created_at > now() - ${age}::interval`
  const [row] = await sql`
    select max(taken_at) as taken_at,
      coalesce(sum(attempts) filter (where ${within('1 hour')}), 0)::int as hour,
      coalesce(sum(failed) filter (where ${within('1 hour')}), 0)::int as hour_failed,
      coalesce(sum(attempts) filter (where ${within('1 day')}), 0)::int as day,
      coalesce(sum(failed) filter (where ${within('1 day')}), 0)::int as day_failed,
      case when count(*) filter (where ${within('1 day')}) = ${mostLookedAt} then min(created_at) end as counted_from
    from (
      select created_at, attempt_log from delivery
      where app_id = ${appId} and ${sql.unsafe(isOfEventSql)} order by created_at desc limit ${mostLookedAt}) d
      cross join lateral (
        select count(*) as attempts, count(a->>'error') as failed,
          max((a->>'time')::timestamptz) filter (where a->>'error' is null) as taken_at
        from json_array_elements(attempt_log::json) a) l`
  const show = (instant: Date | null) => (instant === null ? null : showMoment(instant))
  return {
    lastSuccessTime: show(row?.taken_at),
    lastHour: { attempts: row?.hour, failed: row?.hour_failed },
    lastDay: { attempts: row?.day, failed: row?.day_failed },
    countedFrom: show(row?.counted_from),
  }
}

const undeliveredSql = (status: number) => `
  (select status, response_status, error, event_time from delivery
  where app_id = $1 and ${ofEventsSql(status)} order by id desc limit ${mostLookedAt})`

async function groupFailures(sql: Sql, appId: string) {
  const rows = await sql.unsafe(
    `select response_status, error, count(*) filter (where status = ${statuses.waiting})::int as waiting,
      count(*) filter (where status = ${statuses.dead})::int as dead, min(event_time) as first, max(event_time) as last
    from (${undeliveredSql(statuses.waiting)} union all ${undeliveredSql(statuses.dead)}) d
    group by response_status, error order by count(*) desc, error, response_status`,
    [appId],
  )
  const sum = (member: 'waiting' | 'dead') => rows.reduce((total, row) => total + row[member], 0)
  const failed = rows.filter(({ error }) => error !== null).slice(0, mostFailures)
  return {
    waitingRetries: sum('waiting'),
    dead: sum('dead'),
    failures: failed.map(({ error, response_status: responseStatus, waiting, dead, first, last }) => ({
      error: attemptErrorOf(error),
      reason: error,
      responseStatus,
      waiting,
      dead,
      timeFrom: showMoment(first),
      timeTo: showMoment(last),
    })),
  }
}

/** Deliveries may have been removed since the first configuration: it is then unknown whether any succeeded. */
async function mayLackDeliveries(sql: Sql, appId: string, deliveryDays: number): Promise<boolean> {
  const type: EventType = 'thirdPartyConfig.saved'
  const [first] = await sql`
    select time < now() - ${deliveryDays} * interval '1 day' as is_old from event
    where app_id = ${appId} and type = ${type} order by id limit 1`
  return first === undefined || first.is_old
}

async function oldestRetry(sql: Sql, appId: string): Promise<Date | null> {
  const [row] = await sql.unsafe(
    `select event_time from delivery where app_id = $1 and ${ofEventsSql(statuses.waiting)} order by id limit 1`,
    [appId],
  )
  return row?.event_time ?? null
}

export async function readCallbackHealth(
  sql: Sql,
  appId: string,
  { callbacks: setting, deliveryDays }: Pick<Config, 'callbacks' | 'deliveryDays'>,
): Promise<CallbackHealth> {
  const endpoint = await findEndpoint(sql, appId)
  const callbacks = await callbacksNow(sql, setting)
  const attempts = await countAttempts(sql, appId)
  const undelivered = await groupFailures(sql, appId)
  const { waitingEvents, waitingSince } = await findWaiting(sql, [appId])
  const missed = await findMissed(sql, appId, { from: null, before: null })
  const retrySince = await oldestRetry(sql, appId)
  const { heldUntil, failingSince, failingReason } = endpoint
  // So many undelivered ones may hide a success before them.
  const isKnown = undelivered.waitingRetries + undelivered.dead < mostLookedAt
  const hasSucceeded =
    attempts.lastSuccessTime !== null || !isKnown || (await mayLackDeliveries(sql, appId, deliveryDays))
  const show = (instant: Date | null) => (instant === null ? null : showMoment(instant))
  return {
    appId,
    state: stateOf(endpoint, callbacks),
    callbacks,
    heldUntil: show(heldUntil),
    failingSince: show(failingSince),
    failingReason,
    hasSucceeded: endpoint.hasUrl && hasSucceeded,
    ...attempts,
    ...undelivered,
    ...missed,
    waitingEvents: waitingEvents ?? 0,
    // A delivery that waits for a retry is older than any queued event.
    waitingSince: show(retrySince) ?? waitingSince,
  }
}
