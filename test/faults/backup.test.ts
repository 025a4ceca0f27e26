import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { Glob } from 'bun'
import pino from 'pino'
import { issueTokensRoutine } from '../../src/applications/tokens/routine.ts'
import { verifyBackup } from '../../src/backup/format.ts'
import { runUpkeep } from '../../src/service/upkeep.ts'
import { forecourt, startForecourt } from '../cli/support.ts'
import { Client } from '../kit/client.ts'
import { databaseProcesses } from '../kit/database.ts'
import { newApplication } from '../kit/records.ts'
import { atScale, seed, tell } from '../kit/scale.ts'
import { becomesTrue } from '../kit/waits.ts'
import { BackupBed, expectDone, expectRefused } from './backup-bed.ts'
import { expectServes, inconsistencies } from './restored.ts'
import { type Create, contradictions, Writers } from './writers.ts'

// Backup and restore with the command line, as an operator runs them.

const bed = new BackupBed()
const { newDatabase, newFile, place } = bed
const said = `seed ${seed}`
let atWork: Writers | undefined

afterEach(() => atWork?.abandon())
afterAll(() => bed.clear(), 120_000)

test(
  `under load, ${atScale(1, 20)} times: all that was acknowledged before a backup is in it, consistent`,
  async () => {
    const source = await place.startService()
    const env = { FORECOURT_DATA_DIR: source.dataDir }
    const app = await newApplication(new Client(source))
    const acknowledged: Create[] = []
    let last: { env: Record<string, string>; before: Create[]; rows: number } | undefined
    for (let round = 0; round < atScale(1, 20); round++) {
      // The writers pause during a restore, so that a slow machine has no more rows to compare.
      const writers = new Writers(app, source)
      atWork = writers
      expect(await becomesTrue(() => writers.settled.length > 50)).toBe(true)
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
        expect(await contradictions(sql, app.appId, before), said).toEqual([])
        expect(await inconsistencies(sql), said).toEqual([])
        // A copy sends nothing before an operator says so.
        expect(await sql`select 1 from callback_pause`).toHaveLength(1)
      })
      tell(
        `backup ${round + 1}: ${before.length} acknowledged before it, ${acknowledged.length - before.length} while it ran`,
      )
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

  test('is refused when any byte of it is another one, or missing', async () => {
    const whole = readFileSync(file)
    const altered = newFile()
    const expectUnfit = async (content: Buffer, what: string) => {
      writeFileSync(altered, content)
      const handle = await open(altered)
      const outcome = await verifyBackup(handle, () => {}).then(
        () => 'taken',
        (error: Error) => error.message,
      )
      await handle.close()
      expect(outcome, what).toMatch(/^(The backup is damaged|The file is empty|This isn’t a Forecourt backup file)/)
    }
    const unpacked = gunzipSync(whole)
    const isSame = (other: Buffer) => {
      try {
        return gunzipSync(other).equals(unpacked)
      } catch {
        return false
      }
    }
    for (let at = 0; at < whole.length; at += atScale(Math.ceil(whole.length / 40), 1)) {
      const other = Buffer.from(whole)
      other.writeUInt8(whole.readUInt8(at) ^ (1 << (at % 8)), at)
      // A few bits of gzip's headers have no meaning, so changing them changes nothing.
      if (!isSame(other)) await expectUnfit(other, `byte ${at} of ${whole.length}`)
      await expectUnfit(whole.subarray(0, at), `cut at ${at} of ${whole.length}`)
    }
    await expectUnfit(Buffer.concat([whole, Buffer.from('x')]), 'a byte more')
    await expectUnfit(Buffer.concat([whole, whole]), 'twice')
  })

  test('that is unfit is told in a sentence, before there is a database', async () => {
    const env = { FORECOURT_DATA_DIR: place.newFolder() }
    const cut = newFile()
    writeFileSync(cut, readFileSync(file).subarray(0, -7))
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

  test('whose restore is ended by Ctrl-C, which ends what it has started too, says just that', async () => {
    const dataDir = place.newFolder()
    const { child, ended } = startForecourt(['restore', file], { FORECOURT_DATA_DIR: dataDir }, { detached: true })
    const isMaking = () =>
      existsSync(dataDir) &&
      new Glob('*.making-*/cluster/global/pg_control').scanSync({ cwd: dataDir }).next().value !== undefined
    expect(await becomesTrue(isMaking)).toBe(true)
    process.kill(-(child.pid as number), 'SIGINT')
    expect(await ended).toEqual({
      code: 1,
      stdout: '',
      stderr: 'Stopped by SIGINT. Nothing was written.\n',
    })
    expectDone(await forecourt(['restore', file], { FORECOURT_DATA_DIR: dataDir }))
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
