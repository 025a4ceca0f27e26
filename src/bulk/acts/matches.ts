import type { Matches, RowKey } from '../../database/matches.ts'
import type { Sql } from '../../database/open.ts'
import { scanDevices } from '../../devices/matching/store.ts'
import { readDeviceFilter } from '../../devices/pages.ts'
import { pageSites } from '../../sites/contract.ts'
import { scanSites } from '../../sites/matching/store.ts'
import { readFilters } from '../../vocabulary/filters.ts'
import { limits } from '../../vocabulary/limits.ts'
import type { ActKind } from './contract.ts'

// The filter is read exactly as the list operation reads it.

interface ActRows {
  kind: ActKind
  appId: string
  filter: Record<string, unknown>
  beganAfter: number
}

export const devicesOf = ({ appId, filter, beganAfter }: ActRows) => ({
  appId,
  beganAfter,
  filter: readDeviceFilter(filter, [appId]),
})

export const sitesOf = ({ appId, filter, beganAfter }: ActRows) => ({
  appId,
  beganAfter,
  filter: readFilters(pageSites.query, filter),
})

export function scanRows(sql: Sql, rows: ActRows, after: RowKey | null): Promise<Matches> {
  return rows.kind === 'devices'
    ? scanDevices(sql, devicesOf(rows), after, limits.actRowsScanned)
    : scanSites(sql, sitesOf(rows), after, limits.actRowsScanned)
}

/** Counts all matching rows in steps; `read` runs each. */
export async function countRows(
  read: (step: (sql: Sql) => Promise<Matches>) => Promise<Matches>,
  rows: ActRows,
): Promise<number> {
  let count = 0
  for (let after: RowKey | null = null; ; ) {
    const from = after
    const { keys, last } = await read((sql) => scanRows(sql, rows, from))
    count += keys.length
    if (last === null) return count
    after = last
  }
}
