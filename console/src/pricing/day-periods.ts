import { mostPeriods, type Period } from '../../../src/billing-rules/contract.ts'
import { moneyPattern, timeOfDayPattern } from '../../../src/vocabulary/values.ts'

// The periods of a day in seconds since midnight, and money in ten-thousandths of a yuan, so that all are integers.

export const daySeconds = 86_400
/** Borders that are moved by hand snap to quarters of an hour. */
const stepSeconds = 900

const time = new RegExp(timeOfDayPattern, 'u')
export const money = new RegExp(moneyPattern, 'u')

/** Parses HH:mm:ss to seconds since midnight; undefined if it is malformed. */
export function readTime(text: string): number | undefined {
  if (!time.test(text)) return undefined
  const [hours = 0, minutes = 0, seconds = 0] = text.split(':').map(Number)
  return hours * 3600 + minutes * 60 + seconds
}

/** Seconds since midnight as HH:mm:ss; the end of the day is 24:00:00. */
export function showTime(seconds: number): string {
  const two = (number: number) => String(number).padStart(2, '0')
  return [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60].map(two).join(':')
}

/** Completes an abbreviated time: 7:30 becomes 07:30:00. Any other text stays as it is. */
export function completeTime(text: string): string {
  const parts = text.trim().replaceAll('：', ':').split(':')
  if (parts.length > 3 || parts.some((part) => !/^\d{1,2}$/.test(part))) return text
  const whole = [...parts, '00', '00'].slice(0, 3).map((part) => part.padStart(2, '0'))
  return readTime(whole.join(':')) === undefined ? text : whole.join(':')
}

/** Parses a decimal string to ten-thousandths; undefined if it is not an amount. */
export function readMoney(text: string): number | undefined {
  if (!money.test(text)) return undefined
  const [yuan = '0', decimals = ''] = text.split('.')
  return Number(yuan) * 10_000 + Number(decimals.padEnd(4, '0'))
}

/** Formats ten-thousandths with two decimals, or more if needed. */
export function showMoney(tenThousandths: number): string {
  const decimals = String(tenThousandths % 10_000).padStart(4, '0')
  return `${Math.floor(tenThousandths / 10_000)}.${decimals.slice(0, 2)}${decimals.slice(2).replace(/0+$/, '')}`
}

/** The total price of a period, in ten-thousandths; undefined while one of its prices is malformed. */
export function totalPrice({ electricityPrice, servicePrice }: Omit<Period, 'startTime'>): number | undefined {
  const [electricity, service] = [readMoney(electricityPrice), readMoney(servicePrice)]
  return electricity === undefined || service === undefined ? undefined : electricity + service
}

/** A period, for the bar. */
export interface Span {
  start: number
  end: number
  total: number | undefined
}

/** The spans of a day; undefined while a time is malformed or out of order. */
export function spansOf(periods: readonly Period[]): Span[] | undefined {
  const starts = periods.map(({ startTime }) => readTime(startTime))
  const isDay = starts.every((start, index) =>
    index === 0 ? start === 0 : start !== undefined && start > (starts[index - 1] ?? daySeconds),
  )
  if (periods.length === 0 || !isDay) return undefined
  return periods.map((period, index) => ({
    start: starts[index] as number,
    end: starts[index + 1] ?? daySeconds,
    total: totalPrice(period),
  }))
}

/** The period at a time of day. */
export function periodAt<Item extends Period>(periods: readonly Item[], seconds: number): Item | undefined {
  return periods.findLast(({ startTime }) => (readTime(startTime) ?? daySeconds) <= seconds)
}

const snap = (seconds: number) => Math.round(seconds / stepSeconds) * stepSeconds

/** The first and the last quarter of an hour between a border's neighbours; undefined if there is none. */
export function borderRange(spans: readonly Span[], index: number): { least: number; most: number } | undefined {
  const [before, after] = [spans[index - 1], spans[index]]
  if (before === undefined || after === undefined) return undefined
  const least = Math.floor(before.start / stepSeconds) * stepSeconds + stepSeconds
  const most = Math.ceil(after.end / stepSeconds) * stepSeconds - stepSeconds
  return least > most ? undefined : { least, most }
}

/** Moves the start of a period, but stays between its neighbours. */
export function moveBorder<Item extends Period>(periods: readonly Item[], index: number, seconds: number): Item[] {
  const range = borderRange(spansOf(periods) ?? [], index)
  if (range === undefined) return [...periods]
  const startTime = showTime(Math.min(Math.max(snap(seconds), range.least), range.most))
  return periods.map((period, at) => (at === index ? { ...period, startTime } : period))
}

/** The border after a key press: at the next quarter or hour, or as far as possible; undefined for any other key. */
export function keyTarget(
  key: string,
  from: number,
  { least, most }: { least: number; most: number },
): number | undefined {
  const earlier = (step: number) => Math.ceil(from / step) * step - step
  const later = (step: number) => Math.floor(from / step) * step + step
  const targets: Record<string, number> = {
    ArrowLeft: earlier(stepSeconds),
    ArrowDown: earlier(stepSeconds),
    ArrowRight: later(stepSeconds),
    ArrowUp: later(stepSeconds),
    PageDown: earlier(3600),
    PageUp: later(3600),
    Home: least,
    End: most,
  }
  return targets[key]
}

/** The quarter of an hour nearest to `at` at which a period can be split; undefined if the period is too short. */
export function splitPoint(span: Span, seconds: number): number | undefined {
  const least = Math.floor(span.start / stepSeconds) * stepSeconds + stepSeconds
  const most = Math.ceil(span.end / stepSeconds) * stepSeconds - stepSeconds
  return least > most ? undefined : Math.min(Math.max(snap(seconds), least), most)
}

/** Where a period is split by default: about its middle. */
export const middleOf = ({ start, end }: Span): number => (start + end) / 2

type PeriodField = keyof Period
export type PeriodFault = 'first' | 'time' | 'order' | 'money'

/** The fault of one member of a period, as the service would report it. */
export function periodFault(periods: readonly Period[], index: number, field: PeriodField): PeriodFault | undefined {
  const value = periods[index]?.[field] ?? ''
  if (field !== 'startTime') return money.test(value) ? undefined : 'money'
  if (index === 0) return value === '00:00:00' ? undefined : 'first'
  if (readTime(value) === undefined) return 'time'
  return value > (periods[index - 1]?.startTime ?? '') ? undefined : 'order'
}

export const periodFields = ['startTime', 'electricityPrice', 'servicePrice'] as const

export function isSound(periods: readonly Period[]): boolean {
  return (
    periods.length > 0 &&
    periods.length <= mostPeriods &&
    periods.every((_, index) => periodFields.every((field) => periodFault(periods, index, field) === undefined))
  )
}

/** The time of day in a zone, in seconds since midnight. */
export function secondsOfDay(now: Date, timeZone: string): number {
  const clock = new Intl.DateTimeFormat('en-GB', { timeZone, timeStyle: 'medium', hourCycle: 'h23' }).format(now)
  return readTime(clock) ?? 0
}
