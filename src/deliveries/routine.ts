import type { Sql } from '../database/open.ts'
import { callRoutine, routine, textArray } from '../database/routine.ts'
import { statuses } from './rules.ts'

// The worker's SQL. The event log is the queue; an endpoint's row says how far it was followed, who follows it and when it
// is to be looked at next. Each statement but those that look for work is about one application, and those of many are one round trip and one
// commit: a loop in the database costs no more than one statement for all, and each endpoint can be anywhere.

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
 * For a routine: locks the endpoint of an application if it fits. `found` says whether it is had; one that a request (a
 * replay, say) has locked must not keep the others, so it is not waited for.
 */
const tryLock = (application: string, condition: string) =>
  `perform 1 from callback_endpoint where app_id = ${application} and ${condition} for update skip locked;`

const lease = `now() + interval '${leaseSeconds} seconds'`
/** SQL: whether the log of an endpoint goes on behind what was taken. Never a join, whose order a planner could choose. */
const hasNews = (endpoint: string) => `(select v.id from event v
      where v.app_id = ${endpoint}.app_id and v.id > ${endpoint}.through_event_id order by v.id limit 1) is not null`
/** SQL: when the first delivery of an application is due. */
const firstDue = `(select d.next_attempt_at from delivery d
      where d.app_id = v_app and d.status = ${statuses.waiting} order by d.next_attempt_at limit 1)`

/**
 * Takes endpoints that have something to send and that no process works for: those of `p_news`, whose logs have new events,
 * and those that are due, if `p_is_due_look`. The look costs as much as there is to do, however many endpoints there are.
 *
 * An endpoint that is due and has nothing to send gets the moment at which it is due next. One of the news that is locked, or
 * leased, is answered as busy, to be asked for again: its lease may be given back by who has not seen the event.
 */
export const claimEndpointsRoutine = routine(
  'claim_endpoints',
  { p_owner: 'text', p_limit: 'integer', p_news: 'text[]', p_is_due_look: 'boolean' },
  'app_id text, through_event_id bigint, failures integer, outcome text',
  `  v_app text;
  v_claimed integer := 0;
  v_due timestamptz;
  v_endpoint callback_endpoint;`,
  `  if exists (select 1 from callback_pause) then
    return query select null::text, null::bigint, null::integer, 'paused';
    return;
  end if;
  foreach v_app in array p_news || case when p_is_due_look then array(
      select e.app_id from callback_endpoint e where e.stopped_at is null and e.due_at <= now()
      order by e.due_at limit p_limit) else '{}' end
  loop
    -- Most applications have no callback, and of most endpoints the news are taken already.
    select * into v_endpoint from callback_endpoint where app_id = v_app;
    continue when not found or v_endpoint.stopped_at is not null;
    continue when v_endpoint.due_at > now() and not ${hasNews('v_endpoint')};
    if v_endpoint.due_at > now() and v_endpoint.lease_until > now() then
      return query select v_app, null::bigint, null::integer, 'busy';
      continue;
    end if;
    ${tryLock('v_app', 'stopped_at is null')}
    if not found then
      return query select v_app, null::bigint, null::integer, 'busy';
      continue;
    end if;
    select * into v_endpoint from callback_endpoint where app_id = v_app;
    if v_endpoint.lease_until > now() or v_endpoint.held_until > now() then
      v_due := greatest(v_endpoint.lease_until, v_endpoint.held_until);
    elsif not ${hasNews('v_endpoint')} and coalesce(${firstDue} > now(), true) then
      v_due := coalesce(${firstDue}, 'infinity');
    elsif v_claimed < p_limit then
      v_claimed := v_claimed + 1;
      update callback_endpoint set lease_owner = p_owner, lease_until = ${lease}, due_at = ${lease} where app_id = v_app;
      return query select v_app, v_endpoint.through_event_id, v_endpoint.failures, 'claimed';
      continue;
    else
      -- For another process, which has room.
      v_due := now();
    end if;
    if v_endpoint.due_at <= now() or v_due < v_endpoint.due_at then
      update callback_endpoint set due_at = v_due where app_id = v_app;
    end if;
  end loop;`,
)

/** What a look for work has found. */
export interface Look {
  claims: Claim[]
  /** Applications to be asked for again: their endpoints' rows were locked. */
  busy: string[]
  /** Nothing is sent, by any process. */
  isPaused: boolean
}

