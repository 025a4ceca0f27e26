import { describe, expect, test } from 'bun:test'
import { spawnSync } from 'node:child_process'
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { ProcessId } from '../../src/embedded/processes.ts'
import { type Answer, Client } from '../kit/client.ts'
import { databaseIn, type OwnDatabase } from '../kit/database.ts'
import { ownWorkplace } from '../kit/own-workplace.ts'
import { deviceBody, newApplication, newSerial, siteBody, type TestApplication } from '../kit/records.ts'
import { atScale, tell } from '../kit/scale.ts'
import type { Service } from '../kit/service.ts'
import { newSharedDatabase } from '../kit/shared-server.ts'
import { becomesTrue, sleep, waitUntil } from '../kit/waits.ts'
import { everyOperation, type Operations } from './every-operation.ts'

const place = ownWorkplace()

const statementTimeoutMs = 1000

function serviceOn(database: OwnDatabase, env: Record<string, string> = {}): Promise<Service> {
  const timeout = String(statementTimeoutMs)
  return place.startService({ env: { DATABASE_URL: database.url(), FORECOURT_STATEMENT_TIMEOUT_MS: timeout, ...env } })
}

async function timed<T>(promise: Promise<T>): Promise<{ took: number; answer: T }> {
  const began = performance.now()
  const answer = await promise
  return { took: performance.now() - began, answer }
}

/** One create with an idempotency key, which can be sent repeatedly. */
function keyedDevice(client: Client, app: TestApplication) {
  const body = deviceBody(app.appId)
  const options = { token: app.token, headers: { 'idempotency-key': newSerial('key') } }
  return { deviceNo: body.deviceNo, send: () => client.call('createDevice', body, options) }
}

function worksAgain(client: Client, app: TestApplication, withinMs: number): Promise<boolean> {
  return becomesTrue(async () => (await keyedDevice(client, app).send()).status === 200, withinMs)
}

const parts: { what: string; choose: (processes: ProcessId[], postmaster: number) => ProcessId[] }[] = [
  { what: 'the whole database', choose: (processes) => processes },
  {
    what: 'the server’s backends',
    choose: (processes, postmaster) => processes.filter(({ pid }) => pid !== postmaster),
  },
]

describe.concurrent.each(atScale(parts.slice(0, 1), parts))('while $what stands still', ({ what, choose }) => {
  test('every operation is told 503 in time, and all goes on when it moves again', async () => {
    const database = await place.startDatabase()
    const service = await serviceOn(database)
    const client = new Client(service)
    const app = await newApplication(client)
    const { appId } = app
    const devices = Array.from({ length: 40 }, () => keyedDevice(client, app))
    // These three answer also without the database.
    const { getReadiness, getMetrics, getOverview, ...others } = await everyOperation(client, service, app)
    const operations: Operations = {
      ...others,
      'getThirdPartyConfig with an unknown token': () =>
        client.call('getThirdPartyConfig', { appId }, { token: 'A'.repeat(43) }),
    }
    const stopped = choose(database.processes(), database.pid)
    expect(stopped.length).toBeGreaterThan(3)
    const answers: { name: string; took: number; answer: Answer<unknown> }[] = []
    const ask = async (name: string, operation: () => Promise<Answer<unknown>>) => {
      answers.push({ name, ...(await timed(operation())) })
    }
    for (const { pid } of stopped) process.kill(pid, 'SIGSTOP')
    try {
      const all = Promise.all(Object.entries(operations).map(([name, operation]) => ask(name, operation)))
      // Longer than the service waits on a hung connection, so that it tries new connections as well.
      for (const device of devices) {
        void ask('createDevice with a key', device.send)
        await sleep(100)
      }
      const health = await timed(client.call('getHealth', {}))
      expect([health.answer.status, health.took < 10_000], `/healthz after ${health.took} ms`).toEqual([200, true])
      if (what === 'the whole database') {
        const { answer, took } = await timed(client.call('getReadiness', {}))
        expect(answer.status).toBe(503)
        expect(answer.headers.get('retry-after')).toMatch(/^\d+$/)
        expect(answer.data?.checks ?? [answer.text], '/readyz names its checks').toContainEqual({
          name: 'database',
          ok: false,
        })
        expect(took, '/readyz, in ms').toBeLessThan(20_000)
        // Several in a row: a scrape must not repeat a query that an earlier one still waits for.
        for (let scrape = 0; scrape < 3; scrape++) {
          const { answer, took } = await timed(client.operate('getMetrics', {}))
          expect(answer.text).toMatch(/^forecourt_database_up 0$/m)
          expect(answer.text).toMatch(/^forecourt_ready 0$/m)
          expect(took, '/metrics, in ms').toBeLessThan(5_000)
        }
      }
      await all
      const count = Object.keys(operations).length + devices.length
      expect(await becomesTrue(() => answers.length === count), 'all are answered').toBe(true)
    } finally {
      for (const { pid } of stopped) process.kill(pid, 'SIGCONT')
    }
    expect(await worksAgain(client, app, 10_000), 'healed within 10 s').toBe(true)
    const odd = answers.filter(({ answer }) => answer.status !== 503 || answer.code !== 50003)
    if (what === 'the whole database') expect(odd.map(({ name, answer }) => `${name}: ${answer.text}`)).toEqual([])
    // New connections have new PostgreSQL processes, which may well work.
    else expect(odd.filter(({ answer }) => answer.status >= 500).map(({ answer }) => answer.text)).toEqual([])
    for (const { name, took, answer } of answers) {
      expect(took, `${name} ${answer.status}, in ms`).toBeLessThan(statementTimeoutMs + 20_000)
      if (answer.status === 503) expect(answer.headers.get('retry-after'), name).toMatch(/^\d+$/)
    }
    // A request without a response is repeated with its key, and its device exists once.
    for (const device of devices) {
      expect((await device.send()).status).toBe(200)
      const [row] = await database.sql`
        select (select count(*)::int from device where device_no = ${device.deviceNo}) as rows,
          (select count(*)::int from event where app_id = ${appId} and subject = ${device.deviceNo}) as events`
      expect(row).toMatchObject({ rows: 1, events: 1 })
    }
    for (const [name, operation] of Object.entries(operations)) {
      const wanted = name === 'getThirdPartyConfig with an unknown token' ? 401 : 200
      expect((await operation()).status, name).toBe(wanted)
    }
    expect(await service.stop()).toBe(0)
    await database.stop()
  })
})

