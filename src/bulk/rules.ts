import type { TSchema } from 'typebox'
import { absent, isInteger } from '../http/validate.ts'
import { type FieldFault, invalidField, type Reason } from '../vocabulary/refusals.ts'
import { closingTimePattern, given, timeOfDayPattern } from '../vocabulary/values.ts'
import { isBlank } from './blanks.ts'
import {
  exportedColumns,
  type ImportKind,
  type ImportMode,
  ignoredColumns,
  importRows,
  refusalColumns,
  rowsOf,
} from './contract.ts'
import { withoutQuote } from './formulas.ts'

/** A row's first line, and its cells (CSV) or text (NDJSON); neither if it was too large. */
export type KeptRow = [line: number, ...cells: string[]]

export interface RowKind {
  kind: ImportKind
  mode: ImportMode
}

const propertiesOf = ({ kind, mode }: RowKind) => rowsOf(kind, mode).properties as Record<string, TSchema>

export const columnsOf = (kind: ImportKind): string[] => Object.keys(importRows[kind].properties)

/** Names a column in responses: the file may hold anything, and the reader may be a terminal. */
export const shownColumn = (column: string, index: number) =>
  /^\P{Cc}+$/u.test(column) && !isBlank(column) ? column.slice(0, 128) : `column ${index + 1}`

const separators = {
  ';': ['semicolons', '分号'],
  '\t': ['tabs', '制表符'],
  '|': ['bars', '竖线'],
  '，': ['full-width commas', '全角逗号'],
}

/** Returns the separator of a header without commas; undefined if that isn't the problem. */
export function wrongSeparator(rows: RowKind, columns: readonly string[]): Reason | undefined {
  const known = new Set([...Object.keys(propertiesOf(rows)), ...ignoredColumns(rows.kind, rows.mode)])
  for (const [separator, [en, zh]] of Object.entries(separators)) {
    const parts = columns.flatMap((column) => column.split(separator))
    const isIt = parts.length > columns.length && parts.some((part) => known.has(part.trim().replaceAll('"', '')))
    if (!isIt && columns[0]?.toLowerCase() !== `sep=${separator}`) continue
    return {
      en: `has ${en} as the separator of its columns: save it with commas`,
      zh: `各列以${zh}作为分隔符：请另存为以逗号分隔的文件`,
    }
  }
  return undefined
}

const mostFaults = 100

/** Returns the columns a file must have: the key for updates, all required fields for new rows. */
function requiredColumns({ kind, mode }: RowKind, columns: readonly string[]): readonly string[] {
  const areNew = kind === 'sites' && !columns.includes('id')
  const { required = [] } = (areNew ? importRows[kind] : rowsOf(kind, mode)) as { required?: string[] }
  return required
}

/** Reads `ignoreColumns`. Throws 10001 for a column that the import sets. */
export function leftOutColumns(rows: RowKind, list: string | null): ReadonlySet<string> {
  const names = new Set((list ?? '').split(',').map((name) => name.trim()))
  const settable = Object.keys(propertiesOf(rows)).filter((name) => names.has(name))
  if (settable.length > 0) {
    const en = `includes ${settable.join(', ')}, which this import needs`
    throw invalidField('ignoreColumns', en, `含有此类导入会写入的列：${settable.join('、')}`)
  }
  return names
}

/** Returns the errors of a CSV header: unknown, repeated and missing columns. */
export function columnFaults(rows: RowKind, columns: readonly string[], leftOut: ReadonlySet<string>): FieldFault[] {
  const known = new Set([...Object.keys(propertiesOf(rows)), ...ignoredColumns(rows.kind, rows.mode)])
  const unknown = { en: 'isn’t a column of this import', zh: '不是此类导入的列' }
  const twice = { en: 'appears twice', zh: '重复给出' }
  const faults = new Map<string, Reason>()
  const found = new Set<string>()
  for (const [index, column] of columns.entries()) {
    const shown = shownColumn(column, index)
    if (column === '' || leftOut.has(shown)) continue
    if (!known.has(column)) faults.set(shown, unknown)
    else if (found.has(column)) faults.set(column, twice)
    found.add(column)
    if (faults.size === mostFaults) break
  }
  for (const column of requiredColumns(rows, columns)) {
    if (!found.has(column) && faults.size < mostFaults) faults.set(column, absent)
  }
  return [...faults].map(([field, reason]) => ({ field, reason }))
}

