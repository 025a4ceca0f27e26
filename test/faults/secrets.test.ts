import { afterAll, expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Sql } from '../../src/database/open.ts'
import { findKeys } from '../../src/secrets/open.ts'
import { Client, untilAdmitted } from '../kit/client.ts'
import type { OwnDatabase } from '../kit/database.ts'
import { projectFolder } from '../kit/folders.ts'
import { newPerson, signIn } from '../kit/people.ts'
import { Receiver, verify } from '../kit/receiver.ts'
import { deviceBody, newApplication, type TestApplication } from '../kit/records.ts'
import { atScale, longTest } from '../kit/scale.ts'
import { runServiceToItsEnd, type Service } from '../kit/service.ts'
import { newSharedDatabase } from '../kit/shared-server.ts'
import { Workplace } from '../kit/workplace.ts'

// Stored callback secrets are encrypted with a key that is not in the database, and decrypted whenever a callback is
// signed.

const place = new Workplace()

afterAll(async () => {
  receiver.stop()
  await place.clear()
}, 120_000)

const key = () => randomBytes(32).toString('base64')

/** A file with one key on each line. */
function keyFile(...lines: string[]): string {
  const path = join(place.home, `keys-${randomBytes(4).toString('hex')}`)
  writeFileSync(path, lines.map((line) => `${line}\n`).join(''))
  return path
}

const settings = (database: OwnDatabase, file = '') => ({
  DATABASE_URL: database.url(),
  FORECOURT_PRIVATE_CALLBACKS: 'allow',
  FORECOURT_SECRETS_KEY_FILE: file,
})

const receiver = await Receiver.start()
/** A service with a named key file, for several tests. */
const [database, file] = [await newSharedDatabase(), keyFile(key())]
const service = await place.startService({ env: settings(database, file) })
const named = { service, client: new Client(service), database, file }

interface Endpoint extends TestApplication {
  path: string
  secrets: string[]
}

/** Creates an application with a callback. */
async function newEndpoint(service: Service): Promise<Endpoint> {
  const client = new Client(service)
  const app = await newApplication(client, { thirdPartyConfig: null })
  const path = `/${app.appId}?key=1`
  const members = { appId: app.appId, operatorName: 'Operator', callbackUrl: receiver.url(path) }
  const { data } = await client.call('saveThirdPartyConfig', members, { token: app.token })
  return { ...app, path, secrets: [String(data.callbackSecret)] }
}

/** Sends a test callback and verifies its signatures with the secrets that the application got. */
async function expectSigned(service: Service, { appId, path, secrets }: Endpoint): Promise<void> {
  // An application may send one test every few seconds.
  const sent = await untilAdmitted(() => new Client(service).operate('testDelivery', { appId }), 200)
  expect([sent.data?.status, sent.data?.error], sent.text).toEqual([2, null])
  const received = receiver.at(path).at(-1)
  if (received === undefined) throw new Error('nothing has arrived')
  for (const secret of secrets) verify(received, secret)
  expect(received.headers['webhook-signature']?.split(' ')).toHaveLength(secrets.length)
}

const keysInUse = async (database: OwnDatabase) => {
  const rows = await database.sql`
      select distinct split_part(s, ':', 1) as key_id from third_party_config,
        unnest(array[callback_secret, previous_callback_secret, callback_query]) as s where s is not null`
  return rows.map((row) => row.key_id as string)
}

/** Every row of every table, as text. */
async function allTexts(sql: Sql): Promise<string[]> {
  const tables = await sql`select table_name::text as name from information_schema.tables where table_schema = 'public'`
  expect(tables.length).toBeGreaterThan(15)
  const texts: string[] = []
  for (const { name } of tables)
    for (const row of await sql`select t::text as text from ${sql(name)} t`) texts.push(row.text)
  return texts
}