/** Mounts a small disk; undefined if the test may not mount one. */
function smallDisk(): string | undefined {
  const disk = join(place.home, 'disk')
  mkdirSync(disk)
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=160m,mode=755', 'tmpfs', disk]).status === 0
  return mounted ? disk : undefined
}

describe.concurrent('a full disk', () => {
  test.skipIf(process.getuid?.() !== 0)('is told as 503, and creates work again when there is room', async () => {
    const disk = smallDisk()
    if (disk === undefined) return tell('no disk can be mounted here: not tested')
    try {
      const env = { FORECOURT_STATEMENT_TIMEOUT_MS: String(statementTimeoutMs) }
      const { service, client } = await place.start({ dataDir: join(disk, 'data'), env })
      const app = await newApplication(client)
      // Leaves room for some more devices only.
      spawnSync('dd', ['if=/dev/zero', `of=${join(disk, 'slack')}`, 'bs=1M', 'count=2'])
      spawnSync('dd', ['if=/dev/zero', `of=${join(disk, 'rest')}`, 'bs=64k'])
      rmSync(join(disk, 'slack'))
      const filler = 'x'.repeat(500)
      const send = () => client.call('createDevice', deviceBody(app.appId, { tag: filler }), { token: app.token })
      const created: string[] = []
      const statuses = new Map<number, number>()
      // The test continues after the first refusal, because the free space still changes.
      let end = performance.now() + 30_000
      while (performance.now() < end) {
        for (const { status, data } of await Promise.all(Array.from({ length: 64 }, send))) {
          statuses.set(status, (statuses.get(status) ?? 0) + 1)
          if (status === 200) created.push(data.deviceNo)
          if (status === 503) end = Math.min(end, performance.now() + 1000)
        }
      }
      expect([...statuses.keys()].filter((status) => status !== 200 && status !== 503)).toEqual([])
      expect(created.length, 'creates before the disk was full').toBeGreaterThan(0)
      expect(statuses.get(503) ?? 0, 'creates that were told that there is no room').toBeGreaterThan(0)
      expect((await client.call('getHealth', {})).status).toBe(200)
      rmSync(join(disk, 'rest'))
      expect(await worksAgain(client, app, 15_000), 'healed within 15 s').toBe(true)
      const rows = await databaseIn(service.dataDir).sql`select device_no from device`
      const kept = new Set(rows.map((row) => row.device_no))
      expect(created.filter((serial) => !kept.has(serial))).toEqual([])
      expect(await service.stop()).toBe(0)
    } finally {
      spawnSync('umount', ['-l', disk])
    }
  })
})