type ReadCell = (cell: string) => string | number

/** Reads a cell as an integer where the schema wants one. Spreadsheets save a time without the zero of its hour. */
function valueReader(schema: TSchema): ReadCell {
  if (isInteger(schema)) return (cell) => (/^(0|[1-9]\d{0,15})$/.test(cell) ? Number(cell) : cell)
  const { pattern } = schema as { pattern?: string }
  if (pattern !== timeOfDayPattern && pattern !== closingTimePattern) return (cell) => cell
  return (cell) => (/^\d:\d\d:\d\d$/.test(cell) ? `0${cell}` : cell)
}

/** Returns a reader of cells, which unquotes formulas in files that the service may have written. */
export function cellTextReader({ kind, mode }: RowKind, columns: readonly string[]): (cell: string) => string {
  const isOurs = mode === 'upsert' || ignoredColumns(kind, mode).some((name) => columns.includes(name))
  return isOurs ? withoutQuote : (cell) => cell
}

/** Throws 10001 for another application's exported row, because its IDs mean other records here. */
export function requireOwn(appId: string | null, rowsAppId: unknown): void {
  const said = typeof rowsAppId === 'string' ? rowsAppId.trim() : given(rowsAppId)
  if (appId === null || said === null || said === '' || said === appId) return
  throw invalidField(
    'appId',
    'must be the application of this import: the row is another one’s, and so are its ids',
    '必须是此次导入的应用：该行及其中的 id 属于另一个应用',
  )
}

/** Makes the reader of a row's cells. An empty cell is absent for a create and clears a field for an update. */
export function cellReader(rows: RowKind, columns: readonly string[]) {
  const properties = propertiesOf(rows)
  const isUpsert = rows.mode === 'upsert'
  const textOf = cellTextReader(rows, columns)
  const settable = columns.flatMap((column, index) => {
    const schema = properties[column]
    return schema === undefined ? [] : [{ column, index, read: valueReader(schema) }]
  })
  return (cells: readonly string[]): Record<string, string | number> => {
    const body: Record<string, string | number> = {}
    for (const { column, index, read } of settable) {
      const cell = textOf(cells[index] ?? '')
      if (isUpsert || cell !== '') body[column] = read(cell)
    }
    return body
  }
}

type Members = Record<string, unknown>

const isRecord = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Returns the object that holds a field: the row, or a record nested in it. */
function holderOf(row: Members, name: string, outer: string | undefined): Members | undefined {
  const holder = outer === undefined ? row : row[outer]
  return isRecord(holder) && Object.hasOwn(holder, name) ? holder : undefined
}

/** Makes the reader of NDJSON rows. Fields of nested records count as the row's own; `note` gets ignored ones. */
export function memberReader(rows: RowKind, note: (column: string) => void) {
  const properties = propertiesOf(rows)
  const columns = exportedColumns(rows.kind).map(({ name, path }) => ({ name, outer: path.at(-2) }))
  const ignored = columns.filter(({ name }) => !Object.hasOwn(properties, name))
  const within = columns.filter(({ name, outer }) => outer !== undefined && Object.hasOwn(properties, name))
  return (row: unknown): unknown => {
    if (!isRecord(row)) return row
    for (const { name, outer } of ignored) if (holderOf(row, name, outer) !== undefined) note(name)
    for (const name of refusalColumns) if (Object.hasOwn(row, name)) note(name)
    const lifted = within.flatMap(({ name, outer }) => {
      const holder = holderOf(row, name, outer)
      return holder === undefined ? [] : [[name, holder[name]]]
    })
    return lifted.length === 0 ? row : { ...Object.fromEntries(lifted), ...row }
  }
}
