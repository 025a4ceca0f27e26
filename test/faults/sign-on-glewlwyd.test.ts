import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { logOutByProvider } from '../../src/people/sign-on/contract.ts'
import { Client } from '../kit/client.ts'
import type { OwnDatabase } from '../kit/database.ts'
import { freePort } from '../kit/replicated.ts'
import { isLong } from '../kit/scale.ts'
import { becomesTrue } from '../kit/waits.ts'
import { Workplace } from '../kit/workplace.ts'

// Single sign-on at Glewlwyd, an independent provider in C (Debian's package `glewlwyd`). It reads the secret in HTTP
// Basic without decoding it. Its own pages are scripts; the test makes their calls.

const program = '/usr/bin/glewlwyd'
const schema = '/usr/share/doc/glewlwyd/database/init.sqlite3.sql.gz'
const canRun = isLong && [program, schema, '/usr/bin/sqlite3'].every((path) => existsSync(path))

const clientId = 'fore-court_1'
const place = new Workplace()
let database: OwnDatabase
let provider: ChildProcess | undefined
let api: string
let admin: string
let publicUrl: string
afterAll(async () => {
  provider?.kill()
  await place.clear()
}, 60_000)

async function ask(path: string, method: string, body?: object, cookie = admin): Promise<Response> {
  const headers = { cookie, ...(body && { 'content-type': 'application/json' }) }
  const answer = await fetch(`${api}${path}`, {
    method,
    headers,
    redirect: 'manual',
    body: body && JSON.stringify(body),
  })
  if (answer.status >= 400) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`)
  return answer
}

const cookieIn = (answer: Response) => answer.headers.getSetCookie()[0]?.split(';')[0] ?? ''

/** The plugin for OpenID Connect, with a new key. */
function plugin() {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  })
  const keys = { 'jwt-type': 'rsa', 'jwt-key-size': '256', key: privateKey, cert: publicKey, 'jwks-show': true }
  const lasting = { 'access-token-duration': 3600, 'refresh-token-duration': 3600, 'code-duration': 600 }
  const flows = Object.fromEntries(
    ['client', 'implicit', 'password', 'refresh', 'token'].map((name) => [`auth-type-${name}-enabled`, false]),
  )
  const sessions = {
    'session-management-allowed': true,
    'session-cookie-name': 'GLEWLWYD_OIDC',
    'session-cookie-expiration': 86_400,
    'back-channel-logout-allowed': true,
  }
  const claim = {
    name: 'groups',
    type: 'string',
    'user-property': 'email',
    mandatory: true,
    'on-demand': false,
    scope: [],
  }
  const parameters = {
    ...{ iss: `${api}/oidc`, ...keys, ...lasting, ...flows, ...sessions },
    ...{ 'auth-type-code-enabled': true, 'auth-type-id-token-enabled': true, 'subject-type': 'public' },
    ...{ 'pkce-allowed': true, 'pkce-method-plain-allowed': false, 'allow-non-oidc': false },
    ...{ 'refresh-token-rolling': false, scope: [{ name: 'openid', 'refresh-token-rolling': false }] },
    ...{ claims: [claim], 'name-claim': 'mandatory', 'email-claim': 'no' },
  }
  return { module: 'oidc', name: 'oidc', display_name: 'OpenID', enabled: true, order_rank: 0, parameters }
}

const newClient = (client_id: string, client_secret: string) =>
  ask('/client/', 'POST', {
    ...{ client_id, client_secret, name: 'Forecourt', confidential: true, enabled: true, scope: ['openid'] },
    ...{ redirect_uri: [`${publicUrl}/api/platform/v1/signOn/callback`], authorization_type: ['code'] },
    ...{ token_endpoint_auth_method: ['client_secret_basic', 'client_secret_post'] },
    ...{ backchannel_logout_uri: `${publicUrl}${logOutByProvider.path}`, backchannel_logout_session_required: '1' },
  })

beforeAll(async () => {
  if (!canRun) return
  const folder = place.newFolder()
  mkdirSync(folder)
  const [port, own] = [await freePort(), await freePort()]
  publicUrl = `http://127.0.0.1:${own}`
  api = `http://127.0.0.1:${port}/api`
  const file = join(folder, 'glewlwyd.db')
  execFileSync('/usr/bin/sqlite3', [file], { input: gunzipSync(readFileSync(schema)) })
  const settings = {
    ...{ external_url: `http://127.0.0.1:${port}`, login_url: 'login.html', api_prefix: 'api' },
    ...{ log_mode: 'file', log_level: 'INFO', log_file: join(folder, 'log'), session_key: 'GLEWLWYD_SESSION' },
    ...{ admin_session_authentication: 'cookie', profile_session_authentication: 'cookie' },
    ...{ admin_scope: 'g_admin', profile_scope: 'g_profile', hash_algorithm: 'SHA512' },
    ...{ user_module_path: '/usr/lib/glewlwyd/user', client_module_path: '/usr/lib/glewlwyd/client' },
    ...{ user_auth_scheme_module_path: '/usr/lib/glewlwyd/scheme', plugin_module_path: '/usr/lib/glewlwyd/plugin' },
  }
  const lines = Object.entries(settings).map(([name, value]) => `${name}=${JSON.stringify(value)}`)
  const more = [`port=${port}`, 'login_api_enabled=true', `database={type="sqlite3" path=${JSON.stringify(file)}}`]
  writeFileSync(join(folder, 'conf'), [...lines, ...more, ''].join('\n'))
  provider = spawn(program, [`--config-file=${join(folder, 'conf')}`], { stdio: 'ignore' })
  const answers = () =>
    fetch(`${api}/`).then(
      () => true,
      () => false,
    )
  if (!(await becomesTrue(answers))) throw new Error('the provider does not start')
  admin = cookieIn(await ask('/auth/', 'POST', { username: 'admin', password: 'password' }, ''))
  await ask('/mod/plugin/', 'POST', plugin())
  const alice = { username: 'alice', password: 'password of alice', name: 'Alice', email: 'duty', enabled: true }
  await ask('/user/', 'POST', { ...alice, scope: ['openid', 'g_profile'] })
  database = await place.findDatabase()
}, 120_000)

