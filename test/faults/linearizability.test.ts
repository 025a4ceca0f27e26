import { afterAll, expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { Client, hasOldestPostgres, newApplication, type Service } from '../harness.ts'
import { contradiction, describeExchanges, judge } from '../linearizability/checker.ts'
import { Recorder } from '../linearizability/recorder.ts'
import { longTest } from '../long.ts'
import { type Host, startPair } from './replicated.ts'
import { anyMoment, atScale, becomesTrue, randomNumbers, seed, sleep, standStill, tell, Workplace } from './support.ts'

const place = new Workplace()
const hosts: Host[] = []
afterAll(async () => {
  for (const host of hosts) host.signalAll('SIGKILL')
  await place.clear()
}, 60_000)

const random = randomNumbers(seed)
const operatorKey = randomBytes(24).toString('hex')

/** Two service processes on one database; a killed one is started again at another address. */
class Processes {
  readonly services: Service[] = []
  private readonly url: string

  constructor(url: string) {
    this.url = url
  }

  async start(): Promise<void> {
    const env = { DATABASE_URL: this.url, FORECOURT_OPERATOR_KEY: operatorKey }
    this.services.push(await place.startService({ env }))
  }

  async killOne(): Promise<void> {
    const [one] = this.services.splice(Math.floor(random() * this.services.length), 1)
    await one?.kill('SIGKILL')
  }

  get one(): Service {
    return this.services[Math.floor(random() * this.services.length)] as Service
  }
}

async function beginOn(url: string): Promise<{ processes: Processes; recorder: Recorder }> {
  const processes = new Processes(url)
  await processes.start()
  await processes.start()
  const client = new Client(processes.one)
  const apps = [await newApplication(client), await newApplication(client), await newApplication(client)]
  const recorder = new Recorder({
    addresses: () => processes.services.map((service) => service.url),
    operatorKey,
    apps,
    clients: 10,
    serials: 4,
    exchangesOfASerial: 150,
    seed,
    patienceMs: 6000,
    pauseMs: 200,
  })
  return { processes, recorder }
}

/** Waits for `count` more responses. */
async function goesOn(recorder: Recorder, count: number, why: string): Promise<void> {
  const before = recorder.answered
  expect(await becomesTrue(() => recorder.answered - before >= count), `answers ${why}`).toBe(true)
}

async function expectAnOrder(recorder: Recorder, rounds: number): Promise<void> {
  const began = performance.now()
  await recorder.finish()
  const { answered, unknown, replayed, histories, codes } = recorder
  tell(`${answered} answered (${replayed} replayed), ${unknown} unknown, ${histories.size} serials, ${rounds} faults`)
  tell(JSON.stringify(codes))
  for (const [serial, history] of histories) {
    const verdict = judge(history)
    const told = verdict === 'has no order' ? contradiction(history) : history
    expect(verdict, `${serial}: of ${history.length} exchanges\n${describeExchanges(told)}\n`).toBe('has an order')
  }
  tell(`judged in ${Math.round(performance.now() - began)} ms`)
  // A run with fewer of these would prove little.
  expect(replayed).toBeGreaterThan(10)
  for (const told of ['create 0', 'create 20013', 'unbind 0', 'transfer 0', 'detail 0']) {
    expect(codes[told], told).toBeGreaterThan(10)
  }
}

test(`two processes, one of them killed, answer as one that does one request after the other (seed ${seed})`, async () => {
  const database = await place.findDatabase()
  const { processes, recorder } = await beginOn(database.url())
  await goesOn(recorder, 500, 'before')
  await processes.killOne()
  await goesOn(recorder, 500, 'of the other one')
  await processes.start()
  await goesOn(recorder, 500, 'of both')
  await expectAnOrder(recorder, 1)
})

interface Bed {
  processes: Processes
  primary: Host
  standby: Host
}

/** The faults of a service or of its database. After each, two services, a primary and its standby are running. */
const faults: Record<string, (bed: Bed, recorder: Recorder) => Promise<void>> = {
  'kill a service': async ({ processes }, recorder) => {
    await processes.killOne()
    await goesOn(recorder, 100, 'of the other one')
    await processes.start()
  },
  'freeze a service': async ({ processes }, recorder) => {
    const frozen = processes.one
    await standStill((name) => frozen.process.kill(name), 1000 + random() * 4000)
    await goesOn(recorder, 100, 'after the freeze')
  },
  'freeze the primary': async ({ primary }) => {
    await standStill((name) => primary.signalAll(name), 500 + random() * 8000)
  },
  'kill the primary, and start it again': async ({ primary }) => {
    await primary.kill()
    await anyMoment(random, 2000)
    await primary.start()
  },
  'kill the primary, and promote the standby': async (bed) => {
    await bed.primary.kill()
    await anyMoment(random, 2000)
    await promote(bed)
  },
  'freeze the primary, promote the standby, and let the former primary wake up': async (bed, recorder) => {
    const former = bed.primary
    former.signalAll('SIGSTOP')
    await anyMoment(random, 2000)
    await bed.standby.promote()
    // For a second, reads may still return the former primary's state, because it was not shut down.
    await sleep(1000)
    if (random() < 0.5) await goesOn(recorder, 100, 'of the new primary')
    former.signalAll('SIGCONT')
    await goesOn(recorder, 200, 'beside the former primary')
    await former.kill()
    await follow(bed)
  },
  'freeze the standby, kill the primary, and promote the standby': async (bed) => {
    bed.standby.signalAll('SIGSTOP')
    // Commits wait for the standby, and their changes must stay invisible: they could be lost with the primary.
    await sleep(6000)
    await bed.primary.kill()
    bed.standby.signalAll('SIGCONT')
    await promote(bed)
  },
  'kill the primary and a service, and promote the standby': async (bed) => {
    await Promise.all([bed.primary.kill(), bed.processes.killOne()])
    await promote(bed)
    await bed.processes.start()
  },
}

async function promote(bed: Bed): Promise<void> {
  await bed.standby.promote()
  await follow(bed)
}

/** Makes the former primary the standby of the new one. */
async function follow(bed: Bed): Promise<void> {
  const { primary: former, standby: promoted } = bed
  bed.primary = promoted
  bed.standby = former
  former.follow(promoted)
  await former.start()
  await promoted.waitFor(former)
}

const turns = atScale(1, 4)

longTest.skipIf(!hasOldestPostgres)(
  `and so they do whatever is killed, frozen and promoted below them (seed ${seed})`,
  async () => {
    const pair = await startPair(place.newFolder())
    hosts.push(pair.primary, pair.standby)
    const ports = `127.0.0.1:${pair.standby.port},127.0.0.1:${pair.primary.port}`
    const url = `postgres://forecourt@${ports}/postgres?target_session_attrs=read-write`
    const { processes, recorder } = await beginOn(url)
    const bed: Bed = { ...pair, processes }
    let rounds = 0
    for (let turn = 0; turn < turns; turn++) {
      const order = Object.entries(faults).toSorted(() => random() - 0.5)
      for (const [name, happen] of order) {
        await goesOn(recorder, 500, `before: ${name}`)
        const [answered, unknown] = [recorder.answered, recorder.unknown]
        await happen(bed, recorder)
        tell(`${name}: ${recorder.answered - answered} answered, ${recorder.unknown - unknown} unknown`)
        rounds++
      }
    }
    await goesOn(recorder, 500, 'in the end')
    await expectAnOrder(recorder, rounds)
  },
  1_200_000,
)