test('the query of a callback reaches its receiver, and only its application and admins read it', async () => {
  const { service, client, database } = named
  const app = await newApplication(client, { thirdPartyConfig: null })
  const { appId } = app
  const marker = `KEY${randomBytes(8).toString('hex')}`
  const path = `/${appId}?key=${marker}&x=1`
  const callbackUrl = receiver.url(path)
  const shown = callbackUrl.replace(/\?.*/, '?…')
  const own = { token: app.token }
  const save = (members: object, options: object = own) =>
    client.call('saveThirdPartyConfig', { appId, operatorName: 'Operator', ...members }, options)
  const idempotent = { ...own, headers: { 'idempotency-key': marker.toLowerCase() } }
  expect((await save({ callbackUrl }, idempotent)).data.callbackUrl).toBe(callbackUrl)
  expect((await save({ callbackUrl }, idempotent)).data.callbackUrl).toBe(callbackUrl)
  const made = { appName: marker.toLowerCase(), thirdPartyConfig: { operatorName: 'Operator', callbackUrl } }
  for (const headers of [{}, { 'idempotency-key': 'made' }, { 'idempotency-key': 'made' }]) {
    const { data } = await client.operate('createApplication', made, { headers })
    expect(data.thirdPartyConfig?.callbackUrl).toBe(callbackUrl)
  }

  const people = await Promise.all(
    (['admin', 'operator', 'viewer', 'developer'] as const).map(async (role) => {
      const person = await newPerson(client, role, role === 'developer' ? [appId] : [])
      return [role, await signIn(client, person)] as const
    }),
  )
  const detail = async (options: object) => client.call('getThirdPartyConfig', { appId }, options)
  expect((await detail(own)).data.callbackUrl).toBe(callbackUrl)
  for (const [role, headers] of people) {
    expect([role, (await detail({ headers })).data.callbackUrl]).toEqual([role, role === 'admin' ? callbackUrl : shown])
  }

  // An operator who saves the shortened URL as it is shown keeps the full one; the other changes are saved.
  const operator = { headers: Object.fromEntries(people).operator ?? {} }
  const before = await detail(operator)
  const edited = await save(
    { callbackUrl: shown, operatorName: 'Renamed' },
    { headers: { ...operator.headers, 'if-match': before.headers.get('etag') ?? '' } },
  )
  expect([edited.code, edited.data.callbackUrl], edited.text).toEqual([0, shown])
  expect((await detail(own)).data).toMatchObject({ operatorName: 'Renamed', callbackUrl })
  expect((await detail(own)).headers.get('etag')).toBe(edited.headers.get('etag'))
  // A retry gets the first response, whatever was saved since.
  await save({ callbackUrl: `${callbackUrl}2`, operatorName: 'Renamed' })
  expect((await save({ callbackUrl }, idempotent)).data).toMatchObject({ operatorName: 'Operator', callbackUrl })
  await save({ callbackUrl, operatorName: 'Renamed' })
  // The shortened form is accepted for the URL that is stored, and refused for any other.
  for (const other of ['https://example.com/other?…', `${shown}x`.replace('?…x', '/?…')]) {
    const refused = await save({ callbackUrl: other })
    expect([refused.code, refused.data]).toEqual([10001, expect.anything()])
  }

  expect((await client.operate('testDelivery', { appId })).data.status).toBe(2)
  await client.call('createDevice', deviceBody(appId), own)
  expect((await receiver.waitFor(path, 2)).length).toBeGreaterThanOrEqual(2)
  const rotated = await client.call('rotateCallbackSecret', { appId }, operator)
  expect(rotated.data.callbackUrl).toBe(shown)
  const again = { ...own, headers: { 'idempotency-key': 'again' } }
  const twice = [0, 1].map(() => client.call('rotateCallbackSecret', { appId }, again))
  for (const { data } of await Promise.all(twice)) {
    expect(data.callbackUrl).toBe(callbackUrl)
    expect(data).not.toHaveProperty('sealedQuery')
  }
  const told = [
    await client.call('pageEvents', {}, own),
    await client.operate('pageAudit', { appId }),
    await client.operate('pageAudit', { subject: appId }),
    await client.call('createExport', { kind: 'events' }, own),
    await client.call('pageDeliveries', {}, own),
  ]
  expect(told[0]?.text).toContain(shown)
  expect(told.filter(({ text }) => text.includes(marker))).toEqual([])
  expect(told[2]?.text).toContain('delivery.tested')
  expect((await database.run(allTexts)).filter((text) => text.includes(marker))).toEqual([])
  expect(service.stderr()).not.toContain(marker)

  // A URL that is saved without a query has none afterwards.
  await save({ callbackUrl: callbackUrl.replace(/\?.*/, '') })
  expect((await detail(operator)).data.callbackUrl).toBe(callbackUrl.replace(/\?.*/, ''))
})

/** Rotates the secret of an endpoint, so that callbacks have two signatures. */
async function rotate(service: Service, { appId, secrets }: Endpoint): Promise<void> {
  const { data } = await new Client(service).operate('rotateCallbackSecret', { appId })
  secrets.unshift(String(data.callbackSecret))
}

test.concurrent('no table holds a callback secret as it was shown; a start without its folder finds the key by the password', async () => {
  const database = await newSharedDatabase()
  const first = await place.startService({ env: settings(database) })
  const endpoint = await newEndpoint(first)
  await rotate(first, endpoint)
  await expectSigned(first, endpoint)
  const keyPath = join(first.dataDir, 'secrets.key')
  expect(statSync(keyPath).mode & 0o777).toBe(0o600)
  const found = await database.run(allTexts)
  const secrets = endpoint.secrets.map((secret) => secret.slice('whsec_'.length))
  for (const piece of ['whsec_', ...secrets, readFileSync(keyPath, 'utf8').trim()])
    expect(found.filter((text) => text.includes(piece))).toEqual([])
  await first.stop()
  const again = await place.startService({ env: settings(database) })
  await expectSigned(again, endpoint)
  await again.stop()

  await database.sql`create role other login superuser password 'another'`
  const dataDir = place.newFolder()
  const otherUrl = database.url().replace(/\/\/[^@]*@/, '//other:another@')
  const refused = await runServiceToItsEnd({ dataDir, env: { ...settings(database), DATABASE_URL: otherUrl } })
  expect([refused.code, existsSync(join(dataDir, 'secrets.key'))]).toEqual([1, false])
  expect(wordsOf(refused.stderr)).toContain(`and ${join(dataDir, 'secrets.key')} is not there`)
})

