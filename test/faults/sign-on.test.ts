import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pageAudit } from '../../src/events/contract.ts'
import {
  changePassword,
  createOperator,
  createOperatorKey,
  deleteOperator,
  getOperator,
  pageOperators,
  resetOperator,
  updateOperator,
} from '../../src/people/operators/contract.ts'
import { savePasskey, startPasskey } from '../../src/people/second-factor/contract.ts'
import {
  confirmSession,
  createSession,
  deleteSession,
  getSession,
  startPasskeySession,
} from '../../src/people/sessions/contract.ts'
import {
  finishSignOn,
  getSignOn,
  logOutByProvider,
  startSignOn,
  unlinkSignOn,
} from '../../src/people/sign-on/contract.ts'
import { openTicket, sealTicket } from '../../src/people/tickets/tickets.ts'
import { readKey, SecretBox } from '../../src/secrets/box.ts'
import { Authenticator } from '../authenticator.ts'
import { Client, runServiceToItsEnd, type Service } from '../harness.ts'
import { codeOf, cookieOf, insertPasskey, newGenerator, newPerson, type Person, signIn } from '../people.ts'
import { type Lies, TestProvider } from '../provider.ts'
import { freePort } from './replicated.ts'
import { becomesTrue, type OwnDatabase, sleep, Workplace } from './support.ts'

// Single sign-on with a provider that first responds correctly, and then with one false value at a time.

const place = new Workplace()
const provider = new TestProvider()
/** Of the strict one, with a name, where passkeys are. */
const namedUrl = 'http://localhost:9'
let database: OwnDatabase
let service: Service
let client: Client
/** The same service with our second factor, with passwords for admins only, and without roles. */
let strict: Client
let env: Record<string, string>
afterAll(async () => {
  provider.stop()
  await place.clear()
}, 60_000)

beforeAll(async () => {
  await provider.start()
  database = await place.findDatabase()
  env = {
    DATABASE_URL: database.url(),
    FORECOURT_TRUSTED_PROXIES: '127.0.0.1,::1',
    FORECOURT_PUBLIC_URL: `http://127.0.0.1:${await freePort()}`,
    FORECOURT_OIDC_ISSUER: provider.issuer,
    FORECOURT_OIDC_CLIENT_ID: provider.clientId,
    FORECOURT_OIDC_CLIENT_SECRET: provider.clientSecret,
  }
  const roles = { FORECOURT_OIDC_ROLES: 'admin=chiefs;operator=ops,duty;viewer=guests' }
  service = await place.startService({ env: { ...env, ...roles, FORECOURT_OIDC_SESSION_HOURS: '2' } })
  client = new Client(service)
  strict = new Client(
    await place.startService({
      env: {
        ...env,
        FORECOURT_PUBLIC_URL: namedUrl,
        FORECOURT_SIGN_ON_SECOND_FACTOR: 'ours',
        FORECOURT_PASSWORDS: 'admins',
        FORECOURT_OIDC_NAME: 'Corp',
      },
    }),
  )
}, 120_000)
beforeEach(() => {
  provider.lies = {}
  provider.asked = []
})

const newSubject = () => `person-${randomBytes(6).toString('hex')}`

interface Way {
  purpose?: string
  setUpToken?: string | undefined
  returnTo?: string
  headers?: Record<string, string>
  service?: Client
}

async function begin({ purpose = 'signIn', setUpToken, returnTo, headers = {}, service = client }: Way = {}) {
  const answer = await service.call(startSignOn, { purpose, setUpToken, returnTo }, { headers })
  const [cookie = ''] = (answer.headers.get('set-cookie') ?? '').split(';')
  return { answer, cookie, url: answer.data?.authorizationUrl ?? '' }
}

async function callBack(query: Record<string, string>, cookie: string, service = client, headers = {}) {
  const url = `${service.url}${finishSignOn.path}?${new URLSearchParams(query)}`
  const { status, headers: told } = await fetch(url, { redirect: 'manual', headers: { cookie, ...headers } })
  const location = new URL(told.get('location') ?? '', 'http://console')
  const session = told
    .getSetCookie()
    .map((each) => each.split(';')[0] ?? '')
    .find((each) => each.startsWith('forecourt_session='))
  return {
    status,
    path: location.pathname,
    refusal: Number(location.searchParams.get('refusal')),
    location,
    session,
    told,
  }
}

/** A person's complete way to the provider and back. */
async function comes(claims: Record<string, unknown>, lies: Lies = {}, way: Way = {}) {
  const { answer, cookie, url } = await begin(way)
  if (answer.code !== 0) throw new Error(answer.text)
  return callBack(provider.issue(url, claims, lies), cookie, way.service)
}

const ofSession = async (session: string | undefined, service = client) =>
  (await service.call(getSession, {}, { headers: { cookie: session ?? '' } })).data

