import { afterAll, afterEach, expect, test } from 'bun:test'
import { createApplication, takeApplicationOffline, takeApplicationOnline } from '../../src/applications/contract.ts'
import { getThirdPartyConfig } from '../../src/applications/third-party-config/contract.ts'
import { issueToken } from '../../src/applications/tokens/contract.ts'
import { saveBillingRule } from '../../src/billing-rules/contract.ts'
import { createDevice } from '../../src/devices/contract.ts'
import { saveDeviceModel } from '../../src/devices/models/contract.ts'
import { type Answer, Client, deviceBody, newApplication, newSerial, type Service } from '../harness.ts'
import { longTest } from '../long.ts'
import {
  anyMoment,
  atScale,
  becomesTrue,
  distribution,
  type OwnDatabase,
  onDisk,
  randomNumbers,
  seed,
  tell,
  Workplace,
} from './support.ts'
import { contradictions, totals, Writers } from './writers.ts'

const place = new Workplace(onDisk)
const random = randomNumbers(seed)
const said = `seed ${seed}`
/** Functions that stop what a failed test has left running. */
const stops: (() => void)[] = []
afterEach(() => {
  for (const stop of stops.splice(0)) stop()
})
afterAll(() => place.clear(), 60_000)

const statementTimeoutMs = 1000
/** A statement that was interrupted with its connection ends at its timeout; after that, every operation must work. */
const healsWithinMs = 60_000

/** A service with callers of every kind of operation: reads, changes of several statements, creates. */
async function busyService(database: OwnDatabase) {
  const env = { DATABASE_URL: database.url(), FORECOURT_STATEMENT_TIMEOUT_MS: String(statementTimeoutMs) }
  const service = await place.startService({ env })
  const client = new Client(service)
  const app = await newApplication(client)
  const toggled = await newApplication(client)
  const { appId, appSecret, token } = app
  const credentials = { grant_type: 'client_credentials', client_id: appId, client_secret: appSecret }
  let isOnline = true
  const operations: Record<string, () => Promise<Answer<unknown>>> = {
    getThirdPartyConfig: () => client.call(getThirdPartyConfig, { appId }, { token }),
    issueToken: () => client.call(issueToken, credentials),
    'getThirdPartyConfig with a new token': async () => {
      const issued = await client.call(issueToken, credentials)
      if (issued.code !== 0) return issued
      return client.call(getThirdPartyConfig, { appId }, { token: issued.data.accessToken })
    },
    saveDeviceModel: () => client.operate(saveDeviceModel, { serialPrefix: newSerial('M'), modelName: 'model' }),
    createApplication: () =>
      client.operate(createApplication, {
        appName: newSerial('cut'),
        thirdPartyConfig: { operatorName: 'Test operator' },
      }),
    saveBillingRule: () =>
      client.operate(saveBillingRule, {
        appId,
        ruleName: newSerial('rule'),
        ruleType: 1,
        periods: [{ startTime: '00:00:00', electricityPrice: '0.5', servicePrice: '0.3' }],
      }),
    toggle: () => {
      isOnline = !isOnline
      return client.operate(isOnline ? takeApplicationOnline : takeApplicationOffline, { appId: toggled.appId })
    },
    createDevice: () => client.call(createDevice, deviceBody(appId), { token }),
  }
  const outcomes = new Map<string, number>()
  const wrong: string[] = []
  let running = true
  const loops = Object.entries(operations).flatMap(([name, operation]) =>
    Array.from({ length: atScale(1, 3) }, async () => {
      while (running) {
        const answer = await operation().catch(() => undefined)
        const outcome = answer === undefined ? 'no answer' : String(answer.status)
        outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1)
        if (answer !== undefined && answer.status !== 200 && answer.status !== 503)
          wrong.push(`${name}: ${answer.text}`)
        // A change of a model makes the service prepare all waiting creates again, so models change rarely here, as in
        // practice.
        if (answer?.status !== 200 || name === 'saveDeviceModel') await anyMoment(random, 110)
      }
    }),
  )
  const writers = new Writers(await newApplication(client), service)
  stops.push(() => {
    running = false
    writers.abandon()
  })
  return {
    service,
    writers,
    wrong,
    outcomes,
    operations,
    toggled: toggled.appId,
    async finish() {
      running = false
      await Promise.all(loops)
      await writers.finish()
    },
  }
}

type Busy = Awaited<ReturnType<typeof busyService>>

/** Repeats each kind of operation until it responds with 200. Returns how long the slowest took. */
async function heals({ service, operations }: Busy, after: string): Promise<number> {
  const began = performance.now()
  const asleep = await Promise.all(
    Object.entries(operations).map(async ([name, operation]) => {
      const works = () =>
        operation().then(
          ({ status }) => status === 200,
          () => false,
        )
      return (await becomesTrue(works, healsWithinMs)) ? [] : [name]
    }),
  )
  expectAlive(service, after)
  expect(asleep.flat(), `${said}: ${after}, what has not come back in ${healsWithinMs} ms`).toEqual([])
  return performance.now() - began
}

