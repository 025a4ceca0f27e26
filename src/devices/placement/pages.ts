import type { Static } from 'typebox'
import type { Caller } from '../../callers/caller.ts'
import { requireApplicationOf } from '../../callers/permissions.ts'
import type { Sql } from '../../database/open.ts'
import type { PageQuery } from '../../database/page.ts'
import { readFilters } from '../../vocabulary/filters.ts'
import { pagePlacements } from './contract.ts'
import { pageOfPlacements } from './store.ts'

export async function readPlacementPage(
  sql: Sql,
  caller: Caller,
  query: Static<NonNullable<typeof pagePlacements.query>> & PageQuery,
) {
  const appId = await requireApplicationOf(sql, caller, query.appId)
  const { deviceNos, ...filters } = readFilters(pagePlacements.query, query)
  return pageOfPlacements(sql, { ...query, ...filters, deviceNos: deviceNos?.split(',') ?? null, appId })
}