test('with 5 creates allowed to wait, a flood’s surplus is refused at once and the service stays alive', async () => {
  const database = await place.startDatabase()
  const service = await serviceOn(database, {
    FORECOURT_MAX_WAITING_CREATES: '5',
    FORECOURT_STATEMENT_TIMEOUT_MS: '3000',
  })
  const client = new Client(service)
  const app = await newApplication(client)
  // The process keeps the token in memory for 0.9 s after a look-up, and the first create after a pause looks it up
  // again. The flood must wait for its write and not for a look-up.
  const isFresh = async () => {
    // Longer than the look-up that the creates before have begun.
    await sleep(500)
    const began = performance.now()
    for (const { send } of [keyedDevice(client, app), keyedDevice(client, app)]) await send()
    return performance.now() - began < 200
  }
  await waitUntil(isFresh)
  database.signalAll('SIGSTOP')
  try {
    const flood = Array.from({ length: 100 }, () => timed(keyedDevice(client, app).send()))
    const probes: number[] = []
    for (let probe = 0; probe < 10; probe++) {
      const { answer, took } = await timed(client.call('getHealth', {}))
      expect(answer.status).toBe(200)
      probes.push(took)
    }
    const answers = await Promise.all(flood)
    for (const { answer } of answers) {
      expect([answer.status, answer.code]).toEqual([503, 50003])
      expect(answer.headers.get('retry-after')).toMatch(/^\d+$/)
    }
    const waited = answers.filter(({ took }) => took > 2500)
    // Five in the queue, and at most one running batch of other requests.
    expect(waited.length).toBeGreaterThan(0)
    expect(waited.length).toBeLessThanOrEqual(10)
    expect(Math.max(...probes)).toBeLessThan(10_000)
  } finally {
    database.signalAll('SIGCONT')
  }
  expect(await worksAgain(client, app, 10_000), 'healed within 10 s').toBe(true)
  expect(await service.stop()).toBe(0)
  await database.stop()
})

test('a row that the database will not take fails alone, and its neighbours in the batch are written', async () => {
  const database = await newSharedDatabase()
  // A busy machine needs more than the other tests' second for the transactions of a batch that is halved.
  const service = await serviceOn(database, { FORECOURT_STATEMENT_TIMEOUT_MS: '5000' })
  const client = new Client(service)
  const app = await newApplication(client)
  await database.sql`alter table device add check (device_name <> 'poison')`
  await database.sql`alter table site add check (site_name <> 'poison')`
  for (let round = 0; round < 5; round++) {
    const answers = await Promise.all(
      Array.from({ length: 32 }, (_, index) => {
        const name = index % 16 === 7 ? 'poison' : 'good'
        return index < 16
          ? client.call('createDevice', deviceBody(app.appId, { deviceName: name }), { token: app.token })
          : client.call('saveSite', siteBody(app.appId, { siteName: name }), { token: app.token })
      }),
    )
    const told = answers.map(({ status, code }) => `${status} ${code}`)
    expect(told).toEqual(Array.from({ length: 32 }, (_, index) => (index % 16 === 7 ? '500 49999' : '200 0')))
    for (const { text } of answers) expect(text).not.toMatch(/constraint|violates|check|relation/i)
  }
  const [row] = await database.sql`
    select (select count(*)::int from device) as devices, (select count(*)::int from site) as sites,
      (select count(*)::int from event where type in ('device.bound', 'site.created')) as events`
  expect(row).toMatchObject({ devices: 75, sites: 75, events: 150 })
  // Each transaction takes a while: with one for each row, those behind the faulty row would wait for too long.
  await database.run(async (sql) => {
    await sql`
      create function wait() returns trigger language plpgsql
      as 'begin perform pg_sleep(${sql.unsafe(String(statementTimeoutMs / 50 / 1000))}); return null; end'`
    await sql`create trigger wait before insert on device for each statement execute function wait()`
  })
  const devices = Array.from({ length: 100 }, (_, index) => ({
    ...deviceBody(app.appId, { deviceName: index === 30 ? 'poison' : 'good' }),
    appId: undefined,
  }))
  const { data } = await client.call('createDevices', { appId: app.appId, devices }, { token: app.token })
  expect(data.results.map(({ code }) => code)).toEqual(devices.map((_, index) => (index === 30 ? 50003 : 0)))
  expect(await service.stop()).toBe(0)
})
