import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import pino from 'pino'
import { issueTokensRoutine } from '../../src/applications/tokens/routine.ts'
import { verifyBackup } from '../../src/backup/format.ts'
import { runUpkeep } from '../../src/service/upkeep.ts'
import { forecourt, startForecourt } from '../cli/support.ts'
import { Client } from '../kit/client.ts'
import { databaseProcesses } from '../kit/database.ts'
import { newApplication } from '../kit/records.ts'
import { atScale, longTest } from '../kit/scale.ts'
import { waitUntil } from '../kit/waits.ts'
import { BackupBed, expectDone, expectRefused } from './backup-bed.ts'
import { expectServes, inconsistencies } from './restored.ts'
import { killAtAnyMoment } from './strikes.ts'
import { type Create, contradictions, Writers } from './writers.ts'

// Backup and restore with the command line, as an operator runs them.

const bed = new BackupBed()
const { newDatabase, newFile, place } = bed
let atWork: Writers | undefined
const rounds = atScale(1, 20)

afterEach(() => atWork?.abandon())
afterAll(() => bed.clear(), 120_000)

test(
  `under load, ${rounds} times: all that was acknowledged before a backup is in it, consistent`,
  async () => {
    const source = await place.startService()
    const env = { FORECOURT_DATA_DIR: source.dataDir }
    const app = await newApplication(new Client(source))
    const acknowledged: Create[] = []
    let last: { env: Record<string, string>; before: Create[]; rows: number } | undefined
    for (let round = 0; round < rounds; round++) {
      // The writers pause during a restore, so that a slow machine has no more rows to compare.
      const writers = new Writers(app, source)
      atWork = writers
      await waitUntil(() => writers.settled.length > 50)
      const before = [...acknowledged, ...writers.settled]
      const file = newFile()
      expectDone(await forecourt(['backup', file], env))
      await writers.finish()
      expect(writers.wrong).toEqual([])
      acknowledged.push(...writers.settled)
      expect(acknowledged.length).toBeGreaterThan(before.length)
      const { env: restored, look } = await newDatabase()
      expectDone(await forecourt(['restore', file], restored))
      await look(async (sql) => {
        expect(await contradictions(sql, app.appId, before)).toEqual([])
        expect(await inconsistencies(sql)).toEqual([])
        // A copy sends nothing before an operator says so.
        expect(await sql`select 1 from callback_pause`).toHaveLength(1)
      })
      last = { env: restored, before, rows: before.length }
      rmSync(file)
    }
    await source.stop()
    if (last === undefined) throw new Error('there was no round')
    await expectServes(await place.startService({ env: last.env }), app, last.before)
  },
  atScale(600_000, 3_600_000),
)

describe('a small backup', () => {
  let file: string
  let dataDir: string

  beforeAll(async () => {
    const service = await place.startService()
    dataDir = service.dataDir
    file = newFile()
    await newApplication(new Client(service))
    await service.stop()
    // The backup is taken while no service is running.
    const ended = await forecourt(['backup', file, '--json'], { FORECOURT_DATA_DIR: dataDir })
    expect(ended.code, ended.stderr).toBe(0)
    expect(JSON.parse(ended.stdout)).toMatchObject({ file, bytes: statSync(file).size })
  }, 60_000)

  test('can be read by its owner only, with zcat, and holds no one’s sign-in', () => {
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(existsSync(`${file}.partial`)).toBe(false)
    const lines = gunzipSync(readFileSync(file)).toString().split('\n')
    const { tables } = JSON.parse(lines[0] ?? '')
    const names = tables.map(({ name }: { name: string }) => name)
    expect(names).toContain('application_lock')
    expect(names).not.toContain('operator_session')
    expect(lines.filter((line) => line === '\\.')).toHaveLength(names.length)
  })

  test('that is unfit is told in a sentence, before there is a database', async () => {
    const env = { FORECOURT_DATA_DIR: place.newFolder() }
    const cut = newFile()
    writeFileSync(cut, readFileSync(file).subarray(0, -7))
    expectRefused(await forecourt(['restore', cut], env), 'The backup is damaged, and nothing was written')
    const bytes = readFileSync(file)
    bytes.writeUInt8(bytes.readUInt8(bytes.length >> 1) ^ 1, bytes.length >> 1)
    writeFileSync(cut, bytes)
    expectRefused(await forecourt(['restore', cut], env), 'The backup is damaged, and nothing was written')
    expectRefused(await forecourt(['restore', '-'], env, 'no backup'), 'This isn’t a Forecourt backup file.')
    expectRefused(await forecourt(['restore', newFile()], env), 'does not exist')
    expect((await forecourt(['restore'], env)).code).toBe(2)
    const both = await forecourt(['backup', '-', '--json'], env)
    expect([both.code, both.stdout]).toEqual([2, ''])
    expect(existsSync(env.FORECOURT_DATA_DIR)).toBe(false)
  })

  test('that nobody takes to its end is not done, and the database that it started is stopped', async () => {
    const { child, ended } = startForecourt(['backup', '-'], { FORECOURT_DATA_DIR: dataDir })
    child.stdout?.destroy()
    expectRefused(await ended, 'Standard output was closed. The backup is incomplete.')
    expect(databaseProcesses(dataDir)).toEqual([])
  })

  test('is not written where it cannot be, nor of a database that is not there', async () => {
    const env = { FORECOURT_DATA_DIR: dataDir }
    expectRefused(await forecourt(['backup', join(newFile(), 'x')], env), 'does not exist')
    expectRefused(await forecourt(['backup', place.home], env), 'is a folder')
    const nowhere = { FORECOURT_DATA_DIR: place.newFolder() }
    expectRefused(await forecourt(['backup', newFile()], nowhere), 'No Forecourt database found in')
    expect(existsSync(nowhere.FORECOURT_DATA_DIR)).toBe(false)
  })

  test('goes into an empty database only', async () => {
    const { env, look } = await newDatabase('forecourt')
    for (const [table, statement] of Object.entries({
      operator_key: `insert into operator_key (name, role, key_hash, created_by, created_at, expires_at) values ('a', 'admin', 'x', 'me', now(), now())`,
      device_model: `insert into device_model (serial_prefix, model_name, created_at) values ('A', 'a', now())`,
      application: `insert into application (app_id, app_name, secret_hash, token_lifetime_seconds, created_at) values ('a', 'a', 'x', 7200, now())`,
      operator: `insert into operator (name, role, password_hash, created_at) values ('a', 'admin', 'x', now())`,
    })) {
      await look((sql) => sql.unsafe(statement))
      expectRefused(await forecourt(['restore', file], env), `The database isn’t empty (${table})`)
      await look((sql) => sql.unsafe(`delete from ${table}`))
    }
    // Upkeep notes the database's size, among others; a database with such rows alone is still empty.
    const days = { deliveryDays: 30, eventDays: 400, refusalDays: 7, isDistributed: false }
    await look((sql) => runUpkeep(sql, pino({ level: 'silent' }), days, [issueTokensRoutine]))
    expectDone(await forecourt(['restore', file], env))
    expectRefused(await forecourt(['restore', file], env), 'The database isn’t empty (application)')
  })
})

