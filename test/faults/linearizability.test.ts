import { afterAll, expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { Client } from '../kit/client.ts'
import { fakeClock, libfaketime } from '../kit/clock.ts'
import { hasOldestPostgres } from '../kit/database.ts'
import { newApplication, siteBody } from '../kit/records.ts'
import { type Host, startPair } from '../kit/replicated.ts'
import { atScale, longTest, randomNumbers, seed } from '../kit/scale.ts'
import type { Service } from '../kit/service.ts'
import { anyMoment, becomesTrue, sleep, standStill } from '../kit/waits.ts'
import { Workplace } from '../kit/workplace.ts'
import {
  type Asked,
  contradiction,
  describeExchanges,
  type Exchange,
  judge,
  type Model,
  type Told,
} from '../linearizability/checker.ts'
import { serialsOf } from '../linearizability/device-subject.ts'
import { type DeviceAnswer, type DeviceRequest, devices } from '../linearizability/devices.ts'
import { isUnsettled, newPricedSite, PricedSites, readOf } from '../linearizability/price-subject.ts'
import { type PriceAnswer, type PriceRequest, prices } from '../linearizability/prices.ts'
import { Recorder } from '../linearizability/recorder.ts'

const place = new Workplace()
const hosts: Host[] = []
const database = await place.findDatabase()
afterAll(async () => {
  for (const host of hosts) host.signalAll('SIGKILL')
  await place.clear()
}, 60_000)

const random = randomNumbers(seed)
const operatorKey = randomBytes(24).toString('hex')

/** Service processes on one database; a killed one is started again at another address. */
class Processes {
  readonly services: Service[] = []
  private readonly url: string

  constructor(url: string) {
    this.url = url
  }

  async start(more: Record<string, string> = {}): Promise<void> {
    const env = { DATABASE_URL: this.url, FORECOURT_OPERATOR_KEY: operatorKey, ...more }
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

const usual = { seed, patienceMs: 6000, pauseMs: 200 }
type DeviceRecorder = Recorder<DeviceRequest, DeviceAnswer>

async function beginOn(url: string): Promise<{ processes: Processes; recorder: DeviceRecorder }> {
  const processes = new Processes(url)
  await Promise.all([processes.start(), processes.start()])
  const client = new Client(processes.one)
  const apps = await Promise.all(
    Array.from({ length: 3 }, async () => {
      const app = await newApplication(client)
      const sites = Array.from({ length: atScale(60, 600) }, () => ({ ...siteBody(''), appId: undefined }))
      const { data } = await client.call('saveSites', { sites }, app)
      return { ...app, sites: data.results.map((row) => (row.data as { id: number }).id) }
    }),
  )
  const addresses = () => processes.services.map((service) => service.url)
  const recording = { ...usual, addresses, clients: 10, objects: 4, exchangesOfAnObject: 150 }
  return { processes, recorder: new Recorder(serialsOf(apps, operatorKey), recording) }
}

/** Waits for `count` more responses. */
async function goesOn(recorder: DeviceRecorder, count: number, why: string): Promise<void> {
  const before = recorder.answered
  expect(await becomesTrue(() => recorder.answered - before >= count), `answers ${why}`).toBe(true)
}

function expectOrders<State, Request extends Asked, Answer extends Told>(
  model: Model<State, Request, Answer>,
  { histories, replayed, codes }: Recorder<Request, Answer>,
  often: readonly string[],
  moreThan: number,
): void {
  for (const [object, history] of histories) {
    const verdict = judge(model, history)
    const told: readonly Exchange[] = verdict === 'has no order' ? contradiction(model, history) : history
    expect(verdict, `${object}: of ${history.length} exchanges\n${describeExchanges(told)}\n`).toBe('has an order')
  }
  // A run with fewer of these would prove little.
  expect(replayed).toBeGreaterThan(moreThan)
  for (const told of often) expect(codes[told] ?? 0, told).toBeGreaterThan(moreThan)
}

async function expectAnOrder(recorder: DeviceRecorder, client: Client): Promise<void> {
  await recorder.finish()
  const often = ['create 0', 'create 20013', 'unbind 0', 'transfer 0', 'detail 0', 'place 0']
  expectOrders(devices, recorder, often, 10)
  for (const deviceNo of recorder.histories.keys()) {
    const { data } = await client.operate('getDeviceHistory', { deviceNo })
    // Newest first, and no binding begins before the older one has ended.
    const moments = (data?.list ?? []).flatMap(({ boundAt, unboundAt }) => [unboundAt ?? '9999', boundAt])
    expect(moments).toEqual(moments.toSorted().reverse())
  }
}

test('two processes, one of them killed, answer as one that does one request after the other', async () => {
  const { processes, recorder } = await beginOn(database.url())
  await goesOn(recorder, 350, 'before')
  await processes.killOne()
  await goesOn(recorder, 350, 'of the other one')
  await processes.start()
  await goesOn(recorder, 350, 'of both')
  await expectAnOrder(recorder, new Client(processes.one))
})

test('so they do about prices around the moments of changes, one with a wrong clock, one killed', async () => {
  const processes = new Processes(database.url())
  const wrong = existsSync(libfaketime) ? fakeClock('+1h') : {}
  await Promise.all([processes.start(wrong), processes.start()])
  const client = new Client(processes.services.at(-1) as Service)
  const sites = await Promise.all(Array.from({ length: 3 }, () => newPricedSite(client)))
  const subject = new PricedSites(sites)
  const began = 1000 * Math.ceil(Date.now() / 1000)
  const addresses = () => processes.services.map((service) => service.url)
  const recording = { ...usual, addresses, clients: 6, objects: 3, exchangesOfAnObject: Infinity, breatheMs: 40 }
  const recorder = new Recorder<PriceRequest, PriceAnswer>(subject, recording)
  await sleep(atScale(2_500, 20_000))
  await processes.killOne()
  await processes.start()
  await sleep(atScale(2_500, 20_000))
  await recorder.finish()
  for (const { appId } of sites) {
    const history = recorder.histories.get(appId) as Exchange<PriceRequest, PriceAnswer>[]
    history.push(...subject.dues(appId))
    for (let second = began; second + 1000 < Date.now(); second += 1000) {
      if (isUnsettled(second, history)) continue
      const read = await recorder.send(appId, { action: 'read', at: second }, processes.one.url)
      history.push(readOf(second, read as PriceAnswer))
    }
  }
  expectOrders(prices, recorder, ['scheduleTerms 0', 'scheduleRule 0', 'cancel 0', 'cancel 40006', 'undo 0'], 1)
  const ends = await database.sql`
      select string_agg(type, ' ' order by e.id) as told, applied_at is null as is_cancelled from price_change c
      join event e on e.app_id = c.app_id and e.subject = c.id::text and starts_with(type, 'priceChange.')
      where applied_at is not null or cancelled_at is not null group by c.app_id, c.id`
  const expected = ends.map((row) => `priceChange.scheduled priceChange.${row.is_cancelled ? 'cancelled' : 'applied'}`)
  expect(
    ends.map(({ told }) => told),
    'each change ends once',
  ).toEqual(expected)
})

interface Bed {
  processes: Processes
  primary: Host
  standby: Host
}

/** The faults of a service or of its database. After each, two services, a primary and its standby are running. */
const faults: Record<string, (bed: Bed, recorder: DeviceRecorder) => Promise<void>> = {
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
    bed.standby.promote()
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
  bed.standby.promote()
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
  'and so they do whatever is killed, frozen and promoted below them',
  async () => {
    const pair = await startPair(place.newFolder())
    hosts.push(pair.primary, pair.standby)
    const ports = `127.0.0.1:${pair.standby.port},127.0.0.1:${pair.primary.port}`
    const url = `postgres://forecourt@${ports}/postgres?target_session_attrs=read-write`
    const { processes, recorder } = await beginOn(url)
    const bed: Bed = { ...pair, processes }
    for (let turn = 0; turn < turns; turn++) {
      const order = Object.entries(faults).toSorted(() => random() - 0.5)
      for (const [name, happen] of order) {
        await goesOn(recorder, 500, `before: ${name}`)
        await happen(bed, recorder)
      }
    }
    await goesOn(recorder, 500, 'in the end')
    await expectAnOrder(recorder, new Client(processes.one))
  },
  1_200_000,
)
