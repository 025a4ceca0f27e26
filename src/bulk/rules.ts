import type { TSchema } from 'typebox'
import { absent, isInteger } from '../http/validate.ts'
import type { FieldFault, Reason } from '../vocabulary/refusals.ts'
import { exportedColumns, type ImportKind, type ImportMode, ignoredColumns, importRows, rowsOf } from './contract.ts'
import { withoutQuote } from './formulas.ts'

// Rules for the rows of imports, independent of how they are stored.

/** A row as it waits: the line that it begins at, and its cells, or its text; without them it was too large to be kept. */
export type KeptRow = [line: number, ...cells: string[]]

/** What the rows of a file are, and what is done with those that are there already. */
export interface RowKind {
  kind: ImportKind
  mode: ImportMode
}

const propertiesOf = ({ kind, mode }: RowKind) => rowsOf(kind, mode).properties as Record<string, TSchema>

/** The columns of a kind, in the order of a template. */
export const columnsOf = (kind: ImportKind): string[] => Object.keys(importRows[kind].properties)

/** Whether a column's name can be shown: the file may hold anything, and the reader may be a terminal. */
const isName = (column: string) => /^\P{Cc}+$/u.test(column)

/** The most faults of columns that are reported: more would not help. */
const mostFaults = 100

/** The columns that a file must have: an update needs no more than its key, a new row all required members. */
function requiredColumns({ kind, mode }: RowKind, columns: readonly string[]): readonly string[] {
  const areNew = kind === 'sites' && !columns.includes('id')
  const { required = [] } = (areNew ? importRows[kind] : rowsOf(kind, mode)) as { required?: string[] }
  return required
}

/** The faults of a CSV file's first line: unknown, repeated and missing columns. */
export function columnFaults(rows: RowKind, columns: readonly string[]): FieldFault[] {
  const known = new Set([...Object.keys(propertiesOf(rows)), ...ignoredColumns(rows.kind, rows.mode)])
  const unknown = { en: 'is not a column of this kind of import', zh: '不是此类导入的列' }
  const twice = { en: 'is given twice', zh: '重复给出' }
  const faults = new Map<string, Reason>()
  const found = new Set<string>()
  for (const [index, column] of columns.entries()) {
    if (!known.has(column)) faults.set(isName(column) ? column.slice(0, 128) : `column ${index + 1}`, unknown)
    else if (found.has(column)) faults.set(column, twice)
    found.add(column)
    if (faults.size === mostFaults) break
  }
  for (const column of requiredColumns(rows, columns)) {
    if (!found.has(column) && faults.size < mostFaults) faults.set(column, absent)
  }
  return [...faults].map(([field, reason]) => ({ field, reason }))
}

/** A cell as the value of a member. */
const readCell = (cell: string, ofIntegers: boolean) =>
  ofIntegers && /^(0|[1-9]\d{0,15})$/.test(cell) ? Number(cell) : cell

/**
 * Makes what reads the cells of a row as the body of an operation. To create, an empty cell is not given; to update, it is
 * an empty text, which clears an optional member, and a cell is what it was before an export put a quote before it.
 */
export function cellReader(rows: RowKind, columns: readonly string[]) {
  const properties = propertiesOf(rows)
  const isUpsert = rows.mode === 'upsert'
  const read = columns.flatMap((column, index) => {
    const schema = properties[column]
    return schema === undefined ? [] : [{ column, index, ofIntegers: isInteger(schema) }]
  })
  return (cells: readonly string[]): Record<string, string | number> => {
    const body: Record<string, string | number> = {}
    for (const { column, index, ofIntegers } of read) {
      const cell = cells[index] ?? ''
      if (isUpsert) body[column] = readCell(withoutQuote(cell), ofIntegers)
      else if (cell !== '') body[column] = readCell(cell, ofIntegers)
    }
    return body
  }
}

type Members = Record<string, unknown>

const isRecord = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** What holds a member of an export's record: the row, or the record within it; undefined where neither has it. */
function holderOf(row: Members, name: string, outer: string | undefined): Members | undefined {
  const holder = outer === undefined ? row : row[outer]
  return isRecord(holder) && Object.hasOwn(holder, name) ? holder : undefined
}

/**
 * Makes what reads a row of NDJSON as the body of an operation: an export's record has the address of a device within it,
 * whose members count as the row's own. `note` is told of each member of an export that an import cannot set.
 */
export function memberReader(rows: RowKind, note: (column: string) => void) {
  const properties = propertiesOf(rows)
  const columns = exportedColumns(rows.kind).map(({ name, path }) => ({ name, outer: path.at(-2) }))
  const ignored = columns.filter(({ name }) => !Object.hasOwn(properties, name))
  const within = columns.filter(({ name, outer }) => outer !== undefined && Object.hasOwn(properties, name))
  return (row: unknown): unknown => {
    if (!isRecord(row)) return row
    for (const { name, outer } of ignored) if (holderOf(row, name, outer) !== undefined) note(name)
    const lifted = within.flatMap(({ name, outer }) => {
      const holder = holderOf(row, name, outer)
      return holder === undefined ? [] : [[name, holder[name]]]
    })
    return lifted.length === 0 ? row : { ...Object.fromEntries(lifted), ...row }
  }
}
