import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, spyOn, test } from 'bun:test'
import { type Flow, Provider } from '../../src/people/sign-on/provider.ts'
import { type Algorithm, type Lies, TestProvider } from '../kit/provider.ts'
import { longTest } from '../kit/scale.ts'

// What a process requests from a provider, and how it handles each false response: each test has a new client, which has
// fetched nothing yet. A whole sign-on at an independent provider is in test/browser/ways-in.test.ts.

const provider = new TestProvider()
const other = new TestProvider()
beforeAll(async () => {
  await provider.start()
  await other.start()
})
afterAll(() => {
  provider.stop()
  other.stop()
})
beforeEach(() => {
  provider.lies = {}
  provider.asked = []
  other.asked = []
})

const flow: Flow = { state: 'a state', nonce: 'a nonce', verifier: 'v'.repeat(43) }
const settings = () => ({
  issuer: provider.issuer,
  clientId: provider.clientId,
  clientSecret: provider.clientSecret,
  scopes: 'openid profile',
  publicUrl: 'http://127.0.0.1:1',
})
const newClient = () => new Provider(settings())

async function identify(client: Provider, lies: Lies = {}, claims: object = { sub: 'somebody', groups: ['ops'] }) {
  const code = provider.issue(await client.authorizationUrl(flow, false), { ...claims }, lies)
  const parameters = await client.readCallback(new URLSearchParams(code), flow.state)
  return client.identify(parameters, flow, (found) => (found as { groups?: unknown }).groups)
}

const now = () => Math.floor(Date.now() / 1000)
const faultOf = (run: Promise<unknown>) =>
  run.then(
    () => undefined,
    (error: unknown) => error,
  )

describe('an ID token', () => {
  test.each<Algorithm>(['RS256', 'RS384', 'PS256', 'ES256', 'ES384', 'EdDSA'])('signed by %s is taken', async (how) => {
    provider.lies = { discovery: { id_token_signing_alg_values_supported: [how] } }
    expect((await identify(newClient(), { signature: how })).subject).toBe('somebody')
  })

  test.each<[string, Lies]>([
    ['no signature', { signature: 'none' }],
    ['a signature by the client’s secret', { signature: 'hmac' }],
    ['a signature by the public key as a secret', { signature: 'hmac by the public key' }],
    ['the signature of a stranger', { signature: 'stranger' }],
    ['a key that nobody knows', { signature: 'unknown key' }],
    ['another issuer', { claims: { iss: 'https://evil.example' } }],
    ['no issuer', { claims: { iss: undefined } }],
    ['another audience', { claims: { aud: 'another' } }],
    ['no audience', { claims: { aud: undefined } }],
    ['another azp', { claims: { azp: 'another' } }],
    ['several audiences and another azp', { claims: { aud: ['forecourt', 'another'], azp: 'another' } }],
    ['another nonce', { claims: { nonce: 'another' } }],
    ['no nonce', { claims: { nonce: undefined } }],
    ['an end that is just past', { claims: { exp: now() - 20 } }],
    ['no end', { claims: { exp: undefined } }],
    ['an end that is a text', { claims: { exp: String(now() + 300) } }],
    ['a beginning in the future', { claims: { iat: now() + 120 } }],
    ['no beginning', { claims: { iat: undefined } }],
    ['a beginning that is yet to be valid', { claims: { nbf: now() + 600 } }],
    ['no subject', { claims: { sub: undefined } }],
    ['an empty subject', { claims: { sub: '' } }],
    ['a subject that is a number', { claims: { sub: 7 } }],
    ['a subject without end', { claims: { sub: 'x'.repeat(256) } }],
    ['an algorithm that the provider does not name', { signature: 'ES256' }],
    ['nothing in it', { noIdToken: true }],
    ['a refusal in its place', { tokenStatus: 400 }],
  ])('with %s is not', async (_, lies) => {
    expect(await faultOf(identify(newClient(), lies))).toMatchObject({ kind: 'signOn' })
  })

  test('of an issuer that differs by a slash is not taken, nor is such a provider', async () => {
    const issuer = `${provider.issuer}/`
    expect(await faultOf(identify(newClient(), { claims: { iss: issuer } }))).toMatchObject({ kind: 'signOn' })
    provider.lies = { discovery: { issuer } }
    expect(await faultOf(identify(newClient()))).toMatchObject({ kind: 'providerAway' })
  })

  test('of a clock that is up to a minute ahead is taken', async () => {
    expect((await identify(newClient(), { claims: { iat: now() + 50 } })).subject).toBe('somebody')
  })
})