describe('signing in', () => {
  test('says what is offered', async () => {
    expect((await client.call(getSignOn, {})).data).toEqual({
      enabled: true,
      name: 'Single sign-on',
      passwords: 'everyone',
      passkeys: false,
    })
    const ofStrict = (await strict.call(getSignOn, {})).data
    expect(ofStrict).toEqual({ enabled: true, name: 'Corp', passwords: 'admins', passkeys: true })
  })

  test('asks for code, PKCE, state and nonce, and keeps nothing for strangers', async () => {
    const { answer, cookie, url } = await begin()
    const query = Object.fromEntries(new URL(url).searchParams)
    expect(query).toMatchObject({
      response_type: 'code',
      client_id: 'forecourt',
      redirect_uri: `${env.FORECOURT_PUBLIC_URL}/api/platform/v1/signOn/callback`,
      scope: 'openid profile',
      code_challenge_method: 'S256',
    })
    for (const name of ['state', 'nonce', 'code_challenge']) expect(query[name]).toMatch(/^[\w-]{43}$/)
    expect(answer.headers.get('set-cookie')).toMatch(
      /^forecourt_sign_on=[\w-]+; Path=\/; HttpOnly; SameSite=Lax; Max-Age=600$/,
    )
    for (const secret of [query.state, query.nonce])
      expect(Buffer.from(cookie, 'base64url').toString()).not.toContain(secret)
    provider.asked = []
    for (let time = 0; time < 5; time++) await begin()
    expect(provider.asked).toEqual([])
    expect(await database.run(async (sql) => (await sql`select * from used_ticket`).length)).toBe(0)
  })

  test('goes by the public address, whatever a request says of its own', async () => {
    const lies = {
      host: 'evil.example',
      'x-forwarded-host': 'evil.example',
      forwarded: 'host=evil.example;proto=https',
    }
    const { cookie, url } = await begin({ headers: { ...lies, origin: 'https://evil.example' } })
    expect(new URL(url).searchParams.get('redirect_uri')).toStartWith(`${env.FORECOURT_PUBLIC_URL}/`)
    const query = provider.issue(url, { sub: newSubject(), name: newSubject(), groups: ['ops'] })
    const back = await callBack(query, cookie, client, lies)
    expect([back.told.get('location'), back.session]).toEqual(['/console', expect.any(String)])
    expect(provider.tokenRequests.at(-1)?.form.get('redirect_uri')).toStartWith(`${env.FORECOURT_PUBLIC_URL}/`)
  })

  test('makes an account by the claims, and takes its role anew each time', async () => {
    const sub = newSubject()
    const back = await comes(
      { sub, name: `Li Lei ${sub}`, groups: ['duty', 'other'] },
      {},
      { returnTo: '/console/sites?x=1' },
    )
    expect([back.status, back.location.pathname + back.location.search]).toEqual([303, '/console/sites?x=1'])
    expect(back.told.getSetCookie().join()).toContain('forecourt_sign_on=; Path=/')
    const own = back.told.getSetCookie().find((each) => each.startsWith('forecourt_session='))
    expect(own).toContain('; HttpOnly; SameSite=Strict; ')
    const session = await ofSession(back.session)
    expect(session).toMatchObject({ name: `Li Lei ${sub}`, role: 'operator', method: 'signOn', isLimited: false })
    const account = async () => (await client.operate(getOperator, { id: session.operatorId })).data
    expect(await account()).toMatchObject({ source: 2, isLinked: true, isSetUp: true, status: 1, role: 'operator' })
    // The setting limits the session to two hours, although it may be idle for twelve.
    const hours = (Date.parse(String(session.expireTime)) - Date.parse(String(session.createTime))) / 3_600_000
    expect(hours).toBeCloseTo(2, 2)
    // The sign-in is a proof, which lasts 10 minutes.
    const proof = Date.parse(String(session.confirmedUntil)) - Date.parse(String(session.createTime))
    expect(Math.round(proof / 10_000)).toBe(60)
    const again = await comes({ sub, name: 'Another name', groups: 'chiefs' })
    expect((await ofSession(again.session)).operatorId).toBe(session.operatorId)
    expect(await account()).toMatchObject({ role: 'admin', name: `Li Lei ${sub}` })
  })

  test('reads the roles of userinfo where the ID token has none', async () => {
    const back = await comes({ sub: newSubject(), userInfo: { groups: ['guests'], name: newSubject() } })
    expect((await ofSession(back.session)).role).toBe('viewer')
    const lie = await comes({ sub: newSubject(), userInfo: { groups: ['guests'], sub: 'somebody else' } })
    expect(lie.refusal).toBe(10061)
  })

  test('finds nobody by a name, and makes a name that is free and fits', async () => {
    const person = await newPerson(client, 'admin')
    const back = await comes({ sub: newSubject(), name: ` ${person.name}\u200b#1: `, groups: ['guests'] })
    const session = await ofSession(back.session)
    expect(session.operatorId).not.toBe(person.id)
    expect(session.name).not.toBe(person.name)
    const names = await Promise.all(
      [1, 2, 3].map(
        async () => (await ofSession((await comes({ sub: newSubject(), name: 'Same', groups: 'ops' })).session)).name,
      ),
    )
    expect(new Set(names).size).toBe(3)
    // Nor by any other word about the person.
    const words = { name: person.name, preferred_username: person.name, email: person.name, email_verified: true }
    const sub = newSubject()
    const other = await ofSession((await comes({ sub, ...words, groups: ['guests'] })).session)
    expect([other.operatorId === person.id, other.name]).toEqual([false, sub])
  })

  test('names an account by the name, else the user name, else the subject', async () => {
    const [sub, user] = [newSubject(), newSubject()]
    const named = async (claims: Record<string, unknown>) =>
      (await ofSession((await comes({ groups: ['ops'], ...claims })).session)).name
    expect(await named({ sub: newSubject(), preferred_username: user })).toBe(user)
    expect(await named({ sub })).toBe(sub)
  })

  test('knows a person by issuer and subject together', async () => {
    const sub = newSubject()
    const first = await ofSession((await comes({ sub, name: sub, groups: ['ops'] })).session)
    await database.run(
      (sql) => sql`update operator_identity set issuer = 'https://other.example' where subject = ${sub}`,
    )
    const second = await ofSession((await comes({ sub, name: sub, groups: ['ops'] })).session)
    expect(second.operatorId).not.toBe(first.operatorId)
  })

  test('tells the session what its account can do by itself', async () => {
    const own = async (headers: { cookie: string }) => (await client.call(getSession, {}, { headers })).data
    const back = await comes({ sub: newSubject(), name: newSubject(), groups: ['guests'] })
    const managed = { source: 2, isLinked: true, hasPassword: false }
    expect(await own({ cookie: back.session ?? '' })).toMatchObject(managed)
    const headers = await signIn(client, await newPerson(client, 'viewer'))
    expect(await own(headers)).toMatchObject({ source: 1, isLinked: false, hasPassword: true })
    await comes({ sub: newSubject() }, {}, { purpose: 'link', headers })
    expect(await own(headers)).toMatchObject({ source: 1, isLinked: true, hasPassword: true })
    const none = { source: null, isLinked: false, hasPassword: false }
    expect((await client.operate(getSession, {})).data).toMatchObject(none)
    const byKey = await client.call(createSession, { operatorKey: client.operatorKey })
    expect(await own({ cookie: cookieOf(byKey) })).toMatchObject(none)
  })

  test('of one new person many times at once makes one account', async () => {
    const sub = newSubject()
    const backs = await Promise.all(Array.from({ length: 8 }, () => comes({ sub, name: sub, groups: ['ops'] })))
    const ids = await Promise.all(backs.map(async ({ session }) => (await ofSession(session)).operatorId))
    expect(new Set(ids).size).toBe(1)
  })

  test('is refused without a role, and ends what there was', async () => {
    expect((await comes({ sub: newSubject(), name: 'x', groups: ['nothing'] })).refusal).toBe(10062)
    const sub = newSubject()
    const first = await comes({ sub, name: sub, groups: ['chiefs'] })
    const headers = { cookie: first.session ?? '' }
    const key = (await client.call(createOperatorKey, { name: newSubject(), role: 'viewer' }, { headers })).data
      .operatorKey
    expect((await client.call(pageOperators, {}, { headers })).code).toBe(0)
    expect((await comes({ sub, name: sub, groups: [] })).refusal).toBe(10062)
    await sleep(1000)
    expect((await client.call(getSession, {}, { headers })).code).toBe(10002)
    expect((await client.call(getSession, {}, { token: key ?? '' })).code).toBe(10002)
    expect((await ofSession((await comes({ sub, groups: ['chiefs'] })).session)).role).toBe('admin')
    await sleep(1000)
    expect((await client.call(getSession, {}, { token: key ?? '' })).code).toBe(0)
    await database.run((sql) => sql`update operator set signed_in_at = now() - interval '31 days' where source = 2`)
    await sleep(1000)
    expect((await client.call(getSession, {}, { token: key ?? '' })).code).toBe(10002)
  })

  test('does not enable a disabled account', async () => {
    const sub = newSubject()
    const { operatorId } = await ofSession((await comes({ sub, name: sub, groups: ['ops'] })).session)
    expect((await client.operate(updateOperator, { id: operatorId, status: 2 })).code).toBe(0)
    expect((await comes({ sub, groups: ['ops'] })).refusal).toBe(10062)
  })

  test('makes accounts whose role, password and link the provider keeps', async () => {
    const sub = newSubject()
    const back = await comes({ sub, name: sub, groups: ['ops'] })
    const headers = { cookie: back.session ?? '' }
    const { operatorId: id } = await ofSession(back.session)
    const refused = [
      await client.operate(updateOperator, { id, role: 'admin' }),
      await client.operate(resetOperator, { id }),
      await client.operate(unlinkSignOn, { id }),
      await client.call(changePassword, { password: 'x', newPassword: randomBytes(9).toString('hex') }, { headers }),
      (await begin({ purpose: 'link', headers })).answer,
    ]
    expect(refused.map(({ status, code }) => [status, code])).toEqual(Array(5).fill([409, 10065]))
    expect((await client.operate(updateOperator, { id, name: newSubject() })).code).toBe(0)
    expect((await client.operate(deleteOperator, { id })).code).toBe(0)
  })

  test('makes no admin who stands in for the last one with a password', async () => {
    const person = await newPerson(client, 'admin')
    const { operatorId } = await ofSession((await comes({ sub: newSubject(), name: 'x', groups: ['chiefs'] })).session)
    // Nor does one who has not set a password yet.
    await client.operate(createOperator, { name: newSubject(), role: 'admin' })
    await database.run(
      (sql) => sql`update operator set status = 2 where role = 'admin' and source = 1 and id <> ${person.id}
        and password_hash is not null`,
    )
    const { id } = person
    const refused = [
      await client.operate(updateOperator, { id, role: 'viewer' }),
      await client.operate(updateOperator, { id, status: 2 }),
      await client.operate(resetOperator, { id }),
      await client.operate(deleteOperator, { id }),
    ]
    expect(refused.map(({ status, code }) => [status, code])).toEqual(Array(4).fill([409, 10054]))
    await signIn(client, person)
    expect((await client.operate(updateOperator, { id: operatorId ?? 0, status: 2 })).code).toBe(0)
    await newPerson(client, 'admin')
    expect((await client.operate(deleteOperator, { id })).code).toBe(0)
  })
})