test('a row that the database does not take ends a restore with its words, and nothing is written', async () => {
  const from = await newDatabase('forecourt')
  await from.look((sql) => sql.unsafe('alter table device_model alter column model_name drop not null'))
  await from.look((sql) => sql.unsafe("insert into device_model (serial_prefix, created_at) values ('A', now())"))
  const file = newFile()
  expectDone(await forecourt(['backup', file], from.env))
  const { env, look } = await newDatabase('forecourt')
  expectRefused(
    await forecourt(['restore', file], env),
    /^The database refused a statement: null value in column "model_name"/,
  )
  expect(await look((sql) => sql`select 1 from device_catalogue where version > 1`)).toHaveLength(0)
})

describe('killed at any moment', () => {
  let source: Awaited<ReturnType<typeof newDatabase>>

  beforeAll(async () => {
    source = await newDatabase('forecourt')
    await source.look((sql) =>
      sql.unsafe(`
        insert into application (app_id, app_name, secret_hash, token_lifetime_seconds, created_at)
        values ('many', 'many', 'x', 7200, now());
        insert into event (app_id, id, type, time, actor, subject, data)
        select 'many', i, 'device.bound', now(), 'application:many', 'SN-' || i, '{"text":"' || repeat(md5(i::text), 8) || '"}'
        from generate_series(1, 20000) as i`),
    )
  }, 60_000)

  /** Kills a command at a random moment. Returns whether the command was still running. */
  async function killWithin(args: string[], env: Record<string, string>, withinMs: number): Promise<boolean> {
    const { child, ended } = startForecourt(args, env)
    await killAtAnyMoment([child.pid as number], withinMs)
    return (await ended).code === null
  }

  /** The duration of a command that is not killed, in milliseconds. */
  async function timed(args: string[], env: Record<string, string>): Promise<number> {
    const began = performance.now()
    expectDone(await forecourt(args, env))
    return performance.now() - began
  }

  test(`${rounds} times, a backup leaves no file that looks whole`, async () => {
    const file = newFile()
    const takes = await timed(['backup', file], source.env)
    for (let round = 0; round < rounds; round++) {
      rmSync(file, { force: true })
      await killWithin(['backup', file], source.env, takes)
      if (!existsSync(file)) continue
      await using handle = await open(file)
      await verifyBackup(handle, () => {})
    }
    expectDone(await forecourt(['backup', file], source.env))
    expect(existsSync(`${file}.partial`)).toBe(false)
  }, 300_000)

  longTest(`${rounds} times, a restore leaves the database empty`, async () => {
    const file = newFile()
    expectDone(await forecourt(['backup', file], source.env))
    const takes = await timed(['restore', file], (await newDatabase()).env)
    for (let round = 0; round < rounds; round++) {
      const { env, look } = await newDatabase()
      if (!(await killWithin(['restore', file], env, takes))) continue
      const again = await forecourt(['restore', file], env)
      // A restore that was killed just after its commit is complete, so a second one is refused.
      if (again.code !== 0) expectRefused(again, 'The database isn’t empty')
      const [events] = await look((sql) => sql`select count(*)::int as count from event where app_id = 'many'`)
      expect(events?.count).toBe(20_000)
    }
  })
})
