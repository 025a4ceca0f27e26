import { afterAll, beforeAll, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { reportDeviceStates } from '../../src/devices/state/contract.ts'
import { Client, newApplication, type TestApplication } from '../harness.ts'
import { longTest } from '../long.ts'
import { byPresence, PresenceBed, timeoutMs } from './presence-bed.ts'
import { detail, report } from './state-reports.ts'
import {
  anyMoment,
  atScale,
  becomesTrue,
  type OwnDatabase,
  randomNumbers,
  seed,
  sleep,
  sleepUntil,
  tell,
} from './support.ts'

// Reports keep a device online, and bring it back.

const bed = new PresenceBed()
const { each, newDevices, readStateEvents, rowVersion, countSigns, place } = bed
const random = randomNumbers(seed)
const said = `seed ${seed}`
let database: OwnDatabase

beforeAll(async () => {
  await bed.start()
  ;({ database } = bed)
}, 120_000)
afterAll(() => bed.clear(), 60_000)

test('a device that keeps reporting what is known stays online; its row stays as it is and nothing is told', async () => {
  const app = await newApplication(each(0))
  let deviceNo = ''
  // A busy machine may send a report too late, after which the device is rightly offline. Then another device reports.
  for (let devices = 1; deviceNo === ''; devices++) {
    expect(devices, said).toBeLessThan(10)
    const [next = ''] = await newDevices(app, 1)
    if (await keepsReporting(app, next)) deviceNo = next
  }
  // The device is taken offline like any other when its reports stop.
  expect(await becomesTrue(async () => (await readStateEvents([deviceNo])).length === 2)).toBe(true)
})

/**
 * Sends reports of one state through both processes, during four times the timeout. The device's record and row must not
 * change, and no event may be written. Returns false if this machine was too slow for that: a report, or the look at what
 * was written, came later than the timeout after the report before.
 */
async function keepsReporting(app: TestApplication, deviceNo: string): Promise<boolean> {
  let sent = performance.now()
  const isLate = () => performance.now() - sent > timeoutMs
  const first = await report(each(0), app, deviceNo, { onlineStatus: 1, version: '1' })
  const before = await rowVersion(deviceNo)
  const end = sent + 4 * timeoutMs
  for (let index = 0; performance.now() < end; index++) {
    const next = performance.now()
    // With and without members.
    const { record } = await report(each(index), app, deviceNo, index % 3 === 0 ? {} : { onlineStatus: 1 })
    if (isLate()) return false
    sent = next
    expect(record, said).toEqual(first.record)
    await sleep(timeoutMs * 0.3)
  }
  const [after, events] = await Promise.all([rowVersion(deviceNo), readStateEvents([deviceNo])])
  if (isLate()) return false
  expect(after, said).toEqual(before)
  expect(events.length, said).toBe(1)
  return true
}

longTest(
  'a report that changes nothing writes its time, and touches no index while the last sign of life is fresh',
  async () => {
    // A separate database: processes on the shared one take silent devices offline after their short timeout, and a busy
    // machine can delay reports that long.
    const own = await place.findDatabase()
    const service = await place.startService({ env: { DATABASE_URL: own.url() } })
    const client = new Client(service)
    const app = await newApplication(client)
    const serials = await newDevices(app, 20, () => client)
    const state = { onlineStatus: 1, status: 2, version: '3', batteryStatus: 4 }
    for (const deviceNo of serials) await report(client, app, deviceNo, state)
    await own.run(async (sql) => {
      const updates = async () => {
        const [row] = await sql`
        select coalesce(sum(n_tup_upd) filter (where relname = 'device_presence'), 0)::int as written,
          coalesce(sum(n_tup_upd - n_tup_hot_upd) filter (where relname = 'device_presence'), 0)::int as indexed,
          coalesce(sum(n_tup_upd) filter (where relname = 'device'), 0)::int as devices from pg_stat_user_tables`
        return row as { written: number; indexed: number; devices: number }
      }
      // PostgreSQL reports a session's statistics once it is idle.
      expect(await becomesTrue(async () => (await updates()).devices === serials.length)).toBe(true)
      const before = await updates()
      for (const deviceNo of serials) {
        for (const same of [state, {}, { version: '3' }]) await report(client, app, deviceNo, same)
      }
      expect(await becomesTrue(async () => (await updates()).written === before.written + 60)).toBe(true)
      expect(await updates(), said).toEqual({ ...before, written: before.written + 60 })
    })
    await service.stop()
  },
)

longTest(
  'a batch of reports that broke off is carried on by its retry, and what was reported since stays',
  async () => {
    const app = await newApplication(each(0))
    const [taken = '', left = '', before = ''] = await newDevices(app, 3)
    const rows = [
      { deviceNo: taken, version: '1' },
      { deviceNo: left, version: '2' },
      { deviceNo: before, version: '3' },
      { deviceNo: before, version: '4' },
    ]
    const body = JSON.stringify({ reports: rows })
    await report(each(0), app, before, { version: '0' })
    await sleepUntil(Date.now() + 2)
    // The state that a process leaves when it is killed in the middle of a batch: the key without a response, and the
    // first rows.
    const bodyHash = createHash('sha256').update(body).digest('base64')
    await database.run(
      (sql) => sql`
      insert into idempotency_key (app_id, operation, key, body_hash, answer, created_at)
      values (${app.appId}, ${reportDeviceStates.id}, 'broken', ${bodyHash}, '', now())`,
    )
    await sleepUntil(Date.now() + 2)
    await report(each(1), app, taken, { version: '9' })
    const options = { token: app.token, headers: { 'idempotency-key': 'broken' } }
    const answer = await each(0).call(reportDeviceStates, body, options)
    expect(answer.data.results.map(({ data }) => (data as { version: string }).version)).toEqual(['9', '2', '3', '4'])
    const events = await readStateEvents([taken, left, before])
    expect(events.map(({ version }) => version).sort()).toEqual(['0', '2', '3', '4', '9'])
    expect((await each(1).call(reportDeviceStates, body, options)).text).toBe(answer.text)
  },
)

test('a report that arrives when the time is up wins: after its answer the device is online', async () => {
  const app = await newApplication(each(0))
  const serials = await newDevices(app, atScale(50, 150))
  const lost: string[] = []
  const offline = { before: 0, reports: 0 }
  const end = performance.now() + atScale(5000, 8000)
  await Promise.all(
    serials.map(async (deviceNo, index) => {
      while (performance.now() < end) {
        const { record } = await report(each(index), app, deviceNo, { onlineStatus: 1 })
        const shown = await detail(each(index), app, deviceNo)
        if (record.onlineStatus !== 1 || shown.onlineStatus !== 1) lost.push(`${deviceNo}: ${shown.onlineStatus}`)
        // The pause ends around the moment at which the device is taken offline.
        await anyMoment(random, 300, 1150)
        offline.reports++
        if ((await detail(each(index), app, deviceNo)).onlineStatus === 2) offline.before++
      }
    }),
  )
  tell(`${offline.reports} reports at the last moment; ${offline.before} of them came just too late`)
  expect(lost, said).toEqual([])
  expect(offline.before, said).toBeGreaterThan(20)
  expect(offline.before, said).toBeLessThan(offline.reports)
})

longTest('a device that silence took offline is forgotten, and back with whatever it says', async () => {
  const app = await newApplication(each(0))
  const serials = await newDevices(app, 4)
  const [empty = '', versioned = '', known = '', changed = ''] = serials
  for (const deviceNo of serials) await report(each(0), app, deviceNo, { onlineStatus: 1, version: '1' })
  const isOver = async () => byPresence(await readStateEvents(serials)).length === serials.length
  expect(await becomesTrue(isOver)).toBe(true)
  expect(await countSigns(serials), 'signs of life of devices that are offline').toBe(0)
  expect((await report(each(0), app, empty, {})).record.onlineStatus).toBe(1)
  expect((await report(each(1), app, versioned, { version: '2' })).record).toMatchObject({
    onlineStatus: 1,
    version: '2',
  })
  expect((await report(each(0), app, known, { onlineStatus: 2 })).record.onlineStatus).toBe(2)
  expect((await report(each(1), app, changed, { version: '2', onlineStatus: 2 })).record.onlineStatus).toBe(2)
  const told = (await readStateEvents(serials)).map(({ deviceNo, actor }) => `${deviceNo} ${actor.split(':')[0]}`)
  const turns = ['application', 'platform', 'application']
  for (const [deviceNo, count] of [
    [empty, 3],
    [versioned, 3],
    [known, 2],
    [changed, 3],
  ] as const) {
    const ofDevice = turns.slice(0, count).map((actor) => `${deviceNo} ${actor}`)
    expect(
      told.filter((one) => one.startsWith(deviceNo)),
      said,
    ).toEqual(ofDevice)
  }
})
