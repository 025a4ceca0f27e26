import type { TSchema } from 'typebox'
import { type FieldFault, type Reason, type RefusalName, refusals } from '../vocabulary/refusals.ts'
import { type ImportKind, importRows, type Outcome } from './contract.ts'

// Rules for the rows of imports, independent of how they are stored.

/** A row as it waits: the line that it begins at, and its cells, or its text; without them it was too large to be kept. */
export type KeptRow = [line: number, ...cells: string[]]

/** A row's stored outcome: the serial number or id, and for a refused row the reason and the faulty members. */
export type KeptOutcome =
  | [line: number, outcome: 'created' | 'existing', key: string | number | null]
  | [line: number, refusal: RefusalName, key: string | number | null, errors: FieldFault[] | null]

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

export const outcomeOf = ([, outcome]: KeptOutcome): Outcome =>
  outcome === 'created' || outcome === 'existing' ? outcome : 'refused'

/** Packs the outcomes of a portion's rows as text: each fault once, and rows refer to it by its place. */
export function packOutcomes(outcomes: readonly KeptOutcome[]): string {
  const places = new Map<string, number>()
  const placeOf = (fault: FieldFault) => {
    const text = JSON.stringify(fault)
    const place = places.get(text) ?? places.size
    places.set(text, place)
    return place
  }
  const rows = outcomes.map(([line, outcome, key, errors = null]) =>
    errors === null ? [line, outcome, key] : [line, outcome, key, ...errors.map(placeOf)],
  )
  return `{"faults":[${[...places.keys()].join(',')}],"rows":${JSON.stringify(rows)}}`
}

/** Reads a text of `packOutcomes`. */
export function unpackOutcomes(text: string): KeptOutcome[] {
  const { faults, rows } = JSON.parse(text) as {
    faults: FieldFault[]
    rows: [line: number, outcome: RefusalName, key: string | number | null, ...faults: number[]][]
  }
  return rows.map(([line, outcome, key, ...places]) => [
    line,
    outcome,
    key,
    places.length === 0 ? null : places.map((place) => faults[place] as FieldFault),
  ])
}

export function resultLine(kind: ImportKind, kept: KeptOutcome, language: keyof Reason): string {
  const [line, name, key, errors = null] = kept
  const outcome = outcomeOf(kept)
  const { code, [language]: msg } =
    outcome === 'refused' ? refusals[name as RefusalName] : { code: 0, en: 'success', zh: 'success' }
  const told = errors?.map(({ field, reason }) => ({ field, reason: reason[language] })) ?? null
  const made = kind === 'sites' ? { id: key } : { deviceNo: key }
  return `${JSON.stringify({ line, outcome, code, msg, errors: told, ...made })}\n`
}
