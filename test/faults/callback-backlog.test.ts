import { afterAll, expect, test } from 'bun:test'
import { testDelivery } from '../../src/deliveries/contract.ts'
import { createDevice, getDevice } from '../../src/devices/contract.ts'
import { pageRefusals } from '../../src/events/refusal-log/contract.ts'
import { getOverview } from '../../src/service/overview/contract.ts'
import { pageSites, saveSite } from '../../src/sites/contract.ts'
import { deviceBody, newApplication, siteBody } from '../harness.ts'
import { longTest } from '../long.ts'
import { CallbackBed } from './callback-bed.ts'
import { answerWith } from './receiver.ts'
import { becomesTrue, embeddedConnection, staysTrue, withSql } from './support.ts'

// The reports of failing callbacks for operators: in the overview, in the metrics and by `forecourt doctor`.

const bed = await CallbackBed.start()
const { client, service } = bed
afterAll(() => bed.stop(), 120_000)

const overview = async () => (await client.operate(getOverview, {})).data
/** Makes the stored counts look old, so that the next request counts again. */
const forgetCount = () =>
  withSql(
    embeddedConnection(service.dataDir),
    (sql) => sql`update platform_count set counted_at = now() - interval '10 minutes'`,
  )
const sample = async (name: string) => {
  const line = (await bed.metrics()).split('\n').find((line) => line.startsWith(`${name} `))
  return Number(line?.split(' ')[1])
}

test('events wait only where a callback asks for them, and a receiver that fails from the first is named, with why', async () => {
  const app = await bed.newEndpoint(answerWith(500, {}, 'down'), { callbackEvents: ['site.created'] })
  const save = () => client.call(saveSite, siteBody(app.appId), { token: app.token })
  for (let made = 0; made < 4; made++) expect((await save()).code).toBe(0)
  const isHeld = async () => (await sample('forecourt_callback_endpoints{state="held"}')) === 1
  expect(await becomesTrue(isHeld)).toBe(true)

  // The callback does not ask for events of devices, so these are never sent.
  await bed.createDevicesOf(app, 12)
  expect((await save()).code).toBe(0)
  const waiting = async () =>
    (await sample('forecourt_callback_waiting_events{state="held"}')) +
    (await sample('forecourt_callback_waiting_events{state="on"}'))
  expect(await staysTrue(async () => (await waiting()) <= 5, 1_000)).toBe(true)

  // A test is no traffic: that it fails is told to whoever sends it.
  const tested = await client.call(testDelivery, { appId: app.appId }, { token: app.token })
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
  await withSql(
    embeddedConnection(service.dataDir),
    (sql) => sql`
      update callback_endpoint e set held_until = now() + interval '1 hour',
        through_event_id = (select max(id) from event v where v.app_id = e.app_id)`,
  )
  await bed.createDevicesOf(app, 12)
  // The metrics may show a slightly older count at first.
  expect(await becomesTrue(async () => (await waiting()) === 0)).toBe(true)
  expect(await staysTrue(async () => (await waiting()) === 0, 1_000)).toBe(true)
  expect(await sample('forecourt_callback_lag_seconds')).toBe(0)
  await forgetCount()
  expect((await overview()).counts?.eventsWaiting).toBe(0)
})

longTest('a receiver that answers again is no trouble any more', async () => {
  let isDown = true
  const app = await bed.newEndpoint((received, response, socket) =>
    answerWith(isDown ? 500 : 200)(received, response, socket),
  )
  await bed.createDevicesOf(app, 3)
  const isTrouble = async () => {
    await forgetCount()
    return (await overview()).troubles.some(({ appId }: { appId: string }) => appId === app.appId)
  }
  expect(await becomesTrue(isTrouble)).toBe(true)
  isDown = false
  expect(await becomesTrue(async () => !(await isTrouble()))).toBe(true)
})

longTest('what was made a few seconds ago is counted, without anybody having asked', async () => {
  const app = await newApplication(client)
  expect((await client.call(saveSite, siteBody(app.appId), { token: app.token })).code).toBe(0)
  const { total } = (await client.operate(pageSites, {})).data
  expect(await becomesTrue(async () => (await overview()).counts?.sites === total, 15_000)).toBe(true)
})

test('the chart counts the refused writes that the refusal log has, and nothing else', async () => {
  const app = await newApplication(client)
  const refused = async () =>
    (await overview()).minutes.reduce((sum: number, { refusals }: { refusals: number }) => sum + refusals, 0)
  const before = await refused()
  const { token } = app
  expect((await client.call(createDevice, { ...deviceBody(app.appId), deviceNo: '' }, { token })).code).toBe(10001)
  // The log contains no refused reads, and no requests of unknown callers.
  expect((await client.call(getDevice, { deviceNo: 'NONE0001' }, { token })).code).not.toBe(0)
  expect((await client.call(createDevice, deviceBody(app.appId), { token: 'wrong' })).code).not.toBe(0)
  expect(await becomesTrue(async () => (await refused()) > before, 20_000)).toBe(true)
  expect(await refused()).toBe(before + 1)
  const logged = async () => (await client.call(pageRefusals, {}, { token })).data.total
  expect(await becomesTrue(async () => (await logged()) > 0, 20_000)).toBe(true)
  expect(await logged()).toBe(1)
})
