import { expect, test } from 'bun:test'
import { createServer } from 'node:net'
import { createDevice } from '../../src/devices/contract.ts'
import { findProcess, goneWithin, type ProcessId, signal } from '../../src/embedded/processes.ts'
import { Client } from '../kit/client.ts'
import { databaseProcesses, embeddedConnection, postmasterPid, withSql } from '../kit/database.ts'
import { ownWorkplace } from '../kit/own-workplace.ts'
import { RawConnection, rawPost } from '../kit/raw-connection.ts'
import { deviceBody, newApplication, type TestApplication } from '../kit/records.ts'
import { atScale, longTest } from '../kit/scale.ts'
import { runServiceToItsEnd, type Service } from '../kit/service.ts'
import { becomesTrue, load, sleep, waitUntil } from '../kit/waits.ts'
import { beginClients } from './stop-clients.ts'

const workers = 3
const place = ownWorkplace()
let service: Service
let client: Client

const dataDir = place.preparedFolder()
service = await start(dataDir)
client = new Client(service)

function start(dataDir: string, env: Record<string, string> = {}): Promise<Service> {
  return place.startService({
    dataDir,
    env: { FORECOURT_WORKERS: String(workers), FORECOURT_PRIVATE_CALLBACKS: 'allow', ...env },
  })
}

const workersOf = (of: Service) => place.workersOf(of).flatMap((pid) => findProcess(pid) ?? [])

/** Each request then opens its own connection, which any worker may accept. */
const onItsOwn = { headers: { connection: 'close' } }

/**
 * Waits until all workers serve and the process that has gone is not among them. Returns false if that takes too long.
 * A request that fails because its connection was the gone process's does not count.
 */
function allServeWithout(gone: ProcessId): Promise<boolean> {
  return becomesTrue(async () => {
    const pids = workersOf(service).map(({ pid }) => pid)
    if (pids.length < workers || pids.includes(gone.pid)) return false
    const answer = await client.call('getReadiness', {}, onItsOwn).catch(() => undefined)
    return answer?.data?.workers.serving === workers
  })
}

/** The number of successful requests of an operation, over all workers. */
async function answered(client: Client, operation: string): Promise<number> {
  const { text } = await client.operate('getMetrics', {}, onItsOwn)
  const line = new RegExp(`^forecourt_requests_total\\{operation="${operation}",code="0"\\} (\\d+)$`, 'm').exec(text)
  return Number(line?.[1] ?? 0)
}

const many = <T>(count: number, make: (index: number) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_, index) => make(index)))

test('it starts as one service: one ready line, one link for the first admin, and all workers serve', async () => {
  const fresh = await start(place.preparedFolder(), { FORECOURT_OPERATOR_KEY: '', FORECOURT_LOG_LEVEL: 'debug' })
  const lines = fresh.stdout().split('\n')
  expect(lines.filter((line) => line.startsWith('Forecourt is ready at '))).toHaveLength(1)
  expect(lines.filter((line) => line.startsWith('Create the first admin account'))).toHaveLength(1)
  expect(fresh.stdout().match(/The application "demo" is ready/g)).toHaveLength(1)
  const pids = workersOf(fresh).map(({ pid }) => pid)
  expect(pids).toHaveLength(workers)
  const toFresh = new Client(fresh)
  const { data } = await toFresh.call('getReadiness', {})
  expect(data).toMatchObject({ ready: true, workers: { serving: workers, wanted: workers } })
  // Connections are spread over all workers.
  await many(100, () => toFresh.call('getHealth', {}, onItsOwn))
  const asked = () => {
    const requests = fresh.stderr().matchAll(/"pid":(\d+),.*"operation":"getHealth"/g)
    return new Set([...requests].map(([, pid]) => Number(pid)))
  }
  // Log lines can arrive later than the responses.
  await becomesTrue(() => asked().size === workers)
  expect(asked()).toEqual(new Set(pids))
  expect(await fresh.stop()).toBe(0)
})

test('metrics are the sum over all workers, whichever is asked', async () => {
  const before = await answered(client, 'getHealth')
  await many(60, () => client.call('getHealth', {}, onItsOwn))
  for (let scrape = 0; scrape < 6; scrape++) expect(await answered(client, 'getHealth')).toBe(before + 60)
  const { text } = await client.operate('getMetrics', {}, onItsOwn)
  for (const once of [/^forecourt_workers 3$/m, /^forecourt_workers_wanted 3$/m, /^forecourt_ready 1$/m]) {
    expect(text).toMatch(once)
  }
  expect(text).toMatch(/^forecourt_build_info\{.*\} 1$/m)
})

test('while a killed worker is away the others answer, another takes its place, and no metric falls', async () => {
  const app = await newApplication(client)
  const killed = workersOf(service)[0] as ProcessId
  const probes = await answered(client, 'getHealth')
  const seen = { created: [] as string[], failed: 0, refused: [] as string[] }
  const creating = load(
    async () => {
      const body = deviceBody(app.appId)
      const answer = await client.call('createDevice', body, { token: app.token, ...onItsOwn }).catch(() => undefined)
      if (answer === undefined) seen.failed++
      else if (answer.code === 0) seen.created.push(body.deviceNo)
      else seen.refused.push(answer.text)
    },
    { loops: 12, pauseMs: 10 },
  )
  await becomesTrue(() => seen.created.length > 50)
  const before = seen.created.length
  signal(killed, 'SIGKILL')
  await waitUntil(() => seen.created.length > before + 50)
  expect(await allServeWithout(killed)).toBe(true)
  await creating.stop()
  // Only connections of the killed worker failed.
  expect(seen.failed).toBeLessThan(100)
  expect(seen.refused).toEqual([])
  expect(await answered(client, 'getHealth')).toBe(probes)
  const pids = workersOf(service).map(({ pid }) => pid)
  expect(pids).toHaveLength(workers)
  expect(pids).not.toContain(killed.pid)
  expect(service.stderr()).toMatch(new RegExp(`"pid":${killed.pid},.*worker exited; starting a replacement`))
  expect(await missing(seen.created, app)).toEqual([])
})

