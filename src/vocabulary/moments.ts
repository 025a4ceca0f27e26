import { given } from './values.ts'

// Moments are shown and read in one time zone, which a process sets once, when it starts.

type Show = (instant: Date) => string
type Read = (text: string, occurrence?: Occurrence) => Date

let zone: { show: Show; read: Read } | undefined

/** Sets the time zone of this process: an IANA name. */
export function setTimeZone(timeZone: string): void {
  zone = { show: momentFormat(timeZone), read: momentReader(timeZone) }
}

function ofService() {
  if (zone === undefined) throw new Error('The process has no time zone: call setTimeZone first')
  return zone
}

/** Shows an instant as `yyyy-MM-dd HH:mm:ss` in the service's time zone. */
export const showMoment: Show = (instant) => ofService().show(instant)

/** Reads a moment of the service's time zone, or of RFC 3339; if the clocks repeat it, its first or last occurrence. */
export const readMoment: Read = (text, occurrence) => ofService().read(text, occurrence)

/** Null for no bound. */
export interface TimeRange {
  from: Date | null
  /** Exclusive. */
  before: Date | null
}

export function momentFormat(timeZone: string): Show {
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
export function momentReader(timeZone: string): Read {
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

/** Reads a time filter, whose end includes the whole second, or millisecond, that is given. */
export function readTimeRange(filter: { timeFrom?: string | null; timeTo?: string | null }): TimeRange {
  const [first, last] = [given(filter.timeFrom), given(filter.timeTo)]
  return {
    from: first === null ? null : readMoment(first),
    before: last === null ? null : new Date(readMoment(last, 'last').getTime() + (last.includes('.') ? 1 : 1000)),
  }
}

/** Finds the first instant after a change of the clocks by bisection, to the second. */
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
