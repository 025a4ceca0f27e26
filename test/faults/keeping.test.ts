import { afterAll, expect, test } from 'bun:test'
import pino from 'pino'
import type { ISql } from 'postgres'
import { issueTokensRoutine } from '../../src/applications/tokens/routine.ts'
import { takeJob } from '../../src/bulk/jobs/store.ts'
import { oldIdempotencyKeys } from '../../src/database/idempotency.ts'
import { openDatabase, type Sql } from '../../src/database/open.ts'
import { prune } from '../../src/database/prune.ts'
import { transaction } from '../../src/database/transaction.ts'
import { oldDeliveries } from '../../src/deliveries/store.ts'
import { installHistoryKeeping, type KeptPartition, keepHistory } from '../../src/events/history/store.ts'
import { oldRefusals, storeRefusals } from '../../src/events/refusal-log/store.ts'
import { findCount } from '../../src/service/overview/store.ts'
import { readDatabaseSize } from '../../src/service/store.ts'
import { runUpkeep } from '../../src/service/upkeep.ts'
import { coordinatorUrl } from '../citus/cluster.ts'
import { askWhileLocked } from '../kit/locks.ts'
import { waitUntil } from '../kit/waits.ts'
import { Workplace } from '../kit/workplace.ts'

// Which rows are removed after their days, and which are kept. The service repeats these steps regularly.

const place = new Workplace()

const database = await place.findDatabase()
const sql = openDatabase({ target: database.connection, connections: 1, statementTimeoutMs: 10_000 })
await sql`
  insert into application (app_id, app_name, secret_hash, token_lifetime_seconds, created_at)
  select name, name, '', 7200, now() from unnest(array['follows', 'behind', 'stopped', 'silent']) as name`
await sql`insert into application_lock (app_id) select app_id from application`
await sql`
  insert into callback_endpoint (app_id, through_event_id, stopped_at)
  values ('follows', 9000000000000000, null), ('behind', 0, null), ('stopped', 0, now())`
afterAll(async () => {
  await sql?.end({ timeout: 1 })
  await place.clear()
}, 120_000)

/** Runs a step while another transaction has changed a row that it looks for, and not yet ended. */
const whileChanging = <Answered>(change: (tx: ISql) => Promise<unknown>, step: (own: Sql) => Promise<Answered>) =>
  askWhileLocked(
    database,
    change,
    () => database.run(step),
    async () => {},
  )

test('a key that is used anew while it is looked for as old is kept', async () => {
  await sql`
    insert into idempotency_key (app_id, operation, key, body_hash, answer, created_at)
    select 'follows', 'saveSite', key, '', '{}', now() - interval '2 days' from unnest(array['anew', 'old']) as key`
  const use = (tx: ISql) => tx`update idempotency_key set created_at = now() where key = 'anew'`
  expect(await whileChanging(use, (own) => prune(own, oldIdempotencyKeys, 10))).toBe(1)
  expect(await sql`select key from idempotency_key`).toMatchObject([{ key: 'anew' }])
})

test('a job that is cancelled while it is taken stays cancelled', async () => {
  const [made] = await sql`
    insert into import (app_id, kind, format, is_dry_run, status, actor, created_at, lease_until)
    values ('follows', 'sites', 'csv', false, 1, 'x', now(), '-infinity') returning id`
  const cancel = (tx: ISql) => tx`update import set status = 5, finished_at = now() where id = ${made?.id}`
  expect(await whileChanging(cancel, takeJob)).toBeUndefined()
  expect(await sql`select status from import where id = ${made?.id}`).toMatchObject([{ status: 5 }])
})

/** Repeats a step until it removes nothing; returns how many rows each call removed. */
async function removeAll(step: () => Promise<number>): Promise<number[]> {
  const removed: number[] = []
  do removed.push(await step())
  while (removed.at(-1) !== 0)
  return removed
}

const dayIds = 86_400_000_000
const today = () => Math.floor((Date.now() * 1000) / dayIds) * dayIds

