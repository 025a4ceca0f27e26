import { afterAll, describe, expect, test } from 'bun:test'
import { saveThirdPartyConfig } from '../../src/applications/third-party-config/contract.ts'
import { pageDeliveries, replayDeliveries } from '../../src/deliveries/contract.ts'
import { getCallbackHealth } from '../../src/deliveries/health/contract.ts'
import { saveSite } from '../../src/sites/contract.ts'
import { siteBody } from '../harness.ts'
import { CallbackBed, type Endpoint, serialOf } from './callback-bed.ts'
import { type Answer, answerWith } from './receiver.ts'
import { anyMoment, becomes, becomesTrue, embeddedConnection, randomNumbers, seed, tell, withSql } from './support.ts'

// Events that are made while a callback is stopped by a 410 have no delivery: what tells of them, and what sends them.

const bed = await CallbackBed.start()
const { client, receiver } = bed
afterAll(() => bed.stop(), 120_000)

const random = randomNumbers(seed)
const said = `seed ${seed}`
const always = { timeFrom: '2020-01-01 00:00:00', timeTo: '2999-12-31 23:59:59' }
const healthOf = async ({ appId, token }: Endpoint) => (await client.call(getCallbackHealth, { appId }, { token })).data
const pageOf = async ({ token }: Endpoint, query: object = {}) =>
  (await client.call(pageDeliveries, query, { token })).data
const replay = async ({ token }: Endpoint, members: object = {}) => {
  const answer = await client.call(replayDeliveries, { ...always, ...members }, { token })
  expect(answer.code, answer.text).toBe(0)
  return answer.data.replayed
}
const stopsOf = ({ appId }: Endpoint) =>
  withSql(embeddedConnection(bed.service.dataDir), async (sql) => {
    const [row] = await sql`select count(*)::int as n from callback_stop where app_id = ${appId}`
    return row?.n as number
  })

/** An endpoint whose receiver answers 410 while `isGone`. */
async function newSwitch(members: Record<string, unknown> = {}) {
  const state = { isGone: false }
  const answer: Answer = (received, response, socket) =>
    answerWith(state.isGone ? 410 : 200)(received, response, socket)
  const app = await bed.newEndpoint(answer, members)
  const callbackUrl = receiver.url(app.path, answer)
  const config = { appId: app.appId, operatorName: 'Operator', callbackUrl, ...members }
  return {
    app,
    answers410(isGone: boolean): void {
      state.isGone = isGone
    },
    save: () => client.call(saveThirdPartyConfig, config, { token: app.token }),
    /** Makes the receiver stop the endpoint by one event, and waits for the stop. Returns the event's serial. */
    async stop(): Promise<string> {
      state.isGone = true
      const serial = await bed.createDeviceOf(app)
      expect(await becomes('stopped', async () => (await healthOf(app)).state)).toBe('stopped')
      return serial
    },
    async lift(more: Record<string, unknown> = {}): Promise<void> {
      state.isGone = false
      const saved = await client.call(saveThirdPartyConfig, { ...config, ...more }, { token: app.token })
      expect(saved.code, saved.text).toBe(0)
    },
    delivered: async () => (await bed.deliveriesOf(app, { status: 2 })).length,
  }
}

