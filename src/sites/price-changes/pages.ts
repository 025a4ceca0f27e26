import type { Static } from 'typebox'
import type { Caller } from '../../callers/caller.ts'
import { requireApplicationsOf } from '../../callers/permissions.ts'
import type { Sql } from '../../database/open.ts'
import type { PageQuery } from '../../database/page.ts'
import { readTimeRange } from '../../vocabulary/moments.ts'
import { given } from '../../vocabulary/values.ts'
import type { pagePriceChanges } from './contract.ts'
import { pageOfPriceChanges } from './store.ts'

export async function readPriceChangePage(
  sql: Sql,
  caller: Caller,
  { appId, ...query }: Static<NonNullable<typeof pagePriceChanges.query>> & PageQuery,
) {
  const filter = {
    ...query,
    appIds: await requireApplicationsOf(sql, caller, appId),
    status: given(query.status),
    billingRuleId: given(query.billingRuleId),
    siteId: given(query.siteId),
    undoOf: given(query.undoOf)?.split(',').map(Number) ?? null,
    effective: readTimeRange(query),
  }
  return pageOfPriceChanges(sql, filter)
}
