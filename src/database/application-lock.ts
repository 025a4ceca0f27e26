import { limits } from '../vocabulary/limits.ts'
import type { Statements } from './open.ts'

// An application's lock is its row of `application_lock`. Only the transaction that holds it draws ids for its events
// (`event_head`), so a later id never becomes visible before an earlier one.

/** Locks the application until the transaction ends. Every transaction that writes its events takes this lock. */
export async function lockApplication(tx: Statements, appId: string): Promise<void> {
  await tx`select 1 from application_lock where app_id = ${appId} for update`
}

/** Locks the application within `waitMs`. Otherwise it returns false for 0, and throws a lock timeout for more. */
export async function tryLockApplication(tx: Statements, appId: string, waitMs: number): Promise<boolean> {
  if (waitMs === 0) {
    const free = await tx`select 1 from application_lock where app_id = ${appId} for update skip locked`
    return free.length > 0
  }
  await waitForLocks(tx, waitMs)
  await lockApplication(tx, appId)
  await waitForLocks(tx, 0)
  return true
}

/** Limits how long this transaction's next statements wait for a lock; 0 ends the limit. They throw a lock timeout. */
export async function waitForLocks(tx: Statements, waitMs: number): Promise<void> {
  await tx.unsafe(`set local lock_timeout = ${Math.floor(waitMs)}`)
}

export async function insertApplicationLock(tx: Statements, appId: string): Promise<void> {
  await tx`insert into application_lock (app_id) values (${appId})`
  await tx`insert into event_head (app_id) values (${appId})`
}

/** Returns the smallest id that an event of this time can have. */
export const lowestEventId = (time: Date) => time.getTime() * 1000

/** Draws ids for `count` events and returns the first. Writing the events needs the application's lock. */
export async function drawEventIds(sql: Statements, appId: string, time: Date, count = 1): Promise<number> {
  const [row] = await sql<[{ id: number }]>`
    update event_head set last_event_id = greatest(last_event_id + 1, ${lowestEventId(time)}::bigint) + ${count - 1}::bigint
    where app_id = ${appId} returning last_event_id - ${count - 1}::bigint as id`
  return row.id
}

/** Declares the variables of a routine that uses `lockAndNumberSql`. */
export const lockAndNumberVariablesSql = `  v_app text;
  v_base bigint;
  v_bases bigint[] := '{}';`

/**
 * For a routine with `p_apps`, `p_now` and `p_count`: locks each application, in order, and draws `p_count` ids for
 * each. It waits only briefly for a lock and then fails with a lock timeout, because other applications' rows wait too.
 */
export const lockAndNumberSql = `foreach v_app in array p_apps loop
    perform 1 from application_lock where app_id = v_app for update skip locked;
    if not found then
      perform set_config('lock_timeout', '${limits.laneLockMs}', true);
      perform 1 from application_lock where app_id = v_app for update;
      perform set_config('lock_timeout', '0', true);
    end if;
    update event_head
    set last_event_id = greatest(last_event_id, (extract(epoch from p_now) * 1000000)::bigint) + p_count
    where app_id = v_app returning last_event_id - p_count into v_base;
    v_bases := v_bases || v_base;
  end loop;`

/** SQL: the id of the event of row `i` of the batch, in the log of the row's application. */
export const eventIdOfRow = 'v_bases[array_position(p_apps, i.app_id)] + i.n'
