import type { TSchema } from 'typebox'
import type { FieldFault, Reason } from '../vocabulary/refusals.ts'
import { type ImportKind, importRows } from './contract.ts'

// Rules for the rows of imports, independent of how they are stored.

/** A row as it waits: the line that it begins at, and its cells, or its text; without them it was too large to be kept. */
export type KeptRow = [line: number, ...cells: string[]]

const propertiesOf = (kind: ImportKind) => importRows[kind].properties as Record<string, TSchema>

/** The columns of a kind, in the order of a template. */
export const columnsOf = (kind: ImportKind): string[] => Object.keys(propertiesOf(kind))

/** Whether a column's name can be shown: the file may hold anything, and the reader may be a terminal. */
const isName = (column: string) => /^\P{Cc}+$/u.test(column)

/** The most faults of columns that are reported: more would not help. */
const mostFaults = 100

/** The faults of a CSV file's first line: unknown, repeated and missing columns. */
export function columnFaults(kind: ImportKind, columns: readonly string[]): FieldFault[] {
  const known = columnsOf(kind)
  const { required = [] } = importRows[kind] as { required?: string[] }
  const unknown = { en: 'is not a column of this kind of import', zh: '不是此类导入的列' }
  const twice = { en: 'is given twice', zh: '重复给出' }
  const faults = new Map<string, Reason>()
  const found = new Set<string>()
  for (const [index, column] of columns.entries()) {
    if (!known.includes(column)) faults.set(isName(column) ? column.slice(0, 128) : `column ${index + 1}`, unknown)
    else if (found.has(column)) faults.set(column, twice)
    found.add(column)
    if (faults.size === mostFaults) break
  }
  for (const column of required) {
    if (!found.has(column) && faults.size < mostFaults) faults.set(column, { en: 'is required', zh: '必填' })
  }
  return [...faults].map(([field, reason]) => ({ field, reason }))
}

const isInteger = (schema: TSchema): boolean => {
  const { type, anyOf } = schema as { type?: string; anyOf?: TSchema[] }
  return type === 'integer' || (anyOf?.some(isInteger) ?? false)
}

/** Makes what reads the cells of a row as the body of the operation that creates one: an empty cell is not given. */
export function cellReader(kind: ImportKind, columns: readonly string[]) {
  const properties = propertiesOf(kind)
  const integers = columns.map((column) => isInteger(properties[column] as TSchema))
  return (cells: readonly string[]): Record<string, string | number> => {
    const body: Record<string, string | number> = {}
    for (const [index, column] of columns.entries()) {
      const cell = cells[index]
      if (cell === undefined || cell === '') continue
      body[column] = integers[index] && /^(0|[1-9]\d{0,15})$/.test(cell) ? Number(cell) : cell
    }
    return body
  }
}
