import { afterAll, describe, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { Client, newApplication, type Service, type ServiceOptions } from '../harness.ts'
import { longTest } from '../long.ts'
import { becomesTrue, embeddedConnection, type OwnDatabase, sleep, Workplace } from './support.ts'

// Starts of the service with a database that is not running yet, or that it may not use.

const place = new Workplace()
afterAll(() => place.clear(), 120_000)

/** Starts a service. Returns its output as text if it ends instead of becoming ready. */
function start(env: Record<string, string>, options: ServiceOptions = {}): Promise<Service | string> {
  return place.startService({ ...options, env }).catch((error: Error) => error.message)
}

/** The line that a start logs once, when it begins to wait. */
const waits = '"msg":"database not available yet; retrying"'

/** Starts a service and returns while it waits for its database; `starting` resolves with the result of the start. */
async function startToWait(env: Record<string, string>): Promise<{ starting: Promise<Service | string> }> {
  let words = ''
  const starting = start(env, { onStderr: (all) => (words = all) })
  expect(await becomesTrue(() => words.includes(waits))).toBe(true)
  // It has looked several times.
  await sleep(500)
  return { starting }
}

async function expectWorks(started: Service | string): Promise<void> {
  if (typeof started === 'string') throw new Error(started)
  await newApplication(new Client(started))
  // The line is logged once, however often the start has tried.
  expect(started.stderr().split(waits)).toHaveLength(2)
  expect(await started.stop()).toBe(0)
}

describe('a start waits', () => {
  test('for a database that is not up yet', async () => {
    const database = await place.startDatabase()
    const env = { DATABASE_URL: database.url() }
    await database.stop()
    const { starting } = await startToWait(env)
    await database.start()
    await expectWorks(await starting)
    await database.stop()
  })

  test('for a standby that is about to be the primary', async () => {
    const database = await place.startDatabase()
    const { cluster } = embeddedConnection(database.dataDir)
    await database.stop()
    writeFileSync(join(cluster, 'standby.signal'), '')
    await database.start()
    const { starting } = await startToWait({ DATABASE_URL: database.url() })
    await database.run((sql) => sql`select pg_promote()`)
    await expectWorks(await starting)
    await database.stop()
  })

  test('no longer than it is told', async () => {
    const env = { DATABASE_URL: 'postgres://user:secret@127.0.0.1:1/forecourt', FORECOURT_DATABASE_WAIT_SECONDS: '2' }
    const began = performance.now()
    const words = await start(env)
    expect(performance.now() - began).toBeGreaterThan(1700)
    expect(words).toMatch(/Can’t connect to the database: .+ \(database forecourt at 127\.0\.0\.1:1\)\.\n/)
    expect(words).not.toContain('secret')
  })

  test.each(['nothing listens', 'nobody speaks'])('until it is stopped, while %s', async (what) => {
    let isAsked = false
    const server = createServer(() => {
      isAsked = true
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as { port: number }
    const url = `postgres://user:secret@127.0.0.1:${what === 'nothing listens' ? 1 : port}/forecourt`
    const env = { DATABASE_URL: url, FORECOURT_DATABASE_WAIT_SECONDS: '600' }
    let words = ''
    const starting = start(env, { onStderr: (all) => (words = all) })
    expect(await becomesTrue(() => isAsked || words.includes(waits))).toBe(true)
    for (const { pid } of place.services()) process.kill(pid, 'SIGTERM')
    // A service that has not ended 9.5 s after the signal exits with 1.
    expect(await starting).toMatch(/^the service ended with 0: /)
    server.close()
  })
})

describe('a user without rights is told which right on what:', () => {
  let database: OwnDatabase
  let count = 0

  /** Prepares a database and a user without rights on it; returns the start's error for that user. */
  async function refusal(prepare: (name: string) => string | Promise<string>): Promise<string> {
    database ??= await place.startDatabase()
    count++
    const name = `limited_${count}`
    await database.run((sql) => sql.unsafe(`create database ${name}`))
    await database.run((sql) => sql.unsafe(`create role ${name} login password 'secret'`))
    const statements = await prepare(name)
    await inside(name, statements)
    const { user, password } = database.connection
    const words = await start({ DATABASE_URL: database.url(name).replace(`${user}:${password}`, `${name}:secret`) })
    if (typeof words !== 'string') throw new Error('it started')
    expect(words).not.toContain('secret')
    // Log lines before the error, as of a slow database, are removed.
    return words.replace(/^the service ended with 1: (\{.+\}\n)*/, '').replaceAll(name, 'x')
  }

  async function inside(name: string, statements: string): Promise<void> {
    const { default: postgres } = await import('postgres')
    const sql = postgres({ ...database.connection, database: name, max: 1, onnotice: () => {} })
    await sql.unsafe(statements)
    await sql.end()
  }

  test('none to create', async () => {
    expect(await refusal(() => '')).toBe(
      'The user x may not create tables in schema public of database x: grant create on schema public to x.\n',
    )
  })

  longTest('none to use the schema', async () => {
    expect(await refusal(() => 'revoke usage on schema public from public')).toBe(
      'The user x may not use schema public of database x: grant usage, create on schema public to x.\n',
    )
  })

  longTest('a search path that names no schema', async () => {
    expect(await refusal((name) => `alter role ${name} set search_path = "$user", "For Court"`)).toBe(
      'The database x has no schema "For Court" for the user x: create schema "For Court" authorization x.\n',
    )
  })

  longTest('none to connect', async () => {
    expect(await refusal((name) => `revoke connect on database ${name} from public`)).toMatch(
      /^Can’t connect to the database: permission denied for database "x" \(database x at .+\)\.\n$/,
    )
  })

  test('tables that belong to somebody else', async () => {
    const owned = async (name: string) => {
      const owner = await place.startService({ env: { DATABASE_URL: database.url(name) } })
      await owner.stop()
      return `grant create on schema public to ${name}`
    }
    expect(await refusal(owned)).toBe(
      'The tables in schema public of database x belong to forecourt, and the user x may not use them: grant forecourt to x.\n',
    )
  })
})
