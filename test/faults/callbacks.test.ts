import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Socket } from 'node:net'
import { takeApplicationOffline, takeApplicationOnline } from '../../src/applications/contract.ts'
import { pageDeliveries, replayDeliveries, testDelivery } from '../../src/deliveries/contract.ts'
import { createDevice } from '../../src/devices/contract.ts'
import { pageEvents } from '../../src/events/contract.ts'
import { getMetrics } from '../../src/service/contract.ts'
import {
  getThirdPartyConfig,
  rotateCallbackSecret,
  saveThirdPartyConfig,
} from '../../src/third-party-config/contract.ts'
import { Client, deviceBody, newApplication, type Service, type TestApplication } from '../harness.ts'
import { type Answer, answerWith, Receiver, verify } from './receiver.ts'
import { becomesTrue, embeddedConnection, sleep, Workplace, withSql } from './support.ts'

const place = new Workplace()
let service: Service
let client: Client
let receiver: Receiver

beforeAll(async () => {
  receiver = await Receiver.start()
  service = await place.startService({ env: { FORECOURT_PRIVATE_CALLBACKS: 'allow' } })
  client = new Client(service)
}, 120_000)
afterAll(async () => {
  receiver.stop()
  await place.clear()
}, 120_000)

let paths = 0

interface Endpoint extends TestApplication {
  path: string
  secret: string
}

/** An application with a callback of its own, whose first event has arrived. */
async function newEndpoint(
  answer?: Answer,
  members: Record<string, unknown> = {},
  at: Receiver = receiver,
): Promise<Endpoint> {
  const app = await newApplication(client, { thirdPartyConfig: null })
  const path = `/callback-${++paths}`
  const body = { appId: app.appId, operatorName: 'Operator', callbackUrl: at.url(path), ...members }
  const saved = await client.call(saveThirdPartyConfig, body, { token: app.token })
  expect(saved.code, saved.text).toBe(0)
  if (members.callbackEvents === undefined) expect(await at.waitFor(path, 1)).toHaveLength(1)
  at.url(path, answer)
  return { ...app, path, secret: String(saved.data.callbackSecret) }
}

async function createDeviceOf({ appId, token }: TestApplication): Promise<string> {
  const answer = await client.call(createDevice, deviceBody(appId), { token })
  expect(answer.code, answer.text).toBe(0)
  return answer.data.deviceNo
}

async function createDevicesOf(app: TestApplication, count: number): Promise<string[]> {
  const serials: string[] = []
  for (let made = 0; made < count; made++) serials.push(await createDeviceOf(app))
  return serials
}

async function deliveriesOf({ token }: TestApplication, filter: Record<string, unknown> = {}) {
  const answer = await client.call(pageDeliveries, { pageSize: 100, ...filter }, { token })
  expect(answer.code, answer.text).toBe(0)
  return answer.data.list
}

/** The delivery of the newest device once it has this status. */
async function deliveryOf(app: TestApplication, status: number) {
  const find = async () => (await deliveriesOf(app, { type: 'device.bound', status }))[0]
  await becomesTrue(async () => (await find()) !== undefined, 10_000)
  const newest = await find()
  if (newest === undefined) throw new Error(`there is no delivery of status ${status}`)
  return newest
}

const serialOf = (received: { body: { data: Record<string, unknown> } }) => received.body.data.deviceNo

