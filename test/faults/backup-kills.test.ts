import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { existsSync, rmSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { verifyBackup } from '../../src/backup/format.ts'
import { forecourt, startForecourt } from '../cli/support.ts'
import { atScale, longTest } from '../kit/scale.ts'
import { BackupBed, expectDone, expectRefused } from './backup-bed.ts'
import { Striker } from './strikes.ts'

// Backups and restores that are killed at any moment.

const bed = new BackupBed()
const { newDatabase, newFile } = bed

afterAll(() => bed.clear(), 120_000)

describe('killed', () => {
  const rounds = atScale(1, 20)
  const striker = new Striker()
  let source: Awaited<ReturnType<typeof newDatabase>>

  beforeAll(async () => {
    source = await newDatabase('forecourt')
    await source.look(async (sql) => {
      await sql.unsafe(`
        insert into application (app_id, app_name, secret_hash, token_lifetime_seconds, created_at)
        values ('many', 'many', 'x', 7200, now())`)
      await sql.unsafe(`
        insert into event (app_id, id, type, time, actor, subject, data)
        select 'many', i, 'device.bound', now(), 'application:many', 'SN-' || i, '{"text":"' || repeat(md5(i::text), 8) || '"}'
        from generate_series(1, 20000) as i`)
    })
  }, 60_000)
  afterAll(() => striker.end(), 60_000)

  /** Has the killer process kill a command at a random moment. Returns whether the command was still running. */
  async function killWithin(args: string[], env: Record<string, string>, withinMs: number): Promise<boolean> {
    const { child, ended } = startForecourt(args, env)
    await striker.kill([child.pid as number], withinMs)
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
