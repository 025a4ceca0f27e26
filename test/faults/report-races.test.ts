import { afterAll, beforeAll, expect, test } from 'bun:test'
import { transferDevice } from '../../src/devices/ownership/contract.ts'
import { reportDeviceState, reportDeviceStates } from '../../src/devices/state/contract.ts'
import { applyReports } from '../../src/devices/state/routine.ts'
import { reportedValues } from '../../src/devices/state/rules.ts'
import { Client, newApplication, type TestApplication } from '../harness.ts'
import { longTest } from '../long.ts'
import { registerDevices, report } from './state-reports.ts'
import { atScale, becomesTrue, type OwnDatabase, randomNumbers, seed, statisticsAreIn, Workplace } from './support.ts'

// Reports of the same devices to two processes at once, while the devices are also transferred.

const place = new Workplace()
const random = randomNumbers(seed)
let database: OwnDatabase
let both: Client[]

beforeAll(async () => {
  database = await place.findDatabase()
  // With this short timeout, stored times of reports get old quickly, so that both tables are written all the time.
  const env = { DATABASE_URL: database.url(), FORECOURT_PRESENCE_SECONDS: '1' }
  const services = await Promise.all([place.startService({ env }), place.startService({ env })])
  both = services.map((service) => new Client(service))
}, 120_000)
afterAll(() => place.clear(), 60_000)

/** Uses the service processes in turn. */
const each = (index: number) => both[index % both.length] as Client

longTest(
  'changes, signs of life and times of reports of the same devices never wait for each other in a circle',
  async () => {
    const app = await newApplication(each(0))
    const serials = await registerDevices(app, 40, each)
    for (const deviceNo of serials) await report(each(0), app, deviceNo, { onlineStatus: 1, version: '0' })
    const end = performance.now() + atScale(3000, 20_000)
    let sent = 0
    await Promise.all(
      Array.from({ length: 8 }, async (_, index) => {
        while (performance.now() < end) {
          const reports = serials
            .filter(() => random() < 0.5)
            .map((deviceNo) => ({
              deviceNo,
              ...(random() < 0.5 && { version: String(sent++ % 3) }),
              ...(random() < 0.3 && { reportTime: new Date().toISOString() }),
            }))
          if (reports.length === 0) continue
          const answer = await each(index).call(reportDeviceStates, { reports }, { token: app.token })
          expect(answer.data.results.filter(({ code }) => code !== 0)).toEqual([])
        }
      }),
    )
    await statisticsAreIn()
    const [row] = await database.run(
      (sql) => sql<[{ deadlocks: number }]>`
      select deadlocks::int as deadlocks from pg_stat_database where datname = current_database()`,
    )
    expect(row.deadlocks, `seed ${seed}`).toBe(0)
  },
)

test('a first report of a device that leaves meanwhile leaves nothing behind, which would keep the device from coming back', async () => {
  const [first, second] = await Promise.all([newApplication(each(0)), newApplication(each(0))])
  const [deviceNo = ''] = await registerDevices(first, 1, each)
  const transfer = (target: TestApplication) =>
    each(1).operate(transferDevice, { deviceNo, targetAppId: target.appId, reason: 'sold' })
  await database.run(async (sql) => {
    // Another writer of the same row, which does not end, makes the report wait after it has read the device.
    await sql`begin`
    await sql`insert into device_presence (app_id, device_no, reported_at) values (${first.appId}, ${deviceNo}, now())`
    const reporting = each(0).call(reportDeviceState, { deviceNo, onlineStatus: 2 }, { token: first.token })
    await becomesTrue(async () => (await database.countWaiting()) > 0, 2000)
    expect(Bun.peek.status(reporting), 'the report is held up').toBe('pending')
    const leaving = transfer(second)
    const isHeldUpOrDone = async () => Bun.peek.status(leaving) !== 'pending' || (await database.countWaiting()) > 1
    await becomesTrue(isHeldUpOrDone, 2000)
    await sql`rollback`
    expect((await leaving).code).toBe(0)
    expect([0, 20002]).toContain((await reporting).code)
  })
  await report(each(0), second, deviceNo, { onlineStatus: 1 })
  expect((await transfer(first)).text).toContain('"code":0')
})

test('a report with the time of an untimed one before it in the batch, in the milliseconds that are stored, is not late', async () => {
  const app = await newApplication(each(0))
  const [deviceNo = ''] = await registerDevices(app, 1, each)
  const told = { appId: app.appId, deviceNo, actor: 'test' }
  let tried = 0
  await database.run(async (sql) => {
    for (let version = 0; tried < 5; version++) {
      await sql.begin(async (tx) => {
        // The time of an untimed report is the transaction's begin.
        const [{ time, isRoundedUp } = { time: new Date(), isRoundedUp: true }] = await tx<
          { time: Date; isRoundedUp: boolean }[]
        >`
          select now()::timestamptz(3) as time, now()::timestamptz(3) > now() as "isRoundedUp"`
        // Else the time in milliseconds is later anyway.
        if (!isRoundedUp) tried++
        const reports = [
          {
            ...told,
            time: 'now' as const,
            isCompared: false,
            values: reportedValues({ version: `${version}, untimed` }),
          },
          { ...told, time, isCompared: true, values: reportedValues({ version: `${version}, timed` }) },
        ]
        const { devices } = await applyReports(tx, reports, [], 1000)
        expect(devices[1]?.version, `at ${time.toISOString()}`).toBe(`${version}, timed`)
      })
    }
  })
})
