import { isLaterThan, type Match, type Matches, type RowKey, readMatches } from '../../database/matches.ts'
import type { Sql, Statements } from '../../database/open.ts'
import { textArray } from '../../database/routine.ts'
import type { Site } from '../rules.ts'
import { type SiteConditions, siteColumnsSql, siteConditions, toSite } from '../store.ts'

// Finds sites for bulk actions without a lock, and checks them again under it.

export interface MatchingSites extends Match {
  filter: SiteConditions
}

/** Looks at the next `limit` sites after a key, newest first, and returns those that match. */
export function scanSites(
  sql: Sql,
  { appId, filter, beganAfter }: MatchingSites,
  after: RowKey | null,
  limit: number,
): Promise<Matches> {
  // No site is created later than its event says, so `beganAfter` bounds the scan.
  const scan = (tx: Statements) => ({
    rows: tx`
      select id, (true ${siteConditions(tx, filter)}) as fits from site
      where app_id = ${appId} and created_at <= timestamptz 'epoch' + ${beganAfter}::bigint * interval '1 microsecond'
        ${after === null ? tx`` : tx`and id < ${after[0] as string}::text::bigint`}`,
    order: ['id'],
    keySql: 'json_build_array(id::text)',
  })
  return readMatches(sql, scan, limit)
}

/** Returns which sites match the filter and existed when the bulk action started. Needs the application's lock. */
export async function findMatchingSites(
  tx: Statements,
  match: MatchingSites,
  keys: readonly RowKey[],
): Promise<Site[]> {
  const ids = textArray(keys.map(([id]) => id as string))
  const rows = await tx`
    select found.* from unnest(${ids}::text[]::bigint[]) with ordinality as k (key, n)
    cross join lateral (
      select ${tx.unsafe(siteColumnsSql)} from site
      where app_id = ${match.appId} and id = k.key ${siteConditions(tx, match.filter)}
        and not ${isLaterThan(tx, match, 'site.id::text', ['site.created'])}
      limit 1) as found
    order by k.n`
  return rows.map(toSite)
}
