import type { Statements } from '../database/open.ts'

/**
 * Makes the endpoint of an application that has a callback now, or removes that of one that has none, in the
 * transaction that saves the configuration and holds the application's lock. A new endpoint, and one that had stopped,
 * follows the log from here on; what happened meanwhile can be replayed.
 */
export async function syncEndpoint(tx: Statements, appId: string, hasCallback: boolean): Promise<void> {
  if (!hasCallback) {
    await tx`delete from callback_endpoint where app_id = ${appId}`
    return
  }
  const [newest] = await tx<[{ id: number }]>`select coalesce(max(id), 0) as id from event where app_id = ${appId}`
  await tx`
    insert into callback_endpoint as e (app_id, through_event_id) values (${appId}, ${newest.id})
    on conflict (app_id) do update set
      through_event_id = case when e.stopped_at is null then e.through_event_id else excluded.through_event_id end,
      stopped_at = null, stopped_reason = null, failures = 0, held_until = '-infinity'`
}