describe('a callback', () => {
  test('without its cookie, with another state or a second time asks nobody and spoils nothing', async () => {
    const { cookie, url } = await begin()
    const query = provider.issue(url, { sub: newSubject(), name: newSubject(), groups: ['ops'] })
    provider.asked = []
    const early = await callBack(query, '')
    expect([early.status, early.path, early.refusal]).toEqual([303, '/console/sign-in', 10061])
    expect(early.location.searchParams.get('request')).toBe(early.told.get('x-request-id'))
    expect((await callBack({ ...query, state: 'x' }, cookie)).refusal).toBe(10061)
    expect((await callBack(query, `${cookie.slice(0, -3)}AAA`)).refusal).toBe(10061)
    expect(provider.asked).toEqual([])
    expect((await callBack(query, cookie)).session).toBeDefined()
    provider.asked = []
    expect((await callBack(query, cookie)).refusal).toBe(10061)
    expect(provider.asked).toEqual([])
  })

  test('after 10 minutes asks nobody and spoils nothing', async () => {
    const [key = ''] = readFileSync(join(service.dataDir, 'secrets.key'), 'utf8').trim().split('\n')
    const box = new SecretBox([readKey(key) ?? Buffer.alloc(0)])
    const { cookie, url } = await begin()
    const query = provider.issue(url, { sub: newSubject(), name: newSubject(), groups: ['ops'] })
    const ticket = openTicket<object>(box, 'sign-on', cookie.split('=')[1] ?? '')
    const seconds = Math.round(((ticket?.until.getTime() ?? 0) - Date.now()) / 1000)
    expect([seconds > 590, seconds <= 600]).toEqual([true, true])
    // The same flow as it is when its time is over, and a second before.
    const aged = (left: number) => `forecourt_sign_on=${sealTicket(box, 'sign-on', ticket?.content ?? {}, left)}`
    provider.asked = []
    expect((await callBack(query, aged(-1))).refusal).toBe(10061)
    expect(provider.asked).toEqual([])
    expect((await callBack(query, aged(1))).session).toBeDefined()
  })

  test('that asked the provider and failed counts for its source like a wrong password; a start does not', async () => {
    const address = '198.51.100.61'
    const headers = { 'x-forwarded-for': address }
    const failures = () =>
      database.run(
        async (sql) =>
          (await sql`select failures from sign_in_attempt where key = ${`source ${address}`}`)[0]?.failures ?? 0,
      )
    const fails = async (claims: object, lies: Lies = {}) => {
      const { cookie, url } = await begin({ headers })
      return callBack(provider.issue(url, { sub: newSubject(), name: 'x', ...claims }, lies), cookie, client, headers)
    }
    for (let time = 0; time < 3; time++) await begin({ headers })
    expect((await callBack({ code: 'x', state: 'y' }, '', client, headers)).refusal).toBe(10061)
    expect(await failures()).toBe(0)
    expect((await fails({ groups: ['ops'] }, { signature: 'stranger' })).refusal).toBe(10061)
    expect(await failures()).toBe(1)
    // Who is refused here has asked the provider too.
    expect((await fails({ groups: ['nothing'] })).refusal).toBe(10062)
    expect(await failures()).toBe(2)
    expect((await fails({ groups: ['ops'] }, { tokenStatus: 503 })).refusal).toBe(10063)
    expect((await fails({ groups: ['ops'] })).session).toBeDefined()
    expect(await failures()).toBe(2)
    const enter = () => client.call(createSession, { name: newSubject(), password: 'wrong' }, { headers })
    expect((await enter()).code).toBe(10031)
    expect(await failures()).toBe(3)
    await database.run((sql) => sql`update sign_in_attempt set failures = 100 where key = ${`source ${address}`}`)
    provider.asked = []
    expect((await fails({ groups: ['ops'] })).refusal).toBe(10007)
    expect(provider.asked).not.toContain('/token')
    expect((await enter()).code).toBe(10007)
  })

  test('takes what providers add, and no error’s words', async () => {
    const { cookie, url } = await begin()
    const { state } = provider.issue(url, {})
    const denied = await callBack({ error: 'access_denied', error_description: 'Bad <b>words</b>', state }, cookie)
    expect([denied.refusal, denied.location.href.includes('words')]).toEqual([10061, false])
    expect(await becomesTrue(() => service.stderr().includes('access_denied: Bad <b>words</b>'))).toBe(true)
    const flow = await begin()
    const code = provider.issue(flow.url, { sub: newSubject(), name: 'x', groups: ['ops'] })
    const back = await callBack({ ...code, session_state: 'x', iss: provider.issuer }, flow.cookie)
    expect(back.session).toBeDefined()
  })

  test('refuses the iss of another issuer (RFC 9207)', async () => {
    const { cookie, url } = await begin()
    const query = provider.issue(url, { sub: newSubject(), groups: ['ops'] })
    expect((await callBack({ ...query, iss: 'https://evil.example' }, cookie)).refusal).toBe(10061)
  })

  const now = () => Math.floor(Date.now() / 1000)
  test.each<[string, Lies]>([
    ['no signature', { signature: 'none' }],
    ['a signature by the client’s secret', { signature: 'hmac' }],
    ['the signature of a stranger', { signature: 'stranger' }],
    ['a key that nobody knows', { signature: 'unknown key' }],
    ['another issuer', { claims: { iss: 'https://evil.example' } }],
    ['another audience', { claims: { aud: 'another' } }],
    ['several audiences and another azp', { claims: { aud: ['forecourt', 'another'], azp: 'another' } }],
    ['another azp', { claims: { azp: 'another' } }],
    ['another nonce', { claims: { nonce: 'another' } }],
    ['no nonce', { claims: { nonce: undefined } }],
    ['an end that is past', { claims: { exp: now() - 20 } }],
    ['a beginning in the future', { claims: { iat: now() + 600 } }],
    ['no subject', { claims: { sub: undefined } }],
    ['an empty subject', { claims: { sub: '' } }],
    ['no ID token', { noIdToken: true }],
    ['a refusal', { tokenStatus: 400 }],
  ])('is refused with %s', async (_, lies) => {
    const back = await comes({ sub: newSubject(), name: 'x', groups: ['chiefs'] }, lies)
    expect([back.status, back.path, back.refusal, back.session]).toEqual([303, '/console/sign-in', 10061, undefined])
  })

  test('allows a clock that is a minute ahead', async () => {
    const back = await comes({ sub: newSubject(), name: 'x', groups: ['ops'] }, { claims: { iat: now() + 40 } })
    expect(back.session).toBeDefined()
  })

  test.each<[string, Lies]>([
    ['fails', { tokenStatus: 503, tokenBody: '{}' }],
    ['refuses the client', { tokenStatus: 401, tokenBody: '{"error":"invalid_client"}' }],
    ['answers no JSON', { tokenBody: '<html>' }],
    ['sends elsewhere', { tokenRedirect: 'http://127.0.0.1:1/' }],
    ['answers too much', { tokenBody: 'x'.repeat(1024 * 1024 + 10) }],
  ])('of a provider that %s says that it is away', async (_, lies) => {
    expect((await comes({ sub: newSubject(), groups: ['ops'] }, lies)).refusal).toBe(10063)
  })

  test('fetches new keys for an unknown one, once a minute', async () => {
    await comes({ sub: newSubject(), name: 'x', groups: ['ops'] })
    provider.asked = []
    await comes({ sub: newSubject(), groups: ['ops'] }, { signature: 'unknown key' })
    await comes({ sub: newSubject(), groups: ['ops'] }, { signature: 'unknown key' })
    expect(provider.asked.filter((path) => path === '/keys').length).toBeLessThanOrEqual(1)
  })
})

