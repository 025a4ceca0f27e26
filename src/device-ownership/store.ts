import type { Row } from 'postgres'
import type { Statements } from '../database/open.ts'
import { ofApplications } from '../database/page.ts'
import type { Device } from '../devices/rules.ts'
import { insertDevice } from '../devices/store.ts'
import { readActor } from '../events/rules.ts'
import type { ShowMoment } from '../moments.ts'
import type { Binding } from './contract.ts'

/** Who ended a binding, when and why. */
export interface Ending {
  at: Date
  by: string
  reason: string | null
}

/** Who holds the serial now. Without the owner's lock the answer can be outdated when it arrives. */
export async function findOwner(sql: Statements, deviceNo: string): Promise<string | undefined> {
  const [row] = await sql`select app_id from device_binding where device_no = ${deviceNo}`
  return row?.app_id
}

/**
 * When the binding that ended last did. A create is composed before it waits for whoever frees the serial, so the moment
 * that its device carries can be a little earlier; in the history the new binding begins where the old one ends.
 */
const lastEnd = (sql: Statements, deviceNo: string) => sql`
  (select unbound_at from past_binding where device_no = ${deviceNo} order by id desc limit 1)`

/**
 * Keeps the device's binding, which ends now; whatever the clocks of two processes say, not before it began. Takes the
 * device and its presence away.
 */
async function endBinding(tx: Statements, device: Device, { at, by, reason }: Ending): Promise<void> {
  const { deviceNo, appId, boundAt } = device
  await tx`
    insert into past_binding (device_no, app_id, bound_at, unbound_at, unbound_by, reason)
    select ${deviceNo}, ${appId}, greatest(${boundAt}, last_end), greatest(${at}, ${boundAt}, last_end), ${by}, ${reason}
    from (select ${lastEnd(tx, deviceNo)} as last_end) l`
  await tx`delete from device where app_id = ${appId} and bound_at = ${boundAt} and device_no = ${deviceNo}`
  await tx`delete from device_presence where app_id = ${appId} and device_no = ${deviceNo}`
}

/** Frees the serial and keeps its binding. The transaction holds the owner's lock. */
export async function deleteDevice(tx: Statements, device: Device, ending: Ending): Promise<void> {
  await endBinding(tx, device, ending)
  await tx`delete from device_binding where device_no = ${device.deviceNo}`
}

/** Gives the device to another application and keeps the binding. The transaction holds both applications' locks. */
export async function moveDevice(tx: Statements, device: Device, targetAppId: string, ending: Ending): Promise<Device> {
  const moved = { ...device, appId: targetAppId, boundAt: ending.at }
  const [presence] = await tx`
    select reported_at, seen_at from device_presence where app_id = ${device.appId} and device_no = ${device.deviceNo}
    for update`
  await endBinding(tx, device, ending)
  await tx`update device_binding set app_id = ${targetAppId}, bound_at = ${ending.at} where device_no = ${device.deviceNo}`
  await insertDevice(tx, moved)
  if (presence !== undefined) {
    await tx`
      insert into device_presence (app_id, device_no, reported_at, seen_at)
      values (${targetAppId}, ${device.deviceNo}, ${presence.reported_at}, ${presence.seen_at})`
  }
  return moved
}

/** The serial's bindings with these applications, or with all, newest first, the one that lasts included. */
export async function findBindings(
  sql: Statements,
  deviceNo: string,
  appIds: readonly string[] | null,
  showMoment: ShowMoment,
): Promise<Binding[]> {
  const rows = await sql`
    select app_id, greatest(bound_at, ${lastEnd(sql, deviceNo)}) as bound_at, null::timestamptz as unbound_at,
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
