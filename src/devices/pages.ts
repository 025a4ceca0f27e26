import type { Static } from 'typebox'
import type { Caller } from '../callers/caller.ts'
import { requireApplicationsOf } from '../callers/permissions.ts'
import type { Sql } from '../database/open.ts'
import { type PageQuery, readSort } from '../database/page.ts'
import { readFilters } from '../vocabulary/filters.ts'
import { readTimeRange } from '../vocabulary/moments.ts'
import { pageDevices } from './contract.ts'
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

/** Reads the filters of a query, of devices of these applications; null for all applications. */
export function readDeviceFilter(query: object, appIds: readonly string[] | null): DeviceFilter {
  const { lastReportFrom, lastReportTo, ...filters } = readFilters(pageDevices.query, query)
  const lastReport = readTimeRange({ timeFrom: lastReportFrom, timeTo: lastReportTo })
  return { ...filters, appIds, lastReport: lastReport.from === null && lastReport.before === null ? null : lastReport }
}
