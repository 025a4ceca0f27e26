import type { Sql } from '../database/open.ts'
import { textArray } from '../database/routine.ts'
import { statuses } from './rules.ts'

// The worker's SQL. The event log is the queue; an endpoint's row says how far it was followed and who follows it.

/** Longer than an attempt and a failed renewal together. */
export const leaseSeconds = 30

/** An endpoint that this process may send to until its lease ends. */
export interface Claim {
  appId: string
  /** Every event up to this one has been taken. */
  through: number
  /** In a row. */
  failures: number
}

/**
 * Takes endpoints that have something to send and that no process works for; the longest waiting come first. It costs
 * one look-up in an index for each endpoint, some 6 µs, and one or two for each that has deliveries waiting, however
 * many these are: the recursion steps from application to application.
 */
export async function claimEndpoints(sql: Sql, owner: string, limit: number): Promise<Claim[]> {
  const rows = await sql`
    with recursive waiting as (
      (select app_id from delivery where status = 1 order by app_id limit 1)
      union all
      select (select d.app_id from delivery d where d.status = 1 and d.app_id > w.app_id order by d.app_id limit 1)
      from waiting w where w.app_id is not null),
    due as (
      select app_id from waiting w
      where (select true from delivery d
        where d.app_id = w.app_id and d.status = 1 and d.next_attempt_at <= now() limit 1)),
    found as (
      select app_id from callback_endpoint e
      where stopped_at is null and lease_until <= now() and held_until <= now()
        and (app_id in (select app_id from due)
          or (select true from event v where v.app_id = e.app_id and v.id > e.through_event_id limit 1))
      order by lease_until
      limit ${limit}
      for update of e skip locked)
    update callback_endpoint e
    set lease_owner = ${owner}, lease_until = now() + ${leaseSeconds} * interval '1 second'
    from found where e.app_id = found.app_id
    returning e.app_id, e.through_event_id, e.failures`
  return rows.map((row) => ({ appId: row.app_id, through: row.through_event_id, failures: row.failures }))
}

/**
 * Renews leases. Answers those that are still this process's, and whether each was renewed: a row that a request has
 * locked is left for the next time.
 */
export async function renewLeases(sql: Sql, owner: string, appIds: string[]): Promise<Map<string, boolean>> {
  const rows = await sql.unsafe(
    `with ${free('$2::text[]')},
    renewed as (
      update callback_endpoint e set lease_until = now() + $3 * interval '1 second'
      from free where e.app_id = free.app_id returning e.app_id)
    select e.app_id, renewed.app_id is not null as is_renewed
    from callback_endpoint e left join renewed using (app_id)
    where e.lease_owner = $1 and e.app_id = any($2::text[])`,
    [owner, textArray(appIds.map((appId) => appId)), leaseSeconds],
    { prepare: true },
  )
  return new Map(rows.map((row) => [row.app_id as string, row.is_renewed as boolean]))
}

/** The endpoints of a list that are $1's and that no request has locked: one that has must not keep the others. */
function free(list: string): string {
  return `free as materialized (
    select app_id from callback_endpoint where lease_owner = $1 and app_id = any(${list}) for update skip locked)`
}

/** Moves with every event that can be seen: while it stands still, no application has news. */
export async function newsOfEvents(sql: Sql): Promise<string> {
  const [row] = await sql<[{ news: string }]>`select sum(last_event_id)::text as news from event_head`
  return row.news
}

export interface WorkRequest {
  appId: string
  through: number
  /** At most so many events, and as many retries. */
  limit: number
}

/** What is to be sent for one event, or for a delivery that waits for its next attempt. */
export interface Item {
  id: number
  type: string
  time: Date
  /** JSON text; null for an event that the callback does not ask for, and for one that is kept no longer. */
  data: string | null
  isRetry: boolean
  attempts: number
  attemptLog: string
}

export interface Work {
  callbackUrl: string
  /** As the database holds them. */
  secrets: string[]
  /** Which state of the configuration this is. */
  version: string
  /** Due now, the longest waiting first. */
  retries: Item[]
  /** What follows `through`, in order. */
  events: Item[]
}

/** How long a rotated secret is still signed with. */
const previousSecret = `case when c.secret_rotated_at > now() - interval '24 hours' then c.previous_callback_secret end`

