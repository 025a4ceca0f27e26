import { afterAll, describe, expect, test } from 'bun:test'
import { existsSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { join } from 'node:path'
import type postgres from 'postgres'
import { readConfig } from '../../src/config.ts'
import { UserError } from '../../src/runtime/user-error.ts'
import { forecourt } from '../cli/support.ts'
import { Client } from '../kit/client.ts'
import { databaseProcesses, embeddedConnection, postmasterPid, withSql } from '../kit/database.ts'
import { newApplication } from '../kit/records.ts'
import { longTest } from '../kit/scale.ts'
import { type Ended, runServiceToItsEnd, type Service, type ServiceOptions } from '../kit/service.ts'
import { sharedServer } from '../kit/shared-server.ts'
import { waitUntil } from '../kit/waits.ts'
import { Workplace } from '../kit/workplace.ts'
import { endOfStart } from './part-of-start.ts'

// Starts that are refused with one sentence, and starts that wait for their database.

const place = new Workplace()
const servers: Server[] = []

afterAll(async () => {
  for (const server of servers) server.close()
  await place.clear()
}, 120_000)

/** All that the driver, libpq and the programs of PostgreSQL read: it must change nothing. */
const variablesOfOthers = Object.fromEntries(
  [
    'HOST HOSTADDR PORT USER USERNAME PASSWORD PASSFILE DATABASE DATA APPNAME OPTIONS SSL SSLMODE SSLNEGOTIATION',
    'SSLROOTCERT SERVICE TARGET_SESSION_ATTRS TARGETSESSIONATTRS MAX IDLE_TIMEOUT CONNECT_TIMEOUT MAX_LIFETIME',
    'MAX_PIPELINE BACKOFF KEEP_ALIVE PREPARE DEBUG FETCH_TYPES PUBLICATIONS CLIENTENCODING TZ DATESTYLE GEQO',
    'SYSCONFDIR LOCALEDIR',
  ].flatMap((names) => names.split(' ').map((name) => [`PG${name}`, 'nonsense'])),
)

async function listen(server: Server): Promise<number> {
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return (server.address() as { port: number }).port
}

const first = await place.startService({ dataDir: place.newFolder(), env: variablesOfOthers })
const database = await sharedServer()
/** A port that accepts connections and never responds. */
const silentPort = await listen(createServer(() => {}))

/** The process id of the folder's database server, if it is running. */
const databaseServer = (dataDir: string) =>
  databaseProcesses(dataDir).length === 0 ? undefined : postmasterPid(dataDir)

/**
 * Starts a service that must end by itself, with an exit code other than 0, one sentence of output and no process left.
 */
async function refusal(options: ServiceOptions): Promise<string> {
  const dataDir = options.dataDir ?? place.newFolder()
  const before = databaseServer(dataDir)
  const told = sentenceOf(await runServiceToItsEnd({ dataDir, ...options }))
  expect(databaseServer(dataDir), 'the server that uses the folder’s database').toBe(before)
  return told
}

function sentenceOf({ code, stdout, stderr }: Ended): string {
  expect(code, stderr).toBeGreaterThan(0)
  expect(stdout).toBe('')
  expect(stderr, 'one sentence on a line of its own').toMatch(/^[A-Z][^\n]{10,300}\.\n$/)
  expect(stderr).not.toMatch(/\bat .+:\d+:\d+|undefined|\[object|Error:/)
  return stderr.trim()
}

const isTaken = (port: number | string) =>
  `Port ${port} on 127.0.0.1 is used by another program. Stop that program, or set FORECOURT_PORT to another port.`

test('a second instance on one data folder is refused, and the first goes on, whatever variables others read', async () => {
  expect(await refusal({ dataDir: first.dataDir })).toBe(
    `Another Forecourt (process ${first.process.pid}) already uses the data folder ${first.dataDir}.`,
  )
  await newApplication(new Client(first))
  const file = join(place.home, 'backup.fcb')
  const saved = await forecourt(['backup', file], { ...variablesOfOthers, FORECOURT_DATA_DIR: first.dataDir })
  expect(saved, saved.stderr).toMatchObject({ code: 0 })
})

test('a taken port is refused by its number, and the database is not left running', async () => {
  const env = { FORECOURT_PORT: String(silentPort) }
  expect(await refusal({ dataDir: place.preparedFolder(), env })).toBe(isTaken(silentPort))
})

describe('a database that cannot be used is told in one sentence, without the password:', () => {
  const secret = 'pa55-w0rd-of-the-database'
  const on = (host: string, query = '') => `postgres://user:${secret}@${host}/forecourt${query}`
  const away = /^Can’t connect to the database: /
  const urls: [what: string, inGate: boolean, url: () => string, words: RegExp][] = [
    ['nothing listens there', true, () => on('127.0.0.1:1'), / \(database forecourt at 127\.0\.0\.1:1\)\.$/],
    ['it takes the connection and says nothing', true, () => on(`127.0.0.1:${silentPort}`), away],
    [
      'its host has no address',
      false,
      () => on('nowhere.invalid'),
      / \(database forecourt at nowhere\.invalid:5432\)\.$/,
    ],
    ['its socket is not there', false, () => on('localhost', `?host=${place.home}`), / at .*\/\.s\.PGSQL\.5432\)/],
    ['the password is wrong', true, () => database.url().replace(database.connection.password, secret), /: .*password/],
    ['it is not there', true, () => database.url('not_there'), /^Can’t connect to the database: .*not_there/],
    ['the URL is none', true, () => `postgres://user:${secret}@a b:x/forecourt`, /DATABASE_URL/],
    ['a parameter is unknown', true, () => on('localhost', '?sslmod=require'), /parameter sslmod, .* sslmode\.$/],
  ]
  for (const [what, inGate, url, words] of urls) {
    const run = inGate ? test : longTest
    run(what, async () => {
      const env = { FORECOURT_DATABASE_WAIT_SECONDS: '0', FORECOURT_STATEMENT_TIMEOUT_MS: '1000', DATABASE_URL: url() }
      const told = sentenceOf(await endOfStart(place.newFolder(), env))
      expect(told).toMatch(words)
      expect(told).not.toContain(secret)
      expect(told).not.toContain(database.connection.password)
    })
  }
})

test('a newer database is refused, and a service that runs on it already says that it is not ready', async () => {
  // The name must be encoded, and the URL has quotes and parameters, as others write them.
  await database.run((sql) => sql.unsafe('create database "a b#c"'))
  const url = `"${database.url().replace(/\/forecourt\?/, '/a%20b%23c?')}&channel_binding=prefer&pool_timeout=5&schema=public"\n`
  const env = { ...variablesOfOthers, DATABASE_URL: url }
  const service = await place.startService({ env })
  const inside = <T>(use: (sql: postgres.Sql) => Promise<T>) =>
    withSql({ ...database.connection, database: 'a b#c' }, use)
  const known = await inside(async (sql) => {
    const [row] = await sql`select max(version) as version from schema_migration`
    await sql`insert into schema_migration (version, file) values (9001, '9001-from-the-future.sql')`
    return row?.version as number
  })
  expect(await refusal({ env })).toBe(
    `The database is newer than this version of Forecourt: its schema is version 9001, but this version supports ${known}. Run a newer version.`,
  )
  const readiness = await new Client(service).call('getReadiness', {})
  expect(readiness.status).toBe(503)
  expect(readiness.data.checks.filter(({ ok }) => !ok)).toEqual([{ name: 'migrations', ok: false }])
  await inside((sql) => sql`delete from schema_migration where version = 9001`)
  const isReady = async () => (await new Client(service).call('getReadiness', {})).status === 200
  await waitUntil(isReady, 2_000)
  await newApplication(new Client(service))
  expect(await service.stop()).toBe(0)
})

describe('a setting that cannot be used is named in one sentence:', () => {
  const signOn = {
    FORECOURT_PUBLIC_URL: 'https://forecourt.example',
    FORECOURT_OIDC_ISSUER: 'https://login.example',
    FORECOURT_OIDC_CLIENT_ID: 'forecourt',
  }
  test.each<[setting: string, value: string, more?: Record<string, string>]>([
    ['FORECOURT_PORT', '80a'],
    ['FORECOURT_PORT', '70000'],
    ['DATABASE_URL', 'mysql://localhost/forecourt'],
    ['FORECOURT_OPERATOR_KEY', 'too short'],
    ['FORECOURT_TIME_ZONE', 'Mars/Olympus_Mons'],
    ['FORECOURT_INVENTORY_POLICY', 'closed'],
    ['FORECOURT_PRIVATE_CALLBACKS', 'yes'],
    ['FORECOURT_PRESENCE_SECONDS', '0'],
    ['FORECOURT_LOG_LEVEL', 'loud'],
    ['FORECOURT_STATEMENT_TIMEOUT_MS', '-1'],
    ['FORECOURT_MAX_WAITING_CREATES', '1.5'],
    ['FORECOURT_OIDC_CLIENT_ID', ''],
    ['FORECOURT_PUBLIC_URL', ''],
    ['FORECOURT_OIDC_ISSUER', 'http://login.example.com'],
    ['FORECOURT_OIDC_ROLES', 'boss=a'],
    ['FORECOURT_OIDC_ROLES', 'admin=a', { FORECOURT_OIDC_ISSUER: '' }],
    ['FORECOURT_REQUIRE_SECOND_FACTOR', 'boss'],
    ['FORECOURT_CONFIRM_SECONDS', '0'],
  ])('%s is %s', (setting, value, more = {}) => {
    const config = () => readConfig({ ...signOn, ...more, [setting]: value })
    expect(config).toThrow(UserError)
    expect(config).toThrow(/^[A-Z][^\n]{10,300}\.$/)
    expect(config).toThrow(setting)
  })

  test('by the program, which tells no secret, and tries the address after the start of the database', async () => {
    const told = await refusal({ env: { FORECOURT_OPERATOR_KEY: 'too short' } })
    expect(told).toContain('FORECOURT_OPERATOR_KEY')
    expect(told).not.toContain('too short')
    const env = { FORECOURT_HOST: 'no.such.host.invalid' }
    expect(await refusal({ dataDir: place.preparedFolder(), env })).toContain('no.such.host.invalid')
  })
})

describe('a user without rights is told which right on what:', () => {
  /** What has been said about the user and the database x, and the sentence that follows from it. */
  const rights: [statement: string, inGate: boolean, told: RegExp][] = [
    [
      '',
      true,
      /^The user x may not create tables in schema public of database x: grant create on schema public to x\.$/,
    ],
    [
      ...(['revoke usage on schema public from public', false] as const),
      /^The user x may not use schema public of database x: grant usage, create on schema public to x\.$/,
    ],
    [
      ...(['alter role x set search_path = "$user", "For Court"', false] as const),
      /^The database x has no schema "For Court" for the user x: create schema "For Court" authorization x\.$/,
    ],
    [
      ...(['revoke connect on database x from public', false] as const),
      /^Can’t connect to the database: permission denied for database "x" \(database x at .+\)\.$/,
    ],
    [
      ...(['grant create on schema public to x', true] as const),
      /^The tables in schema public of database x belong to forecourt, and the user x may not use them: grant forecourt to x\.$/,
    ],
  ]
  for (const [index, [statement, inGate, told]] of rights.entries()) {
    const run = inGate ? test : longTest
    run(statement || 'nothing', async () => {
      const name = `limited_${index}`
      const { user, password } = database.connection
      await database.run((sql) => sql.unsafe(`create database ${name}`))
      await database.run((sql) => sql.unsafe(`create role ${name} login password 'secret'`))
      const env = { DATABASE_URL: database.url(name) }
      if (statement.startsWith('grant')) expect((await forecourt(['migrate', 'up'], env)).code).toBe(0)
      await withSql({ ...database.connection, database: name }, (sql) =>
        sql.unsafe(statement.replaceAll(' x', ` ${name}`)),
      )
      const limited = { DATABASE_URL: env.DATABASE_URL.replace(`${user}:${password}`, `${name}:secret`) }
      const { code, stderr } = await endOfStart(place.newFolder(), limited)
      expect([code, stderr.includes('secret')]).toEqual([1, false])
      // Log lines before the error, as of a slow database, are removed.
      const sentence = stderr.replace(/^(\{.+\}\n)*/, '').trimEnd()
      expect(sentence.replaceAll(name, 'x')).toMatch(told)
    })
  }
})

describe('a start waits', () => {
  /** The line that a start logs once, when it begins to wait. */
  const waits = '"msg":"database not available yet; retrying"'

  /** Starts a service. Returns its output as text if it ends instead of becoming ready. */
  const start = (env: Record<string, string>, options: ServiceOptions = {}): Promise<Service | string> =>
    place.startService({ ...options, env }).catch((error: Error) => error.message)

  /** Starts a service and returns when it waits for its database; `starting` resolves with the result of the start. */
  async function startToWait(env: Record<string, string>): Promise<{ starting: Promise<Service | string> }> {
    let words = ''
    const starting = start(env, { onStderr: (all) => (words = all) })
    await waitUntil(() => words.includes(waits))
    return { starting }
  }

  async function expectWorks(started: Service | string): Promise<void> {
    if (typeof started === 'string') throw new Error(started)
    await newApplication(new Client(started))
    // The line is logged once, however often the start has tried.
    expect(started.stderr().split(waits)).toHaveLength(2)
    expect(await started.stop()).toBe(0)
  }

  test('for a database that is not up yet, and for a standby that is about to be the primary', async () => {
    const own = await place.startDatabase()
    const env = { DATABASE_URL: own.url() }
    const { cluster } = embeddedConnection(own.dataDir)
    for (const isStandby of [false, true]) {
      await own.stop()
      if (isStandby) {
        writeFileSync(join(cluster, 'standby.signal'), '')
        await own.start()
      }
      const { starting } = await startToWait(env)
      await (isStandby ? own.sql`select pg_promote()` : own.start())
      await expectWorks(await starting)
    }
    await own.stop()
    expect(existsSync(own.dataDir)).toBe(true)
  })

  test('no longer than it is told', async () => {
    const env = { DATABASE_URL: 'postgres://user:secret@127.0.0.1:1/forecourt', FORECOURT_DATABASE_WAIT_SECONDS: '1' }
    const began = performance.now()
    expect(await start(env)).toMatch(/Can’t connect to the database: .+ \(database forecourt at 127\.0\.0\.1:1\)\.\n/)
    expect(performance.now() - began).toBeGreaterThan(900)
  })

  test.each(['nothing listens', 'nobody speaks'])('until it is stopped, while %s', async (what) => {
    let isAsked = false
    const port = await listen(
      createServer(() => {
        isAsked = true
      }),
    )
    const url = `postgres://user:secret@127.0.0.1:${what === 'nothing listens' ? 1 : port}/forecourt`
    const others = new Set(place.services().map(({ pid }) => pid))
    let words = ''
    const env = { DATABASE_URL: url, FORECOURT_DATABASE_WAIT_SECONDS: '600' }
    const starting = start(env, { onStderr: (all) => (words = all) })
    await waitUntil(() => isAsked || words.includes(waits))
    for (const { pid } of place.services()) if (!others.has(pid)) process.kill(pid, 'SIGTERM')
    // A service that has not ended 9.5 s after the signal exits with 1.
    expect(await starting).toMatch(/^the service ended with 0: /)
  })
})
