import type { Row } from 'postgres'
import type { Caller } from '../../callers/caller.ts'
import { callerParameters, callerValues, findRevokedSql } from '../../callers/store.ts'
import { eventIdOfRow, lockAndNumberSql, lockAndNumberVariablesSql } from '../../database/application-lock.ts'
import { noteEvents } from '../../database/commits.ts'
import type { Statements } from '../../database/open.ts'
import { arrayRows, callRoutine, numberedJsonRows, routine, textArray } from '../../database/routine.ts'
import { deviceColumnsSql, deviceTypes } from '../columns.ts'
import { lockPresenceSql } from '../routine.ts'
import { type DeviceState, sortedByDevice } from '../rules.ts'
import { type KnownDevice, toKnown } from './store.ts'

/** The time of a device's newest report: the later of `at` and, with `isNow`, the database's now. */
export interface ReportTime {
  at: Date | null
  isNow: boolean
}

/** The result of one or more reports of a device, applied in order to the row that was read. */
export interface StateChange extends DeviceState {
  appId: string
  deviceNo: string
  boundAt: Date
  rowVersion: string
  time: ReportTime
  /** Set if a report carries a time: the newest report time that was read. A newer stored one stops the change. */
  newestRead: Date | null | undefined
  /** Renews ('alive') or clears ('gone') the sign of life; null leaves it as it is. */
  sign: 'alive' | 'gone' | null
  /** One for each report that changed the state; one for a device that fell silent. */
  events: StateEvent[]
}

/** A change of a device's state, as history keeps it. */
interface StateEvent {
  actor: string
  /** The state after the change. */
  state: DeviceState
  /** The members that changed, with the values before the change. */
  before: Partial<DeviceState>
  /** The time of the device's newest report after the change. */
  time: ReportTime
}

/** A row of `state_change`, as sent to the database for a device whose events do not fit into the arrays. */
interface StateEventRow {
  app_id: string
  device_no: string
  actor: string
  before: string
  reported_at: string | null
  is_now: boolean
  status: number
  online_status: number
  run_status: number
  status_remark: string | null
  version: string | null
  battery_status: number | null
  battery_energy: string | null
}

const toEventRow = ({ appId, deviceNo }: StateChange, { actor, state, before, time }: StateEvent): StateEventRow => ({
  app_id: appId,
  device_no: deviceNo,
  actor,
  before: JSON.stringify(before),
  reported_at: time.at?.toISOString() ?? null,
  is_now: time.isNow,
  status: state.status,
  online_status: state.onlineStatus,
  run_status: state.runStatus,
  status_remark: state.statusRemark,
  version: state.version,
  battery_status: state.batteryStatus,
  battery_energy: state.batteryEnergy,
})

const text = 'text'
const stateTypes = {
  status: 'smallint',
  online_status: 'smallint',
  run_status: 'smallint',
  status_remark: text,
  version: text,
  battery_status: 'bigint',
  battery_energy: text,
}
const stateColumns = Object.keys(stateTypes)
/** The new state of each device: arrays, because every statement reads them, and to parse JSON costs more than a row. */
const stateArrays = {
  status: 'p_status',
  online_status: 'p_online',
  run_status: 'p_run',
  status_remark: 'p_remarks',
  version: 'p_versions',
  battery_status: 'p_batteries',
  battery_energy: 'p_energies',
}
const stateParameters = {
  p_status: 'smallint[]',
  p_online: 'smallint[]',
  p_run: 'smallint[]',
  p_remarks: 'text[]',
  p_versions: 'text[]',
  p_batteries: 'bigint[]',
  p_energies: 'text[]',
}
const owned = { app_id: 'p_owners', device_no: 'p_serials' }
const reported = { reported_at: 'p_reported', is_now: 'p_is_now' }
const reportedAtSql = 'greatest(i.reported_at, case when i.is_now then v_clock end)'
const eventRowsSql = numberedJsonRows<StateEventRow>('p_events::json', {
  app_id: text,
  device_no: text,
  actor: text,
  before: text,
  reported_at: 'timestamptz',
  is_now: 'boolean',
  ...stateTypes,
})
const isChangedSql = '(v_is_complete or i.device_no = any(v_changed))'
const insertChangesSql = (rows: string, id: string, condition: string) =>
  `insert into state_change (app_id, id, time, reported_at, actor, device_no, before, ${stateColumns.join(', ')})
  select i.app_id, ${id}, p_now, ${reportedAtSql}, i.actor, i.device_no, i.before,
    ${stateColumns.map((column) => `i.${column}`).join(', ')}
  from ${rows}
  where ${condition} ${isChangedSql};`