describe('linking', () => {
  test('gives an account of ours a way in, and keeps its role', async () => {
    const person = await newPerson(client, 'viewer')
    const headers = await signIn(client, person)
    const sub = newSubject()
    const linked = await comes(
      { sub, name: 'x', groups: ['chiefs'] },
      {},
      { purpose: 'link', headers, returnTo: '/console/account' },
    )
    expect([linked.path, linked.refusal, linked.session]).toEqual(['/console/account', 0, undefined])
    expect((await client.operate(getOperator, { id: person.id })).data).toMatchObject({ source: 1, isLinked: true })
    const back = await comes({ sub, name: 'x', groups: ['chiefs'] })
    expect(await ofSession(back.session)).toMatchObject({ operatorId: person.id, role: 'viewer', name: person.name })
    const other = await signIn(client, await newPerson(client, 'viewer'))
    const taken = await comes({ sub, groups: [] }, {}, { purpose: 'link', headers: other })
    expect([taken.path, taken.refusal]).toEqual(['/console/account', 10064])
    expect((await comes({ sub: newSubject() }, {}, { purpose: 'link', headers })).refusal).toBe(10064)
    expect((await client.call(unlinkSignOn, { id: person.id }, { headers: other })).code).toBe(10003)
    expect((await client.call(unlinkSignOn, {}, { headers })).data.isLinked).toBe(false)
    await sleep(1000)
    expect((await client.call(getSession, {}, { headers: { cookie: back.session ?? '' } })).code).toBe(10002)
    expect((await comes({ sub, groups: [] })).refusal).toBe(10062)
  })

  test('is undone by an admin, and ends what began by it alone', async () => {
    const person = await newPerson(client, 'viewer')
    const [headers, admin] = [await signIn(client, person), await signIn(client, await newPerson(client, 'admin'))]
    const sub = newSubject()
    await comes({ sub }, {}, { purpose: 'link', headers })
    const byProvider = { cookie: (await comes({ sub })).session ?? '' }
    const undone = await client.call(unlinkSignOn, { id: person.id }, { headers: admin })
    expect(undone.data).toMatchObject({ id: person.id, isLinked: false })
    await sleep(1000)
    expect((await client.call(getSession, {}, { headers: byProvider })).code).toBe(10002)
    expect((await client.call(getSession, {}, { headers })).code).toBe(0)
  })

  test('asks for a session, and for a proof that is not old', async () => {
    for (const purpose of ['link', 'confirm']) expect((await begin({ purpose })).answer.code).toBe(10002)
    expect(
      (await begin({ purpose: 'link', headers: { authorization: `Bearer ${client.operatorKey}` } })).answer.code,
    ).toBe(10003)
    const headers = await signIn(client, await newPerson(client, 'viewer'))
    await database.run((sql) => sql`update operator_session set confirmed_at = now() - interval '1 hour'`)
    expect((await begin({ purpose: 'link', headers })).answer.code).toBe(10035)
  })

  test('with a set-up link takes the place of a password', async () => {
    const made = (await client.operate(createOperator, { name: newSubject(), role: 'operator' })).data
    const way = { purpose: 'setUp', setUpToken: made.setUpPath?.split('#')[1] }
    const sub = newSubject()
    const back = await comes({ sub, groups: [] }, {}, way)
    expect(await ofSession(back.session)).toMatchObject({ operatorId: made.id, role: 'operator', method: 'signOn' })
    expect((await begin(way)).answer.code).toBe(10052)
    expect((await begin({ purpose: 'setUp' })).answer.code).toBe(10001)
    expect((await client.operate(getOperator, { id: made.id })).data).toMatchObject({ source: 1, isSetUp: true })
  })

  test('with a set-up link passes by no second factor', async () => {
    const person = await newPerson(client, 'viewer')
    const headers = await signIn(client, person)
    const way = async () => ({
      purpose: 'setUp',
      setUpToken: (await client.operate(resetOperator, { id: person.id })).data.setUpPath?.split('#')[1],
    })
    // One sign-on begins before the account has a factor, and comes back when it has one.
    const early = await begin(await way())
    await database.run((sql) => insertPasskey(sql, person.id))
    const back = await callBack(provider.issue(early.url, { sub: newSubject() }), early.cookie)
    expect([back.refusal, back.session]).toEqual([10032, undefined])
    expect((await begin(await way())).answer.code).toBe(10032)
    expect((await client.operate(getOperator, { id: person.id })).data.isLinked).toBe(false)
    expect((await client.call(getSession, {}, { headers })).code).toBe(10002)
  })

  test('takes only pages of the console to come back to', async () => {
    for (const returnTo of [
      'https://evil.example',
      '//evil.example',
      '/console//evil',
      '/console/..',
      '/console\\x',
      '/docs',
      '/console/ x',
    ]) {
      expect([returnTo, (await begin({ returnTo })).answer.code]).toEqual([returnTo, 10001])
    }
  })
})