describe('the client', () => {
  const last = () => provider.tokenRequests.at(-1)

  test('proves itself by its secret, and by that it began the flow (PKCE)', async () => {
    await identify(newClient())
    const { authorization = '', form } = last() ?? {}
    const shown = Buffer.from(authorization.replace('Basic ', ''), 'base64').toString().split(':')
    expect(shown.map((part) => new URLSearchParams(`x=${part}`).get('x'))).toEqual(['forecourt', provider.clientSecret])
    expect([form?.get('grant_type'), form?.get('code_verifier')]).toEqual(['authorization_code', flow.verifier])
  })

  test('shows its secret in the body to a provider that refuses Basic, from then on at once', async () => {
    const methods = ['client_secret_basic', 'client_secret_post']
    provider.lies = { refusesBasic: true, discovery: { token_endpoint_auth_methods_supported: methods } }
    const client = newClient()
    for (const tries of [2, 1]) {
      provider.tokenRequests = []
      expect((await identify(client)).subject).toBe('somebody')
      expect(provider.tokenRequests).toHaveLength(tries)
      expect(last()?.form.get('client_secret')).toBe(provider.clientSecret)
    }
  })

  test('without a secret is a public one, which names itself and shows nothing', async () => {
    const publicClient = new Provider({ ...settings(), clientSecret: undefined })
    expect((await identify(publicClient)).subject).toBe('somebody')
    const { authorization, form } = last() ?? {}
    expect([authorization, form?.get('client_id'), form?.has('client_secret')]).toEqual([undefined, 'forecourt', false])
    expect(form?.get('code_verifier')).toBe(flow.verifier)
  })
})

describe('a callback', () => {
  test.each<[string, (query: URLSearchParams) => void]>([
    ['the iss of another issuer (RFC 9207)', (query) => query.set('iss', 'https://evil.example')],
    ['another state', (query) => query.set('state', 'another')],
    ['an error', (query) => query.set('error', 'access_denied')],
    ['an empty code', (query) => query.set('code', '')],
    ['two codes', (query) => query.append('code', 'another')],
  ])('with %s asks nobody', async (_, change) => {
    const client = newClient()
    const query = new URLSearchParams(provider.issue(await client.authorizationUrl(flow, false), { sub: 'x' }))
    change(query)
    provider.asked = []
    expect(await faultOf(client.readCallback(query, flow.state))).toMatchObject({ kind: 'signOn' })
    expect(provider.asked).toEqual([])
  })
})

test('what a callback names beside its code leads to no request elsewhere', async () => {
  const client = newClient()
  const names = ['issuer', 'token_endpoint', 'jwks_uri', 'userinfo_endpoint', 'redirect_uri', 'request_uri']
  const more = Object.fromEntries(names.map((name) => [name, `${other.issuer}/${name}`]))
  const code = provider.issue(await client.authorizationUrl(flow, false), { sub: 'somebody' })
  const parameters = await client.readCallback(new URLSearchParams({ ...code, ...more }), flow.state)
  expect((await client.identify(parameters, flow, () => undefined)).subject).toBe('somebody')
  expect([provider.asked.includes('/userinfo'), other.asked]).toEqual([true, []])
})

describe('userinfo', () => {
  const plain = { sub: 'somebody' }
  test('is asked where the ID token has no roles, and not otherwise', async () => {
    expect((await identify(newClient(), { userInfo: { groups: ['ops'] } }, plain)).claims.groups).toEqual(['ops'])
    provider.asked = []
    await identify(newClient())
    expect(provider.asked).not.toContain('/userinfo')
  })

  test.each<[string, Lies['answers'] & object, 'providerAway' | 'signOn']>([
    ['is about somebody else', { '/userinfo': { value: { sub: 'somebody else', groups: ['ops'] } } }, 'signOn'],
    ['is about nobody', { '/userinfo': { value: { groups: ['ops'] } } }, 'signOn'],
    ['fails', { '/userinfo': { status: 500, value: {} } }, 'providerAway'],
    ['is no JSON', { '/userinfo': { value: '<html>' } }, 'providerAway'],
    [
      'is a token that nobody signed',
      { '/userinfo': { value: 'e30.e30.', headers: { 'content-type': 'application/jwt' } } },
      'signOn',
    ],
  ])('that %s makes nobody', async (_, answers, kind) => {
    provider.lies = { answers }
    expect(await faultOf(identify(newClient(), {}, plain))).toMatchObject({ kind })
  })
})

