import { expect, test } from 'bun:test'
import { issueToken, revokeToken } from '../../src/applications/tokens/contract.ts'
import type { Answer } from '../kit/client.ts'
import { deviceBody, takeOffline } from '../kit/records.ts'
import type { RefusalName } from './refusals.ts'
import {
  client,
  expectFaults,
  expectOAuthFaults,
  expectRefusal,
  expectWorking,
  jsonHeaders,
  newIdleApplication,
  oauthMembers,
  post,
  succeed,
} from './support.ts'

const { path } = issueToken
const formType = 'application/x-www-form-urlencoded'
const formHeaders = { 'content-type': formType }
const grant = { grant_type: 'client_credentials' }

interface Credentials {
  appId: string
  appSecret: string
}

function inBody({ appId, appSecret }: Credentials, members: Record<string, unknown> = {}) {
  return { ...grant, client_id: appId, client_secret: appSecret, ...members }
}

function basic(id: string, secret: string) {
  return { authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}` }
}

const basicOf = ({ appId, appSecret }: Credentials, write = (text: string) => text) =>
  basic(write(appId), write(appSecret))

/** The text with every character as an escape. */
const encoded = (text: string) => [...text].map((c) => `%${c.charCodeAt(0).toString(16).padStart(2, '0')}`).join('')

function form(members: Record<string, unknown>): string {
  return new URLSearchParams(members as Record<string, string>).toString()
}

/** Expects contract §3's response, which has both the envelope's members and those of OAuth. Returns the token. */
function expectToken(answer: Answer<unknown>, expiresIn = 7200): string {
  expect(answer.status).toBe(200)
  const body = JSON.parse(answer.text)
  const token = body.access_token
  const data = { accessToken: token, tokenType: 'Bearer', expiresIn }
  const ofOAuth = { access_token: token, token_type: 'Bearer', expires_in: expiresIn }
  expect(body).toEqual({ code: 0, msg: 'success', data, ...ofOAuth })
  expect(token).toMatch(/^[A-Za-z0-9._~+/-]{43,}=*$/)
  expect(answer.headers.get('cache-control')).toBe('no-store')
  expect(answer.headers.get('content-type')).toMatch(/^application\/json/)
  return token
}

function expectOAuthError(answer: Answer<unknown>, error: string, refusal: RefusalName = 'invalidRequest'): void {
  expectRefusal(answer, refusal, oauthMembers)
  expect(JSON.parse(answer.text).error).toBe(error)
  expect(JSON.parse(answer.text).error_description).toMatch(/^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/)
  expect(answer.text).not.toContain('access_token')
}

test.each([
  ['JSON', (one: Credentials) => [JSON.stringify(inBody(one)), jsonHeaders]],
  ['a form', (one: Credentials) => [form(inBody(one)), formHeaders]],
  ['a form in UTF-8', (one: Credentials) => [form(inBody(one)), { 'content-type': `${formType}; charset=UTF-8` }]],
  ['HTTP Basic and a form', (one: Credentials) => [form(grant), { ...formHeaders, ...basicOf(one) }]],
  ['HTTP Basic and JSON', (one: Credentials) => [JSON.stringify(grant), { ...jsonHeaders, ...basicOf(one) }]],
  // RFC 6749 §2.3.1.
  ['form-encoded HTTP Basic', (one: Credentials) => [form(grant), { ...formHeaders, ...basicOf(one, encoded) }]],
  // Members that RFC 6749 does not name for this grant are ignored.
  ['other members', (one: Credentials) => [form(inBody(one, { scope: 'all', audience: 'x' })), formHeaders]],
] as [string, (one: Credentials) => [string, Record<string, string>]][])(
  'a token is issued for %s, which tells nothing of its application',
  async (_, request) => {
    const application = await newIdleApplication()
    const token = expectToken(await post('/api/auth/v1/oauth/token', ...request(application)))
    await succeed('createDevice', deviceBody(application.appId), { token })
    expect(token).not.toContain(application.appId)
    expect(Buffer.from(token, 'base64url').toString('latin1')).not.toContain(application.appId)
  },
)

test('credentials without a value in the body are omitted ones: HTTP Basic counts (RFC 6749 §3.2)', async () => {
  const credentials = basicOf(await newIdleApplication())
  const empty = form({ ...grant, client_id: '', client_secret: '' })
  await expectWorking(expectToken(await post(path, empty, { ...formHeaders, ...credentials })))
  for (const client_secret of [null, '']) {
    const body = JSON.stringify({ ...grant, client_secret })
    await expectWorking(expectToken(await post(path, body, { ...jsonHeaders, ...credentials })))
  }
})

test('every request gets a token of its own, and all of them work', async () => {
  const application = await newIdleApplication()
  const body = JSON.stringify(inBody(application))
  const answers = await Promise.all(Array.from({ length: 10 }, () => post(path, body, jsonHeaders)))
  const tokens = answers.map((answer) => expectToken(answer))
  expect(new Set(tokens).size).toBe(10)
  await expectWorking(...tokens)
})

test.each([1, 60, 604_800])('the lifetime is the application’s own: %i s', async (tokenLifetimeSeconds) => {
  const application = await newIdleApplication({ tokenLifetimeSeconds })
  expectToken(await post(path, JSON.stringify(inBody(application)), jsonHeaders), tokenLifetimeSeconds)
})

test('an application that is offline gets tokens: only its devices are refused', async () => {
  const application = await newIdleApplication()
  await takeOffline(client, application.appId)
  expectToken(await post(path, JSON.stringify(inBody(application)), jsonHeaders))
})

test('a wrong secret and an unknown client are one answer: clientInvalid and invalid_client', async () => {
  const { appId, appSecret } = await newIdleApplication()
  const other = await newIdleApplication()
  const otherCase = appSecret.toLowerCase() === appSecret ? appSecret.toUpperCase() : appSecret.toLowerCase()
  const secrets = ['wrong', `${appSecret}x`, appSecret.slice(0, -1), otherCase, other.appSecret, appId]
  const ids = ['no-such-application', appId.toUpperCase(), ` ${appId}`, `${appId}\0`, '\ud800']
  const pairs = [
    ...[...secrets, client.operatorKey].map((secret) => [appId, secret]),
    ...ids.map((id) => [id, appSecret]),
    ['x'.repeat(10_000), 'y'.repeat(10_000)],
    ["' or 1=1 --", "' or 1=1 --"],
  ]
  const bodies = pairs.map(([client_id, client_secret]) => JSON.stringify({ ...grant, client_id, client_secret }))
  const answers = await Promise.all(bodies.map((body) => post(path, body, jsonHeaders)))
  for (const answer of answers) {
    expectOAuthError(answer, 'invalid_client', 'clientInvalid')
    expect(answer.data).toBeNull()
    expect(answer.text).toBe(answers[0]?.text as string)
  }
})

test('a client that failed by HTTP Basic is challenged with Basic (RFC 6749 §5.2)', async () => {
  const { appId, appSecret } = await newIdleApplication()
  const joined = [appId, '%:%', [0xff, 0x3a, 0xfe]].map(
    (text) => `Basic ${Buffer.from(text as string).toString('base64')}`,
  )
  const wrong = [
    ...[basic(appId, 'wrong').authorization, basic('no-such-application', appSecret).authorization, ...joined],
    ...['Basic !!!', 'Basic', `Bearer ${appSecret}`],
  ]
  for (const authorization of wrong) {
    const answer = await post(path, form(grant), { ...formHeaders, authorization })
    expectOAuthError(answer, 'invalid_client', 'clientInvalid')
    expect(answer.headers.get('www-authenticate')).toMatch(/^Basic /)
  }
})

test('credentials by HTTP Basic and in the body at once are invalid_request (RFC 6749 §2.3)', async () => {
  const application = await newIdleApplication()
  const headers = { ...formHeaders, ...basicOf(application) }
  expectOAuthError(await post(path, form(inBody(application)), headers), 'invalid_request')
})

test('client_id, client_secret and grant_type that are missing, empty or not text are named: invalid_request', async () => {
  const application = await newIdleApplication()
  for (const member of ['client_id', 'client_secret', 'grant_type']) {
    for (const value of [undefined, null, '', 5, true, {}, ['x']]) {
      const answer = await post(path, JSON.stringify(inBody(application, { [member]: value })), jsonHeaders)
      expectOAuthFaults(answer, [member], 'invalid_request')
    }
  }
})

test.each(['password', 'authorization_code', 'refresh_token', 'CLIENT_CREDENTIALS', 'client_credentials '])(
  'the grant type %s is unsupported_grant_type',
  async (grant_type) => {
    const application = await newIdleApplication()
    const answer = await post(path, JSON.stringify(inBody(application, { grant_type })), jsonHeaders)
    expectOAuthFaults(answer, ['grant_type'], 'unsupported_grant_type')
  },
)

test('a form that names a member twice (RFC 6749 §3.2) or is broken is refused, not misread', async () => {
  const twice = `${form(inBody(await newIdleApplication()))}&grant_type=client_credentials`
  expectOAuthFaults(await post(path, twice, formHeaders), ['grant_type'], 'invalid_request')
  for (const body of ['%', '%zz=%', '=', '&&&', '\0', '{"grant_type":"client_credentials"}', '__proto__=x']) {
    expectOAuthError(await post(path, body, formHeaders), 'invalid_request')
  }
})

test('credentials in the query are not credentials', async () => {
  const application = await newIdleApplication()
  const answer = await post(`${path}?${form(inBody(application))}`, '{}', jsonHeaders)
  expectFaults(answer, ['client_id', 'client_secret', 'grant_type'], 'invalidRequest', oauthMembers)
})

test('a media type that is neither JSON nor a form is 415, and broken JSON is refused, with invalid_request', async () => {
  const application = await newIdleApplication()
  const answer = await post(path, form(inBody(application)), { 'content-type': 'text/plain' })
  expectOAuthFaults(answer, ['Content-Type'], 'invalid_request', 415)
  expectOAuthFaults(await post(path, '{', jsonHeaders), ['body'], 'invalid_request')
})

test('a frozen application gets no token: unauthorized_client, which only who has its secret is told', async () => {
  const application = await newIdleApplication()
  await succeed('freezeApplication', { appId: application.appId, reason: 'test' })
  const ask = (members: object) => post(path, JSON.stringify({ ...inBody(application), ...members }), jsonHeaders)
  expectOAuthError(await ask({}), 'unauthorized_client', 'applicationFrozen')
  expectOAuthError(await ask({ client_secret: 'wrong' }), 'invalid_client', 'clientInvalid')
})

test.each([
  ...['', ' ', 'Bearer', 'Bearer ', 'Bearer null', 'Bearer undefined', `Bearer ${'A'.repeat(43)}`, 'bearer x', 'null'],
  ...['Token x', 'Digest username="x"', 'Negotiate YII='],
])('the Authorization header %p does not stand in the way of credentials in the body', async (authorization) => {
  const { appId, appSecret } = await newIdleApplication()
  const credentials = { client_id: appId, client_secret: appSecret }
  for (const [body, headers] of [
    [JSON.stringify({ ...grant, ...credentials }), jsonHeaders],
    [form({ ...grant, ...credentials }), formHeaders],
  ] as const) {
    expect((await post(path, body, { ...headers, authorization })).status).toBe(200)
    const { access_token } = JSON.parse((await post(path, body, headers)).text)
    const ofRevocation = form({ token: access_token, ...credentials })
    expect((await post(revokeToken.path, ofRevocation, { ...formHeaders, authorization })).status).toBe(200)
  }
  // It stands for no credentials either.
  const without = await post(path, form(grant), { ...formHeaders, authorization })
  expect(without.status).toBe(authorization.trim() === '' ? 400 : 401)
})

test.each(['raw', 'percent-encoded'])('a form with a %s byte that is no UTF-8 is invalid_request', async (how) => {
  const { appId } = await newIdleApplication()
  const start = Buffer.from(`grant_type=client_credentials&client_id=${appId}&client_secret=x`)
  const body = Buffer.concat([start, how === 'raw' ? Buffer.from([0xff]) : Buffer.from('%ff')])
  expectOAuthError(await post(path, body, formHeaders), 'invalid_request')
  // A percent sign that encodes nothing stands for itself, as in a stock client's secret.
  const literal = await post(path, `${start}%25`, formHeaders)
  expectOAuthError(literal, 'invalid_client', 'clientInvalid')
})

test('a form may have any parameters and a byte-order mark', async () => {
  const { appId, appSecret } = await newIdleApplication()
  const body = form({ ...grant, client_id: appId, client_secret: appSecret })
  for (const type of ['charset=utf8', 'charset=ISO-8859-1', '', 'x="a;b"']) {
    const headers = { 'content-type': `application/x-www-form-urlencoded;${type}` }
    expect((await post(path, `\ufeff${body}`, headers)).status).toBe(200)
  }
})
