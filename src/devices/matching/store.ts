import { fragmentOf, isLaterThan, type Match, type Matches, type RowKey, readMatches } from '../../database/matches.ts'
import type { Sql, Statements } from '../../database/open.ts'
import { textArray } from '../../database/routine.ts'
import { conditionsSql, type DeviceFilter } from '../filter/store.ts'

// Finds devices for bulk actions without a lock, and checks them again under it.

export interface MatchingDevices extends Match {
  filter: DeviceFilter
}

const keySql = `json_build_array((extract(epoch from bound_at) * 1000000)::bigint::text, device_no)`
const instantOf = (sql: Statements, micros: ReturnType<Statements['unsafe']> | string) =>
  sql`timestamptz 'epoch' + ${micros}::text::bigint * interval '1 microsecond'`

/** Looks at the next `limit` devices after a key, in list order, and returns those that match. */
export function scanDevices(
  sql: Sql,
  { appId, filter, beganAfter }: MatchingDevices,
  after: RowKey | null,
  limit: number,
): Promise<Matches> {
  // No device is bound later than its event says, so `beganAfter` bounds the scan.
  const [micros = '', deviceNo = ''] = after ?? [String(beganAfter + 1), '']
  const scan = (tx: Statements) => ({
    rows: tx`
      select bound_at, device_no, (${fragmentOf(tx, (add) => conditionsSql(filter, add))}) as fits from device
      where app_id = ${appId} and (bound_at, device_no) < (${instantOf(tx, micros)}, ${deviceNo})`,
    order: ['bound_at', 'device_no'],
    keySql,
  })
  return readMatches(sql, scan, limit)
}

/** Returns which serials match the filter and existed when the bulk action started. Needs the application's lock. */
export async function findMatchingDevices(
  tx: Statements,
  match: MatchingDevices,
  keys: readonly RowKey[],
): Promise<string[]> {
  const list = (place: number) => textArray(keys.map((key) => key[place] as string))
  const rows = await tx`
    select k.serial from unnest(${list(0)}::text[], ${list(1)}::text[]) with ordinality as k (micros, serial, n)
    cross join lateral (
      select 1 from device
      where app_id = ${match.appId} and bound_at = ${instantOf(tx, tx.unsafe('k.micros'))} and device_no = k.serial
        and ${fragmentOf(tx, (add) => conditionsSql(match.filter, add))}
        and not ${isLaterThan(tx, match, 'device.device_no', ['device.bound', 'device.transferred'])}
      limit 1) as found
    order by k.n`
  return rows.map((row) => row.serial)
}
