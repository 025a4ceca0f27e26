import { createHash } from 'node:crypto'
import type { PendingQuery, Row } from 'postgres'
import { limits } from '../vocabulary/limits.ts'
import type { Sort } from '../vocabulary/pages.ts'
import { invalidField } from '../vocabulary/refusals.ts'
import { given } from '../vocabulary/values.ts'
import type { Sql, Statements } from './open.ts'
import { textArray } from './routine.ts'
import { transaction } from './transaction.ts'

export interface PageQuery {
  pageNo?: number | null | ''
  pageSize?: number | null | ''
  cursor?: string | null | ''
  isUncounted?: boolean
}

export interface SortQuery<Name extends string> {
  sort?: Name | null | ''
  order?: 'asc' | 'desc' | null | ''
}

/** Makes a total order. `type` is how a column is compared; `isByCode` compares by code points in any collation. */
export type PageKey = { column: string; type: 'text' | 'bigint' | 'timestamptz'; isByCode?: boolean }[]

const byApplication: PageKey[number] = { column: 'app_id', type: 'text' }
export const byId: PageKey = [{ column: 'id', type: 'bigint' }]

export interface PageSource {
  /** Names the operation, which refuses the cursors of others. */
  operation: string
  rows: PendingQuery<Row[]>
  /** Reads on in the cursor's application: another select of the same rows, for pages of several applications. */
  rowsOfOne?: PendingQuery<Row[]>
  key: PageKey
  newestFirst: boolean
  /** Rows of several applications are ordered by `app_id` first, and must return it. */
  isAcross?: boolean
  /** A select of at most one row per row of `page`: columns that neither filter nor order. */
  beside?: PendingQuery<Row[]>
}

export interface PageOf<Item> {
  list: Item[]
  total: number
  totalIsExact: boolean
  pageNo: number | null
  pageSize: number
  pages: number
  nextCursor: string | null
}

export interface PageRequest {
  pageSize: number
  pageNo: number | null
  offset: number
  /** The last key before the page, as texts; null for a page by number. */
  after: string[] | null
  /** A digest of the query; a cursor is valid only for the same one. */
  asked: string
}

/** Reads a page query, which `pageCheck` has checked. Throws 10001 for another query's cursor. */
export function readPageRequest(operation: string, query: PageQuery, key: PageKey): PageRequest {
  const pageSize = query.pageSize || 10
  const [cursor, pageNo] = [query.cursor || null, query.pageNo || null]
  const asked = askedOf(operation, query)
  if (cursor === null) {
    const number = pageNo ?? 1
    return { pageSize, pageNo: number, offset: (number - 1) * pageSize, after: null, asked }
  }
  return { pageSize, pageNo: null, offset: 0, after: readCursor(cursor, key, asked), asked }
}

/** Reads the sort order, which `pageCheck` has checked; null for the page's own. */
export function readSort<Name extends string>(query: SortQuery<Name>): Sort<Name> | null {
  const by = given(query.sort) as Name | null
  return by === null ? null : { by, isDescending: query.order === 'desc' }
}

/** Returns a digest of the operation and its query without the page. */
function askedOf(
  operation: string,
  { pageNo: _, pageSize: __, cursor: ___, isUncounted: ____, ...filter }: PageQuery,
): string {
  const members = Object.entries(filter).filter(([, value]) => value != null && value !== '')
  const asked = JSON.stringify([operation, members.sort(([one], [other]) => (one < other ? -1 : 1))])
  return createHash('sha256').update(asked).digest('base64url').slice(0, 12)
}

/**
 * Makes a page's response. An extra row in `rows` means that another page follows; `page_key` is a row's key, as JSON.
 * A total above the limit becomes the limit plus one. `walkedTo` is the key to go on after, if the read stopped early.
 */
export function toPage<Item>(
  { pageSize, pageNo, asked }: PageRequest,
  rows: readonly Row[],
  counted: number,
  show: (row: Row) => Item,
  walkedTo?: string,
): PageOf<Item> {
  const total = Math.min(counted, limits.pageRowsCounted)
  const list = rows.slice(0, pageSize)
  const nextAfter = rows.length > pageSize ? list.at(-1)?.page_key : walkedTo
  return {
    list: list.map(show),
    total,
    totalIsExact: counted <= limits.pageRowsCounted,
    pageNo,
    pageSize,
    pages: Math.ceil(total / pageSize),
    nextCursor:
      nextAfter === undefined
        ? null
        : Buffer.from(JSON.stringify([asked, ...JSON.parse(nextAfter)])).toString('base64url'),
  }
}

