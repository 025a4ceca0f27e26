import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { takeApplicationOffline, takeApplicationOnline } from '../../src/applications/contract.ts'
import { createDevice, createDevices, getDevice, updateDevice } from '../../src/devices/contract.ts'
import {
  forceUnbindDevice,
  getDeviceHistory,
  transferDevice,
  unbindDevice,
} from '../../src/devices/ownership/contract.ts'
import { pageEvents } from '../../src/events/contract.ts'
import { coordinatorUrl } from '../citus/cluster.ts'
import { type Answer, Client, deviceBody, newApplication, newSerial, type TestApplication } from '../harness.ts'
import { contradictionsIn, readStories } from './ownership-story.ts'
import {
  anyMoment,
  atScale,
  becomesTrue,
  distribution,
  load,
  type OwnDatabase,
  randomNumbers,
  seed,
  sleep,
  tell,
  Workplace,
} from './support.ts'

const place = new Workplace()
const random = randomNumbers(seed)
const said = `seed ${seed}`
let database: OwnDatabase
let both: Client[]

beforeAll(async () => {
  database = await place.findDatabase()
  const env = { DATABASE_URL: database.url() }
  both = await Promise.all([1, 2].map(async () => new Client(await place.startService({ env }))))
}, 120_000)
afterAll(() => place.clear(), 60_000)

/** PostgreSQL resolves a deadlock, but each of its transactions has waited for a second by then. */
afterEach(async () => {
  const [row] = await database.run(
    (sql) => sql`
    select deadlocks::int as deadlocks from pg_stat_database where datname = current_database()`,
  )
  expect(row?.deadlocks, `${said}: deadlocks`).toBe(0)
})

/** Uses the service processes in turn. */
const each = (index: number) => both[index % both.length] as Client
const anyOf = <Item>(items: readonly Item[]) => items[Math.floor(random() * items.length)] as Item
const times = <T>(count: number, make: (index: number) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_, index) => make(index)))
const newApplications = (count: number) => times(count, (index) => newApplication(each(index)))

const create = (client: Client, { appId, token }: TestApplication, deviceNo: string) =>
  client.call(createDevice, deviceBody(appId, { deviceNo }), { token })
const unbind = (client: Client, { token }: TestApplication, deviceNo: string) =>
  client.call(unbindDevice, { deviceNo }, { token })
const transfer = (client: Client, target: TestApplication, deviceNo: string) =>
  client.operate(transferDevice, { deviceNo, targetAppId: target.appId, reason: 'race' })
const forceUnbind = (client: Client, deviceNo: string) =>
  client.operate(forceUnbindDevice, { deviceNo, reason: 'race' })

interface Change {
  /** The event that reports the change. */
  type: string
  send(client: Client, app: TestApplication, deviceNo: string): Promise<Answer<{ appId: string }>>
  refusals: number[]
}

/** Creates are listed twice so that they are chosen more often; otherwise few devices would be bound. */
const creation: Change = { type: 'device.bound', send: create, refusals: [20013, 20017] }
const changes: Change[] = [
  creation,
  creation,
  { type: 'device.unbound', send: unbind, refusals: [20002] },
  { type: 'device.transferred', send: transfer, refusals: [20002, 20017] },
  { type: 'device.unbound', send: (client, _, deviceNo) => forceUnbind(client, deviceNo), refusals: [20002] },
]

async function expectOneStory(serials: string[], round: string): Promise<void> {
  const stories = await database.run((sql) => readStories(sql, serials))
  expect(stories.flatMap(contradictionsIn), `${said}: ${round}`).toEqual([])
  for (const deviceNo of serials) {
    const { data } = await each(0).operate(getDeviceHistory, { deviceNo })
    // Newest first, and no binding begins before the older one has ended.
    const moments = (data?.list ?? []).flatMap(({ boundAt, unboundAt }) => [unboundAt ?? '9999', boundAt])
    expect(moments, `${said}: ${round}`).toEqual(moments.toSorted().reverse())
  }
}

