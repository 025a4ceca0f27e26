import { afterAll, expect, test } from 'bun:test'
import { Client } from '../kit/client.ts'
import { hasOldestPostgres } from '../kit/database.ts'
import { Follower, listed } from '../kit/event-reader.ts'
import { deviceBody, newApplication, newSerial } from '../kit/records.ts'
import { type Host, startPair } from '../kit/replicated.ts'
import { atScale, longTest } from '../kit/scale.ts'
import { becomesTrue, sleep, waitUntil } from '../kit/waits.ts'
import { Workplace } from '../kit/workplace.ts'
import { backAfter, everyOperation, type Operations } from './every-operation.ts'
import { Writers } from './writers.ts'

const place = new Workplace()
const hosts: Host[] = []
afterAll(async () => {
  for (const host of hosts) host.signalAll('SIGKILL')
  await place.clear()
}, 60_000)

const rounds = [
  ...Array<'kill'>(atScale(1, 20)).fill('kill'),
  ...Array<'blip'>(atScale(1, 10)).fill('blip'),
  ...Array<'freeze'>(atScale(1, 5)).fill('freeze'),
]

/** The limit until every operation works again after the promotion, or after the restart if no standby is promoted. */
const backWithinMs = 10_000

/** How long the outage lasts before the test ends it. */
const outageMs = 1500

longTest.skipIf(!hasOldestPostgres)(
  'nothing acknowledged is lost, and all is back within 10 s of a promotion',
  async () => {
    let { primary, standby } = await startPair(place.newFolder())
    hosts.push(primary, standby)
    // The URL names the standby first; `target_session_attrs` must make the service choose the primary.
    const url = `postgres://forecourt@127.0.0.1:${standby.port},127.0.0.1:${primary.port}/postgres?target_session_attrs=read-write`
    const { service, client } = await place.start({ env: { DATABASE_URL: url } })
    const app = await newApplication(client)
    const operations = await everyOperation(client, service, app)
    const writers = new Writers(app, service)
    const followers = [1, 2, 3].map(() => new Follower(() => service.url, app))
    try {
      for (const round of rounds) {
        expect(await writers.goOn(50)).toBe(true)
        if (round === 'freeze') primary.signalAll('SIGSTOP')
        else await primary.kill()
        // The length of the outage is what the round is about.
        await sleep(outageMs)
        if (round === 'blip') await primary.start()
        else standby.promote()
        const back = await backAfter(operations, performance.now())
        expect(
          back.filter(({ ms }) => ms > backWithinMs),
          round,
        ).toEqual([])
        if (round === 'blip') continue
        if (round === 'freeze') await staysOff(primary, operations, writers)
        const former = primary
        primary = standby
        standby = former
        standby.follow(primary)
        await standby.start()
        await primary.waitFor(standby)
      }
      await writers.finish()
      expect(writers.wrong).toEqual([])
      const kept = new Set(await namesIn(primary))
      expect(writers.settled.filter(({ name }) => !kept.has(name)).map(({ name }) => name)).toEqual([])
      const ids = await listed(client, app)
      for (const follower of followers) {
        await becomesTrue(() => follower.ids.at(-1) === ids.at(-1), 20_000)
        follower.isOver = true
        await follower.done
        expect(follower.ids).toEqual(ids)
      }
    } finally {
      for (const follower of followers) follower.isOver = true
      writers.abandon()
    }
    expect(await service.stop()).toBe(0)
  },
  atScale(240_000, 3_600_000),
)

test.skipIf(!hasOldestPostgres)(
  'without its synchronous standby nothing is acknowledged, and reads go on',
  async () => {
    const { primary, standby } = await startPair(place.newFolder())
    hosts.push(primary, standby)
    const url = `postgres://forecourt@127.0.0.1:${primary.port},127.0.0.1:${standby.port}/postgres`
    const { service, client } = await place.start({ env: { DATABASE_URL: url } })
    const app = await newApplication(client)
    const [body, options] = [deviceBody(app.appId), { token: app.token, headers: { 'idempotency-key': newSerial() } }]
    const create = () => client.call('createDevice', body, options)
    const failedChecks = async () => {
      const { data } = (await (await fetch(`${service.url}/readyz`)).json()) as {
        data: { checks: { name: string; ok: boolean }[] }
      }
      return data.checks.filter(({ ok }) => !ok).map(({ name }) => name)
    }
    expect(await failedChecks()).toEqual([])
    await standby.kill()
    expect((await create()).code).toBe(50003)
    expect(await failedChecks()).toEqual(['writable'])
    expect((await client.call('pageDevices', {}, { token: app.token })).status).toBe(200)
    await standby.start()
    await waitUntil(async () => (await create()).status === 200, backWithinMs)
    await waitUntil(async () => (await failedChecks()).length === 0, backWithinMs)
    expect(await namesIn(primary)).toEqual([body.deviceNo])
    expect(await service.stop()).toBe(0)
  },
)

