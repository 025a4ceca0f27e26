import { given } from './values.ts'

/** As `yyyy-MM-dd HH:mm:ss` in the service's time zone. */
export type ShowMoment = (instant: Date) => string

/** In the service's time zone, or RFC 3339; if the clocks repeat the moment, its first or last occurrence. */
export type ReadMoment = (text: string, occurrence?: Occurrence) => Date

/** Null for no bound. */
export interface TimeRange {
  from: Date | null
  /** Exclusive. */
  before: Date | null
}

/** The end includes the whole second, or millisecond, that is given. */
export type ReadTimeRange = (filter: { timeFrom?: string | null; timeTo?: string | null }) => TimeRange

export function momentFormat(timeZone: string): ShowMoment {
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' })
  // Kept: formatting costs more than the rest of a record, and many records show the same second.
  let lastSecond = Number.NaN
  let lastShown = ''
  return (instant) => {
    const second = Math.floor(instant.getTime() / 1000)
    if (second !== lastSecond) {
      lastShown = format.format(instant)
      lastSecond = second
    }
    return lastShown
  }
}

/** The clocks repeat an hour when summer time ends. */
type Occurrence = 'first' | 'last'

const dayMs = 86_400_000

/** The first occurrence of a repeated moment, or the last if asked for. A skipped moment is the instant of the skip. */
export function momentReader(timeZone: string): ReadMoment {
  const show = momentFormat(timeZone)
  const offsetAt = (instant: number) => asUtc(show(new Date(instant))) - instant
  return (text, occurrence = 'first') => {
    if (!text.includes(' ')) return new Date(inMilliseconds(text))
    const shown = asUtc(text)
    // No zone is a day away from UTC, so any change of the clocks near the moment lies between these two.
    const offsets = [offsetAt(shown - dayMs), offsetAt(shown + dayMs)]
    const early = shown - Math.max(...offsets)
    const late = shown - Math.min(...offsets)
    const instants = [early, late].filter((instant) => show(new Date(instant)) === text)
    return new Date((occurrence === 'first' ? instants[0] : instants.at(-1)) ?? changeBetween(early, late, offsetAt))
  }
}

/** Finer fractions than milliseconds are cut off. */
function inMilliseconds(rfc3339: string): string {
  return rfc3339.toUpperCase().replace(/(\.\d{3})\d+/, '$1')
}

export function timeRangeReader(readMoment: ReadMoment): ReadTimeRange {
  return (filter) => {
    const [first, last] = [given(filter.timeFrom), given(filter.timeTo)]
    return {
      from: first === null ? null : readMoment(first),
      before: last === null ? null : new Date(readMoment(last, 'last').getTime() + (last.includes('.') ? 1 : 1000)),
    }
  }
}

/** By bisection, to the second. */
function changeBetween(before: number, behind: number, offsetAt: (instant: number) => number): number {
  const offsetBefore = offsetAt(before)
  let [low, high] = [before, behind]
  while (high - low > 1000) {
    const middle = low + Math.floor((high - low) / 2000) * 1000
    if (offsetAt(middle) === offsetBefore) low = middle
    else high = middle
  }
  return high
}

function asUtc(text: string): number {
  return Date.parse(`${text.replace(' ', 'T')}Z`)
}
