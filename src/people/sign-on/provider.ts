import {
  createLocalJWKSet,
  decodeProtectedHeader,
  errors,
  type JSONWebKeySet,
  type JWTPayload,
  type JWTVerifyOptions,
  jwtVerify,
} from 'jose'
import * as oauth from 'oauth4webapi'
import type { Config } from '../../config.ts'
import { cached } from '../../runtime/cached.ts'
import { limits } from '../../vocabulary/limits.ts'
import { type OutgoingFetch, outgoingTo } from './outgoing.ts'
import { away, faultOf, otherIssuerOf, providerAway, signOnFault, within } from './provider-faults.ts'

// The libraries check what the standards require. The rest is checked here (contract §12.2): every signature, also of
// tokens that came over TLS, and tokens with a time in the future.

export interface ProviderSettings {
  issuer: string
  clientId: string
  clientSecret: string | undefined
  scopes: string
  publicUrl: string
}

export interface Flow {
  state: string
  nonce: string
  verifier: string
}

export interface Logout {
  subject: string | null
  sessionId: string | null
  /** A repeated token is recognized by its ID. */
  id: string
  until: Date
}

export interface Identity {
  issuer: string
  subject: string
  claims: Record<string, unknown>
  sessionId: string | null
  idToken: string
  /** When the person last signed in at the provider, in seconds since 1970. */
  authTime: number | undefined
}

const algorithms = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ...['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'],
]
/** How far ahead a provider's clock may be. */
const aheadSeconds = 60
/** How old a logout token may be: its id is remembered for this long. */
const logoutSeconds = 3_600
const discoveryMs = 3_600_000
const keysMs = 300_000
/** An unknown key id fetches the keys again, but not more often. */
const keysAgainMs = 60_000
const logoutEvent = 'http://schemas.openid.net/event/backchannel-logout'

export class Provider {
  readonly redirectUri: string
  private readonly settings: ProviderSettings
  private readonly fetch: OutgoingFetch
  private readonly options: Record<symbol, unknown>
  readonly discover = cached(() => this.askDiscovery(), discoveryMs)
  /** At most 5 minutes old. Throws `providerAway`. */
  readonly findKeys = cached(() => this.askKeys(), keysMs)
  private fetchedAgainAt = Number.NEGATIVE_INFINITY
  private secretWays: [oauth.ClientAuth, oauth.ClientAuth] | undefined
  /** Accepted by the token endpoint after it had refused another one. */
  private workingWay: oauth.ClientAuth | undefined

  constructor(settings: ProviderSettings) {
    this.settings = settings
    this.redirectUri = `${settings.publicUrl}/api/platform/v1/signOn/callback`
    const issuer = new URL(settings.issuer)
    this.fetch = outgoingTo(issuer)
    this.options = {
      [oauth.customFetch]: this.fetch,
      // Only a provider on this machine can have http here: `outgoing.ts` refuses http to all others.
      ...(issuer.protocol === 'http:' && { [oauth.allowInsecureRequests]: true }),
    }
  }

  get issuer(): string {
    return this.settings.issuer
  }

  private get client(): oauth.Client {
    return { client_id: this.settings.clientId, [oauth.clockTolerance]: aheadSeconds }
  }

  private async askDiscovery(): Promise<oauth.AuthorizationServer> {
    const { issuer } = this.settings
    const callsItself = (name: string) => providerAway(`the provider calls itself ${name}, not ${issuer}`)
    const server = await away(async () => {
      const url = new URL(issuer)
      const response = await oauth.discoveryRequest(url, { ...this.options, algorithm: 'oidc' })
      if (response.status !== 200) throw new Error(`the provider’s discovery answers ${response.status}`)
      return await oauth.processDiscoveryResponse(url, response).catch((error: unknown) => {
        const name = otherIssuerOf(error)
        throw name === undefined ? error : callsItself(name)
      })
    })
    // The library compares them as URLs, and ignores a slash at the end.
    if (server.issuer !== issuer) throw callsItself(server.issuer)
    for (const name of ['authorization_endpoint', 'token_endpoint', 'jwks_uri'] as const) {
      if (server[name] === undefined) throw providerAway(`the provider’s discovery has no ${name}`)
    }
    return server
  }

  private async askKeys(): Promise<JSONWebKeySet> {
    const { jwks_uri = '' } = await this.discover()
    return away(async () => {
      const response = await this.fetch(jwks_uri, { headers: { accept: 'application/json' } })
      const found = response.status === 200 ? ((await response.json()) as JSONWebKeySet) : undefined
      if (!Array.isArray(found?.keys)) throw new Error(`no keys at ${jwks_uri} (${response.status})`)
      return found
    })
  }