test('creates, unbinds, transfers and forced unbinds of the same serials tell one story, without overlaps', async () => {
  const counts: Record<string, number> = {}
  for (let round = 0; round < atScale(2, 8); round++) {
    const apps = await newApplications(3)
    const serials = Array.from({ length: 3 }, () => newSerial())
    const told: string[] = []
    const wrong: string[] = []
    await times(24, async (index) => {
      for (let turn = 0; turn < 25; turn++) {
        const { type, send, refusals } = anyOf(changes)
        const deviceNo = anyOf(serials)
        const answer = await send(each(index), anyOf(apps), deviceNo)
        if (answer.status === 200) told.push(`${deviceNo} ${type} ${answer.data.appId}`)
        else if (!refusals.includes(answer.code)) wrong.push(`${type}: ${answer.text}`)
        counts[`${type} ${answer.code}`] = (counts[`${type} ${answer.code}`] ?? 0) + 1
      }
    })
    expect(wrong, said).toEqual([])
    await expectOneStory(serials, `round ${round}`)
    // Every response with 200 has one event, and no other event exists. A transfer responds with the new owner's
    // record.
    const stories = await database.run((sql) => readStories(sql, serials))
    const happened = stories.flatMap(({ deviceNo, happenings }) => {
      // A transfer has an event for each owner; only the new owner's is compared.
      return happenings
        .filter(({ type, recordOf }) => type !== 'device.transferred' || recordOf !== null)
        .map(({ type, appId }) => `${deviceNo} ${type} ${appId}`)
    })
    expect(told.sort(), said).toEqual(happened.sort())
  }
  tell(
    Object.entries(counts)
      .map(([what, count]) => `${what}: ${count}`)
      .sort()
      .join(', '),
  )
  // Every kind succeeded often enough. A transfer finds its device bound less often when a round is slow, as on a
  // cluster.
  for (const { type } of changes) expect(counts[`${type} 0`], `${said}: ${type}`).toBeGreaterThan(25)
})

test('a serial that is transferred to and fro is never free: every create of it is refused, at every look it is held', async () => {
  const apps = await newApplications(3)
  const serials = Array.from({ length: 3 }, () => newSerial())
  for (const deviceNo of serials) expect((await create(each(0), anyOf(apps), deviceNo)).code).toBe(0)
  const counts = { moved: 0, refused: 0, looks: 0 }
  const wrong: string[] = []
  const movers = load(
    async (index) => {
      const answer = await transfer(each(index), anyOf(apps), anyOf(serials))
      if (answer.status === 200) counts.moved++
      else if (answer.code !== 20017) wrong.push(answer.text)
    },
    { loops: 8 },
  )
  const creators = load(
    async (index) => {
      const answer = await create(each(index), anyOf(apps), anyOf(serials))
      if (answer.code === 20013 || answer.code === 20017) counts.refused++
      else wrong.push(answer.text)
    },
    { loops: 6, pauseMs: 1 },
  )
  const lookers = load(
    async (index) => {
      const deviceNo = anyOf(serials)
      const { data } = await each(index).operate(getDeviceHistory, { deviceNo })
      if (data?.list[0]?.unboundAt !== null) wrong.push(`nobody holds ${deviceNo}`)
      if (data?.list.slice(1).some(({ unboundAt }) => unboundAt === null)) wrong.push(`two hold ${deviceNo}`)
      const found = await each(index).operate(getDevice, { deviceNo })
      // On a cluster, a read can happen between the commits of two nodes.
      if (found.code !== 0 && coordinatorUrl === undefined) wrong.push(`${deviceNo} is not found: ${found.text}`)
      counts.looks++
    },
    { loops: 2, pauseMs: 2 },
  )
  const watcher = load(
    () =>
      database.run(async (sql) => {
        // On a cluster, devices of several applications are on several nodes, which have no common snapshot.
        const table = sql(coordinatorUrl === undefined ? 'device' : 'device_binding')
        const [row] = await sql`select count(*)::int as held from ${table} where device_no in ${sql(serials)}`
        if (row?.held !== serials.length) wrong.push(`${row?.held} of ${serials.length} are held`)
      }),
    { pauseMs: 1 },
  )
  // On a busy machine the transfers take longer.
  await becomesTrue(
    () => Math.min(counts.moved, counts.refused, counts.looks) > atScale(80, 250) || wrong.length > 0,
    20_000,
  )
  await Promise.all([movers, creators, lookers, watcher].map((one) => one.stop()))
  tell(`${counts.moved} transfers, ${counts.refused} creates refused, ${counts.looks} looks at the history`)
  expect(wrong.slice(0, 5), said).toEqual([])
  await expectOneStory(serials, 'to and fro')
  expect(Math.min(counts.moved, counts.refused, counts.looks), said).toBeGreaterThan(50)
})

const toggles = atScale(20, 120)

