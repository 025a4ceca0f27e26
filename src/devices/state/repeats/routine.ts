import type { Row } from 'postgres'
import type { Caller } from '../../../callers/caller.ts'
import { callerParameters, callerValues, findRevokedSql } from '../../../callers/store.ts'
import type { Statements } from '../../../database/open.ts'
import { arrayRows, callRoutine, routine, textArray } from '../../../database/routine.ts'
import { deviceColumnsSql, deviceTypes } from '../../columns.ts'
import { elements, type PartialState, stateParameters, type stateTypes, stateValues } from '../columns.ts'
import { type KnownDevice, rowVersionSql, toKnown } from '../store.ts'

/** A report that may repeat the known state, as sent to the database; null for a member that it leaves out. */
export interface Repeated {
  appId: string
  deviceNo: string
  /** The report's own time; null for now. */
  at: Date | null
  state: PartialState
}

const knownColumns = Object.entries({
  ...deviceTypes,
  row_version: 'text',
  row_place: 'text',
  reported_at: 'timestamptz',
})

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
        select ${deviceColumnsSql('d')}, ${rowVersionSql} from device d
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
