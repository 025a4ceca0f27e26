import type { PendingQuery, Row } from 'postgres'
import { invalidRequest } from '../refusals.ts'
import type { Sql } from './open.ts'

/** Beyond this many rows a total is not counted further (contract §5). */
export const countedRows = 10_000
/** What a page number may reach to: the database walks through all rows before it. */
const numberedRows = 100_000

export interface PageQuery {
  pageNo?: number | null | ''
  pageSize?: number | null | ''
  cursor?: string | null | ''
}

/** The columns of a total order, and the type that each is compared as. */
export type PageKey = { column: string; type: 'text' | 'bigint' | 'timestamptz' }[]

/** Of rows whose ids ascend. */
export const byId: PageKey = [{ column: 'id', type: 'bigint' }]

export interface PageSource {
  /** A select without order and limit. It must answer the columns of `key`. */
  rows: PendingQuery<Row[]>
  key: PageKey
  newestFirst: boolean
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

/** Which rows a page query asks for. */
export interface PageRequest {
  pageSize: number
  /** Null for a page by cursor. */
  pageNo: number | null
  /** How many rows come before the page, beside those that the cursor skips. */
  offset: number
  /** The key of the row before the page, as texts; null for a page by number. */
  after: string[] | null
}

/** Reads the members of a page query. Throws 10001 for a cursor that is not ours, and for a page that is too far. */
export function readPageRequest(query: PageQuery, key: PageKey): PageRequest {
  const pageSize = query.pageSize || 10
  const cursor = query.cursor || null
  if (cursor !== null) return { pageSize, pageNo: null, offset: 0, after: readCursor(cursor, key) }
  const pageNo = query.pageNo || 1
  if (pageNo * pageSize > numberedRows) throw pageTooFar()
  return { pageSize, pageNo, offset: (pageNo - 1) * pageSize, after: null }
}

/**
 * The answer of a page operation. There is one row more than the page holds when another page follows; each carries
 * its key in `page_key`, as the JSON text of a list of texts. More rows than are counted count as one more.
 */
export function toPage<Item>(
  { pageSize, pageNo }: PageRequest,
  rows: readonly Row[],
  counted: number,
  show: (row: Row) => Item,
): PageOf<Item> {
  const total = Math.min(counted, countedRows)
  const list = rows.slice(0, pageSize)
  const last = list.at(-1)
  return {
    list: list.map(show),
    total,
    totalIsExact: counted <= countedRows,
    pageNo,
    pageSize,
    pages: Math.ceil(total / pageSize),
    nextCursor: rows.length > pageSize && last !== undefined ? Buffer.from(last.page_key).toString('base64url') : null,
  }
}

/** Reads one page: by number for people, by cursor for programs. Throws 10001 for a cursor that is not ours. */
export async function readPage<Item>(
  sql: Sql,
  source: PageSource,
  query: PageQuery,
  show: (row: Row) => Item,
): Promise<PageOf<Item>> {
  const request = readPageRequest(query, source.key)
  const order = sql.unsafe(
    source.key.map(({ column }) => `page.${column} ${source.newestFirst ? 'desc' : 'asc'}`).join(', '),
  )
  const rows = await rowsOf(sql`
    select page.*, json_build_array(${keyTexts(sql, source)})::text as page_key
    from (${source.rows}) as page
    ${request.after === null ? sql`` : after(sql, source, request.after)}
    order by ${order}
    limit ${request.pageSize + 1} offset ${request.offset}`)
  // The last page by number says itself how many there are, which spares a search that finds little a second scan.
  const isLast = request.after === null && rows.length <= request.pageSize && (rows.length > 0 || request.offset === 0)
  const counted = isLast ? request.offset + rows.length : await countRows(sql, source)
  return toPage(request, rows, counted, show)
}

async function countRows(sql: Sql, { rows }: PageSource): Promise<number> {
  const [counted] = await sql<[{ total: number }]>`
    select count(*) as total from (select 1 from (${rows}) as page limit ${countedRows + 1}) as counted`
  return counted.total
}

/** A cursor can have the shape of ours and name a day that does not exist; the database notices (class 22). */
export async function rowsOf(query: Promise<Row[]>): Promise<Row[]> {
  try {
    return await query
  } catch (error) {
    throw (error as { code?: string }).code?.startsWith('22') ? foreignCursor() : error
  }
}

function keyTexts(sql: Sql, { key }: PageSource) {
  return sql.unsafe(key.map(({ column }) => `page.${column}::text`).join(', '))
}

function after(sql: Sql, { key, newestFirst }: PageSource, values: string[]) {
  const columns = sql.unsafe(`(${key.map(({ column }) => `page.${column}`).join(', ')})`)
  const bounds = key.map(({ type }, index) => {
    const value = sql`${values[index] as string}::text::${sql.unsafe(type)}`
    return index === 0 ? value : sql`, ${value}`
  })
  return sql`where ${columns} ${newestFirst ? sql`<` : sql`>`} (${bounds})`
}

const fitsType = {
  bigint: /^-?\d{1,18}$/,
  timestamptz: /^\d{4,6}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d{1,6})?[+-]\d\d(:\d\d){0,2}$/,
}

/** The values of a cursor that has the shape of ours. */
function readCursor(cursor: string, key: PageKey): string[] {
  const values = parseCursor(cursor)
  if (values?.length !== key.length) throw foreignCursor()
  const fits = key.every(({ type }, index) => type === 'text' || fitsType[type].test(values[index] as string))
  if (!fits) throw foreignCursor()
  return values
}

function parseCursor(cursor: string): string[] | undefined {
  try {
    const values: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString())
    if (!Array.isArray(values)) return undefined
    // NUL cannot be stored, so no key of ours holds one.
    return values.every((value) => typeof value === 'string' && !value.includes('\0')) ? values : undefined
  } catch {
    return undefined
  }
}

function pageTooFar() {
  const reason = {
    en: `times pageSize reaches to ${numberedRows}; a cursor goes further`,
    zh: `与 pageSize 的乘积不得超过 ${numberedRows}；更远请使用游标`,
  }
  return invalidRequest([{ field: 'pageNo', reason }])
}

function foreignCursor() {
  return invalidRequest([
    { field: 'cursor', reason: { en: 'is not a cursor that this operation answered', zh: '不是本操作返回的游标' } },
  ])
}
