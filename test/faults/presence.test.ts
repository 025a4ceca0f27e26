import { afterAll, beforeAll, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import type postgres from 'postgres'
import { lockApplication } from '../../src/database/application-lock.ts'
import { createDevice } from '../../src/devices/contract.ts'
import { transferDevice, unbindDevice } from '../../src/devices/ownership/contract.ts'
import { reportDeviceStates } from '../../src/devices/state/contract.ts'
import { Client, deviceBody, newApplication, type Service, type TestApplication } from '../harness.ts'
import { longTest } from '../long.ts'
import { detail, registerDevices, report } from './state-reports.ts'
import {
  atScale,
  becomesTrue,
  distribution,
  type OwnDatabase,
  randomNumbers,
  seed,
  sleep,
  staysTrue,
  tell,
  Workplace,
} from './support.ts'

const place = new Workplace()
const random = randomNumbers(seed)
const said = `seed ${seed}`
const timeoutMs = 1000
/**
 * The time until a silent device is taken offline: the timeout, a fifth of it by which the stored time of the last
 * report may be too old, and the interval of the search.
 */
const silentMs = 1400
/** After this time a silent device is offline, even on a busy machine. */
const surelyMs = silentMs + 2000
/** Far above the usual delay: a limit that separates "late" from "never". */
const mostSilentMs = 10 * silentMs
let database: OwnDatabase
let services: Service[]
let both: Client[]

beforeAll(async () => {
  database = await place.findDatabase()
  services = await Promise.all([1, 2].map(startOne))
  both = services.map((service) => new Client(service))
}, 120_000)
afterAll(() => place.clear(), 60_000)

function startOne(): Promise<Service> {
  return place.startService({ env: { DATABASE_URL: database.url(), FORECOURT_PRESENCE_SECONDS: '1' } })
}

/** Uses the service processes in turn. */
const each = (index: number) => both[index % both.length] as Client

const newDevices = (app: TestApplication, count: number, by = each) => registerDevices(app, count, by)

interface StateEvent {
  deviceNo: string
  appId: string
  actor: string
  at: number
  version: string | null
  change: unknown
}

function readStateEvents(serials: string[]): Promise<StateEvent[]> {
  return database.run(async (sql) => {
    const rows = await sql`
      select device_no, app_id, actor, time, online_status, version, before from state_change
      where device_no in ${sql(serials)} order by id`
    return rows.map((row) => ({
      deviceNo: row.device_no as string,
      appId: row.app_id as string,
      actor: row.actor as string,
      at: (row.time as Date).getTime(),
      version: row.version as string | null,
      change: { onlineStatus: row.online_status, before: JSON.parse(row.before) },
    }))
  })
}

const byPresence = (events: StateEvent[]) => events.filter(({ actor }) => actor === 'platform:presence')

/** The physical version of the device's row, which changes with every update. */
const rowVersion = (deviceNo: string) =>
  database.run(async (sql) => (await sql`select xmin::text, ctid::text from device where device_no = ${deviceNo}`)[0])

const countSigns = (serials: string[]) =>
  database.run(
    async (sql) =>
      (await sql`select from device_presence where device_no in ${sql(serials)} and seen_at is not null`).length,
  )

test('a device that reported and stays silent is taken offline after the time-out, not before, and told once', async () => {
  const app = await newApplication(each(0))
  const serials = await newDevices(app, atScale(80, 200))
  const state = { onlineStatus: 1, runStatus: 1, version: '2.4', batteryEnergy: '80%' }
  const reports = await Promise.all(
    serials.map(async (deviceNo, index) => {
      await sleep(random() * 800)
      return report(each(index), app, deviceNo, state)
    }),
  )
  await becomesTrue(async () => byPresence(await readStateEvents(serials)).length >= serials.length)
  // The same silence causes no second event.
  expect(await staysTrue(async () => byPresence(await readStateEvents(serials)).length === serials.length, 500)).toBe(
    true,
  )
  const events = byPresence(await readStateEvents(serials))
  expect(events.map(({ deviceNo }) => deviceNo).sort(), `${said}: one event each`).toEqual(serials.toSorted())
  const silentFor: number[] = []
  for (const [index, { sentAt, answeredAt, record }] of reports.entries()) {
    const event = events.find(({ deviceNo }) => deviceNo === record.deviceNo) as StateEvent
    expect(event.at - sentAt, `${said}: silent for less than the time-out`).toBeGreaterThanOrEqual(timeoutMs)
    expect(event.at - answeredAt, `${said}: silent for longer than it may be`).toBeLessThan(mostSilentMs)
    silentFor.push(event.at - sentAt)
    expect(event.change).toEqual({ onlineStatus: 2, before: { onlineStatus: 1 } })
    const shown = await detail(each(index), app, record.deviceNo)
    expect<unknown>(shown, 'all else is as it was').toEqual({ ...record, onlineStatus: 2 })
  }
  tell(`${serials.length} devices were taken offline after ${distribution(silentFor)} of silence`)
}, 120_000)

longTest(
  'after a power cut everything that was online is taken offline, each told once',
  async () => {
    const app = await newApplication(each(0))
    // More devices than one search reads, of many applications, as after years of use.
    const count = 11_000
    await database.run(async (sql) => {
      await sql`
      with others as (
        insert into application (app_id, app_name, secret_hash, token_lifetime_seconds, created_at)
        select ${app.appId} || n, 'test', '', 7200, now() from generate_series(1, 20) as n returning app_id
      ), locks as (
        insert into application_lock (app_id) select app_id from others
      ), heads as (
        insert into event_head (app_id) select app_id from others
      ), devices as (
      insert into device (device_no, app_id, device_name, province_code, city_code, district_code, coordinates,
        online_status, bound_at)
      select ${app.appId} || '-' || md5(n::text), ${app.appId} || 1 + n % 20, 'gate', '360000', '360100', '360102', '0,0',
        1, now()
      from generate_series(1, ${count}::int) as n
      returning device_no, app_id, bound_at)
      insert into device_binding (device_no, app_id, bound_at) select device_no, app_id, bound_at from devices`
      await sql`
      insert into device_presence (device_no, app_id, reported_at, seen_at)
      select device_no, app_id, now(), now() - interval '1 hour' from device where starts_with(device_no, ${app.appId})`
      const look = async () => {
        const [row] = await sql`
        select count(*)::int as online from device where starts_with(device_no, ${app.appId}) and online_status = 1`
        return row?.online === 0
      }
      expect(await becomesTrue(look), said).toBe(true)
      await sleep(500)
      const [events] = await sql`
      select count(*)::int as events, count(distinct c.device_no)::int as subjects, count(d.device_no)::int as owned
      from state_change c left join device d on d.device_no = c.device_no and d.app_id = c.app_id
      where actor = 'platform:presence' and starts_with(c.device_no, ${app.appId})`
      expect(events, said).toMatchObject({ events: count, subjects: count, owned: count })
    })
  },
  120_000,
)

test('a device that keeps reporting what is known stays online; its row stays as it is and nothing is told', async () => {
  const app = await newApplication(each(0))
  const [deviceNo = ''] = await newDevices(app, 1)
  const first = await report(each(0), app, deviceNo, { onlineStatus: 1, version: '1' })
  const before = await rowVersion(deviceNo)
  const end = performance.now() + 4 * timeoutMs
  for (let index = 0; performance.now() < end; index++) {
    // Reports through both processes, with and without members.
    const { record } = await report(each(index), app, deviceNo, index % 3 === 0 ? {} : { onlineStatus: 1 })
    expect(record, said).toEqual(first.record)
    await sleep(timeoutMs * 0.6)
  }
  expect(await rowVersion(deviceNo), said).toEqual(before)
  expect((await readStateEvents([deviceNo])).length, said).toBe(1)
  // The device is taken offline like any other when its reports stop.
  expect(await becomesTrue(async () => (await readStateEvents([deviceNo])).length === 2)).toBe(true)
}, 120_000)

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
  120_000,
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
    await sleep(50)
    // The state that a process leaves when it is killed in the middle of a batch: the key without a response, and the
    // first rows.
    const bodyHash = createHash('sha256').update(body).digest('base64')
    await database.run(
      (sql) => sql`
      insert into idempotency_key (app_id, operation, key, body_hash, answer, created_at)
      values (${app.appId}, ${reportDeviceStates.id}, 'broken', ${bodyHash}, '', now())`,
    )
    await sleep(50)
    await report(each(1), app, taken, { version: '9' })
    const options = { token: app.token, headers: { 'idempotency-key': 'broken' } }
    const answer = await each(0).call(reportDeviceStates, body, options)
    expect(answer.data.results.map(({ data }) => (data as { version: string }).version)).toEqual(['9', '2', '3', '4'])
    const events = await readStateEvents([taken, left, before])
    expect(events.map(({ version }) => version).sort()).toEqual(['0', '2', '3', '4', '9'])
    expect((await each(1).call(reportDeviceStates, body, options)).text).toBe(answer.text)
  },
  120_000,
)

