import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { existsSync, mkdirSync, readdirSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { examine } from '../../src/cli/doctor.ts'
import type { Finding } from '../../src/cli/finding.ts'
import { hasOldestPostgres, type OwnDatabase, withSql } from '../kit/database.ts'
import { type Lies, TestProvider } from '../kit/provider.ts'
import { type Host, startPair } from '../kit/replicated.ts'
import { isLong, longTest } from '../kit/scale.ts'
import { runServiceToItsEnd } from '../kit/service.ts'
import { Workplace } from '../kit/workplace.ts'
import { command, forecourt } from './support.ts'

// The findings of `doctor` for a database in order, for one with faults, and without a database; and commands that are given
// the wrong database: each says so and creates nothing.

const place = new Workplace()
let database: OwnDatabase
beforeAll(async () => {
  database = await place.startDatabase()
}, 120_000)
const hosts: Host[] = []
afterAll(async () => {
  for (const host of hosts) host.signalAll('SIGKILL')
  await place.clear()
}, 120_000)

/** Settings that name no folder that is there. */
const nowhere = { FORECOURT_DATA_DIR: join(place.home, 'none'), FORECOURT_PORT: '0' }

async function doctor(env: Record<string, string>) {
  const { code, stdout, stderr } = await command(['doctor', '--json'], { ...nowhere, ...env })
  expect(stderr).toBe('')
  const { ok, checks } = JSON.parse(stdout) as { ok: boolean; checks: Finding[] }
  const not = checks.filter(({ name, status }) => status !== 'ok' && name !== 'program')
  expect(not.filter(({ todo }) => todo === null)).toEqual([])
  return { code, ok, not, checks }
}

const findingOf = (checks: Finding[], name: string) => checks.find((finding) => finding.name === name)
const names = (findings: Finding[], status: Finding['status']) =>
  findings.filter((finding) => finding.status === status).map(({ name }) => name)

const unknownSetting = {
  name: 'settings',
  status: 'warn',
  message: 'unknown setting FORECOURT_PRESENCE_SECOND',
  todo: 'Did you mean FORECOURT_PRESENCE_SECONDS? All settings: docs/guides/en/settings.md.',
}

test('a database in order: all is looked at, nothing fails, and an unknown setting is told with the nearest name', async () => {
  await database.run(async (sql) => {
    await sql`create role plain login password 'plain'`
    await sql`create database ours owner plain`
  })
  const url = database.url('ours').replace(/\/\/[^@]+@/, '//plain:plain@')
  const before = await doctor({ DATABASE_URL: url, FORECOURT_PRESENCE_SECOND: '5' })
  expect(before).toMatchObject({ code: 0, ok: true, not: [unknownSetting, { name: 'schema', status: 'warn' }] })
  const settings = { ...nowhere, DATABASE_URL: url, FORECOURT_LOG_LEVEL: 'error' }
  expect((await forecourt(['migrate', 'up'], settings)).code).toBe(0)
  const { code, not, checks } = await doctor({ DATABASE_URL: url })
  expect({ code, not }).toEqual({ code: 0, not: [] })
  const looked = [
    ...['settings', 'port', 'data folder', 'database', 'durability', 'connections', 'replication', 'clock'],
    ...['rights', 'schema', 'disk', 'backup', 'callbacks', 'secrets key'],
  ]
  expect(names(checks, 'ok')).toEqual(expect.arrayContaining(looked))
})

test('what can lose data fails; what waits for somebody is a warning, with what to do', async () => {
  await database.run((sql) => sql`alter database forecourt set synchronous_commit = off`)
  await database.run((sql) => sql`insert into secrets_key (key_id) values ('lost')`)
  const { code, not } = await doctor({
    DATABASE_URL: database.url(),
    FORECOURT_CALLBACKS: 'paused',
    FORECOURT_HOST: '0.0.0.0',
    FORECOURT_WORKERS: '64',
  })
  expect(code).toBe(1)
  expect(names(not, 'fail')).toEqual(['durability', 'secrets key'])
  // The owner of an embedded database is a superuser, though the service does not need those rights.
  expect(names(not, 'warn')).toEqual(['settings', 'database', 'connections', 'callbacks'])
})

test('a user without rights: which right on what, and the statement that gives it', async () => {
  await database.run(async (sql) => {
    await sql.unsafe("create role guest login password 'guest'; grant connect on database forecourt to guest")
  })
  const url = database.url().replace(/\/\/[^@]+@/, '//guest:guest@')
  const { code, not } = await doctor({ DATABASE_URL: url })
  expect(code).toBe(1)
  expect(not).toContainEqual({
    name: 'rights',
    status: 'fail',
    message: expect.stringContaining('The user guest may not '),
    todo: expect.stringMatching(/^As its owner: grant .+ to guest\.$/),
  })
})

test.skipIf(!hasOldestPostgres || !isLong)(
  'standbys whose state the user may not see are counted, and no fault',
  async () => {
    const { primary, standby } = await startPair(place.newFolder())
    hosts.push(primary, standby)
    await primary.ask((sql) => sql`create role plain login`)
    await primary.ask((sql) => sql`create database ours owner plain`)
    const replicationOf = async (user: string) => {
      const { checks } = await doctor({ DATABASE_URL: `postgres://${user}@127.0.0.1:${primary.port}/ours` })
      return findingOf(checks, 'replication')
    }
    for (const [user, message] of [
      ['forecourt', 'Standbys: 1. Commits wait for 1 of them.'],
      ['plain', 'Standbys: 1. The database user may not see which of them commits wait for.'],
    ] as const) {
      expect(await replicationOf(user)).toMatchObject({ status: 'ok', message })
    }
  },
)

describe('the provider of single sign-on', () => {
  const provider = new TestProvider()
  beforeAll(() => provider.start())
  afterAll(() => provider.stop())
  const settings = (): Record<string, string> => ({
    ...nowhere,
    FORECOURT_PUBLIC_URL: 'https://forecourt.example',
    FORECOURT_OIDC_ISSUER: provider.issuer,
    FORECOURT_OIDC_CLIENT_ID: provider.clientId,
  })

  test('that answers is told with its keys and what must be registered there', async () => {
    const { code, checks } = await doctor(settings())
    const message = `${provider.issuer} responds, with 6 keys; redirect URI: https://forecourt.example/api/platform/v1/signOn/callback`
    expect([code, findingOf(checks, 'sign-on')]).toEqual([0, { name: 'sign-on', status: 'ok', message, todo: null }])
    expect(provider.asked).toEqual(['/.well-known/openid-configuration', '/keys'])
  })

  const discovery = '/.well-known/openid-configuration'
  test.each<[string, Lies, RegExp, issuer?: string]>([
    ['is away', {}, /^http:\/\/127\.0\.0\.1:1: .*(ECONNREFUSED|Unable to connect|refused)/, 'http://127.0.0.1:1'],
    [
      'calls itself otherwise',
      { discovery: { issuer: 'https://other.example' } },
      /: the provider calls itself https:\/\/other\.example, not http:\/\/127\.0\.0\.1:\d+$/,
    ],
    [
      'has no discovery',
      { answers: { [discovery]: { status: 404, value: {} } } },
      /the provider’s discovery answers 404$/,
    ],
    ['names no address for tokens', { discovery: { token_endpoint: undefined } }, /has no token_endpoint$/],
    ['hides its keys', { answers: { '/keys': { status: 403, value: {} } } }, /no keys at \S+\/keys \(403\)$/],
    ['has none', { answers: { '/keys': { value: { keys: [] } } } }, /responds, with 0 keys$/],
  ])('that %s fails with what is wrong', async (...[, lies, told, issuer = provider.issuer]) => {
    provider.lies = lies
    const findings = await examine({ ...settings(), FORECOURT_OIDC_ISSUER: issuer })
    const found = findings.filter(({ name }) => name === 'sign-on')
    expect(found).toEqual([
      { name: 'sign-on', status: 'fail', message: expect.stringMatching(told), todo: expect.stringMatching(/\S\.$/) },
    ])
  })

  test('that is not set is not looked at', async () => {
    provider.asked = []
    const findings = await examine(nowhere)
    expect(findings.filter(({ name }) => name === 'sign-on')).toEqual([])
    expect(provider.asked).toEqual([])
  })
})

describe('a database that takes no writes', () => {
  const what = 'The database read_only is read-only for the user forecourt, because default_transaction_read_only is on'
  const statement = 'alter database read_only reset default_transaction_read_only'
  beforeAll(async () => {
    await database.run(async (sql) => {
      await sql`create database read_only`
      await sql`alter database read_only set default_transaction_read_only = on`
    })
  })

  test('fails in doctor, with what to do', async () => {
    const { code, checks } = await doctor({ DATABASE_URL: database.url('read_only') })
    const todo = `As its owner: ${statement}.`
    expect([code, findingOf(checks, 'writes')]).toEqual([1, { name: 'writes', status: 'fail', message: what, todo }])
  })

  test('is refused by a start in one sentence', async () => {
    const { code, stderr } = await runServiceToItsEnd({ env: { DATABASE_URL: database.url('read_only') } })
    expect([code, stderr]).toEqual([1, `${what}: ${statement}.\n`])
  })
})

describe('where there is no Forecourt database', () => {
  const backups = join(place.home, 'backups')
  /** Each command that uses the database of the settings, except those that create one. */
  const commands = [
    ['erase', '--days', '0', '--dry-run'],
    ['erase', '--app', 'a', '--site', '1'],
    ['backup', join(place.home, 'file')],
    ['backup', '-'],
    ['backup', '--to', backups, '--keep', '3'],
    ['callbacks', 'resume'],
  ]
  const none = (place: string) => expect.stringContaining(`No Forecourt database found in ${place}`)

  test('each command says so of a folder that is not there, and makes nothing', async () => {
    const folder = join(place.home, 'wrong')
    const outcomes = await Promise.all(commands.map((args) => command(args, { FORECOURT_DATA_DIR: folder })))
    const stderr = `No Forecourt database found in ${folder}. Set FORECOURT_DATA_DIR to its folder, or DATABASE_URL to its server.\n`
    expect(outcomes).toEqual(commands.map(() => ({ code: 1, stdout: '', stderr })))
    for (const made of [folder, backups, join(place.home, 'file')])
      expect([made, existsSync(made)]).toEqual([made, false])
  })

  test('a folder of something else, and the database of another program, stay as they are', async () => {
    const folder = join(place.home, 'other')
    mkdirSync(folder)
    await database.run((sql) => sql`create database foreign_one`)
    for (const args of commands) {
      const elsewhere = await command(args, { FORECOURT_DATA_DIR: folder })
      expect([elsewhere.code, elsewhere.stderr, readdirSync(folder)]).toEqual([1, none(folder), []])
      const foreign = await command(args, { DATABASE_URL: database.url('foreign_one') })
      expect([foreign.code, foreign.stderr]).toEqual([1, none('database foreign_one')])
      expect(foreign.stderr).not.toContain('    at ')
    }
    const of = { ...database.connection, database: 'foreign_one' }
    expect(await withSql(of, (sql) => sql`select 1 from pg_tables where schemaname = 'public'`)).toHaveLength(0)
  })
})

longTest('doctor tells a service that answers and is that of another folder', async () => {
  const service = await place.startService()
  const { port } = new URL(service.url)
  const wrong = await doctor({ FORECOURT_PORT: port })
  expect(findingOf(wrong.checks, 'port')).toMatchObject({
    status: 'warn',
    message: expect.stringContaining('but with another data folder than'),
    todo: expect.stringContaining('FORECOURT_DATA_DIR'),
  })
  const right = await doctor({ FORECOURT_PORT: port, FORECOURT_DATA_DIR: service.dataDir })
  expect(findingOf(right.checks, 'port')).toMatchObject({ status: 'ok' })
  await service.stop()
})

test('a port that another program has, a setting that is none, and a database that is stopped', async () => {
  const other = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1')
  await new Promise((resolve) => other.once('listening', resolve))
  const { port } = other.address() as { port: number }
  const url = database.url()
  await database.stop()
  const { code, not } = await doctor({ FORECOURT_PORT: String(port), DATABASE_URL: url })
  other.close()
  expect({ code, fails: names(not, 'fail') }).toEqual({ code: 1, fails: ['port', 'database'] })
  expect(not[0]?.message).toContain(`(process ${process.pid})`)
  expect(not[1]?.message).toStartWith('Can’t connect to the database: ')

  expect(await doctor({ FORECOURT_PORT: 'eighty' })).toMatchObject({
    code: 1,
    not: [{ name: 'settings', message: expect.stringContaining('"eighty"') }],
  })
})