describe.concurrent('events that are made while a callback is stopped', () => {
  test('are told by health and by the list, and are sent by a replay of what is not delivered', async () => {
    const { app, stop, lift, delivered } = await newSwitch()
    expect(await healthOf(app)).toMatchObject({ missedEvents: 0, missedIsExact: true, missedFrom: null })
    const dead = await stop()
    expect((await healthOf(app)).missedEvents).toBe(0)
    const missed = await bed.createDevicesOf(app, 3)
    const told = await healthOf(app)
    expect(told).toMatchObject({ state: 'stopped', missedEvents: 3, missedIsExact: true, waitingEvents: 0 })
    await lift()
    expect(await becomes(2, delivered)).toBe(2)
    // Another stop, whose events are apart.
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
    expect((await client.operate(pageDeliveries, {})).data.missedEvents).toBeNull()

    const before = receiver.at(app.path).length
    expect(await replay(app, { status: 3 })).toBe(1)
    expect((await receiver.waitFor(app.path, before + 1)).slice(before).map(serialOf)).toEqual([dead])
    expect(await becomes(3, delivered)).toBe(3)
    expect(await replay(app, { ...range, isDelivered: false })).toBe(3)
    expect((await receiver.waitFor(app.path, before + 4)).slice(before + 1).map(serialOf)).toEqual(missed)
    expect(await becomes(6, delivered)).toBe(6)
    expect(await healthOf(app)).toMatchObject({ missedEvents: 0, missedFrom: null, missedTo: null })
    expect((await pageOf(app)).missedEvents).toBe(0)
    expect(await replay(app, { isDelivered: false })).toBe(0)
    expect(await stopsOf(app), 'nothing is left to remember').toBe(0)
  })

  test('are sent by a replay in any state too, and not twice', async () => {
    const { app, stop, lift, delivered } = await newSwitch()
    await stop()
    await bed.createDevicesOf(app, 2)
    await lift()
    expect(await becomes(2, delivered)).toBe(2)
    expect(await replay(app)).toBe(5)
    expect(await becomes(5, delivered)).toBe(5)
    expect([(await healthOf(app)).missedEvents, await stopsOf(app)]).toEqual([0, 0])
  })

  test('of several stops are counted and sent by their time', async () => {
    const { app, stop, lift, delivered } = await newSwitch()
    await stop()
    const first = await bed.createDevicesOf(app, 2)
    await lift()
    expect(await becomes(2, delivered)).toBe(2)
    const early = await healthOf(app)
    const afterFirst = performance.now()
    await becomesTrue(() => performance.now() > afterFirst + 1100)
    await stop()
    const second = await bed.createDevicesOf(app, 3)
    expect(await healthOf(app)).toMatchObject({ missedEvents: 5, missedFrom: early.missedFrom })
    await lift()
    expect(await becomes(3, delivered)).toBe(3)
    expect(await healthOf(app)).toMatchObject({ missedEvents: 5, missedFrom: early.missedFrom })
    expect(await stopsOf(app)).toBe(2)
    const count = receiver.at(app.path).length
    const range = { timeFrom: always.timeFrom, timeTo: early.missedTo }
    expect((await pageOf(app, range)).missedEvents).toBe(2)
    // The dead delivery that began the first stop is of this time too.
    expect(await replay(app, { ...range, isDelivered: false })).toBe(3)
    const sent = (await receiver.waitFor(app.path, count + 3)).slice(count).map(serialOf)
    expect(sent).toEqual(expect.arrayContaining(first))
    expect((await healthOf(app)).missedEvents).toBe(3)
    expect(await becomes(6, delivered)).toBe(6)
    expect(await replay(app, { isDelivered: false })).toBe(4)
    const rest = (await receiver.waitFor(app.path, count + 7)).slice(count + 3).map(serialOf)
    expect(rest).toEqual(expect.arrayContaining(second))
    expect(await becomes([0, 0], async () => [(await healthOf(app)).missedEvents, await stopsOf(app)])).toEqual([0, 0])
  })

  test('count only where the callback asks for them, and after its removal too', async () => {
    const members = { callbackEvents: ['device.bound'] }
    const { app, stop, lift } = await newSwitch(members)
    await stop()
    await bed.createDevicesOf(app, 2)
    const site = await client.call(saveSite, siteBody(app.appId), { token: app.token })
    expect(site.code, site.text).toBe(0)
    expect((await healthOf(app)).missedEvents).toBe(2)
    await lift({ callbackUrl: null })
    expect(await healthOf(app)).toMatchObject({ state: 'off' })
    await lift()
    expect((await healthOf(app)).missedEvents).toBe(2)
    const count = receiver.at(app.path).length
    expect(await replay(app, { isDelivered: false })).toBe(3)
    expect(await receiver.waitFor(app.path, count + 3)).toHaveLength(count + 3)
    expect((await healthOf(app)).missedEvents).toBe(0)
  })

  test('are sent in steps where they are many, and a save without a stop remembers nothing', async () => {
    const { app, stop, lift, delivered } = await newSwitch()
    await lift()
    expect(await becomes(2, delivered)).toBe(2)
    expect(await stopsOf(app)).toBe(0)
    await stop()
    await bed.createDeviceOf(app)
    const copies = 700
    await withSql(embeddedConnection(bed.service.dataDir), async (sql) => {
      await sql`
        insert into event (app_id, id, type, time, actor, subject, data)
        select app_id, id - n, type, time, actor, subject, data from (
          select * from event where app_id = ${app.appId} and type = 'device.bound' order by id desc limit 1) e,
          generate_series(1, ${copies}) as n`
    })
    expect((await healthOf(app)).missedEvents).toBe(copies + 1)
    await lift()
    const count = receiver.at(app.path).length
    expect(await replay(app, { isDelivered: false })).toBe(copies + 2)
    const ids = () =>
      new Set(
        receiver
          .at(app.path)
          .slice(count)
          .map(({ id }) => id),
      ).size
    expect(await becomesTrue(() => ids() >= copies + 2, 60_000)).toBe(true)
    expect(await becomes([0, 0], async () => [(await healthOf(app)).missedEvents, await stopsOf(app)])).toEqual([0, 0])
  })

  test('are all told beside saves at any moment: each event has a delivery or is counted', async () => {
    const { app, answers410, save, lift } = await newSwitch()
    // Fewer rounds than stops are remembered.
    for (let round = 0; round < 8; round++) {
      answers410(true)
      const creating = bed.createDevicesOf(app, 40)
      await anyMoment(random, 400)
      const saved = await save()
      expect(saved.code, saved.text).toBe(0)
      answers410(round % 2 === 0)
      await creating
    }
    await lift()
    expect(await becomes(0, async () => (await healthOf(app)).waitingEvents), said).toBe(0)
    const missed = (await healthOf(app)).missedEvents ?? 0
    const without = await withSql(embeddedConnection(bed.service.dataDir), async (sql) => {
      const [row] = await sql`
        select count(*)::int as n from event e where app_id = ${app.appId}
          and not exists (select 1 from delivery d where d.app_id = e.app_id and d.id = e.id)`
      return row?.n
    })
    expect(missed, said).toBe(without)
    tell(`${missed} events were missed in 8 stops at most`)
    await replay(app, { isDelivered: false })
    expect(await becomes([0, 0], async () => [(await healthOf(app)).missedEvents, await stopsOf(app)]), said).toEqual([
      0, 0,
    ])
  })
})
