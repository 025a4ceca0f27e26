import type { Row } from 'postgres'
import type { Caller } from '../../callers/caller.ts'
import { callerParameters, callerValues, findRevokedSql } from '../../callers/store.ts'
import { lockAndNumberSql, lockAndNumberVariablesSql } from '../../database/application-lock.ts'
import { noteEvents } from '../../database/commits.ts'
import type { Statements } from '../../database/open.ts'
import { arrayRows, callRoutine, isAtPlaceSql, routine, textArray } from '../../database/routine.ts'
import { deviceColumns, deviceColumnsSql, deviceTypes, memberOf, toDevice } from '../columns.ts'
import { lockPresenceSql } from '../routine.ts'
import { compareSerials, type Device } from '../rules.ts'
import { elements, givenSql, stateColumns, stateParameters, stateTypes, stateValues } from './columns.ts'
import { cleared, type ReportedValues } from './rules.ts'

/** A report, or a device's silence. */
export interface Report {
  appId: string
  deviceNo: string
  actor: string
  /** `unchanged` keeps the latest report's time. */
  time: Date | 'now' | 'unchanged'
  /** Whether a newer stored report makes this one change nothing. */
  isCompared: boolean
  values: ReportedValues
}

/** Returns the time for the database; null means its own clock. */
export function timeOf({ time }: Report): string | null {
  if (time === 'now') return null
  return time === 'unchanged' ? '-infinity' : time.toISOString()
}

export const findBindingsVariablesSql = `  v_found text[];
  v_numbers integer[];
  v_owners text[];
  v_bounds timestamptz[];`

/** SQL: reads the sorted serials' bindings as `v_numbers` (reports with a bound device), `v_owners`, `v_bounds`. */
export const findBindingsSql = `select array_agg(b.device_no), array_agg(b.app_id), array_agg(b.bound_at) into v_found, v_owners, v_bounds
  from (select device_no, app_id, bound_at from device_binding where device_no = any(p_serials) order by device_no) as b;
  if v_found = p_serials then
    v_numbers := array(select generate_series(1, cardinality(p_serials)));
  else
    -- Without a join: these routines allow only nested loops. Without "offset 0" the place would be sought twice.
    select array_agg(r.n), array_agg(v_owners[r.place]), array_agg(v_bounds[r.place])
    into v_numbers, v_owners, v_bounds
    from (
      select n, array_position(v_found, serial) as place
      from unnest(p_serials) with ordinality as u (serial, n) offset 0) as r
    where r.place is not null;
  end if;`

/**
 * SQL: the devices in `v_app` of its reports, with the report's number `n`, the row's place and the earlier reports. It
 * uses whole keys: for a join, a planner without statistics reads all rows of the application.
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

/** SQL: the stored value; null where a report clears the column. */
function storedSql(column: StateColumn, value: string): string {
  const none = clearedSql[column]
  return none === undefined ? value : `nullif(${value}, ${none})`
}

const each = (sql: (column: StateColumn) => string) => columns.map(sql).join(', ')

const otherColumns = deviceColumns.filter((column) => !(column in stateTypes))

/** SQL: what report `n` gives for a column; null if it leaves it out or there is no `n`. */
const givenByReportSql = (column: StateColumn, n: string) =>
  column === 'online_status' ? `case when ${n} is not null then ${givenSql(n)[column]} end` : givenSql(n)[column]

/** SQL: the batch's earlier reports of the same device. */
const earlierSql =
  'window earlier as (partition by r.last order by r.n rows between unbounded preceding and 1 preceding)'

/**
 * SQL: the reports of `v_app`, with the newest time before each. `counted` is the report's number; null if it is late
 * and so gives nothing.
 */
const timedSql = `
          select r.*, case when p_compared[r.n] and r.time < r.newest then null else r.n end as counted
          from (
            select r.*, greatest(r.reported_at, max(r.time) over earlier) as newest
            from (${knownSql(`, coalesce(p_lasts[i.number], i.number) as last,
              coalesce(p_times[i.number], v_now) as time`)}) as r ${earlierSql}) as r`

/**
 * SQL: the reports of `timedSql`, with the previous state in `old_…`: what the last report before gave, whose number is
 * in `…_by`, or else what is stored.
 */
const followingSql = `
        select r.*, ${each(
          (column) =>
            `case when r.${column}_by is null then r.${column} else ${storedSql(column, givenSql(`r.${column}_by`)[column])} end as old_${column}`,
        )}
        from (
          select r.*, ${each(
            (column) =>
              `max(case when ${givenByReportSql(column, 'r.counted')} is not null then r.counted end) over earlier as ${column}_by`,
          )}
          from (${timedSql}) as r ${earlierSql}) as r`

const differs = (column: StateColumn) => `r.new_${column} is distinct from r.old_${column}`
const isChangedSql = `(${columns.map(differs).join(' or ')})`
/** SQL: the changed fields with their previous values, as JSON. */
const beforeSql = `concat('{', concat_ws(',', ${columns
  .map((column) => {
    const value = stateTypes[column] === 'text' ? `to_json(r.old_${column})` : `r.old_${column}`
    return `case when ${differs(column)} then concat('"${memberOf[column]}":', coalesce(${value}::text, 'null')) end`
  })
  .join(', ')}), '}')`

/**
 * Applies a batch of reports in one transaction: locks, rows, `seen_at` and events. Locks the applications first, so
 * that later statements see each device's last write. Reports are sorted by device; `p_lasts` has the number of a
 * device's last report, and is empty if each has only one. Returns the device after each report; none if the
 * application doesn't own it. Before them comes a row without a number for each application whose caller has lost
 * access: none of its reports is applied.
 */
