import { expect, test } from 'bun:test'
import { lengthOf, presetMoments } from '../../console/src/prices/presets.ts'
import { lineOf } from '../../console/src/pricing/line.ts'
import type { BillingRuleRecord } from '../../src/billing-rules/contract.ts'
import type { EventRecord } from '../../src/events/contract.ts'
import type { PriceChangeRecord } from '../../src/sites/price-changes/contract.ts'

const terms = (electricityPrice: string) => ({
  periods: [{ startTime: '00:00:00', electricityPrice, servicePrice: '0' }],
  freeMinutes: null,
  unitMinutes: null,
  unitPrice: null,
  dailyCap: null,
})
const rule = (price: string) =>
  ({ id: 7, appId: 'app', ruleName: 'Rule', ...terms(price) }) as unknown as BillingRuleRecord
const event = (id: number, time: string, price: string, more: Partial<EventRecord> = {}) =>
  ({ id, type: 'billingRule.updated', time, actor: 'operator:eve', data: terms(price), ...more }) as EventRecord
const change = (id: number, status: number, effectiveTime: string, price: string) =>
  ({ id, billingRuleId: 7, status, effectiveTime, createdBy: 'operator:eve', ...terms(price) }) as PriceChangeRecord

const keysOf = (entries: readonly { key: string }[]) => entries.map(({ key }) => key)

test('updates and price changes are in order of time, and the newest holds now', () => {
  const { waiting, held } = lineOf(
    rule('3'),
    [
      // An event that the price change itself wrote; the change has its own entry.
      event(4, '2026-01-03 00:00:01', '3', { actor: 'platform:prices' }),
      event(3, '2026-01-02 12:00:00', '2'),
      // A change of the name.
      event(2, '2026-01-01 13:00:00', '1'),
      event(1, '2026-01-01 12:00:00', '1', { type: 'billingRule.created' }),
    ],
    [
      change(9, 1, '2026-03-01 00:00:00', '5'),
      change(8, 1, '2026-02-01 00:00:00', '4'),
      change(6, 2, '2026-01-03 00:00:00', '3'),
      change(5, 3, '2026-01-03 00:00:00', '9'),
      { ...change(4, 1, '2026-01-03 00:00:00', '9'), billingRuleId: null },
    ],
  )
  expect(keysOf(waiting)).toEqual(['change 8', 'change 9'])
  expect(keysOf(held)).toEqual(['change 6', 'event 3', 'event 1'])
})

test('what follows in the same second is in the order of the events', () => {
  const created = event(1, '2026-01-01 12:00:00', '1', { type: 'billingRule.created' })
  const { held } = lineOf(rule('2'), [event(2, '2026-01-01 12:00:00', '2'), created], [])
  expect(keysOf(held)).toEqual(['event 2', 'event 1'])
})

test('a cancelled price change stays in the timeline of its rule, apart from what held', () => {
  const { waiting, held, cancelled } = lineOf(rule('2'), [], [change(8, 3, '2026-02-01 00:00:00', '4')])
  expect([waiting, held, cancelled].map(keysOf)).toEqual([[], ['now'], ['change 8']])
})

test('terms whose event is no longer kept hold since an unknown moment', () => {
  const { held } = lineOf(rule('2'), [], [])
  expect(held).toMatchObject([{ key: 'now', since: null, terms: terms('2') }])
})

test('next Monday is never today, and the first of the next month may be of the next year', () => {
  // 2026-11-30 is a Monday.
  expect(presetMoments('2026-11-30 12:00:00')).toEqual({
    tomorrow: '2026-12-01 00:00:00',
    nextMonday: '2026-12-07 00:00:00',
    nextMonth: '2026-12-01 00:00:00',
  })
  expect(presetMoments('2026-12-31 23:59:59')).toEqual({
    tomorrow: '2027-01-01 00:00:00',
    nextMonday: '2027-01-04 00:00:00',
    nextMonth: '2027-01-01 00:00:00',
  })
  expect(presetMoments('2026-11-29 00:00:00').nextMonday).toBe('2026-11-30 00:00:00')
})

test('a moment that has come is no time away', () => {
  expect(lengthOf(-5_000)).toEqual({ days: 0, hours: 0, minutes: 0, seconds: 0 })
  expect(lengthOf(90_061_000)).toEqual({ days: 1, hours: 1, minutes: 1, seconds: 1 })
})
