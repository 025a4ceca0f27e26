import { afterAll, describe, expect, test } from 'bun:test'
import { contractOf } from '../kit/contracts.ts'
import { databaseIn, embeddedConnection, withSql } from '../kit/database.ts'
import { answerWith, verify } from '../kit/receiver.ts'
import type { TestApplication } from '../kit/records.ts'
import { atScale, randomNumbers, seed } from '../kit/scale.ts'
import { anyMoment, becomes, becomesTrue, waitUntil } from '../kit/waits.ts'
import { CallbackBed, type Endpoint, serialOf } from './callback-bed.ts'

// What sends deliveries again, and events that were made while a callback was stopped by a 410, which have no delivery:
// what tells of them, and what sends them.

const bed = await CallbackBed.start()
const { client, receiver } = bed
afterAll(() => bed.stop(), 120_000)

const database = embeddedConnection(bed.service.dataDir)
const random = randomNumbers(seed)
const always = { timeFrom: '2020-01-01 00:00:00', timeTo: '2999-12-31 23:59:59' }
const gone = answerWith(410)

async function replay({ token }: TestApplication, members: object = {}): Promise<number> {
  const answer = await client.call('replayDeliveries', { ...always, ...members }, { token })
  expect(answer.code, answer.text).toBe(0)
  return answer.data.replayed
}

/** Saves the callback again, which ends a stop; the receiver gives this answer from then on. */
async function lift({ appId, token, path }: Endpoint, members = {}, answer = answerWith(200)): Promise<void> {
  const config = { appId, operatorName: 'Operator', callbackUrl: receiver.url(path, answer), ...members }
  const saved = await client.call('saveThirdPartyConfig', config, { token })
  expect(saved.code, saved.text).toBe(0)
}

const delivered = async (app: TestApplication) => (await bed.deliveriesOf(app, { status: 2 })).length
const healthOf = async ({ appId, token }: TestApplication) =>
  (await client.call('getCallbackHealth', { appId }, { token })).data

/** The serials of the callbacks that an endpoint receives after the first ones. */
const serialsAfter = async ({ path }: Endpoint, first: number, count: number) =>
  (await receiver.waitFor(path, first + count)).slice(first).map(serialOf)

/** The events of a long replay. */
const events = atScale(1_000, 5_000)

/** An endpoint with events that look as if they had been sent long ago. */
async function newHistory(): Promise<Endpoint> {
  const app = await bed.newEndpoint()
  const { appId } = app
  await bed.createDeviceOf(app)
  await receiver.waitFor(app.path, 2)
  await withSql(database, async (sql) => {
    const hasEnded = async () => {
      const [row] = await sql`select lease_owner from callback_endpoint where app_id = ${appId}`
      return row?.lease_owner === null
    }
    expect(await becomesTrue(hasEnded), 'the turn before has ended').toBe(true)
    // In one transaction: otherwise the service could send the events for the first time in between.
    await sql.begin(async (tx) => {
      await tx`
        insert into event (app_id, id, type, time, actor, subject, data)
        select app_id, id - n, type, time, actor, subject, data from event, generate_series(1, ${events}) as n
        where app_id = ${appId} and type = 'device.bound'`
      await tx`
        update callback_endpoint set through_event_id = (select max(id) from event where app_id = ${appId})
        where app_id = ${appId}`
    })
  })
  return app
}

test.concurrent('a replay of one delivery sends it again, under the same id', async () => {
  const app = await bed.newEndpoint()
  await bed.createDeviceOf(app)
  const first = (await receiver.waitFor(app.path, 2))[1]
  const { id } = await bed.deliveryOf(app, 2)
  const replayed = await client.call('replayDeliveries', { id }, { token: app.token })
  expect(replayed.data).toEqual({ replayed: 1 })
  const again = (await receiver.waitFor(app.path, 3))[2]
  expect([again?.id, again?.text]).toEqual([first?.id, first?.text])
  await waitUntil(async () => (await bed.deliveriesOf(app))[0]?.attemptLog.length === 2)
  expect((await bed.deliveriesOf(app))[0]).toMatchObject({ status: 2, attempts: 1 })
  const { list } = (await client.operate('pageAudit', { type: 'delivery.replayed', pageSize: 100 })).data
  const told = list.find(({ subject }) => subject === app.appId)
  expect(told).toMatchObject({ address: '127.0.0.1', data: { appId: app.appId, id, replayed: 1 } })
  const other = await bed.newEndpoint()
  const stolen = await client.call('replayDeliveries', { id }, { token: other.token })
  expect([stolen.status, stolen.code]).toEqual([404, 60003])
})

