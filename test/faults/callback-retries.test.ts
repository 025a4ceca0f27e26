import { afterAll, expect, test } from 'bun:test'
import { databaseIn } from '../kit/database.ts'
import { answerWith } from '../kit/receiver.ts'
import { deviceBody, newApplication, siteBody } from '../kit/records.ts'
import { longTest } from '../kit/scale.ts'
import { becomesTrue, load, staysTrue, waitUntil } from '../kit/waits.ts'
import { CallbackBed } from './callback-bed.ts'

// Endpoints that fail: what waits, what is tried again, and what operators are told of it in the overview and the metrics.

const [bed, hurried] = await Promise.all([
  CallbackBed.start(),
  // With this scale, three days become 14 seconds and 5 minutes become 15 ms.
  CallbackBed.start({ FORECOURT_CALLBACK_RETRY_SCALE: '0.00005' }),
])
const { client, service } = bed
afterAll(() => Promise.all([bed.stop(), hurried.stop()]), 120_000)

const overview = async () => (await client.operate('getOverview', {})).data
/** Makes the stored counts look old, so that the next request counts again. */
const forgetCount = () =>
  databaseIn(service.dataDir).sql`update platform_count set counted_at = now() - interval '10 minutes'`
const sample = async (name: string) => {
  const line = (await bed.metrics()).split('\n').find((line) => line.startsWith(`${name} `))
  return Number(line?.split(' ')[1])
}

test('events wait only where a callback asks for them, and a receiver that fails from the first is named, with why', async () => {
  const app = await bed.newEndpoint(answerWith(500, {}, 'down'), { callbackEvents: ['site.created'] })
  const save = () => client.call('saveSite', siteBody(app.appId), { token: app.token })
  for (let made = 0; made < 4; made++) expect((await save()).code).toBe(0)
  const isHeld = async () => (await sample('forecourt_callback_endpoints{state="held"}')) === 1
  await waitUntil(isHeld)

  // The callback does not ask for events of devices, so these are never sent.
  await bed.createDevicesOf(app, 12)
  expect((await save()).code).toBe(0)
  const waiting = async () =>
    (await sample('forecourt_callback_waiting_events{state="held"}')) +
    (await sample('forecourt_callback_waiting_events{state="on"}'))
  expect(await staysTrue(async () => (await waiting()) <= 5, 1_000)).toBe(true)

  // A test is no traffic: that it fails is told to whoever sends it.
  const tested = await client.call('testDelivery', { appId: app.appId }, { token: app.token })
  expect(tested.data.status).toBe(3)
  await forgetCount()
  const { counts, troubles } = await overview()
  expect(counts?.callbacksDead).toBe(0)
  expect(await sample('forecourt_deliveries{state="dead"}')).toBe(0)
  // The counts are new: before them, fewer sites and no devices existed.
  expect(counts).toMatchObject({ sites: 5, devices: 12 })
  expect(counts?.eventsWaiting).toBeLessThanOrEqual(5)
  const [trouble] = troubles.filter(({ appId }: { appId: string }) => appId === app.appId)
  expect(trouble).toMatchObject({ isCallbackStopped: false, callbacksDead: 0, callbackFailingReason: 'answered 500' })
  expect(trouble?.callbackFailingSince).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/)

  // Only events of devices follow the last one that was sent. The callback does not ask for them, so no event is
  // waiting and none is late.
  await databaseIn(service.dataDir).sql`
      update callback_endpoint e set held_until = now() + interval '1 hour',
        through_event_id = (select max(id) from event v where v.app_id = e.app_id)`
  await bed.createDevicesOf(app, 12)
  // The metrics may show a slightly older count at first.
  await waitUntil(async () => (await waiting()) === 0)
  expect(await staysTrue(async () => (await waiting()) === 0, 1_000)).toBe(true)
  expect(await sample('forecourt_callback_lag_seconds')).toBe(0)
  await forgetCount()
  expect((await overview()).counts?.eventsWaiting).toBe(0)
})

