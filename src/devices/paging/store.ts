import type { ParameterOrJSON, Row } from 'postgres'
import type { Sql, Statements } from '../../database/open.ts'
import {
  type PageKey,
  type PageQuery,
  type PageRequest,
  planByHash,
  planByIndexOrder,
  readByIndexOrder,
  readPageRequest,
  rowsOf,
  toPage,
} from '../../database/page.ts'
import { textArray } from '../../database/routine.ts'
import { transaction } from '../../database/transaction.ts'
import { limits } from '../../vocabulary/limits.ts'
import type { ShowMoment } from '../../vocabulary/moments.ts'
import { deviceColumnsSql, toDevice } from '../columns.ts'
import { type ExportedDevice, pageDevices } from '../contract.ts'
import {
  type AddParameter,
  conditionsSql,
  type DeviceFilter,
  isJoined,
  isLikelyByMost,
  isRange,
  lastReportConditions,
  ownerSql,
} from '../filter/store.ts'
import { showDevice } from '../rules.ts'

// Pages and exports of devices, in the order of one index (docs/decisions/0009-device-pages.md).

const columnsSql = deviceColumnsSql()

/** How often a page looks further along the index before it sorts all that match. */
const mostWalks = 5

/** By application, newest first. In microseconds since 1970, because their text is the same in every session. */
const pageKey: PageKey = [
  { column: 'app_id', type: 'text' },
  { column: 'bound_micros', type: 'bigint' },
  { column: 'device_no', type: 'text' },
]
const orderSql = 'order by app_id, bound_at desc, device_no desc'
/** The same order for the rows of one page. `|| ''` forces a sort: to read them in index order would walk all rows. */
const pageOrderSql = `order by app_id || '', bound_at desc, device_no desc`
const keySql = `json_build_array(app_id, (extract(epoch from bound_at) * 1000000)::bigint::text, device_no)::text`
const isBehindSql = (micros: string, deviceNo: string) =>
  `(bound_at, device_no) < (timestamptz 'epoch' + ${micros}::bigint * interval '1 microsecond', ${deviceNo})`

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
function searchSql(filter: DeviceFilter, { after, offset, pageSize }: Asked, most: number, add: AddParameter) {
  const fitting = conditionsSql(filter, add)
  const behind = isBehindKeySql(after, add)
  return {
    search: `with fitting as materialized (
        select app_id, bound_at, device_no from device where ${fitting} limit ${most + 1}
      ), total as materialized (select count(*) as counted from fitting)`,
    keys: `select app_id, bound_at, device_no from fitting, total
      where counted <= ${most} and ${behind} ${orderSql} limit ${add(pageSize + 1)} offset ${add(offset)}`,
  }
}

/** The condition on devices behind a key, in the order of pages. */
function isBehindKeySql(after: string[] | null, add: AddParameter): string {
  const [appId, micros, deviceNo] = (after ?? []).map(add)
  return appId === undefined || micros === undefined || deviceNo === undefined
    ? 'true'
    : `(app_id > ${appId} or app_id = ${appId} and ${isBehindSql(micros, deviceNo)})`
}

/**
 * Counts the matching devices, up to the limit + 1, and reads the page if the count is within the limit. Scans the
 * devices once, in whatever order suits the database.
 */
export function searchStatement(filter: DeviceFilter, asked: Asked): Statement {
  return statement((add) => {
    const { search, keys } = searchSql(filter, asked, limits.pageRowsCounted, add)
    return `
      ${search} select counted, page.* from total left join (
        select ${columnsSql}, ${keySql} as page_key from (${keys}) as listed
        join device using (app_id, bound_at, device_no) where ${ownerSql(filter, add)}
      ) as page on true ${orderSql}`
  })
}

/**
 * Counts the matching devices of a filter that looks into another table, up to `limits.joinedDevicesFound` + 1, and
 * reads the keys of the page if the count is within that limit.
 */
export function joinedSearchStatement(filter: DeviceFilter, asked: Asked): Statement {
  return statement((add) => {
    const { search, keys } = searchSql(filter, asked, limits.joinedDevicesFound, add)
    return `${search} select counted, listed.* from total left join (${keys}) as listed on true`
  })
}

