import type { Static } from 'typebox'
import type { Caller } from '../../callers/caller.ts'
import { requireApplicationsOf } from '../../callers/permissions.ts'
import type { Sql } from '../../database/open.ts'
import type { PageQuery } from '../../database/page.ts'
import { readFilters } from '../../vocabulary/filters.ts'
import { pagePriceChanges } from './contract.ts'
import { pageOfPriceChanges } from './store.ts'

export async function readPriceChangePage(
  sql: Sql,
  caller: Caller,
  { appId, ...query }: Static<NonNullable<typeof pagePriceChanges.query>> & PageQuery,
) {
  const appIds = await requireApplicationsOf(sql, caller, appId)
  const { undoOf, ...filters } = readFilters(pagePriceChanges.query, query)
  return pageOfPriceChanges(sql, { ...query, ...filters, undoOf: undoOf?.split(',').map(Number) ?? null, appIds })
}
