import { expect, test } from 'bun:test'
import { type AnyEvent, earlierOf } from '../../console/src/events/subject.ts'

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
