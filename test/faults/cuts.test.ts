import { afterEach, expect, test } from 'bun:test'
import { takeApplicationOffline, takeApplicationOnline } from '../../src/applications/contract.ts'
import type { OwnDatabase } from '../kit/database.ts'
import { onDisk } from '../kit/folders.ts'
import { ownWorkplace } from '../kit/own-workplace.ts'
import { newApplication } from '../kit/records.ts'
import { atScale, randomNumbers, seed } from '../kit/scale.ts'
import type { Service } from '../kit/service.ts'
import { anyMoment } from '../kit/waits.ts'
import { backAfter, everyOperation, type Operations } from './every-operation.ts'
import { contradictions, totals, Writers } from './writers.ts'

const place = ownWorkplace(onDisk)
const random = randomNumbers(seed)
/** Functions that stop what a failed test has left running. */
const stops: (() => void)[] = []
afterEach(() => {
  for (const stop of stops.splice(0)) stop()
})

const statementTimeoutMs = 1000
/** A statement that was interrupted with its connection ends at its timeout; after that, every operation must work. */
const healsWithinMs = 25_000

/** A service with callers of every kind of operation: reads, changes of several statements, creates. */
async function busyService(database: OwnDatabase) {
  const env = { DATABASE_URL: database.url(), FORECOURT_STATEMENT_TIMEOUT_MS: String(statementTimeoutMs) }
  const { service, client } = await place.start({ env })
  const app = await newApplication(client)
  const toggled = await newApplication(client)
  let isOnline = true
  // Sign-ins one after the other would be refused.
  const { createSession: _, ...others } = await everyOperation(client, service, app)
  const operations: Operations = {
    ...others,
    toggle: () => {
      isOnline = !isOnline
      return client.operate(isOnline ? takeApplicationOnline : takeApplicationOffline, { appId: toggled.appId })
    },
  }
  const wrong: string[] = []
  /** Requests without an answer. */
  const lost: string[] = []
  let running = true
  const loops = Object.entries(operations).flatMap(([name, operation]) =>
    Array.from({ length: atScale(1, 3) }, async () => {
      while (running) {
        const answer = await operation().catch((error) => {
          lost.push(`${name}: ${error}`)
        })
        if (answer === undefined) continue
        if (answer.status !== 200 && answer.status !== 503) wrong.push(`${name}: ${answer.text}`)
        if (answer.status !== 200) await anyMoment(random, 110)
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
    lost,
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

function expectAlive(service: Service, after: string): void {
  const { exitCode, signalCode } = service.process
  const lastWords = service
    .stderr()
    .split('\n')
    .filter((line) => !line.startsWith('{'))
    .slice(-12)
    .join('\n')
  expect([exitCode, signalCode], `${after}, the server has ended: ${lastWords}`).toEqual([null, null])
}

/** Expects that no change was stored in part: all writes of a transaction exist, or none. */
async function expectWholeChanges(
  database: OwnDatabase,
  { service, toggled, writers, wrong, lost }: Busy,
): Promise<void> {
  const faults = service
    .stderr()
    .split('\n')
    .filter((line) => line.includes('internal error'))
  expect(wrong.concat(writers.wrong), `${faults.slice(0, 2).join('\n')}`).toEqual([])
  expect(lost, 'requests without an answer').toEqual([])
  await database.run(async (sql) => {
    const halfMade = await sql`
      select a.app_id, c.app_id is not null as has_config,
        (select count(*)::int from event e where e.app_id = a.app_id and type = 'thirdPartyConfig.saved') as events
      from application a left join third_party_config c using (app_id)`
    expect(halfMade.filter((row) => !row.has_config || row.events !== 1)).toEqual([])
    const rules = await sql`
      select r.id as rule, e.id as event
      from billing_rule r
      full join (select * from event where type = 'billingRule.created') e
        on e.app_id = r.app_id and e.subject = r.id::text
      where r.id is null or e.id is null`
    expect([...rules], 'rules without an event, or events without a rule').toEqual([])
    const toggles = await sql`
      select type from event where app_id = ${toggled} and type in ('application.online', 'application.offline')
      order by id`
    const types = toggles.map((row) => row.type as string)
    expect(
      types.filter((type, index) => type === types[index - 1]),
      'changes of state that changed nothing',
    ).toEqual([])
    const [state] = await sql`select online_status from application where app_id = ${toggled}`
    expect(types.at(-1)).toBe(state?.online_status === 1 ? 'application.online' : 'application.offline')
    const { appId } = (writers.settled[0]?.body ?? {}) as { appId: string }
    expect(await contradictions(sql, appId, writers.settled)).toEqual([])
    expect(await totals(sql, appId)).toEqual({ rows: writers.settled.length, events: writers.settled.length })
  })
}

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
  const back = await backAfter(busy.operations, performance.now())
  expectAlive(busy.service, `after ${cuts} cuts`)
  expect(back.filter(({ ms }) => ms > healsWithinMs)).toEqual([])
  await busy.finish()
  expect(cuts, 'cuts').toBeGreaterThan(15)
  await expectWholeChanges(database, busy)
  expect(await busy.service.stop()).toBe(0)
  await database.stop()
})
