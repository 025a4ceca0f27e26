import { describe, expect, test } from 'bun:test'
import type { CallOptions } from '../kit/client.ts'
import { newPerson, signIn } from '../kit/people.ts'
import { newApplication, type TestApplication } from '../kit/records.ts'
import { becomesTrue } from '../kit/waits.ts'
import {
  client,
  createDeviceOf,
  expectFaults,
  expectNow,
  expectRefusal,
  expectSuccess,
  feedOf,
  newBareApplication,
  succeed,
  walk,
} from './support.ts'

// Tests with a receiver of callbacks are in test/faults/callback*.test.ts, because by default the service sends no
// callbacks to its own machine. Here no server receives the callbacks, which is enough to test these operations.

const always = { timeFrom: '2000-01-01 00:00:00', timeTo: '2999-12-31 23:59:59' }

const recordMembers = [
  ...['appId', 'attemptLog', 'attempts', 'createTime', 'durationMs', 'error', 'eventId', 'finishTime', 'id'],
  ...['nextAttemptTime', 'response', 'responseStatus', 'status', 'time', 'type'],
]

const replay = (as: CallOptions, body: object) => client.call('replayDeliveries', body, as)
const replayed = async (body: object, as: CallOptions = unheard) => expectSuccess(await replay(as, body)).replayed
const listOf = async (as: CallOptions, query: object = {}) => (await succeed('pageDeliveries', query, as)).list

/** An application whose callbacks all fail, with three deliveries: for its configuration and for two devices. */
async function newUnheard(): Promise<TestApplication> {
  const application = await newApplication(client, {
    thirdPartyConfig: { operatorName: 'Operator', callbackUrl: 'https://nowhere.example.com/callback' },
  })
  for (let made = 0; made < 2; made++) expectSuccess(await createDeviceOf(application))
  expect(await becomesTrue(async () => (await listOf(application)).length >= 3)).toBe(true)
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
    const { eventId, time = '' } = newest ?? {}
    // A delivery's time is that of its event, not that of an attempt.
    expect((await feedOf(unheard)).at(-1)?.time).toBe(time)
    const counts: [filter: object, count: number][] = [
      ...[1, 2, 3].map((status): [object, number] => [{ status }, status === 1 ? 3 : 0]),
      [{ isDelivered: 'false' }, 3],
      [{ isDelivered: 'true' }, 0],
      [{ isDelivered: 'false', status: 2 }, 0],
      [{ type: 'device.bound' }, 2],
      [{ type: 'device.*,test' }, 2],
      [{ type: 'thirdPartyConfig.saved,device.bound' }, 3],
      [{ type: 'site.created' }, 0],
      [{ type: 'test' }, 0],
      [{ eventId }, 1],
      [{ eventId: 0 }, 0],
      [{ timeTo: time }, 3],
      [{ timeFrom: '2999-01-01 00:00:00' }, 0],
      [{ timeTo: '2000-01-01 00:00:00' }, 0],
      [{ status: '', type: '', eventId: '', timeFrom: '', timeTo: '' }, 3],
    ]
    for (const [filter, count] of counts) {
      expect([filter, (await listOf(unheard, filter)).length]).toEqual([filter, count])
    }
    expect(await listOf(unheard, { eventId })).toEqual([newest] as never)
    expect(await listOf(unheard, { timeFrom: time, timeTo: time })).toContainEqual(newest as never)
  })
})

