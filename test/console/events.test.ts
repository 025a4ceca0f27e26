import { expect, test } from 'bun:test'
import { sentencesOf } from '../../console/src/words/sentences.ts'
import { type AnyEvent, earlierOf, sidesOf } from '../../console/src/words/subject.ts'

const event = (type: string, members: Partial<AnyEvent>): AnyEvent => ({
  id: 9,
  type,
  appId: null,
  time: '2026-01-01 00:00:00',
  occurredAt: '2025-12-31T16:00:00.000Z',
  actor: 'operator:Wang Fang',
  data: {},
  ...members,
})

test('before the rotation of a callback secret come those before, and the configuration in its application’s feed', () => {
  const { feed, audit } = earlierOf(event('thirdPartyConfig.secretRotated', { subject: 'abc' }))
  expect(feed.map(({ appId, type }) => [appId, type])).toEqual([['abc', 'thirdPartyConfig.saved']])
  expect(audit.map(({ subject, type }) => [subject, type])).toEqual([['abc', 'thirdPartyConfig.secretRotated']])
})

test('before a session’s end comes its sign-in, and nothing of the account that has the same number', () => {
  const { feed, audit } = earlierOf(event('session.ended', { subject: '17' }))
  expect(feed).toEqual([])
  expect(audit.map(({ type }) => type)).toEqual(['session.created', 'session.ended'])
})

test('a scheduled price change is compared with the terms of its rule, and a later one with itself', () => {
  const data = { id: 5, billingRuleId: 7, periods: ['new'], effectiveTime: 'soon' }
  const scheduled = event('priceChange.scheduled', { appId: 'abc', data })
  expect(earlierOf(scheduled).feed).toMatchObject([
    { billingRuleId: 7, type: 'billingRule.created,billingRule.updated', beforeId: 9 },
  ])
  expect(sidesOf(scheduled, { id: 7, ruleName: 'Rule', periods: ['old'] })).toEqual({
    before: { periods: ['old'] },
    after: { periods: ['new'], effectiveTime: 'soon' },
  })
  const { feed, fits } = earlierOf(event('priceChange.cancelled', { appId: 'abc', data }))
  expect(feed).toMatchObject([{ type: 'priceChange.scheduled', beforeId: 9 }])
  expect([5, 6].map((id) => fits?.(event('priceChange.scheduled', { data: { id } })))).toEqual([true, false])
  // Other rules at sites have no earlier record.
  expect(earlierOf(event('priceChange.scheduled', { data: { id: 5, billingRuleId: null } })).feed).toEqual([])
})

test('an event of an account without its former values is not told with what the account’s owner did', () => {
  const before = { name: 'Li Lei', status: 1, signInTime: null, isSetUp: false, hasSecondFactor: false }
  const data = { ...before, status: 2, signInTime: '2026-01-01 00:00:00', isSetUp: true, hasSecondFactor: true }
  const sides = sidesOf(event('operator.updated', { data }), before)
  expect(sentencesOf('operator.updated', sides.before, sides.after, 'en')).toEqual([
    { what: 'account', before: 'active', after: 'disabled' },
  ])
})
