import type { Row } from 'postgres'
import type { Statements } from '../database/open.ts'
import type { Device } from '../devices/rules.ts'
import { readActor } from '../events/rules.ts'
import type { Spell } from './contract.ts'

/** Who ended a spell, when and why. */
export interface Ending {
  at: Date
  by: string
  reason: string | null
}

/** Waits for whoever moves or frees the serial as an operator. Comes before the applications' locks. */
export async function lockSerial(tx: Statements, deviceNo: string): Promise<void> {
  await tx`select pg_advisory_xact_lock(hashtextextended(${`device ${deviceNo}`}, 0))`
}

/** Who holds the serial now. Without the owner's lock the answer can be outdated when it arrives. */
export async function findOwner(sql: Statements, deviceNo: string): Promise<string | undefined> {
  const [row] = await sql`select app_id from device where device_no = ${deviceNo}`
  return row?.app_id
}

/**
 * When the spell that ended last did. A create is composed before it waits for whoever frees the serial, so the moment
 * that its device carries can be a little earlier; in the history the new spell begins where the old one ends.
 */
const lastEnd = (sql: Statements, deviceNo: string) => sql`
  (select unbound_at from device_spell where device_no = ${deviceNo} order by id desc limit 1)`

/** Keeps the device's spell, which ends now; whatever the clocks of two processes say, not before it began. */
const keepSpell = (tx: Statements, { deviceNo, appId, boundAt }: Device, { at, by, reason }: Ending) => tx`
  insert into device_spell (device_no, app_id, bound_at, unbound_at, unbound_by, reason)
  values (${deviceNo}, ${appId}, greatest(${boundAt}, ${lastEnd(tx, deviceNo)}),
    greatest(${at}, ${boundAt}, ${lastEnd(tx, deviceNo)}), ${by}, ${reason})`

/** Frees the serial and keeps the spell. The transaction holds the owner's lock. */
export async function deleteDevice(tx: Statements, device: Device, ending: Ending): Promise<void> {
  await tx`
    with freed as (delete from device where device_no = ${device.deviceNo}),
      forgotten as (delete from device_presence where device_no = ${device.deviceNo})
    ${keepSpell(tx, device, ending)}`
}

/** Gives the device to another application and keeps the spell. The transaction holds both applications' locks. */
export async function moveDevice(tx: Statements, device: Device, targetAppId: string, ending: Ending): Promise<void> {
  await tx`
    with moved as (
      update device set app_id = ${targetAppId}, bound_at = ${ending.at} where device_no = ${device.deviceNo}
    ), presence as (
      update device_presence set app_id = ${targetAppId} where device_no = ${device.deviceNo}
    )
    ${keepSpell(tx, device, ending)}`
}

/** The serial's spells, newest first, the one that lasts included; of one application only when it is named. */
export async function findSpells(
  sql: Statements,
  deviceNo: string,
  appId: string | null,
  showMoment: (instant: Date) => string,
): Promise<Spell[]> {
  const rows = await sql`
    select app_id, greatest(bound_at, ${lastEnd(sql, deviceNo)}) as bound_at, null::timestamptz as unbound_at,
      null as unbound_by, null as reason, null::bigint as id
    from device where device_no = ${deviceNo} and (${appId}::text is null or app_id = ${appId})
    union all
    select app_id, bound_at, unbound_at, unbound_by, reason, id
    from device_spell where device_no = ${deviceNo} and (${appId}::text is null or app_id = ${appId})
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