/** An array whose elements are read by number: an empty one says that all are null, and costs nothing. */
const elements = (values: readonly (string | number | null)[]) =>
  values.every((value) => value === null) ? '{}' : textArray(values)

type PartialState = { [Member in keyof DeviceState]: DeviceState[Member] | null }

/** The values of `stateParameters`. */
function stateValues(states: readonly (PartialState | undefined)[]): string[] {
  const ofMember = (member: keyof DeviceState) => elements(states.map((state) => state?.[member] ?? null))
  return [
    ofMember('status'),
    ofMember('onlineStatus'),
    ofMember('runStatus'),
    ofMember('statusRemark'),
    ofMember('version'),
    ofMember('batteryStatus'),
    ofMember('batteryEnergy'),
  ]
}

/** A report that may repeat the known state, as sent to the database; null for a member that it leaves out. */
export interface Repeated {
  appId: string
  deviceNo: string
  /** The report's own time; null for now. */
  at: Date | null
  state: PartialState
}

const knownColumns = Object.entries({ ...deviceTypes, row_version: text, reported_at: 'timestamptz' })

/** SQL: a row with the columns of a known device; the device has at most one such row. */
const knownRowSql = (column?: string) =>
  knownColumns.map(([name, type]) => (name === column ? name : `null::${type}`)).join(', ')

/**
 * The values that the report of device `k` gives. They are read from the arrays by the device's number, because a join
 * costs more.
 */
const givenSql: Record<keyof typeof stateTypes, string> = {
  status: 'p_status[k.n]',
  online_status: 'coalesce(p_online[k.n], 1)',
  run_status: 'p_run[k.n]',
  status_remark: 'p_remarks[k.n]',
  version: 'p_versions[k.n]',
  battery_status: 'p_batteries[k.n]',
  battery_energy: 'p_energies[k.n]',
}

/**
 * Reads the devices with these serials, and notes the reports that repeat the state their device is in (`Repeated`, at
 * most one of a device): their time alone, and the sign of life once the stored one is old. Takes no application's lock.
 * A noted report found the device as it is returned, with no report between: each report that changes a device changes
 * its row of `device_presence` too. The commit does not wait for the disk: a database crash may lose half a second of
 * these times, no more.
 *
 * Returns first a row without a serial for each application of which a caller has lost its access (nothing of it is
 * noted), then for each application a row for each device, and one with nothing but the serials of those that were
 * noted, separated by spaces: a row of its own for each would cost as much as the device's.
 */
export const readReportedRoutine = routine(
  'read_reported',
  {
    p_serials: 'text[]',
    p_refresh_ms: 'integer',
    ...callerParameters,
    p_apps: 'text[]',
    p_times: 'timestamptz[]',
    ...stateParameters,
  },
  `${knownColumns.map(([name, type]) => `${name} ${type}`).join(', ')}, is_sign_old boolean, noted text`,
  `  v_now timestamptz := now();
  v_old timestamptz := now() - p_refresh_ms * interval '1 millisecond';
  v_found text[];
  v_numbers integer[];
  v_owners text[];
  v_bounds timestamptz[];
  v_app text;
  v_revoked text[] := '{}';`,
  `  perform set_config('synchronous_commit', 'off', true);
  ${findRevokedSql}
  if v_revoked <> '{}' then
    return query select ${knownRowSql('app_id')}, false, null::text from unnest(v_revoked) as r (app_id);
  end if;
  select array_agg(b.device_no), array_agg(b.app_id), array_agg(b.bound_at) into v_found, v_owners, v_bounds
  from (select device_no, app_id, bound_at from device_binding where device_no = any(p_serials) order by device_no) as b;
  v_numbers := case
    when v_found = p_serials then array(select generate_series(1, cardinality(p_serials)))
    else array(select array_position(p_serials, serial) from unnest(v_found) as serial) end;
  -- In the order of every writer: applications first, then devices, each sorted.
  foreach v_app in array array(select distinct owner from unnest(v_owners) as owner order by owner) loop
    return query
    with known as materialized (
      -- Each row by its whole key: for a join, a planner without statistics reads all rows of the application.
      select d.*, p.*, i.number as n from ${arrayRows({ number: 'v_numbers', app_id: 'v_owners', bound_at: 'v_bounds' })}
      cross join lateral (
        select ${deviceColumnsSql('d')}, d.xmin::text as row_version from device d
        where d.app_id = v_app and d.bound_at = i.bound_at and d.device_no = p_serials[i.number] limit 1) d
      left join lateral (
        select reported_at, seen_at from device_presence p
        where p.app_id = v_app and p.device_no = p_serials[i.number] limit 1) p on true
      where i.app_id = v_app),
    noted as (
      update device_presence p set reported_at = greatest(p.reported_at, coalesce(p_times[k.n], v_now)),
        seen_at = case when p.seen_at <= v_old then v_now else p.seen_at end
      from known k
      where p.app_id = v_app and p.device_no = k.device_no and p_apps[k.n] = v_app and v_app <> all(v_revoked)
        and p.reported_at = k.reported_at and (p.seen_at is not null) = (k.online_status = 1)
        and (p_times[k.n] is null or p_times[k.n] >= k.reported_at)
        and ${Object.entries(givenSql)
          .map(([column, given]) => `(${given} is null or ${given} = k.${column})`)
          .join(' and ')}
      returning p.device_no)
    select ${knownColumns.map(([name]) => `k.${name}`).join(', ')}, k.seen_at <= v_old, null from known k
    union all
    select ${knownRowSql()}, false, string_agg(n.device_no, ' ') from noted n having count(*) > 0;
  end loop;`,
)

