import { limits } from '../vocabulary/limits.ts'
import type { TimeRange } from '../vocabulary/moments.ts'
import type { FieldFault } from '../vocabulary/refusals.ts'
import { given } from '../vocabulary/values.ts'
import { testType } from './contract.ts'

/** Standard Webhooks' schedule: the wait after the first failure, the second, and so on, in seconds. About 3 days. */
const retrySeconds = [5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400] as const
const maxAttempts = retrySeconds.length + 1
const dayMs = 86_400_000
/** Spreads retries of deliveries that failed at the same moment, as a share of the wait. */
const jitter = 0.2
/** From this many failures in a row on, an endpoint is held: no attempts for a while. */
export const failuresUntilHeld = 3
const shortestHoldMs = 2_000
const longestHoldMs = 300_000
/** Failures in a row after which an endpoint is held for the longest time. */
const failuresUntilLongest = failuresUntilHeld + Math.ceil(Math.log2(longestHoldMs / shortestHoldMs))
/**
 * The number of attempts in one visit to an endpoint that has failed for long: enough for ten attempts of each event,
 * at one event a second.
 */
const longVisitAttempts = 4_000

export const statuses = { waiting: 1, delivered: 2, dead: 3 } as const

/** What a request narrows its deliveries to by their status. */
export interface StatusQuery {
  status?: number | null | ''
  /** As text in a query. */
  isDelivered?: string | boolean | null
}

/** The statuses that a request asks for; null for all. */
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
  /** Null when there was no response. */
  responseStatus: number | null
  /** Null for a success. */
  error: string | null
  response: string | null
  /** The receiver's `Retry-After`: how long it wants no requests. */
  retryAfterMs: number | null
  durationMs: number
}

/** One attempt as it is stored with its delivery. */
export interface LoggedAttempt {
  time: string
  responseStatus: number | null
  error: string | null
  durationMs: number
}

/** The state of a delivery after an attempt. */
export interface Verdict {
  status: number
  /** The time until the next attempt; null for none. */
  delayMs: number | null
}

/** Decides whether a delivery is retried after `attempts` attempts, and when. `scale` shortens the waits for tests. */
export function judge(
  { responseStatus, error, retryAfterMs }: AttemptResult,
  { type, attempts }: { type: string; attempts: number },
  scale: number,
  random = Math.random(),
): Verdict {
  if (error === null) return { status: statuses.delivered, delayMs: null }
  // By a 410 the receiver refuses all further callbacks. A test is never retried.
  const isLast = responseStatus === 410 || type === testType || attempts >= maxAttempts
  if (isLast) return { status: statuses.dead, delayMs: null }
  const seconds = retrySeconds[attempts - 1] ?? 0
  const scheduledMs = seconds * 1000 * scale * (1 - jitter + 2 * jitter * random)
  return { status: statuses.waiting, delayMs: Math.min(dayMs, Math.max(scheduledMs, retryAfterMs ?? 0)) }
}

/** How long an endpoint is held after failures in a row: 2 s from the third on, doubling up to 5 minutes. */
export function holdMs(failures: number, { retryAfterMs }: AttemptResult, scale: number): number {
  if (failures < failuresUntilHeld) return 0
  const grownMs = Math.min(longestHoldMs, shortestHoldMs * 2 ** (failures - failuresUntilHeld))
  return Math.min(longestHoldMs, Math.max(grownMs * scale, retryAfterMs ?? 0))
}

/**
 * How many attempts of a visit may fail before the visit ends. Few at first, while the endpoint may recover soon; later
 * so many that every delivery gets its attempts in time.
 */
export function failuresOfVisit(failures: number): number {
  if (failures < failuresUntilHeld) return failuresUntilHeld - failures
  return failures < failuresUntilLongest ? 2 : longVisitAttempts
}

/**
 * How many retries are sent for each new event. An event has up to nine retries, so an endpoint that fails for long,
 * with nine retries for each new event, begins only as many events as it can also retry.
 */
export function retriesPerEvent(failures: number): number {
  return failures < failuresUntilLongest ? 1 : maxAttempts - 1
}

/** Reads `Retry-After` (RFC 9110 §10.2.3: seconds or a date) of a 429 or 503, in ms; null for anything else. */
export function readRetryAfter(status: number, header: string | undefined, now = Date.now()): number | null {
  if (header === undefined || (status !== 429 && status !== 503)) return null
  if (/^\d{1,9}$/.test(header)) return Number(header) * 1000
  const date = Date.parse(header)
  return Number.isNaN(date) ? null : Math.max(0, date - now)
}

/** Appends an attempt to a delivery's log (JSON text), and drops the oldest beyond the limit. */
export function logAttempt(earlier: string, time: Date, { responseStatus, error, durationMs }: AttemptResult): string {
  const attempt: LoggedAttempt = { time: time.toISOString(), responseStatus, error, durationMs }
  if (earlier === '[]') return JSON.stringify([attempt])
  return JSON.stringify([...(JSON.parse(earlier) as LoggedAttempt[]), attempt].slice(-limits.attemptsKept))
}

/** The `webhook-id` of a delivery: the same for each attempt. */
export function webhookIdOf(type: string, id: number): string {
  return `${type === testType ? 'test' : 'evt'}_${id}`
}

/** Makes a receiver's text storable: without control characters and lone surrogates (contract §2). */
export function storable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cs}]/gu, ' ')
}

export interface Order {
  retriesPerEvent: number
  /** The turn to begin at. */
  position: number
  /** The limit of each list when it was read: a list of this length may have more entries in the database. */
  limit: number
}

/**
 * Yields retries and new events in turn, each in its own order. When one list ends the other continues alone, unless
 * the first may have more entries in the database. An event that the callback did not ask for does not count as a turn.
 */
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

const fault = (field: string, en: string, zh: string): FieldFault => ({ field, reason: { en, zh } })

/** Finds members of a replay request that conflict: it names either one delivery or a time range. */
export function replayConflicts(body: ReplayRequest, { from, before }: TimeRange): FieldFault[] {
  const { timeFrom, timeTo, status, isDelivered } = body
  if (given(body.id) !== null) {
    return Object.entries({ timeFrom, timeTo, status, isDelivered })
      .filter(([, value]) => given(value) !== null)
      .map(([field]) => fault(field, 'must not be given together with id', '不得与 id 同时给出'))
  }
  return from !== null && before !== null && before <= from
    ? [fault('timeTo', 'must not be earlier than timeFrom', '不得早于 timeFrom')]
    : []
}

/** Finds the members that are missing from a replay request, given the members that it has. */
export function replayGaps(body: ReplayRequest): FieldFault[] {
  const [timeFrom, timeTo] = [given(body.timeFrom), given(body.timeTo)]
  if (given(body.id) !== null || (timeFrom !== null && timeTo !== null)) return []
  if (timeFrom === timeTo) {
    return [fault('id', 'is required, unless you send timeFrom and timeTo', '必须给出，或改为给出 timeFrom 和 timeTo')]
  }
  return timeFrom === null
    ? [fault('timeFrom', 'is required together with timeTo', '给出 timeTo 时必填')]
    : [fault('timeTo', 'is required together with timeFrom', '给出 timeFrom 时必填')]
}
