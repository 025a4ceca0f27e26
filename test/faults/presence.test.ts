import { afterAll, describe, expect, test } from 'bun:test'
import type postgres from 'postgres'
import { lockApplication } from '../../src/database/application-lock.ts'
import { fill } from '../costs/fill.ts'
import { newApplication, type TestApplication } from '../kit/records.ts'
import { atScale, longTest, randomNumbers, seed } from '../kit/scale.ts'
import type { Service } from '../kit/service.ts'
import { anyMoment, becomesTrue, sleep, staysTrue, waitUntil } from '../kit/waits.ts'
import { byPresence, PresenceBed, type StateEvent, timeoutMs } from './presence-bed.ts'
import { detail, report } from './state-reports.ts'

// Reports keep a device online and bring it back; one that is silent is taken offline, by whichever process. Two processes
// take the reports, while the devices also change hands.

const bed = new PresenceBed()
const { each, newDevices, readStateEvents, rowVersion, countSigns } = bed
const random = randomNumbers(seed)
/**
 * The time until a silent device is taken offline: the timeout, a fifth of it by which the stored time of the last
 * report may be too old, and the interval of the search.
 */
const silentMs = 1400
/** After this time a silent device is offline, even on a busy machine. */
const surelyMs = silentMs + 2000
/** Far above the usual delay: a limit that separates "late" from "never". */
const mostSilentMs = 10 * silentMs

await bed.start()
const { database } = bed
afterAll(async () => {
  expect(await database.countDeadlocks()).toBe(0)
  await bed.clear()
}, 60_000)

/** Waits until silence has taken these devices offline, each with one event. */
async function takenOffline(serials: string[]): Promise<StateEvent[]> {
  const read = async () => byPresence(await readStateEvents(serials))
  await becomesTrue(async () => (await read()).length >= serials.length)
  // The same silence causes no second event.
  expect(await staysTrue(async () => (await read()).length === serials.length, 500)).toBe(true)
  const events = await read()
  expect(events.map(({ deviceNo }) => deviceNo).sort()).toEqual(serials.toSorted())
  return events
}

describe.concurrent('a device', () => {
  test('that reported and stays silent is taken offline after the time-out, not before, and told once', async () => {
    const app = await newApplication(each(0))
    const serials = await newDevices(app, atScale(80, 200))
    const state = { onlineStatus: 1, runStatus: 1, version: '2.4', batteryEnergy: '80%' }
    const reports = await Promise.all(
      serials.map(async (deviceNo, index) => {
        await anyMoment(random, 800)
        return report(each(index), app, deviceNo, state)
      }),
    )
    const events = await takenOffline(serials)
    for (const [index, { sentAt, answeredAt, record }] of reports.entries()) {
      const event = events.find(({ deviceNo }) => deviceNo === record.deviceNo) as StateEvent
      expect(event.at - sentAt, 'silent for less than the time-out').toBeGreaterThanOrEqual(timeoutMs)
      expect(event.at - answeredAt, 'silent for longer than it may be').toBeLessThan(mostSilentMs)
      expect(event.change).toEqual({ onlineStatus: 2, before: { onlineStatus: 1 } })
      const shown = await detail(each(index), app, record.deviceNo)
      expect<unknown>(shown, 'all else is as it was').toEqual({ ...record, onlineStatus: 2 })
    }
  })

  test('that never reported, or reported that it is offline, stays as it is', async () => {
    const app = await newApplication(each(0))
    const [never = '', offline = ''] = await newDevices(app, 2)
    await report(each(1), app, offline, { onlineStatus: 1 })
    await report(each(0), app, offline, { onlineStatus: 2 })
    expect(await countSigns([never, offline]), 'signs of life of devices that are offline').toBe(0)
    const rows = await Promise.all([never, offline].map(rowVersion))
    const events = await readStateEvents([never, offline])
    expect(events).toHaveLength(2)
    expect(await staysTrue(async () => (await readStateEvents([never, offline])).length === 2, surelyMs)).toBe(true)
    expect(await Promise.all([never, offline].map(rowVersion))).toEqual(rows)
    expect(await readStateEvents([never, offline])).toEqual(events)
  })

  test('that is transferred meanwhile is taken offline in its new owner’s feed only', async () => {
    const [app, target] = [await newApplication(each(0)), await newApplication(each(1))]
    const serials = await newDevices(app, 20)
    const isMovedOnline = async (deviceNo: string, index: number) => {
      await report(each(0), app, deviceNo, { onlineStatus: 1 })
      const body = { deviceNo, targetAppId: target.appId, reason: 'test' }
      return (await each(index).operate('transferDevice', body)).data.onlineStatus === 1
    }
    const areMovedOnline = await Promise.all(serials.map(isMovedOnline))
    // On a busy machine, a device can be taken offline before it is transferred.
    const moved = serials.filter((_, index) => areMovedOnline[index])
    expect(moved.length).toBeGreaterThan(0)
    const events = await takenOffline(moved)
    expect(new Set(events.map(({ appId }) => appId))).toEqual(new Set([target.appId]))
  })

  test('that keeps reporting what is known stays online; its row stays as it is and nothing is told', async () => {
    const app = await newApplication(each(0))
    let deviceNo = ''
    // A busy machine may send a report too late, after which the device is rightly offline. Then another device reports.
    for (let devices = 1; deviceNo === ''; devices++) {
      expect(devices).toBeLessThan(10)
      const [next = ''] = await newDevices(app, 1)
      if (await keepsReporting(app, next)) deviceNo = next
    }
    // The device is taken offline like any other when its reports stop.
    await waitUntil(async () => (await readStateEvents([deviceNo])).length === 2)
  })
})

