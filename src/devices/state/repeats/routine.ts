import type { Row } from 'postgres'
import type { Caller } from '../../../callers/caller.ts'
import { callerParameters, callerValues, findRevokedSql } from '../../../callers/store.ts'
import type { Statements } from '../../../database/open.ts'
import { callRoutine, isOfRowsSql, routine, textArray } from '../../../database/routine.ts'
import { deviceColumns, deviceColumnsSql, deviceTypes, toDevice } from '../../columns.ts'
import { compareSerials, type Device } from '../../rules.ts'
import { elements, givenSql, stateParameters, stateValues } from '../columns.ts'
import { findBindingsSql, findBindingsVariablesSql, knownSql, type Report, timeOf } from '../routine.ts'

/**
 * Notes reports that repeat their device's state: the time, and `seen_at` once the stored one is old. It takes no
 * application's lock, because a report that changes a device changes its row of `device_presence` too. A database crash
 * may lose half a second of these times. Returns the devices of the noted reports. Notes nothing if a caller has lost
 * access.
 */
export const noteRepeatsRoutine = routine(
  'note_repeats',
  {
    p_serials: 'text[]',
    p_owners: 'text[]',
    p_refresh_ms: 'integer',
    ...callerParameters,
    p_times: 'timestamptz[]',
    ...stateParameters,
  },
  deviceColumns.map((column) => `${column} ${deviceTypes[column]}`).join(', '),
  `${findBindingsVariablesSql}
  v_app text;
  v_now timestamptz := now();
  v_old timestamptz := now() - p_refresh_ms * interval '1 millisecond';
  v_revoked text[] := '{}';`,
  `  perform set_config('synchronous_commit', 'off', true);
  ${findRevokedSql()}
  if v_revoked <> '{}' then
    return;
  end if;
  ${findBindingsSql}
  -- In the order of every writer: applications first, then devices, each sorted.
  foreach v_app in array array(select distinct owner from unnest(v_owners) as owner order by owner) loop
    return query
    with known as materialized (${knownSql()})
    update device_presence p set reported_at = greatest(p.reported_at, coalesce(p_times[k.n], v_now)),
      seen_at = case when p.seen_at <= v_old then v_now else p.seen_at end
    from known k
    where ${isOfRowsSql('p')} and p.device_no = k.device_no
      and p.xmin = k.presence_version and (p.seen_at is not null) = (k.online_status = 1)
      and (p_times[k.n] is null or p_times[k.n] >= k.reported_at)
      and ${Object.entries(givenSql('k.n'))
        .map(([column, given]) => `(${given} is null or ${given} = k.${column})`)
        .join(' and ')}
    returning ${deviceColumnsSql('k')};
  end loop;`,
)

/** Notes repeated reports of distinct devices. Returns the devices by serial. */
export async function noteRepeats(
  sql: Statements,
  reports: readonly Report[],
  callers: Iterable<Caller>,
  refreshMs: number,
): Promise<Map<string, Device>> {
  const sorted = reports.toSorted((one, other) => compareSerials(one.deviceNo, other.deviceNo))
  const rows = await callRoutine<Row>(sql, noteRepeatsRoutine, [
    textArray(sorted.map(({ deviceNo }) => deviceNo)),
    textArray(sorted.map(({ appId }) => appId)),
    refreshMs,
    ...callerValues(callers, new Set(sorted.map(({ appId }) => appId))),
    elements(sorted.map(timeOf)),
    ...stateValues(sorted.map(({ values }) => values)),
  ])
  return new Map(rows.map((row) => [row.device_no, toDevice(row)]))
}
