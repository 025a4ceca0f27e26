import { describe, expect, test } from 'bun:test'
import { newPerson, signIn } from '../kit/people.ts'
import { newApplication, type TestApplication } from '../kit/records.ts'
import {
  client,
  createDeviceOf,
  expectFaults,
  expectNow,
  expectRefusal,
  expectSuccess,
  newBareApplication,
  newIdleApplication,
  succeed,
  walk,
} from './support.ts'

// Tests with a receiver of callbacks are in test/faults/callback*.test.ts, because by default the service sends no
// callbacks to its own machine. Here no server receives the callbacks, which is enough to test these operations.

const always = { timeFrom: '2000-01-01 00:00:00', timeTo: '2999-12-31 23:59:59' }

const recordMembers = [
  'appId',
  'attemptLog',
  'attempts',
  'createTime',
  'durationMs',
  'error',
  'eventId',
  'finishTime',
  'id',
  'nextAttemptTime',
  'response',
  'responseStatus',
  'status',
  'time',
  'type',
]

function page({ token }: TestApplication, query: Record<string, unknown> = {}) {
  return client.call('pageDeliveries', query, { token })
}

function replay({ token }: TestApplication, body: unknown) {
  return client.call('replayDeliveries', body, { token })
}

async function listOf(application: TestApplication, query: Record<string, unknown> = {}) {
  return expectSuccess(await page(application, query)).list
}

/** An application whose callbacks all fail, with three deliveries: for its configuration and for two devices. */
async function newUnheard(): Promise<TestApplication> {
  const application = await newApplication(client, {
    thirdPartyConfig: { operatorName: 'Operator', callbackUrl: 'https://nowhere.example.com/callback' },
  })
  for (let made = 0; made < 2; made++) expectSuccess(await createDeviceOf(application))
  const deadline = performance.now() + 60_000
  while ((await listOf(application)).length < 3) {
    expect(performance.now()).toBeLessThan(deadline)
    await Bun.sleep(200)
  }
  return application
}

const unheard = await newUnheard()

describe('pageDeliveries', () => {
  test('answers the documented record, newest event first', async () => {
    const list = await listOf(unheard)
    const { list: events } = await succeed('pageEvents', {}, unheard)
    expect(list.map(({ eventId }) => eventId)).toEqual(events.map(({ id }) => id).toReversed())
    expect(list.map(({ type }) => type)).toEqual(['device.bound', 'device.bound', 'thirdPartyConfig.saved'])
    for (const record of list) {
      expect(Object.keys(record).sort()).toEqual(recordMembers)
      expect([record.id, record.appId, record.status]).toEqual([Number(record.eventId), unheard.appId, 1])
      expectNow(record.createTime)
      expect([record.finishTime, record.responseStatus]).toEqual([null, null])
      expect(record.nextAttemptTime).not.toBeNull()
      for (const attempt of record.attemptLog) {
        expect(Object.keys(attempt).sort()).toEqual(['durationMs', 'error', 'responseStatus', 'time'])
        expectNow(attempt.time)
        expect(attempt.error).not.toBeNull()
      }
    }
  })

  test('filters by status, type, event and creation time', async () => {
    const [newest] = await listOf(unheard)
    const count = async (query: Record<string, unknown>) => (await listOf(unheard, query)).length
    expect([await count({ status: 1 }), await count({ status: 2 }), await count({ status: 3 })]).toEqual([3, 0, 0])
    expect([await count({ isDelivered: 'false' }), await count({ isDelivered: 'true' })]).toEqual([3, 0])
    expect(await count({ isDelivered: 'false', status: 2 })).toBe(0)
    expect(await count({ type: 'device.bound' })).toBe(2)
    expect(await count({ type: 'device.*,test' })).toBe(2)
    expect(await count({ type: 'thirdPartyConfig.saved,device.bound' })).toBe(3)
    expect([await count({ type: 'site.created' }), await count({ type: 'test' })]).toEqual([0, 0])
    expect((await listOf(unheard, { eventId: newest?.eventId })).map(({ id }) => id)).toEqual([Number(newest?.id)])
    expect(await count({ eventId: 0 })).toBe(0)
    // A delivery's time is that of its event, not that of an attempt.
    const { list: events } = await succeed('pageEvents', { order: 'desc' }, unheard)
    expect(newest?.time).toBe(String(events[0]?.time))
    expect(await count({ timeFrom: newest?.time, timeTo: newest?.time })).toBeGreaterThan(0)
    expect(await count({ timeTo: newest?.time })).toBe(3)
    expect(await count({ timeFrom: '2999-01-01 00:00:00' })).toBe(0)
    expect(await count({ timeTo: '2000-01-01 00:00:00' })).toBe(0)
    expect(await count({ status: '', type: '', eventId: '', timeFrom: '', timeTo: '' })).toBe(3)
  })
})

