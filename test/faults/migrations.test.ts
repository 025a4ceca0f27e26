import { afterAll, beforeEach, describe, expect, test } from 'bun:test'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { migrate } from '../../src/database/migrate.ts'
import { openDatabase, type Sql } from '../../src/database/open.ts'
import { installRoutines, keepRoutines, routine } from '../../src/database/routine.ts'
import { sharedServer } from '../kit/shared-server.ts'
import { sleep, waitUntil } from '../kit/waits.ts'
import { Workplace } from '../kit/workplace.ts'

// How a start migrates the schema, and how the SQL functions of other versions are removed.

const place = new Workplace()
let databases = 0
let sql: Sql
const opened: Sql[] = []

const server = await sharedServer()
beforeEach(async () => {
  databases++
  await server.run((admin) => admin.unsafe(`create database migrated_${databases}`))
  sql = open(2)
})
afterAll(async () => {
  for (const pool of opened) await pool.end({ timeout: 1 })
  await place.clear()
}, 120_000)

/** Opens a connection pool to the test's database with a short statement timeout, as each process has one. */
function open(connections = 1): Sql {
  const target = { ...server.connection, database: `migrated_${databases}` }
  const pool = openDatabase({ target, connections, statementTimeoutMs: 1000 })
  opened.push(pool)
  return pool
}

/** A folder with these migrations, and the log lines of their execution. */
function folderOf(files: Record<string, string>) {
  const folder = place.newFolder()
  mkdirSync(folder)
  const write = (more: Record<string, string>) => {
    for (const [file, text] of Object.entries(more)) writeFileSync(join(folder, file), text)
  }
  write(files)
  const lines: unknown[][] = []
  return { folder, write, lines, log: { info: (...line: unknown[]) => lines.push(line) } }
}

const appliedFiles = async () => (await sql`select file from schema_migration order by version`).map(({ file }) => file)
const refusalOf = (promise: Promise<unknown>) => promise.then(() => 'none', String)