/** The devices of a batch of reports, by serial, and the applications of which a caller has lost its access. */
export interface Reported {
  devices: Map<string, KnownDevice & { isNoted: boolean }>
  revoked: Set<string>
}

export async function readReported(
  sql: Statements,
  serials: readonly string[],
  repeated: readonly Repeated[],
  callers: Iterable<Caller>,
  refreshMs: number,
): Promise<Reported> {
  const bySerial = new Map(repeated.map((report) => [report.deviceNo, report]))
  const sorted = serials.toSorted()
  const reports = sorted.map((deviceNo) => bySerial.get(deviceNo))
  const rows = await callRoutine<Row>(sql, readReportedRoutine, [
    textArray(sorted),
    refreshMs,
    ...callerValues(callers),
    elements(reports.map((report) => report?.appId ?? null)),
    elements(reports.map((report) => report?.at?.toISOString() ?? null)),
    ...stateValues(reports.map((report) => report?.state)),
  ])
  const noted = new Set(rows.flatMap((row) => row.noted?.split(' ') ?? []))
  const found = rows.filter((row) => row.row_version !== null)
  return {
    devices: new Map(found.map((row) => [row.device_no, { ...toKnown(row), isNoted: noted.has(row.device_no) }])),
    revoked: new Set(rows.filter((row) => row.device_no === null && row.app_id !== null).map((row) => row.app_id)),
  }
}

/**
 * Writes a batch of state changes: locks, rows, signs of life and events in one transaction. Returns the serials that it
 * skipped: nearly always none. Skips a device whose row changed after it was read; one whose stored report is newer than was read, if
 * its reports carry times (`p_timed`, `p_times`); and one of an application of which a caller has lost its access. A
 * device with one event, of the time of the change, has it in the arrays (`p_befores`), any other has its events in `p_events`.
 */