/**
 * Counts how many of some devices, in any order, match by their reports; 0 if there are fewer devices than
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

/** Reads the keys of a page by sorting all devices that match. */
function sortedKeysStatement(filter: DeviceFilter, { after, offset, pageSize }: Asked): Statement {
  return statement((add) => {
    const fitting = conditionsSql(filter, add)
    return `select app_id, bound_at, device_no from device where ${fitting} and ${isBehindKeySql(after, add)}
      ${orderSql} limit ${add(pageSize + 1)} offset ${add(offset)}`
  })
}

/** Reads the devices with these keys in the order of pages. */
export function keysStatement(filter: DeviceFilter, keys: readonly Row[]): Statement {
  return statement(
    (add) => `
      select ${columnsSql}, ${keySql} as page_key from device join unnest(
        ${add(textArray(keys.map((key) => key.app_id)))}::text[],
        ${add(textArray(keys.map((key) => key.bound_at.toISOString())))}::timestamptz[],
        ${add(textArray(keys.map((key) => key.device_no)))}::text[]
      ) as listed (app_id, bound_at, device_no) using (app_id, bound_at, device_no)
      where ${ownerSql(filter, add)} ${pageOrderSql}`,
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
 * Reads a range of the matching devices in order, with the times of their newest reports. Looks at the reports of no more
 * than `limits.exportRowsWalked` devices, those that match otherwise. `coalesce` hides the condition from the planner, which
 * would otherwise begin with the reports, all of them.
 */
export function exportStatement(filter: DeviceFilter, range: KeyRange, limit: number): Statement {
  return statement((add) => {
    // All devices fit that a filter without a condition on reports walks along.
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

/** Reads the key of the last device that `exportStatement` looks at, if it does not reach the end of the range. */
function walkEndStatement(filter: DeviceFilter, range: KeyRange): Statement {
  return statement(
    (add) => `
      select ${keySql} as page_key from (${walkedSql(filter, range, limits.exportRowsWalked, add)}) as walked
      where ${walkedOwnerSql(filter, range, add)} ${orderSql} offset ${limits.exportRowsWalked - 1}`,
  )
}

/** SQL: the next devices of a range that match but for their reports, in order. */
function walkedSql(filter: DeviceFilter, range: KeyRange, walked: number, add: AddParameter): string {
  const others = { ...filter, lastReport: null, hasReported: null }
  return `select app_id, bound_at, device_no from device
    where ${conditionsSql(others, add)} and ${isWithinSql(range, add)} ${orderSql} limit ${add(walked)}`
}

/** The owner of what `walkedSql` reads, once more: where it is one, the rows are known to be in order and are not sorted. */
function walkedOwnerSql(filter: DeviceFilter, range: KeyRange, add: AddParameter): string {
  return 'behind' in range ? `walked.app_id = ${add(range.behind[0] ?? '')}` : ownerSql(filter, add, 'walked')
}

function isWithinSql(range: KeyRange, add: AddParameter): string {
  if ('behindApplication' in range) return `app_id > ${add(range.behindApplication)}`
  const [appId = '', micros = '', deviceNo = ''] = range.behind
  return `app_id = ${add(appId)} and ${isBehindSql(add(micros), add(deviceNo))}`
}

/** Reads the rows of a page in index order, for when more devices match than are counted. */
async function readRanges(
  sql: Statements,
  filter: DeviceFilter,
  { after, offset, pageSize }: PageRequest,
): Promise<Row[]> {
  const limit = pageSize + 1
  const read = (range: KeyRange, rows: number) => run(sql, rangeStatement(filter, range, rows, offset))
  if (after === null) return read({ behindApplication: '' }, limit)
  const rows = await read({ behind: after }, limit)
  if (rows.length === limit) return rows
  return [...rows, ...(await read({ behindApplication: after[0] ?? '' }, limit - rows.length))]
}

/** Reads one page of devices. Throws 10001 for a cursor that this operation did not issue. */
export async function pageOfDevices(sql: Sql, filter: DeviceFilter, query: PageQuery, showMoment: ShowMoment) {
  const request = readPageRequest(pageDevices.id, { ...query, ...filter }, pageKey)
  const show = (row: Row) => showDevice(toDevice(row), showMoment)
  if (isJoined(filter)) {
    const { rows, counted } = await searchJoined(sql, filter, request)
    return toPage(request, rows, counted, show)
  }
  if (isRange(filter)) {
    const [rows, [total]] = await Promise.all([
      rowsOf(readRanges(sql, filter, request)),
      run(sql, countStatement(filter)),
    ])
    return toPage(request, rows, total?.counted, show)
  }
  const found = await rowsOf(run(sql, searchStatement(filter, request)))
  const counted: number = found[0]?.counted
  const rows =
    counted > limits.pageRowsCounted
      ? await rowsOf(readRanges(sql, filter, request))
      : found.filter((row) => row.device_no !== null)
  return toPage(request, rows, counted, show)
}

/**
 * Searches with a filter that looks into another table: by a join, unless a look at some devices finds more that match
 * than are counted. All statements see the devices as they are at one moment.
 */
function searchJoined(sql: Sql, filter: DeviceFilter, request: PageRequest): Promise<{ rows: Row[]; counted: number }> {
  return transaction(
    sql,
    async (tx) => {
      if (isLikelyByMost(filter)) {
        await planByIndexOrder(tx)
        const [look] = await run(tx, lookStatement(filter))
        const counted: number = look?.counted
        if (counted > limits.pageRowsCounted) return { rows: await readAmongMany(tx, filter, request), counted }
      }
      await planByHash(tx)
      const found = await rowsOf(run(tx, joinedSearchStatement(filter, request)))
      const counted: number = found[0]?.counted
      const keys = found.filter((row) => row.device_no !== null)
      await planByIndexOrder(tx)
      const rows =
        counted > limits.joinedDevicesFound
          ? await readAmongMany(tx, filter, request)
          : await run(tx, keysStatement(filter, keys))
      return { rows, counted }
    },
    'isolation level repeatable read read only',
  )
}

/**
 * Reads a page where very many devices match: nearly always its rows are soon found along the index. Where they lie far, or
 * the page is not the first, all that match are sorted.
 */
async function readAmongMany(tx: Statements, filter: DeviceFilter, request: PageRequest): Promise<Row[]> {
  const rows: Row[] = []
  let { after } = request
  for (let walks = 0; request.offset === 0 && walks < mostWalks; walks++) {
    const next = await readExportRows(tx, filter, { ...request, after, pageSize: request.pageSize - rows.length })
    rows.push(...next.rows)
    if (rows.length > request.pageSize || next.walkedTo === undefined) return rows
    after = JSON.parse(next.walkedTo)
  }
  await planByHash(tx)
  const keys = await rowsOf(run(tx, sortedKeysStatement(filter, request)))
  await planByIndexOrder(tx)
  return run(tx, keysStatement(filter, keys))
}

/** Reads the next devices of an export, with the times of their newest reports. */
export async function pageOfExportedDevices(sql: Sql, filter: DeviceFilter, query: PageQuery, showMoment: ShowMoment) {
  const request = readPageRequest(pageDevices.id, { ...query, ...filter }, pageKey)
  const show = (row: Row): ExportedDevice => ({
    ...showDevice(toDevice(row), showMoment),
    lastReportTime: row.reported_at === null ? null : showMoment(row.reported_at),
  })
  const { rows, walkedTo } = await readByIndexOrder(sql, (tx) => readExportRows(tx, filter, request))
  return toPage(request, rows, 0, show, walkedTo)
}

/** Reads the rows of a page of an export; `walkedTo` is the key at which to go on where fewer fit so far. */
async function readExportRows(
  tx: Statements,
  filter: DeviceFilter,
  { after, pageSize }: PageRequest,
): Promise<{ rows: Row[]; walkedTo?: string }> {
  const ranges: KeyRange[] =
    after === null ? [{ behindApplication: '' }] : [{ behind: after }, { behindApplication: after[0] ?? '' }]
  const rows: Row[] = []
  for (const range of ranges) {
    rows.push(...(await rowsOf(run(tx, exportStatement(filter, range, pageSize + 1 - rows.length)))))
    if (rows.length > pageSize) return { rows }
    const [end] = isJoined(filter) ? await run(tx, walkEndStatement(filter, range)) : []
    if (end !== undefined) return { rows, walkedTo: end.page_key }
  }
  return { rows }
}

/** Not prepared, so that it is planned for its parameters: an application may have ten devices or ten million. */
function run(sql: Statements, { text, values }: Statement): Promise<Row[]> {
  return sql.unsafe<Row[]>(text, values)
}
