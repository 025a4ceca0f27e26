import type { Static } from 'typebox'
import type { Caller } from '../callers/caller.ts'
import { requireApplicationsOf } from '../callers/permissions.ts'
import type { Sql } from '../database/open.ts'
import type { PageQuery } from '../database/page.ts'
import { readBbox } from '../vocabulary/coordinates.ts'
import { readTimeRange } from '../vocabulary/moments.ts'
import { given } from '../vocabulary/values.ts'
import type { pageSites } from './contract.ts'
import { pageOfSites, type SiteConditions } from './store.ts'

type Query = Static<NonNullable<typeof pageSites.query>>

export function readSiteFilter(query: Query): SiteConditions {
  const bbox = given(query.bbox)
  const hasDevices = given(query.hasDevices)
  return {
    siteName: given(query.siteName),
    contacts: given(query.contacts),
    provinceCode: given(query.provinceCode),
    cityCode: given(query.cityCode),
    districtCode: given(query.districtCode),
    billingRuleId: given(query.billingRuleId),
    hasDevices: hasDevices === null ? null : hasDevices === 'true',
    created: readTimeRange(query),
    bbox: bbox === null ? null : readBbox(bbox),
  }
}

export async function readSitePage(sql: Sql, caller: Caller, { appId, ...query }: Query & PageQuery) {
  const appIds = await requireApplicationsOf(sql, caller, appId)
  return pageOfSites(sql, { ...query, appIds, ...readSiteFilter(query) })
}