  async authorizationUrl({ state, nonce, verifier }: Flow, asksAnew: boolean): Promise<string> {
    const { authorization_endpoint = '' } = await this.discover()
    const url = new URL(authorization_endpoint)
    const parameters = {
      client_id: this.settings.clientId,
      redirect_uri: this.redirectUri,
      response_type: 'code',
      scope: this.settings.scopes,
      state,
      nonce,
      code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
      ...(asksAnew && { max_age: '0', prompt: 'login' }),
    }
    for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value)
    return url.href
  }

  /** Before the provider is asked. Throws `signOnFault` and `providerAway`. */
  async readCallback(query: URLSearchParams, state: string): Promise<URLSearchParams> {
    const server = await this.discover()
    let parameters: URLSearchParams
    try {
      parameters = oauth.validateAuthResponse(server, this.client, query, state)
    } catch (error) {
      throw faultOf(error)
    }
    const [code = '', ...others] = parameters.getAll('code')
    if (code === '' || others.length > 0) throw signOnFault('the browser did not bring one authorization code')
    return parameters
  }

  /** Throws `signOnFault` and `providerAway`. */
  async identify(parameters: URLSearchParams, flow: Flow, roleClaim: (claims: object) => unknown): Promise<Identity> {
    const server = await this.discover()
    const tokens = await this.exchange(server, parameters, flow)
    const idToken = tokens.id_token ?? ''
    const claims = await this.verify(idToken, { issuer: server.issuer, audience: this.settings.clientId })
    requireSound(claims, this.settings.clientId)
    const { sub: subject = '', sid, auth_time } = claims as JWTPayload & { sid?: unknown; auth_time?: unknown }
    // By the standard, a scope's claims need only be in the userinfo response, not in the ID token.
    const isMissing = roleClaim(claims) === undefined && server.userinfo_endpoint !== undefined
    const more = isMissing ? await this.askUserInfo(server, tokens.access_token, subject) : {}
    return {
      issuer: server.issuer,
      subject,
      claims: { ...more, ...claims },
      sessionId: typeof sid === 'string' ? sid : null,
      idToken,
      authTime: typeof auth_time === 'number' ? auth_time : undefined,
    }
  }

  private async exchange(server: oauth.AuthorizationServer, parameters: URLSearchParams, flow: Flow) {
    const { client, redirectUri, options } = this
    const ask = (way: oauth.ClientAuth) =>
      away(() =>
        oauth.authorizationCodeGrantRequest(server, client, way, parameters, redirectUri, flow.verifier, options),
      )
    const [first = oauth.None(), ...others] = this.waysOfClient(server)
    let response = await ask(first)
    let refused = await refusalOfClient(response)
    for (const way of others) {
      if (refused === undefined) break
      response = await ask(way)
      refused = await refusalOfClient(response)
      if (refused === undefined) this.workingWay = way
    }
    if (refused !== undefined) throw providerAway(`the token endpoint refuses the client: ${refused}`)
    if (response.status >= 500) throw providerAway(`the token endpoint answers ${response.status}`)
    try {
      return await oauth.processAuthorizationCodeResponse(server, client, response, {
        expectedNonce: flow.nonce,
        requireIdToken: true,
      })
    } catch (error) {
      const isOurs = error instanceof oauth.ResponseBodyError && error.error !== 'invalid_grant'
      throw isOurs ? providerAway(`the token endpoint refuses: ${error.error}`) : faultOf(error)
    }
  }

  /** The likeliest first: discovery lists what the provider supports, not what this client is registered for. */
  private waysOfClient({ token_endpoint_auth_methods_supported: methods }: oauth.AuthorizationServer) {
    const { clientSecret } = this.settings
    if (clientSecret === undefined) return []
    const [basic, post] = this.secretWays ?? [clientSecretBasic(clientSecret), oauth.ClientSecretPost(clientSecret)]
    this.secretWays = [basic, post]
    const takes = (method: string) => methods === undefined || methods.includes(method)
    const known = [
      ...(takes('client_secret_basic') ? [basic] : []),
      ...(methods !== undefined && takes('client_secret_post') ? [post] : []),
    ]
    const ways = known.length === 0 ? [basic] : known
    return ways.toSorted((one, other) => Number(other === this.workingWay) - Number(one === this.workingWay))
  }

  private async askUserInfo(server: oauth.AuthorizationServer, accessToken: string, subject: string) {
    const response = await away(() => oauth.userInfoRequest(server, this.client, accessToken, this.options))
    if (response.status >= 500) throw providerAway(`the userinfo endpoint answers ${response.status}`)
    try {
      if (response.headers.get('content-type')?.startsWith('application/jwt')) {
        const { issuer } = server
        const claims = await this.verify(await response.text(), { issuer, audience: this.settings.clientId })
        if (claims.sub !== subject) throw new Error('the userinfo is about another person than the ID token')
        return claims
      }
      return await oauth.processUserInfoResponse(server, this.client, subject, response)
    } catch (error) {
      throw faultOf(error)
    }
  }

  /** Throws `signOnFault` and `providerAway`. */
  async readLogout(token: string): Promise<Logout> {
    const { issuer, clientId } = this.settings
    const claims = await this.verify(token, { issuer, audience: clientId, requiredClaims: ['iat', 'jti', 'events'] })
    const {
      iat = 0,
      jti,
      sub,
      sid,
      events,
      nonce,
    } = claims as JWTPayload & { sid?: unknown; events?: unknown; nonce?: unknown }
    requireRecent(claims)
    const until = iat + logoutSeconds
    if (until <= Date.now() / 1000) throw signOnFault('the logout token is too old')
    if (typeof jti !== 'string' || jti === '') throw signOnFault('the logout token has no id')
    const isLogout = isObject(isObject(events) ? events[logoutEvent] : undefined)
    // Providers that follow an earlier version of the standard send no type, or JWT.
    const { typ = 'JWT' } = decodeProtectedHeader(token)
    if (!/^(application\/)?(logout\+)?jwt$/i.test(typ)) throw signOnFault('the token has the wrong type (typ)')
    if (!isLogout || nonce !== undefined) throw signOnFault('the token is not a logout token')
    const [subject, sessionId] = [sub ?? null, typeof sid === 'string' ? sid : null]
    if (subject === null && sessionId === null)
      throw signOnFault('the logout token names neither a person nor a session')
    return { subject, sessionId, id: jti, until: new Date(until * 1000) }
  }

  private async verify(token: string, expected: JWTVerifyOptions): Promise<JWTPayload> {
    const verified = async (keys: JSONWebKeySet) => {
      const options = { ...expected, algorithms, clockTolerance: aheadSeconds }
      const { payload } = await jwtVerify(token, createLocalJWKSet(keys), options)
      return payload
    }
    try {
      return await verified(await this.findKeys())
    } catch (error) {
      if (providerAway.is(error)) throw error
      if (!(error instanceof errors.JWKSNoMatchingKey) || !this.mayFetchAgain()) throw faultOf(error)
    }
    try {
      return await verified(await this.findKeys.anew())
    } catch (error) {
      throw providerAway.is(error) ? error : faultOf(error)
    }
  }

  private mayFetchAgain(): boolean {
    const now = performance.now()
    if (now - this.fetchedAgainAt < keysAgainMs) return false
    this.fetchedAgainAt = now
    return true
  }

  /** Null if there is none, or no response soon. Leaves out a large ID token: servers refuse very long URLs. */
  async endSessionUrl(idToken: string | null): Promise<string | null> {
    const server = await within(limits.signOutMs, this.discover()).catch(() => undefined)
    if (server?.end_session_endpoint === undefined) return null
    const url = new URL(server.end_session_endpoint)
    url.searchParams.set('client_id', this.settings.clientId)
    if (idToken !== null && idToken.length <= limits.idTokenKept) url.searchParams.set('id_token_hint', idToken)
    return url.href
  }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export function openProvider(
  config: Pick<Config, `oidc${'Issuer' | 'ClientId' | 'ClientSecret' | 'Scopes'}` | 'publicUrl'>,
) {
  const { oidcIssuer: issuer, oidcClientId: clientId, oidcClientSecret: clientSecret, publicUrl } = config
  if (issuer === undefined || clientId === undefined || publicUrl === undefined) return undefined
  return new Provider({ issuer, clientId, clientSecret, scopes: config.oidcScopes, publicUrl })
}

