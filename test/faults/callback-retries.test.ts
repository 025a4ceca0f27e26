import { afterAll, expect, test } from 'bun:test'
import { saveThirdPartyConfig } from '../../src/applications/third-party-config/contract.ts'
import { getOverview } from '../../src/service/overview/contract.ts'
import { longTest } from '../long.ts'
import { CallbackBed } from './callback-bed.ts'
import { answerWith } from './receiver.ts'
import { becomesTrue, load } from './support.ts'

// An endpoint that fails while new events are created.

/** With this scale, three days become 14 seconds and 5 minutes become 15 ms. */
const bed = await CallbackBed.start({ FORECOURT_CALLBACK_RETRY_SCALE: '0.00005' })
const unhurried = await CallbackBed.start()
afterAll(() => Promise.all([bed.stop(), unhurried.stop()]), 120_000)

longTest(
  'each delivery has its ten attempts and dies, although new events keep coming, and each of these is tried',
  async () => {
    const app = await bed.newEndpoint(answerWith(500))
    const serials: string[] = []
    const isOver = async () => (await bed.deliveriesOf(app, { status: 3 })).length >= 10
    const creating = load(async () => serials.push(await bed.createDeviceOf(app)), { pauseMs: 200 })
    await becomesTrue(isOver, 120_000)
    await creating.stop()
    const dead = await bed.deliveriesOf(app, { status: 3 })
    expect(dead.length).toBeGreaterThanOrEqual(10)
    for (const { id, attempts, attemptLog, nextAttemptTime } of dead) {
      expect([id, attempts, attemptLog.length, nextAttemptTime]).toEqual([id, 10, 10, null])
      expect(bed.receiver.at(app.path).filter((received) => received.id === `evt_${id}`)).toHaveLength(10)
    }
    const tried = () => new Set(bed.receiver.at(app.path).map(({ body }) => body.data.deviceNo))
    expect(await becomesTrue(() => serials.every((serial) => tried().has(serial)))).toBe(true)
  },
  200_000,
)

test('with Retry-After, which leaves one attempt a visit, retries and new events have their turns alike', async () => {
  const app = await bed.newEndpoint(answerWith(503, { 'retry-after': '0' }))
  const creating = load(() => bed.createDeviceOf(app), { pauseMs: 20 })
  const attempts = async () => (await bed.deliveriesOf(app)).map((delivery) => delivery.attempts)
  expect(await becomesTrue(async () => Math.max(...(await attempts())) > 2)).toBe(true)
  await creating.stop()
  expect((await attempts()).length).toBeGreaterThan(2)
})

longTest(
  'what waits is counted and shown, with a next attempt that is not past, and is sent when the endpoint is back',
  async () => {
    const app = await unhurried.newEndpoint(answerWith(500))
    await unhurried.createDevicesOf(app, 20)
    // After three failures the endpoint is held: it gets single attempts with pauses between them.
    const isHeld = async () => (await unhurried.pageOf(app)).heldUntil !== null
    // Two looks, with one attempt between them: the more attempts of an event have failed, the longer its next one waits.
    let attempted = 0
    for (let looks = 0; looks < 2; looks++) {
      expect(await becomesTrue(() => unhurried.receiver.at(app.path).length > attempted)).toBe(true)
      expect(await becomesTrue(isHeld)).toBe(true)
      attempted = unhurried.receiver.at(app.path).length
      const before = new Date(Math.floor(Date.now() / 1000) * 1000)
      const page = await unhurried.pageOf(app, { status: 1 })
      expect(page.waitingEvents).toBeGreaterThan(5)
      // The waiting events and the list are read one after the other, and an attempt may happen in between.
      const counted = async () =>
        unhurried.pageOf(app, { status: 1 }).then((now) => Number(now.waitingEvents) + now.total)
      expect(await becomesTrue(async () => (await counted()) === 20)).toBe(true)
      expect(page.waitingSince).not.toBeNull()
      expect(page.callbacks).toBe('on')
      for (const { nextAttemptTime } of page.list) {
        const next = new Date(`${String(nextAttemptTime).replace(' ', 'T')}+08:00`)
        expect(next.getTime()).toBeGreaterThanOrEqual(before.getTime())
      }
    }
    expect(await becomesTrue(isHeld)).toBe(true)
    const metrics = await unhurried.metrics()
    expect(/^forecourt_callback_endpoints\{state="held"\} (\d+)$/m.exec(metrics)?.[1]).toBe('1')
    expect(Number(/^forecourt_callback_waiting_events\{state="held"\} (\d+)$/m.exec(metrics)?.[1])).toBeGreaterThan(5)
    expect(Number(/^forecourt_callback_lag_seconds (\S+)$/m.exec(metrics)?.[1])).toBeGreaterThan(1)
    const { data } = await unhurried.client.operate(getOverview, {})
    expect(data.callbacks).toBe('on')
    expect(data.counts?.eventsWaiting).toBeGreaterThan(5)
    // Saving the configuration again causes an attempt at once.
    const config = { appId: app.appId, operatorName: 'Operator', callbackUrl: unhurried.receiver.url(app.path) }
    await unhurried.client.call(saveThirdPartyConfig, config, { token: app.token })
    const isDone = async () => {
      const { waitingEvents, waitingSince, heldUntil, list } = await unhurried.pageOf(app)
      const isIdle = waitingEvents === 0 && waitingSince === null && heldUntil === null
      return isIdle && list.every(({ status }) => status === 2)
    }
    // On a busy machine more attempts have failed by then, and the next of these are further away.
    expect(await becomesTrue(isDone, 150_000)).toBe(true)
  },
  300_000,
)

test('operators see attempts, waiting and dead deliveries in the metrics, and logs hold no secret', async () => {
  const app = await unhurried.newEndpoint(answerWith(500))
  await bed.createDevicesOf(await bed.newEndpoint(answerWith(410)), 1)
  await unhurried.createDeviceOf(app)
  await unhurried.deliveryOf(app, 1)
  expect(await becomesTrue(() => bed.service.stderr().includes('"msg":"delivery failed'))).toBe(true)
  // The outcome of an attempt is stored shortly after its metric is counted.
  const shows = (of: CallbackBed, line: RegExp) => becomesTrue(async () => line.test(await of.metrics()))
  for (const line of [
    /^forecourt_callback_attempt_duration_seconds_count{outcome="delivered"} [1-9]/m,
    /^forecourt_callback_attempt_duration_seconds_count{outcome="retry"} [1-9]/m,
    /^forecourt_callback_attempt_duration_seconds_count{outcome="dead"} [1-9]/m,
    /^forecourt_deliveries{state="dead"} [1-9]/m,
    /^forecourt_callback_endpoints\{state="stopped"\} 1$/m,
    /^forecourt_callbacks_paused 0$/m,
  ]) {
    expect([line, await shows(bed, line)]).toEqual([line, true])
  }
  expect(await shows(unhurried, /^forecourt_deliveries{state="waiting"} [1-9]/m)).toBe(true)
  for (const { service } of [bed, unhurried]) {
    expect(service.stderr()).not.toMatch(/whsec_|deviceNo|webhook-signature/)
  }
})