const readEndpoints = `
  select e.app_id, c.callback_url, c.callback_secret, ${previousSecret} as previous_secret, c.updated_at::text as version
  from unnest($2::text[]) as r (app_id)
  join callback_endpoint e using (app_id)
  join third_party_config c using (app_id)
  where e.lease_owner = $1 and e.stopped_at is null and c.callback_url is not null`

const readEvents = `
  select v.*
  from unnest($1::text[], $2::text[], $3::text[]) as r (app_id, through, size)
  join third_party_config c using (app_id)
  cross join lateral (
    select v.app_id, v.id, v.type, v.time, case when v.type = any(c.callback_events) then v.data end as data
    from event v where v.app_id = r.app_id and v.id > r.through::bigint order by v.id limit r.size::integer) v
  order by v.id`

const readRetries = `
  select d.*, coalesce(v.time, d.created_at) as time, coalesce(d.payload, v.data) as data
  from unnest($1::text[], $2::text[]) as r (app_id, size)
  cross join lateral (
    select d.app_id, d.id, d.type, d.attempts, d.attempt_log, d.next_attempt_at, d.created_at, d.payload
    from delivery d where d.app_id = r.app_id and d.status = ${statuses.waiting} and d.next_attempt_at <= now()
    order by d.next_attempt_at, d.id limit r.size::integer) d
  left join event v on v.app_id = d.app_id and v.id = d.id
  order by d.next_attempt_at, d.id`

/** Reads what there is to send; undefined for an endpoint that is not this process's. */
export async function readWork(sql: Sql, owner: string, requests: WorkRequest[]): Promise<(Work | undefined)[]> {
  const appIds = textArray(requests.map(({ appId }) => appId))
  const throughs = textArray(requests.map(({ through }) => through))
  const limits = textArray(requests.map(({ limit }) => limit))
  const [endpoints, events, retries] = await Promise.all([
    sql.unsafe(readEndpoints, [owner, appIds], { prepare: true }),
    sql.unsafe(readEvents, [appIds, throughs, limits], { prepare: true }),
    sql.unsafe(readRetries, [appIds, limits], { prepare: true }),
  ])
  const byApplication = new Map<string, Work>()
  for (const { app_id, callback_url, callback_secret, previous_secret, version } of endpoints) {
    const secrets = previous_secret === null ? [callback_secret] : [callback_secret, previous_secret]
    byApplication.set(app_id, { callbackUrl: callback_url, secrets, version, retries: [], events: [] })
  }
  for (const { app_id, id, type, time, data } of events) {
    byApplication.get(app_id)?.events.push({ id, type, time, data, isRetry: false, attempts: 0, attemptLog: '[]' })
  }
  for (const { app_id, id, type, time, data, attempts, attempt_log } of retries) {
    byApplication.get(app_id)?.retries.push({ id, type, time, data, isRetry: true, attempts, attemptLog: attempt_log })
  }
  return requests.map(({ appId }) => byApplication.get(appId))
}

/** What became of a delivery. */
export interface Outcome {
  id: number
  type: string
  status: number
  attempts: number
  /** Until the next attempt; null when there is none. */
  delayMs: number | null
  responseStatus: number | null
  error: string | null
  response: string | null
  durationMs: number | null
  attemptLog: string
}

/** How far an endpoint got, and what became of its deliveries on the way. */
export interface Progress extends Claim {
  heldMs: number
  stoppedReason: string | null
  /** The state of the configuration that was sent to; a stop does not hold for a newer one. */
  version: string
  /** Gives the lease back. */
  isReleased: boolean
  outcomes: Outcome[]
}

/** How a column of a batch is read off an item. */
type Columns<Item> = Record<string, (item: Item) => Value>
type Value = string | number | null

const endpointColumns = {
  app_id: (progress: Progress) => progress.appId,
  through: (progress) => progress.through,
  failures: (progress) => progress.failures,
  held_ms: (progress) => progress.heldMs,
  stopped_reason: (progress) => progress.stoppedReason,
  version: (progress) => progress.version,
  released: (progress) => (progress.isReleased ? 1 : 0),
} as const satisfies Columns<Progress>

type OwnedOutcome = Outcome & { appId: string }

