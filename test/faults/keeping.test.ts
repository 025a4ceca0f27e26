import { afterAll, beforeAll, expect, test } from 'bun:test'
import pino from 'pino'
import { issueTokensRoutine } from '../../src/applications/tokens/routine.ts'
import { openDatabase, type Sql } from '../../src/database/open.ts'
import { transaction } from '../../src/database/transaction.ts'
import { deleteOldDeliveries } from '../../src/deliveries/store.ts'
import { deleteOldRefusals, storeRefusals } from '../../src/events/refusal-log/store.ts'
import { deleteOldEvents, installEventPruning } from '../../src/events/store.ts'
import { findCount } from '../../src/service/overview/store.ts'
import { noteDatabaseSize, readDatabaseSize } from '../../src/service/store.ts'
import { runUpkeep } from '../../src/service/upkeep.ts'
import { coordinatorUrl } from '../citus/cluster.ts'
import { type OwnDatabase, Workplace } from './support.ts'

// What is removed after its days, and what is not. Upkeep calls these steps again and again.

const place = new Workplace()
let database: OwnDatabase
let sql: Sql

beforeAll(async () => {
  database = await place.findDatabase()
  const service = await place.startService({ env: { DATABASE_URL: database.url() } })
  await service.stop()
  sql = openDatabase({ target: database.connection, connections: 1, statementTimeoutMs: 10_000 })
  await sql`
    insert into application (app_id, app_name, secret_hash, token_lifetime_seconds, created_at)
    select name, name, '', 7200, now() from unnest(array['follows', 'behind', 'stopped', 'silent']) as name`
  await sql`insert into application_lock (app_id) select app_id from application`
  // Behind: its callback has had the first 10 of its events.
  await sql`
    insert into callback_endpoint (app_id, through_event_id, stopped_at)
    values ('follows', 1000000, null), ('behind', 10, null), ('stopped', 0, now())`
}, 120_000)
afterAll(async () => {
  await sql?.end({ timeout: 1 })
  await place.clear()
}, 120_000)

/** Calls a step until it has nothing left to do; answers what each call removed. */
async function removeAll(step: () => Promise<number>): Promise<number[]> {
  const removed: number[] = []
  do removed.push(await step())
  while (removed.at(-1) !== 0)
  return removed
}

const of = (eventDays: number, stateEventDays = eventDays) => ({ eventDays, stateEventDays })

test('events go after their days, in small steps, the oldest first, and none that a callback is still to take', async () => {
  // Event n is n / 10 days younger than 40 days: 1 to 100 are more than 30 days old, 101 to 400 are not.
  await sql`
    insert into event (app_id, id, type, time, actor, data)
    select name, n, 'device.bound', now() - interval '40 days' + n * interval '0.1 day' - interval '1 hour', 'x', '{}'
    from unnest(array['follows', 'behind', 'stopped', 'silent', '']) as name, generate_series(1, 400) as n`
  await installEventPruning(sql, of(30))
  const removed = await removeAll(() => deleteOldEvents(sql, 60))
  expect(Math.max(...removed)).toBe(60)
  const left = await sql`
    select app_id, min(id)::int as first, count(*)::int as count from event where actor = 'x' group by 1 order by 1`
  expect(left.map((row) => [row.app_id, row.first, row.count])).toEqual([
    // The platform's own.
    ['', 101, 300],
    ['behind', 11, 390],
    ['follows', 101, 300],
    ['silent', 101, 300],
    ['stopped', 101, 300],
  ])
  // Once the callback has taken them, they go too.
  await sql`update callback_endpoint set through_event_id = 400 where app_id = 'behind'`
  expect(await removeAll(() => deleteOldEvents(sql, 60))).toEqual([60, 30, 0])
  await installEventPruning(sql, of(400))
  expect(await removeAll(() => deleteOldEvents(sql, 60))).toEqual([0])
})

