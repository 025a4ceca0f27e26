import { afterAll, expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { Client, newApplication, type Service, type TestApplication } from '../harness.ts'
import { byPresence, PresenceBed } from './presence-bed.ts'
import { detail, registerDevices, report } from './state-reports.ts'
import { atScale, becomesTrue, load, type OwnDatabase, sleep, standStill } from './support.ts'

// The silence of devices that the service could not hear is not theirs.

const seconds = 2
const timeoutMs = seconds * 1000
/** Longer than a device may be silent, and than the watcher takes to find it. */
const outageMs = 1.75 * timeoutMs
const operatorKey = randomBytes(24).toString('hex')
const bed = new PresenceBed()
afterAll(() => bed.clear(), 60_000)

const start = (presenceSeconds = seconds) =>
  bed.place.startService({
    env: {
      DATABASE_URL: bed.database.url(),
      FORECOURT_PRESENCE_SECONDS: String(presenceSeconds),
      FORECOURT_OPERATOR_KEY: operatorKey,
    },
  })

/** Since when the service has heard devices without a break. */
const heardSince = () =>
  bed.database.run(async (sql) => {
    const [row] = await sql<[{ since: Date }]>`select since from service_hearing`
    return row.since.getTime()
  })

interface Fleet {
  app: TestApplication
  silent: string[]
  reporting: string
}

async function onlineFleet(service: Service): Promise<Fleet> {
  const client = new Client(service)
  const app = await newApplication(client)
  const serials = await registerDevices(app, 4, () => client)
  await Promise.all(serials.map((deviceNo) => report(client, app, deviceNo, { onlineStatus: 1 })))
  const [reporting = '', ...silent] = serials
  return { app, silent, reporting }
}

/**
 * After an outage: who reports stays online and has no event; who stays silent is taken offline, no sooner than a whole
 * timeout after the outage.
 */
async function expectTimeToReport(service: Service, { app, silent, reporting }: Fleet, outageFrom: number) {
  const client = new Client(service)
  const reports = load(() => report(client, app, reporting, {}), { pauseMs: timeoutMs / 5 })
  try {
    const areMarked = async () => byPresence(await bed.readStateEvents(silent)).length === silent.length
    expect(await becomesTrue(areMarked)).toBe(true)
  } finally {
    await reports.stop()
  }
  const since = await heardSince()
  expect(since, 'the outage was noticed').toBeGreaterThan(outageFrom + outageMs / 2)
  for (const { at } of byPresence(await bed.readStateEvents(silent))) {
    expect(at, 'taken offline too soon').toBeGreaterThanOrEqual(since + timeoutMs)
  }
  expect(byPresence(await bed.readStateEvents([reporting]))).toEqual([])
  expect((await detail(client, app, reporting)).onlineStatus).toBe(1)
}

let service: Service

test('after a time without a process, each device has a whole timeout to report', async () => {
  bed.database = await bed.place.startDatabase()
  service = await start()
  const ends = [() => service.kill('SIGKILL'), () => service.stop()]
  for (const end of ends.slice(0, atScale(1, 2))) {
    const fleet = await onlineFleet(service)
    const from = Date.now()
    await end()
    await sleep(outageMs)
    service = await start()
    await expectTimeToReport(service, fleet, from)
  }
}, 60_000)

test('so it has after a pause of the process, and after an outage of the database', async () => {
  const outages: ((database: OwnDatabase) => Promise<unknown>)[] = [
    () => standStill((signal) => service.process.kill(signal), outageMs),
    (database) => standStill((signal) => database.signalAll(signal), outageMs),
    async (database) => {
      await database.stop()
      await sleep(outageMs)
      await database.start()
    },
  ]
  for (const outage of outages) {
    const fleet = await onlineFleet(service)
    const from = Date.now()
    await outage(bed.database)
    expect(await becomesTrue(async () => (await fetch(`${service.url}/readyz`)).ok)).toBe(true)
    await expectTimeToReport(service, fleet, from)
  }
}, 90_000)

test('while one of several processes serves, there is no break', async () => {
  // With a tenth of it that a busy machine does not take for a statement.
  const longer = 12
  const other = await start(longer)
  await service.kill('SIGKILL')
  service = other
  const since = await heardSince()
  const fleet = await onlineFleet(service)
  // A process after the other, as an upgrade does.
  const next = await start(longer)
  await service.stop()
  service = next
  const areMarked = async () => byPresence(await bed.readStateEvents(fleet.silent)).length === fleet.silent.length
  expect(await becomesTrue(areMarked)).toBe(true)
  expect(await heardSince()).toBe(since)
  await service.stop()
}, 60_000)

test('restarts that are shorter than a tenth of the timeout hide no silence', async () => {
  // A tenth is then 20 s.
  service = await start(200)
  const since = await heardSince()
  for (const end of [() => service.stop(), () => service.kill('SIGKILL')]) {
    await end()
    service = await start(200)
    await sleep(300)
    expect(await heardSince()).toBe(since)
  }
  await service.stop()
}, 60_000)
