import type { Row } from 'postgres'
import type { Caller } from '../callers/caller.ts'
import { callerParameters, callerValues, findPowerless, powerlessOf } from '../callers/store.ts'
import { eventIdOfRow, lockAndNumber, lockAndNumberVariables, lockApplication } from '../database/application-lock.ts'
import type { Statements } from '../database/open.ts'
import { callRoutine, jsonRows, jsonRowsWithRecords, routine, textArray } from '../database/routine.ts'
import type { Device, DeviceState } from '../devices/rules.ts'
import { deviceColumns, toDevice } from '../devices/store.ts'

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

/** The applications of which a caller has lost its power since it was admitted. */
export async function findPowerlessApplications(sql: Statements, callers: Iterable<Caller>): Promise<Set<string>> {
  const [count, apps, tokens] = callerValues(callers)
  if (count === 0) return new Set()
  const statement = `select unnest(${powerlessOf('$1::text[]', '$2::text[]')}) as app_id`
  const rows = await sql.unsafe(statement, [apps, tokens], { prepare: true })
  return new Set(rows.map((row) => row.app_id))
}

/** A new state of a device, composed from what was read. */
export interface StateChange extends DeviceState {
  appId: string
  deviceNo: string
  boundAt: Date
  actor: string
  rowVersion: string
  /** What becomes of its sign of life; null leaves it as it is. */
  sign: 'alive' | 'gone' | null
  /** The record as JSON text. */
  record: string
}

/** A row of a batch as it travels. */
interface StateRow {
  app_id: string
  device_no: string
  bound_at: string
  actor: string
  row_version: string
  sign: StateChange['sign']
  status: number
  online_status: number
  run_status: number
  status_remark: string | null
  version: string | null
  battery_status: number | null
  battery_energy: string | null
}

const toRow = (change: StateChange): StateRow => ({
  app_id: change.appId,
  device_no: change.deviceNo,
  bound_at: change.boundAt.toISOString(),
  actor: change.actor,
  row_version: change.rowVersion,
  sign: change.sign,
  status: change.status,
  online_status: change.onlineStatus,
  run_status: change.runStatus,
  status_remark: change.statusRemark,
  version: change.version,
  battery_status: change.batteryStatus,
  battery_energy: change.batteryEnergy,
})

const text = 'text'
const rowColumns: Record<Exclude<keyof StateRow, 'actor' | 'sign'>, string> = {
  app_id: text,
  device_no: text,
  bound_at: 'timestamptz',
  row_version: 'xid',
  status: 'smallint',
  online_status: 'smallint',
  run_status: 'smallint',
  status_remark: text,
  version: text,
  battery_status: 'bigint',
  battery_energy: text,
}
const rows = (columns: Partial<Record<keyof StateRow, string>>) => jsonRows<StateRow>('v_rows', columns)

const isChanged = '(v_is_complete or i.device_no = any(v_changed))'

/**
 * Writes a batch of state changes: locks, rows, their signs of life and events in one transaction. A row that is not
 * the one that was read is left alone, and so is one of an application of which a caller has lost its power; neither is
 * among the serials that are answered.
 */
export const changeStatesRoutine = routine(
  'change_states',
  { p_now: 'timestamptz', p_apps: 'text[]', p_count: 'integer', ...callerParameters, p_rows: text, p_records: text },
  'device_no text',
  `${lockAndNumberVariables}
  v_rows json := p_rows;
  v_changed text[];
  v_powerless text[] := '{}';
  v_is_complete boolean;`,
  `  ${lockAndNumber}
  ${findPowerless}
  with changed as (
    update device d set status = i.status, online_status = i.online_status, run_status = i.run_status,
      status_remark = i.status_remark, version = i.version, battery_status = i.battery_status,
      battery_energy = i.battery_energy
    from ${rows(rowColumns)}
    where d.app_id = i.app_id and d.bound_at = i.bound_at and d.device_no = i.device_no and d.xmin = i.row_version
      and i.app_id <> all(v_powerless)
    returning d.device_no
  )
  select array_agg(device_no) into v_changed from changed;
  -- Nearly always; to look every row up among all of them would cost as much as writing it.
  v_is_complete := coalesce(cardinality(v_changed), 0) = p_count;

  insert into event (app_id, id, type, time, actor, subject, data)
  select i.app_id, ${eventIdOfRow}, 'device.stateChanged', p_now, i.actor, i.device_no, i.record
  from ${jsonRowsWithRecords<StateRow>('v_rows', { app_id: text, device_no: text, actor: text }, 'p_records')}
  where ${isChanged};

  insert into device_presence (app_id, device_no, reported_at)
  select i.app_id, i.device_no, now() from ${rows({ app_id: text, device_no: text, sign: text })}
  where i.sign = 'alive' and ${isChanged}
  on conflict (app_id, device_no) do update set reported_at = excluded.reported_at;
  delete from device_presence p using ${rows({ app_id: text, device_no: text, sign: text })}
  where p.app_id = i.app_id and p.device_no = i.device_no and i.sign = 'gone' and ${isChanged};

  return query select unnest(v_changed);`,
)

/** The order in which every writer takes the rows of a batch, so that two never wait for each other in a circle. */
function sortedBySerial<Item extends { deviceNo: string }>(items: readonly Item[]): Item[] {
  return items.toSorted((a, b) => (a.deviceNo < b.deviceNo ? -1 : 1))
}

/**
 * Writes state changes of different devices, which so many callers reported, in one transaction. Answers the serials that
 * were changed.
 */
export async function changeStates(
  sql: Statements,
  changes: StateChange[],
  callers: Iterable<Caller>,
  now: Date,
): Promise<string[]> {
  const sorted = sortedBySerial(changes)
  const apps = [...new Set(changes.map((change) => change.appId))].sort()
  const changed = await callRoutine<{ device_no: string }>(sql, changeStatesRoutine, [
    now.toISOString(),
    textArray(apps),
    changes.length,
    ...callerValues(callers),
    JSON.stringify(sorted.map(toRow)),
    sorted.map((change) => change.record).join('\n'),
  ])
  return changed.map((row) => row.device_no)
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

/** One process at a time looks for silent devices; this transaction is the one, or another process is at it. */
export async function tryPresenceLock(tx: Statements): Promise<boolean> {
  const [row] = await tx`select pg_try_advisory_xact_lock(hashtextextended('presence', 0)) as had`
  return row?.had === true
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
