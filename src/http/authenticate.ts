import { hash, randomBytes, timingSafeEqual } from 'node:crypto'
import { invalidRequest, Refusal } from '../refusals.ts'
import { given } from '../values.ts'

/** An application, by its access token. */
export interface ApplicationCaller {
  kind: 'application'
  appId: string
  rateLimitPerSecond: number | null
}

/** A person or program that runs the platform. */
interface OperatorCaller {
  kind: 'operator'
  name: string
}

export type Caller = ApplicationCaller | OperatorCaller

/** Answers the caller behind a token, or undefined for a token that is not valid. Throws 10005. */
export type TokenCheck = (tokenHash: string) => ApplicationCaller | undefined | Promise<ApplicationCaller | undefined>

/** 256 bits in base64url. Anything else cannot be one of our tokens and costs no look-up. */
const tokenShape = /^[A-Za-z0-9_-]{43}$/

/** A new token or secret: 256 random bits in base64url. */
export function newSecret(): string {
  return randomBytes(32).toString('base64url')
}

/** Tokens and secrets are 256 random bits, so one SHA-256 is enough (no slow hash); this is what is kept of them. */
export function hashSecret(secret: string): string {
  return hash('sha256', secret, 'base64')
}

/** Makes the function that turns an `Authorization` header into a typed caller. It throws 10002 and 10005. */
export function authenticator(operatorKey: string | undefined, checkToken: TokenCheck) {
  const operatorHash = Buffer.from(hashSecret(operatorKey ?? ''))
  const operator: OperatorCaller = { kind: 'operator', name: 'operator' }

  return (authorization: string | null): Caller | Promise<Caller> => {
    if (authorization === null) throw tokenInvalid()
    // RFC 7235: the scheme's name is case-insensitive. The document asks for one space.
    if (authorization.length < 8 || authorization.slice(0, 7).toLowerCase() !== 'bearer ') throw tokenInvalid()
    const token = authorization.slice(7)
    const tokenHash = hashSecret(token)
    // Only a token as long as the key can be the key; the length is no secret.
    if (token.length === operatorKey?.length && timingSafeEqual(Buffer.from(tokenHash), operatorHash)) return operator
    if (!tokenShape.test(token)) throw tokenInvalid('invalid_token')
    const caller = checkToken(tokenHash)
    if (caller instanceof Promise) return caller.then(orRefuse)
    return orRefuse(caller)
  }
}

function orRefuse(caller: ApplicationCaller | undefined): ApplicationCaller {
  if (caller === undefined) throw tokenInvalid('invalid_token')
  return caller
}

/** RFC 6750 §3.1: a request without a token is told no error, one with a wrong token is. */
function tokenInvalid(error?: 'invalid_token'): Refusal {
  const challenge = error === undefined ? 'Bearer realm="forecourt"' : `Bearer realm="forecourt", error="${error}"`
  return new Refusal('tokenInvalid', { headers: { 'www-authenticate': challenge } })
}

/** Refuses with 10003 unless the caller may act for the application. Answers who acts, for the event log. */
export function requireActingFor(caller: Caller, appId: string): string {
  if (caller.kind === 'application' && caller.appId !== appId) throw new Refusal('notPermitted')
  return actorOf(caller)
}

/**
 * The application that a request is about: the one that it names, else the caller's own. Throws 10003 when the caller
 * may not act for it, and 10001 for an operator who names none.
 */
export function applicationOf(caller: Caller, named: string | null | undefined): string {
  const appId = given(named)
  if (appId !== null) {
    requireActingFor(caller, appId)
    return appId
  }
  if (caller.kind === 'application') return caller.appId
  throw invalidRequest([{ field: 'appId', reason: { en: 'is required of an operator', zh: '运营方必须指定应用' } }])
}

/** The caller's name in the event log. */
export function actorOf(caller: Caller): string {
  return caller.kind === 'application' ? `application:${caller.appId}` : `operator:${caller.name}`
}
