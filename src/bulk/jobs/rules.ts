import type { FieldFault, Reason, RefusalName } from '../../vocabulary/refusals.ts'
import { refusals } from '../../vocabulary/refusals.ts'

const countedIn = {
  created: 'created',
  updated: 'updated',
  existing: 'existing',
  done: 'updated',
  unchanged: 'existing',
} as const

type Success = keyof typeof countedIn
export type Outcome = Success | 'refused'

export const columnOf = (outcome: Outcome) => (outcome === 'refused' ? 'refused' : countedIn[outcome])
export type CountColumn = ReturnType<typeof columnOf>
export const countColumns: readonly CountColumn[] = ['created', 'updated', 'existing', 'refused']

/** `line` is null without a file. A refused row has the reason, its errors and, from a file, its cells or text. */
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

export function countOutcomes(outcomes: readonly KeptOutcome[]): Record<CountColumn, number> {
  const counts = { created: 0, updated: 0, existing: 0, refused: 0 }
  for (const outcome of outcomes) counts[columnOf(outcomeOf(outcome))]++
  return counts
}

/** Packs results: each error once, rows refer to it. What was sent stands apart, because few readers want it. */
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

export function unpackOutcomes(text: string): KeptOutcome[] {
  const { faults, rows, sent } = JSON.parse(text) as {
    faults: FieldFault[]
    rows: [line: number | null, outcome: RefusalName, key: string | number | null, ...faults: number[]][]
    /** Bulk actions have none. */
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

/** Says why a row was refused. `invalidRequest` says less than its errors. */
export function refusalWords(refusal: RefusalName, errors: FieldFault[] | null, language: keyof Reason): string {
  const faults = (errors ?? []).map(({ field, reason }) => `${field}: ${reason[language]}`).join('; ')
  if (faults === '') return refusals[refusal][language]
  return refusal === 'invalidRequest' ? faults : `${refusals[refusal][language]} ${faults}`
}

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