test('events that are old are found without reading those that are not', async () => {
  await sql`
    insert into event (app_id, id, type, time, actor, data)
    select name, extract(epoch from now()) * 1000000 + n, 'device.bound', now(), 'x', '{}'
    from unnest(array['follows', '']) as name, generate_series(1, 50000) as n`
  await sql`
    insert into event (app_id, id, type, time, actor, data)
    select name, -n, 'device.bound', now() - interval '100 days', 'x', '{}'
    from unnest(array['follows', '']) as name, generate_series(1, 500) as n`
  await sql`analyze event`
  const readings = async () => {
    await sql`select pg_stat_force_next_flush()`
    const [row] =
      await sql`select seq_scan::int as whole, idx_tup_fetch::int as rows from pg_stat_user_tables where relname = 'event'`
    return row as { whole: number; rows: number }
  }
  const before = await readings()
  await installEventPruning(sql, of(90))
  expect(await removeAll(() => deleteOldEvents(sql, 400))).toEqual([400, 400, 200, 0])
  const after = await readings()
  expect(after.whole, 'readings of the whole table').toBe(before.whole)
  expect(after.rows - before.rows, 'rows that were looked at').toBeLessThan(10_000)
})

test('changes of states go after days of their own, but none that a callback is still to take or to try again', async () => {
  await sql`delete from event where actor = 'x'`
  // Event n is n / 10 days younger than 40 days; every fourth is about something else.
  await sql`
    insert into event (app_id, id, type, time, actor, data)
    select name, n, case when n % 4 = 0 then 'device.updated' else 'device.stateChanged' end,
      now() - interval '40 days' + n * interval '0.1 day' - interval '1 hour', 'x', '{}'
    from unnest(array['follows', 'behind']) as name, generate_series(1, 400) as n`
  await sql`update callback_endpoint set through_event_id = 50 where app_id = 'behind'`
  await sql`
    insert into delivery (app_id, id, type, status, attempts, next_attempt_at, event_time, created_at, attempt_log)
    select 'follows', id, 'device.stateChanged', case when id = 5 then 1 else 3 end, 1,
      case when id = 5 then now() end, now(), now(), '[]' from unnest(array[5, 6]) as id`
  const left = async () => {
    const rows = await sql`
      select app_id, count(*)::int as count, count(*) filter (where id <= 100 and type <> 'device.updated')::int as old
      from event where actor = 'x' group by 1 order by 1`
    return rows.map((row) => [row.app_id, row.count, row.old])
  }
  await installEventPruning(sql, of(400, 30))
  const removed = await removeAll(() => deleteOldEvents(sql, 20))
  expect(Math.max(...removed)).toBe(20)
  expect(await left()).toEqual([
    // 37 of 75 old ones are taken.
    ['behind', 362, 37],
    ['follows', 326, 1],
  ])
  await sql`update callback_endpoint set through_event_id = 400 where app_id = 'behind'`
  await sql`update delivery set status = 2, next_attempt_at = null where app_id = 'follows' and id = 5`
  expect(await removeAll(() => deleteOldEvents(sql, 20))).toEqual([20, 18, 0])
  // They are never kept longer than the others.
  await installEventPruning(sql, of(20, 30))
  await removeAll(() => deleteOldEvents(sql, 1000))
  expect(await left()).toEqual([
    ['behind', 200, 0],
    ['follows', 200, 0],
  ])
  await sql`delete from delivery`
})

test('old changes of states are found without reading the events around them', async () => {
  await sql`delete from event where actor = 'x'`
  await sql`
    insert into event (app_id, id, type, time, actor, data)
    select 'follows', extract(epoch from now() - interval '60 days') * 1000000 + n,
      case when n % 100 = 0 then 'device.stateChanged' else 'device.updated' end, now() - interval '60 days', 'x', '{}'
    from generate_series(1, 30000) as n`
  await sql`update callback_endpoint set through_event_id = 9000000000000000 where app_id = 'follows'`
  await sql`analyze event`
  const readings = async () => {
    await sql`select pg_stat_force_next_flush()`
    const [row] = await sql`
      select seq_scan::int as whole, idx_tup_fetch::int as rows from pg_stat_user_tables where relname = 'event'`
    return row as { whole: number; rows: number }
  }
  await installEventPruning(sql, of(400, 30))
  const before = await readings()
  expect(await removeAll(() => deleteOldEvents(sql, 100))).toEqual([100, 100, 100, 0])
  const after = await readings()
  expect(after.whole, 'readings of the whole table').toBe(before.whole)
  expect(after.rows - before.rows, 'rows that were looked at').toBeLessThan(2_000)
})

