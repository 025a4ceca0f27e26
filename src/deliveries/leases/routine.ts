import type { Sql } from '../../database/open.ts'
import { callRoutine, routine, textArray } from '../../database/routine.ts'
import { eventsAfterSql } from '../../events/history/store.ts'
import { statuses } from '../rules.ts'

// A lease says which process sends an application's callbacks. An endpoint's row holds its owner and its due time.

/** A lease is longer than an attempt and a failed renewal together. */
export const leaseSeconds = 30

export interface Claim {
  appId: string
  /** The last new event that was attempted or skipped; retries do not count. */
  through: number
  failures: number
}

/** Sets `found`. Does not wait for a row that a request has locked: the call's other endpoints would wait too. */
const tryLockSql = (application: string, condition: string) =>
  `perform 1 from callback_endpoint where app_id = ${application} and ${condition} for update skip locked;`

export const leaseEndSql = `now() + interval '${leaseSeconds} seconds'`

/** Has no join, for which the planner could choose an expensive order. */
export const hasNewEventsSql = (endpoint: string) =>
  `(select id from ${eventsAfterSql(`${endpoint}.app_id`, `${endpoint}.through_event_id`, '1')}) is not null`
export const firstDueSql = `(select d.next_attempt_at from delivery d
      where d.app_id = v_app and d.status = ${statuses.waiting} order by d.next_attempt_at limit 1)`

/**
 * Leases free endpoints with something to send: those in `p_news` that have new events, and with `p_is_due_look` those
 * that are due. Its cost does not grow with the number of endpoints. A due endpoint with nothing to send gets the time
 * at which it is due next. One in `p_news` that is locked or leased is returned as busy, to be asked for again: its
 * holder may release it without having seen the event.
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
    -- Most applications have no callback, and most endpoints have taken their new events already.
    select * into v_endpoint from callback_endpoint where app_id = v_app;
    continue when not found or v_endpoint.stopped_at is not null;
    continue when v_endpoint.due_at > now() and not ${hasNewEventsSql('v_endpoint')};
    if v_endpoint.due_at > now() and v_endpoint.lease_until > now() then
      return query select v_app, null::bigint, null::integer, 'busy';
      continue;
    end if;
    ${tryLockSql('v_app', 'stopped_at is null')}
    if not found then
      return query select v_app, null::bigint, null::integer, 'busy';
      continue;
    end if;
    select * into v_endpoint from callback_endpoint where app_id = v_app;
    if v_endpoint.lease_until > now() or v_endpoint.held_until > now() then
      v_due := greatest(v_endpoint.lease_until, v_endpoint.held_until);
    elsif not ${hasNewEventsSql('v_endpoint')} and coalesce(${firstDueSql} > now(), true) then
      v_due := coalesce(${firstDueSql}, 'infinity');
    elsif v_claimed < p_limit then
      v_claimed := v_claimed + 1;
      update callback_endpoint set lease_owner = p_owner, lease_until = ${leaseEndSql}, due_at = ${leaseEndSql} where app_id = v_app;
      return query select v_app, v_endpoint.through_event_id, v_endpoint.failures, 'claimed';
      continue;
    else
      -- This process is full, so the endpoint stays due for another one.
      v_due := now();
    end if;
    if v_endpoint.due_at <= now() or v_due < v_endpoint.due_at then
      update callback_endpoint set due_at = v_due where app_id = v_app;
    end if;
  end loop;`,
)

export interface Look {
  claims: Claim[]
  /** Applications to ask for again: their endpoints were locked or leased. */
  busy: string[]
  isPaused: boolean
}

export async function claimEndpoints(
  sql: Sql,
  owner: string,
  limit: number,
  withNewEvents: readonly string[],
  isDueLook: boolean,
): Promise<Look> {
  const rows = await callRoutine<{
    app_id: string
    through_event_id: number
    failures: number
    outcome: 'claimed' | 'busy' | 'paused'
  }>(sql, claimEndpointsRoutine, [owner, limit, textArray(withNewEvents), isDueLook])
  const of = (outcome: string) => rows.filter((row) => row.outcome === outcome)
  return {
    claims: of('claimed').map((row) => ({ appId: row.app_id, through: row.through_event_id, failures: row.failures })),
    busy: of('busy').map((row) => row.app_id),
    isPaused: of('paused').length > 0,
  }
}

/** Finds new events that no process knows of, for example of a killed one. `next` is '' after the last endpoint. */
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
      and e.due_at > now() and ${hasNewEventsSql('e')}`,
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
    ${tryLockSql('v_app', 'lease_owner = p_owner')}
    v_is_had := found;
    if v_is_had then
      update callback_endpoint set lease_until = ${leaseEndSql}, due_at = ${leaseEndSql} where app_id = v_app;
    end if;
    return query select e.app_id, v_is_had from callback_endpoint e where e.app_id = v_app and e.lease_owner = p_owner;
  end loop;`,
)

/** Returns the leases still held, and whether each was renewed: a locked row waits for the next renewal. */
export async function renewLeases(sql: Sql, owner: string, appIds: string[]): Promise<Map<string, boolean>> {
  const rows = await callRoutine<{ app_id: string; is_renewed: boolean }>(sql, renewLeasesRoutine, [
    owner,
    textArray(appIds),
  ])
  return new Map(rows.map((row) => [row.app_id, row.is_renewed]))
}
