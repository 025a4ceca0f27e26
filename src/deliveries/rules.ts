import type { FieldFault } from '../refusals.ts'
import { given } from '../values.ts'
import { testType } from './contract.ts'

/** Standard Webhooks' schedule: what is waited after the first failure, the second, …, in seconds. About 3 days. */
const retrySeconds = [5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400] as const
const maxAttempts = retrySeconds.length + 1
const dayMs = 86_400_000
/** Retries of one moment do not come back in one moment. */
const jitter = 0.2
/** From this many failures in a row on, an endpoint is left alone for a while. */
const failuresUntilHeld = 3
const longestHoldMs = 300_000
/** Kept of a delivery's history over all its replays. */
const keptAttempts = 20

/** Of a delivery. */
export const statuses = { waiting: 1, delivered: 2, dead: 3 } as const

/** What one attempt came to. */
export interface AttemptResult {
  /** Null when there was no answer. */
  responseStatus: number | null
  /** Null for a success. */
  error: string | null
  /** The beginning of the answer's body. */
  response: string | null
  /** How long the receiver asks to be left alone. */
  retryAfterMs: number | null
  durationMs: number
}

/** One attempt as a delivery keeps it. */
export interface LoggedAttempt {
  time: string
  responseStatus: number | null
  error: string | null
  durationMs: number
}

/** What follows from an attempt for its delivery. */
export interface Verdict {
  status: number
  /** Until the next attempt; null when there is none. */
  delayMs: number | null
}

/** Decides about a delivery after an attempt, its `attempts`th. `scale` hurries the schedule for tests. */
export function judge(
  { responseStatus, error, retryAfterMs }: AttemptResult,
  { type, attempts }: { type: string; attempts: number },
  scale: number,
  random = Math.random(),
): Verdict {
  if (error === null) return { status: statuses.delivered, delayMs: null }
  // 410: the receiver wants nothing more. A test is one question, so it is asked once.
  const isLast = responseStatus === 410 || type === testType || attempts >= maxAttempts
  if (isLast) return { status: statuses.dead, delayMs: null }
  const seconds = retrySeconds[attempts - 1] ?? 0
  const scheduledMs = seconds * 1000 * scale * (1 - jitter + 2 * jitter * random)
  return { status: statuses.waiting, delayMs: Math.min(dayMs, Math.max(scheduledMs, retryAfterMs ?? 0)) }
}

/** How long an endpoint is left alone after some failures in a row: 2 s, then twice as long each time, to 5 minutes. */
export function holdMs(failures: number, { retryAfterMs }: AttemptResult, scale: number): number {
  if (failures < failuresUntilHeld) return 0
  const grownMs = 1000 * 2 ** Math.min(failures - failuresUntilHeld + 1, 20) * scale
  return Math.min(longestHoldMs, Math.max(grownMs, retryAfterMs ?? 0))
}

/** Reads `Retry-After` (RFC 9110 §10.2.3: seconds or a date) of an answer that may carry it; null for anything else. */
export function readRetryAfter(status: number, header: string | undefined, now = Date.now()): number | null {
  if (header === undefined || (status !== 429 && status !== 503)) return null
  if (/^\d{1,9}$/.test(header)) return Number(header) * 1000
  const date = Date.parse(header)
  return Number.isNaN(date) ? null : Math.max(0, date - now)
}

/** A delivery's attempts with one more. */
export function logAttempt(earlier: string, time: Date, { responseStatus, error, durationMs }: AttemptResult): string {
  const attempt: LoggedAttempt = { time: time.toISOString(), responseStatus, error, durationMs }
  if (earlier === '[]') return JSON.stringify([attempt])
  return JSON.stringify([...(JSON.parse(earlier) as LoggedAttempt[]), attempt].slice(-keptAttempts))
}

/** The name of a delivery for its receiver: the same at each attempt. */
export function webhookIdOf(type: string, id: number): string {
  return `${type === testType ? 'test' : 'evt'}_${id}`
}

/** Text of somebody else's as it can be stored: no control characters, no lone surrogates (contract §2). */
export function storable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cs}]/gu, ' ')
}

/** Retries and new events in turn, each in its own order: neither keeps the other waiting. */
export function alternate<Item>(one: readonly Item[], other: readonly Item[]): Item[] {
  const both: Item[] = []
  for (let at = 0; at < Math.max(one.length, other.length); at++) {
    for (const item of [one[at], other[at]]) if (item !== undefined) both.push(item)
  }
  return both
}

interface ReplayRequest {
  id?: number | null | ''
  from?: string | null
  to?: string | null
  status?: number | null | ''
}

const fault = (field: string, en: string, zh: string): FieldFault => ({ field, reason: { en, zh } })

/** What does not go together in a request for a replay: it names one delivery or a time range. */
export function replayConflicts(body: ReplayRequest): FieldFault[] {
  const [id, from, to, status] = [given(body.id), given(body.from), given(body.to), given(body.status)]
  if (id !== null) {
    return Object.entries({ from, to, status })
      .filter(([, value]) => value !== null)
      .map(([field]) => fault(field, 'must not be given together with id', '不得与 id 同时给出'))
  }
  // Written alike, so they compare as they are.
  return from !== null && to !== null && to < from
    ? [fault('to', 'must not be earlier than from', '不得早于 from')]
    : []
}

/** What a request for a replay leaves out, once what it gives is right by itself. */
export function replayGaps(body: ReplayRequest): FieldFault[] {
  const [from, to] = [given(body.from), given(body.to)]
  if (given(body.id) !== null || (from !== null && to !== null)) return []
  if (from === to) return [fault('id', 'is required, or else from and to', '必须给出，或改为给出 from 和 to')]
  return from === null
    ? [fault('from', 'is required together with to', '给出 to 时必填')]
    : [fault('to', 'is required together with from', '给出 from 时必填')]
}