describe('a confirmation', () => {
  test('is taken of the same person, signed in anew', async () => {
    const sub = newSubject()
    const first = await comes({ sub, name: sub, groups: ['chiefs'] })
    const headers = { cookie: first.session ?? '' }
    const confirm = (claims: object, lies: Lies = {}) =>
      comes({ sub, groups: ['chiefs'], ...claims }, lies, { purpose: 'confirm', headers })
    await database.run((sql) => sql`update operator_session set confirmed_at = now() - interval '1 hour'`)
    await sleep(1000)
    expect((await client.call(createOperatorKey, {}, { headers })).code).toBe(10035)
    expect(new URL((await begin({ purpose: 'confirm', headers })).url).searchParams.get('max_age')).toBe('0')
    const old = Math.floor(Date.now() / 1000) - 600
    const early = await confirm({}, { claims: { auth_time: old } })
    expect([early.status, early.path, early.refusal]).toEqual([303, '/console/account', 10061])
    expect((await confirm({}, { claims: { auth_time: undefined } })).refusal).toBe(10061)
    expect((await confirm({ sub: newSubject() })).refusal).toBe(10061)
    expect((await client.call(createOperatorKey, {}, { headers })).code).toBe(10035)
    const done = await confirm({})
    expect([done.refusal, done.session]).toEqual([0, undefined])
    expect((await client.call(createOperatorKey, {}, { headers })).code).toBe(10001)
  })
})

