import type { Row } from 'postgres'
import type { Caller } from '../callers/caller.ts'
import { callerValues, revokedOf } from '../callers/store.ts'
import { lockApplication } from '../database/application-lock.ts'
import type { Statements } from '../database/open.ts'
import { textArray } from '../database/routine.ts'
import type { Device } from '../devices/rules.ts'
import { deviceColumns, toDevice } from '../devices/store.ts'
import { sortedBySerial } from './routine.ts'

/** A device as it was read, before anybody was asked to wait. */
export interface KnownDevice {
  device: Device
  /** Moves with every change of the row. Opaque. */
  rowVersion: string
  /** Whether its last sign of life is to be written anew; null for a device that is not online. */
  isSignOld: boolean | null
}

/** Whether the last report came longer ago than some milliseconds: by the database's clock, as all that presence does. */
const isOlder = (milliseconds: string) => `p.reported_at <= now() - ${milliseconds}::integer * interval '1 millisecond'`

const knownColumns = `${deviceColumns.replace(/\w+/g, 'd.$&')}, d.xmin::text as row_version`

function toKnown(row: Row): KnownDevice {
  return { device: toDevice(row), rowVersion: row.row_version, isSignOld: row.is_sign_old }
}

/** The devices with these serials that there are. Takes no lock. A sign of life is old after `refreshMs`. */
export async function findDevices(
  sql: Statements,
  serials: readonly string[],
  refreshMs: number,
): Promise<Map<string, KnownDevice>> {
  const rows = await sql.unsafe(
    `with binding as materialized (select * from device_binding where device_no = any($1::text[]))
    select ${knownColumns}, ${isOlder('$2')} as is_sign_old
    from binding b
    join device d on d.app_id = b.app_id and d.bound_at = b.bound_at and d.device_no = b.device_no
    left join device_presence p on p.app_id = d.app_id and p.device_no = d.device_no`,
    [textArray(serials), refreshMs],
    { prepare: true },
  )
  return new Map(rows.map((row) => [row.device_no, toKnown(row)]))
}

/** The applications of which a caller has lost its access since it was admitted. */
export async function findRevokedApplications(sql: Statements, callers: Iterable<Caller>): Promise<Set<string>> {
  const [count, apps, tokens] = callerValues(callers)
  if (count === 0) return new Set()
  const statement = `select unnest(${revokedOf('$1::text[]', '$2::text[]')}) as app_id`
  const rows = await sql.unsafe(statement, [apps, tokens], { prepare: true })
  return new Set(rows.map((row) => row.app_id))
}

/**
 * Notes a sign of life of online devices that report nothing new. Answers the serials of those that are online still:
 * a device that is just being taken offline is waited for.
 */
export async function touchPresence(sql: Statements, devices: readonly Device[]): Promise<string[]> {
  const sorted = sortedBySerial(devices)
  const rows = await sql.unsafe(
    `update device_presence p set reported_at = now() from unnest($1::text[], $2::text[]) as i (app_id, device_no)
    where p.app_id = i.app_id and p.device_no = i.device_no returning p.device_no`,
    [textArray(sorted.map((device) => device.appId)), textArray(sorted.map((device) => device.deviceNo))],
    { prepare: true },
  )
  return rows.map((row) => row.device_no)
}

/** A device that may be silent, and whose it is. */
export interface SilentDevice {
  deviceNo: string
  appId: string
}

/** At most `limit` online devices that have been silent for so long, the longest first. Takes no lock. */
export async function findSilentDevices(sql: Statements, silenceMs: number, limit: number): Promise<SilentDevice[]> {
  const rows = await sql.unsafe(
    `select device_no, app_id from device_presence p where ${isOlder('$1')} order by reported_at limit $2`,
    [silenceMs, limit],
    { prepare: true },
  )
  return rows.map((row) => ({ deviceNo: row.device_no, appId: row.app_id }))
}

/**
 * Those of some silent devices that are silent still. From then on until the transaction ends they stay so: reports
 * that change them wait for their applications' locks, and signs of life for their rows of `device_presence`.
 */
export async function lockSilentDevices(
  tx: Statements,
  found: SilentDevice[],
  silenceMs: number,
): Promise<KnownDevice[]> {
  // In the order of every writer: applications first, then devices, each sorted.
  const apps = [...new Set(found.map(({ appId }) => appId))].sort()
  for (const appId of apps) await lockApplication(tx, appId)
  const bindings = await tx.unsafe(
    'select device_no, app_id, bound_at::text as bound_at from device_binding where device_no = any($1::text[])',
    [textArray(found.map(({ deviceNo }) => deviceNo))],
  )
  const silent: KnownDevice[] = []
  // One that moved to another application meanwhile is found again.
  for (const appId of apps) {
    const own = bindings.filter((binding) => binding.app_id === appId)
    const rows = await tx.unsafe(
      `select ${knownColumns}, true as is_sign_old
      from unnest($2::text[], $3::text[]) as b (device_no, bound_at)
      join device d on d.app_id = $1 and d.bound_at = b.bound_at::timestamptz and d.device_no = b.device_no
      join device_presence p on p.app_id = $1 and p.device_no = d.device_no
      where ${isOlder('$4')} order by p.device_no for update of p`,
      [appId, textArray(own.map((row) => row.device_no)), textArray(own.map((row) => row.bound_at)), silenceMs],
    )
    silent.push(...rows.map(toKnown))
  }
  return silent
}
