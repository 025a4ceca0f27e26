import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { existsSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Finding } from '../../src/cli/finding.ts'
import { type OwnDatabase, Workplace, withSql } from '../faults/support.ts'
import { runServiceToItsEnd, startService } from '../harness.ts'
import { forecourt } from './support.ts'

// Commands that are given the wrong database: each must say so and create nothing.

const place = new Workplace()
let database: OwnDatabase
beforeAll(async () => {
  database = await place.findDatabase()
  await database.run(async (sql) => {
    await sql`create database foreign_one`
    await sql`create database read_only`
    await sql`alter database read_only set default_transaction_read_only = on`
  })
}, 120_000)
afterAll(() => place.clear(), 60_000)

const backups = join(place.home, 'backups')
/**
 * Each command that uses the database in the settings, except those that create one: `serve`, `migrate up` and
 * `restore`.
 */
const commands = [
  ['erase', '--days', '0', '--dry-run'],
  ['erase', '--app', 'a', '--site', '1'],
  ['backup', join(place.home, 'file')],
  ['backup', '-'],
  ['backup', '--to', backups, '--keep', '3'],
  ['callbacks', 'resume'],
]

describe('there is no Forecourt database', () => {
  test.each(commands)('in a folder that is not set: %s %s', async (...args) => {
    const folder = join(place.home, 'wrong')
    const { code, stdout, stderr } = await forecourt(args, { FORECOURT_DATA_DIR: folder })
    expect({ code, stdout, stderr }).toEqual({
      code: 1,
      stdout: '',
      stderr: `No Forecourt database found in ${folder}. Set FORECOURT_DATA_DIR to its folder, or DATABASE_URL to its server.\n`,
    })
    expect([existsSync(folder), existsSync(backups)]).toEqual([false, false])
  })

  test.each(commands)('in a folder of something else: %s %s', async (...args) => {
    const folder = join(place.home, 'other')
    mkdirSync(folder, { recursive: true })
    const { code, stderr } = await forecourt(args, { FORECOURT_DATA_DIR: folder })
    expect([code, stderr]).toEqual([1, expect.stringContaining(`No Forecourt database found in ${folder}`)])
    expect(readdirSync(folder)).toEqual([])
  })

  test.each(commands)('in the database of another program: %s %s', async (...args) => {
    const { code, stderr } = await forecourt(args, { DATABASE_URL: database.url('foreign_one') })
    expect([code, stderr]).toEqual([1, expect.stringContaining('No Forecourt database found in database foreign_one')])
    expect(stderr).not.toContain('    at ')
    const tables = await withSql(
      { ...database.connection, database: 'foreign_one' },
      (sql) => sql`select 1 from pg_tables where schemaname = 'public'`,
    )
    expect(tables).toHaveLength(0)
  })
})

describe('a database that takes no writes', () => {
  const what = 'The database read_only is read-only for the user forecourt, because default_transaction_read_only is on'
  const statement = 'alter database read_only reset default_transaction_read_only'

  test('fails in doctor, with what to do', async () => {
    const settings = { DATABASE_URL: database.url('read_only'), FORECOURT_PORT: '0' }
    const { code, stdout } = await forecourt(['doctor', '--json'], settings)
    const { checks } = JSON.parse(stdout) as { checks: Finding[] }
    expect(code).toBe(1)
    expect(checks).toContainEqual({
      name: 'writes',
      status: 'fail',
      message: what,
      todo: `As its owner: ${statement}.`,
    })
  })

  test('is refused by a start in one sentence', async () => {
    const { code, stderr } = await runServiceToItsEnd({ env: { DATABASE_URL: database.url('read_only') } })
    expect([code, stderr]).toEqual([1, `${what}: ${statement}.\n`])
  })
})

test('doctor tells a service that answers and is that of another folder', async () => {
  const service = await startService()
  const { port } = new URL(service.url)
  const settings = { FORECOURT_PORT: port, FORECOURT_DATA_DIR: join(place.home, 'wrong') }
  const { stdout } = await forecourt(['doctor', '--json'], settings)
  const ofPort = (text: string) =>
    (JSON.parse(text) as { checks: Finding[] }).checks.find(({ name }) => name === 'port')
  expect(ofPort(stdout)).toMatchObject({
    status: 'warn',
    message: expect.stringContaining('but with another data folder than'),
    todo: expect.stringContaining('FORECOURT_DATA_DIR'),
  })
  const right = await forecourt(['doctor', '--json'], { ...settings, FORECOURT_DATA_DIR: service.dataDir })
  expect(ofPort(right.stdout)).toMatchObject({ status: 'ok' })
  await service.stop()
})
