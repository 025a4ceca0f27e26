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
import { type DeviceSort, type ExportedDevice, pageDevices } from '../contract.ts'
import {
  type AddParameter,
  conditionsSql,
  type DeviceFilter,
  isAnyDevice,
  isJoined,
  isLikelyByMost,
  isRange,
  lastReportConditions,
  ownerSql,
} from '../filter/store.ts'
import { showDevice } from '../rules.ts'

// Pages and exports of devices, in the order of one index or sorted (docs/decisions/0009-device-pages.md).

const columnsSql = deviceColumnsSql()

/** How often a page looks further along the index before it sorts all that match. */
const mostWalks = 5
/** From this row on a sort keeps so many that to replace one of them is dear. */
const deepRows = 1000

/** An order of pages. */
export interface PageOrder {
  key: PageKey
  /** The columns of a device that the order compares, with `app_id`, `bound_at` and `device_no`. */
  columnsSql: string
  orderSql: string
  /** SQL: the key of a device as the JSON text of a list of texts. */
  keySql: string
  /** SQL: whether a device is behind a key. */
  isBehindSql(after: readonly string[], add: AddParameter): string
}

// In microseconds since 1970, because their text is the same in every session.
const microsSql = '(extract(epoch from bound_at) * 1000000)::bigint'
const momentSql = (micros: string) => `timestamptz 'epoch' + ${micros}::bigint * interval '1 microsecond'`
const byMicros: PageKey[number] = { column: 'bound_micros', type: 'bigint' }
const bySerial: PageKey[number] = { column: 'device_no', type: 'text' }

const isBehindSql = (micros: string, deviceNo: string) => `(bound_at, device_no) < (${momentSql(micros)}, ${deviceNo})`

/** By application, newest first: what the pages have by themselves. */
export const ownOrder: PageOrder = {
  key: [{ column: 'app_id', type: 'text' }, byMicros, bySerial],
  columnsSql: 'app_id, bound_at, device_no',
  orderSql: 'order by app_id, bound_at desc, device_no desc',
  keySql: `json_build_array(app_id, ${microsSql}::text, device_no)::text`,
  isBehindSql(after, add) {
    const [appId = '', micros = '', deviceNo = ''] = after.map(add)
    return `(app_id > ${appId} or app_id = ${appId} and ${isBehindSql(micros, deviceNo)})`
  },
}
const { orderSql, keySql } = ownOrder
/** The same order for the rows of one page. `|| ''` forces a sort: to read them in index order would walk all rows. */
const pageOrderSql = `order by app_id || '', bound_at desc, device_no desc`

/** What each order compares before the time and the serial; all of it is in the index. Texts by code points. */
const sortColumns: Record<DeviceSort['by'], string> = {
  createTime: '',
  deviceNo: '',
  deviceName: 'device_name',
  modelName: 'model_name',
  provinceCode: 'province_code',
  cityCode: 'city_code',
  districtCode: 'district_code',
  status: 'status',
  onlineStatus: 'online_status',
  runStatus: 'run_status',
}
const numbers = ['status', 'online_status', 'run_status']

/** The time as `device_by_time` has it: an index that no other statement can be planned with. */
const timeAcrossSql = "(bound_at at time zone 'UTC')"

/**
 * The order that a query asks for, over all applications alike; `isAcross` of all devices. A device that has no value comes
 * before those that have.
 */
export function sortedOrder({ by, isDescending }: DeviceSort, isAcross: boolean): PageOrder {
  const column = sortColumns[by]
  const isNumber = numbers.includes(column)
  const first = column === '' ? [] : [isNumber ? column : `coalesce(${column}, '') collate "C"`]
  const key: PageKey = column === '' ? [] : [{ column, type: isNumber ? 'bigint' : 'text' }]
  const isTimeAcross = by === 'createTime' && isAcross
  const times = by === 'deviceNo' ? [] : [isTimeAcross ? timeAcrossSql : 'bound_at']
  const compared = [...first, ...times, 'device_no']
  const texts = [...first.map((value) => `(${value})::text`), ...times.map(() => `${microsSql}::text`), 'device_no']
  return {
    key: [...key, ...times.map(() => byMicros), bySerial],
    columnsSql: ['app_id', 'bound_at', 'device_no', ...key.map((one) => one.column)].join(', '),
    orderSql: `order by ${compared.map((value) => `${value} ${isDescending ? 'desc' : 'asc'}`).join(', ')}`,
    keySql: `json_build_array(${texts.join(', ')})::text`,
    isBehindSql(after, add) {
      const values = after.map(add)
      const timeSql = (micros: string) =>
        isTimeAcross ? `(${momentSql(micros)}) at time zone 'UTC'` : momentSql(micros)
      const bounds = [
        ...first.map((_, at) => (isNumber ? `${values[at]}::bigint` : (values[at] ?? ''))),
        ...times.map((_, at) => timeSql(values[first.length + at] ?? '')),
        values.at(-1) ?? '',
      ]
      return `(${compared.join(', ')}) ${isDescending ? '<' : '>'} (${bounds.join(', ')})`
    },
  }
}

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