/** Adds a partition for each of these days, with one row of each application. */
async function fillDays(table: 'event' | 'state_change', days: readonly number[], apps: readonly string[]) {
  for (const ago of days) {
    const first = today() - ago * dayIds
    await sql`select add_history_partition(${table}, ${first}::bigint, ${first + dayIds}::bigint)`
    const time = new Date(first / 1000 + 1000)
    for (const appId of apps) {
      await (table === 'event'
        ? sql`
            insert into event (app_id, id, type, time, actor, data)
            values (${appId}, ${first + 1}, 'device.bound', ${time}, 'x', '{}')`
        : sql`
            insert into state_change (app_id, id, time, actor, device_no, status, online_status, run_status, before)
            values (${appId}, ${first + 1}, ${time}, 'x', 'SN-1', 1, 1, 0, '{}')`)
    }
  }
}

/** How many days ago the rows of a table were written, newest first. */
async function daysKept(table: 'event' | 'state_change', appId = 'silent'): Promise<number[]> {
  const rows = await sql.unsafe<{ id: number }[]>(
    `select id from ${table} where app_id = $1 and actor = 'x' order by id desc`,
    [appId],
  )
  return rows.map(({ id }) => Math.round((today() - id + 1) / dayIds))
}

async function emptyHistory(): Promise<void> {
  await sql`truncate event, state_change, delivery`
  for (const { name } of await sql`select name from history_partition`) await sql.unsafe(`drop table ${name}`)
}

const outcomesOf = (kept: KeptPartition[]) => kept.map(({ outcome }) => outcome)

test('events and changes of state go after days of their own, with their partitions', async () => {
  await emptyHistory()
  await fillDays('event', [50, 41, 32, 31, 29, 5], ['silent', ''])
  await fillDays('state_change', [50, 11, 9, 5], ['silent'])
  const bytes = async () =>
    (await sql`select sum(pg_total_relation_size(relid))::int as bytes from pg_partition_tree('event')`)[0]?.bytes
  const before = await bytes()
  await installHistoryKeeping(sql, { eventDays: 30, stateEventDays: 9 })
  expect(await daysKept('event')).toEqual([5, 29])
  expect(await daysKept('event', '')).toEqual([5, 29])
  expect(await daysKept('state_change')).toEqual([5, 9])
  expect(await bytes()).toBeLessThan(before)
  // Changes of state are never kept for longer than events.
  await installHistoryKeeping(sql, { eventDays: 6, stateEventDays: 30 })
  expect(await daysKept('event')).toEqual([5])
  expect(await daysKept('state_change')).toEqual([5])
  await installHistoryKeeping(sql, { eventDays: 400, stateEventDays: 400 })
  expect(await daysKept('event')).toEqual([5])
})

test('what a callback has not taken, or will try again, is kept for a week longer and no more', async () => {
  await emptyHistory()
  await installHistoryKeeping(sql, { eventDays: 30, stateEventDays: 30 })
  const isBehind = (days: number) =>
    sql`update callback_endpoint set through_event_id = ${today() - days * dayIds} where app_id = 'behind'`
  await fillDays('event', [39, 35, 34, 33, 32], ['follows', 'behind', 'stopped', 'silent'])
  // The callback has sent the events that are 34 days old or older.
  await isBehind(33)
  expect(outcomesOf(await keepHistory(sql))).toEqual(['dropped', 'dropped', 'dropped', 'held', 'held'])
  expect(await daysKept('event', 'behind')).toEqual([32, 33])
  // A stopped endpoint gets no more callbacks, so its events are not kept.
  await isBehind(0)
  await sql`
    insert into delivery (app_id, id, type, status, attempts, next_attempt_at, event_time, created_at, attempt_log)
    values ('follows', ${today() - 33 * dayIds + 1}, 'device.bound', 1, 1, now(), now(), now(), '[]')`
  expect(outcomesOf(await keepHistory(sql))).toEqual(['dropped', 'held'])
  expect(await daysKept('event', 'follows')).toEqual([33])
  await sql`delete from delivery`
  expect(outcomesOf(await keepHistory(sql))).toEqual(['dropped'])
  expect(await daysKept('event', 'follows')).toEqual([])

  // An endpoint can be this far behind after a pause of all callbacks, for example.
  await fillDays('event', [39, 37, 36], ['behind'])
  await isBehind(100)
  expect(outcomesOf(await keepHistory(sql))).toEqual(['dropped although needed', 'held', 'held'])
  const lines: string[] = []
  await runUpkeep(sql, pino({}, { write: (line) => void lines.push(line) }), settings, [issueTokensRoutine])
  expect(lines.filter((line) => line.includes('events kept past their retention period'))).toHaveLength(2)
  await isBehind(0)
  await keepHistory(sql)
})