test('getDelivery answers one delivery as its page does', async () => {
  const [newest] = await listOf(unheard)
  const id = Number(newest?.id)
  const { token } = unheard
  const { nextAttemptTime: _, ...record } = await succeed('getDelivery', { id }, { token })
  expect(newest).toMatchObject({
    id,
    appId: record.appId,
    eventId: record.eventId,
    type: record.type,
    time: record.time,
  })
  expect(Object.keys(record)).toEqual(Object.keys(newest ?? {}).filter((member) => member !== 'nextAttemptTime'))
  expect((await succeed('getDelivery', { appId: unheard.appId, id })).id).toBe(id)
  const other = await newApplication(client)
  expectRefusal(await client.call('getDelivery', { id }, other), 'deliveryNotFound')
  expectRefusal(await client.call('getDelivery', { id: 0 }, { token }), 'deliveryNotFound')
  expectFaults(await client.operate('getDelivery', { id }), ['appId'])
})

test('pageDeliveries is of all applications for who names none: a developer’s those that are theirs', async () => {
  const other = await newUnheard()
  const developer = await signIn(client, await newPerson(client, 'developer', [unheard.appId, other.appId]))
  const whose = [unheard, other].sort((one, two) => (one.appId < two.appId ? -1 : 1))
  const expected = (await Promise.all(whose.map((application) => listOf(application)))).flat().map(({ id }) => id)
  const ask = async (query: Record<string, unknown>) => await succeed('pageDeliveries', query, { headers: developer })
  const page = await ask({})
  expect(page).toMatchObject({ total: 6, waitingEvents: null, waitingSince: null, heldUntil: null, callbacks: 'on' })
  expect(page.list.map(({ id }) => id)).toEqual(expected)
  const walked = await walk((next) => ask({ ...always, status: 1, pageSize: 2, ...next }))
  expect(walked.map(({ id }) => id)).toEqual(expected)
  const [newest] = page.list
  const { list } = await succeed('pageDeliveries', { eventId: newest?.eventId, timeFrom: newest?.time })
  expect(list.map(({ id, appId }) => [id, appId])).toContainEqual([Number(newest?.id), String(newest?.appId)])
})

