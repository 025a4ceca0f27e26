import { afterAll, describe, expect, test } from 'bun:test'
import { getMetrics } from '../../src/service/contract.ts'
import { Client } from '../kit/client.ts'
import type { OwnDatabase } from '../kit/database.ts'
import { onDisk } from '../kit/folders.ts'
import { answerWith, Receiver, verify } from '../kit/receiver.ts'
import { deviceBody, newApplication } from '../kit/records.ts'
import { atScale, longTest, randomNumbers, seed, tell } from '../kit/scale.ts'
import type { Service } from '../kit/service.ts'
import { newSharedDatabase } from '../kit/shared-server.ts'
import { anyMoment, becomesTrue, load, sleep } from '../kit/waits.ts'
import { Workplace } from '../kit/workplace.ts'
import type { Endpoint } from './callback-bed.ts'
import { Striker } from './strikes.ts'

/**
 * The least number of kills. The test goes on until a kill has kept an outcome from being stored, up to `mostKills`.
 */
const kills = atScale(1, 12)
const mostKills = 20
/** A lease lasts 30 s; afterwards another process can use what a killed process had leased. */
const leaseMs = 30_000
const place = new Workplace(onDisk)
const random = randomNumbers(seed)
const said = `seed ${seed}`
const receiver = await Receiver.start()
afterAll(async () => {
  receiver.stop()
  await place.clear()
}, 120_000)

/** Kills a service at a random moment. */
async function killSoon(service: Service): Promise<void> {
  const striker = new Striker()
  await striker.strike(service, false)
  await striker.end()
}

const env = (database: OwnDatabase) => ({ DATABASE_URL: database.url(), FORECOURT_PRIVATE_CALLBACKS: 'allow' })

/** An application with a slow callback, so that a kill nearly always interrupts one. */
async function newEndpoint(client: Client, path: string): Promise<Endpoint> {
  const app = await newApplication(client, { thirdPartyConfig: null })
  const callbackUrl = receiver.url(path, (...arrived) => void setTimeout(() => answerWith(200)(...arrived), 20))
  const body = { appId: app.appId, operatorName: 'Operator', callbackUrl }
  const saved = await client.call('saveThirdPartyConfig', body, { token: app.token })
  return { ...app, path, secret: String(saved.data.callbackSecret) }
}

/** Creates devices until it is stopped, and continues after each kill of the service. */
function createAlong(client: Client, { appId, token }: Endpoint) {
  const create = () => client.call('createDevice', deviceBody(appId), { token }).catch(() => {})
  // No faster than callbacks are sent, so that no backlog builds up.
  return load(create, { pauseMs: 20 })
}

/** The ids of all events of an application, in order and in the form in which its receiver gets them. */
async function expectedOf(database: OwnDatabase, { appId }: Endpoint): Promise<string[]> {
  const rows = await database.run((sql) => sql`select id from event where app_id = ${appId} order by id`)
  return rows.map((row) => `evt_${row.id}`)
}

function hasAll(path: string, expected: string[]): boolean {
  const ids = new Set(receiver.at(path).map(({ id }) => id))
  return expected.every((id) => ids.has(id))
}

/** Each id once, in the order of its first arrival. */
const firsts = (ids: string[]) => [...new Set(ids)]