/** Reads one page by number or cursor. `query` is the whole query. Throws 10001 as `readPageRequest` does. */
export async function readPage<Item>(
  sql: Sql,
  source: PageSource,
  query: PageQuery,
  show: (row: Row) => Item,
): Promise<PageOf<Item>> {
  const key = source.isAcross ? [byApplication, ...source.key] : source.key
  const request = readPageRequest(source.operation, query, key)
  if (query.isUncounted)
    return toPage(request, await readByIndexOrder(sql, (tx) => rowsOf(readRows(tx, source, request))), 0, show)
  const rows = await rowsOf(readRows(sql, source, request))
  // On the last page the total is known, so a search that finds little needs no second scan.
  const isLast = request.after === null && rows.length <= request.pageSize && (rows.length > 0 || request.offset === 0)
  const counted = isLast ? request.offset + rows.length : await countRows(sql, source)
  return toPage(request, rows, counted, show)
}

/** Sorts all matching keys, then looks up the page's rows by `app_id` and `id`. Throws as `readPage` does. */
export async function readSortedPage<Item>(
  sql: Sql,
  source: PageSource,
  query: PageQuery,
  show: (row: Row) => Item,
): Promise<PageOf<Item>> {
  const request = readPageRequest(source.operation, query, source.key)
  const { after, offset, pageSize } = request
  return transaction(
    sql,
    async (tx) => {
      await planBySort(tx)
      const where = after === null ? tx`` : tx`where ${isBehind(tx, source, after)}`
      const { orderSql, keySql } = orderOf(tx, source)
      const keys = await rowsOf(tx<Row[]>`
        select page.app_id, page.id, ${keySql} as page_key from (${source.rows}) as page
        ${where} ${orderSql} limit ${pageSize + 1} offset ${offset}`)
      const total = await countRows(tx, source)
      await planByIndexOrder(tx)
      const rows = await tx<Row[]>`
        select page.* from (${source.rows}) as page join unnest(
          ${textArray(keys.map((key) => key.app_id))}::text[], ${textArray(keys.map((key) => key.id))}::bigint[]
        ) as listed (app_id, id) using (app_id, id)`
      const byId = new Map(rows.map((row) => [row.id, row]))
      const listed = keys.flatMap((key) => {
        const row = byId.get(key.id)
        return row === undefined ? [] : [{ ...row, page_key: key.page_key }]
      })
      return toPage(request, listed, total, show)
    },
    'isolation level repeatable read read only',
  )
}

/** Runs a read in its own transaction, planned by the order of an index. */
export function readByIndexOrder<Rows>(sql: Sql, read: (tx: Statements) => Promise<Rows>): Promise<Rows> {
  return transaction(sql, async (tx) => {
    await planByIndexOrder(tx)
    return read(tx)
  })
}

/**
 * Makes the planner read by the order of an index and look up other tables row by row. With old statistics, it could
 * otherwise sort or join all rows after the page.
 */
export async function planByIndexOrder(tx: Statements): Promise<void> {
  await tx`
    select set_config('enable_sort', 'off', true), set_config('enable_seqscan', 'off', true),
      set_config('enable_bitmapscan', 'off', true), set_config('enable_hashjoin', 'off', true),
      set_config('enable_mergejoin', 'off', true), set_config('enable_material', 'off', true),
      set_config('enable_nestloop', 'on', true)`
}

/** Makes the planner read each table of a join once; looking up row by row costs ten times as much. */
export async function planByHash(tx: Statements): Promise<void> {
  await tx`
    select set_config('enable_nestloop', 'off', true), set_config('enable_mergejoin', 'off', true),
      set_config('enable_hashjoin', 'on', true), set_config('enable_sort', 'on', true),
      set_config('enable_seqscan', 'on', true), set_config('enable_bitmapscan', 'on', true),
      set_config('work_mem', '32MB', true)`
}

async function planBySort(tx: Statements): Promise<void> {
  await tx`select set_config('work_mem', '32MB', true)`
}

async function readRows(sql: Statements, source: PageSource, { after, offset, pageSize }: PageRequest): Promise<Row[]> {
  const limit = pageSize + 1
  if (after === null) return readRange(sql, source, sql``, limit, offset)
  if (!source.isAcross) return readRange(sql, source, sql`where ${isBehind(sql, source, after)}`, limit)
  // No index ascends by application and descends within it, but each of the two ranges is in an index.
  const [appId = '', ...values] = after
  const own = sql`where page.app_id = ${appId} and ${isBehind(sql, source, values)}`
  const rows = await readRange(sql, { ...source, rows: source.rowsOfOne ?? source.rows }, own, limit)
  if (rows.length === limit) return rows
  return [...rows, ...(await readRange(sql, source, sql`where page.app_id > ${appId}`, limit - rows.length))]
}

