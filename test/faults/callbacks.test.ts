import { afterAll, describe, expect, test } from 'bun:test'
import { takeApplicationOffline, takeApplicationOnline } from '../../src/applications/contract.ts'
import {
  getThirdPartyConfig,
  rotateCallbackSecret,
  saveThirdPartyConfig,
} from '../../src/applications/third-party-config/contract.ts'
import { replayDeliveries, testDelivery } from '../../src/deliveries/contract.ts'
import { getCallbackHealth } from '../../src/deliveries/health/contract.ts'
import { pageEvents } from '../../src/events/contract.ts'
import { newApplication } from '../harness.ts'
import { CallbackBed, serialOf } from './callback-bed.ts'
import { answerWith, verify } from './receiver.ts'
import { atScale, becomesTrue, staysTrue } from './support.ts'

const bed = await CallbackBed.start()
const { client, receiver } = bed
afterAll(() => bed.stop(), 120_000)

describe.concurrent('a callback', () => {
  test('is the event as the feed shows it, signed so that the standard verifier takes it', async () => {
    const app = await bed.newEndpoint()
    const deviceNo = await bed.createDeviceOf(app)
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
    const other = await bed.newEndpoint()
    expect(() => verify(bound, other.secret)).toThrow()
    expect(saved.text).not.toContain('whsec_')
  })

  test('comes once for each event, in their order, and is listed as delivered', async () => {
    const app = await bed.newEndpoint(answerWith(202, {}, 'thanks'))
    const serials = await bed.createDevicesOf(app, 40)
    const received = await receiver.waitFor(app.path, 41)
    expect(await becomesTrue(async () => (await bed.deliveriesOf(app, { status: 2 })).length === 41)).toBe(true)
    const newest = await bed.deliveryOf(app, 2)
    expect((await bed.receivedBeforeNext(app, app.path)).slice(1).map(serialOf)).toEqual(serials)
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

  test('has a health: failing with what it fails of, delivering once it is taken again, and stopped by a 410', async () => {
    const app = await bed.newEndpoint(answerWith(500))
    const health = async () => (await client.call(getCallbackHealth, { appId: app.appId }, { token: app.token })).data
    await bed.createDeviceOf(app)
    expect(await becomesTrue(async () => (await health()).waitingRetries === 1)).toBe(true)
    const failing = await health()
    expect(failing).toMatchObject({ dead: 0, failingReason: 'answered 500' })
    expect(failing.lastDay.failed).toBe(failing.lastDay.attempts - 1)
    expect(failing.failures).toMatchObject([{ error: 'httpStatus', responseStatus: 500, waiting: 1, dead: 0 }])
    receiver.url(app.path)
    await bed.createDeviceOf(app)
    expect(await becomesTrue(async () => (await health()).state === 'delivering')).toBe(true)
    const delivering = await health()
    expect(delivering).toMatchObject({ heldUntil: null, failingSince: null, failingReason: null })
    expect(delivering.lastSuccessTime).not.toBeNull()
    expect([failing.hasSucceeded, delivering.hasSucceeded]).toEqual([true, true])
    expect(delivering.lastHour.attempts).toBeGreaterThan(delivering.lastHour.failed)
    receiver.url(app.path, answerWith(410))
    await bed.createDeviceOf(app)
    expect(await becomesTrue(async () => (await health()).state === 'stopped')).toBe(true)
    expect((await health()).dead).toBe(1)
  })

  test('has a health that forgets no attempt when deliveries are sent again, and that counts no test', async () => {
    const app = await bed.newEndpoint(answerWith(500))
    const { appId, token } = app
    const health = async () => (await client.call(getCallbackHealth, { appId }, { token })).data
    await bed.createDeviceOf(app)
    expect(await becomesTrue(async () => (await health()).waitingRetries === 1)).toBe(true)
    const before = await health()
    expect(before.lastDay).toEqual({ attempts: 2, failed: 1 })
    expect((await client.call(testDelivery, { appId }, { token })).data).toMatchObject({ status: 3, type: 'test' })
    const tested = await health()
    expect([tested.dead, tested.lastDay, tested.failures]).toEqual([0, before.lastDay, before.failures])

    const all = { timeFrom: '2020-01-01 00:00:00', timeTo: '2999-12-31 23:59:59' }
    expect((await client.call(replayDeliveries, { appId, ...all }, { token })).data).toEqual({ replayed: 2 })
    const again = await health()
    expect(again.lastSuccessTime).toBe(before.lastSuccessTime)
    expect(again.lastDay.failed).toBeGreaterThanOrEqual(1)
    expect(again.lastDay.attempts - again.lastDay.failed).toBe(1)
    receiver.url(app.path)
    expect(await becomesTrue(async () => (await health()).waitingRetries === 0)).toBe(true)
    const taken = await health()
    expect([taken.failures, taken.lastDay.attempts - taken.lastDay.failed]).toEqual([[], 3])
    expect(taken.lastDay.failed).toBeGreaterThanOrEqual(again.lastDay.failed)
  })

  test('goes only to the application whose event it is', async () => {
    const [app, other] = await Promise.all([bed.newEndpoint(), bed.newEndpoint()])
    await Promise.all([bed.createDevicesOf(app, 5), bed.createDevicesOf(other, 5)])
    await Promise.all([receiver.waitFor(app.path, 6), receiver.waitFor(other.path, 6)])
    for (const one of [app, other]) {
      const before = await bed.receivedBeforeNext(one, one.path)
      expect(before.map(({ body }) => body.appId)).toEqual(Array(6).fill(one.appId))
    }
  })

  test('comes only for the types that are asked for, and what was not asked for is never made up', async () => {
    const app = await bed.newEndpoint(undefined, { callbackEvents: ['application.offline', 'application.online'] })
    const { appId } = app
    await bed.createDevicesOf(app, 3)
    await client.operate(takeApplicationOffline, { appId })
    await client.operate(takeApplicationOnline, { appId })
    const asked = ['application.offline', 'application.online']
    // The second pair of events follows all events of the devices, so an event of a device would have been received
    // before.
    await client.operate(takeApplicationOffline, { appId })
    await client.operate(takeApplicationOnline, { appId })
    const received = await receiver.waitFor(app.path, 4)
    expect(received.map(({ body }) => body.type)).toEqual([...asked, ...asked])
    // Event types that are added later are sent from then on.
    const body = { appId, operatorName: 'Operator', callbackUrl: receiver.url(app.path) }
    await client.call(saveThirdPartyConfig, body, { token: app.token })
    const deviceNo = await bed.createDeviceOf(app)
    await receiver.waitFor(app.path, received.length + 2)
    const later = (await bed.receivedBeforeNext(app, app.path)).slice(received.length)
    expect(later.map(({ body: { type } }) => type)).toEqual(['thirdPartyConfig.saved', 'device.bound'])
    expect(later.map(serialOf)).toEqual([undefined, deviceNo])
  })

  test('is not made for what happened before there was a callback, nor after it was removed', async () => {
    const app = await newApplication(client)
    await bed.createDevicesOf(app, 3)
    const path = '/set-later'
    const config = { appId: app.appId, operatorName: 'Operator' }
    await client.call(saveThirdPartyConfig, { ...config, callbackUrl: receiver.url(path) }, { token: app.token })
    const deviceNo = await bed.createDeviceOf(app)
    const received = await receiver.waitFor(path, 2)
    expect(received.map(serialOf)).toEqual([undefined, deviceNo])
    await client.call(saveThirdPartyConfig, config, { token: app.token })
    await bed.createDevicesOf(app, 3)
    await client.call(saveThirdPartyConfig, { ...config, callbackUrl: receiver.url(path) }, { token: app.token })
    await receiver.waitFor(path, 3)
    expect((await bed.receivedBeforeNext(app, path)).map(({ body }) => body.type)).toEqual([
      'thirdPartyConfig.saved',
      'device.bound',
      'thirdPartyConfig.saved',
    ])
  })
})

describe.concurrent('a callback that fails', () => {
  test('is tried again after 5 seconds, give or take a fifth, under the same id, while later events go on', async () => {
    let refusals = 0
    const app = await bed.newEndpoint((received, response, socket) =>
      answerWith(received.body.type === 'device.bound' && refusals++ === 0 ? 500 : 200)(received, response, socket),
    )
    const [first, second] = await bed.createDevicesOf(app, 2)
    const failed = (await receiver.waitFor(app.path, 2))[1]
    expect((await receiver.waitFor(app.path, 3)).slice(1).map(serialOf)).toEqual([first, second])
    const waiting = await bed.deliveryOf(app, 1)
    expect(waiting).toMatchObject({ status: 1, attempts: 1, responseStatus: 500, error: 'answered 500' })
    expect(waiting.nextAttemptTime).not.toBeNull()
    const again = (await receiver.waitFor(app.path, 4))[3]
    if (failed === undefined || again === undefined) throw new Error('it did not arrive')
    expect([serialOf(again), again.id]).toEqual([first, failed.id])
    expect(again.at - failed.at).toBeGreaterThan(3_950)
    expect(again.at - failed.at).toBeLessThan(50_000)
    verify(again, app.secret)
    expect(await becomesTrue(async () => (await bed.deliveriesOf(app))[1]?.status === 2)).toBe(true)
    const [, delivered] = await bed.deliveriesOf(app)
    expect(delivered).toMatchObject({ attempts: 2, error: null, nextAttemptTime: null })
    expect(delivered?.attemptLog.map(({ responseStatus }) => responseStatus)).toEqual([500, 200])
  })

  const refusals = [
    { status: 503, header: () => '8' },
    { status: 429, header: () => new Date(Date.now() + 9_000).toUTCString() },
  ]
  test.each(atScale(refusals.slice(1), refusals))(
    'with $status is not tried again before its Retry-After',
    async ({ status, header }) => {
      let first = true
      const app = await bed.newEndpoint((received, response, socket) => {
        const answer = first ? answerWith(status, { 'retry-after': header() }) : answerWith(200)
        first = false
        answer(received, response, socket)
      })
      await bed.createDeviceOf(app)
      const received = await receiver.waitFor(app.path, 3)
      expect(received).toHaveLength(3)
      expect((received[2]?.at ?? 0) - (received[1]?.at ?? 0)).toBeGreaterThan(7_900)
    },
  )

  test('is not sent elsewhere by a redirect', async () => {
    const elsewhere = receiver.url('/elsewhere')
    const app = await bed.newEndpoint(answerWith(307, { location: elsewhere }))
    await bed.createDeviceOf(app)
    const delivery = await bed.deliveryOf(app, 1)
    expect(delivery).toMatchObject({ attempts: 1, responseStatus: 307, error: 'answered 307' })
    expect(receiver.at('/elsewhere')).toEqual([])
  })

  test('because nobody listens, or the connection breaks, is tried again like any other', async () => {
    const app = await bed.newEndpoint((_, __, socket) => socket.destroy())
    await bed.createDeviceOf(app)
    const broken = await bed.deliveryOf(app, 1)
    expect(broken).toMatchObject({ responseStatus: null, response: null })
    expect(broken.error).toMatch(/^the connection failed/)
    const config = { appId: app.appId, operatorName: 'Operator', callbackUrl: 'http://127.0.0.1:1/' }
    await client.call(saveThirdPartyConfig, config, { token: app.token })
    await bed.createDeviceOf(app)
    await becomesTrue(async () => (await bed.deliveriesOf(app, { status: 1 })).length === 3)
    const [refused] = await bed.deliveriesOf(app, { status: 1 })
    expect(refused?.error).toBe('the connection failed (ECONNREFUSED)')
  })

  test('with 410 is dead, and nothing more is sent until the configuration is saved again', async () => {
    let isGone = true
    const app = await bed.newEndpoint((received, response, socket) =>
      answerWith(isGone ? 410 : 200)(received, response, socket),
    )
    const { appId, token } = app
    const detail = async () => (await client.call(getThirdPartyConfig, { appId }, { token })).data
    expect(await detail()).toMatchObject({ callbackStopTime: null, callbackStopReason: null })
    await bed.createDeviceOf(app)
    const dead = await bed.deliveryOf(app, 3)
    expect(dead).toMatchObject({ attempts: 1, responseStatus: 410, nextAttemptTime: null })
    const stopped = await detail()
    expect(stopped).toMatchObject({ callbackStopReason: 'answered 410' })
    expect(stopped.callbackStopTime).toMatch(/^\d{4}-/)
    isGone = false
    const missed = await bed.createDevicesOf(app, 3)
    expect(await staysTrue(() => receiver.at(app.path).length === 2, 2_000)).toBe(true)
    const config = { appId, operatorName: 'Operator', callbackUrl: receiver.url(app.path) }
    const saved = await client.call(saveThirdPartyConfig, config, { token })
    expect(saved.data).toMatchObject({ callbackStopTime: null, callbackStopReason: null })
    const deviceNo = await bed.createDeviceOf(app)
    await receiver.waitFor(app.path, 4)
    const since = (await bed.receivedBeforeNext(app, app.path)).slice(2)
    expect(since.map(serialOf)).toEqual([undefined, deviceNo])
    const areStored = async () => (await bed.deliveriesOf(app, { status: 2 })).length === 4
    expect(await becomesTrue(areStored)).toBe(true)
    // A replay sends the events that it missed.
    const range = { timeFrom: '2020-01-01 00:00:00', timeTo: '2999-01-01 00:00:00' }
    const replayed = await client.call(replayDeliveries, range, { token })
    expect(replayed.data.replayed).toBe(8)
    const all = await receiver.waitFor(app.path, 5 + 8)
    expect(all.slice(5).map(serialOf)).toEqual(expect.arrayContaining(missed))
  })
})

describe.concurrent('a rotation', () => {
  test('signs with both secrets, the new one first, and ends with the old one', async () => {
    const app = await bed.newEndpoint()
    const { token, appId } = app
    const rotated = await client.call(rotateCallbackSecret, {}, { token })
    expect(rotated.data).toMatchObject({ appId })
    const secret = String(rotated.data.callbackSecret)
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
    expect(secret).not.toBe(app.secret)
    expect((await client.call(getThirdPartyConfig, {}, { token })).text).not.toContain('whsec_')
    await bed.createDeviceOf(app)
    const received = (await receiver.waitFor(app.path, 2)).slice(1)
    expect(received.map(({ body }) => body.type)).toEqual(['device.bound'])
    for (const one of received) {
      const signatures = one.headers['webhook-signature']?.split(' ') ?? []
      expect(signatures).toHaveLength(2)
      for (const known of [secret, app.secret]) verify(one, known)
      verify({ ...one, headers: { ...one.headers, 'webhook-signature': signatures[0] ?? '' } }, secret)
      verify({ ...one, headers: { ...one.headers, 'webhook-signature': signatures[1] ?? '' } }, app.secret)
      expect(one.text).not.toContain('whsec_')
    }
    // After several rotations, callbacks are signed with the two newest secrets.
    const newest = String((await client.call(rotateCallbackSecret, { appId }, { token })).data.callbackSecret)
    await bed.createDeviceOf(app)
    const last = (await receiver.waitFor(app.path, 3))[2]
    if (last === undefined) throw new Error('it did not arrive')
    for (const known of [newest, secret]) verify(last, known)
    expect(() => verify(last, app.secret)).toThrow()
  })
})