/** SQL: the keys of a page. A key is written for the rows of the page alone, not for all that are sorted. */
function keysSql(from: string, condition: string, order: PageOrder, limit: number, offset: number, add: AddParameter) {
  return `select app_id, bound_at, device_no, ${order.keySql} as page_key from (
      select ${order.columnsSql} from ${from} where ${condition} ${order.orderSql} limit ${add(limit)} offset ${add(offset)}
    ) as listed ${order.orderSql}`
}

/** The condition on devices behind a key, in an order. */
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

/** Reads the serials of all applications in order: each that is bound is a device. */
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

/** Reads the devices with these keys, in their order. */
async function readByKeys(tx: Statements, filter: DeviceFilter, keys: readonly Row[]): Promise<Row[]> {
  await planByIndexOrder(tx)
  const rows = await run(tx, keysStatement(filter, keys))
  const bySerial = new Map(rows.map((row) => [row.device_no, row]))
  return keys.flatMap((key) => {
    const row = bySerial.get(key.device_no)
    return row === undefined ? [] : [{ ...row, page_key: key.page_key }]
  })
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
export async function pageOfDevices(
  sql: Sql,
  filter: DeviceFilter,
  sort: DeviceSort | null,
  query: PageQuery,
  showMoment: ShowMoment,
) {
  const order = sort === null ? ownOrder : sortedOrder(sort, isAnyDevice(filter))
  const request = readPageRequest(pageDevices.id, { ...query, ...filter }, order.key)
  const show = (row: Row) => showDevice(toDevice(row), showMoment)
  if (sort !== null) {
    const { rows, counted } = await searchSorted(sql, filter, request, sort)
    return toPage(request, rows, counted, show)
  }
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
 * Searches for a page in another order than that of pages. Where no index has it, one read of the index of devices, which holds
 * all that is compared, finds the keys of the page. All statements see the devices as they are at one moment.
 */
function searchSorted(sql: Sql, filter: DeviceFilter, request: PageRequest, sort: DeviceSort) {
  const order = sortedOrder(sort, isAnyDevice(filter))
  const most = isJoined(filter) ? limits.joinedDevicesFound : limits.pageRowsCounted
  return transaction(
    sql,
    async (tx) => {
      // What only counts may read the rows in any order, and need not look at the index.
      const [total] = isRange(filter) ? await run(tx, countStatement(filter)) : []
      await (isJoined(filter) ? planByHash(tx) : planByScan(tx))
      const found = isRange(filter) ? [] : await rowsOf(run(tx, keySearchStatement(filter, request, most, order)))
      const counted: number = (total ?? found[0])?.counted
      const hasFound = found.length > 0 && counted <= most
      const keys = hasFound
        ? found.filter((row) => row.device_no !== null)
        : await readSortedKeys(tx, filter, request, sort, order)
      return { rows: await readByKeys(tx, filter, keys), counted }
    },
    'isolation level repeatable read read only',
  )
}

/** Reads the keys of a sorted page among all devices that match, however many these are. */
async function readSortedKeys(
  tx: Statements,
  filter: DeviceFilter,
  request: PageRequest,
  sort: DeviceSort,
  order: PageOrder,
) {
  if (sort.by === 'deviceNo' && isAnyDevice(filter)) {
    await planByIndexOrder(tx)
    return rowsOf(run(tx, serialsStatement(request, order)))
  }
  const isInIndex = filter.appIds?.length === 1 || isAnyDevice(filter)
  if (sort.by === 'createTime' && isInIndex && !isJoined(filter)) {
    await planByIndexOrder(tx)
    return rowsOf(run(tx, orderedKeysStatement(filter, request, order)))
  }
  // What was made later is often greater, or as great and behind. A sort that is to keep the greatest rows would take in each one
  // that it reads, and throw another out.
  const isNewestFirst = sort.isDescending && request.offset >= deepRows && !isJoined(filter)
  if (isNewestFirst) await tx`select set_config('enable_sort', 'off', true)`
  return rowsOf(run(tx, orderedKeysStatement(filter, request, order, isNewestFirst)))
}

/** Has the statements of a transaction read the index of devices from end to end, and sort in memory. */
export async function planByScan(tx: Statements): Promise<void> {
  await tx`
    select set_config('enable_seqscan', 'off', true), set_config('enable_bitmapscan', 'off', true),
      set_config('work_mem', '32MB', true)`
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
      const most = limits.joinedDevicesFound
      const found = await rowsOf(run(tx, keySearchStatement(filter, request, most, ownOrder)))
      const counted: number = found[0]?.counted
      const keys = found.filter((row) => row.device_no !== null)
      await planByIndexOrder(tx)
      const rows = counted > most ? await readAmongMany(tx, filter, request) : await readByKeys(tx, filter, keys)
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
  return readByKeys(tx, filter, await rowsOf(run(tx, orderedKeysStatement(filter, request, ownOrder))))
}

/** Reads the next devices of an export, with the times of their newest reports. */
export async function pageOfExportedDevices(sql: Sql, filter: DeviceFilter, query: PageQuery, showMoment: ShowMoment) {
  const request = readPageRequest(pageDevices.id, { ...query, ...filter }, ownOrder.key)
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
