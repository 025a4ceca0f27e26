import { afterAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { databaseRefusal, failureClass, mayPass } from '../../src/database/failures.ts'
import { openDatabase } from '../../src/database/open.ts'
import { transaction } from '../../src/database/transaction.ts'
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
