import { afterEach, describe, expect, test } from 'bun:test'
import { findProcess } from '../../src/embedded/processes.ts'
import { Client } from '../kit/client.ts'
import { type Connection, embeddedConnection, postmasterPid, withSql } from '../kit/database.ts'
import { onDisk } from '../kit/folders.ts'
import { ownWorkplace } from '../kit/own-workplace.ts'
import { newApplication, type TestApplication } from '../kit/records.ts'
import { atScale, isLong, randomNumbers, seed } from '../kit/scale.ts'
import type { Service } from '../kit/service.ts'
import { anyMoment, becomesTrue, waitUntil } from '../kit/waits.ts'
import { killAtAnyMoment } from './strikes.ts'
import { type Create, contradictions, stored, totals, Writers } from './writers.ts'

const kills = atScale(1, 20)
/** The limit, if none of the first kills interrupted a write. */
const mostKills = kills * 5
const place = ownWorkplace(onDisk)
const random = randomNumbers(seed)
/** The writers of the running test. */
const atWork: Writers[] = []

afterEach(() => {
  for (const writers of atWork.splice(0)) writers.abandon()
})

/** Kills these processes at a random moment, and waits until they have ended. */
async function killSoon(pids: number[], withinMs: number): Promise<number[]> {
  const killed = await killAtAnyMoment(pids, withinMs)
  await waitUntil(() => pids.every((pid) => findProcess(pid) === undefined))
  return killed
}

/** Follows the creates of one run through its kills, and compares the database with the writers' responses. */
class Ledger {
  readonly app: TestApplication
  readonly writers: Writers
  /** Creates whose response a kill cut off. */
  private readonly lost = new Set<Create>()
  killed = 0
  private readonly before = new Map<Create, string>()
  private checked = 0

  constructor(app: TestApplication, service: Service) {
    this.app = app
    this.writers = new Writers(app, service)
    atWork.push(this.writers)
  }

  /**
   * Waits until the writers work again. In a fifth of the rounds it does not wait, so that the kill interrupts the
   * first requests.
   */
  async untilBusy(): Promise<void> {
    const enough = this.writers.settled.length + 40
    if (random() < 0.8) await becomesTrue(() => this.writers.settled.length > enough)
  }

  /** After a restart, before the writers continue: checks the acknowledged creates, and notes which lost ones exist. */
  async check(connection: Connection): Promise<void> {
    const { appId } = this.app
    const settled = this.writers.settled.slice(this.checked)
    const lost = [...this.writers.pending].filter((create) => create.unknown > 0)
    await withSql(connection, async (sql) => {
      expect(await contradictions(sql, appId, settled), `after kill ${this.killed}`).toEqual([])
      for (const [name, { rows, records, keys }] of await stored(sql, appId, lost)) {
        expect([name, rows, keys, records.length]).toEqual([name, rows, rows, rows])
        const create = lost.find((one) => one.name === name) as Create
        if (records[0] !== undefined && !this.before.has(create)) this.before.set(create, records[0])
      }
    })
    this.checked += settled.length
    for (const create of lost) this.lost.add(create)
    expect(this.writers.wrong).toEqual([])
  }

  /** At the end: every create exists once, nothing else exists, and records that existed after a kill are unchanged. */
  async close(connection: Connection): Promise<void> {
    const { appId } = this.app
    await this.writers.finish()
    const { settled, wrong } = this.writers
    expect(wrong).toEqual([])
    await withSql(connection, async (sql) => {
      expect(await contradictions(sql, appId, settled)).toEqual([])
      expect(await totals(sql, appId)).toEqual({ rows: settled.length, events: settled.length })
    })
    for (const [create, record] of this.before) expect(create.record, create.name).toBe(record)
    // Otherwise no kill interrupted a write.
    expect(this.lost.size, 'answers lost').toBeGreaterThan(this.killed)
  }

  /** Whether enough kills were seen: some before a write's commit, and some between a commit and its response. */
  get isTold(): boolean {
    return this.lost.size > this.killed && this.before.size > 0
  }
}

/** The kill happens at a random moment within this time, while the writers work. */
const writingMs = 100

describe.each([
  { name: 'the server', victims: (service: Service) => [service.process.pid as number] },
  {
    name: 'the server and its database at once',
    victims: (service: Service) => [service.process.pid as number, postmasterPid(service.dataDir)],
  },
])('killing $name', ({ victims }) => {
  test(`${kills} times mid-write loses nothing that was acknowledged, and keys settle the rest`, async () => {
    const dataDir = place.preparedFolder()
    let service = await place.startService({ dataDir })
    const ledger = new Ledger(await newApplication(new Client(service)), service)
    while (ledger.killed < kills || (!ledger.isTold && ledger.killed < mostKills)) {
      await ledger.untilBusy()
      const killed = await killSoon(victims(service), writingMs)
      expect(killed).toEqual(victims(service))
      ledger.killed++
      ledger.writers.close()
      // In a fifth of the rounds, the next start is killed too.
      if (random() < 0.2) {
        const restarting = place.startService({ dataDir }).catch(() => undefined)
        await anyMoment(random, 600)
        for (const { pid } of place.services()) await killSoon([pid], 0)
        await restarting
      }
      service = await place.startService({ dataDir })
      await ledger.check(embeddedConnection(dataDir))
      ledger.writers.open(service)
    }
    await ledger.close(embeddedConnection(dataDir))
    // A few kills may each fall beside the moment between a commit and its answer.
    if (isLong) expect(ledger.isTold, 'lost answers to what had been committed').toBe(true)
    expect(await service.stop()).toBe(0)
  })
})

test(`killing the database under a live server ${kills} times is told as 503, and heals by itself`, async () => {
  const database = await place.startDatabase()
  const statementTimeoutMs = 1000
  const env = { DATABASE_URL: database.url(), FORECOURT_STATEMENT_TIMEOUT_MS: String(statementTimeoutMs) }
  const { service, client } = await place.start({ env })
  const ledger = new Ledger(await newApplication(client), service)
  const probe = () => client.call('getReadiness', {})
  while (ledger.killed < kills) {
    await ledger.untilBusy()
    // Kills the server alone, whose helper processes then end by themselves, or all of them, as the end of a container
    // does.
    const victims = random() < 0.5 ? [database.pid] : database.processes().map(({ pid }) => pid)
    const killed = await killSoon(victims, writingMs)
    expect(killed).toContain(database.pid)
    ledger.killed++
    ledger.writers.close()
    const { status, headers, code, data } = await probe()
    expect([status, code, data.ready, data.checks[0]]).toEqual([503, 50003, false, { name: 'database', ok: false }])
    expect(headers.get('retry-after')).toMatch(/^\d+$/)
    const areTold = () => [...ledger.writers.pending].every((create) => create.unknown > 0)
    expect(await becomesTrue(areTold, statementTimeoutMs + 20_000), 'all told in time').toBe(true)
    await database.start()
    await ledger.check(database.connection)
    ledger.writers.open(service)
    expect(await becomesTrue(async () => (await probe()).status === 200), 'ready again').toBe(true)
    const settled = ledger.writers.settled.length
    const all = [...ledger.writers.pending]
    expect(await becomesTrue(() => all.every((create) => create.record !== undefined)), 'healed').toBe(true)
    expect(ledger.writers.settled.length).toBeGreaterThan(settled)
  }
  await ledger.close(database.connection)
  expect(service.process.exitCode, 'the server lives').toBeNull()
  expect(await service.stop()).toBe(0)
  await database.stop()
})
