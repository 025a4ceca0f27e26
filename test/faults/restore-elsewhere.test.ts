import { afterAll, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import {
  copyFileSync,
  createReadStream,
  createWriteStream,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { finished } from 'node:stream/promises'
import { gunzipSync } from 'node:zlib'
import { requireRestorable, restoreBackup } from '../../src/backup/restore.ts'
import { openLog } from '../../src/runtime/log.ts'
import { newKey } from '../../src/secrets/box.ts'
import { forecourt, startForecourt } from '../cli/support.ts'
import { Client, untilAdmitted } from '../kit/client.ts'
import { databaseIn, hasOldestPostgres } from '../kit/database.ts'
import { projectFolder } from '../kit/folders.ts'
import { OldestServer } from '../kit/oldest-server.ts'
import { Receiver, verify } from '../kit/receiver.ts'
import { deviceBody, newApplication } from '../kit/records.ts'
import { isLong, longTest } from '../kit/scale.ts'
import { staysTrue, waitUntil } from '../kit/waits.ts'
import { BackupBed, expectDone, expectRefused } from './backup-bed.ts'

// Restores into something other than what the backup is of: another PostgreSQL, another key, another schema.

const bed = new BackupBed()
const { newDatabase, newFile, place } = bed
let oldest: OldestServer | undefined

const receiver = await Receiver.start()
afterAll(async () => {
  receiver.stop()
  await oldest?.stop()
  await bed.clear()
}, 120_000)

const allow = { FORECOURT_PRIVATE_CALLBACKS: 'allow' }

/** Sends a test callback and verifies its signature with the secret that the application got. */
async function expectSigned(client: Client, appId: string, path: string, secret: string): Promise<void> {
  // Test callbacks have a rate limit, and the times of earlier ones are restored too.
  const sent = await untilAdmitted(() => client.operate('testDelivery', { appId }), 200)
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
  const { data } = await client.call('saveThirdPartyConfig', members, { token: app.token })
  return { ...app, path, secret: String(data.callbackSecret) }
}

test.skipIf(!hasOldestPostgres || !isLong)(
  'from the embedded database to a server of an older PostgreSQL and back, with callbacks paused meanwhile',
  async () => {
    const { service: embedded, client: before } = await place.start({ env: allow })
    const { appId, token, path, secret } = await newEndpoint(before)
    await before.call('createDevice', deviceBody(appId), { token })
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
    const { service, client } = await place.start({ env: { ...env, ...allow } })
    const restoring = startForecourt(['restore', '-'], env)
    createReadStream(file).pipe(restoring.child.stdin as NodeJS.WritableStream)
    expectDone(await restoring.ended)

    expect((await client.call('getReadiness', {})).data).toMatchObject({ ready: true, callbacks: 'paused' })
    expect((await client.operate('getOverview', {})).data.callbacks).toBe('paused')
    const had = receiver.at(path).length
    const created = await client.call('createDevice', deviceBody(appId), { token })
    expect(created.code, created.text).toBe(0)
    expect((await client.operate('testDelivery', { appId })).code).toBe(10042)
    expect(await staysTrue(() => receiver.at(path).length === had, 2_000)).toBe(true)
    expect(await forecourt(['callbacks', 'resume'], env)).toEqual({
      code: 0,
      stdout: 'Callbacks are on.\n',
      stderr: '',
    })
    await waitUntil(() => receiver.at(path).length > had)
    expect((await client.call('getReadiness', {})).data.callbacks).toBe('on')
    await expectSigned(client, appId, path, secret)

    const back = newFile()
    expectDone(await forecourt(['backup', back], env))
    await service.stop()
    const home = { FORECOURT_DATA_DIR: place.newFolder() }
    expectDone(await forecourt(['restore', back], home))
    expectDone(await forecourt(['callbacks', 'resume'], home))
    const again = await place.startService({ dataDir: home.FORECOURT_DATA_DIR, env: allow })
    await expectSigned(new Client(again), appId, path, secret)
    const [row] = await databaseIn(again.dataDir).sql`
      select (select count(*)::int from device) as devices, (select count(*)::int from callback_pause) as pauses`
    expect(row).toEqual({ devices: 2, pauses: 0 })
    await again.stop()
  },
)

longTest('a key in a file of its own is not in the backup, and is asked for before a restore', async () => {
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
  expect(taken.stderr).toContain('The encryption key for callback secrets is not in')
  expect(gunzipSync(readFileSync(file)).toString()).not.toContain(readFileSync(key, 'utf8').trim())

  const to = await newDatabase()
  expectRefused(
    await forecourt(['restore', file], to.env),
    /Set FORECOURT_SECRETS_KEY_FILE to that file\. Nothing was written\.$/m,
  )
  expect(await to.look((sql) => sql`select 1 from pg_class where relname = 'application'`)).toHaveLength(0)
  // The file's first key seals new secrets; its second, the backup's key, still opens the restored ones.
  writeFileSync(key, `${newKey()}\n${readFileSync(key, 'utf8')}`)
  expectDone(await forecourt(['restore', file], { ...to.env, ...named }))
  writeFileSync(key, `${readFileSync(key, 'utf8').split('\n')[0]}\n`)
  expectDone(await forecourt(['callbacks', 'resume'], to.env))
  const restored = await place.startService({ env: { ...to.env, ...named, ...allow } })
  await expectSigned(new Client(restored), appId, path, secret)
  await restored.stop()
})

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
    await using handle = await open(file)
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

  // A first file that this program does not have was another version's, before 1.0.0.
  writeFileSync(join(migrationsFolder, known[0] as string), 'select 1;')
  expect(await restore(newer).then(() => 'restored', String)).toBe(
    'UserError: The backup was taken by a version before 1.0.0, which this version cannot restore. Nothing was written.',
  )
})
