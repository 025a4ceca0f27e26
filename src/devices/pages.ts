import type { Static } from 'typebox'
import type { Caller } from '../callers/caller.ts'
import { requireApplicationsOf } from '../callers/permissions.ts'
import type { Sql } from '../database/open.ts'
import type { PageQuery } from '../database/page.ts'
import type { ReadTimeRange, ShowMoment } from '../vocabulary/moments.ts'
import { given, readBbox } from '../vocabulary/values.ts'
import type { pageDevices } from './contract.ts'
import { type DeviceFilter, pageOfDevices } from './store.ts'

type Query = Static<NonNullable<typeof pageDevices.query>>

/** Reads the filters of a query, of devices of these applications; null for all applications. */
export function readDeviceFilter(
  query: Query,
  appIds: readonly string[] | null,
  readTimeRange: ReadTimeRange,
): DeviceFilter {
  const bbox = given(query.bbox)
  const isPlaced = given(query.isPlaced)
  return {
    appIds,
    deviceNo: given(query.deviceNo),
    deviceName: given(query.deviceName),
    tag: given(query.tag),
    provinceCode: given(query.provinceCode),
    cityCode: given(query.cityCode),
    districtCode: given(query.districtCode),
    modelName: given(query.modelName),
    status: given(query.status),
    onlineStatus: given(query.onlineStatus),
    runStatus: given(query.runStatus),
    siteId: given(query.siteId),
    isPlaced: isPlaced === null ? null : isPlaced === 'true',
    bound: readTimeRange(query),
    bbox: bbox === null ? null : readBbox(bbox),
  }
}

/** Returns the function that reads a page of devices for a caller. */
export function devicePages({ showMoment, readTimeRange }: { showMoment: ShowMoment; readTimeRange: ReadTimeRange }) {
  return async (sql: Sql, caller: Caller, { appId, ...query }: Query & PageQuery) => {
    const filter = readDeviceFilter(query, await requireApplicationsOf(sql, caller, appId), readTimeRange)
    return pageOfDevices(sql, filter, query, showMoment)
  }
}