test('a device that never reported, or reported that it is offline, stays as it is', async () => {
  const app = await newApplication(each(0))
  const [never = '', offline = ''] = await newDevices(app, 2)
  await report(each(1), app, offline, { onlineStatus: 1 })
  await report(each(0), app, offline, { onlineStatus: 2 })
  expect(await countSigns([never, offline]), 'signs of life of devices that are offline').toBe(0)
  const rows = await Promise.all([never, offline].map(rowVersion))
  const events = await readStateEvents([never, offline])
  expect(events).toHaveLength(2)
  expect(await staysTrue(async () => (await readStateEvents([never, offline])).length === 2, surelyMs), said).toBe(true)
  expect(await Promise.all([never, offline].map(rowVersion)), said).toEqual(rows)
  expect(await readStateEvents([never, offline]), said).toEqual(events)
}, 120_000)

longTest(
  'a device that is unbound meanwhile is told no more, and its next owner’s is not touched',
  async () => {
    const [app, next] = (await Promise.all([newApplication(each(0)), newApplication(each(1))])) as [
      TestApplication,
      TestApplication,
    ]
    const serials = await newDevices(app, 20)
    const isUnboundOnline = async (deviceNo: string, index: number) => {
      await report(each(0), app, deviceNo, { onlineStatus: 1 })
      const answer = await each(index).call(unbindDevice, { deviceNo }, { token: app.token })
      expect(answer.code, answer.text).toBe(0)
      return answer.data.onlineStatus === 1
    }
    const areUnboundOnline = await Promise.all(serials.map(isUnboundOnline))
    expect(await countSigns(serials), 'signs of life that are left').toBe(0)
    // On a busy machine, a device can be taken offline before it is unbound.
    const unbound = serials.filter((_, index) => areUnboundOnline[index])
    expect(unbound.length, said).toBeGreaterThan(1)
    // Half of the unbound devices are bound to another application at once.
    const taken = unbound.slice(unbound.length / 2)
    for (const deviceNo of taken) {
      await each(1).call(createDevice, deviceBody(next.appId, { deviceNo }), { token: next.token })
    }
    const rows = await Promise.all(taken.map(rowVersion))
    const noneIsTaken = async () => byPresence(await readStateEvents(unbound)).length === 0
    expect(await staysTrue(noneIsTaken, surelyMs), said).toBe(true)
    expect(await Promise.all(taken.map(rowVersion)), said).toEqual(rows)
  },
  120_000,
)