test.concurrent('processes of one database share a file; one with a key of its own is refused with one sentence', async () => {
  const { service, database, file } = named
  const endpoint = await newEndpoint(service)
  const other = await place.startService({ env: settings(database, file) })
  await expectSigned(other, endpoint)
  await other.stop()
  for (const env of [settings(database), settings(database, keyFile(key()))].slice(0, atScale(1, 2))) {
    const refused = await runServiceToItsEnd({ dataDir: place.newFolder(), env })
    expect([refused.code, refused.stdout]).toEqual([1, ''])
    expect(wordsOf(refused.stderr)).toMatch(
      /^The callback secrets in the database are encrypted with the key [0-9a-f]{16}, [^\n]+ FORECOURT_SECRETS_KEY_FILE\.\n$/,
    )
  }
})

longTest('first starts with folders of their own on one empty database share one key', async () => {
  const database = await newSharedDatabase('template1')
  const start = () => place.startService({ env: settings(database) })
  const [one, two, three] = await Promise.all([start(), start(), start()])
  for (const service of [one, two]) await expectSigned(three, await newEndpoint(service))
  await expectSigned(one, await newEndpoint(three))
  expect(await keysInUse(database)).toHaveLength(1)
})

longTest('a new first line seals everything anew, and the old line can go', async () => {
  const [older, newer] = [key(), key()]
  const database = await newSharedDatabase()
  const first = await place.start({ env: settings(database, keyFile(older)) })
  const endpoints = [await newEndpoint(first.service), await newEndpoint(first.service)]
  await rotate(first.service, endpoints[0] as Endpoint)
  // More applications than one step of the re-encryption handles.
  const thirdPartyConfig = { operatorName: 'Many' }
  await Promise.all(Array.from({ length: 450 }, () => newApplication(first.client, { thirdPartyConfig })))
  const before = await keysInUse(database)
  await first.service.stop()
  const inHexadecimal = `  ${Buffer.from(older, 'base64').toString('hex')} `
  for (const lines of [[newer, '', inHexadecimal], [newer]]) {
    const service = await place.startService({ env: settings(database, keyFile(...lines)) })
    for (const endpoint of endpoints) await expectSigned(service, endpoint)
    const now = await keysInUse(database)
    expect([before.length, now.length, now[0] === before[0]]).toEqual([1, 1, false])
    await service.stop()
  }
  const back = await runServiceToItsEnd({ dataDir: place.newFolder(), env: settings(database, keyFile(older)) })
  expect([back.code, back.stdout]).toEqual([1, ''])
})

longTest('a lost key is got over as the settings’ page says, and callbacks begin again with a new secret', async () => {
  const database = await newSharedDatabase()
  const first = await place.startService({ env: settings(database, keyFile(key())) })
  const endpoint = await newEndpoint(first)
  await first.stop()
  const page = readFileSync(join(projectFolder, 'docs', 'settings.md'), 'utf8')
  const [, statements] = /```sql\n(update third_party_config [^`]+)```/.exec(page) ?? []
  if (statements === undefined) throw new Error('the page does not say it')
  await database.run((sql) => sql.unsafe(statements))
  const again = await place.startService({ env: settings(database, keyFile(key())) })
  const { appId, path, token } = endpoint
  const members = { appId, operatorName: 'Operator', callbackUrl: receiver.url(path) }
  const saved = await new Client(again).call('saveThirdPartyConfig', members, { token })
  await expectSigned(again, { ...endpoint, secrets: [String(saved.data.callbackSecret)] })
  await again.stop()
})

test('a named key file that is missing or holds no keys is refused with one sentence', () => {
  const faults: [path: string, words: RegExp][] = [
    [join(place.home, 'nowhere'), /^Can’t read the encryption key file \S+ \(ENOENT\)\.$/],
    [place.home, /^Can’t read the encryption key file \S+ \(EISDIR\)\.$/],
    [keyFile(''), /^[^\n]+ is empty\.$/],
    [keyFile(randomBytes(31).toString('hex')), /^Line 1 of [^\n]+ must be a key: 32 bytes [^\n]+$/],
    [keyFile(key(), 'a passphrase'), /^Line 2 of [^\n]+ must be a key: 32 bytes [^\n]+$/],
  ]
  for (const [path, words] of faults) expect(() => findKeys({ keyFile: path, dataDir: place.home })).toThrow(words)
})

/** Standard error without the log's JSON lines. */
function wordsOf(stderr: string): string {
  return stderr.replaceAll(/^\{.*\}\n/gm, '')
}
