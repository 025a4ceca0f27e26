import { afterAll, describe, expect, test } from 'bun:test'
import type { Socket } from 'node:net'
import { embeddedConnection, withSql } from '../kit/database.ts'
import { type Answer, answerWith, Receiver, verify } from '../kit/receiver.ts'
import { deviceBody, newApplication } from '../kit/records.ts'
import { atScale, longTest } from '../kit/scale.ts'
import { becomesTrue, sleep, waitUntil } from '../kit/waits.ts'
import { CallbackBed, serialOf } from './callback-bed.ts'

const bed = await CallbackBed.start()
const { client, place, receiver, service } = bed
afterAll(() => bed.stop(), 120_000)

describe.concurrent('a callback', () => {
  test('is the event as the feed shows it, signed so that the standard verifier takes it', async () => {
    const app = await bed.newEndpoint()
    const deviceNo = await bed.createDeviceOf(app)
    const [saved, bound] = await receiver.waitFor(app.path, 2)
    if (saved === undefined || bound === undefined) throw new Error('it did not arrive')
    const { list } = (await client.call('pageEvents', {}, { token: app.token })).data
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
    const [app, other] = await Promise.all([bed.newEndpoint(answerWith(202, {}, 'thanks')), bed.newEndpoint()])
    const [serials] = await Promise.all([bed.createDevicesOf(app, 40), bed.createDevicesOf(other, 5)])
    const received = await receiver.waitFor(app.path, 41)
    await waitUntil(async () => (await bed.deliveriesOf(app, { status: 2 })).length === 41)
    const newest = await bed.deliveryOf(app, 2)
    // Nothing of the other application's, either.
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

  test('has a health that forgets no attempt when deliveries are sent again, counts no test, and tells a stop', async () => {
    const app = await bed.newEndpoint(answerWith(500))
    const { appId, token } = app
    const health = async () => (await client.call('getCallbackHealth', { appId }, { token })).data
    const becomesSo = (is: (told: Awaited<ReturnType<typeof health>>) => boolean) =>
      becomesTrue(async () => is(await health()))
    await bed.createDeviceOf(app)
    expect(await becomesSo(({ waitingRetries }) => waitingRetries === 1)).toBe(true)
    const before = await health()
    expect(before).toMatchObject({ dead: 0, failingReason: 'answered 500', lastDay: { attempts: 2, failed: 1 } })
    expect(before.failures).toMatchObject([{ error: 'httpStatus', responseStatus: 500, waiting: 1, dead: 0 }])
    expect((await client.call('testDelivery', { appId }, { token })).data).toMatchObject({ status: 3, type: 'test' })
    const { dead, lastDay, failures } = await health()
    expect([dead, lastDay, failures]).toEqual([0, before.lastDay, before.failures])

    const all = { timeFrom: '2020-01-01 00:00:00', timeTo: '2999-12-31 23:59:59' }
    expect((await client.call('replayDeliveries', { appId, ...all }, { token })).data).toEqual({ replayed: 2 })
    const again = await health()
    expect(again.lastSuccessTime).toBe(before.lastSuccessTime)
    expect(again.lastDay.attempts - again.lastDay.failed).toBe(1)
    receiver.url(app.path)
    expect(await becomesSo(({ state, waitingRetries }) => state === 'delivering' && waitingRetries === 0)).toBe(true)
    const taken = await health()
    expect(taken).toMatchObject({
      failures: [],
      heldUntil: null,
      failingSince: null,
      failingReason: null,
      hasSucceeded: true,
    })
    expect([taken.lastDay.attempts - taken.lastDay.failed, taken.lastSuccessTime]).toEqual([3, expect.any(String)])
    expect(taken.lastDay.failed).toBeGreaterThanOrEqual(again.lastDay.failed)
    receiver.url(app.path, answerWith(410))
    await bed.createDeviceOf(app)
    expect(await becomesSo(({ state, dead }) => state === 'stopped' && dead === 1)).toBe(true)
  })

  test('comes only for the types that are asked for, and what was not asked for is never made up', async () => {
    const app = await bed.newEndpoint(undefined, { callbackEvents: ['application.offline', 'application.online'] })
    const { appId } = app
    await bed.createDevicesOf(app, 3)
    await client.operate('takeApplicationOffline', { appId })
    await client.operate('takeApplicationOnline', { appId })
    const asked = ['application.offline', 'application.online']
    // The second pair of events follows all events of the devices, so an event of a device would have been received
    // before.
    await client.operate('takeApplicationOffline', { appId })
    await client.operate('takeApplicationOnline', { appId })
    const received = await receiver.waitFor(app.path, 4)
    expect(received.map(({ body }) => body.type)).toEqual([...asked, ...asked])
    // Event types that are added later are sent from then on.
    const body = { appId, operatorName: 'Operator', callbackUrl: receiver.url(app.path) }
    await client.call('saveThirdPartyConfig', body, { token: app.token })
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
    await client.call('saveThirdPartyConfig', { ...config, callbackUrl: receiver.url(path) }, { token: app.token })
    const deviceNo = await bed.createDeviceOf(app)
    const received = await receiver.waitFor(path, 2)
    expect(received.map(serialOf)).toEqual([undefined, deviceNo])
    await client.call('saveThirdPartyConfig', config, { token: app.token })
    await bed.createDevicesOf(app, 3)
    await client.call('saveThirdPartyConfig', { ...config, callbackUrl: receiver.url(path) }, { token: app.token })
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
    const app = await bed.newEndpoint((...received) => answerWith(refusals++ === 0 ? 500 : 200)(...received))
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
    await waitUntil(async () => (await bed.deliveriesOf(app))[1]?.status === 2)
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
      const app = await bed.newEndpoint((...received) => {
        const answer = first ? answerWith(status, { 'retry-after': header() }) : answerWith(200)
        first = false
        answer(...received)
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
    await client.call('saveThirdPartyConfig', config, { token: app.token })
    await bed.createDeviceOf(app)
    await becomesTrue(async () => (await bed.deliveriesOf(app, { status: 1 })).length === 3)
    const [refused] = await bed.deliveriesOf(app, { status: 1 })
    expect(refused?.error).toBe('the connection failed (ECONNREFUSED)')
  })
})

test.concurrent('a rotation signs with both secrets, the new one first, and ends with the old one', async () => {
  const app = await bed.newEndpoint()
  const { token, appId } = app
  const rotated = await client.call('rotateCallbackSecret', {}, { token })
  expect(rotated.data).toMatchObject({ appId })
  const secret = String(rotated.data.callbackSecret)
  expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
  expect(secret).not.toBe(app.secret)
  expect((await client.call('getThirdPartyConfig', {}, { token })).text).not.toContain('whsec_')
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
  const newest = String((await client.call('rotateCallbackSecret', { appId }, { token })).data.callbackSecret)
  await bed.createDeviceOf(app)
  const last = (await receiver.waitFor(app.path, 3))[2]
  if (last === undefined) throw new Error('it did not arrive')
  for (const known of [newest, secret]) verify(last, known)
  expect(() => verify(last, app.secret)).toThrow()
})

describe.concurrent('an endpoint', () => {
  longTest('that never responds fails after 15 seconds, and holds nobody up meanwhile', async () => {
    const silent = await bed.newEndpoint(() => {})
    const fast = await Promise.all(Array.from({ length: 5 }, () => bed.newEndpoint()))
    await bed.createDevicesOf(silent, 2)
    await receiver.waitFor(silent.path, 2)
    for (const app of fast) await bed.createDevicesOf(app, 10)
    for (const app of fast) expect(await receiver.waitFor(app.path, 11)).toHaveLength(11)
    // An endpoint gets one callback at a time: the second event is still waiting for a response.
    expect(receiver.at(silent.path)).toHaveLength(2)
    const third = (await receiver.waitFor(silent.path, 3))[2]
    expect((third?.at ?? 0) - (receiver.at(silent.path)[1]?.at ?? 0)).toBeGreaterThan(14_500)
    const failed = await bed.deliveryOf(silent, 1)
    expect(failed).toMatchObject({ responseStatus: null, error: 'no answer in time' })
    expect(failed?.durationMs).toBeGreaterThan(14_500)
    expect(failed?.durationMs).toBeLessThan(30_000)
  })

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
    const app = await bed.newEndpoint(endless)
    await bed.createDeviceOf(app)
    const delivery = await bed.deliveryOf(app, 2)
    expect(delivery).toMatchObject({ responseStatus: 200, error: null, response: 'é'.repeat(2048) })
    expect(delivery.durationMs).toBeLessThan(5_000)
    expect(await becomesTrue(() => closed.length === 1), 'the connection was dropped').toBe(true)
    // The status 200 counts although the body never ends; the next event is sent over another connection.
    receiver.url(app.path)
    await bed.createDeviceOf(app)
    const received = await receiver.waitFor(app.path, 3)
    expect(received[2]?.connection).not.toBe(received[1]?.connection)
  })

  test('keeps its connection for the next callback, and one that it has closed is replaced at once', async () => {
    // A separate receiver, because endpoints of one host share their connections.
    const own = await Receiver.start()
    const app = await bed.newEndpoint(undefined, {}, own)
    await bed.createDevicesOf(app, 5)
    const kept = await own.waitFor(app.path, 6)
    expect(new Set(kept.map(({ connection }) => connection)).size).toBe(1)
    const closed = Promise.withResolvers<void>()
    own.url(app.path, (received, response, socket) => {
      // Both sides have closed it then.
      socket.once('close', () => closed.resolve())
      response.once('finish', () => socket.end())
      answerWith(200)(received, response, socket)
    })
    await bed.createDeviceOf(app)
    await own.waitFor(app.path, 7)
    await closed.promise
    await bed.createDeviceOf(app)
    const replaced = await own.waitFor(app.path, 8)
    expect(replaced.map(({ connection }) => connection)).toEqual([1, 1, 1, 1, 1, 1, 1, 2])
    const { list } = (await client.call('pageDeliveries', {}, { token: app.token })).data
    expect(list.every(({ status, attempts }) => status === 2 && attempts === 1)).toBe(true)
    own.stop()
  })

  test('whose answer holds what cannot be stored is shown without it', async () => {
    const app = await bed.newEndpoint(answerWith(200, {}, 'a\0b\r\nc\u001ed'))
    await bed.createDeviceOf(app)
    expect(await bed.deliveryOf(app, 2)).toMatchObject({ response: 'a b  c d' })
  })

  test('is sent an event that was written by a process which was killed before it looked', async () => {
    const app = await bed.newEndpoint()
    await becomesTrue(async () => (await bed.deliveriesOf(app)).length === 1)
    await withSql(embeddedConnection(service.dataDir), async (sql) => {
      // The event is written past the service, so none of its processes was notified.
      await sql`
        with head as (update event_head set last_event_id = last_event_id + 1 where app_id = ${app.appId} returning *)
        insert into event (app_id, id, type, time, actor, data)
        select app_id, last_event_id, 'device.bound', now(), 'application:' || app_id, '{}' from head`
    })
    expect(await receiver.waitFor(app.path, 2)).toHaveLength(2)
  })

  test('that fails again and again is left alone for longer and longer, and has everything, in order, once it is back', async () => {
    const app = await bed.newEndpoint(answerWith(500))
    const serials = await bed.createDevicesOf(app, 30)
    // So long that a fourth and a fifth attempt are due. The events that happen meanwhile cause none.
    const until = performance.now() + 6_000
    while (performance.now() < until) {
      serials.push(await bed.createDeviceOf(app))
      await sleep(200)
    }
    // At most three events fail at once, then one after 2 s and one after 4 s more. Retries count as attempts too.
    const attempts = (await receiver.waitFor(app.path, 5)).slice(1)
    expect(attempts.length).toBeGreaterThanOrEqual(4)
    expect(attempts.filter(({ at }) => at - (attempts[0]?.at ?? 0) < 6_000).length).toBeLessThanOrEqual(6)
    // What waits is shown, with a next attempt that is not past.
    await waitUntil(async () => (await bed.pageOf(app)).heldUntil !== null)
    const before = Math.floor(Date.now() / 1000) * 1000
    const shown = await bed.pageOf(app, { status: 1 })
    expect(shown).toMatchObject({ callbacks: 'on', waitingSince: expect.any(String) })
    for (const { nextAttemptTime } of shown.list)
      expect(Date.parse(`${nextAttemptTime?.replace(' ', 'T')}+08:00`)).toBeGreaterThanOrEqual(before)
    // The waiting events and the list are read one after the other, and an attempt may happen in between.
    const counted = async () =>
      bed.pageOf(app, { status: 1 }).then(({ waitingEvents, total }) => Number(waitingEvents) + total)
    await waitUntil(async () => (await counted()) === serials.length)
    // Saving the configuration again causes an attempt at once.
    const config = { appId: app.appId, operatorName: 'Operator', callbackUrl: receiver.url(app.path) }
    await client.call('saveThirdPartyConfig', config, { token: app.token })
    const firsts = () => {
      const seen = new Set<unknown>()
      return receiver
        .at(app.path)
        .map(serialOf)
        .filter((serial) => !seen.has(serial) && seen.add(serial))
    }
    await waitUntil(() => firsts().length === serials.length + 1)
    expect(firsts().slice(1)).toEqual(serials)
  })
})

longTest('callbacks that were saved for private addresses reach none once these are refused', async () => {
  const dataDir = place.preparedFolder()
  const allowing = await place.start({ dataDir, env: { FORECOURT_PRIVATE_CALLBACKS: 'allow' } })
  const callbackUrl = receiver.url('/refused').replace('http:', 'https:')
  const thirdPartyConfig = { operatorName: 'Operator', callbackUrl, callbackEvents: ['device.bound'] }
  const { appId, token } = await newApplication(allowing.client, { thirdPartyConfig })
  await allowing.service.stop()
  const { client: strict } = await place.start({ dataDir })
  const error = 'the URL must not point to a private, local or reserved address'
  await strict.call('createDevice', deviceBody(appId), { token })
  expect((await strict.call('testDelivery', {}, { token })).data).toMatchObject({ status: 3, error })
  const failed = async () => (await strict.call('pageDeliveries', { status: 1 }, { token })).data.list
  await waitUntil(async () => (await failed()).length === 1)
  expect((await failed())[0]).toMatchObject({ type: 'device.bound', error })
  expect(receiver.at('/refused')).toEqual([])
})
