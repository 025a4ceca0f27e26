import { describe, expect, test } from 'bun:test'
import type { EventType } from '../vocabulary/event-types.ts'
import {
  type AttemptResult,
  failuresOfVisit,
  holdMs,
  interleave,
  judge,
  logAttempt,
  readRetryAfter,
  retriesPerEvent,
  storable,
} from './rules.ts'

const failed: AttemptResult = {
  responseStatus: 500,
  error: 'answered 500',
  response: '',
  retryAfterMs: null,
  durationMs: 1,
}
const type: EventType = 'site.created'
const dayMs = 86_400_000

describe('the schedule of attempts', () => {
  const delays = (random: number, scale = 1, result = failed) =>
    Array.from({ length: 9 }, (_, index) => judge(result, { type, attempts: index + 1 }, scale, random).delayMs ?? 0)

  test('has 10 attempts over about 3 days', () => {
    expect(delays(0.5).map((delay) => Math.round(delay / 1000))).toEqual([
      5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400,
    ])
    const days = delays(0.5).reduce((sum, delay) => sum + delay, 0) / dayMs
    expect(days).toBeGreaterThan(3)
    expect(days).toBeLessThan(3.3)
    expect(judge(failed, { type, attempts: 10 }, 1)).toEqual({ status: 3, delayMs: null })
  })

  test('moves each attempt by up to a fifth, and none beyond a day', () => {
    expect(delays(0)[0]).toBeCloseTo(4_000)
    expect(delays(1)[0]).toBeCloseTo(6_000)
    expect(Math.max(...delays(1))).toBe(dayMs)
    const drawn = Array.from({ length: 50 }, () => judge(failed, { type, attempts: 1 }, 1).delayMs ?? 0)
    expect(new Set(drawn).size).toBeGreaterThan(40)
    expect(Math.min(...drawn)).toBeGreaterThanOrEqual(4_000)
    expect(Math.max(...drawn)).toBeLessThanOrEqual(6_000)
  })

  test('is never earlier than Retry-After, nor than itself, and waits a day at most', () => {
    const asked = (retryAfterMs: number) => delays(0.5, 1, { ...failed, responseStatus: 429, retryAfterMs })
    expect(asked(60_000).slice(0, 2)).toEqual([60_000, 300_000])
    expect(asked(1000)[0]).toBe(5000)
    expect(asked(30 * dayMs)[0]).toBe(dayMs)
  })

  test('can be hurried for tests', () => {
    expect(delays(0.5, 0.001)[0]).toBeCloseTo(5)
  })

  test('ends with a success, with 410, and for a test with its one attempt', () => {
    const success = { ...failed, responseStatus: 204, error: null }
    expect(judge(success, { type, attempts: 3 }, 1)).toEqual({ status: 2, delayMs: null })
    expect(judge({ ...failed, responseStatus: 410 }, { type, attempts: 1 }, 1)).toEqual({ status: 3, delayMs: null })
    expect(judge(failed, { type: 'test', attempts: 1 }, 1)).toEqual({ status: 3, delayMs: null })
  })
})

test('an endpoint is left alone from its third failure in a row on, up to 5 minutes', () => {
  const holds = Array.from({ length: 14 }, (_, failures) => holdMs(failures, failed, 1) / 1000)
  expect(holds).toEqual([0, 0, 0, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300, 300])
  expect(holdMs(1_000_000, failed, 1)).toBe(300_000)
  expect(holdMs(3, { ...failed, retryAfterMs: 20_000 }, 1)).toBe(20_000)
  expect(holdMs(3, { ...failed, retryAfterMs: dayMs }, 1)).toBe(300_000)
})

test('the longest hold is hurried like all others', () => {
  expect(holdMs(1_000, failed, 0.001)).toBe(300)
})

test('a visit is short while the endpoint may soon be back, and takes what is due once it has failed for long', () => {
  const visits = Array.from({ length: 13 }, (_, failures) => failuresOfVisit(failures))
  expect(visits).toEqual([3, 2, 1, 2, 2, 2, 2, 2, 2, 2, 2, 4_000, 4_000])
  expect([0, 3, 10, 11, 12].map((failures) => retriesPerEvent(failures))).toEqual([1, 1, 1, 9, 9])
})

describe('retries and new events', () => {
  const items = (name: string, count: number) =>
    Array.from({ length: count }, (_, index) => ({ name: `${name}${index + 1}`, data: '{}' }) as Item)
  interface Item {
    name: string
    data: string | null
  }
  const order = (retries: Item[], events: Item[], retriesPerEvent: number, position = 0, limit = 100) =>
    [...interleave(retries, events, { retriesPerEvent, position, limit })].map(({ name }) => name).join(' ')

  test('have their turns, each in its order, and one goes on alone where the other has come to its end', () => {
    expect(order(items('r', 2), items('e', 4), 1)).toBe('e1 r1 e2 r2 e3 e4')
    expect(order(items('r', 2), items('e', 2), 1, 7)).toBe('r1 e1 r2 e2')
    expect(order(items('r', 4), [], 1)).toBe('r1 r2 r3 r4')
    expect(order(items('r', 20), items('e', 3), 9)).toBe(
      'e1 r1 r2 r3 r4 r5 r6 r7 r8 r9 e2 r10 r11 r12 r13 r14 r15 r16 r17 r18 e3 r19 r20',
    )
  })

  test('do not go on alone where there is more behind the other’s end', () => {
    expect(order(items('r', 3), items('e', 3), 9, 0, 3)).toBe('e1 r1 r2 r3')
    expect(order(items('r', 3), items('e', 1), 1, 0, 3)).toBe('e1 r1 r2 r3')
  })

  test('lose no turn to events that nobody asked for', () => {
    const events = [{ name: 'x', data: null }, { name: 'y', data: null }, ...items('e', 1)]
    expect(order(items('r', 2), events, 1)).toBe('x y e1 r1 r2')
  })
})

describe('Retry-After', () => {
  const now = Date.parse('2026-11-20T10:00:00Z')

  test.each([
    ['0', 0],
    ['120', 120_000],
    ['Fri, 20 Nov 2026 10:00:30 GMT', 30_000],
    ['Fri, 20 Nov 2026 09:00:00 GMT', 0],
  ])('of %s is %d ms', (header, expected) => {
    for (const status of [429, 503]) expect(readRetryAfter(status, header, now)).toBe(expected)
  })

  test.each(['', 'soon', 'tomorrow', '5 s', '99999999999'])('that is %p is none', (header) => {
    expect(readRetryAfter(503, header, now)).toBeNull()
  })

  test('counts only with 429 and 503', () => {
    for (const status of [200, 301, 400, 500, 502]) expect(readRetryAfter(status, '120', now)).toBeNull()
    expect(readRetryAfter(503, undefined, now)).toBeNull()
  })
})

test('the log of attempts keeps the newest 20', () => {
  let log = '[]'
  for (let attempt = 0; attempt < 25; attempt++) log = logAttempt(log, new Date(attempt * 1000), failed)
  const times = JSON.parse(log).map(({ time }: { time: string }) => time)
  expect(times).toHaveLength(20)
  expect([times[0], times.at(-1)]).toEqual(['1970-01-01T00:00:05.000Z', '1970-01-01T00:00:24.000Z'])
})

test('what a receiver answers is kept without what cannot be stored', () => {
  expect(storable('a\0b\u001ec\nd\u007fe\u0085f')).toBe('a b c d e f')
  expect(storable('\ud800x\udc00')).toBe(' x ')
  expect(storable('电费 ⚡ 𠮷')).toBe('电费 ⚡ 𠮷')
})
