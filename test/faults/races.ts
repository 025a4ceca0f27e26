import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type postgres from 'postgres'
import { takeApplicationOffline, takeApplicationOnline } from '../../src/applications/contract.ts'
import { createDevice } from '../../src/devices/contract.ts'
import { saveSite } from '../../src/sites/contract.ts'
import {
  type Answer,
  type CallOptions,
  Client,
  deviceBody,
  newApplication,
  newSerial,
  siteBody,
  type TestApplication,
} from '../harness.ts'
import { EventWatch } from './event-watch.ts'
import {
  anyMoment,
  atScale,
  distribution,
  load,
  type OwnDatabase,
  randomNumbers,
  seed,
  tell,
  Workplace,
} from './support.ts'

const toggleRounds = atScale(1, 10)
const togglesOfRound = atScale(40, 100)
const toggles = toggleRounds * togglesOfRound

/** Tests races between creates and taking an application offline, with this number of processes on one database. */
export function describeRaces(processes: number): void {
  const place = new Workplace()
  const random = randomNumbers(seed)
  const said = `seed ${seed}`
  let database: OwnDatabase
  let clients: Client[]

  beforeAll(async () => {
    database = await place.findDatabase()
    // With snapshots that outlast the wait for a lock, a create could miss that its application has gone offline; so
    // the tests set this isolation level.
    const { database: name } = database.connection
    await database.run((sql) => sql`alter database ${sql(name)} set default_transaction_isolation = 'repeatable read'`)
    const env = { DATABASE_URL: database.url() }
    clients = await Promise.all(
      Array.from({ length: processes }, async () => new Client(await place.startService({ env }))),
    )
    // For counting only: with this index, the time to count an application's devices does not depend on other
    // applications.
    await database.run((sql) => sql`create index if not exists counting on device (app_id)`)
  }, 120_000)
  afterAll(() => place.clear(), 60_000)

  /** Uses the service processes in turn. */
  const each = (index: number) => clients[index % clients.length] as Client
  const times = <T>(count: number, make: (index: number) => Promise<T>) =>
    Promise.all(Array.from({ length: count }, (_, i) => make(i)))
  const create = (index: number, app: TestApplication, body: unknown, key?: string) =>
    each(index).call(createDevice, body, {
      token: app.token,
      headers: key === undefined ? {} : { 'idempotency-key': key },
    })

  test('64 requests of two applications for one serial leave one owner, and each loser is told rightly', async () => {
    const apps = await times(2, (index) => newApplication(each(index)))
    const watch = await EventWatch.start(
      database,
      apps.map((app) => app.appId),
    )
    const serials = Array.from({ length: atScale(6, 60) }, () => newSerial())
    const wins = new Map(apps.map((app) => [app.appId, 0]))
    for (const deviceNo of serials) {
      // A random application sends first; requests of both alternate on every process.
      const turn = Math.floor(random() * 2)
      const answers = await times(64, async (index) => {
        const app = apps[((index >> 1) + turn) % 2] as TestApplication
        return { app, answer: await create(index, app, deviceBody(app.appId, { deviceNo })) }
      })
      const winners = answers.filter(({ answer }) => answer.status === 200)
      expect(winners, `${said}: owners of ${deviceNo}`).toHaveLength(1)
      const owner = winners[0]?.app.appId ?? ''
      wins.set(owner, (wins.get(owner) ?? 0) + 1)
      for (const { app, answer } of answers.filter(({ answer }) => answer.status !== 200)) {
        expect([answer.status, answer.code], `${said}: ${deviceNo} of ${owner}, for ${app.appId}`).toEqual(
          app.appId === owner ? [409, 20017] : [409, 20013],
        )
        expect(answer.text, 'the owner is not named').not.toContain(owner)
      }
    }
    const rows = await database.run(async (sql) => {
      const devices = await sql`select device_no, app_id from device where device_no in ${sql(serials)}`
      const events = await sql`select subject, app_id from event where subject in ${sql(serials)}`
      return devices.map(({ device_no, app_id }) => {
        const logged = events.filter(({ subject }) => subject === device_no).map((event) => event.app_id)
        return { app_id, logged }
      })
    })
    expect(rows).toHaveLength(serials.length)
    expect(
      rows.filter(({ app_id, logged }) => logged.length !== 1 || logged[0] !== app_id),
      said,
    ).toEqual([])
    for (const { appId } of apps) {
      expect(
        rows.filter((row) => row.app_id === appId),
        said,
      ).toHaveLength(wins.get(appId) as number)
    }
    await watch.stop()
    tell(`64 for one serial: ${serials.length} races, won by ${[...wins.values()].join(' and ')}; ${watch.summary}`)
  })

  test(`after an offline answer no device appears, in ${toggles} toggles against 32 writers`, async () => {
    const total = { took: [] as number[], idle: 0, created: 0, refused: 0 }
    for (let round = 0; round < toggleRounds; round++) await toggleUnderFire(round, total)
    tell(`offline toggles: ${total.took.length}, ${distribution(total.took)}`)
    tell(`${total.created} devices created, ${total.refused} refused, ${total.idle} times online without any`)
    expect(total.took).toHaveLength(toggles)
    // The limit is far above the usual time: it fails only if creates can delay this change for ever.
    expect(Math.max(...total.took), 'the slowest toggle, in ms').toBeLessThan(5_000)
    // Otherwise there was no race.
    expect(total.idle).toBeLessThan(toggles / 2)
    expect(total.refused).toBeGreaterThan(toggles)
  }, 240_000)

  async function toggleUnderFire(
    round: number,
    total: { took: number[]; idle: number; created: number; refused: number },
  ): Promise<void> {
    const app = await newApplication(each(round))
    const { appId } = app
    const watch = await EventWatch.start(database, [appId])
    const created = new Set<string>()
    const wrong: string[] = []
    const writers = load(
      async (index) => {
        const body = deviceBody(appId)
        const answer = await create(index, app, body)
        if (answer.status === 200) created.add(body.deviceNo)
        else if (answer.code !== 10006) wrong.push(answer.text)
        else total.refused++
      },
      { loops: 32, pauseMs: 1 },
    )
    const count = (sql: postgres.Sql) =>
      sql`select count(*)::int as n from device where app_id = ${appId}`.then(([row]) => row?.n as number)
    try {
      await database.run(async (sql) => {
        for (let toggle = 0; toggle < togglesOfRound; toggle++) {
          const before = created.size
          await anyMoment(random, 4)
          const began = performance.now()
          const offline = await each(toggle).operate(takeApplicationOffline, { appId })
          total.took.push(performance.now() - began)
          const acknowledged = created.size
          const after = await count(sql)
          expect(offline.data.onlineStatus, said).toBe(2)
          expect(after, `${said}: every acknowledged device is there`).toBeGreaterThanOrEqual(acknowledged)
          await anyMoment(random, 4)
          expect(await count(sql), `${said}: round ${round}, toggle ${toggle}: late devices`).toBe(after)
          if (created.size === before) total.idle++
          const online = await each(toggle + 1).operate(takeApplicationOnline, { appId })
          expect(online.data.onlineStatus, said).toBe(1)
        }
      })
    } finally {
      await writers.stop()
    }
    expect(wrong, said).toEqual([])
    await watch.stop()
    const rows = await database.run((sql) => sql`select device_no from device where app_id = ${appId}`)
    expect(rows.length, said).toBe(created.size)
    expect(
      rows.filter((row) => !created.has(row.device_no)),
      said,
    ).toEqual([])
    await expectOneEventEach(appId, created.size)
    total.created += created.size
  }

  /** Expects one device.bound event for each device of the application, and no other. */
  async function expectOneEventEach(appId: string, devices: number): Promise<void> {
    const [sums] = await database.run(
      (sql) => sql`
      select count(*)::int as events, count(distinct subject)::int as subjects, count(d.device_no)::int as known
      from event e left join device d on d.app_id = e.app_id and d.device_no = e.subject
      where e.app_id = ${appId} and type = 'device.bound'`,
    )
    expect(sums, said).toMatchObject({ events: devices, subjects: devices, known: devices })
  }

  type Send = (client: Client, sent: object, options: CallOptions) => Promise<Answer<object>>
  const sendDevice: Send = (client, sent, options) => client.call(createDevice, sent, options)
  const sendSite: Send = (client, sent, options) => client.call(saveSite, sent, options)
  const creates = [
    { name: 'createDevice', request: sendDevice, body: deviceBody, table: 'device', nameOf: 'deviceName' },
    { name: 'saveSite', request: sendSite, body: siteBody, table: 'site', nameOf: 'siteName' },
  ] as const

  describe.each(creates)('$name', ({ request, body, table, nameOf }) => {
    const send = (index: number, app: TestApplication, sent: object, key: string): Promise<Answer<object>> =>
      request(each(index), sent, { token: app.token, headers: { 'idempotency-key': key } })
    const countRows = (appId: string) =>
      database.run(async (sql) => {
        const [rows] = await sql`select count(*)::int as n from ${sql(table)} where app_id = ${appId}`
        const events =
          await sql`select data from event where app_id = ${appId} and type in ('device.bound', 'site.created')`
        return { rows: rows?.n as number, records: events.map((event) => event.data as string) }
      })

    test('32 requests with one key and body have one effect and one answer, byte for byte', async () => {
      const app = await newApplication(each(0))
      const watch = await EventWatch.start(database, [app.appId])
      const races = atScale(4, 40)
      const told: string[] = []
      for (let race = 0; race < races; race++) {
        const sent = body(app.appId, { [nameOf]: `race ${race}` })
        const answers = await times(32, (index) => send(index, app, sent, `one-body-${race}`))
        expect(
          answers.map((answer) => answer.status),
          said,
        ).toEqual(Array(32).fill(200))
        expect(new Set(answers.map((answer) => answer.text)).size, `${said}: different responds in race ${race}`).toBe(
          1,
        )
        told.push((answers[0] as Answer<object>).text)
      }
      const { rows, records } = await countRows(app.appId)
      expect(rows, said).toBe(races)
      expect(records.map((record) => `{"code":0,"msg":"success","data":${record}}`).sort(), said).toEqual(told.sort())
      await watch.stop()
    })

    test('of 32 different bodies under one key one wins, and the others are told that the key is used', async () => {
      const app = await newApplication(each(0))
      const races = atScale(4, 40)
      for (let race = 0; race < races; race++) {
        // In every second race only the names differ: all devices then have one serial number.
        const shared = race % 2 === 0 ? {} : { deviceNo: newSerial() }
        const answers = await times(32, (index) =>
          send(index, app, body(app.appId, { ...shared, [nameOf]: `race ${race}, body ${index}` }), `bodies-${race}`),
        )
        const codes = answers.map((answer) => `${answer.status} ${answer.code}`).sort()
        expect(codes, `${said}: race ${race}`).toEqual(['200 0', ...Array(31).fill('422 10008')])
      }
      const { rows, records } = await countRows(app.appId)
      expect([rows, records.length], said).toEqual([races, races])
    })

    test('in a burst of retries and new creates everyone is told of his own record', async () => {
      const apps = await times(2, (index) => newApplication(each(index)))
      const [before, bursts] = atScale([300, 8], [600, 20])
      const requests = Array.from({ length: before + 2 * bursts }, (_, index) => {
        const app = apps[index % 2] as TestApplication
        return { app, key: `burst-${index >> 1}`, sent: body(app.appId, { [nameOf]: `${app.appId} ${index}` }), index }
      })
      const run = (some: typeof requests) =>
        Promise.all(some.map(({ app, key, sent, index }) => send(index % 7, app, sent, key)))
      const first = await run(requests.slice(0, before))
      // PostgreSQL itself updates statistics at some time, which may change the plans of statements.
      await database.run((sql) => sql`analyze`)
      for (let burst = 0; burst < bursts; burst++) {
        const retried = Array.from(
          { length: 62 },
          () => requests[Math.floor(random() * before)] as (typeof requests)[0],
        )
        const fresh = requests.slice(before + burst * 2, before + burst * 2 + 2)
        const answers = await run([...retried, ...fresh])
        answers.forEach((answer, index) => {
          const { app, index: original } = [...retried, ...fresh][index] as (typeof requests)[0]
          expect(answer.status, `${said}: burst ${burst}, ${answer.text}`).toBe(200)
          expect(answer.data, `${said}: burst ${burst}`).toMatchObject({
            appId: app.appId,
            [nameOf]: `${app.appId} ${original}`,
          })
          if (index < retried.length) expect(answer.text, said).toBe(first[original]?.text as string)
        })
      }
      const rows = await Promise.all(apps.map((app) => countRows(app.appId)))
      expect(
        rows.map((row) => [row.rows, new Set(row.records).size]),
        said,
      ).toEqual(apps.map(() => [requests.length / 2, requests.length / 2]))
    })

    test('one key raced by two applications has one effect in each', async () => {
      const races = atScale(2, 20)
      const apps = await times(2, (index) => newApplication(each(index)))
      for (let race = 0; race < races; race++) {
        const bodies = apps.map((app) => body(app.appId, { [nameOf]: `race ${race}` }))
        const answers = await times(32, (index) => {
          const which = (index >> 1) % 2
          return send(index, apps[which] as TestApplication, bodies[which] as object, `shared-${race}`)
        })
        expect(
          answers.map((answer) => answer.status),
          said,
        ).toEqual(Array(32).fill(200))
        expect(new Set(answers.map((answer) => answer.text)).size, `${said}: race ${race}`).toBe(2)
      }
      for (const { appId } of apps) {
        const { rows, records } = await countRows(appId)
        expect([rows, records.length], said).toEqual([races, races])
      }
    })
  })
}