longTest(
  'a device that is transferred meanwhile is taken offline in its new owner’s feed only',
  async () => {
    const [app, target] = (await Promise.all([newApplication(each(0)), newApplication(each(1))])) as [
      TestApplication,
      TestApplication,
    ]
    const serials = await newDevices(app, 20)
    const isMovedOnline = async (deviceNo: string, index: number) => {
      await report(each(0), app, deviceNo, { onlineStatus: 1 })
      const body = { deviceNo, targetAppId: target.appId, reason: 'test' }
      return (await each(index).operate(transferDevice, body)).data.onlineStatus === 1
    }
    const areMovedOnline = await Promise.all(serials.map(isMovedOnline))
    // On a busy machine, a device can be taken offline before it is transferred.
    const moved = serials.filter((_, index) => areMovedOnline[index])
    expect(moved.length, said).toBeGreaterThan(0)
    await becomesTrue(async () => byPresence(await readStateEvents(moved)).length >= moved.length)
    const events = byPresence(await readStateEvents(moved))
    expect(events.map(({ appId, deviceNo }) => `${appId} ${deviceNo}`).sort(), said).toEqual(
      moved.map((deviceNo) => `${target.appId} ${deviceNo}`).sort(),
    )
  },
  120_000,
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
        await sleep(1150 + random() * 300)
        offline.reports++
        if ((await detail(each(index), app, deviceNo)).onlineStatus === 2) offline.before++
      }
    }),
  )
  tell(`${offline.reports} reports at the last moment; ${offline.before} of them came just too late`)
  expect(lost, said).toEqual([])
  expect(offline.before, said).toBeGreaterThan(20)
  expect(offline.before, said).toBeLessThan(offline.reports)
}, 120_000)