describe.concurrent('callbacks', () => {
  longTest(
    `arrive at least once each, in order, although their service is killed ${kills} times and more`,
    async () => {
      const database = await place.startDatabase()
      const endpoints: Endpoint[] = []
      let service = await place.startService({ env: env(database) })
      let killed = 0
      for (let hasTaken = false; killed < kills || (!hasTaken && killed < mostKills); killed++) {
        const client = new Client(service)
        // New endpoints for each kill: the earlier ones wait for their leases to end, and are checked at the end.
        const fresh = await Promise.all([0, 1, 2].map((n) => newEndpoint(client, `/kills-${killed}-${n}`)))
        endpoints.push(...fresh)
        const stops = fresh.map((endpoint) => createAlong(client, endpoint))
        await becomesTrue(() => fresh.every(({ path }) => receiver.at(path).length > 5))
        await killSoon(service)
        await Promise.all(stops.map((one) => one.stop()))
        const [told] = await database.run(
          (sql) => sql`
          select count(*)::int as delivered from delivery
          where app_id in ${sql(fresh.map(({ appId }) => appId))} and status = 2`,
        )
        const arrived = fresh.flatMap(({ path }) => firsts(receiver.at(path).map(({ id }) => id)))
        hasTaken ||= arrived.length > told?.delivered
        service = await place.startService({ env: env(database) })
      }
      let doubles = 0
      const deadline = performance.now() + leaseMs + 20_000
      for (const endpoint of endpoints) {
        const expected = await expectedOf(database, endpoint)
        await becomesTrue(() => hasAll(endpoint.path, expected), deadline - performance.now())
        const received = receiver.at(endpoint.path)
        const ids = received.map(({ id }) => id)
        // No event is lost, no other event was sent, and first arrivals are in order.
        expect(firsts(ids), `${said}: ${endpoint.path}`).toEqual(expected)
        doubles += ids.length - expected.length
        for (const id of firsts(ids)) {
          const [one, ...others] = received.filter((callback) => callback.id === id)
          for (const other of others) expect([id, other.text]).toEqual([id, one?.text ?? ''])
        }
        const [last] = received.slice(-1)
        if (last !== undefined) verify(last, endpoint.secret)
      }
      const countAll = async () => {
        const [row] = await database.run(
          (sql) => sql`
          select (select count(*)::int from event where app_id <> '') as events,
            count(*) filter (where status = 2)::int as delivered
          from delivery`,
        )
        return row
      }
      const events = endpoints.reduce((sum, { path }) => sum + new Set(receiver.at(path).map(({ id }) => id)).size, 0)
      tell(`${killed} kills: ${events} events to ${endpoints.length} endpoints, ${doubles} of them twice`)
      const areTaken = () => countAll().then((count) => count?.delivered === count?.events)
      expect(await becomesTrue(areTaken), JSON.stringify(await countAll())).toBe(true)
      // Zero would mean that no kill interrupted a callback.
      expect(doubles, `${said}: callbacks whose outcome a kill took`).toBeGreaterThan(0)
      expect(await service.stop()).toBe(0)
      await database.stop()
    },
  )

  longTest('of two processes come once each, and when one is killed the other goes on within the lease', async () => {
    const database = await place.startDatabase()
    const services = await Promise.all([0, 1].map(() => place.startService({ env: env(database) })))
    const [one, other] = services as [Service, Service]
    const clients = [new Client(one), new Client(other)] as const
    const endpoints = await Promise.all(
      Array.from({ length: 20 }, (_, n) => newEndpoint(clients[n % 2 === 0 ? 0 : 1], `/two-${n}`)),
    )
    // Chance decides which process leases an endpoint first. Both must have sent some callbacks, or the test shows
    // nothing.
    const hasBoth = async () => (await Promise.all(clients.map(deliveredBy))).every((share) => share > 0)
    for (let round = 0; round < 30 || (round < 300 && !(await hasBoth())); round++) {
      // A process keeps an endpoint's lease while there are events. A pause longer than the interval of their
      // searches lets either process lease it next.
      if (round >= 30 && round % 15 === 0) await sleep(5_000)
      const some = endpoints.filter(() => random() < 0.5)
      await Promise.all(
        some.map(({ appId, token }) =>
          Promise.all(clients.map((client) => client.call('createDevice', deviceBody(appId), { token }))),
        ),
      )
      await anyMoment(random, 60)
    }
    for (const endpoint of endpoints) {
      const expected = await expectedOf(database, endpoint)
      await becomesTrue(() => hasAll(endpoint.path, expected))
      expect(
        receiver.at(endpoint.path).map(({ id }) => id),
        `${said}: ${endpoint.path}`,
      ).toEqual(expected)
    }
    const shares = await Promise.all(clients.map(deliveredBy))
    tell(`two processes delivered ${shares.join(' and ')}, none of it twice`)
    for (const share of shares) expect(share, 'what each has delivered').toBeGreaterThan(0)

    const stops = endpoints.map((endpoint) => createAlong(clients[1], endpoint))
    await killSoon(one)
    const killedAt = performance.now()
    await anyMoment(random, 1000)
    await Promise.all(stops.map((one) => one.stop()))
    for (const endpoint of endpoints) {
      const expected = await expectedOf(database, endpoint)
      const isThere = () => hasAll(endpoint.path, expected)
      expect(await becomesTrue(isThere, killedAt + leaseMs + 20_000 - performance.now()), said).toBe(true)
      expect(firsts(receiver.at(endpoint.path).map(({ id }) => id)), `${said}: ${endpoint.path}`).toEqual(expected)
    }
    tell(`the other had taken over everything ${((performance.now() - killedAt) / 1000).toFixed(1)} s after the kill`)
    expect(await other.stop()).toBe(0)
    await database.stop()
  })
})

