import { hash, randomBytes, timingSafeEqual } from 'node:crypto'
import { invalidRequest, Refusal } from '../refusals.ts'
import { given } from '../values.ts'
import type { HttpRequest } from './message.ts'
import type { Role } from './operation.ts'

/** An application, by its access token. */
export interface ApplicationCaller {
  kind: 'application'
  appId: string
  /** Of the token that it came with: what waits looks again whether it still has power. */
  tokenHash: string
  rateLimitPerSecond: number | null
}

/** A person or program that runs the platform, or a developer of some of its applications. */
export interface OperatorCaller {
  kind: 'operator'
  /** Whether it is a person's account or a key. */
  source: 'operator' | 'operatorKey'
  name: string
  role: Role
  /** Null for a key. */
  operatorId: number | null
  /** Null for an account, and for the key that the service was started with. */
  operatorKeyId: number | null
  /** Null for a bearer token. */
  sessionId: number | null
  /** Those that a developer is a member of; null for everyone else, who may act for every application. */
  applications: ReadonlySet<string> | null
}

export type Caller = ApplicationCaller | OperatorCaller

/** Answers the caller behind a token, or undefined for a token that is not valid. Throws 10005. */
type TokenCheck = (tokenHash: string) => ApplicationCaller | undefined | Promise<ApplicationCaller | undefined>

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

/**
 * The cookies of our own pages: the session, and what marks a browser that somebody has signed in from. No script can
 * read them, and no other site can send them. Behind https their names begin with `__Host-`: browsers then refuse to
 * take them from a neighbour's host or from http, so nobody can put a session of theirs in the place of another's.
 */
export const cookieNames = { session: 'forecourt_session', browser: 'forecourt_browser' } as const
type OwnCookie = keyof typeof cookieNames
type Head = Pick<HttpRequest, 'header'>

/** Whether the page came by https, as the proxy says it, or the browser. */
export function isBehindHttps(request: Head): boolean {
  return request.header('x-forwarded-proto') === 'https' || request.header('origin')?.startsWith('https://') === true
}

export function ownCookieName(request: Head, which: OwnCookie): string {
  return isBehindHttps(request) ? `__Host-${cookieNames[which]}` : cookieNames[which]
}

const cookieValue = (name: string) => new RegExp(`(?:^|;\\s*)${name}=([A-Za-z0-9_-]{43})(?:;|$)`)
const cookieShapes = {
  session: { host: cookieValue('__Host-forecourt_session'), plain: cookieValue('forecourt_session') },
  browser: { host: cookieValue('__Host-forecourt_browser'), plain: cookieValue('forecourt_browser') },
}

/** What a cookie of ours holds. Where there is one that only our own host can have set, the plain one is not looked at. */
export function ownCookie(request: Head, which: OwnCookie): string | undefined {
  const cookies = request.header('cookie')
  if (cookies === null) return undefined
  const { host, plain } = cookieShapes[which]
  const value = host.exec(cookies)?.[1]
  return value !== undefined || isBehindHttps(request) ? value : plain.exec(cookies)?.[1]
}

const keyPrefix = 'fok_'

/** A new operator key: its prefix tells it from an access token, and secret scanners from any other text. */
export function newOperatorKey(): string {
  return keyPrefix + newSecret()
}

export interface CallerChecks {
  /** The key that the service was started with. */
  settingKey: string | undefined
  checkToken: TokenCheck
  /** Answer the operator behind a key or a session, or undefined for one that is not valid. */
  checkKey(keyHash: string): Promise<OperatorCaller | undefined>
  checkSession(tokenHash: string): Promise<OperatorCaller | undefined>
}

/** Makes the function that turns a request's head into a typed caller. It throws 10002 and 10005. */
export function authenticator({ settingKey, checkToken, checkKey, checkSession }: CallerChecks) {
  const settingHash = Buffer.from(hashSecret(settingKey ?? ''))
  const settingCaller: OperatorCaller = {
    kind: 'operator',
    source: 'operator',
    name: 'operator',
    role: 'admin',
    operatorId: null,
    operatorKeyId: null,
    sessionId: null,
    applications: null,
  }

  function ofToken(token: string): Caller | Promise<Caller> {
    const tokenHash = hashSecret(token)
    // Only a token as long as the key can be the key; the length is no secret.
    if (token.length === settingKey?.length && timingSafeEqual(Buffer.from(tokenHash), settingHash)) {
      return settingCaller
    }
    if (token.startsWith(keyPrefix) && tokenShape.test(token.slice(keyPrefix.length))) {
      return checkKey(tokenHash).then(orRefuse)
    }
    if (!tokenShape.test(token)) throw tokenInvalid('invalid_token')
    const caller = checkToken(tokenHash)
    return caller instanceof Promise ? caller.then(orRefuse) : orRefuse(caller)
  }

  return (request: Pick<HttpRequest, 'method' | 'header'>): Caller | Promise<Caller> => {
    const authorization = request.header('authorization')
    if (authorization === null) {
      const session = ownSession(request)
      if (session === undefined) throw tokenInvalid()
      return checkSession(hashSecret(session)).then(orRefuse)
    }
    // RFC 7235: the scheme's name is case-insensitive. The document asks for one space.
    if (authorization.length < 8 || authorization.slice(0, 7).toLowerCase() !== 'bearer ') throw tokenInvalid()
    return ofToken(authorization.slice(7))
  }
}

/** The session that a request of our own pages carries. What another site's page sends is no session of its reader's. */
function ownSession(request: Pick<HttpRequest, 'method' | 'header'>): string | undefined {
  const { method } = request
  const header = (name: string) => request.header(name)
  const session = ownCookie(request, 'session')
  if (session === undefined || method === 'GET' || method === 'HEAD') return session
  const site = header('sec-fetch-site')
  if (site !== null) return site === 'same-origin' ? session : undefined
  const origin = header('origin')
  return origin === null || URL.parse(origin)?.host === header('host') ? session : undefined
}

function orRefuse<Known extends Caller>(caller: Known | undefined): Known {
  if (caller === undefined) throw tokenInvalid('invalid_token')
  return caller
}

/** RFC 6750 §3.1: a request without a token is told no error, one with a wrong token is. */
export function tokenInvalid(error?: 'invalid_token'): Refusal {
  const challenge = error === undefined ? 'Bearer realm="forecourt"' : `Bearer realm="forecourt", error="${error}"`
  return new Refusal('tokenInvalid', { headers: { 'www-authenticate': challenge } })
}

/** Refuses with 10003 unless the caller may act for the application. Answers who acts, for the event log. */
export function requireActingFor(caller: Caller, appId: string): string {
  if (!mayActFor(caller, appId)) throw new Refusal('notPermitted')
  return actorOf(caller)
}

function mayActFor(caller: Caller, appId: string): boolean {
  if (caller.kind === 'application') return caller.appId === appId
  return caller.applications === null || caller.applications.has(appId)
}

/** The applications that a caller may see; null for all of them. */
export function visibleApplications(caller: Caller): readonly string[] | null {
  if (caller.kind === 'application') return [caller.appId]
  return caller.applications && [...caller.applications]
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

/** Who acts, as the event log keeps it: an account's or a key's id stands behind its name (`readActor`). */
export function actorOf(caller: Caller): string {
  if (caller.kind === 'application') return `application:${caller.appId}`
  const id = caller.operatorId ?? caller.operatorKeyId
  return `${caller.source}:${caller.name}${id === null ? '' : `#${id}`}`
}