/** Claims at most `limit` endpoints: of `news`, and of those that are due if they are to be looked at. */
export async function claimEndpoints(
  sql: Sql,
  owner: string,
  limit: number,
  news: readonly string[],
  isDueLook: boolean,
): Promise<Look> {
  const rows = await callRoutine<{
    app_id: string
    through_event_id: number
    failures: number
    outcome: 'claimed' | 'busy' | 'paused'
  }>(sql, claimEndpointsRoutine, [owner, limit, textArray(news), isDueLook])
  const of = (outcome: string) => rows.filter((row) => row.outcome === outcome)
  return {
    claims: of('claimed').map((row) => ({ appId: row.app_id, through: row.through_event_id, failures: row.failures })),
    busy: of('busy').map((row) => row.app_id),
    isPaused: of('paused').length > 0,
  }
}

/**
 * Walks through the endpoints by application, a few at a time, and finds those whose new events nobody looks at: a process
 * was killed between its commit and its look, say. Returns them, and where the next walk goes on; '' behind the last.
 */
export async function findForgotten(
  sql: Sql,
  after: string,
  limit: number,
): Promise<{ forgotten: string[]; next: string }> {
  const walked = await sql.unsafe<{ app_id: string }[]>(
    'select app_id from callback_endpoint where app_id > $1 order by app_id limit $2',
    [after, limit],
    { prepare: true },
  )
  if (walked.length === 0) return { forgotten: [], next: '' }
  const rows = await sql.unsafe<{ app_id: string }[]>(
    `select e.app_id from callback_endpoint e
    where e.app_id = any($1::text[]) and e.stopped_at is null and e.lease_until <= now() and e.held_until <= now()
      and e.due_at > now() and ${hasNews('e')}`,
    [textArray(walked.map((row) => row.app_id))],
    { prepare: true },
  )
  const next = walked.length < limit ? '' : (walked.at(-1)?.app_id ?? '')
  return { forgotten: rows.map((row) => row.app_id), next }
}

export const renewLeasesRoutine = routine(
  'renew_leases',
  { p_owner: 'text', p_apps: 'text[]' },
  'app_id text, is_renewed boolean',
  '  v_app text;\n  v_is_had boolean;',
  `  foreach v_app in array p_apps loop
    ${tryLock('v_app', 'lease_owner = p_owner')}
    v_is_had := found;
    if v_is_had then
      update callback_endpoint set lease_until = ${lease}, due_at = ${lease} where app_id = v_app;
    end if;
    return query select e.app_id, v_is_had from callback_endpoint e where e.app_id = v_app and e.lease_owner = p_owner;
  end loop;`,
)

/**
 * Renews leases. Answers those that are still this process's, and whether each was renewed: a row that a request has
 * locked is left for the next time.
 */
