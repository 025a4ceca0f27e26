import { afterAll, beforeAll, expect, test } from 'bun:test'
import { applicationLock } from '../../src/database/routine.ts'
import { transferDevice, unbindDevice } from '../../src/device-ownership/contract.ts'
import { reportDeviceState } from '../../src/device-state/contract.ts'
import {
  createDevice,
  createDevices,
  type DeviceRecord,
  pageDevices,
  updateDevice,
} from '../../src/devices/contract.ts'
import { getMetrics } from '../../src/service/contract.ts'
import {
  expectPages,
  filterValues,
  fits,
  motleyDevice,
  pairsOfFilters,
  singleFilters,
  walk,
} from '../device-filters.ts'
import { Client, newApplication, newSerial, type Service, type TestApplication } from '../harness.ts'
import { atScale, becomesTrue, type OwnDatabase, randomNumbers, seed, sleep, tell, Workplace } from './support.ts'

const place = new Workplace()
const random = randomNumbers(seed)
const said = `seed ${seed}`
const choose = <Value>(from: readonly Value[]) => from[Math.floor(random() * from.length)] as Value

let database: OwnDatabase
/** Two processes that search in copies, and one that has none and looks at every device. */
let services: Service[] = []
let a: Client
let b: Client
let walking: Client

function serviceOn(env: Record<string, string>): Promise<Service> {
  return place.startService({ env: { DATABASE_URL: database.url(), FORECOURT_SEARCH_FROM: '1', ...env } })
}

beforeAll(async () => {
  database = await place.startDatabase()
  services = await Promise.all([serviceOn({}), serviceOn({}), serviceOn({ FORECOURT_SEARCH_MEMORY_MB: '0' })])
  ;[a, b, walking] = services.map((service) => new Client(service)) as [Client, Client, Client]
}, 120_000)
afterAll(() => place.clear(), 60_000)

function askThrough(client: Client, { token }: TestApplication) {
  return (query: Record<string, unknown>) => client.call(pageDevices, query, { token })
}

/** All devices in the order of pages, read from the table. */
function everyDevice(application: TestApplication): Promise<DeviceRecord[]> {
  return walk(askThrough(walking, application), {}, 100)
}

async function createMotley(client: Client, application: TestApplication, count: number): Promise<string[]> {
  const devices = Array.from({ length: count }, () => motleyDevice(random, newSerial(choose(['x', 'y', 'xy']))))
  const answer = await client.call(createDevices, { devices }, { token: application.token })
  expect(answer.data.results.filter(({ code }) => code !== 0)).toEqual([])
  return devices.map(({ deviceNo }) => String(deviceNo))
}

async function searchedDevices(client: Client): Promise<number> {
  const { text } = await client.operate(getMetrics, {})
  return Number(/^forecourt_device_search_devices (\d+)$/m.exec(text)?.[1])
}

/** An application whose devices change in every way, one change at a time. */
class Changing {
  readonly application: TestApplication
  readonly other: TestApplication
  private readonly serials: string[]

  private constructor(application: TestApplication, other: TestApplication, serials: string[]) {
    this.application = application
    this.other = other
    this.serials = serials
  }

  static async begin(count: number): Promise<Changing> {
    const [application, other] = [await newApplication(a), await newApplication(a)]
    return new Changing(application, other, await createMotley(a, application, count))
  }

  /** One change of one device, through either process. */
  async change(): Promise<void> {
    const client = choose([a, b])
    const { token } = this.application
    const deviceNo = choose(this.serials)
    const { deviceNo: _, ...members } = motleyDevice(random, deviceNo)
    const kind = random()
    if (kind < 0.25 || this.serials.length < 5) {
      this.serials.push(...(await createMotley(client, this.application, 1 + Math.floor(random() * 3))))
    } else if (kind < 0.5) {
      const [member, value] = choose(Object.entries(members))
      expect((await client.call(updateDevice, { deviceNo, [member]: value }, { token })).code).toBe(0)
    } else if (kind < 0.8) {
      const state = { status: choose([1, 2]), onlineStatus: choose([1, 2]), runStatus: choose([0, 1, 2]) }
      expect((await client.call(reportDeviceState, { deviceNo, ...state }, { token })).code).toBe(0)
    } else {
      this.serials.splice(this.serials.indexOf(deviceNo), 1)
      await this.free(client, deviceNo)
      if (random() < 0.5) {
        // The same serial again, as another device.
        const body = { appId: this.application.appId, ...members, deviceNo }
        expect((await client.call(createDevice, body, { token })).code).toBe(0)
        this.serials.push(deviceNo)
      }
    }
  }

