import type { Row } from 'postgres'
import type { Caller } from '../../callers/caller.ts'
import { callerParameters, callerValues, findRevokedSql } from '../../callers/store.ts'
import { lockAndNumberSql, lockAndNumberVariablesSql } from '../../database/application-lock.ts'
import { noteEvents } from '../../database/commits.ts'
import type { Statements } from '../../database/open.ts'
import { arrayRows, callRoutine, isAtPlaceSql, routine, textArray } from '../../database/routine.ts'
import { deviceColumns, deviceColumnsSql, deviceTypes, memberOf, toDevice } from '../columns.ts'
import { lockPresenceSql } from '../routine.ts'
import type { Device } from '../rules.ts'
import { elements, givenSql, stateColumns, stateParameters, stateTypes, stateValues } from './columns.ts'
import { cleared, type ReportedValues } from './rules.ts'

/** A report of a device's state, or its silence. */
export interface Report {
  appId: string
  deviceNo: string
  actor: string
  /** When it was made; `unchanged` leaves the time of the device's newest report as it is. */
  time: Date | 'now' | 'unchanged'
  /** Whether a stored report may be newer; then this one changes nothing. */
  isCompared: boolean
  values: ReportedValues
}

/** The time as sent to the database: null for its own clock. */
export function timeOf({ time }: Report): string | null {
  if (time === 'now') return null
  return time === 'unchanged' ? '-infinity' : time.toISOString()
}

/** The variables that a routine with `findBindingsSql` declares. */
export const findBindingsVariablesSql = `  v_found text[];
  v_numbers integer[];
  v_owners text[];
  v_bounds timestamptz[];`

/**
 * For a routine: reads the bindings of these serials, which are sorted: `v_numbers`, the number of each report, with
 * `v_owners` and `v_bounds`. The reports begin after number `before`.
 */
export const findBindingsSql = (
  serials: string,
  before = '0',
) => `select array_agg(b.device_no), array_agg(b.app_id), array_agg(b.bound_at) into v_found, v_owners, v_bounds
  from (select device_no, app_id, bound_at from device_binding where device_no = any(${serials}) order by device_no) as b;
  v_numbers := case
    when v_found = ${serials} then array(select generate_series(${before} + 1, ${before} + cardinality(${serials})))
    else array(select ${before} + array_position(${serials}, serial) from unnest(v_found) as serial) end;`

/**
 * SQL: the devices of the application `v_app` that its reports are about, with the number of the report, `n`, the place
 * of the row, and what is known of earlier reports. Each row by its whole key: for a join, a planner without statistics
 * reads all rows of the application.
 */
export const knownSql = (others = '') => `
      select d.*, p.*, i.number as n${others}
      from ${arrayRows({ number: 'v_numbers', app_id: 'v_owners', bound_at: 'v_bounds' })}
      cross join lateral (
        select ${deviceColumnsSql('d')}, d.ctid as place from device d
        where d.app_id = v_app and d.bound_at = i.bound_at and d.device_no = p_serials[i.number] limit 1) d
      left join lateral (
        select reported_at, seen_at, p.xmin as presence_version from device_presence p
        where p.app_id = v_app and p.device_no = p_serials[i.number] limit 1) p on true
      where i.app_id = v_app and p_owners[i.number] = v_app`

type StateColumn = keyof typeof stateTypes
const columns = stateColumns as StateColumn[]

const clearedSql: Partial<Record<StateColumn, string>> = {
  status_remark: `'${cleared.text}'`,
  version: `'${cleared.text}'`,
  battery_status: cleared.number,
  battery_energy: `'${cleared.text}'`,
}

/** SQL: a column of the device `d` after the report with the number `n`. */
function appliedSql(column: StateColumn, n: string): string {
  const given = givenSql(n)[column]
  if (column === 'online_status') return given
  const value = `coalesce(${given}, d.${column})`
  const none = clearedSql[column]
  return none === undefined ? value : `nullif(${value}, ${none})`
}

