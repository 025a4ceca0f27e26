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

// The statements that pages and exports of devices are read by (docs/decisions/0009-device-pages.md).

const columnsSql = deviceColumnsSql()
const { orderSql, keySql } = ownOrder
/** `orderSql` for the rows of one page. `|| ''` forces a sort: reading in index order would walk through all rows. */
const pageOrderSql = `order by app_id || '', bound_at desc, device_no desc`

export interface Statement {
  text: string
  values: ParameterOrJSON<never>[]
}

function statement(write: (add: AddParameter) => string): Statement {
  const values: ParameterOrJSON<never>[] = []
  return { text: write((value) => `$${values.push(value)}`), values }
}

/** Counts the matching devices, up to the limit + 1. */
export function countStatement(filter: DeviceFilter): Statement {
  return statement(
    (add) => `
      select count(*) as counted
      from (select 1 from device where ${conditionsSql(filter, add)} limit ${limits.pageRowsCounted + 1}) as fitting`,
  )
}

type Asked = Omit<PageRequest, 'asked'>

/** SQL: a search for the matching devices, up to a limit + 1, and the keys of the page if no more than the limit match. */
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

/** SQL: the keys of a page. Keys are composed only for the rows of the page, not for all sorted rows. */
function keysSql(from: string, condition: string, order: PageOrder, limit: number, offset: number, add: AddParameter) {
  return `select app_id, bound_at, device_no, ${order.keySql} as page_key from (
      select ${order.columnsSql} from ${from} where ${condition} ${order.orderSql} limit ${add(limit)} offset ${add(offset)}
    ) as listed ${order.orderSql}`
}

/** SQL: whether a device comes after a key in an order. */
const isBehindKeySql = (order: PageOrder, after: string[] | null, add: AddParameter): string =>
  after === null ? 'true' : order.isBehindSql(after, add)

/**
 * Counts the matching devices, up to the limit + 1, and reads the page if the count is within the limit. Scans the
 * devices once, in whatever order suits the database.
 */
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

/** Counts the matching devices, up to `most` + 1, and reads the keys of the page if the count is within that limit. */
export function keySearchStatement(filter: DeviceFilter, asked: Asked, most: number, order: PageOrder): Statement {
  return statement((add) => {
    const { search, keys } = searchSql(filter, asked, most, order, add)
    return `${search} select counted, listed.* from total left join (${keys}) as listed on true`
  })
}

/**
 * Counts how many of a sample of devices match by their reports; 0 if there are fewer devices than
 * `limits.joinedDevicesLookedAt`.
 */
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

/** SQL: the rows of `walked`, and when each device reported last. */
function walkedReportsSql(filter: DeviceFilter, add: AddParameter): string {
  return `walked left join (
      select app_id, device_no, reported_at from device_presence where ${ownerSql(filter, add, 'device_presence')}
    ) as reports using (app_id, device_no)`
}

/** Reads the keys of a page among all devices that match: along an index, or by sorting them all. */
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

/**
 * Reads the keys of the devices of all applications in the order of their serials, from the bindings: every bound
 * serial is a device.
 */
export function serialsStatement({ after, offset, pageSize }: Asked, order: PageOrder): Statement {
  return statement((add) =>
    keysSql('device_binding', isBehindKeySql(order, after, add), order, pageSize + 1, offset, add),
  )
}

/** Reads the devices with these keys, in any order. */
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

/** A range of devices: `behind` a key within its application, or of all applications `behindApplication`. */
export type KeyRange = { behind: string[] } | { behindApplication: string }

/** Reads a range of the matching devices in order. Scans the index no further than the end of the page. */
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
 * Reads a range of the matching devices in order, with the times of their newest reports. Looks at the reports of at
 * most `limits.exportRowsWalked` devices, which match all other conditions. `coalesce` hides the condition on reports
 * from the planner, which would otherwise read all reports first.
 */
export function exportStatement(filter: DeviceFilter, range: KeyRange, limit: number): Statement {
  return statement((add) => {
    // Without a condition on reports, every device that is walked matches.
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

/**
 * Reads the key of the last device whose reports `exportStatement` looks at; no row if the range has fewer than
 * `limits.exportRowsWalked` devices left.
 */
export function walkEndStatement(filter: DeviceFilter, range: KeyRange): Statement {
  return statement(
    (add) => `
      select ${keySql} as page_key from (${walkedSql(filter, range, limits.exportRowsWalked, add)}) as walked
      where ${walkedOwnerSql(filter, range, add)} ${orderSql} offset ${limits.exportRowsWalked - 1}`,
  )
}

/** SQL: the next devices of a range that match all conditions except those on reports, in order. */
function walkedSql(filter: DeviceFilter, range: KeyRange, walked: number, add: AddParameter): string {
  const others = { ...filter, lastReport: null, hasReported: null }
  return `select app_id, bound_at, device_no from device
    where ${conditionsSql(others, add)} and ${isWithinSql(range, add)} ${orderSql} limit ${add(walked)}`
}

/**
 * The condition on the owner again, for what `walkedSql` reads: with a single owner the planner knows that the rows are
 * in order, and does not sort.
 */
function walkedOwnerSql(filter: DeviceFilter, range: KeyRange, add: AddParameter): string {
  return 'behind' in range ? `walked.app_id = ${add(range.behind[0] ?? '')}` : ownerSql(filter, add, 'walked')
}

function isWithinSql(range: KeyRange, add: AddParameter): string {
  if ('behindApplication' in range) return `app_id > ${add(range.behindApplication)}`
  const [appId = '', micros = '', deviceNo = ''] = range.behind
  return `app_id = ${add(appId)} and ${isBehindSql(add(micros), add(deviceNo))}`
}