  /** Gives the serial up, or to another application, which then gives it up. */
  private async free(client: Client, deviceNo: string): Promise<void> {
    const { application, other } = this
    if (random() < 0.5) {
      expect((await client.call(unbindDevice, { deviceNo }, { token: application.token })).code).toBe(0)
      return
    }
    const transfer = { deviceNo, targetAppId: other.appId, reason: 'test' }
    expect((await client.operate(transferDevice, transfer)).code).toBe(0)
    expect((await client.call(unbindDevice, { deviceNo }, { token: other.token })).code).toBe(0)
  }
}

/** Holds both processes' pages to all devices as they are now. */
async function expectExact(application: TestApplication, filters: number): Promise<void> {
  const devices = await everyDevice(application)
  const values = filterValues(devices)
  const all = [...singleFilters(values), ...pairsOfFilters(values, choose)]
  for (let index = 0; index < filters; index++) {
    for (const client of [a, b])
      await expectPages(askThrough(client, application), choose(all), devices, choose([1, 10, 100]))
  }
}

test('a copy answers as the table is after every change, whichever process made it', async () => {
  const changing = await Changing.begin(60)
  for (let round = 0; round < atScale(8, 150); round++) {
    await changing.change()
    await expectExact(changing.application, 2)
  }
  tell(said)
  expect(await searchedDevices(a)).toBeGreaterThan(0)
  expect(await searchedDevices(b)).toBeGreaterThan(0)
  expect(await searchedDevices(walking)).toBe(0)
}, 120_000)

test('a search that begins after a change sees it, also while the copy is catching up with much else', async () => {
  const application = await newApplication(a)
  const { appId, token } = application
  const serials = await createMotley(a, application, 20)
  let isBusy = true
  const others = Array.from({ length: 3 }, async () => {
    while (isBusy) await askThrough(a, application)({ deviceName: 'e' })
  })
  const events = database.run(async (sql) => {
    while (isBusy) {
      await sql.begin(async (tx) => {
        await tx.unsafe(`select ${applicationLock('$1::text')}`, [appId])
        await tx`
          insert into event (app_id, type, time, actor, subject, data)
          select ${appId}, 'device.stateChanged', now(), 'test', ${choose(serials)}, '{}' from generate_series(1, 1000)`
      })
      await sleep(5)
    }
  })
  for (let round = 0; round < atScale(4, 25); round++) {
    const deviceNo = newSerial()
    const find = async () => (await askThrough(a, application)({ deviceNo })).data.total
    const body = { appId, ...motleyDevice(random, deviceNo) }
    expect((await b.call(createDevice, body, { token })).code).toBe(0)
    expect(await find()).toBe(1)
    expect((await b.call(unbindDevice, { deviceNo }, { token })).code).toBe(0)
    expect(await find()).toBe(0)
  }
  isBusy = false
  await Promise.all([...others, events])
}, 120_000)

test('a copy that was left far behind answers as the table is', async () => {
  const changing = await Changing.begin(40)
  const { application } = changing
  await expectExact(application, 2)
  for (let change = 0; change < 20; change++) await changing.change()
  // More than it would read one by one.
  await database.run(
    (sql) => sql`
      insert into event (app_id, type, time, actor, subject, data)
      select ${application.appId}, 'device.stateChanged', now(), 'test', 'nobody', '{}' from generate_series(1, 40000)`,
  )
  for (let change = 0; change < 20; change++) await changing.change()
  await expectExact(application, 10)
}, 120_000)

test('what is shown fits what was asked for, also while it changes', async () => {
  const application = await newApplication(a)
  const { token } = application
  const serials = await createMotley(a, application, 40)
  const steady = await createMotley(a, application, 10)
  for (const deviceNo of steady) await a.call(reportDeviceState, { deviceNo, onlineStatus: 1 }, { token })
  let isChanging = true
  const changes = Array.from({ length: 6 }, async () => {
    while (isChanging) {
      const [deviceNo, onlineStatus] = [choose(serials), choose([1, 2])]
      expect((await b.call(reportDeviceState, { deviceNo, onlineStatus }, { token })).code).toBe(0)
    }
  })
  const filter = { onlineStatus: 1, bbox: '-180,-90,180,90' }
  for (let round = 0; round < atScale(15, 300); round++) {
    const { list } = (await askThrough(a, application)({ ...filter, pageSize: 100 })).data
    expect(list.filter((device) => !fits(device, filter))).toEqual([])
    const shown = new Set(list.map(({ deviceNo }) => deviceNo))
    expect(shown.size).toBe(list.length)
    expect(steady.filter((deviceNo) => !shown.has(deviceNo))).toEqual([])
  }
  isChanging = false
  await Promise.all(changes)
  await expectExact(application, 5)
}, 120_000)

