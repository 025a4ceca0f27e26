import type { Row } from 'postgres'
import type { Statements } from '../../database/open.ts'
import { ofApplications } from '../../database/page.ts'
import { textArray } from '../../database/routine.ts'
import { readActor } from '../../events/rules.ts'
import type { ShowMoment } from '../../vocabulary/moments.ts'
import type { Placement } from '../placement/rules.ts'
import type { Device } from '../rules.ts'
import type { Binding } from './contract.ts'

/** A device as read without a lock. */
export interface KnownDevice {
  device: Device
  /** Differs after every change of the row. Opaque. */
  rowVersion: string
  /** The device's placement; null if it has none. */
  placement: Placement | null
  /** Differs after every change of the placement and of its site. Opaque. */
  placementVersion: string | null
}

/** Reads the `onlineStatus` of applications, by their ids. */
export async function findOnlineStatus(sql: Statements, appIds: readonly string[]): Promise<Map<string, number>> {
  if (appIds.length === 0) return new Map()
  const statement = 'select app_id, online_status from application where app_id = any($1::text[])'
  const rows = await sql.unsafe(statement, [textArray([...new Set(appIds)])], { prepare: true })
  return new Map(rows.map((row) => [row.app_id, row.online_status]))
}

/**
 * SQL: when the serial's last past binding ended. A create is composed before it waits for the request that frees the
 * serial, so its `bound_at` can be a little earlier than that end; the history then shows the new binding from the end
 * of the old one.
 */
const lastEndSql = (sql: Statements, deviceNo: string) => sql`
  (select unbound_at from past_binding where device_no = ${deviceNo} order by id desc limit 1)`

/** The serial's bindings to these applications (null: to any), newest first, including the current one. */
export async function findBindings(
  sql: Statements,
  deviceNo: string,
  appIds: readonly string[] | null,
  showMoment: ShowMoment,
): Promise<Binding[]> {
  const rows = await sql`
    select app_id, greatest(bound_at, ${lastEndSql(sql, deviceNo)}) as bound_at, null::timestamptz as unbound_at,
      null as unbound_by, null as reason, null::bigint as id
    from device_binding where device_no = ${deviceNo} and ${ofApplications(sql, appIds)}
    union all
    select app_id, bound_at, unbound_at, unbound_by, reason, id
    from past_binding where device_no = ${deviceNo} and ${ofApplications(sql, appIds)}
    order by id desc nulls first
    limit 1000`
  return rows.map((row: Row) => ({
    appId: row.app_id,
    boundAt: showMoment(row.bound_at),
    unboundAt: row.unbound_at === null ? null : showMoment(row.unbound_at),
    unboundBy: row.unbound_by === null ? null : readActor(row.unbound_by).actor,
    reason: row.reason,
  }))
}