test.concurrent('a long replay goes on in steps, one for an application; another is told when to come back, and a key finds the first', async () => {
  const [app, other] = [await newHistory(), await bed.newEndpoint()]
  const call = (body: object, headers = {}) => client.call('replayDeliveries', body, { token: app.token, headers })
  const key = { 'idempotency-key': 'first' }
  const first = await call(always, key)
  expect([first.code, first.data]).toEqual([0, { replayed: events + 2 }])
  const id = Number(receiver.at(app.path)[0]?.id.slice(4))
  for (const body of [always, { id }]) {
    const refused = await call(body)
    expect([refused.status, refused.code]).toEqual([429, 10007])
    expect(refused.headers.get('retry-after')).toMatch(/^[1-9]\d*$/)
  }
  expect((await call(always, key)).data).toEqual(first.data)
  // A replay sends no event of another application.
  expect(await replay(other)).toBe(1)
  const arrived = () => new Set(receiver.at(app.path).map((received, n) => n > 1 && received.id)).size - 1
  await waitUntil(() => arrived() === events + 2, 240_000)
  expect(receiver.at(app.path)).toHaveLength(events + 4)
  expect((await call(always, { 'idempotency-key': 'second' })).code).toBe(0)
}, 300_000)

describe.concurrent('a test', () => {
  test('is sent once, signed, and answered with what came of it', async () => {
    const app = await bed.newEndpoint(answerWith(200, {}, 'hello'))
    const answer = await client.call('testDelivery', {}, { token: app.token })
    expect(answer.data).toMatchObject({
      appId: app.appId,
      eventId: null,
      type: 'test',
      status: 2,
      attempts: 1,
      responseStatus: 200,
      response: 'hello',
    })
    const received = (await receiver.waitFor(app.path, 2))[1]
    if (received === undefined) throw new Error('it did not arrive')
    expect(received.id).toBe(`test_${answer.data.id}`)
    expect(received.body).toMatchObject({ type: 'test', appId: app.appId })
    expect(typeof received.body.data.message).toBe('string')
    verify(received, app.secret)
    expect((await bed.deliveriesOf(app, { type: 'test' }))[0]).toEqual(answer.data)
    const { list: audited } = (await client.operate('pageAudit', { type: 'delivery.tested', pageSize: 100 })).data
    const told = audited.find(({ subject }) => subject === app.appId)
    expect(told).toMatchObject({ address: '127.0.0.1', data: { id: answer.data.id, status: 2, error: null } })
    // The test callback is not an event of the application.
    const { list } = (await client.call('pageEvents', {}, { token: app.token })).data
    expect(list.map(({ id }) => id)).not.toContain(answer.data.id)
    const replayed = await client.call('replayDeliveries', { id: answer.data.id }, { token: app.token })
    expect(replayed.data).toEqual({ replayed: 1 })
    expect((await receiver.waitFor(app.path, 3))[2]?.text).toBe(received.text)
  })

  test('is recorded also when its caller hangs up while it is sent, and so limits the next', async () => {
    const app = await bed.newEndpoint((...received) => void setTimeout(() => answerWith(200)(...received), 1_000))
    const hungUp = new AbortController()
    const headers = { authorization: `Bearer ${app.token}`, 'content-type': 'application/json' }
    const path = `${client.url}${contractOf('testDelivery').path}`
    const asked = fetch(path, { method: 'POST', headers, body: '{}', signal: hungUp.signal }).catch(() => {})
    await receiver.waitFor(app.path, 2)
    hungUp.abort()
    await asked
    await waitUntil(async () => (await bed.deliveriesOf(app, { type: 'test' })).length === 1)
    expect((await client.call('testDelivery', {}, { token: app.token })).code).toBe(10007)
  })

  test('that fails is dead at once, and neither stops nor holds up the callback', async () => {
    const app = await bed.newEndpoint((received, response, socket) =>
      answerWith(received.body.type === 'test' ? 410 : 200)(received, response, socket),
    )
    const answer = await client.call('testDelivery', { appId: app.appId }, { token: app.token })
    expect([answer.status, answer.code]).toEqual([200, 0])
    const next = await client.call('testDelivery', { appId: app.appId }, { token: app.token })
    expect([next.status, next.code, next.headers.get('retry-after') !== null]).toEqual([429, 10007, true])
    expect(answer.data).toMatchObject({ status: 3, attempts: 1, responseStatus: 410, error: 'answered 410' })
    await bed.createDeviceOf(app)
    expect(await receiver.waitFor(app.path, 3)).toHaveLength(3)
  })
})

