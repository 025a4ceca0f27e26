import type { ParameterOrJSON, Row } from 'postgres'
import type { PageRequest } from '../../database/page.ts'
import { textArray } from '../../database/routine.ts'
import { limits } from '../../vocabulary/limits.ts'
import { deviceColumnsSql } from '../columns.ts'
import {
  type AddParameter,
  conditionsSql,
  type DeviceFilter,
  isJoined,
  lastReportConditions,
  ownerSql,
} from '../filter/store.ts'
import { isBehindSql, ownOrder, type PageOrder } from './order.ts'

// Statements of device lists and exports (docs/decisions/0009-device-pages.md).

const columnsSql = deviceColumnsSql()
const { orderSql, keySql } = ownOrder
/** Orders one page's rows. `|| ''` forces a sort: reading in index order would walk through all rows. */
const pageOrderSql = `order by app_id || '', bound_at desc, device_no desc`

export interface Statement {
  text: string
  values: ParameterOrJSON<never>[]
}

function statement(write: (add: AddParameter) => string): Statement {
  const values: ParameterOrJSON<never>[] = []
  return { text: write((value) => `$${values.push(value)}`), values }
}

export function countStatement(filter: DeviceFilter): Statement {
  return statement(
    (add) => `
      select count(*) as counted
      from (select 1 from device where ${conditionsSql(filter, add)} limit ${limits.pageRowsCounted + 1}) as fitting`,
  )
}

type Asked = Omit<PageRequest, 'asked'>

/** SQL: finds up to `most` + 1 matching devices, and the page's keys if no more than `most` match. */
function searchSql(
  filter: DeviceFilter,
  { after, offset, pageSize }: Asked,
  most: number,
  order: PageOrder,
  add: AddParameter,
) {
  const fitting = conditionsSql(filter, add)
  const behind = isBehindKeySql(order, after, add)
  return {
    search: `with fitting as materialized (
        select ${order.columnsSql} from device where ${fitting} limit ${most + 1}
      ), total as materialized (select count(*) as counted from fitting)`,
    keys: keysSql('fitting, total', `counted <= ${most} and ${behind}`, order, pageSize + 1, offset, add),
  }
}

/** SQL: a page's keys, composed for its rows only and not for all sorted ones. */
function keysSql(from: string, condition: string, order: PageOrder, limit: number, offset: number, add: AddParameter) {
  return `select app_id, bound_at, device_no, ${order.keySql} as page_key from (
      select ${order.columnsSql} from ${from} where ${condition} ${order.orderSql} limit ${add(limit)} offset ${add(offset)}
    ) as listed ${order.orderSql}`
}

const isBehindKeySql = (order: PageOrder, after: string[] | null, add: AddParameter): string =>
  after === null ? 'true' : order.isBehindSql(after, add)

/** Counts matching devices up to the limit + 1 and reads the page if within it, in one scan in any order. */
export function searchStatement(filter: DeviceFilter, asked: Asked): Statement {
  return statement((add) => {
    const { search, keys } = searchSql(filter, asked, limits.pageRowsCounted, ownOrder, add)
    return `
      ${search} select counted, page.* from total left join (
        select ${columnsSql}, page_key from (${keys}) as listed
        join device using (app_id, bound_at, device_no) where ${ownerSql(filter, add)}
      ) as page on true ${orderSql}`
  })
}

/** Counts matching devices up to `most` + 1 and, within `most`, reads the page's keys. */
export function keySearchStatement(filter: DeviceFilter, asked: Asked, most: number, order: PageOrder): Statement {
  return statement((add) => {
    const { search, keys } = searchSql(filter, asked, most, order, add)
    return `${search} select counted, listed.* from total left join (${keys}) as listed on true`
  })
}

/** Counts how many of a sample match by their reports; 0 for fewer than `limits.joinedDevicesLookedAt` devices. */
export function lookStatement(filter: DeviceFilter): Statement {
  const others = { ...filter, lastReport: null, hasReported: null }
  return statement(
    (add) => `
      with walked as materialized (
        select app_id, device_no from device where ${conditionsSql(others, add)} limit ${limits.joinedDevicesLookedAt}
      )
      select case when (select count(*) from walked) = ${limits.joinedDevicesLookedAt} then (
        select count(*) from ${walkedReportsSql(filter, add)}
        where coalesce(${lastReportConditions(filter, add).join(' and ')}, false)) else 0 end as counted`,
  )
}

function walkedReportsSql(filter: DeviceFilter, add: AddParameter): string {
  return `walked left join (
      select app_id, device_no, reported_at from device_presence where ${ownerSql(filter, add, 'device_presence')}
    ) as reports using (app_id, device_no)`
}

