import { afterAll, describe, expect, test } from 'bun:test'
import {
  appendFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  statfsSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir, totalmem } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import postgres from 'postgres'
import {
  freshHome,
  kill,
  refusal,
  removeHome,
  type Started,
  startInProcess,
  withSql,
} from '../../test/embedded-starts.ts'
import { atScale } from '../../test/kit/scale.ts'
import { startEmbeddedDatabase } from './embedded.ts'
import { findProcess } from './processes.ts'

const home = freshHome()
const isRoot = process.getuid?.() === 0

// Slow where deleting is: each cluster is more than a thousand files.
afterAll(() => removeHome(home), 60_000)

const settingOf = (started: Pick<Started, 'connection'>, name: string) =>
  withSql(started, async (sql) => (await sql`select current_setting(${name}) as value`)[0]?.value as string)
const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8)
const pidFile = (dataDir: string) => join(dataDir, 'postgres', 'postmaster.pid')

describe('one data folder', () => {
  const dataDir = join(home, 'data')

  test('the first start makes a private, durable database', async () => {
    const started = await startEmbeddedDatabase(dataDir)
    expect(started.firstStart).toBe(true)
    expect(modeOf(join(dataDir, 'postgres'))).toBe('700')
    expect(modeOf(join(dataDir, 'embedded.json'))).toBe('600')
    expect(Buffer.from(started.connection.password, 'base64url')).toHaveLength(32)
    const expected = { listen_addresses: '', fsync: 'on', data_checksums: 'on', server_encoding: 'UTF8', jit: 'off' }
    for (const [name, value] of Object.entries(expected))
      expect([name, await settingOf(started, name)]).toEqual([name, value])
    const stranger = { connection: { ...started.connection, password: 'guess' } }
    await expect(withSql(stranger, (sql) => sql`select 1`)).rejects.toThrow('password authentication failed')
    await withSql(started, async (sql) => {
      const rules = await sql`select distinct auth_method from pg_hba_file_rules`
      expect(rules.map((rule) => rule.auth_method)).toEqual(['scram-sha-256'])
      const sorted = await sql`select name from unnest(array['b', 'é', 'B', 'a']::text[]) as name order by name`
      expect(sorted.map(({ name }) => name)).toEqual(['B', 'a', 'b', 'é'])
      await sql`create table kept (id int primary key)`
    })
    await started.stop()
    expect(findProcess(started.pid)).toBeUndefined()
  })

  test('later starts keep it, apart from our terminal and as an ordinary user, within limits', async () => {
    const log = join(dataDir, 'postgres', 'server.log')
    appendFileSync(log, 'x'.repeat(5_000_000))
    const started = await startEmbeddedDatabase(dataDir)
    expect(started.firstStart).toBe(false)
    expect(statSync(log).size).toBeLessThan(100_000)
    expect(await withSql(started, (sql) => sql`select * from kept`)).toHaveLength(0)
    await expectWithinLimits(started)
    if (process.platform === 'linux') {
      const status = readFileSync(`/proc/${started.pid}/status`, 'utf8')
      expect(status).not.toMatch(/^[UG]id:.*\b0\b/m)
      if (isRoot) expect(status).toMatch(/^Groups:\s*$/m)
      // After the name: state, parent, process group, session.
      const fields = readFileSync(`/proc/${started.pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ')
      expect(fields?.slice(2, 4).map(Number)).toEqual([started.pid, started.pid])
    }
    await started.stop()
    await started.stop()
  })

  /** Its buffers and its log of changes take a part of the machine. */
  async function expectWithinLimits(started: Pick<Started, 'connection'>): Promise<void> {
    const [row] = await withSql(
      started,
      (sql) => sql<[{ buffers: number; log: number }]>`
        select pg_size_bytes(current_setting('shared_buffers'))::float8 as buffers,
          pg_size_bytes(current_setting('max_wal_size'))::float8 as log`,
    )
    const gigabyte = 1024 ** 3
    expect(row.buffers).toBeGreaterThanOrEqual(gigabyte / 8)
    expect(row.buffers).toBeLessThanOrEqual(
      Math.min(8 * gigabyte, Math.max(gigabyte / 8, totalmem() / 4 + gigabyte / 1024)),
    )
    const { blocks, bsize } = statfsSync(dataDir)
    expect(row.log).toBeGreaterThanOrEqual(4 * gigabyte)
    expect(row.log).toBeLessThanOrEqual(Math.min(16, Math.max(4, (blocks * bsize) / gigabyte / 16 + 0.5)) * gigabyte)
  }

  test('a database that a killed Forecourt left running is adopted', async () => {
    const { child, started } = await startInProcess(dataDir)
    const { pid, connection } = await started
    await withSql({ connection }, (sql) => sql`insert into kept values (1)`)
    await kill(child)
    const next = await startEmbeddedDatabase(dataDir)
    expect([next.pid, next.firstStart]).toEqual([pid, false])
    expect(await withSql(next, (sql) => sql`select * from kept`)).toHaveLength(1)
    await next.stop()
    expect(findProcess(pid)).toBeUndefined()
  })

  test('one that does not answer is started again', async () => {
    const { child, started } = await startInProcess(dataDir)
    const { pid } = await started
    await kill(child)
    process.kill(pid, 'SIGSTOP')
    const next = await startEmbeddedDatabase(dataDir)
    expect(next.pid).not.toBe(pid)
    await next.stop()
  })

  let rows = 1
  test('one that was killed too is recovered, also when another process got its number', async () => {
    for (const reused of atScale([true], [false, true])) {
      const { child, started } = await startInProcess(dataDir)
      const { pid, connection } = await started
      await withSql({ connection }, (sql) => sql`insert into kept select count(*) + 1 from kept`)
      process.kill(pid, 'SIGKILL')
      await kill(child)
      if (reused)
        writeFileSync(pidFile(dataDir), readFileSync(pidFile(dataDir), 'utf8').replace(`${pid}`, `${process.pid}`))
      const next = await startEmbeddedDatabase(dataDir)
      expect(await withSql(next, (sql) => sql`select * from kept`)).toHaveLength(++rows)
      await next.stop()
    }
  })

  test('one that was killed under us is started again for the same pool, without the processes it left', async () => {
    const first = await startEmbeddedDatabase(dataDir)
    const sql = postgres({ ...first.connection, max: 2, fetch_types: false, backoff: () => 0.05, onnotice: () => {} })
    const [busy] = await sql<[{ pid: number }]>`select pg_backend_pid() as pid`
    const endless = sql`do $$ begin loop perform 1; end loop; end $$`.catch((fault: Error) => fault)
    await sleep(50)
    process.kill(first.pid, 'SIGKILL')
    while (first.isRunning()) await sleep(10)
    const orphan = findProcess(busy.pid)
    const second = await startEmbeddedDatabase(dataDir)
    expect(orphan).toBeDefined()
    expect(findProcess(busy.pid)).toBeUndefined()
    expect(await endless).toBeInstanceOf(Error)
    expect(await sql`select * from kept`.catch(() => sql`select * from kept`)).toHaveLength(rows)
    await sql.end({ timeout: 0 })
    await second.stop()
  })

  test('a cluster of another major version is refused', async () => {
    const version = join(dataDir, 'postgres', 'PG_VERSION')
    writeFileSync(version, '19\n')
    expect(await refusal(dataDir)).toMatch(
      /^UserError: The database in .* was created by PostgreSQL 19, but .* PostgreSQL 18: /,
    )
    writeFileSync(version, '18\n')
  })

  test('a cluster or a password that is missing is refused and nothing is deleted', async () => {
    const record = join(dataDir, 'embedded.json')
    const cluster = join(dataDir, 'postgres')
    renameSync(cluster, `${cluster}.away`)
    expect(await refusal(dataDir)).toBe(
      `UserError: The database in ${cluster} is missing. Restore it, or delete ${record} to start with an empty one.`,
    )
    renameSync(`${cluster}.away`, cluster)
    renameSync(record, `${record}.away`)
    expect(await refusal(dataDir)).toMatch(/^UserError: .* has a database, but its password is missing/)
    renameSync(`${record}.away`, record)
    expect(await refusal(dataDir)).toBe('it started')
  })

  test('a data folder can be moved, and one with a long name has its socket among the temporary files', async () => {
    const moved = join(home, 'long-'.repeat(20))
    renameSync(dataDir, moved)
    const started = await startEmbeddedDatabase(moved)
    const { host } = started.connection
    expect(started.firstStart).toBe(false)
    expect([dirname(host), modeOf(host)]).toEqual([realpathSync(tmpdir()), '700'])
    expect(await withSql(started, (sql) => sql`select * from kept`)).toHaveLength(rows)
    await started.stop()
    expect(existsSync(host)).toBe(false)
    expect(await refusal(moved)).toBe('it started')
  })
})

test('a first start that was killed half-way is made anew', async () => {
  const dataDir = join(home, 'half')
  for (const delay of atScale([300], [0, 300])) {
    const { child } = await startInProcess(dataDir)
    while (!existsSync(dataDir) || !readdirSync(dataDir).some((name) => name.startsWith('postgres'))) await sleep(5)
    await sleep(delay)
    await kill(child)
  }
  const started = await startEmbeddedDatabase(dataDir)
  expect(started.firstStart).toBe(true)
  expect(readdirSync(dataDir).sort()).toEqual(['embedded.json', 'postgres'])
  await started.stop()
})