describe('signing out', () => {
  test('ends our session first, and names the provider’s end', async () => {
    const back = await comes({ sub: newSubject(), name: 'x', groups: ['ops'] })
    const headers = { cookie: back.session ?? '' }
    expect((await strict.call(getSession, {}, { headers })).code).toBe(0)
    const { ended, signOutUrl } = (await client.call(deleteSession, {}, { headers })).data
    const url = new URL(signOutUrl ?? '')
    expect([ended, url.pathname, url.searchParams.get('id_token_hint')?.split('.').length]).toEqual([true, '/end', 3])
    const byPassword = await signIn(client, await newPerson(client, 'viewer'))
    expect((await client.call(deleteSession, {}, { headers: byPassword })).data).toEqual({
      ended: true,
      signOutUrl: null,
    })
    // On the other process too, which remembered it.
    await sleep(1000)
    expect((await strict.call(getSession, {}, { headers })).code).toBe(10002)
  })

  const logout = (token: string, service = client) =>
    service.send<object>(logOutByProvider.path, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({ logout_token: token }).toString(),
    })
  const events = { 'http://schemas.openid.net/event/backchannel-logout': {} }
  const claimsOf = (more: object) => {
    const iat = Math.floor(Date.now() / 1000)
    return { iss: provider.issuer, aud: provider.clientId, iat, exp: iat + 60, jti: newSubject(), events, ...more }
  }

  test('at the provider ends the session of its sid, else those of its sub', async () => {
    const sub = newSubject()
    const [first, second] = [
      await comes({ sub, name: sub, groups: ['ops'], sid: `${sub}-1` }),
      await comes({ sub, groups: ['ops'], sid: `${sub}-2` }),
    ]
    const state = async () =>
      Promise.all(
        [first, second].map(
          async ({ session }) => (await client.call(getSession, {}, { headers: { cookie: session ?? '' } })).code,
        ),
      )
    expect(
      (await logout(await provider.sign(claimsOf({ sub, sid: `${sub}-1` }), undefined, 'logout+jwt'))).status,
    ).toBe(200)
    await sleep(1000)
    expect(await state()).toEqual([10002, 0])
    expect((await logout(await provider.sign(claimsOf({ sub })))).status).toBe(200)
    await sleep(1000)
    expect(await state()).toEqual([10002, 10002])
  })

  test('at the provider counts once, on whatever process', async () => {
    const sub = newSubject()
    await comes({ sub, name: sub, groups: ['ops'] })
    const token = await provider.sign(claimsOf({ sub }), undefined, 'logout+jwt')
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, index) => logout(token, index % 2 ? strict : client)),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(7).fill(400)])
    // Somebody who has kept the logout token cannot end a session that began after it.
    const { session } = await comes({ sub, groups: ['ops'] })
    const other = await provider.sign(claimsOf({ sub }), undefined, 'at+jwt')
    expect((await logout(other)).status).toBe(400)
    const again = await logout(token)
    expect([again.status, JSON.parse(again.text).error]).toEqual([400, 'invalid_request'])
    expect((await ofSession(session)).method).toBe('signOn')
  })

  test.each<[string, object, Lies['signature']]>([
    ['of a stranger', { sub: 'x' }, 'stranger'],
    ['without a signature', { sub: 'x' }, 'none'],
    ['with a nonce', { sub: 'x', nonce: 'n' }, undefined],
    ['without its event', { sub: 'x', events: {} }, undefined],
    ['that names nobody', {}, undefined],
    ['for another client', { sub: 'x', aud: 'another' }, undefined],
    ['of another issuer', { sub: 'x', iss: 'https://evil.example' }, undefined],
    ['by the client’s secret', { sub: 'x' }, 'hmac'],
    ['by a key that nobody knows', { sub: 'x' }, 'unknown key'],
    ['that has ended', { sub: 'x', exp: Math.floor(Date.now() / 1000) - 120 }, undefined],
    ['of the future', { sub: 'x', iat: Math.floor(Date.now() / 1000) + 600 }, undefined],
    ['of yesterday', { sub: 'x', iat: Math.floor(Date.now() / 1000) - 86_400 }, undefined],
    ['without an id', { sub: 'x', jti: undefined }, undefined],
    ['with an empty id', { sub: 'x', jti: '' }, undefined],
  ])('a logout token %s is refused', async (_, claims, signature) => {
    const { status, text } = await logout(await provider.sign(claimsOf(claims), signature))
    expect([status, JSON.parse(text).error]).toEqual([400, 'invalid_request'])
  })
})

