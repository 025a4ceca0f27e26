import { afterAll, expect, test } from 'bun:test'
import { Client } from '../kit/client.ts'
import type { OwnDatabase } from '../kit/database.ts'
import { onDisk } from '../kit/folders.ts'
import { answerWith, Receiver, verify } from '../kit/receiver.ts'
import { deviceBody, newApplication } from '../kit/records.ts'
import { longTest, randomNumbers, seed } from '../kit/scale.ts'
import type { Service } from '../kit/service.ts'
import { newSharedDatabase } from '../kit/shared-server.ts'
import { anyMoment, becomesTrue, load, sleep, waitUntil } from '../kit/waits.ts'
import { Workplace } from '../kit/workplace.ts'
import type { Endpoint } from './callback-bed.ts'
import { strike } from './strikes.ts'

/** The least number of kills. The test goes on until a kill has kept an outcome from being stored, up to `mostKills`. */
const kills = 12
const mostKills = 20
/** A lease lasts 30 s; afterwards another process can use what a killed process had leased. */
const leaseMs = 30_000
const place = new Workplace(onDisk)
const random = randomNumbers(seed)
const receiver = await Receiver.start()
afterAll(async () => {
  receiver.stop()
  await place.clear()
}, 120_000)

const start = (database: OwnDatabase) =>
  place.startService({ env: { DATABASE_URL: database.url(), FORECOURT_PRIVATE_CALLBACKS: 'allow' } })

/** An application with a slow callback, so that a kill nearly always interrupts one. */
async function newEndpoint(client: Client, path: string): Promise<Endpoint> {
  const app = await newApplication(client, { thirdPartyConfig: null })
  const callbackUrl = receiver.url(path, (...arrived) => void setTimeout(() => answerWith(200)(...arrived), 20))
  const body = { appId: app.appId, operatorName: 'Operator', callbackUrl }
  const saved = await client.call('saveThirdPartyConfig', body, { token: app.token })
  return { ...app, path, secret: String(saved.data.callbackSecret) }
}

const idsAt = (path: string) => receiver.at(path).map(({ id }) => id)
/** Each id once, in the order of its first arrival. */
const firstsAt = (path: string) => [...new Set(idsAt(path))]

/** The ids of all events of an application, in order and in the form in which its receiver gets them. */
async function expectedOf(database: OwnDatabase, { appId }: Endpoint): Promise<string[]> {
  const rows = await database.sql`select id from event where app_id = ${appId} order by id`
  return rows.map((row) => `evt_${row.id}`)
}

/** Waits until every event of the endpoints has arrived. */
async function haveArrived(database: OwnDatabase, endpoints: Endpoint[], withinMs: number): Promise<void> {
  const deadline = performance.now() + withinMs
  for (const endpoint of endpoints) {
    const expected = await expectedOf(database, endpoint)
    const isThere = () => expected.every((id) => firstsAt(endpoint.path).includes(id))
    expect(await becomesTrue(isThere, deadline - performance.now()), endpoint.path).toBe(true)
  }
}

/** How many deliveries of some applications are stored as delivered. */
const storedOf = (database: OwnDatabase, endpoints: Endpoint[]) =>
  database.run(async (sql) => {
    const appIds = endpoints.map(({ appId }) => appId)
    const [row] = await sql`
      select count(*)::int as delivered from delivery where app_id in ${sql(appIds)} and status = 2`
    return row?.delivered as number
  })