describe('callbacks', () => {
  longTest('wait for a database that is away, and go on by themselves', async () => {
    const database = await place.startDatabase()
    const service = await place.startService({ env: env(database) })
    const client = new Client(service)
    const endpoints = await Promise.all([0, 1, 2].map((n) => newEndpoint(client, `/away-${n}`)))
    for (let outage = 0; outage < 3; outage++) {
      const stops = endpoints.map((endpoint) => createAlong(client, endpoint))
      const before = endpoints.map(({ path }) => receiver.at(path).length)
      const isBusy = () => endpoints.every(({ path }, n) => receiver.at(path).length > (before[n] ?? 0) + 5)
      expect(await becomesTrue(isBusy), `${said}: busy before outage ${outage}`).toBe(true)
      database.signalAll('SIGKILL')
      await anyMoment(random, 1_500)
      await database.start()
      await anyMoment(random, 600)
      await Promise.all(stops.map((one) => one.stop()))
    }
    for (const endpoint of endpoints) {
      const expected = await expectedOf(database, endpoint)
      await becomesTrue(() => hasAll(endpoint.path, expected))
      expect(firsts(receiver.at(endpoint.path).map(({ id }) => id)), `${said}: ${endpoint.path}`).toEqual(expected)
    }
    expect(service.process.exitCode).toBeNull()
    expect(await service.stop()).toBe(0)
    await database.stop()
  })

  test('that are under way when their service is told to stop end within 2 seconds, and another goes on at once', async () => {
    const database = await newSharedDatabase()
    const service = await place.startService({ env: env(database) })
    const client = new Client(service)
    const silent = await Promise.all([0, 1, 2, 3, 4, 5].map((n) => newEndpoint(client, `/stop-${n}`)))
    const isSettled = async () => {
      const [row] = await database.run((sql) => sql`select count(*)::int as count from delivery where status = 2`)
      return row?.count === silent.length
    }
    expect(await becomesTrue(isSettled)).toBe(true)
    // From now on these receivers do not respond.
    for (const { path } of silent) receiver.url(path, () => {})
    for (const { appId, token } of silent) await client.call('createDevice', deviceBody(appId), { token })
    expect(await becomesTrue(() => silent.every(({ path }) => receiver.at(path).length === 2))).toBe(true)
    for (const { path } of silent) receiver.url(path)
    // A callback without a response would take 15 s, and a service that has not ended after 9.5 s exits with 1.
    expect(await service.stop()).toBe(0)
    const rows = await database.run((sql) => sql`select lease_owner from callback_endpoint`)
    expect(rows.map((row) => row.lease_owner)).toEqual(silent.map(() => null))
    // The abandoned callback was not stored as sent: the next process sends it with the same id, without waiting for a
    // lease.
    const next = await place.startService({ env: env(database) })
    expect(await becomesTrue(() => silent.every(({ path }) => receiver.at(path).length === 3))).toBe(true)
    for (const { path } of silent) {
      const ids = receiver.at(path).map(({ id }) => id)
      expect(ids[2]).toBe(String(ids[1]))
    }
    expect(await next.stop()).toBe(0)
  })
})

/** The number of callbacks that a process counts as delivered. */
async function deliveredBy(client: Client): Promise<number> {
  const headers = { authorization: `Bearer ${client.operatorKey}` }
  const { text } = await client.send<unknown>(getMetrics.path, { headers })
  return Number(/attempt_duration_seconds_count{outcome="delivered"} (\d+)/.exec(text)?.[1] ?? 0)
}