describe.concurrent('events that are made while a callback is stopped', () => {
  /** Makes the receiver stop the endpoint by one event, and waits for the stop. Returns the event's serial. */
  async function stop(app: Endpoint): Promise<string> {
    receiver.url(app.path, gone)
    const serial = await bed.createDeviceOf(app)
    expect(await becomes('stopped', async () => (await healthOf(app)).state)).toBe('stopped')
    return serial
  }

  const pageOf = async ({ token }: Endpoint, query: object = {}) =>
    (await client.call('pageDeliveries', query, { token })).data
  const stopsOf = ({ appId }: Endpoint) =>
    withSql(database, async (sql) => {
      const [row] = await sql`select count(*)::int as n from callback_stop where app_id = ${appId}`
      return row?.n as number
    })
  const isAllToldOf = (app: Endpoint) =>
    becomes([0, 0], async () => [(await healthOf(app)).missedEvents, await stopsOf(app)])

  test('are told by health and by the list, and are sent by a replay of what is not delivered', async () => {
    const app = await bed.newEndpoint()
    const config = async () => (await client.call('getThirdPartyConfig', {}, { token: app.token })).data
    expect(await healthOf(app)).toMatchObject({ missedEvents: 0, missedIsExact: true, missedFrom: null })
    expect(await config()).toMatchObject({ callbackStopTime: null, callbackStopReason: null })
    const dead = await stop(app)
    expect(await bed.deliveryOf(app, 3)).toMatchObject({ attempts: 1, responseStatus: 410, nextAttemptTime: null })
    expect(await config()).toMatchObject({
      callbackStopTime: expect.stringMatching(/^\d{4}-/),
      callbackStopReason: 'answered 410',
    })
    expect(await healthOf(app)).toMatchObject({ dead: 1, missedEvents: 0 })
    const missed = await bed.createDevicesOf(app, 3)
    const told = await healthOf(app)
    expect(told).toMatchObject({ state: 'stopped', missedEvents: 3, missedIsExact: true, waitingEvents: 0 })
    await lift(app)
    expect(await becomes(2, () => delivered(app))).toBe(2)
    // What came before the event of the save was the first event and the one that stopped the callback.
    expect(receiver.at(app.path).map(({ body }) => body.type)).toEqual([
      'thirdPartyConfig.saved',
      'device.bound',
      'thirdPartyConfig.saved',
    ])
    expect(await config()).toMatchObject({ callbackStopTime: null, callbackStopReason: null })
    expect(await healthOf(app)).toMatchObject({
      state: 'delivering',
      missedEvents: 3,
      missedFrom: told.missedFrom,
      missedTo: told.missedTo,
    })
    expect(await pageOf(app)).toMatchObject({ total: 3, missedEvents: 3, missedFrom: told.missedFrom })
    expect(await pageOf(app, { timeTo: '2020-01-01 00:00:00' })).toMatchObject({ missedEvents: 0, missedFrom: null })
    const range = { timeFrom: told.missedFrom, timeTo: told.missedTo }
    expect((await pageOf(app, { ...range, isDelivered: 'false' })).missedEvents).toBe(3)
    expect((await client.operate('pageDeliveries', {})).data.missedEvents).toBeNull()

    const before = receiver.at(app.path).length
    expect(await replay(app, { status: 3 })).toBe(1)
    expect(await serialsAfter(app, before, 1)).toEqual([dead])
    expect(await becomes(3, () => delivered(app))).toBe(3)
    expect(await replay(app, { ...range, isDelivered: false })).toBe(3)
    expect(await serialsAfter(app, before + 1, 3)).toEqual(missed)
    expect(await becomes(6, () => delivered(app))).toBe(6)
    expect(await healthOf(app)).toMatchObject({ missedEvents: 0, missedFrom: null, missedTo: null })
    expect((await pageOf(app)).missedEvents).toBe(0)
    expect(await replay(app, { isDelivered: false })).toBe(0)
    expect(await stopsOf(app), 'nothing is left to remember').toBe(0)
  })

  test('are all told beside saves at any moment: each event has a delivery or is counted', async () => {
    const app = await bed.newEndpoint()
    // Fewer rounds than stops are remembered.
    for (let round = 0; round < atScale(4, 8); round++) {
      receiver.url(app.path, gone)
      const creating = bed.createDevicesOf(app, 40)
      await anyMoment(random, 400)
      await lift(app, {}, gone)
      if (round % 2 === 1) receiver.url(app.path)
      await creating
    }
    await lift(app)
    expect(await becomes(0, async () => (await healthOf(app)).waitingEvents)).toBe(0)
    const missed = (await healthOf(app)).missedEvents ?? 0
    const without = await withSql(database, async (sql) => {
      const [row] = await sql`
        select count(*)::int as n from event e where app_id = ${app.appId}
          and not exists (select 1 from delivery d where d.app_id = e.app_id and d.id = e.id)`
      return row?.n
    })
    expect(missed).toBe(without)
    await replay(app, { isDelivered: false })
    expect(await isAllToldOf(app)).toEqual([0, 0])
  })
})

test('a long replay is carried on after a kill', async () => {
  const app = await newHistory()
  const { dataDir } = bed.service
  await withSql(
    database,
    (sql) => sql`update callback_endpoint set held_until = now() + interval '1 hour' where app_id = ${app.appId}`,
  )
  expect(await replay(app)).toBe(events + 2)
  await bed.service.kill('SIGKILL')
  await bed.place.startService({ dataDir, env: { FORECOURT_PRIVATE_CALLBACKS: 'allow' } })
  const waiting = async () => {
    const [row] = await databaseIn(dataDir)
      .sql`select count(*)::int as count from delivery where app_id = ${app.appId} and status = 1`
    return row?.count
  }
  expect(await becomes(events + 2, waiting)).toBe(events + 2)
})