const startClient = async (id: string, secret: string) => {
  await newClient(id, secret)
  const env = {
    DATABASE_URL: database.url(),
    FORECOURT_PORT: new URL(publicUrl).port,
    FORECOURT_PUBLIC_URL: publicUrl,
    FORECOURT_OIDC_ISSUER: `${api}/oidc`,
    FORECOURT_OIDC_CLIENT_ID: id,
    FORECOURT_OIDC_CLIENT_SECRET: secret,
    FORECOURT_OIDC_SCOPES: 'openid',
    FORECOURT_OIDC_ROLES: 'operator=duty',
  }
  const service = await place.startService({ env })
  return { service, client: new Client(service) }
}

/** A browser at the provider: it signs in, and allows the client to know who it is. */
async function enter(client: Client, clientId: string, purpose = 'signIn', session = '') {
  const started = await client.call('startSignOn', { purpose }, { headers: { cookie: session } })
  const [flow = ''] = (started.headers.get('set-cookie') ?? '').split(';')
  const person = cookieIn(await ask('/auth/', 'POST', { username: 'alice', password: 'password of alice' }, ''))
  await ask(`/auth/grant/${clientId}`, 'PUT', { scope: 'openid' }, person)
  let jar = person
  let url = started.data.authorizationUrl
  for (let step = 0; step < 6 && !url.startsWith(publicUrl); step++) {
    const answer = await fetch(url, { redirect: 'manual', headers: { cookie: jar } })
    for (const set of answer.headers.getSetCookie()) jar += `; ${set.split(';')[0]}`
    const next = new URL(answer.headers.get('location') ?? '', url)
    // Its sign-in page continues with this address once the person has signed in.
    const after = next.searchParams.get('callback_url')
    url = after === null ? next.href : `${after}&g_continue`
  }
  const back = await fetch(url, { redirect: 'manual', headers: { cookie: flow } })
  const cookies = back.headers.getSetCookie().map((set) => set.split(';')[0] ?? '')
  const own = cookies.find((cookie) => cookie.startsWith('forecourt_session=')) ?? ''
  return { location: back.headers.get('location'), session: own, jar }
}

const codeOf = async (client: Client, session: string) =>
  (await client.call('getSession', {}, { headers: { cookie: session } })).code

describe.skipIf(!canRun)('at Glewlwyd', () => {
  // The first secret is the same when it is encoded. The second is not, and is accepted in the other way that discovery
  // lists.
  test.each([
    ['letters, digits and hyphens', clientId, 'a-secret_of.the*client'],
    ['signs', 'forecourt2', 'a secret: with + & % / = ! signs'],
  ])(
    'a client whose secret has %s signs people in, and is told of their leaving',
    async (_, id, secret) => {
      const { service, client } = await startClient(id, secret)
      const first = await enter(client, id)
      expect(first.location).toBe('/console')
      const { data } = await client.call('getSession', {}, { headers: { cookie: first.session } })
      expect(data).toMatchObject({ name: expect.stringContaining('Alice'), role: 'operator', method: 'signOn' })

      // The provider refuses `max_age=0`, which a confirmation needs: the log has its error, and nothing is confirmed.
      const confirmed = await enter(client, id, 'confirm', first.session)
      expect(confirmed.location).toStartWith('/console/account?refusal=10061&')
      expect(service.stderr()).toContain('(invalid_request: max_age invalid)')

      // A new key at the provider, which no process has fetched yet.
      await ask('/mod/plugin/oidc', 'PUT', plugin())
      await ask('/mod/plugin/oidc/reset', 'PUT')
      const second = await enter(client, id)
      expect(second.location).toBe('/console')

      const [row] = await database.run(
        (sql) => sql`select provider_session from operator_session where id = (select max(id) from operator_session)`,
      )
      await ask(`/oidc/session/${row?.provider_session}/`, 'DELETE', undefined, second.jar)
      expect(await becomesTrue(async () => (await codeOf(client, second.session)) === 10002)).toBe(true)

      const { signOutUrl } = (await client.call('deleteSession', {}, { headers: { cookie: first.session } })).data
      expect(signOutUrl).toStartWith(`${api}/oidc/end_session?`)
      await service.stop()
    },
    120_000,
  )
})
