import type { Static } from 'typebox'
import type { Caller } from '../callers/caller.ts'
import { requireApplicationsOf } from '../callers/permissions.ts'
import type { Sql } from '../database/open.ts'
import type { PageQuery } from '../database/page.ts'
import { readFilters } from '../vocabulary/filters.ts'
import { pageSites } from './contract.ts'
import { pageOfSites } from './store.ts'

type Query = Static<NonNullable<typeof pageSites.query>> & PageQuery

/** Reads a page of sites for a caller. */
export async function readSitePage(sql: Sql, caller: Caller, { appId, ...query }: Query) {
  const appIds = await requireApplicationsOf(sql, caller, appId)
  return pageOfSites(sql, { ...query, ...readFilters(pageSites.query, query), appIds })
}