async function missing(serials: string[], { appId }: TestApplication): Promise<string[]> {
  const kept = await withSql(embeddedConnection(dataDir), async (sql) => {
    const rows = await sql`select device_no from device where app_id = ${appId}`
    return new Set(rows.map((row) => row.device_no))
  })
  return serials.filter((serial) => !kept.has(serial))
}

test('one that is told to stop, and the whole service, drop nothing that they took', async () => {
  const app = await newApplication(client)
  for (let round = 0; round < atScale(1, 3); round++) {
    const { seen, all } = beginClients(service, app)
    await becomesTrue(() => seen.created.length > 100)
    for (const worker of workersOf(service).slice(0, atScale(1, workers))) {
      signal(worker, 'SIGTERM')
      expect(await allServeWithout(worker)).toBe(true)
    }
    expect(seen.refused).toBe(0)
    const before = seen.created.length
    const running = workersOf(service)
    expect(running).toHaveLength(workers)
    // A service that has not ended after 9.5 s exits with 1.
    expect((await Promise.all([service.stop(), ...all]))[0], service.stderr()).toBe(0)
    expect(seen.dropped).toEqual([])
    expect(seen.created.length).toBeGreaterThan(before)
    expect(running.filter(({ pid }) => findProcess(pid) !== undefined)).toEqual([])
    expect(databaseProcesses(dataDir)).toEqual([])
    service = await start(dataDir)
    client = new Client(service)
    expect(await missing(seen.created, app)).toEqual([])
    expect((await missing(seen.neverTaken, app)).length).toBe(seen.neverTaken.length)
  }
})

test('a parent that is killed takes its workers with it, and the next start goes on with the database', async () => {
  const running = workersOf(service)
  expect(running).toHaveLength(workers)
  const app = await newApplication(client)
  const connections = await many(6, () => RawConnection.open(service.url))
  await service.kill('SIGKILL')
  for (const worker of running) expect(await goneWithin(worker, 2_000)).toBe(true)
  for (const connection of connections) connection?.close()
  // As with a single process, the database keeps running for the next start (decision 0002).
  const database = findProcess(postmasterPid(dataDir))
  expect(database).toBeDefined()
  service = await start(dataDir)
  client = new Client(service)
  expect(findProcess(postmasterPid(dataDir))).toEqual(database as ProcessId)
  expect((await client.call('createDevice', deviceBody(app.appId), { token: app.token })).code).toBe(0)
})

test('a rate limit holds over all workers, and one connection may use all of it', async () => {
  const limit = 40
  const app = await newApplication(client, { rateLimitPerSecond: limit })
  const empty = (options = onItsOwn) => client.call('createDevice', {}, { token: app.token, ...options })
  // A burst may contain the requests of one second, however the connections are spread.
  const began = performance.now()
  const burst = await many(3 * limit, () => empty())
  const passed = burst.filter(({ code }) => code !== 10007).length
  const most = limit * (1 + (performance.now() - began) / 1000)
  // Each worker may hold an unused fraction of a request, so the sum can fall short by less than one for each worker.
  expect(passed).toBeGreaterThan(limit - workers)
  expect(passed).toBeLessThanOrEqual(most + 1)
  // One request after the other on one connection, which a single worker serves.
  // By then the application may send its whole rate again.
  await sleep(1_500)
  const alone = (await RawConnection.open(service.url)) as RawConnection
  const [head, body] = rawPost(createDevice.path, app.token, {})
  for (let index = 0; index < limit; index++) {
    alone.send(head + body)
    expect((await alone.answer()).status, `request ${index + 1} of ${limit}`).toBe(400)
  }
  alone.close()
})

test('a frozen application is refused at once by all workers', async () => {
  for (let round = 0; round < atScale(3, 10); round++) {
    const app = await newApplication(client)
    const ask = () => client.call('createDevice', {}, { token: app.token, ...onItsOwn })
    expect(new Set((await many(12, ask)).map(({ code }) => code))).toEqual(new Set([10001]))
    expect((await client.operate('freezeApplication', { appId: app.appId, reason: 'test' })).code).toBe(0)
    expect(new Set((await many(12, ask)).map(({ code }) => code))).toEqual(new Set([10005]))
  }
})

longTest('a port that is taken, by a program or by another service’s workers, is one clear sentence', async () => {
  const program = createServer()
  await new Promise<void>((resolve) => program.listen(0, '127.0.0.1', resolve))
  const ports = [(program.address() as { port: number }).port, Number(new URL(service.url).port)]
  for (const port of ports) {
    const env = { FORECOURT_WORKERS: '2', FORECOURT_PORT: String(port) }
    const { code, stdout, stderr } = await runServiceToItsEnd({ dataDir: place.preparedFolder(), env })
    expect(code).toBe(1)
    expect(stdout).toBe('')
    expect(stderr).toBe(
      `Port ${port} on 127.0.0.1 is used by another program. Stop that program, or set FORECOURT_PORT to another port.\n`,
    )
  }
  program.close()
})