/**
 * Sends reports of one state through both processes, during several times the timeout. The device's record and row must not
 * change, and no event may be written. Returns false if this machine was too slow for that: a report, or the look at what
 * was written, came later than the timeout after the report before.
 */
async function keepsReporting(app: TestApplication, deviceNo: string): Promise<boolean> {
  let sent = performance.now()
  const isLate = () => performance.now() - sent > timeoutMs
  const first = await report(each(0), app, deviceNo, { onlineStatus: 1, version: '1' })
  const before = await rowVersion(deviceNo)
  const end = sent + atScale(2.5, 4) * timeoutMs
  for (let index = 0; performance.now() < end; index++) {
    const next = performance.now()
    // With and without members.
    const { record } = await report(each(index), app, deviceNo, index % 3 === 0 ? {} : { onlineStatus: 1 })
    if (isLate()) return false
    sent = next
    expect(record).toEqual(first.record)
    await sleep(timeoutMs * 0.3)
  }
  const [after, events] = await Promise.all([rowVersion(deviceNo), readStateEvents([deviceNo])])
  if (isLate()) return false
  expect(after).toEqual(before)
  expect(events.length).toBe(1)
  return true
}

test('a report that arrives when the time is up wins: after its answer the device is online', async () => {
  const app = await newApplication(each(0))
  const serials = await newDevices(app, atScale(50, 150))
  const lost: string[] = []
  const offline = { before: 0, reports: 0 }
  const end = performance.now() + atScale(3000, 8000)
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
  expect(lost).toEqual([])
  expect(offline.before).toBeGreaterThan(20)
  expect(offline.before).toBeLessThan(offline.reports)
})

longTest('a device that silence took offline is forgotten, and back with whatever it says', async () => {
  const app = await newApplication(each(0))
  const serials = await newDevices(app, 4)
  const [empty = '', versioned = '', known = '', changed = ''] = serials
  for (const deviceNo of serials) await report(each(0), app, deviceNo, { onlineStatus: 1, version: '1' })
  await takenOffline(serials)
  expect(await countSigns(serials), 'signs of life of devices that are offline').toBe(0)
  for (const [deviceNo, state, shown, events] of [
    [empty, {}, 1, 3],
    [versioned, { version: '2' }, 1, 3],
    [known, { onlineStatus: 2 }, 2, 2],
    [changed, { version: '2', onlineStatus: 2 }, 2, 3],
  ] as const) {
    expect((await report(each(0), app, deviceNo, state)).record).toMatchObject({ ...state, onlineStatus: shown })
    const actors = (await readStateEvents([deviceNo])).map(({ actor }) => actor.split(':')[0] ?? '')
    expect(actors).toEqual(['application', 'platform', 'application'].slice(0, events))
  }
})

longTest('after a power cut everything that was online is taken offline, each told once', async () => {
  const app = await newApplication(each(0))
  // More devices than one search reads.
  const count = 11_000
  await database.run(async (sql) => {
    await fill(sql, app, 1, count)
    const mine = sql`app_id = ${app.appId} and starts_with(device_no, 'FILL-')`
    await sql`update device set online_status = 1 where ${mine}`
    await sql`update device_presence set seen_at = now() - interval '1 hour' where ${mine}`
    const areOffline = async () =>
      (await sql`select 1 from device where ${mine} and online_status = 1 limit 1`).length === 0
    await waitUntil(areOffline)
    // The searches that find this device find none of the others again.
    const [later = ''] = await newDevices(app, 1)
    await report(each(0), app, later, { onlineStatus: 1 })
    const isOffline = async () => (await detail(each(0), app, later)).onlineStatus === 2
    await waitUntil(isOffline)
    const [events] = await sql`
      select count(*)::int as events, count(distinct device_no)::int as subjects from state_change
      where actor = 'platform:presence' and ${mine}`
    expect(events).toMatchObject({ events: count - 1, subjects: count - 1 })
  })
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
      'somebody looks for silent devices',
    ).toBe(true)
    await victim?.kill('SIGKILL')
    bed.clients = bed.clients.filter((client) => client.url !== victim?.url)
    expect(byPresence(await readStateEvents(serials))).toEqual([])
    await sql`commit`
  })
  expect(bed.clients).toHaveLength(1)
  await takenOffline(serials)
})

/** The name of the connection that searches for silent devices and waits for an application's lock. */
async function nameOfWaiting(sql: postgres.Sql): Promise<string | undefined> {
  const [row] = await sql`
    select application_name as name from pg_stat_activity join pg_locks using (pid)
    where locktype = 'advisory' and granted and wait_event_type = 'Lock' limit 1`
  return row?.name
}