test('partitions are made ahead, and a row that has none is taken and moved later', async () => {
  await emptyHistory()
  const tomorrow = today() + dayIds
  const insert = (id: number) => sql`
    insert into event (app_id, id, type, time, actor, data) values ('silent', ${id}, 'device.bound', now(), 'x', '{}')`
  await insert(tomorrow + 1)
  await insert(tomorrow + 500 * dayIds)
  const places = async () =>
    (
      await sql`select regexp_replace(tableoid::regclass::text, '_\\d{6}$', '') as name from event where actor = 'x' order by id`
    ).map(({ name }) => name)
  expect(await places()).toEqual(['event_default', 'event_default'])
  await installHistoryKeeping(sql, { eventDays: 30, stateEventDays: 9 })
  const day = new Date(today() / 1000).toISOString().slice(0, 10).replaceAll('-', '')
  expect(await places()).toEqual([`event_${day}`, 'event_default'])
  const ends = await sql`select parent, max(end_id) as end from history_partition group by 1 order by 1`
  for (const { end } of ends) expect(end).toBeGreaterThan(tomorrow)
  expect(ends.map(({ parent }) => parent)).toEqual(['event', 'state_change'])
  // Nothing to do until the next day.
  expect(await keepHistory(sql)).toEqual([])
  await emptyHistory()
})

test('a partition that is being read is left for the next round, and writers wait no longer than for its lock', async () => {
  await emptyHistory()
  await installHistoryKeeping(sql, { eventDays: 30, stateEventDays: 9 })
  await fillDays('event', [40], ['silent'])
  const open = () => openDatabase({ target: database.connection, connections: 1, statementTimeoutMs: 10_000 })
  const [reader, writer] = [open(), open()]
  try {
    let longestMs = 0
    await transaction(reader, async (tx) => {
      await tx`select count(*) from event`
      let isDone = false
      const writing = (async () => {
        for (let n = 1; !isDone; n++) {
          const began = performance.now()
          await writer`
            insert into event (app_id, id, type, time, actor, data)
            values ('silent', ${today() + n}, 'device.bound', now(), 'y', '{}')`
          longestMs = Math.max(longestMs, performance.now() - began)
        }
      })()
      expect(outcomesOf(await keepHistory(sql))).toEqual(['busy'])
      isDone = true
      await writing
    })
    expect(longestMs).toBeLessThan(2000)
    expect(outcomesOf(await keepHistory(sql))).toEqual(['dropped'])
  } finally {
    await Promise.all([reader.end(), writer.end()])
  }
})

