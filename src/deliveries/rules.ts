import { limits } from '../vocabulary/limits.ts'
import type { TimeRange } from '../vocabulary/moments.ts'
import { type FieldFault, fieldFault } from '../vocabulary/refusals.ts'
import { given } from '../vocabulary/values.ts'
import { type DeliveryRecord, testType } from './contract.ts'

/** Standard Webhooks' schedule: the waits after each failure, in seconds. About 3 days. */
const retrySeconds = [5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400] as const
const maxAttempts = retrySeconds.length + 1
const dayMs = 86_400_000
/** Spreads the retries of deliveries that failed together, as a share of the wait. */
const jitter = 0.2
export const failuresUntilHeld = 3
const shortestHoldMs = 2_000
const longestHoldMs = 300_000
/** Failures in a row after which a pause has its full length. */
const failuresUntilLongest = failuresUntilHeld + Math.ceil(Math.log2(longestHoldMs / shortestHoldMs))
/** For an endpoint that has failed for long: ten attempts of each event, at one event a second. */
const longVisitAttempts = 4_000

export const statuses = { waiting: 1, delivered: 2, dead: 3 } as const

export interface StatusQuery {
  status?: number | null | ''
  isDelivered?: string | boolean | null
}

export function askedStatuses(query: StatusQuery): number[] | null {
  const [status, isDelivered] = [given(query.status), given(query.isDelivered)]
  if (status === null && isDelivered === null) return null
  return Object.values(statuses).filter(
    (one) =>
      (status === null || one === status) &&
      (isDelivered === null || (one === statuses.delivered) === (String(isDelivered) === 'true')),
  )
}

export interface AttemptResult {
  responseStatus: number | null
  error: string | null
  response: string | null
  /** The wait that the receiver's `Retry-After` asks for. */
  retryAfterMs: number | null
  durationMs: number
}

type LoggedAttempt = DeliveryRecord['attemptLog'][number]

export interface Verdict {
  status: number
  /** Null for no further attempt. */
  delayMs: number | null
}

/** `scale` shortens the waits in tests. */
export function judge(
  { responseStatus, error, retryAfterMs }: AttemptResult,
  { type, attempts }: { type: string; attempts: number },
  scale: number,
  random = Math.random(),
): Verdict {
  if (error === null) return { status: statuses.delivered, delayMs: null }
  // With a 410 the receiver refuses all further callbacks. A test is never retried.
  const isLast = responseStatus === 410 || type === testType || attempts >= maxAttempts
  if (isLast) return { status: statuses.dead, delayMs: null }
  const seconds = retrySeconds[attempts - 1] ?? 0
  const scheduledMs = seconds * 1000 * scale * (1 - jitter + 2 * jitter * random)
  return { status: statuses.waiting, delayMs: Math.min(dayMs, Math.max(scheduledMs, retryAfterMs ?? 0)) }
}

/** 2 s from the third failure on, doubling up to 5 minutes. */
export function holdMs(failures: number, { retryAfterMs }: AttemptResult, scale: number): number {
  if (failures < failuresUntilHeld) return 0
  const grownMs = Math.min(longestHoldMs, shortestHoldMs * 2 ** (failures - failuresUntilHeld))
  return Math.min(longestHoldMs, Math.max(grownMs * scale, retryAfterMs ?? 0))
}

/** Few failures while the endpoint may recover soon; later so many that every delivery gets its attempts in time. */
export function failuresOfVisit(failures: number): number {
  if (failures < failuresUntilHeld) return failuresUntilHeld - failures
  return failures < failuresUntilLongest ? 2 : longVisitAttempts
}

/** An event has up to nine retries: an endpoint that fails for long begins only as many events as it can retry. */
export function retriesPerEvent(failures: number): number {
  return failures < failuresUntilLongest ? 1 : maxAttempts - 1
}

/** RFC 9110 §10.2.3: seconds or a date, of a 429 or 503; in ms, null for anything else. */
export function readRetryAfter(status: number, header: string | undefined, now = Date.now()): number | null {
  if (header === undefined || (status !== 429 && status !== 503)) return null
  if (/^\d{1,9}$/.test(header)) return Number(header) * 1000
  const date = Date.parse(header)
  return Number.isNaN(date) ? null : Math.max(0, date - now)
}

/** `earlier` is JSON text; drops the oldest attempts beyond the limit. */
export function logAttempt(earlier: string, time: Date, { responseStatus, error, durationMs }: AttemptResult): string {
  const attempt: LoggedAttempt = { time: time.toISOString(), responseStatus, error, durationMs }
  if (earlier === '[]') return JSON.stringify([attempt])
  return JSON.stringify([...(JSON.parse(earlier) as LoggedAttempt[]), attempt].slice(-limits.attemptsKept))
}

export function webhookIdOf(type: string, id: number): string {
  return `${type === testType ? 'test' : 'evt'}_${id}`
}

/** Without control characters and lone surrogates (contract §2). */
export function storable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cs}]/gu, ' ')
}

export interface Order {
  retriesPerEvent: number
  position: number
  /** A list of this length may have more entries in the database. */
  limit: number
}

/** When one list ends, the other continues, unless the first may have more stored. Skipped events take no turn. */
export function* interleave<Item extends { data: string | null }>(
  retries: readonly Item[],
  events: readonly Item[],
  { retriesPerEvent, position, limit }: Order,
): Generator<Item> {
  for (let [retry, event, turn] = [0, 0, position]; ; ) {
    const isEvents = turn % (retriesPerEvent + 1) === 0
    const [item, other] = isEvents ? [events[event], retries[retry]] : [retries[retry], events[event]]
    const hasMore = (isEvents ? events : retries).length >= limit
    const next = item ?? (hasMore ? undefined : other)
    if (next === undefined) return
    yield next
    if (next === events[event]) event++
    else retry++
    if (next.data !== null) turn++
  }
}

export interface ReplayRequest extends StatusQuery {
  id?: number | null | ''
  timeFrom?: string | null
  timeTo?: string | null
}

/** A request names either one delivery or a time range. */
export function replayConflicts(body: ReplayRequest, { from, before }: TimeRange): FieldFault[] {
  const { timeFrom, timeTo, status, isDelivered } = body
  if (given(body.id) !== null) {
    return Object.entries({ timeFrom, timeTo, status, isDelivered })
      .filter(([, value]) => given(value) !== null)
      .map(([field]) => fieldFault(field, 'must not be given together with id', '不得与 id 同时给出'))
  }
  return from !== null && before !== null && before <= from
    ? [fieldFault('timeTo', 'must not be earlier than timeFrom', '不得早于 timeFrom')]
    : []
}

export function replayGaps(body: ReplayRequest): FieldFault[] {
  const [timeFrom, timeTo] = [given(body.timeFrom), given(body.timeTo)]
  if (given(body.id) !== null || (timeFrom !== null && timeTo !== null)) return []
  if (timeFrom === timeTo) {
    return [
      fieldFault('id', 'is required, unless you send timeFrom and timeTo', '必须给出，或改为给出 timeFrom 和 timeTo'),
    ]
  }
  return timeFrom === null
    ? [fieldFault('timeFrom', 'is required together with timeTo', '给出 timeTo 时必填')]
    : [fieldFault('timeTo', 'is required together with timeFrom', '给出 timeFrom 时必填')]
}
