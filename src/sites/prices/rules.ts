// Finds the value that was in force at a moment: from the present value, past values with the moments at which they
// ended, and future values with the moments at which they begin.

/** A moment at which a value ended or begins, and the price change that caused it; null if none did. */
interface Turn {
  at: Date
  changeId: number | null
}

/** What is needed to find a value at a moment. */
export interface Known<Value> {
  /** The newest turn that is over. */
  before: Turn | undefined
  /** The first stored turn after the moment, with the value that ended then. */
  after: (Turn & { value: Value }) | undefined
  /** The present value; undefined if the thing no longer exists. */
  present: Value | undefined
  /** Turns that are not written down yet, in the order of their moments. */
  waiting: readonly (Turn & { changeId: number; value: Value })[]
}

export interface Held<Value> {
  value: Value
  /** Undefined: since it was made. */
  since: Turn | undefined
  until: Date | undefined
}

/**
 * The last value in force before `bound`, with its beginning and end. A turn to the same value does not count.
 * Undefined if there was no value.
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

/** Finds the period in force at a time of day, HH:mm:ss, among periods in ascending order. */
export const periodAt = <Period extends { startTime: string }>(
  periods: readonly Period[] | null,
  timeOfDay: string,
): Period | null => periods?.findLast(({ startTime }) => startTime <= timeOfDay) ?? null
