import { createHash, randomBytes } from 'node:crypto'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose'

// An OpenID provider for tests: it responds correctly, except for the values that a test falsifies.

type KeyPair = Awaited<ReturnType<typeof generateKeyPair>>

const algorithms = ['RS256', 'RS384', 'PS256', 'ES256', 'ES384', 'EdDSA'] as const
export type Algorithm = (typeof algorithms)[number]
const isAlgorithm = (text: string | undefined): text is Algorithm => algorithms.some((name) => name === text)

export interface Lies {
  /** Claims of the ID token in place of the true ones; undefined leaves one out. */
  claims?: Record<string, unknown>
  /** Who signs the ID token, and how. */
  signature?: 'none' | 'hmac' | 'hmac by the public key' | 'stranger' | 'unknown key' | Algorithm
  userInfo?: Record<string, unknown>
  tokenStatus?: number
  tokenBody?: string
  tokenRedirect?: string
  noIdToken?: boolean
  /** The token endpoint takes the client's secret in the body only, whatever discovery says. */
  refusesBasic?: boolean
  /** The token endpoint never answers. */
  tokenHangs?: boolean
  /** How the addresses other than the token endpoint answer, by their path. */
  answers?: Record<string, { status?: number; value: unknown; headers?: Record<string, string> }>
  discovery?: Record<string, unknown>
  hangs?: boolean
}

interface Issued {
  claims: Record<string, unknown>
  challenge: string
  nonce: string
  lies: Lies
}

const body = async (request: IncomingMessage) => {
  let text = ''
  for await (const piece of request) text += piece
  return text
}

export class TestProvider {
  readonly clientId = 'forecourt'
  readonly clientSecret = 'a secret of the client, which nobody guesses'
  issuer = ''
  /** The paths that were asked for. */
  asked: string[] = []
  /** How the client said who it is at the token endpoint, newest last. */
  tokenRequests: { authorization: string | undefined; form: URLSearchParams }[] = []
  lies: Lies = {}
  /** How long each answer takes. */
  slowMs = 0
  /** The paths that are never answered. */
  hanging: readonly string[] = []
  private readonly issued = new Map<string, Issued>()
  private readonly userInfos = new Map<string, Record<string, unknown>>()
  private server: Server | undefined
  private keys: { id: string; pair: KeyPair; algorithm: Algorithm }[] = []

  async start(): Promise<void> {
    await this.rotate()
    this.server = createServer((request, response) => {
      const path = (request.url ?? '').split('?')[0] ?? ''
      this.asked.push(path)
      if (this.lies.hangs || this.hanging.includes(path)) return
      sleep(this.slowMs)
        .then(() => this.answer(path, request))
        .then(
          ({ status = 200, value, headers = {} }) => {
            response.writeHead(status, { 'content-type': 'application/json', ...headers })
            response.end(typeof value === 'string' ? value : JSON.stringify(value))
          },
          (error: Error) => {
            response.writeHead(500)
            response.end(error.message)
          },
        )
    })
    await new Promise<void>((resolve) => this.server?.listen(0, '127.0.0.1', resolve))
    this.issuer = `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`
  }

  stop(): void {
    this.server?.closeAllConnections()
    this.server?.close()
  }

  /** New keys in place of the others, one of each algorithm. */
  async rotate(): Promise<void> {
    this.keys = await Promise.all(
      algorithms.map(async (algorithm) => ({
        id: randomBytes(4).toString('hex'),
        pair: await generateKeyPair(algorithm, { extractable: true }),
        algorithm,
      })),
    )
  }

  /** Lets a person in: the code that the browser brings to the callback. */
  issue(authorizationUrl: string, claims: Record<string, unknown>, lies: Lies = {}): { code: string; state: string } {
    const query = new URL(authorizationUrl).searchParams
    const code = randomBytes(16).toString('hex')
    this.issued.set(code, {
      claims,
      lies,
      challenge: query.get('code_challenge') ?? '',
      nonce: query.get('nonce') ?? '',
    })
    return { code, state: query.get('state') ?? '' }
  }

