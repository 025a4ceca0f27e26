import type { Static } from 'typebox'
import type { Caller } from '../callers/caller.ts'
import { requireApplicationsOf } from '../callers/permissions.ts'
import type { Sql } from '../database/open.ts'
import type { PageQuery } from '../database/page.ts'
import { readFilters } from '../vocabulary/filters.ts'
import { pageBillingRules } from './contract.ts'
import { pageOfBillingRules } from './store.ts'

export async function readBillingRulePage(
  sql: Sql,
  caller: Caller,
  { appId, ...query }: Static<NonNullable<typeof pageBillingRules.query>> & PageQuery,
) {
  const appIds = await requireApplicationsOf(sql, caller, appId)
  return pageOfBillingRules(sql, { ...query, ...readFilters(pageBillingRules.query, query), appIds })
}