const outcomeColumns = {
  app_id: (outcome: OwnedOutcome) => outcome.appId,
  id: (outcome) => outcome.id,
  type: (outcome) => outcome.type,
  status: (outcome) => outcome.status,
  attempts: (outcome) => outcome.attempts,
  delay_ms: (outcome) => (outcome.delayMs === null ? null : Math.round(outcome.delayMs)),
  response_status: (outcome) => outcome.responseStatus,
  error: (outcome) => outcome.error || null,
  response: (outcome) => outcome.response || null,
  duration_ms: (outcome) => outcome.durationMs,
  attempt_log: (outcome) => outcome.attemptLog,
} as const satisfies Columns<OwnedOutcome>

/** The rows of joined columns, whose parameters begin at `$first`, as `alias`. */
function rowsOf(columns: Columns<never>, first: number, alias: string): string {
  const names = Object.keys(columns)
  return `unnest(${names.map((_, index) => `$${first + index}::text[]`).join(', ')}) as ${alias} (${names.join(', ')})`
}

// In one statement, so that an endpoint has never taken more than what is kept of it, and only the lease's owner writes.
const writeProgressText = `
  with ${free('$2::text[]')},
  taken as (
    update callback_endpoint e set
      through_event_id = greatest(e.through_event_id, p.through::bigint),
      -- What was counted before the configuration was saved anew says nothing of it.
      failures = case when c.updated_at::text = p.version then p.failures::integer else e.failures end,
      held_until = case when c.updated_at::text <> p.version then e.held_until
        when p.held_ms = '0' then '-infinity' else now() + p.held_ms::float8 * interval '1 ms' end,
      stopped_at = case when c.updated_at::text = p.version and p.stopped_reason is not null then now() end,
      stopped_reason = case when c.updated_at::text = p.version then p.stopped_reason end,
      lease_owner = case when p.released = '0' then e.lease_owner end,
      lease_until = now() + case when p.released = '0' then ${leaseSeconds} else 0 end * interval '1 second'
    from ${rowsOf(endpointColumns, 2, 'p')} join free using (app_id) join third_party_config c using (app_id)
    where e.app_id = p.app_id
    returning e.app_id, c.updated_at::text as version),
  written as (
    insert into delivery (app_id, id, type, status, attempts, next_attempt_at, created_at, finished_at,
      response_status, error, response, duration_ms, attempt_log)
    select o.app_id, o.id::bigint, o.type, o.status::smallint, o.attempts::integer,
      now() + o.delay_ms::float8 * interval '1 ms', now(), case when o.delay_ms is null then now() end,
      o.response_status::integer, o.error, o.response, o.duration_ms::integer, o.attempt_log
    from ${rowsOf(outcomeColumns, 2 + Object.keys(endpointColumns).length, 'o')} join taken using (app_id)
    on conflict (app_id, id) do update set status = excluded.status, attempts = excluded.attempts,
      next_attempt_at = excluded.next_attempt_at, finished_at = excluded.finished_at,
      response_status = excluded.response_status, error = excluded.error, response = excluded.response,
      duration_ms = excluded.duration_ms, attempt_log = excluded.attempt_log)
  select e.app_id, taken.version
  from callback_endpoint e left join taken using (app_id)
  where e.lease_owner = $1 and e.app_id = any($2::text[])`

/** What became of keeping progress: the configuration's state, or why nothing was kept. */
export type Kept = { version: string } | 'busy' | 'lost'

/**
 * Writes how far endpoints got, each all or nothing. An endpoint is lost when its lease is another process's, and busy
 * while a request (a replay, say) has locked it.
 */
export async function writeProgress(sql: Sql, owner: string, progress: Progress[]): Promise<Kept[]> {
  const outcomes = progress.flatMap(({ appId, outcomes }) => outcomes.map((outcome) => ({ ...outcome, appId })))
  const rows = await sql.unsafe(
    writeProgressText,
    [
      owner,
      ...Object.values(endpointColumns).map((read) => textArray(progress.map<Value>(read))),
      ...Object.values(outcomeColumns).map((read) => textArray(outcomes.map<Value>(read))),
    ],
    { prepare: true },
  )
  const kept = new Map<string, Kept>()
  for (const { app_id, version } of rows) kept.set(app_id, version === null ? 'busy' : { version })
  return progress.map(({ appId }) => kept.get(appId) ?? 'lost')
}