  async sign(claims: JWTPayload, how: Lies['signature'] = undefined, type = 'JWT'): Promise<string> {
    const [key] = this.keys
    if (key === undefined) throw new Error('no key')
    const token = new SignJWT(claims)
    if (how === 'none') {
      const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
      return `${part({ alg: 'none', typ: type })}.${part(claims)}.`
    }
    if (how === 'hmac')
      return token.setProtectedHeader({ alg: 'HS256', typ: type }).sign(Buffer.from(this.clientSecret))
    if (how === 'hmac by the public key') {
      const shown = Buffer.from(JSON.stringify(await exportJWK(key.pair.publicKey)))
      return token.setProtectedHeader({ alg: 'HS256', kid: key.id, typ: type }).sign(shown)
    }
    const own = this.keys.find(({ algorithm }) => algorithm === how) ?? key
    const isOwn = how === undefined || isAlgorithm(how)
    const pair = isOwn ? own.pair : await generateKeyPair(own.algorithm)
    const kid = how === 'unknown key' ? 'nobody’s' : own.id
    return token.setProtectedHeader({ alg: own.algorithm, kid, typ: type }).sign(pair.privateKey)
  }

  private async answer(
    path: string,
    request: IncomingMessage,
  ): Promise<{ status?: number; value: unknown; headers?: Record<string, string> }> {
    const { issuer } = this
    const lie = this.lies.answers?.[path]
    if (lie !== undefined) return lie
    switch (path) {
      case '/.well-known/openid-configuration':
        return {
          value: {
            issuer,
            authorization_endpoint: `${issuer}/authorize`,
            token_endpoint: `${issuer}/token`,
            jwks_uri: `${issuer}/keys`,
            userinfo_endpoint: `${issuer}/userinfo`,
            end_session_endpoint: `${issuer}/end`,
            response_types_supported: ['code'],
            subject_types_supported: ['public'],
            id_token_signing_alg_values_supported: ['RS256', 'HS256', 'none'],
            ...this.lies.discovery,
          },
        }
      case '/keys': {
        const keys = await Promise.all(
          this.keys.map(async ({ id, pair, algorithm: alg }) => ({
            ...(await exportJWK(pair.publicKey)),
            ...{ kid: id, use: 'sig', alg },
          })),
        )
        return { value: { keys } }
      }
      case '/token':
        return this.exchange(request.headers.authorization, new URLSearchParams(await body(request)))
      case '/userinfo': {
        const info = this.userInfos.get(request.headers.authorization?.slice(7) ?? '')
        return info === undefined ? { status: 401, value: {} } : { value: info }
      }
      default:
        return { status: 404, value: {} }
    }
  }

  private async exchange(authorization: string | undefined, form: URLSearchParams) {
    this.tokenRequests.push({ authorization, form })
    if (this.lies.refusesBasic && authorization !== undefined)
      return { status: 401, value: { error: 'invalid_client' } }
    const code = form.get('code') ?? ''
    const issued = this.issued.get(code)
    this.issued.delete(code)
    const proven = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url')
    if (issued === undefined || issued.challenge !== proven) return { status: 400, value: { error: 'invalid_grant' } }
    const { lies, nonce } = issued
    if (lies.tokenHangs) return new Promise<never>(() => {})
    if (lies.tokenRedirect) return { status: 302, value: {}, headers: { location: lies.tokenRedirect } }
    if (lies.tokenStatus) return { status: lies.tokenStatus, value: lies.tokenBody ?? { error: 'invalid_grant' } }
    if (lies.tokenBody) return { value: lies.tokenBody }
    const now = Math.floor(Date.now() / 1000)
    const { userInfo, ...own } = issued.claims as Record<string, unknown> & { userInfo?: Record<string, unknown> }
    const claims = { iss: this.issuer, aud: this.clientId, iat: now, exp: now + 300, auth_time: now, nonce, ...own }
    const access_token = randomBytes(16).toString('hex')
    this.userInfos.set(access_token, { sub: own.sub, ...userInfo, ...lies.userInfo })
    const id_token = lies.noIdToken ? undefined : await this.sign({ ...claims, ...lies.claims }, lies.signature)
    return { value: { access_token, token_type: 'Bearer', expires_in: 300, id_token } }
  }
}