export async function renewLeases(sql: Sql, owner: string, appIds: string[]): Promise<Map<string, boolean>> {
  const rows = await callRoutine<{ app_id: string; is_renewed: boolean }>(sql, renewLeasesRoutine, [
    owner,
    textArray(appIds),
  ])
  return new Map(rows.map((row) => [row.app_id, row.is_renewed]))
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
  /** Without its query. */
  callbackUrl: string
  /** The rest, as the database holds it; null where there is none. */
  sealedQuery: string | null
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

/** Answers an endpoint and then what there is to send: the rows without an id are the endpoints. */
export const readWorkRoutine = routine(
  'read_work',
  { p_owner: 'text', p_batch: 'text' },
  `app_id text, id bigint, type text, "time" timestamptz, data text, is_retry boolean, attempts integer,
  attempt_log text`,
  '  v_request record;',
  `  for v_request in select * from json_to_recordset(p_batch::json) as i (app_id text, through bigint, size integer) loop
    return query
    with e as materialized (
      select c.callback_events, json_build_object('callbackUrl', c.callback_url, 'sealedQuery', c.callback_query, 'version', c.updated_at::text,
        'secrets', json_build_array(c.callback_secret, ${previousSecret}))::text as endpoint
      from callback_endpoint e join third_party_config c on c.app_id = v_request.app_id
      where e.app_id = v_request.app_id and e.lease_owner = p_owner and e.stopped_at is null and c.callback_url is not null)
    select v_request.app_id, null::bigint, null::text, null::timestamptz, e.endpoint, false, 0, '[]' from e
    union all
    select v_request.app_id, v.id, v.type, v.time, case when v.type = any(e.callback_events) then v.data end, false, 0, '[]'
    from e cross join (
      select * from event where app_id = v_request.app_id and id > v_request.through order by id limit v_request.size) v
    union all
    select v_request.app_id, d.id, d.type, d.event_time, coalesce(d.payload, v.data), true, d.attempts,
      d.attempt_log
    from e cross join (
      select * from delivery where app_id = v_request.app_id and status = ${statuses.waiting} and next_attempt_at <= now()
      order by next_attempt_at, id limit v_request.size) d
    left join event v on v.app_id = v_request.app_id and v.id = d.id;
  end loop;`,
)

interface WorkRow {
  app_id: string
  id: number | null
  type: string
  time: Date
  data: string | null
  is_retry: boolean
  attempts: number
  attempt_log: string
}

/** Reads what there is to send; undefined for an endpoint that is not this process's. */
export async function readWork(sql: Sql, owner: string, requests: WorkRequest[]): Promise<(Work | undefined)[]> {
  const batch = requests.map(({ appId, through, limit }) => ({ app_id: appId, through, size: limit }))
  const rows = await callRoutine<WorkRow>(sql, readWorkRoutine, [owner, JSON.stringify(batch)])
  const byApplication = new Map<string, Work>()
  for (const { app_id, id, type, time, data, is_retry, attempts, attempt_log } of rows) {
    if (id === null) {
      const { callbackUrl, sealedQuery, version, secrets } = JSON.parse(data ?? '')
      const work = {
        callbackUrl,
        sealedQuery,
        version,
        secrets: secrets.filter((secret: string | null) => secret !== null),
      }
      byApplication.set(app_id, { ...work, retries: [], events: [] })
      continue
    }
    const work = byApplication.get(app_id)
    const item = { id, type, time, data, isRetry: is_retry, attempts, attemptLog: attempt_log }
    if (is_retry) work?.retries.push(item)
    else work?.events.push(item)
  }
  for (const { events } of byApplication.values()) events.sort((a, b) => a.id - b.id)
  return requests.map(({ appId }) => byApplication.get(appId))
}

/** What became of a delivery. */
export interface Outcome {
  id: number
  type: string
  /** Of the event. */
  time: Date
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
  /** Why the newest attempt failed; null after one that did not. */
  failingReason: string | null
  stoppedReason: string | null
  /** The state of the configuration that was sent to; a stop does not hold for a newer one. */
  version: string
  /** Gives the lease back. */
  isReleased: boolean
  outcomes: Outcome[]
}

/**
 * An endpoint whose lease is given back gets the moment at which it is due next, and is answered with whether it has news.
 * All in one transaction, so that an endpoint has never taken more than what is kept of it, and only the lease's owner
 * writes.
 */
export const writeProgressRoutine = routine(
  'write_progress',
  { p_owner: 'text', p_progress: 'text', p_outcomes: 'text' },
  'app_id text, version text, has_news boolean',
  `  v_progress record;
  v_app text;
  v_endpoint callback_endpoint;
  v_taken text[] := '{}';
  v_released text[] := '{}';
  v_versions text[] := '{}';
  v_is_same boolean;
  v_held_until timestamptz;
  v_now timestamptz := now();
  v_lease timestamptz := ${lease};`,
  `  for v_progress in select * from json_to_recordset(p_progress::json) as i (app_id text, through bigint, failures integer,
    held_ms float8, failing_reason text, stopped_reason text, version text, is_released boolean) loop
    app_id := v_progress.app_id;
    select c.updated_at::text into version
    from callback_endpoint e join third_party_config c on c.app_id = v_progress.app_id
    where e.app_id = v_progress.app_id and e.lease_owner = p_owner for update of e skip locked;
    if not found then
      return query select e.app_id, null::text, false from callback_endpoint e
      where e.app_id = v_progress.app_id and e.lease_owner = p_owner;
      continue;
    end if;
    -- What was counted before the configuration was saved anew says nothing of it.
    v_is_same := version = v_progress.version;
    v_held_until := case when v_progress.held_ms = 0 then '-infinity' else v_now + v_progress.held_ms * interval '1 ms' end;
    update callback_endpoint e set
      through_event_id = greatest(e.through_event_id, v_progress.through),
      failures = case when v_is_same then v_progress.failures else e.failures end,
      held_until = case when v_is_same then v_held_until else e.held_until end,
      failing_since = case when not v_is_same then e.failing_since
        when v_progress.failures > 0 then coalesce(e.failing_since, v_now) end,
      failing_reason = case when not v_is_same then e.failing_reason
        when v_progress.failures > 0 then coalesce(v_progress.failing_reason, e.failing_reason) end,
      stopped_at = case when v_is_same and v_progress.stopped_reason is not null then v_now end,
      stopped_reason = case when v_is_same then v_progress.stopped_reason end,
      lease_until = v_lease
    where e.app_id = v_progress.app_id;
    v_taken := v_taken || app_id;
    has_news := false;
    if v_progress.is_released then
      v_released := v_released || app_id;
      v_versions := v_versions || version;
    else
      return next;
    end if;
  end loop;
  if p_outcomes <> '[]' then
    insert into delivery (app_id, id, type, status, attempts, next_attempt_at, event_time, created_at, finished_at,
      response_status, error, response, duration_ms, attempt_log)
    select o.app_id, o.id, o.type, o.status, o.attempts, now() + o.delay_ms * interval '1 ms', o.time, now(),
      case when o.delay_ms is null then now() end, o.response_status, o.error, o.response, o.duration_ms, o.attempt_log
    from json_to_recordset(p_outcomes::json) as o (app_id text, id bigint, type text, time timestamptz, status smallint,
      attempts integer, delay_ms float8, response_status integer, error text, response text, duration_ms integer,
      attempt_log text)
    where o.app_id = any(v_taken)
    on conflict (app_id, id) do update set status = excluded.status, attempts = excluded.attempts,
      next_attempt_at = excluded.next_attempt_at, finished_at = excluded.finished_at,
      response_status = excluded.response_status, error = excluded.error, response = excluded.response,
      duration_ms = excluded.duration_ms, attempt_log = excluded.attempt_log;
  end if;
  -- Behind the outcomes, whose retries it counts.
  for v_n in 1 .. cardinality(v_released) loop
    v_app := v_released[v_n];
    select * into v_endpoint from callback_endpoint where app_id = v_app;
    has_news := v_endpoint.held_until <= v_now and ${hasNews('v_endpoint')};
    update callback_endpoint set lease_owner = null, lease_until = v_now,
      due_at = case when has_news then v_now when held_until > v_now then held_until
        else coalesce(${firstDue}, 'infinity') end
    where app_id = v_app;
    app_id := v_app;
    version := v_versions[v_n];
    return next;
  end loop;`,
)

/** What became of keeping progress: the configuration's state, or why nothing was kept. */
export type Kept = { version: string; hasNews: boolean } | 'busy' | 'lost'

/**
 * Writes how far endpoints got, each all or nothing. An endpoint is lost when its lease is another process's, and busy
 * while a request (a replay, say) has locked it.
 */
export async function writeProgress(sql: Sql, owner: string, progress: Progress[]): Promise<Kept[]> {
  const endpoints = progress.map((one) => ({
    app_id: one.appId,
    through: one.through,
    failures: one.failures,
    held_ms: one.heldMs,
    failing_reason: one.failingReason,
    stopped_reason: one.stoppedReason,
    version: one.version,
    is_released: one.isReleased,
  }))
  const outcomes = progress.flatMap(({ appId, outcomes }) =>
    outcomes.map((outcome) => ({
      app_id: appId,
      id: outcome.id,
      type: outcome.type,
      time: outcome.time,
      status: outcome.status,
      attempts: outcome.attempts,
      delay_ms: outcome.delayMs,
      response_status: outcome.responseStatus,
      error: outcome.error,
      response: outcome.response,
      duration_ms: outcome.durationMs,
      attempt_log: outcome.attemptLog,
    })),
  )
  const rows = await callRoutine<{ app_id: string; version: string | null; has_news: boolean }>(
    sql,
    writeProgressRoutine,
    [owner, JSON.stringify(endpoints), JSON.stringify(outcomes)],
  )
  const kept = new Map<string, Kept>()
  for (const { app_id, version, has_news: hasNews } of rows)
    kept.set(app_id, version === null ? 'busy' : { version, hasNews })
  return progress.map(({ appId }) => kept.get(appId) ?? 'lost')
}
