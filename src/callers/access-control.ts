import { timingSafeEqual } from 'node:crypto'
import { Refusal, tokenInvalid } from '../vocabulary/refusals.ts'
import { type Admission, rolesOf } from '../vocabulary/roles.ts'
import type { CallerCache } from './cache.ts'
import { actorOf, type Caller, type OperatorCaller } from './caller.ts'
import { ownSession, type RequestHead } from './cookies.ts'
import { type Credential, hashSecret, kindOfToken } from './credentials.ts'
import type { RateLimiter } from './rate-limit.ts'

/** The caller that the key of the settings makes. */
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

/** Operations that ask for no token get this caller; their handlers don't look at it. */
const nobody: Caller = { kind: 'application', appId: '', tokenHash: '', rateLimitPerSecond: null }

/** Finds a request's caller and its permissions; a caller in memory is returned without a promise to wait for. */
export class AccessControl {
  private readonly cache: CallerCache
  private readonly rateLimiter: RateLimiter
  private readonly settingKeyLength: number | undefined
  private readonly settingKeyHash: Buffer

  /** `settingKey`: the operator key that the service was started with. */
  constructor(cache: CallerCache, rateLimiter: RateLimiter, settingKey: string | undefined) {
    this.cache = cache
    this.rateLimiter = rateLimiter
    this.settingKeyLength = settingKey?.length
    this.settingKeyHash = Buffer.from(hashSecret(settingKey ?? ''))
  }

  /** The caller of an operation, counted against its rate. Throws 10002, 10003, 10005 and 10007. */
  admit(operation: Admission, request: RequestHead): Caller | Promise<Caller> {
    if (operation.callers.length === 0) return nobody
    const caller = this.authenticate(request)
    return caller instanceof Promise
      ? caller.then((known) => this.counted(operation, known))
      : this.counted(operation, caller)
  }

  private counted(operation: Admission, caller: Caller): Caller | Promise<Caller> {
    const taken =
      caller.kind === 'application' ? this.rateLimiter.take(caller.appId, caller.rateLimitPerSecond) : undefined
    return taken === undefined ? permitted(operation, caller) : taken.then(() => permitted(operation, caller))
  }

  /** The caller behind a request's head. Throws 10002 and 10005. */
  authenticate(request: RequestHead): Caller | Promise<Caller> {
    const authorization = request.header('authorization')
    if (authorization === null) {
      const session = ownSession(request)
      if (session === undefined) throw tokenInvalid()
      return this.known({ kind: 'session', hash: hashSecret(session) })
    }
    // RFC 7235: the scheme's name is case-insensitive. The document asks for one space.
    if (authorization.length < 8 || authorization.slice(0, 7).toLowerCase() !== 'bearer ') throw tokenInvalid()
    const token = authorization.slice(7)
    const hash = hashSecret(token)
    // Only a token of the same length can be the key; the length is no secret.
    if (token.length === this.settingKeyLength && timingSafeEqual(Buffer.from(hash), this.settingKeyHash)) {
      return settingCaller
    }
    const kind = kindOfToken(token)
    if (kind === undefined) throw tokenInvalid('invalid_token')
    return this.known({ kind, hash })
  }

  private known(credential: Credential): Caller | Promise<Caller> {
    const caller = this.cache.check(credential)
    return caller instanceof Promise ? caller.then(orRefuse) : orRefuse(caller)
  }
}

function orRefuse(caller: Caller | undefined): Caller {
  if (caller === undefined) throw tokenInvalid('invalid_token')
  return caller
}

/** The caller, when it may call the operation. Throws 10003. */
export function permitted(operation: Admission, caller: Caller): Caller {
  if (mayCall(operation, caller)) return caller
  const actor = actorOf(caller)
  throw new Refusal('notPermitted', caller.kind === 'application' ? { actor, appId: caller.appId } : { actor })
}

function mayCall(operation: Admission, caller: Caller): boolean {
  return caller.kind === 'application'
    ? operation.callers.includes('application')
    : rolesOf(operation).includes(caller.role)
}