test('deliveries go after their days, but not while they wait for an attempt that is near', async () => {
  await sql`
    insert into delivery (app_id, id, type, status, attempts, next_attempt_at, event_time, created_at, attempt_log)
    select name, n, 'device.bound', case when n % 10 = 0 then 1 when n % 10 = 1 then 3 else 2 end, 1,
      case when n % 20 = 0 then now() when n % 10 = 0 then now() - interval '31 days' end, now(),
      now() - interval '40 days' + n * interval '0.1 day' - interval '1 hour', '[]'
    from unnest(array['follows', 'silent']) as name, generate_series(1, 400) as n`
  const removed = await removeAll(() => prune(sql, oldDeliveries(30), 50))
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
  // Two processes write at the same time: room for 100 refusals is left for the second.
  await Promise.all([keep(refusalsAt(1, 200)), keep(refusalsAt(1, 200))])
  expect(await kept('follows')).toHaveLength(300)
  await keep(refusalsAt(1, 1))
  expect(await kept('follows')).toHaveLength(300)
  await keep([...refusalsAt(2, 3, 'behind'), ...refusalsAt(2, 3, 'no-such-application')])
  expect(await kept('behind')).toHaveLength(3)
  // Refusals that name an unknown application are stored as an operator's, without an application.
  expect(await kept('no-such-application')).toEqual([])
  expect(await kept('')).toHaveLength(3)
  for (const minute of [2, 3, 4]) await keep(refusalsAt(minute, 300))
  const newest = await kept('follows')
  expect(newest).toHaveLength(1000)
  expect([newest[0], newest.at(-1)]).toEqual(['1 0', '4 299'])

  await sql`update refusal set time = now() - interval '8 days' where app_id = 'behind' or request_id like '2 %'`
  expect(await removeAll(() => prune(sql, oldRefusals(7), 200))).toEqual([200, 106, 0])
  expect(await kept('behind')).toEqual([])
  expect(await kept('follows')).toHaveLength(700)
})

const settings = { deliveryDays: 30, eventDays: 400, refusalDays: 7 }

test('upkeep notes the size of the database, which tells how much it grows in a day, and counts what metrics show', async () => {
  await sql`delete from database_size`
  await sql`delete from platform_count`
  expect(await readDatabaseSize(sql)).toMatchObject({ bytesPerDay: null, notedAt: null })
  const warnings: string[] = []
  const upkeep = () =>
    runUpkeep(sql, pino({}, { write: (line) => void warnings.push(line) }), settings, [issueTokensRoutine])
  await upkeep()
  const { bytes, bytesPerDay, notedAt } = await readDatabaseSize(sql)
  expect(bytes).toBeGreaterThan(5_000_000)
  expect(bytesPerDay).toBeNull()
  expect(Date.now() - (notedAt?.getTime() ?? 0)).toBeLessThan(60_000)
  const counted = await findCount(sql)
  expect(counted?.counts.applications).toBe(4)
  // Four days ago it was 4 MB smaller; the size of 40 days ago is removed.
  await sql`
    insert into database_size (day, bytes, noted_at)
    select current_date - days, bytes - 1000000 * days, noted_at - days * interval '1 day'
    from database_size, unnest(array[4, 20, 40]) as days`
  await upkeep()
  // Meanwhile it may have shrunk a little, by a vacuum.
  expect((await readDatabaseSize(sql)).bytesPerDay).toBeWithin(900_000, 1_200_000)
  const kept = await sql<{ days: number }[]>`select current_date - day as days from database_size order by 1`
  expect(kept.map(({ days }) => days)).toEqual([0, 4, 20])
  // The count is recent, so it was not repeated.
  expect((await findCount(sql))?.countedAt).toEqual(counted?.countedAt as Date)
  expect(warnings).toEqual([])
})

// Skipped on Citus, which has no triggers.
test.skipIf(coordinatorUrl !== undefined)(
  'a backlog of one kind of rows does not hold up the others, and is removed in the same round',
  async () => {
    await sql`
    insert into delivery (app_id, id, type, status, attempts, event_time, created_at, attempt_log)
    select 'silent', 20000 + n, 'device.bound', 2, 1, now(), now() - interval '40 days', '[]'
    from generate_series(1, 20000) as n`
    await sql`create function dawdle() returns trigger language plpgsql as 'begin perform pg_sleep(0.4); return null; end'`
    await sql`create trigger dawdle after delete on delivery for each statement execute function dawdle()`
    await sql`delete from database_size`
    const left = async () => (await sql`select 1 from delivery where id > 20000 limit 1`).length
    const isNoted = async () => (await sql`select 1 from database_size`).length === 1
    const upkeep = runUpkeep(sql, pino({ level: 'silent' }), settings, [issueTokensRoutine])
    // The actor that notes the size has its turn after all others.
    await waitUntil(isNoted)
    expect(await left()).toBe(1)
    await upkeep
    expect(await left()).toBe(0)
    await sql`drop function dawdle cascade`
  },
)

// Skipped on Citus, which has no triggers.
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