const newSql = columns.map((column) => `${appliedSql(column, 'i.number')} as new_${column}`).join(', ')
const differs = (column: StateColumn, row: string) => `${row}.new_${column} is distinct from ${row}.${column}`
/** SQL: the members that changed, with the values before the change, as JSON text. */
const beforeSql = `concat('{', concat_ws(',', ${columns
  .map((column) => {
    const value = stateTypes[column] === 'text' ? `to_json(k.${column})` : `k.${column}`
    return `case when ${differs(column, 'k')} then concat('"${memberOf[column]}":', coalesce(${value}::text, 'null')) end`
  })
  .join(', ')}), '}')`
/** SQL: the device after its report, whose late ones change nothing. */
const afterSql = deviceColumns
  .map((column) =>
    column in stateTypes ? `case when k.is_late then k.${column} else k.new_${column} end` : `k.${column}`,
  )
  .join(', ')

/**
 * Applies a batch of reports, in one transaction: locks, rows, signs of life and changes in the history. Locks the
 * applications first, so every later statement sees what the last writer of a device wrote. A device has at most one
 * report in each round; its next one is applied in the next round, to what this one has written.
 *
 * Returns the device after each report, with the report's number; none where the device does not belong to the report's
 * application. First comes a row without a number for each application of which a caller has lost its access: none of
 * its reports is applied.
 */
export const applyReportsRoutine = routine(
  'apply_reports',
  {
    p_now: 'timestamptz',
    p_apps: 'text[]',
    p_count: 'integer',
    p_rounds: 'integer[]',
    p_serials: 'text[]',
    p_owners: 'text[]',
    p_refresh_ms: 'integer',
    ...callerParameters,
    p_times: 'timestamptz[]',
    p_compared: 'boolean[]',
    ...stateParameters,
    p_actors: 'text[]',
  },
  `${deviceColumns.map((column) => `${column} ${deviceTypes[column]}`).join(', ')}, n integer, is_changed boolean`,
  `${lockAndNumberVariablesSql}
${findBindingsVariablesSql}
  v_before integer := 0;
  v_end integer;
  v_serials text[];
  v_revoked text[] := '{}';
  -- Citus rejects now() within a case.
  v_now timestamptz := now();
  v_old timestamptz := now() - p_refresh_ms * interval '1 millisecond';`,
  `  ${lockAndNumberSql}
  ${findRevokedSql}
  if v_revoked <> '{}' then
    return query select ${deviceColumns
      .map((column) => (column === 'app_id' ? column : `null::${deviceTypes[column]}`))
      .join(', ')}, null::integer, false from unnest(v_revoked) as r (app_id);
  end if;
  if p_compared <> '{}' or cardinality(p_rounds) > 1 then
    foreach v_app in array p_apps loop
      -- Signs of life are written without the application's lock, so this locks their rows, in the order of
      -- every writer: all, not only those whose times are compared or that have several reports, because the others
      -- are written later.
      ${lockPresenceSql(
        '(select app_id, device_no from unnest(p_owners, p_serials) as r (app_id, device_no) order by device_no collate "C") as i',
      )}
    end loop;
  end if;
  foreach v_end in array p_rounds loop
    v_serials := p_serials[v_before + 1 : v_end];
    ${findBindingsSql('v_serials', 'v_before')}
    v_before := v_end;
    foreach v_app in array array(
      select distinct owner from unnest(v_owners) as owner
      where owner = any(p_apps) and owner <> all(v_revoked) order by owner) loop
      v_base := v_bases[array_position(p_apps, v_app)];
      return query
      with known as materialized (
        select r.*, not r.is_late and (${columns.map((column) => differs(column, 'r')).join(' or ')}) as is_changed
        from (${knownSql(`, ${newSql},
          coalesce(p_compared[i.number] and p_times[i.number] < p.reported_at, false) as is_late`)}) as r),
      changed as (
        update device d set ${columns.map((column) => `${column} = k.new_${column}`).join(', ')} from known k
        where k.is_changed and ${isAtPlaceSql} and d.bound_at = k.bound_at and d.device_no = k.device_no),
      history as (
        insert into state_change (app_id, id, time, reported_at, actor, device_no, before, ${columns.join(', ')})
        select v_app, v_base + k.n, p_now, greatest(k.reported_at, coalesce(p_times[k.n], v_now)), p_actors[k.n],
          k.device_no, ${beforeSql}, ${columns.map((column) => `k.new_${column}`).join(', ')}
        from known k where k.is_changed),
      present as (
        -- One statement, in the order of the rows. A sign that stays is -infinity, below every other: no index entry
        -- changes.
        insert into device_presence (app_id, device_no, reported_at, seen_at)
        select v_app, k.device_no, coalesce(p_times[k.n], v_now),
          case when k.new_online_status = 2 then null when k.seen_at > v_old then '-infinity' else v_now end
        from known k where not k.is_late
        on conflict (app_id, device_no) do update
        set reported_at = greatest(device_presence.reported_at, excluded.reported_at),
          seen_at = case when excluded.seen_at is not null then greatest(device_presence.seen_at, excluded.seen_at) end)
      select ${afterSql}, k.n, k.is_changed from known k;
    end loop;
  end loop;`,
)

