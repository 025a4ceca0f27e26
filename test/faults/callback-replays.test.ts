import { afterAll, describe, expect, test } from 'bun:test'
import { saveThirdPartyConfig } from '../../src/applications/third-party-config/contract.ts'
import { replayDeliveries, testDelivery } from '../../src/deliveries/contract.ts'
import { pageAudit, pageEvents } from '../../src/events/contract.ts'
import { newApplication } from '../harness.ts'
import { longTest } from '../long.ts'
import { CallbackBed, serialOf } from './callback-bed.ts'
import { answerWith, verify } from './receiver.ts'
import { atScale, becomesTrue, embeddedConnection, withSql } from './support.ts'

const bed = await CallbackBed.start()
const { client, receiver } = bed
afterAll(() => bed.stop(), 120_000)

describe.concurrent('a replay', () => {
  test('of one delivery sends it again, under the same id', async () => {
    const app = await bed.newEndpoint()
    await bed.createDeviceOf(app)
    const first = (await receiver.waitFor(app.path, 2))[1]
    const { id } = await bed.deliveryOf(app, 2)
    const replayed = await client.call(replayDeliveries, { id }, { token: app.token })
    expect(replayed.data).toEqual({ replayed: 1 })
    const again = (await receiver.waitFor(app.path, 3))[2]
    expect([again?.id, again?.text]).toEqual([first?.id, first?.text])
    expect(await becomesTrue(async () => (await bed.deliveriesOf(app))[0]?.attemptLog.length === 2)).toBe(true)
    expect((await bed.deliveriesOf(app))[0]).toMatchObject({ status: 2, attempts: 1 })
    const { list } = (await client.operate(pageAudit, { type: 'delivery.replayed', pageSize: 100 })).data
    const told = list.find(({ subject }) => subject === app.appId)
    expect(told).toMatchObject({ address: '127.0.0.1', data: { appId: app.appId, id, replayed: 1 } })
    const other = await bed.newEndpoint()
    const stolen = await client.call(replayDeliveries, { id }, { token: other.token })
    expect([stolen.status, stolen.code]).toEqual([404, 60003])
  })

  test('of a range sends every event in it again, in order, and can be narrowed to the dead ones', async () => {
    let isGone = false
    const app = await bed.newEndpoint((received, response, socket) =>
      answerWith(isGone ? 410 : 200)(received, response, socket),
    )
    const { token } = app
    const serials = await bed.createDevicesOf(app, 5)
    await receiver.waitFor(app.path, 6)
    isGone = true
    const deadSerial = await bed.createDeviceOf(app)
    await bed.deliveryOf(app, 3)
    isGone = false
    await client.call(
      saveThirdPartyConfig,
      { appId: app.appId, operatorName: 'x', callbackUrl: receiver.url(app.path) },
      { token },
    )
    await receiver.waitFor(app.path, 8)
    const range = { timeFrom: '2020-01-01 00:00:00', timeTo: '2999-12-31 23:59:59' }
    const dead = await client.call(replayDeliveries, { ...range, status: 3 }, { token })
    expect(dead.data).toEqual({ replayed: 1 })
    expect((await receiver.waitFor(app.path, 9)).slice(8).map(serialOf)).toEqual([deadSerial])
    await becomesTrue(async () => (await bed.deliveriesOf(app, { status: 2 })).length === 8)
    const all = await client.call(replayDeliveries, range, { token })
    expect(all.data).toEqual({ replayed: 8 })
    const received = (await receiver.waitFor(app.path, 17)).slice(9)
    expect(received.map(serialOf)).toEqual([undefined, ...serials, deadSerial, undefined])
    await becomesTrue(async () => (await bed.deliveriesOf(app, { status: 2 })).length === 8)
    // One gives up and one waits: both are sent again by one request, whatever their state.
    await withSql(embeddedConnection(bed.service.dataDir), async (sql) => {
      const [one, other] = await sql`select id from delivery where app_id = ${app.appId} order by id limit 2`
      await sql`update delivery set status = 3 where app_id = ${app.appId} and id = ${one?.id}`
      await sql`
        update delivery set status = 1, next_attempt_at = now() + interval '1 hour'
        where app_id = ${app.appId} and id = ${other?.id}`
    })
    expect((await bed.deliveriesOf(app, { isDelivered: 'false' })).map(({ status }) => status)).toEqual([1, 3])
    const both = await client.call(replayDeliveries, { ...range, isDelivered: false }, { token })
    expect(both.data).toEqual({ replayed: 2 })
    const { list } = (await client.operate(pageAudit, { type: 'delivery.replayed', subject: app.appId })).data
    expect(list[0]?.data).toMatchObject({ ...range, isDelivered: false, replayed: 2 })
    expect((await receiver.waitFor(app.path, 19)).slice(17).map(serialOf)).toEqual([undefined, serials[0]])
    const before = await client.call(
      replayDeliveries,
      { timeFrom: '2020-01-01 00:00:00', timeTo: '2020-12-31 23:59:59' },
      { token },
    )
    expect(before.data).toEqual({ replayed: 0 })
  })
})

