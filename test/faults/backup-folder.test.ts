import { describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, statSync, truncateSync, utimesSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { forecourt } from '../cli/support.ts'
import { ownWorkplace } from '../kit/own-workplace.ts'
import { longTest } from '../kit/scale.ts'
import { newSharedDatabase } from '../kit/shared-server.ts'

// `forecourt backup --to FOLDER --keep N`, which a timer runs each night.

const place = ownWorkplace()
const folder = join(place.home, 'nightly', 'backups')

const database = await newSharedDatabase()
const env = { DATABASE_URL: database.url(), FORECOURT_DATA_DIR: place.newFolder() }

const backup = async (...options: string[]) => {
  const ended = await forecourt(['backup', '--to', folder, '--json', ...options], env)
  expect(ended.code, ended.stderr).toBe(0)
  return { ...JSON.parse(ended.stdout), said: ended.stderr }
}
const files = () => readdirSync(folder).sort()
const damage = (name: string) => {
  const path = join(folder, name)
  const bytes = readFileSync(path)
  bytes[bytes.length >> 1] = (bytes[bytes.length >> 1] ?? 0) ^ 1
  writeFileSync(path, bytes)
}
const records = () =>
  database.sql`select path, rows, bytes, seconds, is_verified, failure from backup_record order by id`

describe('a folder of backups', () => {
  test('has each under its time, verified, for its owner only, and keeps the newest', async () => {
    const made: string[] = []
    for (let night = 0; night < 3; night++) {
      const { file, verified, bytes } = await backup('--keep', '2')
      expect(verified).toBe(true)
      expect(file).toMatch(/\/forecourt-\d{8}T\d{6}\.\d{3}Z\.fcb$/)
      expect([statSync(file).size, statSync(file).mode & 0o777]).toEqual([bytes, 0o600])
      made.push(file.slice(folder.length + 1))
      expect(files()).toEqual(made.slice(-2))
    }
    expect(statSync(folder).mode & 0o777).toBe(0o700)
    const kept = await records()
    expect(kept.map(({ path }) => path)).toEqual(made.map((name) => join(folder, name)))
    expect(kept.every(({ is_verified, failure, bytes }) => is_verified && failure === null && bytes > 0)).toBe(true)
  })

  longTest('loses no whole one to one that is cut or altered, and tells of it', async () => {
    const before = files()
    const { file } = await backup()
    const damaged = file.slice(folder.length + 1)
    damage(damaged)
    const { kept, removed, said, damaged: told } = await backup('--keep', '2')
    // The new backup, and the newest undamaged backup before it.
    expect(kept).toEqual([files().at(-1), before[1]])
    expect([removed, told]).toEqual([[before[0]], [damaged]])
    expect(said).toContain(`${damaged} is damaged and doesn’t count as a backup`)
    truncateSync(join(folder, kept[0]), 100)
    const next = await backup('--keep', '2')
    expect(next.kept).toEqual([files().at(-1), before[1]])
    expect(next.removed).toEqual([])
    // A damaged backup is removed with the old ones, once enough newer backups are undamaged.
    await backup('--keep', '2')
    expect((await backup('--keep', '2')).damaged).toEqual([])
    expect(files()).toHaveLength(2)
  })

  longTest('keeps the one that was taken last, also when the clock has been set back', async () => {
    const [newest] = files().toReversed()
    const later = 'forecourt-29991231T235959.999Z.fcb'
    writeFileSync(join(folder, later), readFileSync(join(folder, String(newest))))
    const { file, kept } = await backup('--keep', '1')
    expect(kept).toEqual([basename(file)])
    expect(existsSync(file)).toBe(true)
  })

  test('has others’ files left alone, and what a kill left in it removed, but not what is being written', async () => {
    const [old, young] = ['20260101T000000.000Z', '20260102T000000.000Z'].map((time) => `forecourt-${time}.fcb.partial`)
    for (const name of ['notes.txt', 'forecourt.fcb', 'forecourt-20260101.fcb', `${old}`, `${young}`]) {
      writeFileSync(join(folder, name), 'x')
    }
    utimesSync(join(folder, `${old}`), new Date(0), new Date(0))
    await backup('--keep', '1')
    const left = files()
    for (const name of ['notes.txt', 'forecourt.fcb', 'forecourt-20260101.fcb', `${young}`])
      expect(left).toContain(name)
    expect(left).not.toContain(old)
    expect(left).toHaveLength(5)
  })
})

test('a backup of the folder is restored, and brings no record of backups along', async () => {
  const { file } = await backup()
  await database.sql`create database other`
  const other = { ...env, DATABASE_URL: database.url('other') }
  expect((await forecourt(['restore', file], other)).code).toBe(0)
  const { checks } = JSON.parse((await forecourt(['doctor', '--json'], { ...other, FORECOURT_PORT: '0' })).stdout)
  const found = checks.find(({ name }: { name: string }) => name === 'backup')
  expect(found).toMatchObject({ status: 'ok', message: expect.stringContaining('No backup has been taken') })
})

test('a backup that names other tables or columns than its schema has is refused, with nothing written', async () => {
  const { file } = await backup()
  const whole = readFileSync(file)
  const members: Buffer[] = []
  for (let at = 0; at < whole.length; at += whole.readUInt32LE(at + 16)) {
    members.push(gunzipSync(whole.subarray(at, at + whole.readUInt32LE(at + 16))))
  }
  await database.sql`create database untouched`
  const other = { ...env, DATABASE_URL: database.url('untouched') }
  const altered = join(place.home, 'altered.fcb')
  const [head, tail] = [members[0], members.at(-1)].map((line) => JSON.parse(`${line}`))
  for (const [change, words] of [
    [{ name: 'pg_authid' }, 'the table pg_authid, which its schema does not have. Nothing was written.'],
    [{ name: head.tables[1].name, columns: head.tables[1].columns }, `the table ${head.tables[1].name}, which`],
    [{ columns: ['oid'] }, 'the column oid of '],
  ] as const) {
    const tables = [{ ...head.tables[0], ...change }, ...head.tables.slice(1)]
    const sections = [{ ...tail.sections[0], table: tables[0].name }, ...tail.sections.slice(1)]
    const body = Buffer.concat([JSON.stringify({ ...head, tables }), ...members.slice(1, -1)].map(packed))
    const sha256 = createHash('sha256').update(body).digest('hex')
    writeFileSync(altered, Buffer.concat([body, packed(JSON.stringify({ sections, sha256 }))]))
    const { code, stderr } = await forecourt(['restore', altered], other)
    expect([code, stderr]).toEqual([1, expect.stringContaining(words)])
    expect(stderr.trimEnd().split('\n')).toHaveLength(1)
  }
  expect((await forecourt(['restore', file], other)).code).toBe(0)
})

/** A piece of a backup file: a gzip member with its length in the extra field. */
function packed(content: string | Buffer): Buffer {
  const bytes = gzipSync(content).subarray(10)
  const length = Buffer.alloc(4)
  length.writeUInt32LE(20 + bytes.length)
  return Buffer.concat([Buffer.from([0x1f, 0x8b, 8, 4, 0, 0, 0, 0, 0, 255, 8, 0, 0x46, 0x43, 4, 0]), length, bytes])
}

test('one that fails is noted with why, fails in the doctor, and is over with the next; a late one warns', async () => {
  const look = async () => {
    const { checks } = JSON.parse((await forecourt(['doctor', '--json'], { ...env, FORECOURT_PORT: '0' })).stdout)
    return checks.find(({ name }: { name: string }) => name === 'backup')
  }
  await database.sql`insert into schema_migration (version, file) values (1000, '1000-newer.sql')`
  const failed = await forecourt(['backup', '--to', folder], env)
  await database.sql`delete from schema_migration where version = 1000`
  expect([failed.code, failed.stdout]).toEqual([1, ''])
  expect(files().filter((name) => name.endsWith('.partial') && !name.includes('20260102'))).toEqual([])
  const noted = (await records()).at(-1)
  expect(noted).toMatchObject({ rows: null, is_verified: false, failure: expect.stringContaining('newer') })
  expect(await look()).toMatchObject({ status: 'fail', message: expect.stringContaining('failed') })
  const { file } = await backup()
  expect(await look()).toMatchObject({ status: 'ok', message: expect.stringContaining(`${file}, `) })
  await database.sql`update backup_record set began_at = began_at - interval '27 hours'`
  expect(await look()).toMatchObject({ status: 'warn', todo: expect.stringContaining('--keep') })
})