/** What became of the reports of a batch, in their order. */
export interface Applied {
  /** The device after the report; undefined if it does not belong to the report's application. */
  devices: (Device | undefined)[]
  /** The applications of which a caller has lost its access; none of their reports was applied. */
  revoked: Set<string>
  /** How many reports changed their device. */
  changes: number
}

/** Applies reports of any callers, in order, in one transaction. */
export async function applyReports(
  sql: Statements,
  reports: readonly Report[],
  callers: Iterable<Caller>,
  refreshMs: number,
): Promise<Applied> {
  const { sorted, ends } = inRounds(reports)
  const apps = [...new Set(reports.map(({ appId }) => appId))].sort()
  const rows = await callRoutine<Row>(sql, applyReportsRoutine, [
    new Date().toISOString(),
    textArray(apps),
    sorted.length,
    textArray(ends),
    textArray(sorted.map(({ report }) => report.deviceNo)),
    textArray(sorted.map(({ report }) => report.appId)),
    refreshMs,
    ...callerValues(callers),
    elements(sorted.map(({ report }) => timeOf(report))),
    elements(sorted.map(({ report }) => (report.isCompared ? 'true' : null))),
    ...stateValues(sorted.map(({ report }) => report.values)),
    textArray(sorted.map(({ report }) => report.actor)),
  ])
  const applied: Applied = { devices: reports.map(() => undefined), revoked: new Set(), changes: 0 }
  const changed = new Set<string>()
  for (const row of rows) {
    const place = sorted[row.n - 1]
    if (place === undefined) applied.revoked.add(row.app_id)
    else applied.devices[place.index] = toDevice(row)
    if (!row.is_changed) continue
    applied.changes++
    changed.add(row.app_id)
  }
  if (changed.size > 0) noteEvents(sql, [...changed])
  return applied
}

/** Sorts reports by round, and within each by device, the order of every writer; with the number of each round's last. */
function inRounds(reports: readonly Report[]) {
  const counts = new Map<string, number>()
  const placed = reports.map((report, index) => {
    const round = counts.get(report.deviceNo) ?? 0
    counts.set(report.deviceNo, round + 1)
    return { report, index, round }
  })
  const sorted = placed.toSorted(
    (one, other) => one.round - other.round || (one.report.deviceNo < other.report.deviceNo ? -1 : 1),
  )
  const ends = sorted.flatMap(({ round }, at) => (sorted[at + 1]?.round === round ? [] : [at + 1]))
  return { sorted, ends }
}