describe('replayDeliveries', () => {
  test('sets one delivery waiting, with its attempts counted anew and its log kept', async () => {
    const [before] = await listOf(unheard)
    expect(expectSuccess(await replay(unheard, { id: before?.id }))).toEqual({ replayed: 1 })
    const [after] = await listOf(unheard)
    expect(after).toMatchObject({ id: Number(before?.id), status: 1, createTime: String(before?.createTime) })
    expect(after?.attemptLog.length).toBeGreaterThanOrEqual(before?.attemptLog.length ?? 0)
  })

  test('takes every event of a time range that the callback asks for, or only those of a state', async () => {
    expect(expectSuccess(await replay(unheard, always))).toEqual({ replayed: 3 })
    expect(expectSuccess(await replay(unheard, { ...always, status: 1 }))).toEqual({ replayed: 3 })
    expect(expectSuccess(await replay(unheard, { ...always, isDelivered: false }))).toEqual({ replayed: 3 })
    for (const none of [
      { ...always, isDelivered: true },
      { ...always, isDelivered: false, status: 2 },
      { ...always, status: 2 },
      { ...always, timeTo: '2000-01-02 00:00:00' },
    ]) {
      expect(expectSuccess(await replay(unheard, none))).toEqual({ replayed: 0 })
    }
    const second = { timeFrom: '2999-01-01 00:00:00', timeTo: '2999-01-01 00:00:00' }
    expect(expectSuccess(await replay(unheard, second))).toEqual({ replayed: 0 })
  })

  test('takes only the types that the callback asks for now', async () => {
    const application = await newUnheard()
    const { appId, token } = application
    const members = { callbackUrl: 'https://nowhere.example.com/callback', callbackEvents: ['device.bound'] }
    await succeed('saveThirdPartyConfig', { appId, operatorName: 'x', ...members }, { token })
    expect(expectSuccess(await replay(application, always))).toEqual({ replayed: 2 })
  })

  test('takes exactly one form: an id, or a range', async () => {
    const range = always
    for (const body of [{}, { id: null }, { id: '', timeFrom: null, timeTo: '' }, { status: 3 }]) {
      expectFaults(await replay(unheard, body), ['id'])
    }
    expectFaults(await replay(unheard, { id: 1, ...range }), ['timeFrom', 'timeTo'])
    expectFaults(await replay(unheard, { id: 1, status: 3, isDelivered: false }), ['isDelivered', 'status'])
    expectFaults(await replay(unheard, { timeFrom: range.timeFrom }), ['timeTo'])
    expectFaults(await replay(unheard, { timeTo: range.timeTo }), ['timeFrom'])
    expectFaults(await replay(unheard, { timeFrom: range.timeTo, timeTo: range.timeFrom }), ['timeTo'])
    expectFaults(await replay(unheard, { timeFrom: 'x', timeTo: '2026-13-01 00:00:00', status: 9 }), [
      'timeFrom',
      'timeTo',
      'status',
    ])
    expectFaults(await replay(unheard, { id: 1, timeFrom: 'x', timeTo: range.timeTo }), ['timeFrom', 'timeTo'])
    for (const id of [-1, 1.5, '1', true]) expectFaults(await replay(unheard, { id }), ['id'])
  })

  test('without a callback is callbackMissing', async () => {
    for (const application of [await newApplication(client), await newBareApplication()]) {
      expectRefusal(await replay(application, { id: 1 }), 'callbackMissing')
      expectRefusal(await replay(application, always), 'callbackMissing')
    }
  })
})

describe('testDelivery', () => {
  test('without a callback is callbackMissing', async () => {
    for (const { token } of [await newApplication(client), await newBareApplication()]) {
      expectRefusal(await client.call('testDelivery', {}, { token }), 'callbackMissing')
    }
    const { appId } = await newIdleApplication()
    expectRefusal(await client.operate('testDelivery', { appId }), 'callbackMissing')
  })

  test('is answered with its delivery also when nobody listens', async () => {
    const application = await newUnheard()
    const record = await succeed('testDelivery', {}, application)
    expect(Object.keys(record).sort()).toEqual(recordMembers)
    expect(record).toMatchObject({ type: 'test', eventId: null, status: 3, attempts: 1, nextAttemptTime: null })
    expect(record.error).not.toBeNull()
    expect(record.attemptLog).toHaveLength(1)
    expect(await listOf(application, { type: 'test' })).toEqual([record])
    const second = await client.call('testDelivery', {}, application)
    expectRefusal(second, 'tooManyRequests')
    expect(second.headers.get('retry-after')).toMatch(/^[123]$/)
  })
})
