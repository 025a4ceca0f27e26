import type { Static } from 'typebox'
import type { Caller } from '../../callers/caller.ts'
import { requireApplicationOf } from '../../callers/permissions.ts'
import type { Sql } from '../../database/open.ts'
import type { PageQuery } from '../../database/page.ts'
import { given } from '../../vocabulary/values.ts'
import type { pagePlacements } from './contract.ts'
import { pageOfPlacements } from './store.ts'

export async function readPlacementPage(
  sql: Sql,
  caller: Caller,
  query: Static<NonNullable<typeof pagePlacements.query>> & PageQuery,
) {
  const filter = {
    ...query,
    appId: await requireApplicationOf(sql, caller, query.appId),
    siteId: given(query.siteId),
    deviceNo: given(query.deviceNo),
    deviceNos: given(query.deviceNos)?.split(',') ?? null,
    laneType: given(query.laneType),
    status: given(query.status),
    onlineStatus: given(query.onlineStatus),
    runStatus: given(query.runStatus),
    provinceCode: given(query.provinceCode),
    cityCode: given(query.cityCode),
    districtCode: given(query.districtCode),
  }
  return pageOfPlacements(sql, filter)
}
