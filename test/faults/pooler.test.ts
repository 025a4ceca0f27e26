import { afterAll, expect, test } from 'bun:test'
import { type ChildProcess, spawn } from 'node:child_process'
import { chownSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openDatabase } from '../../src/database/open.ts'
import { serverUser } from '../../src/embedded/user.ts'
import { pageSites } from '../../src/sites/contract.ts'
import type { OwnDatabase } from '../kit/database.ts'
import { projectFolder } from '../kit/folders.ts'
import { deviceBody, newApplication } from '../kit/records.ts'
import { freePort } from '../kit/replicated.ts'
import { runServiceToItsEnd } from '../kit/service.ts'
import { becomesTrue } from '../kit/waits.ts'
import { Workplace } from '../kit/workplace.ts'

// PgBouncer in transaction mode, where each transaction may have another session (docs/high-availability.md).

const program = '/usr/sbin/pgbouncer'
const hasPooler = existsSync(program)
if (!hasPooler) console.log(`Poolers are not tested: there is no ${program}.`)

const place = new Workplace()
let pooler: ChildProcess | undefined
afterAll(async () => {
  pooler?.kill('SIGKILL')
  await place.clear()
}, 60_000)

const page = readFileSync(join(projectFolder, 'docs/high-availability.md'), 'utf8')
const ignored = /^ignore_startup_parameters = (.+)$/m.exec(page)?.[1] ?? ''
/** PgBouncer keeps these for each client; it refuses a connection that sets another one, unless it is to ignore it. */
const kept = ['application_name', 'client_encoding', 'DateStyle', 'standard_conforming_strings', 'TimeZone']

test('the page names every setting of the connections that PgBouncer must ignore, and no other', async () => {
  const pools = [{}, { isByKeys: true }, { isWritePath: true }, { isPlannedEachTime: true }, { isDistributed: true }]
  const set = pools.flatMap((pool) => {
    const sql = openDatabase({ target: 'postgres://localhost/none', connections: 1, statementTimeoutMs: 1000, ...pool })
    return Object.keys(sql.options.connection)
  })
  const refused = [...new Set(set)].filter((name) => !kept.includes(name))
  expect(ignored.split(', ').sort()).toEqual(refused.sort())
})

test.skipIf(!hasPooler)(
  'behind a pooler a start names the settings that it needs, and with them all works',
  async () => {
    const database = await place.startDatabase()
    const { user } = database.connection
    await database.run((sql) => sql.unsafe(`alter role ${user} set extra_float_digits = 0`))
    const env = { DATABASE_URL: await startPooler(database) }
    const refused = await runServiceToItsEnd({ dataDir: place.newFolder(), env })
    expect(refused.code).toBe(1)
    const statements = [...refused.stderr.matchAll(/alter role \w+ set (\w+) = '[^']*';/g)]
    expect(statements.map(([, name]) => name).sort()).toEqual([
      'extra_float_digits',
      'idle_in_transaction_session_timeout',
      'max_parallel_workers_per_gather',
      'statement_timeout',
    ])
    await database.run(async (sql) => {
      for (const [statement] of statements) await sql.unsafe(statement)
      await sql`select pg_terminate_backend(pid) from pg_stat_activity where application_name like 'forecourt %'`
    })

    const { service, client } = await place.start({ env })
    const app = await newApplication(client)
    const { appId, token } = app
    const create = async () => (await client.call('createDevice', deviceBody(appId), { token })).status
    const statuses = await Promise.all(Array.from({ length: 300 }, create))
    expect(statuses).toEqual(statuses.map(() => 200))

    // Statements without parameters, several at once on few connections: each must get its own result.
    for (let scrapes = 0; scrapes < 30; scrapes++) {
      const [{ text }] = await Promise.all([client.operate('getMetrics', {}), client.operate('getMetrics', {})])
      expect(text.split('\n').filter((line) => / nan$/i.test(line))).toEqual([])
    }

    const longReads = async () => {
      const [row] = await database.sql`
        select count(*)::int as count from pg_stat_activity where state = 'active' and query like '%from site where%'
          and pid <> pg_backend_pid()`
      return row?.count
    }
    await database.run(async (sql) => {
      await sql.begin(async (tx) => {
        await tx`lock table site in access exclusive mode`
        const caller = new AbortController()
        const headers = { authorization: `Bearer ${token}` }
        const read = fetch(service.url + pageSites.path, { headers, signal: caller.signal }).catch(() => 'hung up')
        expect(await becomesTrue(async () => (await longReads()) === 1), 'it is read').toBe(true)
        caller.abort()
        expect(await read).toBe('hung up')
        expect(await becomesTrue(async () => (await longReads()) === 0, 2000), 'the read is cancelled').toBe(true)
      })
    })

    expect(await service.stop()).toBe(0)
    await database.stop()
  },
)

/** Starts PgBouncer for a database. Returns a DATABASE_URL through it. */
async function startPooler(database: OwnDatabase): Promise<string> {
  const { host, port, user, password, database: name } = database.connection
  const folder = place.newFolder()
  const identity = serverUser()
  mkdirSync(folder)
  if (identity !== undefined) chownSync(folder, identity.uid, identity.gid)
  const listenPort = await freePort()
  const lines = [
    '[databases]',
    `* = host=${host} port=${port} user=${user} password=${password}`,
    '[pgbouncer]',
    'listen_addr = 127.0.0.1',
    `listen_port = ${listenPort}`,
    'unix_socket_dir =',
    'auth_type = any',
    'pool_mode = transaction',
    'default_pool_size = 40',
    `ignore_startup_parameters = ${ignored}`,
  ]
  writeFileSync(join(folder, 'pgbouncer.ini'), `${lines.join('\n')}\n`)
  const options = identity === undefined ? {} : { uid: identity.uid, gid: identity.gid }
  pooler = spawn(program, [join(folder, 'pgbouncer.ini')], { ...options, cwd: folder, stdio: 'ignore' })
  return `postgres://${user}@127.0.0.1:${listenPort}/${name}?prepare=false`
}
