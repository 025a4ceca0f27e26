import type { Caller } from '../../callers/caller.ts'
import { callerParameters, callerValues, findRevokedSql } from '../../callers/store.ts'
import { eventIdOfRow, lockAndNumberSql, lockAndNumberVariablesSql } from '../../database/application-lock.ts'
import { noteEvents } from '../../database/commits.ts'
import type { Statements } from '../../database/open.ts'
import { callRoutine, jsonRows, numberedJsonRows, routine, textArray } from '../../database/routine.ts'
import { lockPresenceSql } from '../routine.ts'
import { type DeviceState, sortedByDevice } from '../rules.ts'

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
  /** One per report that changed the state. */
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

/** A row of a batch of changes for `state_change`, as sent to the database. */
type StateEventRow = Omit<StateRow, 'bound_at' | 'row_version' | 'sign'> & { actor: string; before: string }

/** A row of a batch, as sent to the database. */
interface StateRow {
  app_id: string
  device_no: string
  bound_at: string
  row_version: string
  reported_at: string | null
  is_now: boolean
  sign: StateChange['sign']
  status: number
  online_status: number
  run_status: number
  status_remark: string | null
  version: string | null
  battery_status: number | null
  battery_energy: string | null
}

const timeColumns = ({ at, isNow }: ReportTime) => ({ reported_at: at?.toISOString() ?? null, is_now: isNow })

const stateColumns = (state: DeviceState) => ({
  status: state.status,
  online_status: state.onlineStatus,
  run_status: state.runStatus,
  status_remark: state.statusRemark,
  version: state.version,
  battery_status: state.batteryStatus,
  battery_energy: state.batteryEnergy,
})

const toRow = (change: StateChange): StateRow => ({
  app_id: change.appId,
  device_no: change.deviceNo,
  bound_at: change.boundAt.toISOString(),
  row_version: change.rowVersion,
  ...timeColumns(change.time),
  sign: change.sign,
  ...stateColumns(change),
})

const toEventRow = ({ appId, deviceNo }: StateChange, { actor, state, before, time }: StateEvent): StateEventRow => ({
  app_id: appId,
  device_no: deviceNo,
  actor,
  before: JSON.stringify(before),
  ...timeColumns(time),
  ...stateColumns(state),
})

const text = 'text'
const device = { app_id: text, device_no: text }
const stateTypes = {
  status: 'smallint',
  online_status: 'smallint',
  run_status: 'smallint',
  status_remark: text,
  version: text,
  battery_status: 'bigint',
  battery_energy: text,
}
const timeTypes = { reported_at: 'timestamptz', is_now: 'boolean' }
const rowColumns = { ...device, bound_at: 'timestamptz', row_version: 'xid', ...stateTypes }
const rowsSql = (columns: Partial<Record<keyof StateRow, string>>) => jsonRows<StateRow>('v_rows', columns)

const reportRowsSql = rowsSql({ ...device, ...timeTypes, sign: text })
const reportedAtSql = 'greatest(i.reported_at, case when i.is_now then v_clock end)'
const eventRowsSql = numberedJsonRows<StateEventRow>('p_events::json', {
  ...device,
  ...timeTypes,
  ...stateTypes,
  actor: text,
  before: text,
})
const stateColumnsSql = Object.keys(stateTypes)
const isChangedSql = '(v_is_complete or i.device_no = any(v_changed))'

/**
 * Writes a batch of state changes: locks, rows, signs of life and events in one transaction. Returns the serials that it
 * changed. Skips a device whose row changed after it was read; one whose stored report is newer than was read, if
 * its reports carry times (`p_timed`, `p_times`); and one of an application of which a caller has lost its access.
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
    p_rows: text,
    p_events: text,
  },
  'device_no text',
  `${lockAndNumberVariablesSql}
  v_rows json := p_rows;
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
    from ${rowsSql(rowColumns)}
    where d.app_id = i.app_id and d.bound_at = i.bound_at and d.device_no = i.device_no and d.xmin = i.row_version
      and i.app_id <> all(v_revoked) and i.device_no <> all(v_late)
    returning d.device_no
  )
  select array_agg(device_no) into v_changed from changed;
  -- Nearly always true. To search for each row in v_changed would cost as much as to write it.
  v_is_complete := coalesce(cardinality(v_changed), 0) = cardinality(p_serials);

  insert into state_change (app_id, id, time, reported_at, actor, device_no, before, ${stateColumnsSql.join(', ')})
  select i.app_id, ${eventIdOfRow}, p_now, ${reportedAtSql}, i.actor, i.device_no, i.before,
    ${stateColumnsSql.map((column) => `i.${column}`).join(', ')}
  from ${eventRowsSql}
  where ${isChangedSql};

  -- One statement, in the order of the rows. A sign that stays is -infinity, below every other: no index entry changes.
  insert into device_presence (app_id, device_no, reported_at, seen_at)
  select i.app_id, i.device_no, coalesce(${reportedAtSql}, '-infinity'),
    case i.sign when 'alive' then now() when 'gone' then null else '-infinity' end
  from ${reportRowsSql} where ${isChangedSql}
  on conflict (app_id, device_no) do update
    set reported_at = greatest(device_presence.reported_at, excluded.reported_at),
      seen_at = case when excluded.seen_at is not null then greatest(device_presence.seen_at, excluded.seen_at) end;

  return query select unnest(v_changed);`,
)

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
  const events = sorted.flatMap((change) => change.events.map((event) => toEventRow(change, event)))
  const changed = await callRoutine<{ device_no: string }>(sql, changeStatesRoutine, [
    now.toISOString(),
    textArray(apps),
    events.length,
    textArray(sorted.map(({ appId }) => appId)),
    textArray(sorted.map(({ deviceNo }) => deviceNo)),
    textArray(timed.map(({ deviceNo }) => deviceNo)),
    textArray(timed.map(({ newestRead }) => newestRead?.toISOString() ?? '-infinity')),
    ...callerValues(callers),
    JSON.stringify(sorted.map(toRow)),
    JSON.stringify(events),
  ])
  noteEvents(sql, apps)
  return changed.map((row) => row.device_no)
}