longTest(
  'a device that silence took offline is forgotten, and back with whatever it says',
  async () => {
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
  },
  120_000,
)

test('looks for silent devices read them by their index, however many devices are online', async () => {
  await database.run(async (sql) => {
    const reads = async () => {
      await sql`select pg_stat_force_next_flush()`
      const [row] = await sql`
        select seq_scan::int as scans, idx_scan::int as look_ups from pg_stat_user_tables
        where relname = 'device_presence'`
      return row as { scans: number; look_ups: number }
    }
    await sql`
      insert into device_presence (device_no, app_id, reported_at, seen_at)
      select 'online ' || n, 'many', now(), now() + interval '1 hour'
      from generate_series(1, ${atScale(20_000, 100_000)}::int) as n`
    await sql`analyze device_presence`
    // Searches that began earlier have ended and written their events.
    await sleep(2000)
    const before = await reads()
    expect(await becomesTrue(async () => (await reads()).look_ups >= before.look_ups + 10), said).toBe(true)
    expect((await reads()).scans, `${said}: readings of the whole table`).toBe(before.scans)
    await sql`delete from device_presence where app_id = 'many'`
  })
}, 120_000)

test('a look that fails again and again is one line of the log', async () => {
  const linesOf = (service: Service) => service.stderr().split('the search for silent devices failed').length - 1
  const before = services.map(linesOf)
  await database.run(async (sql) => {
    const rename = (from: string, to: string) => sql.unsafe(`alter table ${from} rename to ${to}`)
    await rename('device_presence', 'device_presence_away')
    try {
      const isLogged = () => services.every((service, index) => linesOf(service) > (before[index] ?? 0))
      expect(await becomesTrue(isLogged), said).toBe(true)
      const isOneLine = () => services.every((service, index) => linesOf(service) === (before[index] ?? 0) + 1)
      expect(await staysTrue(isOneLine, 3 * silentMs), said).toBe(true)
    } finally {
      await rename('device_presence_away', 'device_presence')
    }
  })
  expect(services.map(linesOf)).toEqual(before.map((lines) => lines + 1))
}, 60_000)

test('when the process that looks for silent devices is killed in the middle, the other one takes over', async () => {
  const app = await newApplication(each(0))
  const serials = await newDevices(app, 50)
  await database.run(async (sql) => {
    // A writer that does not end blocks the process that searches for silent devices in the middle of its transaction.
    await sql`begin`
    // At once: the first device must not become silent before the last one has reported.
    await Promise.all(serials.map((deviceNo) => report(each(0), app, deviceNo, { onlineStatus: 1 })))
    await lockApplication(sql, app.appId)
    let victim: Service | undefined
    expect(
      await becomesTrue(async () => {
        const name = await database.run(nameOfWaiting)
        victim = services.find(({ process }) => name?.endsWith(` ${process.pid}`))
        return victim !== undefined
      }),
      `${said}: somebody looks for silent devices`,
    ).toBe(true)
    await victim?.kill('SIGKILL')
    both = both.filter((client) => client.url !== victim?.url)
    expect(byPresence(await readStateEvents(serials)), said).toEqual([])
    await sql`commit`
  })
  expect(both).toHaveLength(1)
  const isOver = async () => byPresence(await readStateEvents(serials)).length >= serials.length
  expect(await becomesTrue(isOver), said).toBe(true)
  expect(await staysTrue(async () => byPresence(await readStateEvents(serials)).length === serials.length, 500)).toBe(
    true,
  )
  const events = byPresence(await readStateEvents(serials))
  expect(events.map(({ deviceNo }) => deviceNo).sort(), `${said}: one event each`).toEqual(serials.toSorted())
}, 120_000)

/** The name of the connection that searches for silent devices and waits for an application's lock. */
async function nameOfWaiting(sql: postgres.Sql): Promise<string | undefined> {
  const [row] = await sql`
    select application_name as name from pg_stat_activity join pg_locks using (pid)
    where locktype = 'advisory' and granted and wait_event_type = 'Lock' limit 1`
  return row?.name
}