describe('a long replay', () => {
  const always = { timeFrom: '2000-01-01 00:00:00', timeTo: '2999-12-31 23:59:59' }
  const events = atScale(2_000, 5_000)

  /** Creates events of an application that look as if they had been sent long ago. */
  async function makeEvents({ service }: CallbackBed, appId: string): Promise<void> {
    await withSql(embeddedConnection(service.dataDir), async (sql) => {
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
  }

  test('goes on in steps, one for an application; another is told when to come back, and a key finds the first', async () => {
    const app = await bed.newEndpoint()
    const other = await bed.newEndpoint()
    await bed.createDeviceOf(app)
    await receiver.waitFor(app.path, 2)
    await makeEvents(bed, app.appId)
    const call = (body: object, key?: string) =>
      client.call(replayDeliveries, body, {
        token: app.token,
        ...(key === undefined ? {} : { headers: { 'idempotency-key': key } }),
      })
    const first = await call(always, 'first')
    expect([first.code, first.data]).toEqual([0, { replayed: events + 2 }])
    const id = Number(receiver.at(app.path)[0]?.id.slice(4))
    for (const body of [always, { id }]) {
      const refused = await call(body)
      expect([refused.status, refused.code]).toEqual([429, 10007])
      expect(refused.headers.get('retry-after')).toMatch(/^[1-9]\d*$/)
    }
    expect((await call(always, 'first')).data).toEqual(first.data)
    // A replay sends no event of another application.
    expect((await client.call(replayDeliveries, always, { token: other.token })).data).toEqual({ replayed: 1 })
    const arrived = () =>
      new Set(
        receiver
          .at(app.path)
          .slice(2)
          .map((received) => received.id),
      ).size
    expect(await becomesTrue(() => arrived() === events + 2, 240_000)).toBe(true)
    expect(receiver.at(app.path)).toHaveLength(events + 4)
    expect((await call(always, 'second')).code).toBe(0)
  }, 300_000)

  test('is carried on after a kill', async () => {
    const own = await CallbackBed.start({ FORECOURT_CALLBACKS: 'paused' })
    const app = await newApplication(own.client, {
      thirdPartyConfig: { operatorName: 'Operator', callbackUrl: receiver.url('/after-a-kill') },
    })
    await own.createDeviceOf(app)
    const { dataDir } = own.service
    const database = embeddedConnection(dataDir)
    await makeEvents(own, app.appId)
    const answer = await own.client.call(replayDeliveries, always, { token: app.token })
    expect(answer.data).toEqual({ replayed: events + 2 })
    await own.service.kill('SIGKILL')
    const waiting = async () => {
      const [row] = await withSql(
        database,
        (sql) => sql`select count(*)::int as count from delivery where app_id = ${app.appId} and status = 1`,
      )
      return row?.count as number
    }
    const again = await own.place.startService({
      dataDir,
      env: { FORECOURT_PRIVATE_CALLBACKS: 'allow', FORECOURT_CALLBACKS: 'paused' },
    })
    expect(await becomesTrue(async () => (await waiting()) === events + 2)).toBe(true)
    await again.stop()
    await own.stop()
  })
})

describe.concurrent('a test', () => {
  test('is sent once, signed, and answered with what came of it', async () => {
    const app = await bed.newEndpoint(answerWith(200, {}, 'hello'))
    const answer = await client.call(testDelivery, {}, { token: app.token })
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
    const { list: audited } = (await client.operate(pageAudit, { type: 'delivery.tested', pageSize: 100 })).data
    const told = audited.find(({ subject }) => subject === app.appId)
    expect(told).toMatchObject({ address: '127.0.0.1', data: { id: answer.data.id, status: 2, error: null } })
    // The test callback is not an event of the application.
    const { list } = (await client.call(pageEvents, {}, { token: app.token })).data
    expect(list.map(({ id }) => id)).not.toContain(answer.data.id)
    const replayed = await client.call(replayDeliveries, { id: answer.data.id }, { token: app.token })
    expect(replayed.data).toEqual({ replayed: 1 })
    expect((await receiver.waitFor(app.path, 3))[2]?.text).toBe(received.text)
  })

  test('that fails is dead at once, and neither stops nor holds up the callback', async () => {
    const app = await bed.newEndpoint((received, response, socket) =>
      answerWith(received.body.type === 'test' ? 410 : 200)(received, response, socket),
    )
    const answer = await client.call(testDelivery, { appId: app.appId }, { token: app.token })
    expect([answer.status, answer.code]).toEqual([200, 0])
    const next = await client.call(testDelivery, { appId: app.appId }, { token: app.token })
    expect([next.status, next.code, next.headers.get('retry-after') !== null]).toEqual([429, 10007, true])
    expect(answer.data).toMatchObject({ status: 3, attempts: 1, responseStatus: 410, error: 'answered 410' })
    await bed.createDeviceOf(app)
    expect(await receiver.waitFor(app.path, 3)).toHaveLength(3)
  })

  longTest(
    'of an endpoint that never answers is answered after its 15 seconds, and there is one at a time',
    async () => {
      const app = await bed.newEndpoint(() => {})
      const asked = client.call(testDelivery, {}, { token: app.token })
      await receiver.waitFor(app.path, 2)
      const second = await client.call(testDelivery, {}, { token: app.token })
      expect([second.status, second.code]).toEqual([429, 10007])
      expect(second.headers.get('retry-after')).toMatch(/^\d+$/)
      const answer = await asked
      expect(answer.data).toMatchObject({ status: 3, responseStatus: null, error: 'no answer in time' })
    },
  )
})
