import type { Row } from 'postgres'
import { lockApplication } from '../../database/application-lock.ts'
import type { Statements } from '../../database/open.ts'
import { textArray } from '../../database/routine.ts'
import { deviceColumnsSql, toDevice } from '../columns.ts'
import { type Device, sortedByDevice } from '../rules.ts'
import { requireDevice } from '../store.ts'
import type { ReportTime } from './routine.ts'

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

function toKnown(row: Row): KnownDevice {
  return { device: toDevice(row), rowVersion: row.row_version, reportedAt: row.reported_at, isSignOld: row.is_sign_old }
}

/** Reads the bound devices with these serials, by serial. Takes no lock. A sign of life is old after `refreshMs`. */
export async function findDevices(
  sql: Statements,
  serials: readonly string[],
  refreshMs: number,
): Promise<Map<string, KnownDevice>> {
  const rows = await sql.unsafe(
    `with binding as materialized (select * from device_binding where device_no = any($1::text[]))
    select ${knownColumnsSql}, ${isOlderSql('$2')} as is_sign_old
    from binding b
    join device d on d.app_id = b.app_id and d.bound_at = b.bound_at and d.device_no = b.device_no
    left join device_presence p on p.app_id = d.app_id and p.device_no = d.device_no`,
    [textArray(serials), refreshMs],
    { prepare: true },
  )
  return new Map(rows.map((row) => [row.device_no, toKnown(row)]))
}

/** A report, not its device's first, that changes nothing but the time of the last report. */
export interface UnchangedReport {
  known: KnownDevice
  time: ReportTime
}

/**
 * Stores the times of reports that change nothing else, and renews the signs of life of online devices. Returns the
 * serials that it wrote: it waits for, and then skips, a device that another report or the presence worker changes
 * meanwhile. The commit does not wait for the disk: a database crash may lose half a second of these times, no more.
 */
export async function noteReports(
  sql: Statements,
  reports: readonly UnchangedReport[],
  refreshMs: number,
): Promise<string[]> {
  const sorted = sortedByDevice(
    reports.map(({ known, time }) => ({ ...known.device, reportedAt: known.reportedAt, ...time })),
    (device) => device,
  )
  const isoOrNull = (moment: Date | null) => moment?.toISOString() ?? null
  // Citus rejects `now()` within a `case` here, so the clock is a table of its own.
  const noted = await sql.unsafe(
    `update device_presence p set reported_at = greatest(p.reported_at, i.at, case when i.is_now then clock.now end),
      seen_at = case when p.seen_at <= clock.old then clock.now else p.seen_at end
    from unnest($1::text[], $2::text[], $3::timestamptz[], $4::timestamptz[], $5::boolean[], $7::boolean[])
      as i (app_id, device_no, known_at, at, is_online, is_now),
      (select now() as now, ${agoSql('$6')} as old, set_config('synchronous_commit', 'off', true)) as clock
    where p.app_id = i.app_id and p.device_no = i.device_no
      and p.reported_at = i.known_at and (p.seen_at is not null) = i.is_online
    returning p.device_no`,
    [
      textArray(sorted.map((device) => device.appId)),
      textArray(sorted.map((device) => device.deviceNo)),
      textArray(sorted.map((device) => isoOrNull(device.reportedAt))),
      textArray(sorted.map((device) => isoOrNull(device.at))),
      textArray(sorted.map((device) => String(device.onlineStatus === 1))),
      refreshMs,
      textArray(sorted.map((device) => String(device.isNow))),
    ],
    { prepare: true },
  )
  return noted.map((row) => row.device_no)
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
