import type { Caller } from '../../callers/caller.ts'
import { callerParameters, callerValues, findRevokedSql } from '../../callers/store.ts'
import { eventIdOfRow, lockAndNumberSql, lockAndNumberVariablesSql } from '../../database/application-lock.ts'
import { noteEvents } from '../../database/commits.ts'
import type { Statements } from '../../database/open.ts'
import { arrayRows, callRoutine, numberedJsonRows, routine, textArray } from '../../database/routine.ts'
import { lockPresenceSql } from '../routine.ts'
import { type DeviceState, sortedByDevice } from '../rules.ts'
import { elements, stateArrays, stateColumns, stateParameters, stateTypes, stateValues } from './columns.ts'

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
  rowPlace: string
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
    p_row_places: 'tid[]',
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
    from ${arrayRows({ ...owned, bound_at: 'p_bounds', row_version: 'p_row_versions', row_place: 'p_row_places', ...stateArrays })}
    -- By its place, which needs no search. The whole key is for a plan that was made while the table was empty: of a part
    -- of it, the planner would read the whole application.
    where d.ctid = i.row_place and d.xmin = i.row_version
      and d.app_id = i.app_id and d.bound_at = i.bound_at and d.device_no = i.device_no
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
    textArray(sorted.map(({ rowPlace }) => rowPlace)),
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
