import type { Static } from 'typebox'
import type { Caller } from '../callers/caller.ts'
import { requireApplicationsOf } from '../callers/permissions.ts'
import type { Sql } from '../database/open.ts'
import { type PageQuery, readSort } from '../database/page.ts'
import { readBbox } from '../vocabulary/coordinates.ts'
import { readTimeRange } from '../vocabulary/moments.ts'
import { given } from '../vocabulary/values.ts'
import type { pageDevices } from './contract.ts'
import type { DeviceFilter } from './filter/store.ts'
import { pageOfDevices, pageOfExportedDevices } from './paging/store.ts'

type Query = Static<NonNullable<typeof pageDevices.query>> & PageQuery

export async function readDevicePage(sql: Sql, caller: Caller, query: Query) {
  return pageOfDevices(sql, await filterOf(sql, caller, query), readSort(query), withoutOwner(query))
}

export async function readExportedDevicePage(sql: Sql, caller: Caller, query: Query) {
  return pageOfExportedDevices(sql, await filterOf(sql, caller, query), withoutOwner(query))
}

const withoutOwner = ({ appId, ...query }: Query): PageQuery => query

async function filterOf(sql: Sql, caller: Caller, query: Query): Promise<DeviceFilter> {
  return readDeviceFilter(query, await requireApplicationsOf(sql, caller, query.appId))
}

/** Reads a query's filters; `appIds: null` means all applications. */
export function readDeviceFilter(query: Query, appIds: readonly string[] | null): DeviceFilter {
  const bbox = given(query.bbox)
  const isPlaced = given(query.isPlaced)
  const hasReported = given(query.hasReported)
  const lastReport = readTimeRange({ timeFrom: given(query.lastReportFrom), timeTo: given(query.lastReportTo) })
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
    lastReport: lastReport.from === null && lastReport.before === null ? null : lastReport,
    hasReported: hasReported === null ? null : hasReported === 'true',
    bbox: bbox === null ? null : readBbox(bbox),
  }
}
