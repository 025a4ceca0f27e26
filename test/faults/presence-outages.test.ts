import { afterAll, expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { Client } from '../kit/client.ts'
import type { OwnDatabase } from '../kit/database.ts'
import { newApplication, type TestApplication } from '../kit/records.ts'
import { atScale, isLong } from '../kit/scale.ts'
import type { Service } from '../kit/service.ts'
import { load, sleep, standStill, waitUntil } from '../kit/waits.ts'
import { byPresence, PresenceBed } from './presence-bed.ts'
import { detail, registerDevices, report } from './state-reports.ts'

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
const heardSince = async () => {
  const [row] = await bed.database.sql<[{ since: Date }]>`select since from service_hearing`
  return row.since.getTime()
}

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
    await waitUntil(areMarked)
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
})

test('so it has after an outage of the database, and after a pause', async () => {
  const outages: ((database: OwnDatabase) => Promise<unknown>)[] = [
    async (database) => {
      await database.stop()
      await sleep(outageMs)
      await database.start()
    },
    () => standStill((signal) => service.process.kill(signal), outageMs),
    (database) => standStill((signal) => database.signalAll(signal), outageMs),
  ]
  for (const outage of outages.slice(0, atScale(1, 3))) {
    const fleet = await onlineFleet(service)
    const from = Date.now()
    await outage(bed.database)
    await waitUntil(async () => (await fetch(`${service.url}/readyz`)).ok)
    await expectTimeToReport(service, fleet, from)
  }
})

test('there is no break while one of several processes serves, nor by one that is shorter than a tenth of the timeout', async () => {
  const other = await start(12)
  await service.kill('SIGKILL')
  const since = await heardSince()
  const fleet = await onlineFleet(other)
  // Longer than a tenth: the process that is left hears all the while.
  await sleep(1_500)
  // A process after the other, as an upgrade does.
  const next = await start(200)
  expect(await heardSince()).toBe(since)
  if (isLong) {
    const areMarked = async () => byPresence(await bed.readStateEvents(fleet.silent)).length === fleet.silent.length
    await waitUntil(areMarked)
    expect(await heardSince()).toBe(since)
  }
  await other.stop()
  service = next
  // Restarts: a tenth is 20 s now.
  for (const end of [() => service.stop(), () => service.kill('SIGKILL')].slice(0, atScale(1, 2))) {
    await end()
    service = await start(200)
    await sleep(300)
    expect(await heardSince()).toBe(since)
  }
  await service.stop()
})