test('deliveries go after their days, but not while they wait for an attempt that is near', async () => {
  await sql`
    insert into delivery (app_id, id, type, status, attempts, next_attempt_at, event_time, created_at, attempt_log)
    select name, n, 'device.bound', case when n % 10 = 0 then 1 when n % 10 = 1 then 3 else 2 end, 1,
      case when n % 20 = 0 then now() when n % 10 = 0 then now() - interval '31 days' end, now(),
      now() - interval '40 days' + n * interval '0.1 day' - interval '1 hour', '[]'
    from unnest(array['follows', 'silent']) as name, generate_series(1, 400) as n`
  const removed = await removeAll(() => deleteOldDeliveries(sql, 50, 30))
  expect(Math.max(...removed)).toBe(50)
  const left = await sql`
    select app_id, count(*)::int as count, count(*) filter (where id <= 100)::int as old,
      bool_and(status = 1) filter (where id <= 100) as waits
    from delivery group by 1 order by 1`
  expect(left.map((row) => [row.app_id, row.count, row.old, row.waits])).toEqual([
    ['follows', 305, 5, true],
    ['silent', 305, 5, true],
  ])
})

test('refusals of an application are bounded by its minute and its thousand, and go after their days', async () => {
  const [from] = await sql`select date_trunc('minute', now()) - interval '20 minutes' as minute`
  const refusalsAt = (minute: number, count: number, appId = 'follows') =>
    Array.from({ length: count }, (_, n) => ({
      appId,
      time: new Date(from?.minute.getTime() + minute * 60_000 + (n % 60) * 1000),
      requestId: `${minute} ${n}`,
      operation: 'createDevice',
      code: 20017,
      subject: 'SN-1',
      actor: `application:${appId}`,
      errors: null,
    }))
  const keep = (batch: ReturnType<typeof refusalsAt>) => transaction(sql, (tx) => storeRefusals(tx, batch))
  const kept = async (appId: string) => {
    const rows = await sql`select request_id from refusal where app_id = ${appId} order by id`
    return rows.map((row) => row.request_id)
  }
  // As two processes do at the same time: the second has room for 100.
  await Promise.all([keep(refusalsAt(1, 200)), keep(refusalsAt(1, 200))])
  expect(await kept('follows')).toHaveLength(300)
  await keep(refusalsAt(1, 1))
  expect(await kept('follows')).toHaveLength(300)
  await keep([...refusalsAt(2, 3, 'behind'), ...refusalsAt(2, 3, 'no-such-application')])
  expect(await kept('behind')).toHaveLength(3)
  // They are an operator's, and about no application.
  expect(await kept('no-such-application')).toEqual([])
  expect(await kept('')).toHaveLength(3)
  for (const minute of [2, 3, 4]) await keep(refusalsAt(minute, 300))
  const newest = await kept('follows')
  expect(newest).toHaveLength(1000)
  expect([newest[0], newest.at(-1)]).toEqual(['1 0', '4 299'])

  await sql`update refusal set time = now() - interval '8 days' where app_id = 'behind' or request_id like '2 %'`
  expect(await removeAll(() => deleteOldRefusals(sql, 200, 7))).toEqual([200, 106, 0])
  expect(await kept('behind')).toEqual([])
  expect(await kept('follows')).toHaveLength(700)
})

const isDistributed = coordinatorUrl !== undefined
const settings = { deliveryDays: 30, refusalDays: 7, isDistributed }

