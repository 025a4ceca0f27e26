import { afterAll, describe, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { join } from 'node:path'
import { readConfig } from '../../src/config.ts'
import { createDevice } from '../../src/devices/contract.ts'
import { UserError } from '../../src/runtime/user-error.ts'
import { getReadiness } from '../../src/service/contract.ts'
import {
  Client,
  deviceBody,
  type Ended,
  newApplication,
  runServiceToItsEnd,
  type ServiceOptions,
  type TestApplication,
} from '../harness.ts'
import { longTest } from '../long.ts'
import { atScale, becomesTrue, databaseProcesses, postmasterPid, Workplace } from './support.ts'

// A start that cannot be is refused with one sentence.

const place = new Workplace()
const servers: Server[] = []
afterAll(async () => {
  for (const server of servers) server.close()
  await place.clear()
}, 120_000)

/** The process id of the folder's database server, if it is running. */
function databaseServer(dataDir: string): number | undefined {
  return databaseProcesses(dataDir).length === 0 ? undefined : postmasterPid(dataDir)
}

/**
 * Starts a service that must end by itself, with an exit code other than 0, one sentence of output and no process left.
 */
async function refusal(options: ServiceOptions): Promise<string> {
  const dataDir = options.dataDir ?? place.newFolder()
  const before = databaseServer(dataDir)
  const began = performance.now()
  const ended: Ended = await runServiceToItsEnd({ dataDir, ...options })
  expect(performance.now() - began, 'how long it took to refuse, in ms').toBeLessThan(60_000)
  expect(ended.code, ended.stderr).toBeGreaterThan(0)
  expect(ended.stdout).toBe('')
  expect(ended.stderr, 'one sentence on a line of its own').toMatch(/^[A-Z][^\n]{10,300}\.\n$/)
  expect(ended.stderr).not.toMatch(/\bat .+:\d+:\d+|undefined|\[object|Error:/)
  expect(databaseServer(dataDir), 'the server that uses the folder’s database').toBe(before)
  return ended.stderr.trim()
}

async function createOne(client: Client, app: TestApplication): Promise<string> {
  const body = deviceBody(app.appId)
  const answer = await client.call(createDevice, body, { token: app.token })
  expect(answer.status, answer.text).toBe(200)
  return body.deviceNo
}

/** A port that accepts connections and never responds. */
async function silentPort(): Promise<number> {
  const server = createServer(() => {})
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return (server.address() as { port: number }).port
}

test('a second instance on one data folder is refused, and the first goes on', async () => {
  const first = await place.startService()
  const client = new Client(first)
  const app = await newApplication(client)
  expect(await refusal({ dataDir: first.dataDir })).toBe(
    `Another Forecourt (process ${first.process.pid}) already uses the data folder ${first.dataDir}.`,
  )
  await createOne(client, app)
  await first.stop()
})

test('a taken port is refused by its number, and the database is not left running', async () => {
  const port = await silentPort()
  expect(await refusal({ dataDir: place.preparedFolder(), env: { FORECOURT_PORT: String(port) } })).toBe(
    `Port ${port} on 127.0.0.1 is used by another program. Stop that program, or set FORECOURT_PORT to another port.`,
  )
})

longTest("another instance's port is refused too, and is free again at once when that one has stopped", async () => {
  const first = await place.startService()
  const { port } = new URL(first.url)
  const env = { FORECOURT_PORT: port }
  expect(await refusal({ dataDir: place.preparedFolder(), env })).toBe(
    `Port ${port} on 127.0.0.1 is used by another program. Stop that program, or set FORECOURT_PORT to another port.`,
  )
  // After the service closes a connection, the operating system keeps its port in use for a minute.
  await Promise.all(Array.from({ length: 8 }, () => fetch(`${first.url}/healthz`)))
  expect(await first.stop()).toBe(0)
  const second = await place.startService({ env })
  expect(await second.stop()).toBe(0)
})

describe('a database that cannot be used is told in one sentence, without the password:', () => {
  const secret = 'pa55-w0rd-of-the-database'
  const atOnce = { FORECOURT_DATABASE_WAIT_SECONDS: '0' }

  test('nothing listens there', async () => {
    const url = `postgres://user:${secret}@127.0.0.1:1/forecourt`
    const words = await refusal({ env: { ...atOnce, DATABASE_URL: url } })
    expect(words).toMatch(/^Can’t connect to the database: .* \(database forecourt at 127\.0\.0\.1:1\)\.$/)
    expect(words).not.toContain(secret)
  })

  longTest('its socket is not there', async () => {
    const url = `postgres://user:${secret}@localhost/forecourt?host=${encodeURIComponent(place.home)}`
    const words = await refusal({ env: { ...atOnce, DATABASE_URL: url } })
    expect(words).toMatch(/^Can’t connect to the database: /)
    expect(words).toContain(`(database forecourt at ${place.home}/.s.PGSQL.5432)`)
    expect(words).not.toContain(secret)
  })

  longTest('its host has no address', async () => {
    const url = `postgres://user:${secret}@nowhere.invalid/forecourt`
    const words = await refusal({ env: { ...atOnce, DATABASE_URL: url } })
    expect(words).toMatch(/^Can’t connect to the database: .* \(database forecourt at nowhere\.invalid:5432\)\.$/)
    expect(words).not.toContain(secret)
  })

  test('it takes the connection and says nothing', async () => {
    const url = `postgres://user:${secret}@127.0.0.1:${await silentPort()}/forecourt`
    const words = await refusal({
      env: { ...atOnce, DATABASE_URL: url, FORECOURT_STATEMENT_TIMEOUT_MS: '1000' },
    })
    expect(words).toMatch(/^Can’t connect to the database: /)
    expect(words).not.toContain(secret)
  })

  test('the password is wrong, the database is not there, or the URL is none', async () => {
    const database = await place.startDatabase()
    const { password } = database.connection
    const wrong = await refusal({ env: { DATABASE_URL: database.url().replace(password, secret) } })
    expect(wrong).toMatch(/^Can’t connect to the database: .*password/)
    expect(wrong).not.toContain(secret)
    const missing = await refusal({ env: { DATABASE_URL: database.url('not_there') } })
    expect(missing).toMatch(/^Can’t connect to the database: .*not_there/)
    expect(missing).not.toContain(password)
    const none = await refusal({ env: { DATABASE_URL: `postgres://user:${secret}@a b:x/forecourt` } })
    expect(none).not.toContain(secret)
    await database.stop()
  })
})

test('a newer database is refused, and a service that runs on it already says that it is not ready', async () => {
  const database = await place.startDatabase()
  const env = { DATABASE_URL: database.url() }
  const service = await place.startService({ env })
  const known = await database.run(async (sql) => {
    const [row] = await sql`select max(version) as version from schema_migration`
    await sql`insert into schema_migration (version, file) values (9001, '9001-from-the-future.sql')`
    return row?.version as number
  })
  expect(await refusal({ env })).toBe(
    `The database is newer than this version of Forecourt: its schema is version 9001, but this version supports ${known}. Run a newer version.`,
  )
  const readiness = await new Client(service).call(getReadiness, {})
  expect(readiness.status).toBe(503)
  expect(readiness.data.checks.filter(({ ok }) => !ok)).toEqual([{ name: 'migrations', ok: false }])
  await database.run((sql) => sql`delete from schema_migration where version = 9001`)
  const isReady = async () => (await new Client(service).call(getReadiness, {})).status === 200
  expect(await becomesTrue(isReady, 2_000)).toBe(true)
  expect(await service.stop()).toBe(0)
  await database.stop()
})

describe('a setting that cannot be used is named in one sentence:', () => {
  const bad: [setting: string, value: string, named?: RegExp][] = [
    ['FORECOURT_HOST', 'no.such.host.invalid', /no\.such\.host\.invalid/],
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
  ]
  /** The settings that are tested with a real start; the short run tests the others with the parser alone. */
  const startedWith = atScale(
    ['FORECOURT_HOST', 'FORECOURT_OPERATOR_KEY', 'DATABASE_URL'],
    bad.map(([setting]) => setting),
  )

  function sentence(env: Record<string, string>): string {
    try {
      readConfig(env)
    } catch (error) {
      expect(error).toBeInstanceOf(UserError)
      expect((error as Error).message).toMatch(/^[A-Z][^\n]{10,300}\.$/)
      return (error as Error).message
    }
    throw new Error('it may be used')
  }

  test.each(bad)('%s is %s', async (setting, value, named = new RegExp(setting)) => {
    // The address is the only setting here that is tried after the start of the database.
    const dataDir = setting === 'FORECOURT_HOST' ? place.preparedFolder() : place.newFolder()
    const env = { [setting]: value }
    const words = startedWith.includes(setting) ? await refusal({ dataDir, env }) : sentence(env)
    expect(words).toMatch(named)
    // A key is a secret even if it is invalid.
    if (setting === 'FORECOURT_OPERATOR_KEY') expect(words).not.toContain(value)
  })

  test('FORECOURT_DATA_DIR is a file', async () => {
    const file = join(place.home, 'file')
    writeFileSync(file, '')
    expect(await refusal({ dataDir: file })).toBe(`The data folder ${file} is not a folder.`)
    expect(await refusal({ dataDir: join(file, 'below') })).toContain(file)
  })
})