function readRange(sql: Statements, source: PageSource, where: PendingQuery<Row[]>, limit: number, offset = 0) {
  const { rows, beside } = source
  const { orderSql, keySql } = orderOf(sql, source)
  const range = sql<Row[]>`
    select page.*, ${keySql} as page_key
    from (${rows}) as page ${where} ${orderSql} limit ${limit} offset ${offset}`
  if (beside === undefined) return range
  return sql<Row[]>`
    select page.*, beside.* from (${range}) as page left join lateral (${beside}) as beside on true ${orderSql}`
}

function orderOf(sql: Statements, { key, newestFirst, isAcross }: PageSource) {
  const first = isAcross ? ['page.app_id'] : []
  const order = [...first, ...key.map((one) => `${columnSql(one)} ${newestFirst ? 'desc' : 'asc'}`)]
  const texts = [...first, ...key.map(({ column }) => `page.${column}::text`)]
  return {
    orderSql: sql`order by ${sql.unsafe(order.join(', '))}`,
    keySql: sql`json_build_array(${sql.unsafe(texts.join(', '))})::text`,
  }
}

const columnSql = ({ column, isByCode }: PageKey[number]) => `page.${column}${isByCode ? ' collate "C"' : ''}`

async function countRows(sql: Statements, { rows }: PageSource): Promise<number> {
  const [counted] = await sql<[{ total: number }]>`
    select count(*) as total from (select 1 from (${rows}) as page limit ${limits.pageRowsCounted + 1}) as counted`
  return counted.total
}

/**
 * Returns SQL that ignores case, whatever collation a column has. Without letters beyond ASCII, the byte-wise one is
 * several times as fast.
 */
export function folded(expression: string, soughtFor: string): string {
  const letters = [...soughtFor].filter((letter) => letter > '\x7f')
  const hasCases = letters.some((letter) => letter.toLowerCase() !== letter.toUpperCase())
  return hasCases ? `lower(${expression} collate "default")` : `lower(${expression} collate "C")`
}

/** Returns the condition on a page's applications; null means all. */
export function ofApplications(sql: Statements, appIds: readonly string[] | null) {
  if (appIds === null) return sql`true`
  const [appId, ...others] = appIds
  if (appId === undefined) return sql`false`
  return others.length === 0 ? sql`app_id = ${appId}` : sql`app_id in ${sql(appIds)}`
}

/** Refuses a forged cursor, whose impossible date the database rejects (class 22). */
export async function rowsOf(query: Promise<Row[]>): Promise<Row[]> {
  try {
    return await query
  } catch (error) {
    throw (error as { code?: string }).code?.startsWith('22') ? foreignCursor() : error
  }
}

function isBehind(sql: Statements, { key, newestFirst }: PageSource, values: string[]) {
  const columns = sql.unsafe(`(${key.map(columnSql).join(', ')})`)
  const bounds = key.map(({ type }, index) => {
    const value = sql`${values[index] as string}::text::${sql.unsafe(type)}`
    return index === 0 ? value : sql`, ${value}`
  })
  return sql`${columns} ${newestFirst ? sql`<` : sql`>`} (${bounds})`
}

const fitsType = {
  bigint: /^-?\d{1,18}$/,
  timestamptz: /^\d{4,6}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d{1,6})?[+-]\d\d(:\d\d){0,2}$/,
}

function readCursor(cursor: string, key: PageKey, asked: string): string[] {
  const [belongsTo, ...values] = parseCursor(cursor) ?? []
  if (belongsTo !== asked || values.length !== key.length) throw foreignCursor()
  const fits = key.every(({ type }, index) => type === 'text' || fitsType[type].test(values[index] as string))
  if (!fits) throw foreignCursor()
  return values
}

function parseCursor(cursor: string): string[] | undefined {
  try {
    const values: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString())
    if (!Array.isArray(values)) return undefined
    // NUL can't be stored, so no key holds it.
    return values.every((value) => typeof value === 'string' && !value.includes('\0')) ? values : undefined
  } catch {
    return undefined
  }
}

function foreignCursor() {
  return invalidField(
    'cursor',
    'is not a cursor that this operation answered for these filters',
    '不是本操作针对这些筛选条件返回的游标',
  )
}