describe('the settings', () => {
  test('may ask people who come by sign-on for our second factor', async () => {
    const person = await newPerson(strict, 'admin')
    const headers = await signIn(strict, person)
    const { secret } = await newGenerator(strict, headers)
    const sub = newSubject()
    await comes({ sub }, {}, { purpose: 'link', headers, service: strict })
    const back = await comes({ sub }, {}, { service: strict })
    const own = { cookie: back.session ?? '' }
    expect(await ofSession(back.session, strict)).toMatchObject({ method: 'signOn', isLimited: true })
    expect((await strict.call(pageOperators, {}, { headers: own })).code).toBe(10034)
    expect((await strict.call(confirmSession, { code: '000000' }, { headers: own })).code).toBe(10033)
    const shown = await strict.call(confirmSession, { code: codeOf(secret) }, { headers: own })
    expect(shown.data).toMatchObject({ method: 'signOn+code', isLimited: false })
    expect((await strict.call(pageOperators, {}, { headers: own })).code).toBe(0)

    // The factor alone is not a proof of the person.
    const later = (await comes({ sub }, {}, { service: strict })).session ?? ''
    await database.run((sql) => sql`update operator_session set confirmed_at = now() - interval '1 hour'`)
    await database.run((sql) => sql`update operator_totp set used_step = 0`)
    const alone = await strict.call(confirmSession, { code: codeOf(secret) }, { headers: { cookie: later } })
    expect(alone.data.isLimited).toBe(false)
    expect((await strict.call(createOperatorKey, {}, { headers: { cookie: later } })).code).toBe(10035)
  })

  test('may ask for our second factor, which a passkey is too, and one that is set up then', async () => {
    const [person, other] = [await newPerson(strict, 'admin'), await newPerson(strict, 'admin')]
    const headers = await signIn(strict, person)
    const begun = (await strict.call(startPasskey, {}, { headers })).data
    const authenticator = new Authenticator(namedUrl)
    const passkey = { ticket: begun.ticket, credential: authenticator.create(begun.options), name: 'x' }
    expect((await strict.call(savePasskey, passkey, { headers })).code).toBe(0)
    const signsOn = async (by: { cookie: string }) => {
      const sub = newSubject()
      await comes({ sub }, {}, { purpose: 'link', headers: by, service: strict })
      return { cookie: (await comes({ sub }, {}, { service: strict })).session ?? '' }
    }
    const own = await signsOn(headers)
    expect(await ofSession(own.cookie, strict)).toMatchObject({ method: 'signOn', isLimited: true })
    const { options, ticket } = (await strict.call(startPasskeySession, {})).data
    const shown = { ticket, credential: authenticator.get(options) }
    expect((await strict.call(confirmSession, shown, { headers: own })).data).toMatchObject({
      method: 'signOn+passkey',
      isLimited: false,
    })

    const without = await signsOn(await signIn(strict, other))
    expect((await strict.call(pageOperators, {}, { headers: without })).code).toBe(10034)
    await newGenerator(strict, without)
    expect((await strict.call(pageOperators, {}, { headers: without })).code).toBe(0)
    expect(await ofSession(without.cookie, strict)).toMatchObject({ method: 'signOn+code', isLimited: false })
  })

  test('may leave passwords to admins', async () => {
    const enter = ({ name, password }: Person) => strict.call(createSession, { name, password })
    const viewer = await newPerson(strict, 'viewer')
    expect((await enter(viewer)).code).toBe(10066)
    expect((await enter({ ...viewer, password: 'wrong' })).code).toBe(10031)
    expect((await enter(await newPerson(strict, 'admin'))).code).toBe(0)
  })

  test('without roles give nobody an account', async () => {
    expect((await comes({ sub: newSubject(), name: 'x', groups: ['chiefs'] }, {}, { service: strict })).refusal).toBe(
      10062,
    )
  })

  test.each<[string, Record<string, string>, string]>([
    ['no client', { FORECOURT_OIDC_CLIENT_ID: '' }, 'FORECOURT_OIDC_CLIENT_ID'],
    ['no address', { FORECOURT_PUBLIC_URL: '' }, 'FORECOURT_PUBLIC_URL'],
    ['plain http', { FORECOURT_OIDC_ISSUER: 'http://login.example.com' }, 'FORECOURT_OIDC_ISSUER'],
    ['a role that there is not', { FORECOURT_OIDC_ROLES: 'boss=a' }, 'FORECOURT_OIDC_ROLES'],
    ['roles without an issuer', { FORECOURT_OIDC_ISSUER: '', FORECOURT_OIDC_ROLES: 'admin=a' }, 'FORECOURT_OIDC_ROLES'],
    ['an unknown role for a factor', { FORECOURT_REQUIRE_SECOND_FACTOR: 'boss' }, 'FORECOURT_REQUIRE_SECOND_FACTOR'],
    ['a proof of no time', { FORECOURT_CONFIRM_SECONDS: '0' }, 'FORECOURT_CONFIRM_SECONDS'],
  ])('with %s end the start with one sentence', async (_, wrong, named) => {
    const { code, stderr } = await runServiceToItsEnd({ env: { ...env, ...wrong } })
    expect(code).toBe(1)
    expect(stderr.trim().split('\n')).toEqual([expect.stringContaining(named)])
  })

  test('with a provider that is away let the service start, and people in and out', async () => {
    const gone = new TestProvider()
    await gone.start()
    gone.lies = { hangs: true }
    const own = await place.startService({
      env: { ...env, FORECOURT_OIDC_ISSUER: gone.issuer, FORECOURT_PASSWORDS: 'admins' },
    })
    const away = new Client(own)
    expect((await away.send('/readyz', {})).status).toBe(200)
    await signIn(away, await newPerson(away, 'admin'))
    expect((await away.call(createSession, { operatorKey: away.operatorKey })).code).toBe(0)

    // A session ends before the provider is asked where to sign out.
    const sub = newSubject()
    const headers = { cookie: (await comes({ sub, name: sub, groups: ['ops'] })).session ?? '' }
    const left = away.call(deleteSession, {}, { headers })
    expect(await becomesTrue(() => gone.asked.length > 0)).toBe(true)
    expect((await client.call(getSession, {}, { headers })).code).toBe(10002)
    gone.stop()
    expect((await left).data).toEqual({ ended: true, signOutUrl: null })
    const { answer } = await begin({ service: away })
    expect([answer.status, answer.code]).toEqual([503, 10063])
    await own.stop()
  })
})

