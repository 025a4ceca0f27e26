import { afterAll, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { UserError } from '../runtime/user-error.ts'
import { BackupReader, BackupWriter, RowSum, verifyBackup } from './format.ts'

// Forged files with valid checksums: each is refused in one sentence, and soon.

const folder = mkdtempSync(join(tmpdir(), 'forecourt-format-'))
afterAll(() => rmSync(folder, { recursive: true }))

const table = { name: 'site', columns: ['app_id'], rows: 1 }
const head = {
  takenAt: '2026-01-02T03:04:05.678Z',
  postgres: '18.4',
  migrations: [{ version: 1, file: '0001-schema.sql', checksum: null }],
  secrets: { keyIds: [], keys: [] },
  sequences: { import_id: 7 },
  tables: [table],
}

const member = (content: string | Buffer) => {
  const packed = gzipSync(content).subarray(10)
  const length = Buffer.alloc(4)
  length.writeUInt32LE(20 + packed.length)
  const start = Buffer.from([0x1f, 0x8b, 8, 4, 0, 0, 0, 0, 0, 255, 8, 0, 0x46, 0x43, 4, 0])
  return Buffer.concat([start, length, packed])
}
const hashOf = (content: string | Buffer) => createHash('sha256').update(content).digest('hex')

/** A file of these pieces with the right tail. */
async function madeOf(first: string | Buffer, rows: string | Buffer, tail: object = {}) {
  const pieces = Buffer.concat([member(first), member(rows)])
  const text = rows.toString().slice(0, -3)
  const sections = [{ table: 'site', rows: 1, bytes: text.length, sha256: hashOf(text) }]
  const path = join(folder, 'made.fcb')
  writeFileSync(path, Buffer.concat([pieces, member(JSON.stringify({ sections, sha256: hashOf(pieces), ...tail }))]))
  return open(path)
}

async function outcomeOf(first: string | Buffer, rows: string | Buffer = 'a\n\\.\n', tail: object = {}) {
  const file = await madeOf(first, rows, tail)
  try {
    const verified = await verifyBackup(file, () => {})
    const read: Buffer[] = []
    for await (const piece of new BackupReader(file, verified, () => {}).nextTable()) read.push(piece)
    return Buffer.concat(read).toString()
  } catch (error) {
    expect(error).toBeInstanceOf(UserError)
    return (error as Error).message
  } finally {
    await file.close()
  }
}

const line = (changed: object) => JSON.stringify({ forecourtBackup: 2, ...head, ...changed })

test('what the writer writes is read, and so is the same made by hand', async () => {
  const pieces: Buffer[] = []
  const writer = new BackupWriter(async (piece) => void pieces.push(piece))
  await writer.begin(head)
  const rows = async function* () {
    yield Buffer.from('a\n')
  }
  await writer.addTable(table, rows(), () => {})
  await writer.end()
  const path = join(folder, 'written.fcb')
  writeFileSync(path, Buffer.concat(pieces))
  const file = await open(path)
  expect((await verifyBackup(file, () => {})).head).toMatchObject(head)
  await file.close()
  expect(await outcomeOf(line({}))).toBe('a\n')
})

test('a head or a tail that unpacks to gigabytes is not unpacked', async () => {
  const bomb = Buffer.alloc(300_000_000, ' ')
  const before = process.memoryUsage().rss
  expect(await outcomeOf(bomb)).toMatch(/^(This isn’t a Forecourt backup file|The backup is damaged)/)
  expect(process.memoryUsage().rss - before).toBeLessThan(200_000_000)
})

test('rows that unpack to gigabytes are refused, as damaged', async () => {
  expect(await outcomeOf(line({}), Buffer.alloc(100_000_000, 'a'))).toMatch(/^The backup is damaged/)
})

test.each([
  ['no tables', { tables: undefined }],
  ['tables that are none', { tables: [null] }],
  ['a table without columns', { tables: [{ ...table, columns: [] }] }],
  ['a column that is no text', { tables: [{ ...table, columns: [{}] }] }],
  ['rows that are no number', { tables: [{ ...table, rows: '1' }] }],
  ['no secrets', { secrets: undefined }],
  ['a key of another length', { secrets: { keyIds: [], keys: ['a'] } }],
  ['no migrations', { migrations: [] }],
  ['sequences that are none', { sequences: { import_id: 'a' } }],
  ['a time that is none', { takenAt: 7 }],
])('a head with %s is refused in a sentence', async (_, changed) => {
  expect(await outcomeOf(line(changed))).toBe(
    'The backup is damaged, and nothing was written: its first line was not written by Forecourt. Use another backup, or take a new one.',
  )
})

test('a first line that is no object, a newer format, and a tail of other tables', async () => {
  for (const none of ['7', 'null', '[]', '{}', 'not JSON', '{"forecourtBackup":"1"}']) {
    expect(await outcomeOf(none)).toBe('This isn’t a Forecourt backup file.')
  }
  expect(await outcomeOf(line({ forecourtBackup: 3 }))).toMatch(/^The backup is from a newer version of Forecourt/)
  for (const tail of [{ sections: [] }, { sections: [null] }, { sections: 'a' }, { sha256: 7 }]) {
    expect(await outcomeOf(line({}), 'a\n\\.\n', tail)).toMatch(/^The backup is damaged/)
  }
})

test('rows add up to the same in any order and in any pieces, and to something else when one differs or is missing', () => {
  const sumOf = (...pieces: string[]) => {
    const sum = new RowSum()
    for (const piece of pieces) sum.add(Buffer.from(piece))
    return sum
  }
  const rows = sumOf('1\ta\n2\tb\n3\t\\N\n')
  expect(rows.rows).toBe(3)
  expect(rows.equals(sumOf('3\t\\N\n1\ta\n', '2\tb\n'))).toBe(true)
  for (const other of ['1\ta\n2\tb\n', '1\ta\n2\tb\n3\t\n', '1\ta\n2\tb\n3\t\\N\n3\t\\N\n', '1\tb\n2\ta\n3\t\\N\n']) {
    expect(rows.equals(sumOf(other)), other).toBe(false)
  }
})
