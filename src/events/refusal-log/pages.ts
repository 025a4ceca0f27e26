import type { Static } from 'typebox'
import type { Caller } from '../../callers/caller.ts'
import { requireApplicationsOf } from '../../callers/permissions.ts'
import type { Sql } from '../../database/open.ts'
import type { PageQuery } from '../../database/page.ts'
import { readTimeRange } from '../../vocabulary/moments.ts'
import type { Reason } from '../../vocabulary/refusals.ts'
import { given } from '../../vocabulary/values.ts'
import type { pageRefusals } from './contract.ts'
import { pageOfRefusals } from './store.ts'

type Query = Static<NonNullable<(typeof pageRefusals)['query']>> & PageQuery

export async function readRefusalPage(sql: Sql, caller: Caller, { appId, ...query }: Query, language: keyof Reason) {
  const filter = {
    appIds: await requireApplicationsOf(sql, caller, appId),
    time: readTimeRange(query),
    code: given(query.code),
    operation: given(query.operation),
    deviceNo: given(query.deviceNo),
    subject: given(query.subject),
    requestId: given(query.requestId),
  }
  return pageOfRefusals(sql, filter, query, language)
}