describe.concurrent('a callback', () => {
  test('is the event as the feed shows it, signed so that the standard verifier takes it', async () => {
    const app = await newEndpoint()
    const deviceNo = await createDeviceOf(app)
    const [saved, bound] = await receiver.waitFor(app.path, 2)
    if (saved === undefined || bound === undefined) throw new Error('it did not arrive')
    const { list } = (await client.call(pageEvents, {}, { token: app.token })).data
    expect([saved.id, bound.id]).toEqual(list.slice(-2).map(({ id }) => `evt_${id}`))
    expect(saved.body.type).toBe('thirdPartyConfig.saved')
    expect(Object.keys(bound.body)).toEqual(['type', 'timestamp', 'appId', 'data'])
    expect(bound.body).toMatchObject({ type: 'device.bound', appId: app.appId, data: { deviceNo } })
    expect(bound.body.data).toEqual(list.at(-1)?.data as Record<string, unknown>)
    expect(bound.body.timestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    expect(Math.abs(Date.now() - Date.parse(bound.body.timestamp))).toBeLessThan(60_000)
    expect(bound.headers['content-type']).toBe('application/json')
    expect(bound.headers['user-agent']).toBe('Forecourt')
    expect(Math.abs(Date.now() / 1000 - Number(bound.headers['webhook-timestamp']))).toBeLessThan(60)
    for (const received of [saved, bound]) verify(received, app.secret)
    expect(() => verify({ ...bound, text: `${bound.text} ` }, app.secret)).toThrow()
    const other = await newEndpoint()
    expect(() => verify(bound, other.secret)).toThrow()
    expect(saved.text).not.toContain('whsec_')
  })

  test('comes once for each event, in their order, and is listed as delivered', async () => {
    const app = await newEndpoint(answerWith(202, {}, 'thanks'))
    const serials = await createDevicesOf(app, 40)
    const received = await receiver.waitFor(app.path, 41)
    await sleep(500)
    expect(received.slice(1).map(serialOf)).toEqual(serials)
    expect(receiver.at(app.path)).toHaveLength(41)
    expect(await becomesTrue(async () => (await deliveriesOf(app, { status: 2 })).length === 41, 15_000)).toBe(true)
    const newest = await deliveryOf(app, 2)
    expect(newest).toMatchObject({
      id: Number(received.at(-1)?.id.slice(4)),
      type: 'device.bound',
      status: 2,
      attempts: 1,
      nextAttemptTime: null,
      responseStatus: 202,
      error: null,
      response: 'thanks',
      attemptLog: [{ responseStatus: 202, error: null }],
    })
    expect(newest.eventId).toBe(newest.id)
  })

  test('goes only to the application whose event it is', async () => {
    const [app, other] = await Promise.all([newEndpoint(), newEndpoint()])
    await Promise.all([createDevicesOf(app, 5), createDevicesOf(other, 5)])
    await Promise.all([receiver.waitFor(app.path, 6), receiver.waitFor(other.path, 6)])
    await sleep(300)
    for (const one of [app, other]) {
      expect(receiver.at(one.path).map(({ body }) => body.appId)).toEqual(Array(6).fill(one.appId))
    }
  })

  test('comes only for the types that are asked for, and what was not asked for is never made up', async () => {
    const app = await newEndpoint(undefined, { callbackEvents: ['application.offline', 'application.online'] })
    const { appId } = app
    await createDevicesOf(app, 3)
    await client.operate(takeApplicationOffline, { appId })
    await client.operate(takeApplicationOnline, { appId })
    const received = await receiver.waitFor(app.path, 2)
    await sleep(500)
    expect(receiver.at(app.path).map(({ body }) => body.type)).toEqual(['application.offline', 'application.online'])
    // Types that are asked for later: from then on.
    const body = { appId, operatorName: 'Operator', callbackUrl: receiver.url(app.path) }
    await client.call(saveThirdPartyConfig, body, { token: app.token })
    const deviceNo = await createDeviceOf(app)
    await receiver.waitFor(app.path, received.length + 2)
    await sleep(300)
    const later = receiver.at(app.path).slice(2)
    expect(later.map(({ body: { type } }) => type)).toEqual(['thirdPartyConfig.saved', 'device.bound'])
    expect(later.map(serialOf)).toEqual([undefined, deviceNo])
  })

  test('is not made for what happened before there was a callback, nor after it was removed', async () => {
    const app = await newApplication(client)
    await createDevicesOf(app, 3)
    const path = '/set-later'
    const config = { appId: app.appId, operatorName: 'Operator' }
    await client.call(saveThirdPartyConfig, { ...config, callbackUrl: receiver.url(path) }, { token: app.token })
    const deviceNo = await createDeviceOf(app)
    const received = await receiver.waitFor(path, 2)
    expect(received.map(serialOf)).toEqual([undefined, deviceNo])
    await client.call(saveThirdPartyConfig, config, { token: app.token })
    await createDevicesOf(app, 3)
    await client.call(saveThirdPartyConfig, { ...config, callbackUrl: receiver.url(path) }, { token: app.token })
    await receiver.waitFor(path, 3)
    await sleep(500)
    expect(receiver.at(path).map(({ body }) => body.type)).toEqual([
      'thirdPartyConfig.saved',
      'device.bound',
      'thirdPartyConfig.saved',
    ])
  })
})

describe.concurrent('a callback that fails', () => {
  test('is tried again after 5 seconds, give or take a fifth, under the same id, while later events go on', async () => {
    let refusals = 0
    const app = await newEndpoint((received, response, socket) =>
      answerWith(received.body.type === 'device.bound' && refusals++ === 0 ? 500 : 200)(received, response, socket),
    )
    const [first, second] = await createDevicesOf(app, 2)
    const failed = (await receiver.waitFor(app.path, 2))[1]
    expect((await receiver.waitFor(app.path, 3)).slice(1).map(serialOf)).toEqual([first, second])
    const waiting = await deliveryOf(app, 1)
    expect(waiting).toMatchObject({ status: 1, attempts: 1, responseStatus: 500, error: 'answered 500' })
    expect(waiting.nextAttemptTime).not.toBeNull()
    const again = (await receiver.waitFor(app.path, 4))[3]
    if (failed === undefined || again === undefined) throw new Error('it did not arrive')
    expect([serialOf(again), again.id]).toEqual([first, failed.id])
    expect(again.at - failed.at).toBeGreaterThan(3_950)
    expect(again.at - failed.at).toBeLessThan(12_000)
    verify(again, app.secret)
    expect(await becomesTrue(async () => (await deliveriesOf(app))[1]?.status === 2, 15_000)).toBe(true)
    const [, delivered] = await deliveriesOf(app)
    expect(delivered).toMatchObject({ attempts: 2, error: null, nextAttemptTime: null })
    expect(delivered?.attemptLog.map(({ responseStatus }) => responseStatus)).toEqual([500, 200])
  }, 120_000)

  test.each([
    { status: 503, header: () => '8' },
    { status: 429, header: () => new Date(Date.now() + 9_000).toUTCString() },
  ])(
    'with $status is not tried again before its Retry-After',
    async ({ status, header }) => {
      let first = true
      const app = await newEndpoint((received, response, socket) => {
        const answer = first ? answerWith(status, { 'retry-after': header() }) : answerWith(200)
        first = false
        answer(received, response, socket)
      })
      await createDeviceOf(app)
      const received = await receiver.waitFor(app.path, 3, 15_000)
      expect(received).toHaveLength(3)
      expect((received[2]?.at ?? 0) - (received[1]?.at ?? 0)).toBeGreaterThan(7_900)
    },
    30_000,
  )

  test('is not sent elsewhere by a redirect', async () => {
    const elsewhere = receiver.url('/elsewhere')
    const app = await newEndpoint(answerWith(307, { location: elsewhere }))
    await createDeviceOf(app)
    const delivery = await deliveryOf(app, 1)
    expect(delivery).toMatchObject({ attempts: 1, responseStatus: 307, error: 'answered 307' })
    expect(receiver.at('/elsewhere')).toEqual([])
  })

  test('because nobody listens, or the connection breaks, is tried again like any other', async () => {
    const app = await newEndpoint((_, __, socket) => socket.destroy())
    await createDeviceOf(app)
    const broken = await deliveryOf(app, 1)
    expect(broken).toMatchObject({ responseStatus: null, response: null })
    expect(broken.error).toMatch(/^the connection failed/)
    const config = { appId: app.appId, operatorName: 'Operator', callbackUrl: 'http://127.0.0.1:1/' }
    await client.call(saveThirdPartyConfig, config, { token: app.token })
    await createDeviceOf(app)
    await becomesTrue(async () => (await deliveriesOf(app, { status: 1 })).length === 3, 15_000)
    const [refused] = await deliveriesOf(app, { status: 1 })
    expect(refused?.error).toBe('the connection failed (ECONNREFUSED)')
  }, 120_000)

  test('with 410 is dead, and nothing more is sent until the configuration is saved again', async () => {
    let isGone = true
    const app = await newEndpoint((received, response, socket) =>
      answerWith(isGone ? 410 : 200)(received, response, socket),
    )
    const { appId, token } = app
    const detail = async () => (await client.call(getThirdPartyConfig, { appId }, { token })).data
    expect(await detail()).toMatchObject({ callbackStopTime: null, callbackStopReason: null })
    await createDeviceOf(app)
    const dead = await deliveryOf(app, 3)
    expect(dead).toMatchObject({ attempts: 1, responseStatus: 410, nextAttemptTime: null })
    const stopped = await detail()
    expect(stopped).toMatchObject({ callbackStopReason: 'answered 410' })
    expect(stopped.callbackStopTime).toMatch(/^\d{4}-/)
    isGone = false
    const missed = await createDevicesOf(app, 3)
    await sleep(2000)
    expect(receiver.at(app.path)).toHaveLength(2)
    const config = { appId, operatorName: 'Operator', callbackUrl: receiver.url(app.path) }
    const saved = await client.call(saveThirdPartyConfig, config, { token })
    expect(saved.data).toMatchObject({ callbackStopTime: null, callbackStopReason: null })
    const deviceNo = await createDeviceOf(app)
    await receiver.waitFor(app.path, 4)
    await sleep(300)
    const since = receiver.at(app.path).slice(2)
    expect(since.map(serialOf)).toEqual([undefined, deviceNo])
    // What it missed is sent when it asks for it.
    const range = { from: '2020-01-01 00:00:00', to: '2999-01-01 00:00:00' }
    const replayed = await client.call(replayDeliveries, range, { token })
    expect(replayed.data.replayed).toBe(7)
    const all = await receiver.waitFor(app.path, 4 + 7)
    expect(all.slice(4).map(serialOf)).toEqual(expect.arrayContaining(missed))
  }, 120_000)
})

describe.concurrent('a slow endpoint', () => {
  test('that never answers fails after 15 seconds, and holds nobody up meanwhile', async () => {
    const silent = await newEndpoint(() => {})
    const fast = await Promise.all(Array.from({ length: 5 }, () => newEndpoint()))
    const began = performance.now()
    await createDevicesOf(silent, 2)
    await receiver.waitFor(silent.path, 2)
    for (const app of fast) await createDevicesOf(app, 10)
    for (const app of fast) expect(await receiver.waitFor(app.path, 11)).toHaveLength(11)
    const took = Math.max(...fast.map(({ path }) => receiver.at(path).at(-1)?.at ?? 0)) - began
    expect(took, 'until the fast ones had everything, in ms').toBeLessThan(10_000)
    // One at a time: its second event waits for the end of the first.
    expect(receiver.at(silent.path)).toHaveLength(2)
    const third = (await receiver.waitFor(silent.path, 3, 20_000))[2]
    expect((third?.at ?? 0) - (receiver.at(silent.path)[1]?.at ?? 0)).toBeGreaterThan(14_500)
    const failed = await deliveryOf(silent, 1)
    expect(failed).toMatchObject({ responseStatus: null, error: 'no answer in time' })
    expect(failed?.durationMs).toBeGreaterThan(14_500)
    expect(failed?.durationMs).toBeLessThan(18_000)
  }, 120_000)

  test('whose answer does not end is read to 4 KiB, and then the connection is dropped', async () => {
    const closed: number[] = []
    const endless: Answer = (_, response, socket: Socket) => {
      response.writeHead(200)
      const writing = setInterval(() => response.write('é'.repeat(8192)), 1)
      socket.on('close', () => {
        clearInterval(writing)
        closed.push(performance.now())
      })
    }
    const app = await newEndpoint(endless)
    await createDeviceOf(app)
    const delivery = await deliveryOf(app, 2)
    expect(delivery).toMatchObject({ responseStatus: 200, error: null, response: 'é'.repeat(2048) })
    expect(delivery.durationMs).toBeLessThan(5_000)
    expect(await becomesTrue(() => closed.length === 1, 15_000), 'the connection was dropped').toBe(true)
    // A success is a success, and the next event follows on another connection.
    receiver.url(app.path)
    await createDeviceOf(app)
    const received = await receiver.waitFor(app.path, 3)
    expect(received[2]?.connection).not.toBe(received[1]?.connection)
  })

  test('whose answer dribbles counts by its status, and does not keep the next event for long', async () => {
    const app = await newEndpoint((_, response, socket) => {
      response.writeHead(200)
      const writing = setInterval(() => response.write('.'), 100)
      socket.on('close', () => clearInterval(writing))
    })
    await createDevicesOf(app, 2)
    const received = await receiver.waitFor(app.path, 3)
    expect((received[2]?.at ?? 0) - (received[1]?.at ?? 0)).toBeLessThan(8_000)
    expect((await deliveryOf(app, 2)).response).toMatch(/^\.{3,40}$/)
  }, 120_000)

  test('keeps its connection for the next callback, and one that it has closed is replaced at once', async () => {
    // Of its own, because endpoints at one address share their connections.
    const own = await Receiver.start()
    const app = await newEndpoint(undefined, {}, own)
    await createDevicesOf(app, 5)
    const kept = await own.waitFor(app.path, 6)
    expect(new Set(kept.map(({ connection }) => connection)).size).toBe(1)
    own.url(app.path, (received, response, socket) => {
      answerWith(200)(received, response, socket)
      setTimeout(() => socket.destroy(), 20)
    })
    await createDeviceOf(app)
    await own.waitFor(app.path, 7)
    await sleep(100)
    await createDeviceOf(app)
    const replaced = await own.waitFor(app.path, 8, 15_000)
    expect(replaced.map(({ connection }) => connection)).toEqual([1, 1, 1, 1, 1, 1, 1, 2])
    const { list } = (await client.call(pageDeliveries, {}, { token: app.token })).data
    expect(list.every(({ status, attempts }) => status === 2 && attempts === 1)).toBe(true)
    own.stop()
  })

  test('whose answer holds what cannot be stored is shown without it', async () => {
    const app = await newEndpoint(answerWith(200, {}, 'a\0b\r\nc\u001ed'))
    await createDeviceOf(app)
    expect(await deliveryOf(app, 2)).toMatchObject({ response: 'a b  c d' })
  })
})

describe.concurrent('an endpoint whose row is locked, as a large replay does it,', () => {
  test('is sent to, keeps its outcomes afterwards, and holds up nobody', async () => {
    const [locked, other] = await Promise.all([newEndpoint(), newEndpoint()])
    await Promise.all(
      [locked, other].map((app) => becomesTrue(async () => (await deliveriesOf(app)).length === 1, 15_000)),
    )
    await withSql(embeddedConnection(service.dataDir), (sql) =>
      sql.begin(async (tx) => {
        await createDevicesOf(locked, 3)
        await receiver.waitFor(locked.path, 2)
        await tx`select from callback_endpoint where app_id = ${locked.appId} for update`
        await createDevicesOf(other, 3)
        expect(await receiver.waitFor(other.path, 4, 15_000)).toHaveLength(4)
        expect(await becomesTrue(async () => (await deliveriesOf(other)).length === 4, 15_000)).toBe(true)
        await sleep(1_000)
      }),
    )
    expect(await becomesTrue(async () => (await deliveriesOf(locked, { status: 2 })).length === 4, 15_000)).toBe(true)
    expect(receiver.at(locked.path)).toHaveLength(4)
  }, 120_000)
})

describe.concurrent('a rotation', () => {
  test('signs with both secrets, the new one first, and ends with the old one', async () => {
    const app = await newEndpoint()
    const { token, appId } = app
    const rotated = await client.call(rotateCallbackSecret, {}, { token })
    expect(rotated.data).toMatchObject({ appId })
    const secret = String(rotated.data.callbackSecret)
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
    expect(secret).not.toBe(app.secret)
    expect((await client.call(getThirdPartyConfig, {}, { token })).text).not.toContain('whsec_')
    await createDeviceOf(app)
    const received = (await receiver.waitFor(app.path, 3)).slice(1)
    expect(received.map(({ body }) => body.type)).toEqual(['thirdPartyConfig.saved', 'device.bound'])
    for (const one of received) {
      const signatures = one.headers['webhook-signature']?.split(' ') ?? []
      expect(signatures).toHaveLength(2)
      for (const known of [secret, app.secret]) verify(one, known)
      verify({ ...one, headers: { ...one.headers, 'webhook-signature': signatures[0] ?? '' } }, secret)
      verify({ ...one, headers: { ...one.headers, 'webhook-signature': signatures[1] ?? '' } }, app.secret)
      expect(one.text).not.toContain('whsec_')
    }
    // Of several rotations the two newest.
    const newest = String((await client.call(rotateCallbackSecret, { appId }, { token })).data.callbackSecret)
    const last = (await receiver.waitFor(app.path, 4))[3]
    if (last === undefined) throw new Error('it did not arrive')
    for (const known of [newest, secret]) verify(last, known)
    expect(() => verify(last, app.secret)).toThrow()
  })
})

describe.concurrent('a replay', () => {
  test('of one delivery sends it again, under the same id', async () => {
    const app = await newEndpoint()
    await createDeviceOf(app)
    const first = (await receiver.waitFor(app.path, 2))[1]
    const { id } = await deliveryOf(app, 2)
    const replayed = await client.call(replayDeliveries, { id }, { token: app.token })
    expect(replayed.data).toEqual({ replayed: 1 })
    const again = (await receiver.waitFor(app.path, 3))[2]
    expect([again?.id, again?.text]).toEqual([first?.id, first?.text])
    expect(await becomesTrue(async () => (await deliveriesOf(app))[0]?.attemptLog.length === 2, 15_000)).toBe(true)
    expect((await deliveriesOf(app))[0]).toMatchObject({ status: 2, attempts: 1 })
    const other = await newEndpoint()
    const stolen = await client.call(replayDeliveries, { id }, { token: other.token })
    expect([stolen.status, stolen.code]).toEqual([404, 10041])
  })

  test('of a range sends every event in it again, in order, and can be narrowed to the dead ones', async () => {
    let isGone = false
    const app = await newEndpoint((received, response, socket) =>
      answerWith(isGone ? 410 : 200)(received, response, socket),
    )
    const { token } = app
    const serials = await createDevicesOf(app, 5)
    await receiver.waitFor(app.path, 6)
    isGone = true
    const deadSerial = await createDeviceOf(app)
    await deliveryOf(app, 3)
    isGone = false
    await client.call(
      saveThirdPartyConfig,
      { appId: app.appId, operatorName: 'x', callbackUrl: receiver.url(app.path) },
      { token },
    )
    await receiver.waitFor(app.path, 8)
    const range = { from: '2020-01-01 00:00:00', to: '2999-12-31 23:59:59' }
    const dead = await client.call(replayDeliveries, { ...range, status: 3 }, { token })
    expect(dead.data).toEqual({ replayed: 1 })
    expect((await receiver.waitFor(app.path, 9)).slice(8).map(serialOf)).toEqual([deadSerial])
    await becomesTrue(async () => (await deliveriesOf(app, { status: 2 })).length === 8, 15_000)
    const all = await client.call(replayDeliveries, range, { token })
    expect(all.data).toEqual({ replayed: 8 })
    const received = (await receiver.waitFor(app.path, 17)).slice(9)
    expect(received.map(serialOf)).toEqual([undefined, ...serials, deadSerial, undefined])
    const before = await client.call(
      replayDeliveries,
      { from: '2020-01-01 00:00:00', to: '2020-12-31 23:59:59' },
      { token },
    )
    expect(before.data).toEqual({ replayed: 0 })
  }, 120_000)
})

describe.concurrent('a test', () => {
  test('is sent once, signed, and answered with what came of it', async () => {
    const app = await newEndpoint(answerWith(200, {}, 'hello'))
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
    expect((await deliveriesOf(app, { type: 'test' }))[0]).toEqual(answer.data)
    // It is no event.
    const { list } = (await client.call(pageEvents, {}, { token: app.token })).data
    expect(list.map(({ id }) => id)).not.toContain(answer.data.id)
    const replayed = await client.call(replayDeliveries, { id: answer.data.id }, { token: app.token })
    expect(replayed.data).toEqual({ replayed: 1 })
    expect((await receiver.waitFor(app.path, 3))[2]?.text).toBe(received.text)
  })

  test('that fails is dead at once, and neither stops nor holds up the callback', async () => {
    const app = await newEndpoint((received, response, socket) =>
      answerWith(received.body.type === 'test' ? 410 : 200)(received, response, socket),
    )
    const answer = await client.call(testDelivery, { appId: app.appId }, { token: app.token })
    expect([answer.status, answer.code]).toEqual([200, 0])
    expect(answer.data).toMatchObject({ status: 3, attempts: 1, responseStatus: 410, error: 'answered 410' })
    await createDeviceOf(app)
    expect(await receiver.waitFor(app.path, 3)).toHaveLength(3)
  })

  test('of an endpoint that never answers is answered after its 15 seconds, and there is one at a time', async () => {
    const app = await newEndpoint(() => {})
    const asked = client.call(testDelivery, {}, { token: app.token })
    await receiver.waitFor(app.path, 2)
    const second = await client.call(testDelivery, {}, { token: app.token })
    expect([second.status, second.code]).toEqual([429, 10007])
    expect(second.headers.get('retry-after')).toMatch(/^\d+$/)
    const answer = await asked
    expect(answer.data).toMatchObject({ status: 3, responseStatus: null, error: 'no answer in time' })
  }, 120_000)
})

describe.concurrent('an endpoint that fails again and again', () => {
  test('is left alone for longer and longer, and has everything, in order, once it is back', async () => {
    let isDown = true
    const app = await newEndpoint((received, response, socket) =>
      answerWith(isDown ? 500 : 200)(received, response, socket),
    )
    const serials = await createDevicesOf(app, 30)
    await sleep(6_000)
    // Three at once, then one after 2 s and one after 4 s more; retries count as attempts.
    const attempts = receiver.at(app.path).length - 1
    expect(attempts).toBeGreaterThanOrEqual(4)
    expect(attempts).toBeLessThanOrEqual(6)
    isDown = false
    const firsts = () => {
      const seen = new Set<unknown>()
      return receiver
        .at(app.path)
        .map(serialOf)
        .filter((serial) => !seen.has(serial) && seen.add(serial))
    }
    expect(await becomesTrue(() => firsts().length === 31, 15_000)).toBe(true)
    expect(firsts().slice(1)).toEqual(serials)
  }, 120_000)
})

test('callbacks that were saved while private addresses were allowed reach none once they are refused', async () => {
  const dataDir = place.newFolder()
  const allowing = await place.startService({ dataDir, env: { FORECOURT_PRIVATE_CALLBACKS: 'allow' } })
  const urls = [receiver.url('/refused'), receiver.url('/refused').replace('http:', 'https:')]
  const apps = await Promise.all(
    urls.map((callbackUrl) =>
      newApplication(new Client(allowing), {
        thirdPartyConfig: { operatorName: 'Operator', callbackUrl, callbackEvents: ['device.bound'] },
      }),
    ),
  )
  await allowing.stop()
  const refusing = await place.startService({ dataDir })
  const strict = new Client(refusing)
  const errors = ['the URL must begin with https://', 'the URL must not point to a private, local or reserved address']
  for (const [index, { appId, token }] of apps.entries()) {
    await strict.call(createDevice, deviceBody(appId), { token })
    const tested = await strict.call(testDelivery, {}, { token })
    expect(tested.data).toMatchObject({ status: 3, error: errors[index] ?? '' })
    const failed = async () => (await strict.call(pageDeliveries, { status: 1 }, { token })).data.list
    expect(await becomesTrue(async () => (await failed()).length === 1, 15_000)).toBe(true)
    expect((await failed())[0]).toMatchObject({ type: 'device.bound', error: errors[index] ?? '' })
  }
  expect(receiver.at('/refused')).toEqual([])
  await refusing.stop()
}, 120_000)

test('operators see attempts, waiting and dead deliveries in the metrics, and logs hold no secret', async () => {
  const { text } = await client.send<unknown>(getMetrics.path, {
    headers: { authorization: `Bearer ${service.operatorKey}` },
  })
  for (const outcome of ['delivered', 'retry', 'dead']) {
    const line = new RegExp(`^forecourt_callback_attempt_duration_seconds_count{outcome="${outcome}"} [1-9]`, 'm')
    expect(text).toMatch(line)
  }
  expect(text).toMatch(/^forecourt_deliveries{state="waiting"} [1-9]/m)
  expect(text).toMatch(/^forecourt_deliveries{state="dead"} [1-9]/m)
  expect(text).toMatch(/^forecourt_callback_lag_seconds \d/m)
  expect(service.stderr()).toContain('"msg":"a delivery is dead"')
  expect(service.stderr()).not.toMatch(/whsec_|deviceNo|webhook-signature/)
})
