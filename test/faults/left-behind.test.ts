import { expect, test } from 'bun:test'
import type { Sql } from 'postgres'
import { operations } from '../../src/reference/operations.ts'
import type { Operation } from '../../src/vocabulary/operation.ts'
import { send } from '../costs/calls.ts'
import { leftBy, measuredOf } from '../costs/operations.ts'
import { makeWorld, measuredOrigin, type WorldWithDatabase } from '../costs/world.ts'
import { Client } from '../kit/client.ts'
import { ownWorkplace } from '../kit/own-workplace.ts'
import { atScale } from '../kit/scale.ts'
import { waitUntil } from '../kit/waits.ts'

// How many rows each operation leaves behind, in which tables: every operation is called many times, and all tables are
// counted.

const place = ownWorkplace()

/** Tables that grow beside requests, or that have limits of their own however often an operation is called. */
const boundedTables = new Set([
  // The newest 1,000 of an application.
  'refusal',
  'access_token',
  // One row for each minute, day, hour and kind.
  'minute_figures',
  'database_size',
  'platform_count',
  'fleet_count',
  'usage_hour',
  'routine',
  // One for each event at most, for FORECOURT_DELIVERY_DAYS.
  'delivery',
  // Forgotten after 15 minutes.
  'sign_in_attempt',
  // 20 for each account.
  'operator_session',
  'operator_browser',
])

async function countTables(sql: Sql): Promise<Map<string, number>> {
  const tables = await sql<{ name: string }[]>`
    select relname as name from pg_class
    where relkind in ('r', 'p') and not relispartition and relnamespace = 'public'::regnamespace`
  const counted = await sql.unsafe(
    tables.map(({ name }) => `select '${name}' as name, count(*)::int as rows from ${name}`).join(' union all '),
  )
  return new Map(counted.map(({ name, rows }) => [name, rows]))
}

/** Waits until no import or act runs, but for those that the world holds back. */
async function jobsEnded({ sql }: WorldWithDatabase): Promise<void> {
  const isOver = async () =>
    (await sql`select 1 from import where status in (1, 2) and lease_until <> 'infinity'`).length === 0
  await waitUntil(isOver, 60_000)
}

/** Calls an operation so many times, and returns by how many rows the tables have grown. */
async function growthBy(
  world: WorldWithDatabase,
  operation: Operation,
  times: number,
): Promise<Record<string, number>> {
  const grown: Record<string, number> = {}
  // In portions, because what a call needs may not last until a thousand are prepared; only one job can wait at a time.
  const portion = ['cancelImport', 'cancelAct', 'deleteRegion'].includes(operation.id) ? 1 : 50
  for (let left = times; left > 0; left -= portion) {
    const calls = []
    for (let made = 0; made < Math.min(left, portion); made++) calls.push(await measuredOf(operation.id).call(world))
    await jobsEnded(world)
    const before = await countTables(world.sql)
    // A few at a time, as a program would; an application may run one replay at a time.
    const atOnce = operation.id === 'replayDeliveries' ? 1 : 5
    for (let at = 0; at < calls.length; at += atOnce) {
      await Promise.all(calls.slice(at, at + atOnce).map((call) => call && send(world, operation, call)))
    }
    await jobsEnded(world)
    for (const [table, rows] of await countTables(world.sql)) {
      const more = rows - (before.get(table) ?? 0)
      if (more > 0 && !boundedTables.has(table)) grown[table] = (grown[table] ?? 0) + more
    }
    // What is left behind has limits by the day too, and at most 200 price changes of an application wait.
    await world.sql`delete from usage_hour`
    await world.sql`
      update price_change set cancelled_at = now(), cancelled_by = 'platform:test'
      where applied_at is null and cancelled_at is null`
  }
  return grown
}

test('every operation leaves behind what is allowed, and no more', async () => {
  const database = await place.findDatabase()
  const receiver = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response(null, { status: 204 }) })
  const env = {
    DATABASE_URL: database.url(),
    FORECOURT_PRIVATE_CALLBACKS: 'allow',
    FORECOURT_PUBLIC_URL: measuredOrigin,
    FORECOURT_PRESENCE_SECONDS: '86400',
  }
  const client = new Client(await place.startService({ env }))
  const beyond: string[] = []
  await database.run(async (sql) => {
    const world = await makeWorld(client, sql, `http://127.0.0.1:${receiver.port}/`)
    for (const operation of operations) {
      const mayLeave = leftBy(operation)
      // What only people and operators call is prepared slowly, and is not what an application can do.
      const times = operation.callers.includes('application') ? atScale(1, 1_000) : atScale(1, 20)
      const grown = await growthBy(world, operation, times)
      for (const [table, rows] of Object.entries(grown)) {
        const most = (mayLeave[table] ?? 0) * times
        if (rows > most) beyond.push(`${operation.id} leaves ${rows} rows in ${table} by ${times} calls, not ${most}`)
      }
    }
  })
  receiver.stop(true)
  expect(beyond).toEqual([])
}, 3_600_000)
