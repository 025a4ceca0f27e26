import { timingSafeEqual } from 'node:crypto'
import { hashSecret, newSecret } from '../../callers/credentials.ts'
import type { Context } from '../../context.ts'
import type { Pending } from '../../database/pending.ts'
import { Reply } from '../../http/answer.ts'
import { type Handler, handle } from '../../http/handler.ts'
import { invalidField, invalidRequest, type Reason, Refusal, refusals } from '../../vocabulary/refusals.ts'
import { given } from '../../vocabulary/values.ts'
import { getAuthorizationServer, issueToken, revokeToken } from './contract.ts'
import { issueTokens, type TokenOutcome, type TokenRequest } from './routine.ts'
import { deleteToken, findClient } from './store.ts'

const noStore = { 'content-type': 'application/json', 'cache-control': 'no-store', pragma: 'no-cache' }

export function tokenRoutes({ sql, pools, openLane, callers, rateLimiter, config }: Context): Handler[] {
  const lane = openLane<TokenRequest & { pending: Pending }, TokenOutcome>('tokens', {
    ownerOf: ({ appId }) => appId,
    claims: () => [],
    write: (requests) => issueTokens(pools.tokens, requests),
  })

  /** Reads the client from HTTP Basic or the body, not both (RFC 6749 §2.3.1). Throws 10001, 10007 and 10030. */
  async function requireClient(authorization: string | null, body: Record<string, unknown>) {
    const { id, secret } =
      authorization === null
        ? { id: body.client_id as string, secret: body.client_secret as string }
        : basicCredentials(authorization, body)
    const client = storable(id) ? await findClient(sql, id) : undefined
    const secretHash = hashSecret(secret)
    const current = client?.secretHash ?? hashSecret('')
    // Always two comparisons, so that the time reveals neither which secret matches nor whether a previous one exists.
    const isCurrent = timingSafeEqual(Buffer.from(secretHash), Buffer.from(current))
    const isPrevious = timingSafeEqual(Buffer.from(secretHash), Buffer.from(client?.previousSecretHash ?? current))
    if (!(isCurrent || isPrevious) || client === undefined) {
      throw clientInvalid(authorization !== null, client?.appId)
    }
    await rateLimiter.take(client.appId, client.rateLimitPerSecond)
    return { appId: client.appId, isFrozen: client.isFrozen, secretHash }
  }

  return [
    handle(
      issueToken,
      async ({ body, header, pending }) => {
        const authorization = authorizationOf(header('authorization'), body)
        requireTexts(body, authorization, 'grant_type')
        const { appId, isFrozen, secretHash } = await requireClient(authorization, body)
        if (body.grant_type !== 'client_credentials') throw unsupportedGrantType()
        if (isFrozen) throw new Refusal('applicationFrozen')
        const token = newSecret()
        const issued = await lane.submit({ appId, secretHash, tokenHash: hashSecret(token), pending })
        if ('refusal' in issued) {
          throw issued.refusal === 'clientInvalid'
            ? clientInvalid(authorization !== null, appId)
            : new Refusal(issued.refusal)
        }
        const answer = {
          code: 0,
          msg: 'success',
          data: { accessToken: token, tokenType: 'Bearer', expiresIn: issued.expiresInSeconds },
          access_token: token,
          token_type: 'Bearer',
          expires_in: issued.expiresInSeconds,
        }
        return new Reply({ status: 200, headers: { ...noStore }, body: JSON.stringify(answer) })
      },
      { refusalMembers: oauthError, ownerOf: clientOf },
    ),

    handle(
      revokeToken,
      async ({ body, header }) => {
        const authorization = authorizationOf(header('authorization'), body)
        requireTexts(body, authorization, 'token')
        const client = await requireClient(authorization, body)
        await deleteToken(sql, client.appId, hashSecret(body.token as string))
        await callers.noteChange(client.appId)
        return {}
      },
      { refusalMembers: oauthError, ownerOf: clientOf },
    ),

    handle(getAuthorizationServer, async ({ header }) => {
      const issuer = config.publicUrl ?? originOf(header)
      const methods = ['client_secret_basic', 'client_secret_post']
      const metadata = {
        issuer,
        token_endpoint: issuer + issueToken.path,
        token_endpoint_auth_methods_supported: methods,
        revocation_endpoint: issuer + revokeToken.path,
        revocation_endpoint_auth_methods_supported: methods,
        grant_types_supported: ['client_credentials'],
        response_types_supported: [],
      }
      return new Reply({ status: 200, headers: { 'content-type': 'application/json' }, body: JSON.stringify(metadata) })
    }),
  ]
}

const hostAndPort = /^(\[[\da-f:.]+\]|[\w.-]+)(:\d+)?$/i