export const changeStatesRoutine = routine(
  'change_states',
  {
    p_now: 'timestamptz',
    p_apps: 'text[]',
    p_count: 'integer',
    p_owners: 'text[]',
    p_serials: 'text[]',
    p_timed: 'text[]',
    p_times: 'timestamptz[]',
    ...callerParameters,
    p_bounds: 'timestamptz[]',
    p_row_versions: 'xid[]',
    p_reported: 'timestamptz[]',
    p_is_now: 'boolean[]',
    p_signs: 'text[]',
    ...stateParameters,
    p_actors: 'text[]',
    p_befores: 'text[]',
    p_events: text,
  },
  'device_no text',
  `${lockAndNumberVariablesSql}
  v_changed text[];
  v_late text[] := '{}';
  v_revoked text[] := '{}';
  v_is_complete boolean;
  -- Citus rejects now() within a case in an update of several applications.
  v_clock timestamptz := now();`,
  `  ${lockAndNumberSql}
  ${findRevokedSql}
  if p_timed <> '{}' then
    foreach v_app in array p_apps loop
      -- Signs of life are written without the application's lock, so this locks their rows: all, not only those of
      -- p_timed, because the others are written later, and to lock them then would break the lock order.
      ${lockPresenceSql('unnest(p_owners, p_serials) as i (app_id, device_no)')}
      v_late := v_late || array(
        select i.device_no from unnest(p_timed, p_times) as i (device_no, newest_read)
        cross join lateral (
          select 1 from device_presence p
          where p.app_id = v_app and p.device_no = i.device_no and p.reported_at > i.newest_read limit 1) as late);
    end loop;
  end if;
  with changed as (
    update device d set status = i.status, online_status = i.online_status, run_status = i.run_status,
      status_remark = i.status_remark, version = i.version, battery_status = i.battery_status,
      battery_energy = i.battery_energy
    from ${arrayRows({ ...owned, bound_at: 'p_bounds', row_version: 'p_row_versions', ...stateArrays })}
    where d.app_id = i.app_id and d.bound_at = i.bound_at and d.device_no = i.device_no and d.xmin = i.row_version
      and i.app_id <> all(v_revoked) and i.device_no <> all(v_late)
    returning d.device_no
  )
  select array_agg(device_no) into v_changed from changed;
  -- Nearly always true. To search for each row in v_changed would cost as much as to write it.
  v_is_complete := coalesce(cardinality(v_changed), 0) = cardinality(p_serials);

  ${insertChangesSql(
    arrayRows({ ...owned, ...reported, ...stateArrays, actor: 'p_actors', before: 'p_befores' }),
    eventIdOfRow(),
    'i.before is not null and',
  )}
  if p_events <> '[]' then
    ${insertChangesSql(eventRowsSql, `${eventIdOfRow()} + cardinality(p_serials)`, '')}
  end if;

  -- One statement, in the order of the rows. A sign that stays is -infinity, below every other: no index entry changes.
  insert into device_presence (app_id, device_no, reported_at, seen_at)
  select i.app_id, i.device_no, coalesce(${reportedAtSql}, '-infinity'),
    case i.sign when 'alive' then now() when 'gone' then null else '-infinity' end
  from ${arrayRows({ ...owned, ...reported, sign: 'p_signs' })} where ${isChangedSql}
  on conflict (app_id, device_no) do update
    set reported_at = greatest(device_presence.reported_at, excluded.reported_at),
      seen_at = case when excluded.seen_at is not null then greatest(device_presence.seen_at, excluded.seen_at) end;

  if not v_is_complete then
    return query select serial from unnest(p_serials) as serial where v_changed is null or serial <> all(v_changed);
  end if;`,
)

/**
 * Whether a change has one event, of the same time as the change: a later report that changed nothing may have moved the
 * time of the change alone.
 */
const isAlone = ({ events: [event, ...others], time }: StateChange) =>
  event !== undefined &&
  others.length === 0 &&
  event.time.isNow === time.isNow &&
  event.time.at?.getTime() === time.at?.getTime()

/** Writes state changes of distinct devices, of any callers, in one transaction. Returns the serials that changed. */
export async function changeStates(
  sql: Statements,
  changes: StateChange[],
  callers: Iterable<Caller>,
  now: Date,
): Promise<string[]> {
  const sorted = sortedByDevice(changes, (change) => change)
  const apps = [...new Set(changes.map((change) => change.appId))].sort()
  const timed = sorted.filter(({ newestRead }) => newestRead !== undefined)
  const single = sorted.map((change) => (isAlone(change) ? change.events[0] : undefined))
  const several = sorted.flatMap((change) =>
    isAlone(change) ? [] : change.events.map((event) => toEventRow(change, event)),
  )
  const rows = await callRoutine<{ device_no: string }>(sql, changeStatesRoutine, [
    now.toISOString(),
    textArray(apps),
    sorted.length + several.length,
    textArray(sorted.map(({ appId }) => appId)),
    textArray(sorted.map(({ deviceNo }) => deviceNo)),
    textArray(timed.map(({ deviceNo }) => deviceNo)),
    textArray(timed.map(({ newestRead }) => newestRead?.toISOString() ?? '-infinity')),
    ...callerValues(callers),
    textArray(sorted.map(({ boundAt }) => boundAt.toISOString())),
    textArray(sorted.map(({ rowVersion }) => rowVersion)),
    elements(sorted.map(({ time }) => time.at?.toISOString() ?? null)),
    textArray(sorted.map(({ time }) => String(time.isNow))),
    elements(sorted.map(({ sign }) => sign)),
    ...stateValues(sorted),
    elements(single.map((event) => event?.actor ?? null)),
    elements(single.map((event) => (event === undefined ? null : JSON.stringify(event.before)))),
    JSON.stringify(several),
  ])
  noteEvents(sql, apps)
  const skipped = new Set(rows.map((row) => row.device_no))
  return sorted.map(({ deviceNo }) => deviceNo).filter((deviceNo) => !skipped.has(deviceNo))
}