test(`after an offline answer no device is transferred to the application, in ${toggles} toggles`, async () => {
  const [from, to] = (await newApplications(2)) as [TestApplication, TestApplication]
  const took: number[] = []
  const counts = { moved: 0, refused: 0 }
  const wrong: string[] = []
  let running = true
  const movers = times(8, async (index) => {
    while (running) {
      const deviceNo = newSerial()
      await create(each(index), from, deviceNo)
      // Repeats until the device has moved, so that many transfers are running when the application goes offline.
      for (let isMoved = false; running && !isMoved; ) {
        const answer = await transfer(each(index + 1), to, deviceNo)
        isMoved = answer.status === 200
        if (isMoved) counts.moved++
        else if (answer.code === 10006) counts.refused++
        else wrong.push(answer.text)
        // The pause leaves processor time to the toggles, which are measured.
        if (!isMoved) await sleep(1)
      }
    }
  })
  await database.run(async (sql) => {
    const count = () => sql`select count(*)::int as n from device where app_id = ${to.appId}`.then(([row]) => row?.n)
    for (let toggle = 0; toggle < toggles; toggle++) {
      await anyMoment(random, 8)
      const began = performance.now()
      const offline = await each(toggle).operate(takeApplicationOffline, { appId: to.appId })
      took.push(performance.now() - began)
      expect(offline.data.onlineStatus, said).toBe(2)
      const after = await count()
      await anyMoment(random, 6)
      expect(await count(), `${said}: toggle ${toggle}: transferred late`).toBe(after)
      await each(toggle + 1).operate(takeApplicationOnline, { appId: to.appId })
    }
  })
  running = false
  await movers
  tell(`${counts.moved} transfers, ${counts.refused} refused; offline toggles: ${distribution(took)}`)
  expect(wrong.slice(0, 5), said).toEqual([])
  // A lower number would mean that there was no race.
  expect(Math.min(counts.moved, counts.refused), said).toBeGreaterThan(toggles / 3)
})

test('rows of createBatch race with single creates: each serial has one owner, and every row is told rightly', async () => {
  const wins = { batch: 0, single: 0 }
  const areRaced = () => Math.min(wins.batch, wins.single) > 5
  for (let round = 0; round < atScale(2, 6) || (!areRaced() && round < 20); round++) {
    const [a, b] = (await newApplications(2)) as [TestApplication, TestApplication]
    // More rows than the service writes in one transaction, so that some rows are written later than others.
    const serials = Array.from({ length: 400 }, () => newSerial())
    const devices = serials.map((deviceNo) => deviceBody(a.appId, { deviceNo }))
    const singles = times(80, async (count) => {
      const index = count * 5
      await anyMoment(random, 12)
      const app = count % 2 === 0 ? a : b
      return { app, index, answer: await create(each(count >> 1), app, serials[index] as string) }
    })
    const batch = await each(round).call(createDevices, { devices }, { token: a.token })
    const results = batch.data.results
    for (const { app, index, answer } of await singles) {
      const row = results[index]
      const isBatchs = row?.code === 0
      const [loser, winner] = isBatchs ? [answer.code, 'batch' as const] : [row?.code, 'single' as const]
      wins[winner]++
      expect([answer.code === 0, isBatchs].filter(Boolean), `${said}: owners of ${serials[index]}`).toHaveLength(1)
      expect(loser, `${said}: ${answer.text} ${JSON.stringify(row)}`).toBe(app === a ? 20017 : 20013)
    }
    await expectOneStory(serials.slice(0, 50), `round ${round}`)
  }
  tell(`rows of batches won ${wins.batch} times, single creates ${wins.single} times`)
  expect(areRaced(), said).toBe(true)
})

test('of several changes with one ETag exactly one is made, also when one of them unbinds', async () => {
  const [app] = (await newApplications(1)) as [TestApplication]
  const { token } = app
  const winners = new Set<number>()
  for (let round = 0; round < atScale(6, 40); round++) {
    const deviceNo = newSerial()
    await create(each(round), app, deviceNo)
    const etag = (await each(round).call(getDevice, { deviceNo }, { token })).headers.get('etag') ?? ''
    const options = { token, headers: { 'if-match': etag } }
    const answers = await times(6, async (index) => {
      // The random pause keeps the first request from always winning where requests are slow.
      await anyMoment(random, 3)
      return round % 2 === 1 && index === 3
        ? each(index).call(unbindDevice, { deviceNo }, options)
        : each(index).call(updateDevice, { deviceNo, deviceName: `change ${index}` }, options)
    })
    const codes = answers.map(({ code }) => code)
    const winner = codes.indexOf(0)
    winners.add(winner)
    const isUnbound = round % 2 === 1 && winner === 3
    const loser = isUnbound ? 20002 : 10009
    expect(codes, `${said}: round ${round}`).toEqual(codes.map((_, index) => (index === winner ? 0 : loser)))
    const now = await each(round + 1).call(getDevice, { deviceNo }, { token })
    expect<unknown>(now.data, said).toEqual(isUnbound ? null : answers[winner]?.data)
    const { data } = await each(round).call(pageEvents, { deviceNo }, { token })
    const types = data.list.map(({ type }) => type)
    expect(types, said).toEqual(['device.bound', isUnbound ? 'device.unbound' : 'device.updated'])
  }
  // With a single winner there would have been no race.
  expect(winners.size, said).toBeGreaterThan(1)
})
