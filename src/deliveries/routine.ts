import type { Sql } from '../database/open.ts'
import { callRoutine, routine } from '../database/routine.ts'
import { dataText, eventsAfterSql, historySql } from '../events/history/store.ts'
import { type Claim, firstDueSql, hasNewEventsSql, leaseEndSql } from './leases/routine.ts'
import { statuses } from './rules.ts'

// The event log is the queue, and an endpoint's row holds the last event taken. A routine handles many endpoints in one
// commit, but by a statement for each: no dearer than a joint one, and their rows may be on different nodes.

export interface WorkRequest {
  appId: string
  through: number
  limit: number
}

/** A new event, or a delivery whose retry is due. */
export interface Item {
  id: number
  type: string
  time: Date
  /** JSON text; null for an event that the callback does not subscribe to or that is no longer stored. */
  data: string | null
  /** Null for a new event. */
  dueAt: Date | null
  attempts: number
  attemptLog: string
}

export interface Work {
  callbackUrl: string
  sealedQuery: string | null
  /** Sealed. */
  secrets: string[]
  /** When the configuration was saved last, as text. */
  version: string
  /** Longest due first. */
  retries: Item[]
  events: Item[]
}

/** For 24 hours after a rotation, requests are also signed with the previous secret. */
const previousSecretSql = `case when c.secret_rotated_at > now() - interval '24 hours' then c.previous_callback_secret end`

/** For each endpoint first a row without an ID, which holds its configuration, then its events and retries. */
export const readWorkRoutine = routine(
  'read_work',
  { p_owner: 'text', p_batch: 'text' },
  `app_id text, id bigint, type text, "time" timestamptz, subject text, data text, due_at timestamptz, attempts integer,
  attempt_log text`,
  '  v_request record;',
  `  for v_request in select * from json_to_recordset(p_batch::json) as i (app_id text, through bigint, size integer) loop
    return query
    with e as materialized (
      select c.callback_events, json_build_object('callbackUrl', c.callback_url, 'sealedQuery', c.callback_query, 'version', c.updated_at::text,
        'secrets', json_build_array(c.callback_secret, ${previousSecretSql}))::text as endpoint
      from callback_endpoint e join third_party_config c on c.app_id = v_request.app_id
      where e.app_id = v_request.app_id and e.lease_owner = p_owner and e.stopped_at is null and c.callback_url is not null)
    select v_request.app_id, null::bigint, null::text, null::timestamptz, null::text, e.endpoint, null::timestamptz, 0, '[]' from e
    union all
    select v_request.app_id, v.id, v.type, v.time, v.subject,
      case when v.type = any(e.callback_events) then v.data end, null, 0, '[]'
    from e cross join (
      select * from ${eventsAfterSql('v_request.app_id', 'v_request.through', 'v_request.size')}) v
    union all
    select v_request.app_id, d.id, d.type, d.event_time, v.subject, coalesce(d.payload, v.data), d.next_attempt_at,
      d.attempts, d.attempt_log
    from e cross join (
      select * from delivery where app_id = v_request.app_id and status = ${statuses.waiting} and next_attempt_at <= now()
      order by next_attempt_at, id limit v_request.size) d
    left join lateral (select * from ${historySql} where app_id = v_request.app_id and id = d.id) v on true;
  end loop;`,
)

interface WorkRow {
  app_id: string
  id: number | null
  type: string
  time: Date
  subject: string | null
  data: string | null
  due_at: Date | null
  attempts: number
  attempt_log: string
}

/** Undefined for an endpoint that this process has not leased. */
export async function readWork(sql: Sql, owner: string, requests: WorkRequest[]): Promise<(Work | undefined)[]> {
  const batch = requests.map(({ appId, through, limit }) => ({ app_id: appId, through, size: limit }))
  const rows = await callRoutine<WorkRow>(sql, readWorkRoutine, [owner, JSON.stringify(batch)])
  const byApplication = new Map<string, Work>()
  for (const { app_id, id, data } of rows) {
    if (id !== null) continue
    const { callbackUrl, sealedQuery, version, secrets } = JSON.parse(data ?? '')
    const given = secrets.filter((secret: string | null) => secret !== null)
    byApplication.set(app_id, { callbackUrl, sealedQuery, version, secrets: given, retries: [], events: [] })
  }
  for (const { app_id, id, type, time, subject, data: stored, due_at, attempts, attempt_log } of rows) {
    if (id === null) continue
    const work = byApplication.get(app_id)
    const data = stored === null ? null : dataText({ type, app_id, subject, data: stored })
    const item = { id, type, time, data, dueAt: due_at, attempts, attemptLog: attempt_log }
    if (due_at === null) work?.events.push(item)
    else work?.retries.push(item)
  }
  // Sorted here, because the nodes of a cluster join rows in any order.
  for (const { events, retries } of byApplication.values()) {
    events.sort((a, b) => a.id - b.id)
    retries.sort((a, b) => Number(a.dueAt) - Number(b.dueAt) || a.id - b.id)
  }
  return requests.map(({ appId }) => byApplication.get(appId))
}

export interface Outcome {
  id: number
  type: string
  time: Date
  status: number
  attempts: number
  /** Null for no further attempt. */
  delayMs: number | null
  responseStatus: number | null
  error: string | null
  response: string | null
  durationMs: number | null
  attemptLog: string
}

export interface Progress extends Claim {
  /** How long the endpoint is paused; 0 if it is not. */
  heldMs: number
  failingReason: string | null
  stoppedReason: string | null
  /** Failures and a 410 do not count for a newer configuration than this one. */
  version: string
  isReleased: boolean
  outcomes: Outcome[]
}

/**
 * `through_event_id` must never pass an event whose outcome is not stored, so one transaction writes both. Only the
 * lease's owner writes; locked endpoints are skipped, the leases of the others renewed or released. `has_news` of a
 * released endpoint is false while it is paused.
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
  v_lease timestamptz := ${leaseEndSql};`,
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
    -- Failures and a stop of a previous configuration do not count for one that was saved since.
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
  -- After the outcomes, because due_at depends on their retries.
  for v_n in 1 .. cardinality(v_released) loop
    v_app := v_released[v_n];
    select * into v_endpoint from callback_endpoint where app_id = v_app;
    has_news := v_endpoint.held_until <= v_now and ${hasNewEventsSql('v_endpoint')};
    update callback_endpoint set lease_owner = null, lease_until = v_now,
      due_at = case when has_news then v_now when held_until > v_now then held_until
        else coalesce(${firstDueSql}, 'infinity') end
    where app_id = v_app;
    app_id := v_app;
    version := v_versions[v_n];
    return next;
  end loop;`,
)

/** The version of the configuration now, or why nothing was stored. */
export type WriteResult = { version: string; hasNewEvents: boolean } | 'busy' | 'lost'

/** All of an endpoint's progress or nothing. `lost`: another process has the lease; `busy`: a request has locked it. */
export async function writeProgress(sql: Sql, owner: string, progress: Progress[]): Promise<WriteResult[]> {
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
  const results = new Map<string, WriteResult>()
  for (const { app_id, version, has_news: hasNewEvents } of rows)
    results.set(app_id, version === null ? 'busy' : { version, hasNewEvents })
  return progress.map(({ appId }) => results.get(appId) ?? 'lost')
}