test('getDelivery answers one delivery as its page does', async () => {
  const [newest] = await listOf(unheard)
  const id = Number(newest?.id)
  const { nextAttemptTime: _, ...record } = await succeed('getDelivery', { id }, unheard)
  const { appId, eventId, type, time } = record
  expect(newest).toMatchObject({ id, appId, eventId, type, time })
  expect(Object.keys(record)).toEqual(Object.keys(newest ?? {}).filter((member) => member !== 'nextAttemptTime'))
  expect((await succeed('getDelivery', { appId: unheard.appId, id })).id).toBe(id)
  expectRefusal(await client.call('getDelivery', { id: 0 }, unheard), 'deliveryNotFound')
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
    expect(await replayed({ id: before?.id })).toBe(1)
    const [after] = await listOf(unheard)
    expect(after).toMatchObject({ id: Number(before?.id), status: 1, createTime: String(before?.createTime) })
    expect(after?.attemptLog.length).toBeGreaterThanOrEqual(before?.attemptLog.length ?? 0)
  })

  test('takes every event of a time range that the callback asks for, or only those of a state', async () => {
    for (const all of [{}, { status: 1 }, { isDelivered: false }]) expect(await replayed({ ...always, ...all })).toBe(3)
    const never = '2999-01-01 00:00:00'
    for (const none of [
      { isDelivered: true },
      { isDelivered: false, status: 2 },
      { status: 2 },
      { timeTo: '2000-01-02 00:00:00' },
      { timeFrom: never, timeTo: never },
    ]) {
      expect([none, await replayed({ ...always, ...none })]).toEqual([none, 0])
    }
  })

  test('takes only the types that the callback asks for now', async () => {
    const application = await newUnheard()
    const members = { callbackUrl: 'https://nowhere.example.com/callback', callbackEvents: ['device.bound'] }
    await succeed('saveThirdPartyConfig', { operatorName: 'x', ...members }, application)
    expect(await replayed(always, application)).toBe(2)
  })

  test('takes exactly one form: an id, or a range', async () => {
    const { timeFrom, timeTo } = always
    const faulty: [body: object, fields: string[]][] = [
      ...[{}, { id: null }, { id: '', timeFrom: null, timeTo: '' }, { status: 3 }].map((body): [object, string[]] => [
        body,
        ['id'],
      ]),
      ...[-1, 1.5, '1', true].map((id): [object, string[]] => [{ id }, ['id']]),
      [{ id: 1, ...always }, ['timeFrom', 'timeTo']],
      [{ id: 1, status: 3, isDelivered: false }, ['isDelivered', 'status']],
      [{ timeFrom }, ['timeTo']],
      [{ timeTo }, ['timeFrom']],
      [{ timeFrom: timeTo, timeTo: timeFrom }, ['timeTo']],
      [{ timeFrom: 'x', timeTo: '2026-13-01 00:00:00', status: 9 }, ['timeFrom', 'timeTo', 'status']],
      [{ id: 1, timeFrom: 'x', timeTo }, ['timeFrom', 'timeTo']],
    ]
    for (const [body, fields] of faulty) expectFaults(await replay(unheard, body), fields)
  })
})

test('a replay and a test without a callback are callbackMissing', async () => {
  for (const application of [await newApplication(client), await newBareApplication()]) {
    expectRefusal(await replay(application, { id: 1 }), 'callbackMissing')
    expectRefusal(await replay(application, always), 'callbackMissing')
    expectRefusal(await client.call('testDelivery', {}, application), 'callbackMissing')
  }
})

describe('testDelivery', () => {
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

describe('getCallbackHealth', () => {
  // Health with a receiver that answers is in test/faults/callbacks.test.ts.
  const healthOf = async ({ appId, token }: TestApplication) => await succeed('getCallbackHealth', { appId }, { token })
  const nothing = {
    ...{ heldUntil: null, failingSince: null, failingReason: null, lastSuccessTime: null, hasSucceeded: false },
    ...{ lastHour: { attempts: 0, failed: 0 }, lastDay: { attempts: 0, failed: 0 }, countedFrom: null },
    ...{ missedEvents: 0, missedIsExact: true, missedFrom: null, missedTo: null },
    ...{ waitingEvents: 0, waitingRetries: 0, waitingSince: null, dead: 0, failures: [] },
  }

  test('tells nothing of an application without a callback', async () => {
    const application = await newBareApplication()
    expectSuccess(await createDeviceOf(application))
    const { appId } = application
    expect(await healthOf(application)).toEqual({ appId, state: 'off', callbacks: 'on', ...nothing })
  })

  test('tells that a callback which nobody answers is failing or held, and of what', async () => {
    const application = await newUnheard()
    let health = await healthOf(application)
    const isFailing = async () => {
      health = await healthOf(application)
      return health.waitingRetries >= 3 && health.failingSince !== null
    }
    expect(await becomesTrue(isFailing)).toBe(true)
    const { lastHour, lastDay, failures } = health
    expect(['failing', 'held']).toContain(health.state)
    const { waitingEvents, dead, lastSuccessTime, hasSucceeded } = health
    expect([waitingEvents, dead, lastSuccessTime, hasSucceeded]).toEqual([0, 0, null, false])
    expect(health.waitingSince).toBe(failures.map(({ timeFrom }) => timeFrom).sort()[0] ?? '')
    expect(lastHour.attempts).toBeGreaterThanOrEqual(3)
    expect([lastHour.failed, lastDay]).toEqual([lastHour.attempts, lastHour])
    expect(failures.reduce((sum, { waiting }) => sum + waiting, 0)).toBe(3)
    for (const { error, reason, responseStatus, dead } of failures) {
      expect([responseStatus, dead, reason.length > 0]).toEqual([null, 0, true])
      expect(['nameNotFound', 'nameServerSilent']).toContain(error)
    }
  })
})