test('a device that was bound at an earlier moment than those before it takes its place among them', async () => {
  // Two processes' clocks differ; so moments can come out of the order of events.
  const application = await newApplication(a)
  await createMotley(a, application, 30)
  await expectExact(application, 2)
  const { appId } = application
  for (const seconds of [5, 1, 600, 5]) {
    await database.run(async (sql) => {
      await sql`
        with added as (
          insert into device (device_no, app_id, device_name, province_code, city_code, district_code, coordinates, bound_at)
          select ${newSerial()} || n, ${appId}, 'Early gate ' || n, '1', '2', '3', '4,5', now() - ${seconds} * interval '1 second'
          from generate_series(1, 3) as n
          returning device_no, bound_at
        )
        insert into event (app_id, type, time, actor, subject, data)
        select ${appId}, 'device.bound', bound_at, 'test', device_no, '{}' from added`
    })
    await expectExact(application, 10)
  }
}, 120_000)

test('copies that do not fit side by side push each other out, and a device list that does not fit is walked along', async () => {
  const tight = await serviceOn({ FORECOURT_SEARCH_MEMORY_MB: '1' })
  const client = new Client(tight)
  const applications = await Promise.all(Array.from({ length: 4 }, () => newApplication(a)))
  // 1 MiB is room for some 7,000 devices.
  await Promise.all(
    applications.map(async ({ appId }, index) => {
      const count = index === 0 ? 9_000 : 3_000
      await database.run(
        (sql) => sql`
          insert into device (device_no, app_id, device_name, province_code, city_code, district_code, coordinates, bound_at)
          select ${newSerial()} || n, ${appId}, 'Gate ' || n, (n % 3)::text, '2', '3', '4,5', now() - n * interval '1 second'
          from generate_series(1, ${count}::int) as n`,
      )
    }),
  )
  for (let round = 0; round < 3; round++) {
    for (const [index, application] of applications.entries()) {
      const answer = await askThrough(client, application)({ deviceName: 'gATE 1', provinceCode: '1' })
      // Numbers up to 9,000 or 3,000 that begin with 1 and leave 1 when they are divided by 3.
      const expected = Array.from({ length: index === 0 ? 9_000 : 3_000 }, (_, n) => n + 1).filter(
        (n) => n % 3 === 1 && String(n).startsWith('1'),
      )
      expect([answer.data.total, answer.data.list[0]?.deviceName]).toEqual([expected.length, 'Gate 1'])
      expect(await becomesTrue(async () => (await searchedDevices(client)) <= 7_000, 15_000)).toBe(true)
    }
  }
  expect(await becomesTrue(async () => (await searchedDevices(client)) >= 3_000, 15_000)).toBe(true)
  expect(await tight.stop()).toBe(0)
}, 120_000)

test('a killed service answers exactly when it is back, and so does one whose database was killed', async () => {
  const changing = await Changing.begin(80)
  const { application } = changing
  await expectExact(application, 4)
  await services[1]?.kill('SIGKILL')
  for (let change = 0; change < 10; change++) {
    // Through the process that is left.
    expect(
      (await a.call(createDevice, { appId: application.appId, ...motleyDevice(random, newSerial()) }, application))
        .code,
    ).toBe(0)
  }
  services[1] = await serviceOn({})
  b = new Client(services[1])
  await expectExact(application, 10)

  database.signalAll('SIGKILL')
  const filter = { deviceName: 'gate' }
  const refused = await askThrough(a, application)(filter)
  expect([503, 200]).toContain(refused.status)
  await database.start()
  const isBack = async (client: Client) => (await askThrough(client, application)(filter)).status === 200
  for (const client of [a, b, walking]) expect(await becomesTrue(() => isBack(client), 10_000)).toBe(true)
  for (let round = 0; round < 5; round++) {
    await changing.change()
    await expectExact(application, 4)
  }
}, 120_000)

test('a service stops at once while it loads a copy and while it searches one', async () => {
  const { appId, token } = await newApplication(a)
  await database.run(
    (sql) => sql`
      insert into device (device_no, app_id, device_name, province_code, city_code, district_code, coordinates, bound_at)
      select ${newSerial()} || n, ${appId}, 'Gate ' || n, '1', '2', '3', '4,5', now() - n * interval '1 second'
      from generate_series(1, 60000) as n`,
  )
  for (const pauseMs of [30, 3000]) {
    const service = await serviceOn({})
    const client = new Client(service)
    const asked = Array.from({ length: 5 }, () => client.call(pageDevices, { deviceName: '9' }, { token }))
    await sleep(pauseMs)
    if (pauseMs > 1000) asked.push(client.call(pageDevices, { deviceName: '8' }, { token }))
    const began = performance.now()
    expect(await service.stop()).toBe(0)
    expect(performance.now() - began).toBeLessThan(5000)
    for (const { status } of await Promise.all(asked)) expect([200, 503]).toContain(status)
  }
}, 120_000)
