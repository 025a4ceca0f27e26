import { afterAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdirSync } from 'node:fs'
import { open, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { takeBackup } from '../../src/backup/backup.ts'
import { explained, PartialFile } from '../../src/backup/file.ts'
import { requireRestorable, restoreBackup } from '../../src/backup/restore.ts'
import type { Place } from '../../src/backup/session.ts'
import { databaseRefusal, failureClass, mayPass } from '../../src/database/failures.ts'
import { openDatabase } from '../../src/database/open.ts'
import { transaction } from '../../src/database/transaction.ts'
import { openLog } from '../../src/runtime/log.ts'
import { projectFolder } from '../kit/folders.ts'
import { freePort } from '../kit/replicated.ts'
import { Workplace } from '../kit/workplace.ts'

// Errors keep their cause: a disk error within a transaction is reported neither as a lost connection nor as an outage.

const place = new Workplace()
const openTo = (target: string) => openDatabase({ target, connections: 1, statementTimeoutMs: 5_000 })

const database = await place.findDatabase()
const sql = openTo(database.url())
afterAll(async () => {
  await sql.end()
  await place.clear()
}, 60_000)

// Each test ends at once: far sooner than after the minute after which PostgreSQL ends an idle transaction.
setDefaultTimeout(30_000)

/** An error as the file system throws it. */
const diskError = (code: string) => Object.assign(new Error(`${code}: i/o error, write`), { code, syscall: 'write' })

describe('in a transaction', () => {
  test.each(['EIO', 'ENOENT', 'ESTALE', 'EACCES', 'ETIMEDOUT'])('%s is thrown as itself', async (code) => {
    const fault = diskError(code)
    const failing = transaction(sql, async (tx) => {
      await tx`create temporary table left_behind (a int)`
      throw fault
    })
    expect(await failing.catch((error) => error)).toBe(fault)
    // The connection still works, and nothing of the transaction was committed.
    expect(await sql`select to_regclass('left_behind') as found`).toMatchObject([{ found: null }])
  })

  test('a lost connection is told as one', async () => {
    const losing = transaction(sql, async (tx) => {
      const [{ pid } = {}] = await tx`select pg_backend_pid() as pid`
      await database.sql`select pg_terminate_backend(${pid})`
      await tx`select 1`
    })
    const error = await losing.catch((fault) => fault)
    expect(databaseRefusal(error)).toMatchObject({ refusal: 'unavailable' })
    expect(await sql`select 1 as one`).toMatchObject([{ one: 1 }])
  })
})

test('only the driver tells that the database is away', async () => {
  const missing = await readFile(join(place.newFolder(), 'missing')).catch((error) => error)
  expect(missing.code).toBe('ENOENT')
  const reset = Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET', syscall: 'read' })
  for (const error of [missing, reset, diskError('EIO')]) {
    expect([databaseRefusal(error), failureClass(error), mayPass(error)]).toEqual([undefined, undefined, false])
  }
  const away = openTo(`postgres://forecourt@127.0.0.1:${await freePort()}/postgres`)
  const refused = await away`select 1`.catch((error) => error)
  await away.end()
  expect([refused.code, failureClass(refused), mayPass(refused)]).toEqual(['ECONNREFUSED', 'connection', true])
})

const backupPlace = (): Place => ({
  target: database.url(),
  statementTimeoutMs: 5_000,
  waitSeconds: 0,
  keyFile: undefined,
  dataDir: place.newFolder(),
  migrationsFolder: join(projectFolder, 'migrations'),
  log: openLog('silent'),
  signal: new AbortController().signal,
})

describe('a disk that fails', () => {
  test('ends a backup at once, by its own name', async () => {
    let pieces = 0
    const write = () =>
      explained('/mnt/backup', async () => {
        if (++pieces > 1) throw diskError('EIO')
      })
    const failing = takeBackup({ ...backupPlace(), write, onProgress: () => {} })
    expect(await failing.catch(({ name, message }) => `${name}: ${message}`)).toBe(
      'UserError: /mnt/backup cannot be used: EIO: i/o error, write.',
    )
  })

  test('ends a restore at once, with nothing written', async () => {
    const folder = place.newFolder()
    mkdirSync(folder, { recursive: true })
    const path = join(folder, 'backup')
    const file = await PartialFile.create(path)
    await takeBackup({ ...backupPlace(), write: (piece) => file.write(piece), onProgress: () => {} })
    await file.finish()
    const empty = await place.findDatabase()
    const into = { ...backupPlace(), target: empty.url() }
    const handle = await open(path)
    const verified = await requireRestorable(handle, into, () => {})
    // The file was open during the check and is closed before the restore.
    await handle.close()
    const failing = restoreBackup({ ...into, file: handle, verified, onProgress: () => {} })
    expect(await failing.catch(({ code }) => code)).toBe('EBADF')
    expect(await empty.sql`select count(*)::int as count from device`).toMatchObject([{ count: 0 }])
  })
})