/** docs/high-availability.md promises a second; the limit is longer, because the machine may be busy. */
const oldReadsEndWithinMs = 3_000
const readingMs = 1_200

longTest.skipIf(!hasOldestPostgres)(
  'no process believes a former primary that woke up, was asked late or never told',
  async () => {
    let { primary, standby } = await startPair(place.newFolder())
    hosts.push(primary, standby)
    const url = `postgres://forecourt@127.0.0.1:${standby.port},127.0.0.1:${primary.port}/postgres`
    const env = { DATABASE_URL: url }
    const [reading, writing] = await Promise.all([place.startService({ env }), place.startService({ env })])
    const [reader, writer] = [new Client(reading), new Client(writing)]
    const { appId, token } = await newApplication(writer)
    /** What stands still while the standby is promoted, and how long reads may still return the earlier state then. */
    const rounds: [what: string, send: (name: NodeJS.Signals) => unknown, oldReadsForMs: number][] = [
      ['the former primary', (name) => primary.signalAll(name), 0],
      ['the process', (name) => reading.process.kill(name), 0],
      ['nothing', () => {}, oldReadsEndWithinMs],
    ]
    for (const [name, send, oldReadsForMs] of rounds) {
      const body = deviceBody(appId)
      const { deviceNo } = body
      expect((await writer.call('createDevice', body, { token })).code).toBe(0)
      const read = () => reader.call('getDevice', { deviceNo }, { token })
      // Opens the connections that are used afterwards.
      await Promise.all(Array.from({ length: 8 }, async () => expect((await read()).code).toBe(0)))
      send('SIGSTOP')
      const beganAt = performance.now()
      standby.promote()
      const unbind = () => writer.call('unbindDevice', { deviceNo }, { token })
      expect(await becomesTrue(async () => [0, 20002].includes((await unbind()).code)), name).toBe(true)
      const unboundAt = performance.now()
      // By then the reader may return nothing old any more.
      if (oldReadsForMs === 0) await sleep(Math.max(0, 1_200 - (unboundAt - beganAt)))
      send('SIGCONT')
      const wakeAt = performance.now()
      let [old, last] = [0, 0]
      while (performance.now() - wakeAt < readingMs) {
        const sentAt = performance.now()
        const answers = await Promise.all(Array.from({ length: 4 }, read))
        for (const { code, text } of answers) {
          expect([0, 20002, 50003], text).toContain(code)
          if (code === 0) [old, last] = [old + 1, sentAt - unboundAt]
        }
      }
      expect(last, name).toBeLessThanOrEqual(oldReadsForMs)
      expect(await becomesTrue(async () => (await read()).code === 20002, oldReadsEndWithinMs), name).toBe(true)
      const former = primary
      await former.kill()
      ;[primary, standby] = [standby, former]
      standby.follow(primary)
      await standby.start()
      await primary.waitFor(standby)
    }
    expect(await Promise.all([reading.stop(), writing.stop()])).toEqual([0, 0])
  },
)

/**
 * Expects that a former primary, which continues without knowing of its successor, is neither written to nor read from.
 */
async function staysOff(former: Host, operations: Operations, writers: Writers): Promise<void> {
  former.signalAll('SIGCONT')
  const before = writers.settled.length
  for (let round = 0; round < 5; round++) {
    expect(await writers.goOn(20)).toBe(true)
    const statuses = await Promise.all(Object.values(operations).map(async (operation) => (await operation()).status))
    expect(statuses).toEqual(statuses.map(() => 200))
  }
  const names = writers.settled.slice(before).map(({ name }) => name)
  expect((await namesIn(former)).filter((name) => names.includes(name))).toEqual([])
  await former.kill()
}

async function namesIn(host: Host): Promise<string[]> {
  const rows = await host.ask((sql) => sql`select device_no as name from device union all select site_name from site`)
  return rows.map((row) => row.name)
}