/** RFC 6749, 2.3.1. The library also encodes `*-._`; providers that do not decode then refuse nearly every secret. */
function clientSecretBasic(clientSecret: string): oauth.ClientAuth {
  const encoded = (text: string) => new URLSearchParams([['', text]]).toString().slice(1)
  return (_, { client_id }, __, headers) => {
    headers.set('authorization', `Basic ${btoa(`${encoded(client_id)}:${encoded(clientSecret)}`)}`)
  }
}

async function refusalOfClient(response: Response): Promise<string | undefined> {
  if (response.status < 400 || response.status > 403) return undefined
  const body = (await response
    .clone()
    .json()
    .catch(() => undefined)) as { error?: unknown } | undefined
  const isOfClient = body?.error === 'invalid_client' || body?.error === 'unauthorized_client'
  if (response.status === 400 && !isOfClient) return undefined
  return typeof body?.error === 'string' ? body.error : `status ${response.status}`
}

/** The libraries accept tokens from the future, tokens that have just expired, and tokens for another client. */
function requireSound(claims: JWTPayload, clientId: string): void {
  requireRecent(claims)
  const { sub, azp, exp } = claims as JWTPayload & { azp?: unknown }
  if (typeof sub !== 'string' || sub === '' || sub.length > 255) throw signOnFault('the ID token has no subject')
  if (azp !== undefined && azp !== clientId) throw signOnFault('the ID token is for another client (azp)')
  if (exp === undefined || exp <= Date.now() / 1000) throw signOnFault('the ID token has expired')
}

function requireRecent({ iat }: JWTPayload): void {
  if (typeof iat !== 'number' || iat > Date.now() / 1000 + aheadSeconds) {
    throw signOnFault('the token was issued in the future (iat)')
  }
}