/** Returns the request's origin. Throws 10001 for an invalid `Host`. */
function originOf(header: (name: string) => string | null): string {
  const host = header('host') ?? ''
  const url = `${header('x-forwarded-proto') === 'https' ? 'https' : 'http'}://${host}`
  if (hostAndPort.test(host) && URL.canParse(url)) return new URL(url).origin
  throw invalidField('Host', 'is not a valid host name', '不是有效的主机名')
}

interface Credentials {
  id: string
  secret: string
}

/**
 * Ignores an empty header and, beside credentials in the body, one of another scheme: an interceptor may add an old
 * token, or none, to every request (document §5).
 */
function authorizationOf(sent: string | null, body: Record<string, unknown>): string | null {
  const authorization = sent?.trim() ?? ''
  if (authorization === '') return null
  if (/^basic(\s|$)/i.test(authorization)) return authorization
  return given(body.client_id) !== null && given(body.client_secret) !== null ? null : authorization
}

/** Returns the client's ID. The secret is not checked yet. */
function clientOf(body: unknown, header: (name: string) => string | null): string {
  const [, encoded] = basic.exec(header('authorization') ?? '') ?? []
  const id = encoded === undefined ? (body as { client_id?: unknown }).client_id : beforeColon(encoded)
  return typeof id === 'string' && storable(id) ? id : ''
}

const basic = /^basic +([A-Za-z0-9+/_-]+=*)$/i
const beforeColon = (encoded: string) => Buffer.from(encoded, 'base64').toString().split(':', 1)[0]

function basicCredentials(authorization: string, body: Record<string, unknown>): Credentials {
  const encoded = basic.exec(authorization)?.[1]
  if (encoded === undefined) throw clientInvalid(true)
  // RFC 6749 §3.2: a parameter without a value counts as omitted.
  if (given(body.client_secret) !== null) {
    throw invalidField('client_secret', 'must not be given together with HTTP Basic', '不得与 HTTP Basic 同时给出')
  }
  const pair = Buffer.from(encoded, 'base64').toString()
  const colon = pair.indexOf(':')
  if (colon === -1) throw clientInvalid(true)
  try {
    // RFC 6749 §2.3.1: both are form-encoded before they are joined.
    const decode = (text: string) => decodeURIComponent(text.replaceAll('+', ' '))
    return { id: decode(pair.slice(0, colon)), secret: decode(pair.slice(colon + 1)) }
  } catch {
    throw clientInvalid(true)
  }
}

const nonEmptyText: Reason = { en: 'must be a non-empty string', zh: '必须是非空字符串' }

/** Throws 10001 with every missing field. */
function requireTexts(body: Record<string, unknown>, authorization: string | null, member: string): void {
  const needed = authorization === null ? [member, 'client_id', 'client_secret'] : [member]
  const missing = needed.filter((name) => typeof body[name] !== 'string' || body[name] === '')
  if (missing.length > 0) throw invalidRequest(missing.map((field) => ({ field, reason: nonEmptyText })))
}

/** Tells whether the database accepts the text; it refuses NUL and lone surrogates. */
function storable(text: string): boolean {
  return /^[\x21-\x7e]{1,64}$/.test(text)
}

/** An `appId` names an existing application; unknown IDs are not logged. */
function clientInvalid(byBasic: boolean, appId?: string): Refusal {
  const headers: Record<string, string> = byBasic ? { 'www-authenticate': 'Basic realm="forecourt"' } : {}
  return new Refusal('clientInvalid', appId === undefined ? { headers } : { headers, actor: `application:${appId}` })
}

const otherGrantType: Reason = { en: 'must be client_credentials', zh: '必须是 client_credentials' }

function unsupportedGrantType(): Refusal {
  return invalidRequest([{ field: 'grant_type', reason: otherGrantType }])
}

/** Makes the error that standard OAuth clients read (RFC 6749 §5.2). */
function oauthError(refusal: Refusal): Record<string, unknown> {
  const faults = refusal.errors?.map(({ field, reason }) => `${field} ${reason.en}.`) ?? []
  const description = [refusals[refusal.refusal].en, ...faults].join(' ')
  // The standard allows only some ASCII characters here.
  return { error: errorOf(refusal), error_description: description.replace(/[^\x20-\x21\x23-\x5b\x5d-\x7e]/g, '?') }
}

function errorOf(refusal: Refusal): string {
  if (refusal.refusal === 'clientInvalid') return 'invalid_client'
  if (refusal.refusal === 'applicationFrozen') return 'unauthorized_client'
  if (refusal.refusal === 'unavailable' || refusal.refusal === 'tooManyRequests') return 'temporarily_unavailable'
  if (refusal.refusal !== 'invalidRequest') return 'server_error'
  const isOtherGrantType = refusal.errors?.some(({ reason }) => reason === otherGrantType)
  return isOtherGrantType ? 'unsupported_grant_type' : 'invalid_request'
}
