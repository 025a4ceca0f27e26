import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { type ChildProcess, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import {
  copyFileSync,
  createReadStream,
  createWriteStream,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { finished } from 'node:stream/promises'
import { gunzipSync } from 'node:zlib'
import { Glob } from 'bun'
import type postgres from 'postgres'
import { saveThirdPartyConfig } from '../../src/applications/third-party-config/contract.ts'
import { verifyBackup } from '../../src/backup/format.ts'
import { requireRestorable, restoreBackup } from '../../src/backup/restore.ts'
import { testDelivery } from '../../src/deliveries/contract.ts'
import { createDevice } from '../../src/devices/contract.ts'
import { openLog } from '../../src/runtime/log.ts'
import { newKey } from '../../src/secrets/box.ts'
import { getReadiness } from '../../src/service/contract.ts'
import { getOverview } from '../../src/service/overview/contract.ts'
import { forecourt, startForecourt } from '../cli/support.ts'
import { Client, deviceBody, type Ended, hasOldestPostgres, newApplication, projectFolder } from '../harness.ts'
import { longTest } from '../long.ts'
import type { Killed, KillOrder } from './killer.ts'
import { OldestServer } from './oldest-server.ts'
import { Receiver, verify } from './receiver.ts'
import { expectServes, inconsistencies } from './restored.ts'
import {
  atScale,
  becomesTrue,
  databaseProcesses,
  embeddedConnection,
  isLong,
  type OwnDatabase,
  seed,
  staysTrue,
  tell,
  untilAdmitted,
  Workplace,
  withSql,
} from './support.ts'
import { type Create, contradictions, Writers } from './writers.ts'

// Backup and restore with the command line, as an operator runs them.

const place = new Workplace()
const said = `seed ${seed}`
let server: OwnDatabase
let receiver: Receiver
let oldest: OldestServer | undefined
let databases = 0
let atWork: Writers | undefined

beforeAll(async () => {
  server = await place.startDatabase()
  // Databases are copied from this one, so it needs the schema.
  expect((await forecourt(['migrate', 'up'], { DATABASE_URL: server.url() })).code).toBe(0)
  receiver = await Receiver.start()
}, 120_000)
afterEach(() => atWork?.abandon())
afterAll(async () => {
  receiver.stop()
  await oldest?.stop()
  await place.clear()
}, 120_000)

/**
 * Creates a database without a schema on the server. Returns environment variables for it, and a function that runs SQL
 * in it.
 */
async function newDatabase(template = 'template1') {
  const name = `restored_${++databases}`
  await server.run((sql) => sql.unsafe(`create database ${name} template ${template}`))
  const connection = { ...server.connection, database: name }
  const env = { DATABASE_URL: server.url(name), FORECOURT_DATA_DIR: place.newFolder() }
  return { env, look: <T>(use: (sql: postgres.Sql) => Promise<T>) => withSql(connection, use) }
}

function expectDone(ended: Ended): void {
  expect([ended.code, ended.stderr]).toEqual([0, ''])
}

/** Expects that the command ended with one sentence on standard error, and with exit code 1. */
function expectRefused({ code, stdout, stderr }: Ended, words: RegExp | string): void {
  expect([code, stdout]).toEqual([1, ''])
  expect(stderr).toMatch(words)
  expect(stderr.trimEnd().split('\n')).toHaveLength(1)
}

const newFile = () => join(place.home, `backup-${++databases}`)

test(`under load, ${atScale(2, 20)} times: all that was acknowledged before a backup is in it, consistent`, async () => {
  const source = await place.startService()
  const env = { FORECOURT_DATA_DIR: source.dataDir }
  const app = await newApplication(new Client(source))
  const acknowledged: Create[] = []
  let last: { env: Record<string, string>; before: Create[]; rows: number } | undefined
  for (let round = 0; round < atScale(2, 20); round++) {
    // The writers pause during a restore, so that a slow machine has no more rows to compare.
    const writers = new Writers(app, source)
    atWork = writers
    expect(await becomesTrue(() => writers.settled.length > 50)).toBe(true)
    const before = [...acknowledged, ...writers.settled]
    const file = newFile()
    expectDone(await forecourt(['backup', file], env))
    await writers.finish()
    expect(writers.wrong).toEqual([])
    acknowledged.push(...writers.settled)
    expect(acknowledged.length).toBeGreaterThan(before.length)
    const { env: restored, look } = await newDatabase()
    expectDone(await forecourt(['restore', file], restored))
    await look(async (sql) => {
      expect(await contradictions(sql, app.appId, before), said).toEqual([])
      expect(await inconsistencies(sql), said).toEqual([])
    })
    tell(
      `backup ${round + 1}: ${before.length} acknowledged before it, ${acknowledged.length - before.length} while it ran`,
    )
    last = { env: restored, before, rows: before.length }
    rmSync(file)
  }
  await source.stop()
  if (last === undefined) throw new Error('there was no round')
  await expectServes(await place.startService({ env: last.env }), app, last.before)
}, 600_000)

describe('a small backup', () => {
  let file: string
  let dataDir: string

  beforeAll(async () => {
    const service = await place.startService()
    dataDir = service.dataDir
    file = newFile()
    await newApplication(new Client(service))
    await service.stop()
    // The backup is taken while no service is running.
    const ended = await forecourt(['backup', file, '--json'], { FORECOURT_DATA_DIR: dataDir })
    expect(ended.code, ended.stderr).toBe(0)
    expect(JSON.parse(ended.stdout)).toMatchObject({ file, bytes: statSync(file).size })
  }, 60_000)

  test('can be read by its owner only, with zcat, and holds no one’s sign-in', () => {
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(existsSync(`${file}.partial`)).toBe(false)
    const lines = gunzipSync(readFileSync(file)).toString().split('\n')
    const { tables } = JSON.parse(lines[0] ?? '')
    const names = tables.map(({ name }: { name: string }) => name)
    expect(names).toContain('application_lock')
    expect(names).not.toContain('operator_session')
    expect(lines.filter((line) => line === '\\.')).toHaveLength(names.length)
  })

  test('is refused when any byte of it is another one, or missing', async () => {
    const whole = readFileSync(file)
    const altered = newFile()
    const expectUnfit = async (content: Buffer, what: string) => {
      writeFileSync(altered, content)
      const handle = await open(altered)
      const outcome = await verifyBackup(handle, () => {}).then(
        () => 'taken',
        (error: Error) => error.message,
      )
      await handle.close()
      expect(outcome, what).toMatch(
        /^The (backup is damaged, and nothing was written|file is (empty|not a Forecourt backup))/,
      )
    }
    const unpacked = gunzipSync(whole)
    const isSame = (other: Buffer) => {
      try {
        return gunzipSync(other).equals(unpacked)
      } catch {
        return false
      }
    }
    for (let at = 0; at < whole.length; at += atScale(7, 1)) {
      const other = Buffer.from(whole)
      other.writeUInt8(whole.readUInt8(at) ^ (1 << (at % 8)), at)
      // A few bits of gzip's headers have no meaning, so changing them changes nothing.
      if (!isSame(other)) await expectUnfit(other, `byte ${at} of ${whole.length}`)
      await expectUnfit(whole.subarray(0, at), `cut at ${at} of ${whole.length}`)
    }
    await expectUnfit(Buffer.concat([whole, Buffer.from('x')]), 'a byte more')
    await expectUnfit(Buffer.concat([whole, whole]), 'twice')
  }, 120_000)

  test('that is unfit is told in a sentence, before there is a database', async () => {
    const env = { FORECOURT_DATA_DIR: place.newFolder() }
    const cut = newFile()
    writeFileSync(cut, readFileSync(file).subarray(0, -7))
    expectRefused(await forecourt(['restore', cut], env), 'The backup is damaged, and nothing was written')
    expectRefused(await forecourt(['restore', '-'], env, 'no backup'), 'The file is not a Forecourt backup.')
    expectRefused(await forecourt(['restore', newFile()], env), 'does not exist')
    expect((await forecourt(['restore'], env)).code).toBe(2)
    expect(existsSync(env.FORECOURT_DATA_DIR)).toBe(false)
  }, 60_000)

  test('that nobody takes to its end is not done, and the database that it started is stopped', async () => {
    const { child, ended } = startForecourt(['backup', '-'], { FORECOURT_DATA_DIR: dataDir })
    child.stdout?.destroy()
    expectRefused(await ended, 'Standard output was closed, and the backup is not complete.')
    expect(databaseProcesses(dataDir)).toEqual([])
  }, 60_000)

  test('whose restore is ended by Ctrl-C, which ends what it has started too, says just that', async () => {
    const dataDir = place.newFolder()
    const { child, ended } = startForecourt(['restore', file], { FORECOURT_DATA_DIR: dataDir }, { detached: true })
    const isMaking = () =>
      existsSync(dataDir) &&
      new Glob('*.making-*/cluster/global/pg_control').scanSync({ cwd: dataDir }).next().value !== undefined
    expect(await becomesTrue(isMaking)).toBe(true)
    process.kill(-(child.pid as number), 'SIGINT')
    expect(await ended).toEqual({
      code: 1,
      stdout: '',
      stderr: 'The command was stopped by SIGINT, and nothing was written.\n',
    })
    expectDone(await forecourt(['restore', file], { FORECOURT_DATA_DIR: dataDir }))
  }, 60_000)

  test('is not written where it cannot be, nor of a database that is not there', async () => {
    const env = { FORECOURT_DATA_DIR: dataDir }
    expectRefused(await forecourt(['backup', join(newFile(), 'x')], env), 'does not exist')
    expectRefused(await forecourt(['backup', place.home], env), 'is a folder')
    const nowhere = { FORECOURT_DATA_DIR: place.newFolder() }
    expectRefused(await forecourt(['backup', newFile()], nowhere), 'There is no Forecourt database in')
    expect(existsSync(nowhere.FORECOURT_DATA_DIR)).toBe(false)
  }, 60_000)

  test('goes into an empty database only', async () => {
    const { env, look } = await newDatabase('forecourt')
    for (const [table, statement] of Object.entries({
      operator_key: `insert into operator_key (name, role, key_hash, created_by, created_at, expires_at) values ('a', 'admin', 'x', 'me', now(), now())`,
      device_model: `insert into device_model (serial_prefix, model_name, created_at) values ('A', 'a', now())`,
      application: `insert into application (app_id, app_name, secret_hash, token_lifetime_seconds, created_at) values ('a', 'a', 'x', 7200, now())`,
      operator: `insert into operator (name, role, password_hash, created_at) values ('a', 'admin', 'x', now())`,
    })) {
      await look((sql) => sql.unsafe(statement))
      expectRefused(await forecourt(['restore', file], env), `The database holds data already (in ${table})`)
      await look((sql) => sql.unsafe(`delete from ${table}`))
    }
    expectDone(await forecourt(['restore', file], env))
    expectRefused(await forecourt(['restore', file], env), 'The database holds data already (in application)')
  }, 60_000)
})

test('a row that the database does not take ends a restore with its words, and nothing is written', async () => {
  const from = await newDatabase('forecourt')
  await from.look((sql) => sql.unsafe('alter table device_model alter column model_name drop not null'))
  await from.look((sql) => sql.unsafe("insert into device_model (serial_prefix, created_at) values ('A', now())"))
  const file = newFile()
  expectDone(await forecourt(['backup', file], from.env))
  const { env, look } = await newDatabase('forecourt')
  expectRefused(
    await forecourt(['restore', file], env),
    /^The database refused a statement: null value in column "model_name"/,
  )
  expect(await look((sql) => sql`select 1 from device_catalogue where version > 1`)).toHaveLength(0)
}, 30_000)

describe('killed', () => {
  const rounds = atScale(3, 20)
  let killer: ChildProcess
  let nextKilled: () => Promise<Killed>
  let source: Awaited<ReturnType<typeof newDatabase>>

  beforeAll(async () => {
    killer = spawn(process.execPath, [join(import.meta.dirname, 'killer.ts'), String(seed)], {
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    const lines = createInterface(killer.stdout as NodeJS.ReadableStream)[Symbol.asyncIterator]()
    nextKilled = () => lines.next().then(({ value }) => JSON.parse(value))
    source = await newDatabase('forecourt')
    await source.look(async (sql) => {
      await sql.unsafe(`
        insert into application (app_id, app_name, secret_hash, token_lifetime_seconds, created_at)
        values ('many', 'many', 'x', 7200, now())`)
      await sql.unsafe(`
        insert into event (app_id, id, type, time, actor, subject, data)
        select 'many', i, 'device.bound', now(), 'application:many', 'SN-' || i, '{"text":"' || repeat(md5(i::text), 8) || '"}'
        from generate_series(1, 20000) as i`)
    })
  }, 60_000)
  afterAll(async () => {
    killer.stdin?.end()
    await once(killer, 'exit')
  }, 60_000)

  /** Has the killer process kill a command at a random moment. Returns whether the command was still running. */
  async function killWithin(args: string[], env: Record<string, string>, withinMs: number): Promise<boolean> {
    const { child, ended } = startForecourt(args, env)
    const order: KillOrder = { pids: [child.pid as number], withinMs }
    killer.stdin?.write(`${JSON.stringify(order)}\n`)
    await nextKilled()
    return (await ended).code === null
  }

  /** The duration of a command that is not killed, in milliseconds. */
  async function timed(args: string[], env: Record<string, string>): Promise<number> {
    const began = performance.now()
    expectDone(await forecourt(args, env))
    return performance.now() - began
  }

  test(`${rounds} times, a backup leaves no file that looks whole`, async () => {
    const file = newFile()
    const takes = await timed(['backup', file], source.env)
    let killed = 0
    for (let round = 0; round < rounds; round++) {
      rmSync(file, { force: true })
      if (await killWithin(['backup', file], source.env, takes)) killed++
      if (!existsSync(file)) continue
      const handle = await open(file)
      await verifyBackup(handle, () => {})
      await handle.close()
    }
    tell(`${killed} of ${rounds} kills came before the end of a backup`)
    expectDone(await forecourt(['backup', file], source.env))
    expect(existsSync(`${file}.partial`)).toBe(false)
  }, 300_000)

  longTest(
    `${rounds} times, a restore leaves the database empty`,
    async () => {
      const file = newFile()
      expectDone(await forecourt(['backup', file], source.env))
      const takes = await timed(['restore', file], (await newDatabase()).env)
      let killed = 0
      for (let round = 0; round < rounds; round++) {
        const { env, look } = await newDatabase()
        if (!(await killWithin(['restore', file], env, takes))) continue
        killed++
        const again = await forecourt(['restore', file], env)
        // A restore that was killed just after its commit is complete, so a second one is refused.
        if (again.code !== 0) expectRefused(again, 'The database holds data already')
        const [events] = await look((sql) => sql`select count(*)::int as count from event where app_id = 'many'`)
        expect(events?.count).toBe(20_000)
      }
      tell(`${killed} of ${rounds} kills came before the end of a restore`)
    },
    300_000,
  )
})

const allow = { FORECOURT_PRIVATE_CALLBACKS: 'allow' }

/** Sends a test callback and verifies its signature with the secret that the application got. */
async function expectSigned(client: Client, appId: string, path: string, secret: string): Promise<void> {
  // Test callbacks have a rate limit, and the times of earlier ones are restored too.
  const sent = await untilAdmitted(() => client.operate(testDelivery, { appId }), 200)
  expect(sent.data?.status, sent.text).toBe(2)
  const received = receiver.at(path).at(-1)
  if (received === undefined) throw new Error('nothing has arrived')
  verify(received, secret)
}

/** Creates an application with a separate callback URL. */
async function newEndpoint(client: Client) {
  const app = await newApplication(client, { thirdPartyConfig: null })
  const path = `/${app.appId}`
  const members = { appId: app.appId, operatorName: 'Operator', callbackUrl: receiver.url(path) }
  const { data } = await client.call(saveThirdPartyConfig, members, { token: app.token })
  return { ...app, path, secret: String(data.callbackSecret) }
}

test.skipIf(!hasOldestPostgres || !isLong)(
  'from the embedded database to a server of an older PostgreSQL and back, with callbacks paused meanwhile',
  async () => {
    const embedded = await place.startService({ env: allow })
    const before = new Client(embedded)
    const { appId, token, path, secret } = await newEndpoint(before)
    await before.call(createDevice, deviceBody(appId), { token })
    await receiver.waitFor(path, 2)
    // The backup is written to a pipe, so the command needs no file.
    const file = newFile()
    const taking = startForecourt(['backup', '-', '--quiet'], { FORECOURT_DATA_DIR: embedded.dataDir })
    await finished((taking.child.stdout as NodeJS.ReadableStream).pipe(createWriteStream(file)))
    expect((await taking.ended).code).toBe(0)
    await embedded.stop()

    // The backup is restored into the database of a service that has just been started for it.
    oldest = await OldestServer.start(place.newFolder())
    const env = { DATABASE_URL: oldest.url, FORECOURT_DATA_DIR: place.newFolder() }
    const service = await place.startService({ env: { ...env, ...allow } })
    const client = new Client(service)
    const restoring = startForecourt(['restore', '-'], env)
    createReadStream(file).pipe(restoring.child.stdin as NodeJS.WritableStream)
    expectDone(await restoring.ended)

    expect((await client.call(getReadiness, {})).data).toMatchObject({ ready: true, callbacks: 'paused' })
    expect((await client.operate(getOverview, {})).data.callbacks).toBe('paused')
    const had = receiver.at(path).length
    const created = await client.call(createDevice, deviceBody(appId), { token })
    expect(created.code, created.text).toBe(0)
    expect((await client.operate(testDelivery, { appId })).code).toBe(10042)
    expect(await staysTrue(() => receiver.at(path).length === had, 2_000)).toBe(true)
    expect(await forecourt(['callbacks', 'resume'], env)).toEqual({
      code: 0,
      stdout: 'Callbacks are being sent.\n',
      stderr: '',
    })
    expect(await becomesTrue(() => receiver.at(path).length > had)).toBe(true)
    expect((await client.call(getReadiness, {})).data.callbacks).toBe('on')
    await expectSigned(client, appId, path, secret)

    const back = newFile()
    expectDone(await forecourt(['backup', back], env))
    await service.stop()
    const home = { FORECOURT_DATA_DIR: place.newFolder() }
    expectDone(await forecourt(['restore', back], home))
    expectDone(await forecourt(['callbacks', 'resume'], home))
    const again = await place.startService({ dataDir: home.FORECOURT_DATA_DIR, env: allow })
    await expectSigned(new Client(again), appId, path, secret)
    const [row] = await withSql(
      embeddedConnection(again.dataDir),
      (sql) => sql`
      select (select count(*)::int from device) as devices, (select count(*)::int from callback_pause) as pauses`,
    )
    expect(row).toEqual({ devices: 2, pauses: 0 })
    await again.stop()
  },
  180_000,
)

longTest(
  'a key that was in a file of its own is not in the backup, and is asked for before anything is written',
  async () => {
    const key = newFile()
    writeFileSync(key, `${newKey()}\n`)
    const named = { FORECOURT_SECRETS_KEY_FILE: key }
    const from = await newDatabase('forecourt')
    const service = await place.startService({ env: { ...from.env, ...named, ...allow } })
    const { appId, path, secret } = await newEndpoint(new Client(service))
    await service.stop()
    const file = newFile()
    const taken = await forecourt(['backup', file], from.env)
    expect(taken.code).toBe(0)
    expect(taken.stderr).toContain('The key for callback secrets is not in it')
    expect(gunzipSync(readFileSync(file)).toString()).not.toContain(readFileSync(key, 'utf8').trim())

    const to = await newDatabase()
    expectRefused(await forecourt(['restore', file], to.env), /FORECOURT_SECRETS_KEY_FILE\. Nothing was written\.$/m)
    expect(await to.look((sql) => sql`select 1 from pg_class where relname = 'application'`)).toHaveLength(0)
    // The file's first key seals new secrets; its second, the backup's key, still opens the restored ones.
    writeFileSync(key, `${newKey()}\n${readFileSync(key, 'utf8')}`)
    expectDone(await forecourt(['restore', file], { ...to.env, ...named }))
    writeFileSync(key, `${readFileSync(key, 'utf8').split('\n')[0]}\n`)
    expectDone(await forecourt(['callbacks', 'resume'], to.env))
    const restored = await place.startService({ env: { ...to.env, ...named, ...allow } })
    await expectSigned(new Client(restored), appId, path, secret)
    await restored.stop()
  },
  120_000,
)

test('a backup of an older schema is restored into it, and brought up to date with its rows', async () => {
  const migrationsFolder = newFile()
  mkdirSync(migrationsFolder)
  const known = readdirSync(join(projectFolder, 'migrations')).filter((file) => /^\d{4}-/.test(file))
  for (const file of known) copyFileSync(join(projectFolder, 'migrations', file), join(migrationsFolder, file))
  const next = { version: known.length + 1, file: `${String(known.length + 1).padStart(4, '0')}-notes.sql` }
  const notes = `alter table device_model add column note text not null default 'of before';`
  writeFileSync(join(migrationsFolder, next.file), notes)
  const from = await newDatabase('forecourt')
  await from.look(
    (sql) => sql`insert into device_model (serial_prefix, model_name, created_at) values ('A', 'a', now())`,
  )
  const file = newFile()
  expectDone(await forecourt(['backup', file], from.env))

  /** Restores the backup with the program's functions, because the command cannot use another folder of migrations. */
  const restore = async ({ env }: typeof from) => {
    const handle = await open(file)
    const place = {
      target: env.DATABASE_URL,
      statementTimeoutMs: 5_000,
      waitSeconds: 0,
      keyFile: undefined,
      dataDir: env.FORECOURT_DATA_DIR,
      migrationsFolder,
      log: openLog('silent'),
      signal: new AbortController().signal,
    }
    const verified = await requireRestorable(handle, place, () => {})
    await restoreBackup({ ...place, file: handle, verified, onProgress: () => {} })
    await handle.close()
  }
  const expectBoth = async ({ look }: typeof from) => {
    expect(await look((sql) => sql`select model_name, note from device_model`)).toMatchObject([
      { model_name: 'a', note: 'of before' },
    ])
    const versions = await look((sql) => sql`select version from schema_migration order by 1`)
    expect(versions.map(({ version }) => version)).toEqual(
      Array.from({ length: next.version }, (_, index) => index + 1),
    )
  }
  const without = await newDatabase()
  await restore(without)
  await expectBoth(without)
  const newer = await newDatabase('forecourt')
  await newer.look((sql) => sql.unsafe(notes))
  const checksum = createHash('sha256').update(notes).digest('hex')
  await newer.look(
    (sql) =>
      sql`insert into schema_migration (version, file, checksum) values (${next.version}, ${next.file}, ${checksum})`,
  )
  await restore(newer)
  await expectBoth(newer)

  // The program refuses to back up a database with a newer schema.
  await from.look(
    (sql) =>
      sql`insert into schema_migration (version, file, checksum) values (${next.version}, ${next.file}, ${checksum})`,
  )
  expectRefused(
    await forecourt(['backup', newFile()], from.env),
    'The schema of the database is newer than this program',
  )
}, 120_000)