function expectAlive(service: Service, after: string): void {
  const { exitCode, signalCode } = service.process
  const lastWords = service
    .stderr()
    .split('\n')
    .filter((line) => !line.startsWith('{'))
    .slice(-12)
    .join('\n')
  expect([exitCode, signalCode], `${said}: ${after}, the server has ended: ${lastWords}`).toEqual([null, null])
}

/** Expects that no change was stored in part: all writes of a transaction exist, or none. */
async function expectWholeChanges(
  database: OwnDatabase,
  { service, toggled, writers, wrong, outcomes }: Busy,
): Promise<void> {
  const faults = service
    .stderr()
    .split('\n')
    .filter((line) => line.includes('internal error'))
  expect(wrong.concat(writers.wrong), `${said}: ${faults.slice(0, 2).join('\n')}`).toEqual([])
  expect(outcomes.get('no answer') ?? 0, `${said}: requests without an answer`).toBe(0)
  await database.run(async (sql) => {
    const halfMade = await sql`
      select a.app_id, c.app_id is not null as has_config,
        (select count(*)::int from event e where e.app_id = a.app_id and type = 'thirdPartyConfig.saved') as events
      from application a left join third_party_config c using (app_id)`
    expect(
      halfMade.filter((row) => !row.has_config || row.events !== 1),
      said,
    ).toEqual([])
    const rules = await sql`
      select r.id as rule, e.id as event
      from billing_rule r
      full join (select * from event where type = 'billingRule.created') e
        on e.app_id = r.app_id and e.subject = r.id::text
      where r.id is null or e.id is null`
    expect([...rules], `${said}: rules without an event, or events without a rule`).toEqual([])
    const toggles = await sql`
      select type from event where app_id = ${toggled} and type in ('application.online', 'application.offline')
      order by id`
    const types = toggles.map((row) => row.type as string)
    expect(
      types.filter((type, index) => type === types[index - 1]),
      `${said}: changes of state that changed nothing`,
    ).toEqual([])
    const [state] = await sql`select online_status from application where app_id = ${toggled}`
    expect(types.at(-1), said).toBe(state?.online_status === 1 ? 'application.online' : 'application.offline')
    const { appId } = (writers.settled[0]?.body ?? {}) as { appId: string }
    expect(await contradictions(sql, appId, writers.settled), said).toEqual([])
    expect(await totals(sql, appId), said).toEqual({ rows: writers.settled.length, events: writers.settled.length })
  })
}

longTest(
  'a server whose database is killed under every kind of operation lives, heals, and leaves nothing half-done',
  async () => {
    const database = await place.startDatabase()
    const busy = await busyService(database)
    const took: number[] = []
    for (let kill = 1; kill <= atScale(2, 10); kill++) {
      await anyMoment(random, 300)
      const victims = kill % 2 === 0 ? [database.pid] : database.processes().map(({ pid }) => pid)
      for (const pid of victims) process.kill(pid, 'SIGKILL')
      await becomesTrue(() => !database.isRunning)
      await anyMoment(random, 300)
      await database.start()
      took.push(await heals(busy, `after kill ${kill}`))
    }
    await busy.finish()
    tell(`${took.length} kills of the database: everything works again after ${distribution(took)}`)
    tell(`answers: ${[...busy.outcomes].map(([outcome, count]) => `${count} of ${outcome}`).join(', ')}`)
    await expectWholeChanges(database, busy)
    expect(await busy.service.stop()).toBe(0)
    await database.stop()
  },
)

test('a server whose connections are cut one by one under every kind of operation lives, heals, and leaves nothing half-done', async () => {
  const database = await place.startDatabase()
  const busy = await busyService(database)
  let cuts = 0
  await database.run(async (sql) => {
    for (const end = performance.now() + atScale(1500, 6000); performance.now() < end; ) {
      await anyMoment(random, 30)
      // An administrator, a failover or the restart of a proxy has the same effect: a random connection of the service
      // ends.
      const ended = await sql`
        select pg_terminate_backend(pid) from pg_stat_activity
        where application_name like 'forecourt%' order by random() limit 1`
      cuts += ended.length
    }
  })
  const took = await heals(busy, `after ${cuts} cuts`)
  await busy.finish()
  tell(`${cuts} connections cut: everything works again after ${took.toFixed(0)} ms`)
  tell(`answers: ${[...busy.outcomes].map(([outcome, count]) => `${count} of ${outcome}`).join(', ')}`)
  expect(cuts, 'cuts').toBeGreaterThan(15)
  await expectWholeChanges(database, busy)
  expect(await busy.service.stop()).toBe(0)
  await database.stop()
})
