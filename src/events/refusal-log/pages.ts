import type { Static } from 'typebox'
import type { Caller } from '../../callers/caller.ts'
import { requireApplicationsOf } from '../../callers/permissions.ts'
import type { Sql } from '../../database/open.ts'
import type { PageQuery } from '../../database/page.ts'
import { readFilters } from '../../vocabulary/filters.ts'
import type { Reason } from '../../vocabulary/refusals.ts'
import { pageRefusals } from './contract.ts'
import { pageOfRefusals } from './store.ts'

type Query = Static<NonNullable<(typeof pageRefusals)['query']>> & PageQuery

export async function readRefusalPage(sql: Sql, caller: Caller, { appId, ...query }: Query, language: keyof Reason) {
  const appIds = await requireApplicationsOf(sql, caller, appId)
  const filter = { ...readFilters(pageRefusals.query, query), appIds }
  return pageOfRefusals(sql, filter, query, language)
}
