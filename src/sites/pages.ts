import type { Static } from 'typebox'
import type { Caller } from '../callers/caller.ts'
import { requireApplicationsOf } from '../callers/permissions.ts'
import type { Sql } from '../database/open.ts'
import type { PageQuery } from '../database/page.ts'
import type { ReadTimeRange, ShowMoment } from '../vocabulary/moments.ts'
import { given, readBbox } from '../vocabulary/values.ts'
import type { pageSites } from './contract.ts'
import { pageOfSites } from './store.ts'

/** Returns the function that reads a page of sites for a caller. */
export function sitePages({ showMoment, readTimeRange }: { showMoment: ShowMoment; readTimeRange: ReadTimeRange }) {
  return async (
    sql: Sql,
    caller: Caller,
    { appId, ...query }: Static<NonNullable<typeof pageSites.query>> & PageQuery,
  ) => {
    const bbox = given(query.bbox)
    const filter = {
      ...query,
      appIds: await requireApplicationsOf(sql, caller, appId),
      siteName: given(query.siteName),
      contacts: given(query.contacts),
      provinceCode: given(query.provinceCode),
      cityCode: given(query.cityCode),
      districtCode: given(query.districtCode),
      billingRuleId: given(query.billingRuleId),
      created: readTimeRange(query),
      bbox: bbox === null ? null : readBbox(bbox),
    }
    return pageOfSites(sql, filter, showMoment)
  }
}
