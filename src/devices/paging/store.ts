import type { Row } from 'postgres'
import type { Sql, Statements } from '../../database/open.ts'
import {
  type PageQuery,
  type PageRequest,
  planByHash,
  planByIndexOrder,
  readByIndexOrder,
  readPageRequest,
  rowsOf,
  toPage,
} from '../../database/page.ts'
import { transaction } from '../../database/transaction.ts'
import { limits } from '../../vocabulary/limits.ts'
import { showMoment } from '../../vocabulary/moments.ts'
import { toDevice } from '../columns.ts'
import { type DeviceSort, type ExportedDevice, pageDevices } from '../contract.ts'
import { type DeviceFilter, isAnyDevice, isJoined, isLikelyByMost, isRange } from '../filter/store.ts'
import { showDevice } from '../rules.ts'
import { ownOrder, type PageOrder, sortedOrder } from './order.ts'
import {
  countStatement,
  exportStatement,
  type KeyRange,
  keySearchStatement,
  keysStatement,
  lookStatement,
  orderedKeysStatement,
  rangeStatement,
  type Statement,
  searchStatement,
  serialsStatement,
  walkEndStatement,
} from './statements.ts'

/** After this many stretches of the index, a page sorts all matching devices. */
const mostWalks = 5
/** From this row on, a sort that keeps the first rows keeps too many to replace one cheaply. */
const deepRows = 1000

async function readByKeys(tx: Statements, filter: DeviceFilter, keys: readonly Row[]): Promise<Row[]> {
  await planByIndexOrder(tx)
  const rows = await run(tx, keysStatement(filter, keys))
  const bySerial = new Map(rows.map((row) => [row.device_no, row]))
  return keys.flatMap((key) => {
    const row = bySerial.get(key.device_no)
    return row === undefined ? [] : [{ ...row, page_key: key.page_key }]
  })
}

/** Reads a page in index order, when more devices match than are counted. */
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

/** Reads one page of devices. Throws 10001 for another operation's cursor. */
export async function pageOfDevices(sql: Sql, filter: DeviceFilter, sort: DeviceSort | null, query: PageQuery) {
  const order = sort === null ? ownOrder : sortedOrder(sort, isAnyDevice(filter))
  const request = readPageRequest(pageDevices.id, { ...query, ...filter }, order.key)
  const show = (row: Row) => showDevice(toDevice(row))
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
 * Reads a page in the order of `sort`. If no index has it, one read of the device index finds the keys. All statements
 * see the same snapshot.
 */
function searchSorted(sql: Sql, filter: DeviceFilter, request: PageRequest, sort: DeviceSort) {
  const order = sortedOrder(sort, isAnyDevice(filter))
  const most = isJoined(filter) ? limits.joinedDevicesFound : limits.pageRowsCounted
  return transaction(
    sql,
    async (tx) => {
      // A count alone may read in any order, without the index.
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
  // Newer devices often have greater values. A sort that keeps the greatest and reads the oldest first would replace a
  // kept row nearly every time, so it reads the newest first.
  const isNewestFirst = sort.isDescending && request.offset >= deepRows && !isJoined(filter)
  if (isNewestFirst) await tx`select set_config('enable_sort', 'off', true)`
  return rowsOf(run(tx, orderedKeysStatement(filter, request, order, isNewestFirst)))
}

/** Makes the planner read the whole device index and sort in memory. */
async function planByScan(tx: Statements): Promise<void> {
  await tx`
    select set_config('enable_seqscan', 'off', true), set_config('enable_bitmapscan', 'off', true),
      set_config('work_mem', '32MB', true)`
}

/** Joins the reports, unless a sample shows that more devices match than are counted. Uses one snapshot. */
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

/** Reads a page when very many devices match: from the index if its rows are soon found, else by a sort. */
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

export async function pageOfExportedDevices(sql: Sql, filter: DeviceFilter, query: PageQuery) {
  const request = readPageRequest(pageDevices.id, { ...query, ...filter }, ownOrder.key)
  const show = (row: Row): ExportedDevice => ({
    ...showDevice(toDevice(row)),
    lastReportTime: row.reported_at === null ? null : showMoment(row.reported_at),
  })
  const { rows, walkedTo } = await readByIndexOrder(sql, (tx) => readExportRows(tx, filter, request))
  return toPage(request, rows, 0, show, walkedTo)
}

/** Reads an export page. `walkedTo` is the key to continue after, if too few rows matched. */
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

/** Not prepared, so that the plan fits the parameters: an application may have ten devices or ten million. */
function run(sql: Statements, { text, values }: Statement): Promise<Row[]> {
  return sql.unsafe<Row[]>(text, values)
}
