import { afterAll, describe, expect, test } from 'bun:test'
import type { Socket } from 'node:net'
import { pageDeliveries, testDelivery } from '../../src/deliveries/contract.ts'
import { createDevice } from '../../src/devices/contract.ts'
import { Client, deviceBody, newApplication } from '../harness.ts'
import { longTest } from '../long.ts'
import { CallbackBed, serialOf } from './callback-bed.ts'
import { type Answer, answerWith, Receiver } from './receiver.ts'
import { becomesTrue, embeddedConnection, sleep, withSql } from './support.ts'

const bed = await CallbackBed.start()
const { client, place, receiver, service } = bed
afterAll(() => bed.stop(), 120_000)

describe.concurrent('a slow endpoint', () => {
  longTest('that never answers fails after 15 seconds, and holds nobody up meanwhile', async () => {
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

  longTest('whose answer dribbles counts by its status, and does not keep the next event for long', async () => {
    const app = await bed.newEndpoint((_, response, socket) => {
      response.writeHead(200)
      const writing = setInterval(() => response.write('.'), 100)
      socket.on('close', () => clearInterval(writing))
    })
    await bed.createDevicesOf(app, 2)
    expect(await receiver.waitFor(app.path, 3)).toHaveLength(3)
    expect((await bed.deliveryOf(app, 2)).response).toMatch(/^\.{3,40}$/)
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
    const { list } = (await client.call(pageDeliveries, {}, { token: app.token })).data
    expect(list.every(({ status, attempts }) => status === 2 && attempts === 1)).toBe(true)
    own.stop()
  })

  test('whose answer holds what cannot be stored is shown without it', async () => {
    const app = await bed.newEndpoint(answerWith(200, {}, 'a\0b\r\nc\u001ed'))
    await bed.createDeviceOf(app)
    expect(await bed.deliveryOf(app, 2)).toMatchObject({ response: 'a b  c d' })
  })
})

describe.concurrent('an endpoint whose row is locked, as a large replay does it,', () => {
  test('is sent to, keeps its outcomes afterwards, and holds up nobody', async () => {
    const [locked, other] = await Promise.all([bed.newEndpoint(), bed.newEndpoint()])
    await Promise.all([locked, other].map((app) => becomesTrue(async () => (await bed.deliveriesOf(app)).length === 1)))
    await withSql(embeddedConnection(service.dataDir), (sql) =>
      sql.begin(async (tx) => {
        await bed.createDevicesOf(locked, 3)
        await receiver.waitFor(locked.path, 2)
        await tx`select from callback_endpoint where app_id = ${locked.appId} for update`
        await bed.createDevicesOf(other, 3)
        expect(await receiver.waitFor(other.path, 4)).toHaveLength(4)
        expect(await becomesTrue(async () => (await bed.deliveriesOf(other)).length === 4)).toBe(true)
        // Meanwhile the service has looked for endpoints with something to send again and again.
        for (let sent = 5; sent < 8; sent++) {
          await bed.createDeviceOf(other)
          expect(await receiver.waitFor(other.path, sent)).toHaveLength(sent)
        }
      }),
    )
    expect(await becomesTrue(async () => (await bed.deliveriesOf(locked, { status: 2 })).length === 4)).toBe(true)
    expect(receiver.at(locked.path)).toHaveLength(4)
  })
})

test('an event that was written by a process which was killed before it looked is sent all the same', async () => {
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

describe.concurrent('an endpoint that fails again and again', () => {
  test('is left alone for longer and longer, and has everything, in order, once it is back', async () => {
    let isDown = true
    const app = await bed.newEndpoint((received, response, socket) =>
      answerWith(isDown ? 500 : 200)(received, response, socket),
    )
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
    isDown = false
    const firsts = () => {
      const seen = new Set<unknown>()
      return receiver
        .at(app.path)
        .map(serialOf)
        .filter((serial) => !seen.has(serial) && seen.add(serial))
    }
    expect(await becomesTrue(() => firsts().length === serials.length + 1)).toBe(true)
    expect(firsts().slice(1)).toEqual(serials)
  })
})

longTest(
  'callbacks that were saved while private addresses were allowed reach none once they are refused',
  async () => {
    const dataDir = place.preparedFolder()
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
    const errors = [
      'the URL must begin with https://',
      'the URL must not point to a private, local or reserved address',
    ]
    for (const [index, { appId, token }] of apps.entries()) {
      await strict.call(createDevice, deviceBody(appId), { token })
      const tested = await strict.call(testDelivery, {}, { token })
      expect(tested.data).toMatchObject({ status: 3, error: errors[index] ?? '' })
      const failed = async () => (await strict.call(pageDeliveries, { status: 1 }, { token })).data.list
      expect(await becomesTrue(async () => (await failed()).length === 1)).toBe(true)
      expect((await failed())[0]).toMatchObject({ type: 'device.bound', error: errors[index] ?? '' })
    }
    expect(receiver.at('/refused')).toEqual([])
    await refusing.stop()
  },
)