export const applyReportsRoutine = routine(
  'apply_reports',
  {
    p_now: 'timestamptz',
    p_apps: 'text[]',
    p_count: 'integer',
    p_lasts: 'integer[]',
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
  v_revoked text[] := '{}';
  -- Times of reports are stored in milliseconds, and compared so. Citus rejects now() within a case.
  v_now timestamptz(3) := now();
  v_old timestamptz := now() - p_refresh_ms * interval '1 millisecond';`,
  `  ${lockAndNumberSql}
  ${findRevokedSql()}
  if v_revoked <> '{}' then
    return query select ${deviceColumns
      .map((column) => (column === 'app_id' ? column : `null::${deviceTypes[column]}`))
      .join(', ')}, null::integer, false from unnest(v_revoked) as r (app_id);
  end if;
  if p_compared <> '{}' then
    foreach v_app in array p_apps loop
      -- Signs of life are written without the application's lock, so this locks their rows, in the order of
      -- every writer: all, not only those whose times are compared, because the others are written later.
      ${lockPresenceSql(
        '(select app_id, device_no from unnest(p_owners, p_serials) as r (app_id, device_no) order by device_no collate "C") as i',
      )}
    end loop;
  end if;
  ${findBindingsSql}
  foreach v_app in array array(
    select distinct owner from unnest(v_owners) as owner
    where owner = any(p_apps) and owner <> all(v_revoked) order by owner) loop
    v_base := v_bases[array_position(p_apps, v_app)];
    return query
    with report as materialized (
      select r.n, r.last, r.place, r.time, r.newest, r.counted, r.online_status_by, r.seen_at,
        ${otherColumns.map((column) => `r.${column}`).join(', ')}, ${each((column) => `r.${column}, r.old_${column}`)},
        ${each(
          (column) =>
            `${storedSql(column, `coalesce(${givenByReportSql(column, 'r.counted')}, r.old_${column})`)} as new_${column}`,
        )}
      from (${followingSql}) as r),
    changed as (
      update device d set ${each((column) => `${column} = k.new_${column}`)} from report k
      where k.n = k.last and (${columns.map((column) => `k.new_${column} is distinct from k.${column}`).join(' or ')})
        and ${isAtPlaceSql} and d.bound_at = k.bound_at and d.device_no = k.device_no),
    history as (
      insert into state_change (app_id, id, time, reported_at, actor, device_no, before, ${columns.join(', ')})
      select v_app, v_base + r.n, p_now, greatest(r.newest, r.time), p_actors[r.n], r.device_no, ${beforeSql},
        ${each((column) => `r.new_${column}`)}
      from report r where ${isChangedSql}),
    present as (
      -- One statement, in the order of the rows. A sign that stays is -infinity, below every other: no index entry
      -- changes.
      insert into device_presence (app_id, device_no, reported_at, seen_at, offline_since, faulty_since)
      select v_app, r.device_no, greatest(r.newest, r.time),
        case when r.new_online_status = 2 then null when r.seen_at > v_old then '-infinity' else v_now end,
        case when r.new_online_status = 2 then v_now end, case when r.new_status <> 1 then v_now end
      from report r where r.n = r.last and coalesce(r.counted, r.online_status_by) is not null
      on conflict (app_id, device_no) do update
      set reported_at = greatest(device_presence.reported_at, excluded.reported_at),
        seen_at = case when excluded.seen_at is not null then greatest(device_presence.seen_at, excluded.seen_at) end,
        offline_since = case when excluded.offline_since is not null
          then coalesce(device_presence.offline_since, excluded.offline_since) end,
        faulty_since = case when excluded.faulty_since is not null
          then coalesce(device_presence.faulty_since, excluded.faulty_since) end)
    select ${deviceColumns.map((column) => (column in stateTypes ? `r.new_${column}` : `r.${column}`)).join(', ')},
      r.n, ${isChangedSql} from report r;
  end loop;`,
)

export interface Applied {
  /** Undefined if the report's application doesn't own it. */
  devices: (Device | undefined)[]
  /** Applications whose callers have lost access; none of their reports was applied. */
  revoked: Set<string>
  changes: number
}

export async function applyReports(
  sql: Statements,
  reports: readonly Report[],
  callers: Iterable<Caller>,
  refreshMs: number,
): Promise<Applied> {
  const { sorted, lasts } = byDevice(reports)
  const apps = [...new Set(reports.map(({ appId }) => appId))].sort()
  const rows = await callRoutine<Row>(sql, applyReportsRoutine, [
    new Date().toISOString(),
    textArray(apps),
    sorted.length,
    lasts,
    textArray(sorted.map(({ report }) => report.deviceNo)),
    textArray(sorted.map(({ report }) => report.appId)),
    refreshMs,
    ...callerValues(callers, apps),
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

/** Sorts reports by device, the order of every writer, with the number of each device's last one. */
function byDevice(reports: readonly Report[]) {
  const sorted = reports
    .map((report, index) => ({ report, index }))
    .toSorted((one, other) => compareSerials(one.report.deviceNo, other.report.deviceNo))
  const keyOf = ({ report }: { report: Report }) => `${report.deviceNo} ${report.appId}`
  const lastOf = new Map(sorted.map((one, at) => [keyOf(one), at + 1]))
  const lasts = lastOf.size === sorted.length ? '{}' : textArray(sorted.map((one) => lastOf.get(keyOf(one)) as number))
  return { sorted, lasts }
}
