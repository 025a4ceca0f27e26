// What held at a moment, of a thing that has a value now, values that it had until earlier moments, and values that it gets at
// later ones.

/** A moment at which a value ended or begins, and the price change that did it; null for none. */
interface Turn {
  at: Date
  changeId: number | null
}

/** What is known of a value around a moment. */
export interface Known<Value> {
  /** The newest turn that is over. */
  before: Turn | undefined
  /** The first turn behind the moment that is written down, with the value that it ended. */
  after: (Turn & { value: Value }) | undefined
  /** The value now; undefined for what exists no more. */
  present: Value | undefined
  /** What is not written down yet, in the order of moments. */
  waiting: readonly (Turn & { changeId: number; value: Value })[]
}

export interface Held<Value> {
  value: Value
  /** Undefined: since it was made. */
  since: Turn | undefined
  until: Date | undefined
}

/**
 * The value that held last before `bound`, since when and until when. A turn to the same value is none. Undefined for what
 * did not exist.
 */
export function heldBefore<Value>(
  { before, after, present, waiting }: Known<Value>,
  bound: Date,
  areSame: (one: Value, other: Value) => boolean,
): Held<Value> | undefined {
  if (after !== undefined) return { value: after.value, since: before, until: after.at }
  if (present === undefined) return undefined
  let held: Held<Value> = { value: present, since: before, until: undefined }
  for (const { at, changeId, value } of waiting) {
    if (areSame(value, held.value)) continue
    if (at >= bound) return { ...held, until: at }
    held = { value, since: { at, changeId }, until: undefined }
  }
  return held
}

/** A moment at the beginning of its second. */
export const wholeSecond = (moment: Date) => new Date(Math.floor(moment.getTime() / 1000) * 1000)

/** The one of some ascending periods that holds at a time of day, HH:mm:ss. */
export const periodAt = <Period extends { startTime: string }>(
  periods: readonly Period[] | null,
  timeOfDay: string,
): Period | null => periods?.findLast(({ startTime }) => startTime <= timeOfDay) ?? null