longTest('each delivery has its ten attempts and dies, and newer events are tried beside it', async () => {
  const app = await hurried.newEndpoint(answerWith(500))
  const serials: string[] = []
  const isOver = async () => (await hurried.deliveriesOf(app, { status: 3 })).length >= 10
  const creating = load(async () => serials.push(await hurried.createDeviceOf(app)), { pauseMs: 200 })
  await becomesTrue(isOver, 120_000)
  await creating.stop()
  const dead = await hurried.deliveriesOf(app, { status: 3 })
  expect(dead.length).toBeGreaterThanOrEqual(10)
  for (const { id, attempts, attemptLog, nextAttemptTime } of dead) {
    expect([id, attempts, attemptLog.length, nextAttemptTime]).toEqual([id, 10, 10, null])
    expect(hurried.receiver.at(app.path).filter((received) => received.id === `evt_${id}`)).toHaveLength(10)
  }
  const tried = () => new Set(hurried.receiver.at(app.path).map(({ body }) => body.data.deviceNo))
  await waitUntil(() => serials.every((serial) => tried().has(serial)))
})

test('with Retry-After, which leaves one attempt a visit, retries and new events have their turns alike', async () => {
  const app = await hurried.newEndpoint(answerWith(503, { 'retry-after': '0' }))
  const creating = load(() => hurried.createDeviceOf(app), { pauseMs: 20 })
  const attempts = async () => (await hurried.deliveriesOf(app)).map((delivery) => delivery.attempts)
  await waitUntil(async () => Math.max(...(await attempts())) > 2)
  await creating.stop()
  expect((await attempts()).length).toBeGreaterThan(2)
})

test('operators see attempts, waiting and dead deliveries in the metrics, and logs hold no secret', async () => {
  await bed.createDeviceOf(await bed.newEndpoint(answerWith(410)))
  await bed.createDeviceOf(await bed.newEndpoint(answerWith(500)))
  await waitUntil(() => service.stderr().includes('"msg":"delivery failed'))
  // The outcome of an attempt is stored shortly after its metric is counted.
  for (const line of [
    /^forecourt_callback_attempt_duration_seconds_count{outcome="delivered"} [1-9]/m,
    /^forecourt_callback_attempt_duration_seconds_count{outcome="retry"} [1-9]/m,
    /^forecourt_callback_attempt_duration_seconds_count{outcome="dead"} [1-9]/m,
    /^forecourt_deliveries{state="dead"} [1-9]/m,
    /^forecourt_deliveries{state="waiting"} [1-9]/m,
    /^forecourt_callback_endpoints\{state="stopped"\} 1$/m,
    /^forecourt_callbacks_paused 0$/m,
  ]) {
    expect([line, await becomesTrue(async () => line.test(await bed.metrics()))]).toEqual([line, true])
  }
  expect(service.stderr()).not.toMatch(/whsec_|deviceNo|webhook-signature/)
})

longTest('a service whose callbacks are paused sends none, says so, and sends all of them later', async () => {
  const { place, receiver } = bed
  const dataDir = place.newFolder()
  const start = (env = {}) => place.start({ dataDir, env: { FORECOURT_PRIVATE_CALLBACKS: 'allow', ...env } })
  const sending = await start()
  const thirdPartyConfig = { operatorName: 'Operator', callbackUrl: receiver.url('/paused') }
  const { appId, token } = await newApplication(sending.client, { thirdPartyConfig })
  await sending.client.call('createDevice', deviceBody(appId), { token })
  await receiver.waitFor('/paused', 2)
  await sending.service.stop()

  const { service, client } = await start({ FORECOURT_CALLBACKS: 'paused' })
  expect((await client.call('getReadiness', {})).data).toMatchObject({ ready: true, callbacks: 'paused' })
  expect((await client.operate('getOverview', {})).data.callbacks).toBe('paused')
  expect((await client.operate('getMetrics', {})).text).toContain('\nforecourt_callbacks_paused 1\n')
  for (let made = 0; made < 3; made++) await client.call('createDevice', deviceBody(appId), { token })
  const always = { timeFrom: '2000-01-01 00:00:00', timeTo: '2999-12-31 23:59:59' }
  expect((await client.call('replayDeliveries', always, { token })).data).toEqual({ replayed: 2 })
  expect((await client.call('testDelivery', {}, { token })).code).toBe(10042)
  const page = async () => (await client.call('pageDeliveries', {}, { token })).data
  expect(await staysTrue(async () => (await page()).waitingEvents === 3, 3_000)).toBe(true)
  const waiting = { status: 1, nextAttemptTime: null }
  expect(await page()).toMatchObject({ callbacks: 'paused', heldUntil: null, list: [waiting, waiting] })
  expect(receiver.at('/paused')).toHaveLength(2)
  await service.stop()

  const again = await start()
  expect((await again.client.call('getReadiness', {})).data.callbacks).toBe('on')
  await receiver.waitFor('/paused', 7)
  expect(new Set(receiver.at('/paused').map(({ id }) => id)).size).toBe(5)
})
