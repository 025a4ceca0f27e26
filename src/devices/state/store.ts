import { lockApplication } from '../../database/application-lock.ts'
import type { Statements } from '../../database/open.ts'
import { textArray } from '../../database/routine.ts'
import type { Device } from '../rules.ts'
import { findDevices, findHolders, requireDeviceOf } from '../store.ts'

const isOlderSql = (milliseconds: string) => `p.seen_at <= ${agoSql(milliseconds)}`
const agoSql = (milliseconds: string) => `now() - ${millisecondsSql(milliseconds)}`
const millisecondsSql = (milliseconds: string) => `${milliseconds}::integer * interval '1 millisecond'`

export interface ReportedDevice {
  device: Device
  reportedAt: Date | null
}

/** Returns a device with its latest report's time; `appIds: null` means any. Throws 20002. */
export async function requireReported(
  sql: Statements,
  appIds: readonly string[] | null,
  deviceNo: string,
): Promise<ReportedDevice> {
  const device = await requireDeviceOf(sql, appIds, deviceNo)
  const times = await findReportTimes(sql, device.appId, [deviceNo])
  return { device, reportedAt: times.get(deviceNo) ?? null }
}

/** Returns states by serial, leaving out serials without a device of these applications. */
export async function findReported(
  sql: Statements,
  appIds: readonly string[] | null,
  deviceNos: readonly string[],
): Promise<Map<string, ReportedDevice>> {
  const found = new Map<string, ReportedDevice>()
  // A device that isn't found has changed its owner since that was read, so it is looked up again.
  for (let before = ''; ; ) {
    const holders = await findHolders(
      sql,
      deviceNos.filter((deviceNo) => !found.has(deviceNo)),
    )
    const held = [...holders].filter(([, appId]) => appIds === null || appIds.includes(appId))
    const now = JSON.stringify(held)
    if (held.length === 0 || now === before) return found
    before = now
    for (const appId of new Set(held.map(([, holder]) => holder))) {
      const own = held.flatMap(([deviceNo, holder]) => (holder === appId ? [deviceNo] : []))
      const devices = await findDevices(sql, appId, own)
      const times = await findReportTimes(sql, appId, own)
      for (const [deviceNo, device] of devices) {
        found.set(deviceNo, { device, reportedAt: times.get(deviceNo) ?? null })
      }
    }
  }
}

/** Returns the latest report times by serial, without devices that never reported. */
async function findReportTimes(
  sql: Statements,
  appId: string,
  deviceNos: readonly string[],
): Promise<Map<string, Date>> {
  // By whole keys: for a join, a planner without statistics reads all rows of the application.
  const rows = await sql.unsafe(
    `select p.* from unnest($2::text[]) as b (device_no) cross join lateral (
      select device_no, reported_at from device_presence
      where app_id = $1 and device_no = b.device_no limit 1) as p`,
    [appId, textArray(deviceNos)],
    { prepare: true },
  )
  return new Map(rows.map((row) => [row.device_no, row.reported_at]))
}

export interface SilentDevice {
  deviceNo: string
  appId: string
}

/** Finds up to `limit` online devices silent for `silenceMs`, longest first. Takes no lock. */
export async function findSilentDevices(sql: Statements, silenceMs: number, limit: number): Promise<SilentDevice[]> {
  const rows = await sql.unsafe(
    `select device_no, app_id from device_presence p where ${isOlderSql('$1')} order by seen_at limit $2`,
    [silenceMs, limit],
    { prepare: true },
  )
  return rows.map((row) => ({ deviceNo: row.device_no, appId: row.app_id }))
}

/** Locks and returns devices that are still silent; reports wait for these locks until the transaction ends. */
export async function lockSilentDevices(
  tx: Statements,
  found: SilentDevice[],
  silenceMs: number,
): Promise<SilentDevice[]> {
  // Every writer locks applications first, then devices, each sorted.
  const apps = [...new Set(found.map(({ appId }) => appId))].sort()
  for (const appId of apps) await lockApplication(tx, appId)
  const silent: SilentDevice[] = []
  // A device transferred meanwhile has no row here; the next search finds it.
  for (const appId of apps) {
    const own = found.flatMap((device) => (device.appId === appId ? [device.deviceNo] : []))
    const rows = await tx.unsafe(
      `select p.device_no from unnest($2::text[]) as b (device_no)
      join device_presence p on p.app_id = $1 and p.device_no = b.device_no
      where ${isOlderSql('$3')} order by p.device_no for update of p`,
      [appId, textArray(own), silenceMs],
    )
    silent.push(...rows.map((row) => ({ deviceNo: row.device_no, appId })))
  }
  return silent
}

/**
 * Notes that the service hears devices now. After a break longer than `breakMs`, or if the clock was set back, it hears
 * them only since now. Writes at most once per `noteMs`, for all processes.
 */
export async function noteHearing(sql: Statements, { breakMs, noteMs }: { breakMs: number; noteMs: number }) {
  const distance = `greatest(excluded.heard_at - h.heard_at, h.heard_at - excluded.heard_at)`
  await sql.unsafe(
    `insert into service_hearing as h (since, heard_at) select now, now from clock_timestamp() as now
    on conflict (only_row) do update set heard_at = excluded.heard_at,
      since = case when ${distance} > ${millisecondsSql('$1')} then excluded.heard_at else h.since end
    where ${distance} > ${millisecondsSql('$2')}`,
    [breakMs, noteMs / 2],
    { prepare: true },
  )
}

/**
 * Tells whether the service has heard devices for the whole timeout. Like `lockSilentDevices` it counts to the
 * transaction's start, so a process paused between the two judges nothing wrongly.
 */
export async function hasHeardLongEnough(
  sql: Statements,
  { breakMs, timeoutMs }: { breakMs: number; timeoutMs: number },
): Promise<boolean> {
  const rows = await sql.unsafe(
    `select from service_hearing where since <= ${agoSql('$1')}
      and heard_at between now() - ${millisecondsSql('$2')} and now() + ${millisecondsSql('$2')}`,
    [timeoutMs, breakMs],
    { prepare: true },
  )
  return rows.length > 0
}