test('a service without a provider says so', async () => {
  const service = await place.startService({ env: { DATABASE_URL: database.url() } })
  const off = new Client(service)
  expect((await off.call(getSignOn, {})).data).toMatchObject({ enabled: false, passkeys: false })
  expect((await begin({ service: off })).answer.code).toBe(10060)
  const back = await callBack({ code: 'x', state: 'y' }, '', off)
  expect([back.status, back.path, back.refusal]).toEqual([303, '/console/sign-in', 10060])
  await service.stop()
})

test('what a provider changes is in the audit trail', async () => {
  const sub = newSubject()
  await comes({ sub, name: sub, groups: ['ops'] })
  const { list } = (await client.operate(pageAudit, { type: 'operator.created' })).data
  expect(list[0]).toMatchObject({ actor: 'platform:signOn', data: { name: sub, source: 2 } })
  const sessions = (await client.operate(pageAudit, { type: 'session.created' })).data.list
  expect(sessions[0]?.data).toMatchObject({ method: 'signOn', name: sub })
  expect(JSON.stringify(sessions)).not.toContain('eyJ')
})

test('a service behind https has cookies of this host alone, and idle sessions end after 12 hours', async () => {
  const own = { FORECOURT_PUBLIC_URL: 'https://forecourt.example', FORECOURT_OIDC_ROLES: 'operator=*' }
  const behind = new Client(await place.startService({ env: { ...env, ...own, FORECOURT_OIDC_SESSION_HOURS: '100' } }))
  const { answer, cookie, url } = await begin({ service: behind })
  expect(answer.headers.get('set-cookie')).toMatch(/^__Host-forecourt_sign_on=.*; Secure$/)
  const sub = newSubject()
  const back = await callBack(provider.issue(url, { sub, name: sub }), cookie, behind)
  expect(back.told.getSetCookie().join()).toContain('__Host-forecourt_sign_on=;')
  expect(back.told.getSetCookie().join()).toMatch(/__Host-forecourt_session=[^;]+; Path=\/; HttpOnly; SameSite=Strict/)
  const [row] = await database.run(
    (sql) => sql`select extract(epoch from s.expires_at - s.created_at)::float8 / 3600 as idle,
        extract(epoch from s.ends_at - s.created_at)::float8 / 3600 as longest, o.role
      from operator_session s join operator o on o.id = s.operator_id where o.name = ${sub}`,
  )
  expect(row).toEqual({ idle: 12, longest: 100, role: 'operator' })
})
