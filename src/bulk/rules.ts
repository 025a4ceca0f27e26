import type { TSchema } from 'typebox'
import { absent, isInteger } from '../http/validate.ts'
import { type FieldFault, invalidRequest, type Reason } from '../vocabulary/refusals.ts'
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

// Rules for the rows of imports, independent of how they are stored.

/**
 * A row as it is stored until it is decided: its first line, and its cells (CSV) or its text (NDJSON). A row that was
 * too large has neither.
 */
export type KeptRow = [line: number, ...cells: string[]]

/** The kind of a file's rows, and what happens to rows that already exist. */
export interface RowKind {
  kind: ImportKind
  mode: ImportMode
}

const propertiesOf = ({ kind, mode }: RowKind) => rowsOf(kind, mode).properties as Record<string, TSchema>

/** The columns of a kind, in the order of a template. */
export const columnsOf = (kind: ImportKind): string[] => Object.keys(importRows[kind].properties)

/** What a column is called in answers: the file may hold anything, and the reader may be a terminal. */
export const shownColumn = (column: string, index: number) =>
  /^\P{Cc}+$/u.test(column) ? column.slice(0, 128) : `column ${index + 1}`

/** The most faults of columns that are reported: more would not help. */
const mostFaults = 100

/** The columns that a file must have: for updates only the key, for new rows all required members. */
function requiredColumns({ kind, mode }: RowKind, columns: readonly string[]): readonly string[] {
  const areNew = kind === 'sites' && !columns.includes('id')
  const { required = [] } = (areNew ? importRows[kind] : rowsOf(kind, mode)) as { required?: string[] }
  return required
}

/** The columns that `ignoreColumns` names. Throws 10001 for one that the import sets. */
export function leftOutColumns(rows: RowKind, list: string | null): ReadonlySet<string> {
  const names = new Set((list ?? '').split(','))
  const settable = Object.keys(propertiesOf(rows)).filter((name) => names.has(name))
  if (settable.length > 0) {
    const reason = {
      en: `names ${settable.join(', ')}, which this import sets`,
      zh: `含有此类导入会写入的列：${settable.join('、')}`,
    }
    throw invalidRequest([{ field: 'ignoreColumns', reason }])
  }
  return names
}

/** The faults of a CSV file's first line: unknown, repeated and missing columns. The columns `leftOut` have none. */
export function columnFaults(rows: RowKind, columns: readonly string[], leftOut: ReadonlySet<string>): FieldFault[] {
  const known = new Set([...Object.keys(propertiesOf(rows)), ...ignoredColumns(rows.kind, rows.mode)])
  const unknown = { en: 'is not a column of this kind of import', zh: '不是此类导入的列' }
  const twice = { en: 'is given twice', zh: '重复给出' }
  const faults = new Map<string, Reason>()
  const found = new Set<string>()
  for (const [index, column] of columns.entries()) {
    const shown = shownColumn(column, index)
    if (leftOut.has(shown)) continue
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

/** The value that a cell gives its member: an integer where the schema wants one, else text. */
const readCell = (cell: string, ofIntegers: boolean) =>
  ofIntegers && /^(0|[1-9]\d{0,15})$/.test(cell) ? Number(cell) : cell

/**
 * Makes the function that gives a cell's text. In files that the service may have written, it removes the quote that
 * they have before text that looks like a formula: those of updates, and those of refused rows.
 */
export function cellTextReader({ mode }: RowKind, columns: readonly string[]): (cell: string) => string {
  const isOurs = mode === 'upsert' || refusalColumns.some((name) => columns.includes(name))
  return isOurs ? withoutQuote : (cell) => cell
}

/**
 * Makes the function that reads a row's cells as the body of an operation. For a create, an empty cell counts as
 * absent. For an update, an empty cell is an empty text, which clears an optional member.
 */
export function cellReader(rows: RowKind, columns: readonly string[]) {
  const properties = propertiesOf(rows)
  const isUpsert = rows.mode === 'upsert'
  const textOf = cellTextReader(rows, columns)
  const read = columns.flatMap((column, index) => {
    const schema = properties[column]
    return schema === undefined ? [] : [{ column, index, ofIntegers: isInteger(schema) }]
  })
  return (cells: readonly string[]): Record<string, string | number> => {
    const body: Record<string, string | number> = {}
    for (const { column, index, ofIntegers } of read) {
      const cell = textOf(cells[index] ?? '')
      if (isUpsert || cell !== '') body[column] = readCell(cell, ofIntegers)
    }
    return body
  }
}

type Members = Record<string, unknown>

const isRecord = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/**
 * The object that holds a member of an export's record: the row, or the record nested in it; undefined if neither has
 * the member.
 */
function holderOf(row: Members, name: string, outer: string | undefined): Members | undefined {
  const holder = outer === undefined ? row : row[outer]
  return isRecord(holder) && Object.hasOwn(holder, name) ? holder : undefined
}

/**
 * Makes the function that reads a row of NDJSON as the body of an operation. An export's record has a device's address
 * in a nested record; its members count as the row's own. `note` is called with each member of an export or of refused
 * rows that an import cannot set.
 */
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
