import type { FieldFault, Reason, RefusalName } from '../../vocabulary/refusals.ts'
import { refusals } from '../../vocabulary/refusals.ts'

// The outcomes of a job's rows, as they are stored and as the job's result shows them.

/** The outcomes of a row that was not refused, with the column that counts them. */
const countedIn = {
  created: 'created',
  updated: 'updated',
  existing: 'existing',
  done: 'updated',
  unchanged: 'existing',
} as const

type Success = keyof typeof countedIn
export type Outcome = Success | 'refused'

/** The column that counts an outcome's rows. */
export const columnOf = (outcome: Outcome) => (outcome === 'refused' ? 'refused' : countedIn[outcome])
export type CountColumn = ReturnType<typeof columnOf>
export const countColumns: readonly CountColumn[] = ['created', 'updated', 'existing', 'refused']

/**
 * A row's stored outcome: its line in a file, or null where there is none; the serial number or id; and for a refused row
 * the reason, the faulty members and, if it is a row of a file, its cells or its text.
 */
export type KeptOutcome =
  | [line: number | null, outcome: Success, key: string | number | null]
  | [
      line: number | null,
      refusal: RefusalName,
      key: string | number | null,
      errors: FieldFault[] | null,
      sent?: readonly string[],
    ]

export const outcomeOf = ([, outcome]: KeptOutcome): Outcome =>
  outcome in countedIn ? (outcome as Success) : 'refused'

/** How many of the outcomes each column counts. */
export function countOutcomes(outcomes: readonly KeptOutcome[]): Record<CountColumn, number> {
  const counts = { created: 0, updated: 0, existing: 0, refused: 0 }
  for (const outcome of outcomes) counts[columnOf(outcomeOf(outcome))]++
  return counts
}

/**
 * Packs the outcomes of a portion's rows as text: each fault once, and rows refer to it by its place. What was sent stands
 * by itself, in the order of the refused rows, because few readers want it.
 */
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
  const sent = outcomes.flatMap(([, , , , cells]) => (cells === undefined ? [] : [cells]))
  const kept = sent.length === 0 ? '' : `,"sent":${JSON.stringify(sent)}`
  return `{"faults":[${[...places.keys()].join(',')}],"rows":${JSON.stringify(rows)}${kept}}`
}

/** Reads a text of `packOutcomes`. */
export function unpackOutcomes(text: string): KeptOutcome[] {
  const { faults, rows, sent } = JSON.parse(text) as {
    faults: FieldFault[]
    rows: [line: number | null, outcome: RefusalName, key: string | number | null, ...faults: number[]][]
    /** Absent for acts. */
    sent?: string[][]
  }
  let refused = 0
  return rows.map(([line, outcome, key, ...places]) => {
    const errors = places.length === 0 ? null : places.map((place) => faults[place] as FieldFault)
    const kept: KeptOutcome = [line, outcome, key, errors]
    if (sent !== undefined && outcomeOf(kept) === 'refused') kept.push(sent[refused++] as never)
    return kept
  })
}

/** Why a row was refused, in one text. That the request is not valid says less than its faults. */
export function refusalWords(refusal: RefusalName, errors: FieldFault[] | null, language: keyof Reason): string {
  const faults = (errors ?? []).map(({ field, reason }) => `${field}: ${reason[language]}`).join('; ')
  if (faults === '') return refusals[refusal][language]
  return refusal === 'invalidRequest' ? faults : `${refusals[refusal][language]} ${faults}`
}

/** A line of a result. The row's key is told as the member that a record of the kind has it in. */
export function resultLine(kind: string, kept: KeptOutcome, language: keyof Reason): string {
  const [line, name, key, errors = null] = kept
  const outcome = outcomeOf(kept)
  const { code, [language]: msg } =
    outcome === 'refused' ? refusals[name as RefusalName] : { code: 0, en: 'success', zh: 'success' }
  const told = errors?.map(({ field, reason }) => ({ field, reason: reason[language] })) ?? null
  const named = kind === 'sites' ? { id: key } : { deviceNo: key }
  const place = line === null ? {} : { line }
  return `${JSON.stringify({ ...place, outcome, code, msg, errors: told, ...named })}\n`
}