longTest('callbacks of two processes come once each, and at least once, in order, whatever is killed', async () => {
  const database = await place.startDatabase()
  const services = await Promise.all([start(database), start(database)])
  const clients = () => services.map((service) => new Client(service))
  /** Creates devices at any process until it is stopped, no faster than callbacks are sent. */
  const createAlong = ({ appId, token }: Endpoint) =>
    load(
      () => {
        const client = clients()[random() < 0.5 ? 0 : 1] as Client
        return client.call('createDevice', deviceBody(appId), { token }).catch(() => {})
      },
      { pauseMs: 20 },
    )
  const newEndpoints = (count: number, name: string) =>
    Promise.all(Array.from({ length: count }, (_, n) => newEndpoint(clients()[n % 2] as Client, `/${name}-${n}`)))

  // A process keeps an endpoint's lease while there are events. A pause longer than the interval of their searches lets
  // either process lease it next; both must have sent some callbacks, or the test shows nothing.
  const quiet = await newEndpoints(20, 'quiet')
  const hasBoth = async () => (await Promise.all(clients().map(deliveredBy))).every((share) => share > 0)
  for (let round = 0; round < 2 || (round < 20 && !(await hasBoth())); round++) {
    const creating = quiet.map(createAlong)
    await sleep(2_000)
    await Promise.all(creating.map((one) => one.stop()))
    await sleep(5_000)
  }
  await haveArrived(database, quiet, 60_000)
  for (const endpoint of quiet) expect(idsAt(endpoint.path)).toEqual(await expectedOf(database, endpoint))
  expect(await hasBoth(), 'each process has delivered some').toBe(true)

  const endpoints: Endpoint[] = []
  let killed = 0
  for (let hasTaken = false; killed < kills || (!hasTaken && killed < mostKills); killed++) {
    // New endpoints for each kill: the earlier ones wait for their leases to end, and are checked at the end.
    const fresh = await newEndpoints(3, `kill-${killed}`)
    endpoints.push(...fresh)
    const creating = fresh.map(createAlong)
    await becomesTrue(() => fresh.every(({ path }) => receiver.at(path).length > 5))
    if (killed % 4 === 3) {
      database.signalAll('SIGKILL')
      await anyMoment(random, 1_500)
      await database.start()
    } else await strike(services[killed % 2] as Service)
    await Promise.all(creating.map((one) => one.stop()))
    const stored = await storedOf(database, fresh)
    hasTaken ||= fresh.flatMap(({ path }) => firstsAt(path)).length > stored
    // The other process takes over at once what a killed one had not leased, and within the lease what it had.
    if (killed % 4 === 2) await haveArrived(database, fresh, leaseMs + 20_000)
    if (killed % 4 !== 3) services[killed % 2] = await start(database)
  }
  await haveArrived(database, endpoints, leaseMs + 20_000)
  let doubles = 0
  for (const endpoint of endpoints) {
    const expected = await expectedOf(database, endpoint)
    // No event is lost, no other event was sent, and first arrivals are in order.
    expect(firstsAt(endpoint.path), endpoint.path).toEqual(expected)
    doubles += idsAt(endpoint.path).length - expected.length
    const texts = new Map(receiver.at(endpoint.path).map(({ id, text }) => [id, text]))
    for (const { id, text } of receiver.at(endpoint.path)) expect([id, texts.get(id)]).toEqual([id, text])
    for (const last of receiver.at(endpoint.path).slice(-1)) verify(last, endpoint.secret)
  }
  const events = endpoints.flatMap(({ path }) => firstsAt(path)).length
  await waitUntil(async () => (await storedOf(database, endpoints)) === events)
  // Zero would mean that no kill interrupted a callback.
  expect(doubles, 'callbacks whose outcome a kill took').toBeGreaterThan(0)
  expect(await Promise.all(services.map((service) => service.stop()))).toEqual([0, 0])
  await database.stop()
})

test('callbacks that are under way when their service is told to stop end within 2 seconds, and another goes on at once', async () => {
  const database = await newSharedDatabase()
  const service = await start(database)
  const client = new Client(service)
  const silent = await Promise.all([0, 1, 2, 3, 4, 5].map((n) => newEndpoint(client, `/stop-${n}`)))
  await waitUntil(async () => (await storedOf(database, silent)) === silent.length)
  // From now on these receivers do not respond.
  for (const { path } of silent) receiver.url(path, () => {})
  for (const { appId, token } of silent) await client.call('createDevice', deviceBody(appId), { token })
  await waitUntil(() => silent.every(({ path }) => receiver.at(path).length === 2))
  for (const { path } of silent) receiver.url(path)
  // A callback without a response would take 15 s, and a service that has not ended after 9.5 s exits with 1.
  expect(await service.stop()).toBe(0)
  const rows = await database.sql`select lease_owner from callback_endpoint`
  expect(rows.map((row) => row.lease_owner)).toEqual(silent.map(() => null))
  // The abandoned callback was not stored as sent: the next process sends it with the same id, without waiting for a
  // lease.
  const next = await start(database)
  await waitUntil(() => silent.every(({ path }) => receiver.at(path).length === 3))
  for (const { path } of silent) expect(idsAt(path)[2]).toBe(String(idsAt(path)[1]))
  expect(await next.stop()).toBe(0)
})

/** The number of callbacks that a process counts as delivered. */
async function deliveredBy(client: Client): Promise<number> {
  const { text } = await client.operate('getMetrics', {})
  return Number(/attempt_duration_seconds_count{outcome="delivered"} (\d+)/.exec(text)?.[1] ?? 0)
}