/** Reads a page's keys among all matching devices: along an index, or by sorting them. */
export function orderedKeysStatement(
  filter: DeviceFilter,
  { after, offset, pageSize }: Asked,
  order: PageOrder,
  isNewestFirst = false,
): Statement {
  return statement((add) => {
    const fitting = `${conditionsSql(filter, add)} and ${isBehindKeySql(order, after, add)}`
    const newestFirst = `(select ${order.columnsSql} from device where ${fitting}
      order by app_id desc, bound_at desc, device_no desc) as device`
    return isNewestFirst
      ? keysSql(newestFirst, 'true', order, pageSize + 1, offset, add)
      : keysSql('device', fitting, order, pageSize + 1, offset, add)
  })
}

/** Reads the keys of all devices by serial, from the bindings: every bound serial is a device. */
export function serialsStatement({ after, offset, pageSize }: Asked, order: PageOrder): Statement {
  return statement((add) =>
    keysSql('device_binding', isBehindKeySql(order, after, add), order, pageSize + 1, offset, add),
  )
}

export function keysStatement(filter: DeviceFilter, keys: readonly Row[]): Statement {
  return statement(
    (add) => `
      select ${columnsSql} from device join unnest(
        ${add(textArray(keys.map((key) => key.app_id)))}::text[],
        ${add(textArray(keys.map((key) => key.bound_at.toISOString())))}::timestamptz[],
        ${add(textArray(keys.map((key) => key.device_no)))}::text[]
      ) as listed (app_id, bound_at, device_no) using (app_id, bound_at, device_no)
      where ${ownerSql(filter, add)}`,
  )
}

/** The devices after a key in its application, or those of all later applications. */
export type KeyRange = { behind: string[] } | { behindApplication: string }

/** Reads matching devices in order, and scans the index only up to the end of the page. */
export function rangeStatement(filter: DeviceFilter, range: KeyRange, limit: number, offset: number): Statement {
  return statement((add) => {
    const fitting = `${conditionsSql(filter, add)} and ${isWithinSql(range, add)}`
    return `
      select ${columnsSql}, ${keySql} as page_key from (
        select app_id, bound_at, device_no from device
        where ${fitting} ${orderSql} limit ${add(limit)} offset ${add(offset)}
      ) as listed join device using (app_id, bound_at, device_no) where ${ownerSql(filter, add)} ${pageOrderSql}`
  })
}

/**
 * Reads matching devices in order, with their latest report times, of at most `limits.exportRowsWalked` devices.
 * `coalesce` hides the condition on reports from the planner, which would otherwise read all reports first.
 */
export function exportStatement(filter: DeviceFilter, range: KeyRange, limit: number): Statement {
  return statement((add) => {
    // Without a condition on reports, every walked device matches.
    const walked = walkedSql(filter, range, isJoined(filter) ? limits.exportRowsWalked : limit, add)
    const fitting = lastReportConditions(filter, add)
    return `
      select ${columnsSql}, ${keySql} as page_key, reported_at from (
        select app_id, bound_at, device_no, reported_at from (${walked}) as ${walkedReportsSql(filter, add)}
        where ${walkedOwnerSql(filter, range, add)} and coalesce(${fitting.join(' and ') || 'true'}, false)
        ${orderSql} limit ${add(limit)}
      ) as listed join device using (app_id, bound_at, device_no) where ${ownerSql(filter, add)} ${pageOrderSql}`
  })
}

/** Reads the last key that `exportStatement` looks at; no row if the devices end before. */
export function walkEndStatement(filter: DeviceFilter, range: KeyRange): Statement {
  return statement(
    (add) => `
      select ${keySql} as page_key from (${walkedSql(filter, range, limits.exportRowsWalked, add)}) as walked
      where ${walkedOwnerSql(filter, range, add)} ${orderSql} offset ${limits.exportRowsWalked - 1}`,
  )
}

/** SQL: the range's next devices, in order, that match everything except conditions on reports. */
function walkedSql(filter: DeviceFilter, range: KeyRange, walked: number, add: AddParameter): string {
  const others = { ...filter, lastReport: null, hasReported: null }
  return `select app_id, bound_at, device_no from device
    where ${conditionsSql(others, add)} and ${isWithinSql(range, add)} ${orderSql} limit ${add(walked)}`
}

/** Repeats the condition on the owner: for a single owner, the planner knows that the rows are in order. */
function walkedOwnerSql(filter: DeviceFilter, range: KeyRange, add: AddParameter): string {
  return 'behind' in range ? `walked.app_id = ${add(range.behind[0] ?? '')}` : ownerSql(filter, add, 'walked')
}

function isWithinSql(range: KeyRange, add: AddParameter): string {
  if ('behindApplication' in range) return `app_id > ${add(range.behindApplication)}`
  const [appId = '', micros = '', deviceNo = ''] = range.behind
  return `app_id = ${add(appId)} and ${isBehindSql(add(micros), add(deviceNo))}`
}