test('upkeep notes the size of the database, which tells how much it grows in a day, and counts what metrics show', async () => {
  await sql`delete from database_size`
  await sql`delete from platform_count`
  expect(await readDatabaseSize(sql, isDistributed)).toMatchObject({ bytesPerDay: null, notedAt: null })
  const warnings: string[] = []
  const upkeep = () =>
    runUpkeep(sql, pino({}, { write: (line) => void warnings.push(line) }), settings, [issueTokensRoutine])
  await upkeep()
  const { bytes, bytesPerDay, notedAt } = await readDatabaseSize(sql, isDistributed)
  expect(bytes).toBeGreaterThan(5_000_000)
  expect(bytesPerDay).toBeNull()
  expect(Date.now() - (notedAt?.getTime() ?? 0)).toBeLessThan(60_000)
  const counted = await findCount(sql)
  expect(counted?.counts.applications).toBe(4)
  // Four days ago it was 4 MB smaller; what was a month ago is known no more.
  await sql`
    insert into database_size (day, bytes, noted_at)
    select current_date - days, bytes - 1000000 * days, noted_at - days * interval '1 day'
    from database_size, unnest(array[4, 20, 40]) as days`
  await upkeep()
  expect((await readDatabaseSize(sql, isDistributed)).bytesPerDay).toBeWithin(990_000, 1_200_000)
  const kept = await sql<{ days: number }[]>`select current_date - day as days from database_size order by 1`
  expect(kept.map(({ days }) => days)).toEqual([0, 4, 20])
  // It was counted a moment ago.
  expect((await findCount(sql))?.countedAt).toEqual(counted?.countedAt as Date)
  expect(warnings).toEqual([])
})

test.skipIf(isDistributed)(
  'the size of a cluster is not known while a node is away, and upkeep keeps the last',
  async () => {
    // What Citus returns of a node that does not answer.
    const answers = (rows: string) =>
      sql.unsafe(`create or replace function run_command_on_all_nodes(text)
      returns table (nodeid integer, success boolean, result text) language sql as
      $$ values ${rows} $$`)
    await sql`delete from database_size`
    await answers("(1, true, '5000'), (2, false, 'failed to connect to 127.0.0.1:9702')")
    await noteDatabaseSize(sql, true)
    expect(await readDatabaseSize(sql, true)).toMatchObject({ bytes: null, notedAt: null })
    await answers("(1, true, '5000'), (2, true, '7000')")
    await noteDatabaseSize(sql, true)
    expect(await readDatabaseSize(sql, true)).toMatchObject({ bytes: 12_000 })
    await answers("(1, true, '6000'), (2, false, 'failed to connect to 127.0.0.1:9702')")
    await noteDatabaseSize(sql, true)
    expect(await readDatabaseSize(sql, true)).toMatchObject({ bytes: null })
    expect((await sql`select bytes::int from database_size`).map(({ bytes }) => bytes)).toEqual([12_000])
    await sql`drop function run_command_on_all_nodes`
  },
)

// Citus has no triggers.
test.skipIf(coordinatorUrl !== undefined)('what cannot be removed keeps nothing else', async () => {
  await sql`
    insert into idempotency_key (app_id, operation, key, body_hash, answer, created_at)
    values ('silent', 'createDevice', 'k', '', '', now() - interval '2 days')`
  await sql`
    insert into delivery (app_id, id, type, status, attempts, event_time, created_at, attempt_log)
    values ('silent', 9000, 'device.bound', 2, 1, now(), now() - interval '40 days', '[]')`
  await sql`create function refuse() returns trigger language plpgsql as 'begin raise ''full''; end'`
  await sql`create trigger refuse before delete on idempotency_key for each row execute function refuse()`
  const warnings: string[] = []
  await runUpkeep(sql, pino({}, { write: (line) => void warnings.push(line) }), settings, [issueTokensRoutine])
  await sql`drop trigger refuse on idempotency_key`
  expect(warnings).toHaveLength(1)
  const left = async () => {
    const [row] = await sql`
      select (select count(*)::int from delivery where id = 9000) as deliveries,
        (select count(*)::int from idempotency_key where key = 'k') as keys`
    return [row?.deliveries, row?.keys]
  }
  expect(await left()).toEqual([0, 1])
  await runUpkeep(sql, pino({ level: 'silent' }), settings, [issueTokensRoutine])
  expect(await left()).toEqual([0, 0])
})