describe('migrate', () => {
  test('applies each file in a transaction of its own, longer than a statement may run, and logs it', async () => {
    const { folder, write, lines, log } = folderOf({
      '0001-first.sql': 'create table first (n int); select pg_sleep(1.5);',
      '0002-second.sql': 'create table second (n int); insert into first values (1); select 1 / 0;',
    })
    expect(await refusalOf(migrate(sql, open, folder, log))).toContain('0002-second.sql: division by zero')
    expect(await appliedFiles()).toEqual(['0001-first.sql'])
    expect(await sql`select to_regclass('second') as second, (select count(*)::int from first) as rows`).toEqual([
      { second: null, rows: 0 },
    ] as never)
    write({ '0002-second.sql': 'create table second (n int);' })
    await migrate(sql, open, folder, log)
    expect(await appliedFiles()).toEqual(['0001-first.sql', '0002-second.sql'])
    expect(lines).toEqual([
      [{ file: '0001-first.sql', milliseconds: expect.any(Number) }, 'migration applied'],
      [{ file: '0002-second.sql', milliseconds: expect.any(Number) }, 'migration applied'],
    ])
    // Applied migrations are not repeated.
    await migrate(sql, open, folder, log)
    expect(lines).toHaveLength(2)
  })

  test('refuses a file that was changed after it was applied', async () => {
    const { folder, write, log } = folderOf({ '0001-first.sql': 'create table first (n int);', '0002-second.sql': '' })
    await migrate(sql, open, folder, log)
    write({ '0002-second.sql': 'create table second ();', '0003-third.sql': 'create table third (n int);' })
    expect(await refusalOf(migrate(sql, open, folder, log))).toBe(
      'UserError: Migration 0002-second.sql differs from the version that was applied to the database. Restore the file and make the change in a new migration.',
    )
    expect(await sql`select to_regclass('third') as third`).toEqual([{ third: null }] as never)
    write({ '0002-second.sql': '' })
    await migrate(sql, open, folder, log)
    expect(await appliedFiles()).toHaveLength(3)
  })

  test('refuses a database whose first file is not this program’s: it was created before 1.0.0', async () => {
    const before = folderOf({ '0001-schema.sql': 'create table first (n int);', '0002-history.sql': '' })
    await migrate(sql, open, before.folder, before.log)
    const { folder, log } = folderOf({ '0001-schema.sql': 'create table first (n bigint);' })
    expect(await refusalOf(migrate(sql, open, folder, log))).toBe(
      'UserError: The database was created by a version before 1.0.0, which this version cannot upgrade: use an empty database or data folder.',
    )
  })

  test('runs a file outside a transaction where it says so, while others write and others migrate', async () => {
    const { folder, write, lines, log } = folderOf({
      '0001-first.sql': 'create table first as select n from generate_series(1, 10000) as n;',
    })
    await migrate(sql, open, folder, log)
    write({
      '0002-index.sql':
        '-- outside a transaction\n-- Not there twice.\ndrop index concurrently if exists first_by_n;\n' +
        "create index concurrently first_by_n\n  on first (n);\ncomment on index first_by_n is 'a;b';\n",
      '0003-third.sql': 'create table third (n int);',
    })
    // The migration waits for this writer, and every other start waits for the migration.
    const begins = Promise.withResolvers<void>()
    const ends = Promise.withResolvers<void>()
    const others = [open(), open()]
    const writing = open().begin(async (tx) => {
      await tx`set idle_in_transaction_session_timeout = 0`
      await tx`insert into first values (0)`
      begins.resolve()
      await ends.promise
    })
    await begins.promise
    const all = [sql, ...others].map((pool) => migrate(pool, open, folder, log))
    const isBuilding = async () => (await server.sql`select 1 from pg_stat_progress_create_index`).length === 1
    await waitUntil(isBuilding)
    // Longer than the statement timeout, and than PostgreSQL's deadlock timeout.
    await sleep(2500)
    expect(await appliedFiles()).toEqual(['0001-first.sql'])
    ends.resolve()
    await Promise.all([writing, ...all])
    expect(await appliedFiles()).toEqual(['0001-first.sql', '0002-index.sql', '0003-third.sql'])
    expect(await sql`select indisvalid from pg_index where indexrelid = 'first_by_n'::regclass`).toEqual([
      { indisvalid: true },
    ] as never)
    expect(lines.filter(([, words]) => words === 'migration applied')).toHaveLength(3)
    expect(
      lines.filter(([words]) => String(words).startsWith('waiting for another process')).length,
    ).toBeGreaterThanOrEqual(2)
  })

  test('tries a file again that waited for a transaction which waited for it', async () => {
    const { folder, write, lines, log } = folderOf({
      '0001-both.sql': 'create table one (n int); create table two ();',
    })
    await migrate(sql, open, folder, log)
    write({ '0002-more.sql': 'alter table two add n int; alter table one add m int;' })
    let migrating: Promise<void> | undefined
    await open().begin(async (tx) => {
      await tx`set local idle_in_transaction_session_timeout = 0`
      await tx`set local statement_timeout = 30000`
      // If this transaction comes late, the migration must still be the one that gives way.
      await tx`set local deadlock_timeout = '1min'`
      await tx`insert into one values (1)`
      migrating = migrate(sql, open, folder, log)
      const isWaiting = async () =>
        (await server.sql`select 1 from pg_locks where not granted and mode = 'AccessExclusiveLock'`).length === 1
      await waitUntil(isWaiting)
      await tx`insert into two default values`
    })
    await migrating
    expect(await appliedFiles()).toEqual(['0001-both.sql', '0002-more.sql'])
    const reason = expect.stringMatching(
      /^0002-more\.sql: (deadlock detected|canceling statement due to lock timeout)$/,
    )
    expect(lines).toContainEqual([{ reason }, 'migration couldn’t lock its tables; will retry'])
  })
})

describe('routines', () => {
  const mine = routine('mine', { p_n: 'integer' }, 'n integer', '', '  return query select p_n;')
  const older = routine('mine', { p_n: 'bigint' }, 'n bigint', '', '  return query select p_n;')
  const functions = async () =>
    (await sql`select proname as name from pg_proc where starts_with(proname, 'mine_') order by 1`).map(
      (row) => row.name,
    )

  async function install() {
    await sql`create table routine (name text primary key, seen_at timestamptz not null default now())`
    await Promise.all([sql, open()].map((pool) => installRoutines(pool, [mine])))
    await installRoutines(sql, [older])
    await sql`create function mine_too() returns integer language sql as 'select 1'`
  }

  test('of another version stay while one of its processes runs, and go two days after', async () => {
    await install()
    const all = [mine.name, older.name, 'mine_too'].toSorted()
    const age = (hours: number) => sql`update routine set seen_at = seen_at - ${hours} * interval '1 hour'`
    await age(47)
    await keepRoutines(sql, [older])
    await age(47)
    // A start records the use of its own functions; the other process has recorded the use of its functions.
    await installRoutines(sql, [mine])
    expect(await functions()).toEqual(all)
    await age(2)
    await keepRoutines(sql, [mine])
    await installRoutines(sql, [mine])
    expect(await functions()).toEqual([mine.name, 'mine_too'].toSorted())
    expect((await sql`select name from routine`).map(({ name }) => name)).toEqual([mine.name])
  })

  test('are made again by a process that was away for longer', async () => {
    await install()
    await sql`update routine set seen_at = now() - interval '49 hours' where name = ${mine.name}`
    await installRoutines(sql, [older])
    expect(await functions()).not.toContain(mine.name)
    await keepRoutines(sql, [mine])
    expect(await functions()).toContain(mine.name)
    const [row] = await sql.unsafe(mine.call, [7])
    expect(row?.n).toBe(7)
  })
})