describe('a provider', () => {
  const discovery = '/.well-known/openid-configuration'
  test.each<[string, Lies]>([
    ['calls itself otherwise', { discovery: { issuer: 'http://127.0.0.1:1' } }],
    ['names no address for its page', { discovery: { authorization_endpoint: undefined } }],
    ['names no address for tokens', { discovery: { token_endpoint: undefined } }],
    ['names no keys', { discovery: { jwks_uri: undefined } }],
    ['keeps no discovery', { answers: { [discovery]: { status: 404, value: {} } } }],
    ['sends elsewhere', { answers: { [discovery]: { status: 302, value: {}, headers: { location: '/other' } } } }],
    ['answers no JSON', { answers: { [discovery]: { value: '<html>' } } }],
    ['answers too much', { answers: { [discovery]: { value: `"${'x'.repeat(1024 * 1024)}"` } } }],
    ['fails at its tokens', { tokenStatus: 503, tokenBody: '{}' }],
    ['refuses the client', { tokenStatus: 401, tokenBody: '{"error":"invalid_client"}' }],
    ['gives no JSON for tokens', { tokenBody: '<html>' }],
    ['sends those who ask for tokens elsewhere', { tokenRedirect: 'http://127.0.0.1:1/' }],
    ['gives too much for tokens', { tokenBody: 'x'.repeat(1024 * 1024 + 10) }],
    ['has no keys', { answers: { '/keys': { value: {} } } }],
    ['hides its keys', { answers: { '/keys': { status: 403, value: {} } } }],
    [
      'sends its keys’ readers elsewhere',
      { answers: { '/keys': { status: 302, value: {}, headers: { location: '/x' } } } },
    ],
  ])('that %s is away', async (_, lies) => {
    provider.lies = lies
    expect(await faultOf(identify(newClient(), lies))).toMatchObject({ kind: 'providerAway' })
  })

  longTest('that does not answer is away after 5 seconds', async () => {
    provider.lies = { hangs: true }
    const began = performance.now()
    expect(await faultOf(newClient().discover())).toMatchObject({ kind: 'providerAway' })
    const ms = performance.now() - began
    expect(ms).toBeGreaterThan(4_900)
    expect(ms).toBeLessThan(7_000)
  })

  // An issuer on loopback may name only addresses of its own host; any other issuer may name no private addresses of
  // other hosts.
  test.each(['token_endpoint', 'jwks_uri', 'userinfo_endpoint'])('is asked for no %s on another host', async (name) => {
    provider.lies = { discovery: { [name]: `${other.issuer}/${name}` } }
    expect(await faultOf(identify(newClient(), {}, { sub: 'somebody' }))).toMatchObject({ kind: 'providerAway' })
    expect(other.asked).toEqual([])
  })

  test('is asked for discovery once an hour, for keys every 5 minutes, and for unknown keys once a minute', async () => {
    const client = newClient()
    // A clock in whole milliseconds: differences of fractions would miss a limit that is reached exactly.
    let ahead = 0
    const clock = spyOn(performance, 'now').mockImplementation(() => ahead)
    const asked = async (lies: Lies = {}) => {
      provider.asked = []
      const fault = await faultOf(identify(client, lies))
      const count = (path: string) => provider.asked.filter((each) => each === path).length
      return [count(discovery), count('/keys'), fault === undefined]
    }
    expect(await asked()).toEqual([1, 1, true])
    expect(await asked()).toEqual([0, 0, true])
    // After a change of the key, the first token with it makes the client fetch the keys.
    await provider.rotate()
    ahead += 1_000
    expect(await asked()).toEqual([0, 1, true])
    ahead += 30_000
    expect(await asked({ signature: 'unknown key' })).toEqual([0, 0, false])
    ahead += 30_000
    expect(await asked({ signature: 'unknown key' })).toEqual([0, 1, false])
    expect(await asked()).toEqual([0, 0, true])
    ahead += 299_000
    expect(await asked()).toEqual([0, 0, true])
    ahead += 2_000
    expect(await asked()).toEqual([0, 1, true])
    ahead += 3_600_000
    expect(await asked()).toEqual([1, 1, true])
    clock.mockRestore()
  })
  afterEach(() => spyOn(performance, 'now').mockRestore())
})
