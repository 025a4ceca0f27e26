import { afterAll, beforeAll, expect, test } from 'bun:test'
import type postgres from 'postgres'
import { lockApplication } from '../../src/database/application-lock.ts'
import { createDevice } from '../../src/devices/contract.ts'
import { transferDevice, unbindDevice } from '../../src/devices/ownership/contract.ts'
import { deviceBody, newApplication, type Service, type TestApplication } from '../harness.ts'
import { longTest } from '../long.ts'
import { byPresence, PresenceBed, type StateEvent, timeoutMs } from './presence-bed.ts'
import { detail, report } from './state-reports.ts'
import {
  anyMoment,
  atScale,
  becomesTrue,
  distribution,
  type OwnDatabase,
  randomNumbers,
  seed,
  statisticsAreIn,
  staysTrue,
  tell,
} from './support.ts'

// Devices that are silent are taken offline, by whichever process.

const bed = new PresenceBed()
const { each, newDevices, readStateEvents, rowVersion, countSigns } = bed
const random = randomNumbers(seed)
const said = `seed ${seed}`
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

beforeAll(async () => {
  await bed.start()
  ;({ database } = bed)
}, 120_000)
afterAll(() => bed.clear(), 60_000)

test('a device that reported and stays silent is taken offline after the time-out, not before, and told once', async () => {
  const app = await newApplication(each(0))
  const serials = await newDevices(app, atScale(80, 200))
  const state = { onlineStatus: 1, runStatus: 1, version: '2.4', batteryEnergy: '80%' }
  const reports = await Promise.all(
    serials.map(async (deviceNo, index) => {
      await anyMoment(random, 800)
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
})

longTest('after a power cut everything that was online is taken offline, each told once', async () => {
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
    // The searches that find this device find none of the others again.
    const [later = ''] = await newDevices(app, 1)
    await report(each(0), app, later, { onlineStatus: 1 })
    const isOffline = async () => (await detail(each(0), app, later)).onlineStatus === 2
    expect(await becomesTrue(isOffline), said).toBe(true)
    const [events] = await sql`
      select count(*)::int as events, count(distinct c.device_no)::int as subjects, count(d.device_no)::int as owned
      from state_change c left join device d on d.device_no = c.device_no and d.app_id = c.app_id
      where actor = 'platform:presence' and starts_with(c.device_no, ${app.appId}) and c.device_no <> ${later}`
    expect(events, said).toMatchObject({ events: count, subjects: count, owned: count })
  })
})

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
})

longTest('a device that is unbound meanwhile is told no more, and its next owner’s is not touched', async () => {
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
})

test('a device that is transferred meanwhile is taken offline in its new owner’s feed only', async () => {
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
})

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
    await statisticsAreIn()
    const before = await reads()
    expect(await becomesTrue(async () => (await reads()).look_ups >= before.look_ups + 10), said).toBe(true)
    expect((await reads()).scans, `${said}: readings of the whole table`).toBe(before.scans)
    await sql`delete from device_presence where app_id = 'many'`
  })
})

test('a look that fails again and again is one line of the log', async () => {
  const linesOf = (service: Service) => service.stderr().split('search for devices without reports failed').length - 1
  const before = bed.services.map(linesOf)
  await database.run(async (sql) => {
    const rename = (from: string, to: string) => sql.unsafe(`alter table ${from} rename to ${to}`)
    await rename('device_presence', 'device_presence_away')
    try {
      const isLogged = () => bed.services.every((service, index) => linesOf(service) > (before[index] ?? 0))
      expect(await becomesTrue(isLogged), said).toBe(true)
      const isOneLine = () => bed.services.every((service, index) => linesOf(service) === (before[index] ?? 0) + 1)
      expect(await staysTrue(isOneLine, 3 * silentMs), said).toBe(true)
    } finally {
      await rename('device_presence_away', 'device_presence')
    }
  })
  expect(bed.services.map(linesOf)).toEqual(before.map((lines) => lines + 1))
})

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
        victim = bed.services.find(({ process }) => name?.endsWith(` ${process.pid}`))
        return victim !== undefined
      }),
      `${said}: somebody looks for silent devices`,
    ).toBe(true)
    await victim?.kill('SIGKILL')
    bed.clients = bed.clients.filter((client) => client.url !== victim?.url)
    expect(byPresence(await readStateEvents(serials)), said).toEqual([])
    await sql`commit`
  })
  expect(bed.clients).toHaveLength(1)
  const isOver = async () => byPresence(await readStateEvents(serials)).length >= serials.length
  expect(await becomesTrue(isOver), said).toBe(true)
  expect(await staysTrue(async () => byPresence(await readStateEvents(serials)).length === serials.length, 500)).toBe(
    true,
  )
  const events = byPresence(await readStateEvents(serials))
  expect(events.map(({ deviceNo }) => deviceNo).sort(), `${said}: one event each`).toEqual(serials.toSorted())
})

/** The name of the connection that searches for silent devices and waits for an application's lock. */
async function nameOfWaiting(sql: postgres.Sql): Promise<string | undefined> {
  const [row] = await sql`
    select application_name as name from pg_stat_activity join pg_locks using (pid)
    where locktype = 'advisory' and granted and wait_event_type = 'Lock' limit 1`
  return row?.name
}
