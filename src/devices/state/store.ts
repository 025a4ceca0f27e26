import type { Row } from 'postgres'
import { lockApplication } from '../../database/application-lock.ts'
import type { Statements } from '../../database/open.ts'
import { textArray } from '../../database/routine.ts'
import { deviceColumnsSql, toDevice } from '../columns.ts'
import type { Device } from '../rules.ts'
import { requireDevice } from '../store.ts'

/** A device as read without a lock. */
export interface KnownDevice {
  device: Device
  /** Differs after every change of the row. Opaque. */
  rowVersion: string
  /** The time of its newest report; null if it never reported. */
  reportedAt: Date | null
  /** Whether the stored sign of life is old enough to be renewed; null if the device is not online. */
  isSignOld: boolean | null
}

/** Whether the last sign of life is older than this, by the database's clock, as everywhere in presence. */
const isOlderSql = (milliseconds: string) => `p.seen_at <= ${agoSql(milliseconds)}`
const agoSql = (milliseconds: string) => `now() - ${milliseconds}::integer * interval '1 millisecond'`

const knownColumnsSql = `${deviceColumnsSql('d')}, d.xmin::text as row_version, p.reported_at`

export function toKnown(row: Row): KnownDevice {
  return { device: toDevice(row), rowVersion: row.row_version, reportedAt: row.reported_at, isSignOld: row.is_sign_old }
}

/** Reads an application's device and the time of its last report. Throws 20002, also for a serial of another one. */
export async function requireReported(
  sql: Statements,
  appId: string,
  deviceNo: string,
): Promise<{ device: Device; reportedAt: Date | null }> {
  const device = await requireDevice(sql, appId, deviceNo)
  const [row] = await sql`select reported_at from device_presence where app_id = ${appId} and device_no = ${deviceNo}`
  return { device, reportedAt: row?.reported_at ?? null }
}

/** A device that may be silent, and its owner. */
export interface SilentDevice {
  deviceNo: string
  appId: string
}

/** Finds at most `limit` online devices that have been silent for `silenceMs`, the longest first. Takes no lock. */
export async function findSilentDevices(sql: Statements, silenceMs: number, limit: number): Promise<SilentDevice[]> {
  const rows = await sql.unsafe(
    `select device_no, app_id from device_presence p where ${isOlderSql('$1')} order by seen_at limit $2`,
    [silenceMs, limit],
    { prepare: true },
  )
  return rows.map((row) => ({ deviceNo: row.device_no, appId: row.app_id }))
}

/**
 * Locks those of the found devices that are still silent, and returns them. They stay silent until the transaction
 * ends: a report that changes one waits for its application's lock, a sign of life for its row of `device_presence`.
 */
export async function lockSilentDevices(
  tx: Statements,
  found: SilentDevice[],
  silenceMs: number,
): Promise<KnownDevice[]> {
  // The lock order of every writer: applications first, then devices, each sorted.
  const apps = [...new Set(found.map(({ appId }) => appId))].sort()
  for (const appId of apps) await lockApplication(tx, appId)
  const bindings = await tx.unsafe(
    'select device_no, app_id, bound_at::text as bound_at from device_binding where device_no = any($1::text[])',
    [textArray(found.map(({ deviceNo }) => deviceNo))],
  )
  const silent: KnownDevice[] = []
  // A device that moved to another application meanwhile is skipped; the next search finds it.
  for (const appId of apps) {
    const own = bindings.filter((binding) => binding.app_id === appId)
    const rows = await tx.unsafe(
      `select ${knownColumnsSql}, true as is_sign_old
      from unnest($2::text[], $3::text[]) as b (device_no, bound_at)
      join device d on d.app_id = $1 and d.bound_at = b.bound_at::timestamptz and d.device_no = b.device_no
      join device_presence p on p.app_id = $1 and p.device_no = d.device_no
      where ${isOlderSql('$4')} order by p.device_no for update of p`,
      [appId, textArray(own.map((row) => row.device_no)), textArray(own.map((row) => row.bound_at)), silenceMs],
    )
    silent.push(...rows.map(toKnown))
  }
  return silent
}
