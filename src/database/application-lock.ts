import type { Statements } from './open.ts'

// The lock of an application is its row of `application_lock`: wherever the application's rows lie, its lock lies beside
// them. Whoever holds it hands out the ids of the application's events (`event_head`), so that in each log a later id is
// never visible first.

/** Waits for every writer of the application's rows, and holds them off until the transaction ends. */
export async function lockApplication(tx: Statements, appId: string): Promise<void> {
  await tx`select 1 from application_lock where app_id = ${appId} for update`
}

/** Makes the lock of a new application. */
export async function insertApplicationLock(tx: Statements, appId: string): Promise<void> {
  await tx`insert into application_lock (app_id) values (${appId})`
  await tx`insert into event_head (app_id) values (${appId})`
}

/** The smallest id that an event of this moment can have. */
export const lowestEventId = (time: Date) => time.getTime() * 1000

/** Draws the id of an event of this moment. For an event, the transaction holds the application's lock. */
export async function drawEventId(sql: Statements, appId: string, time: Date): Promise<number> {
  const [row] = await sql<[{ id: number }]>`
    update event_head set last_event_id = greatest(last_event_id + 1, ${lowestEventId(time)}::bigint)
    where app_id = ${appId} returning last_event_id as id`
  return row.id
}

/** What `lockAndNumberSql` needs among a routine's variables. */
export const lockAndNumberVariablesSql = `  v_app text;
  v_base bigint;
  v_bases bigint[] := '{}';`

/**
 * For a routine with `p_apps`, `p_now` and `p_count`: takes the lock of each application, in order, and draws so many
 * ids of each. An event's id is its application's base and its number in the batch.
 */
export const lockAndNumberSql = `foreach v_app in array p_apps loop
    perform 1 from application_lock where app_id = v_app for update;
    update event_head
    set last_event_id = greatest(last_event_id, (extract(epoch from p_now) * 1000000)::bigint) + p_count
    where app_id = v_app returning last_event_id - p_count into v_base;
    v_bases := v_bases || v_base;
  end loop;`

/** SQL: the id of the event of row `i` of the batch. */
export const eventIdOfRow = 'v_bases[array_position(p_apps, i.app_id)] + i.n'
