import { timingSafeEqual } from 'node:crypto'
import type { Statements } from '../database/open.ts'
import { Refusal, tokenInvalid } from '../vocabulary/refusals.ts'
import { type Admission, isOpenWithout, rolesOf } from '../vocabulary/roles.ts'
import type { CallerCache } from './cache.ts'
import { actorOf, type Caller, type OperatorCaller } from './caller.ts'
import type { Cookies, RequestHead } from './cookies.ts'
import { type Credential, hashSecret, kindOfToken } from './credentials.ts'
import type { RateLimiter } from './rate-limit.ts'
import { findStanding, type SessionRules } from './store.ts'

const settingCaller: OperatorCaller = {
  kind: 'operator',
  source: 'operator',
  name: 'operator',
  role: 'admin',
  operatorId: null,
  operatorKeyId: null,
  sessionId: null,
  applications: null,
  lacks: null,
  provenUntil: null,
}

/** Operations without a token don't look at their caller. */
const nobody: Caller = {
  kind: 'application',
  appId: '',
  tokenHash: '',
  rateLimitPerSecond: null,
  actor: 'application:',
}

/** Finds a caller and its permissions, without a promise if it is in memory. */
export class AccessControl {
  private readonly cache: CallerCache
  private readonly rateLimiter: RateLimiter
  private readonly cookies: Cookies
  private readonly rules: SessionRules
  private readonly settingKeyLength: number | undefined
  private readonly settingKeyHash: Buffer

  constructor(
    cache: CallerCache,
    rateLimiter: RateLimiter,
    cookies: Cookies,
    rules: SessionRules,
    settingKey: string | undefined,
  ) {
    this.cache = cache
    this.rateLimiter = rateLimiter
    this.cookies = cookies
    this.rules = rules
    this.settingKeyLength = settingKey?.length
    this.settingKeyHash = Buffer.from(hashSecret(settingKey ?? ''))
  }

  /** Returns the caller and counts the request against its rate. Throws 10002, 10003, 10005, 10007, 10034 and 10035. */
  admit(operation: Admission, request: RequestHead): Caller | Promise<Caller> {
    if (operation.callers.length === 0) return nobody
    const caller = this.authenticate(request)
    return caller instanceof Promise
      ? caller.then((known) => this.counted(operation, known, request))
      : this.counted(operation, caller, request)
  }

  private counted(operation: Admission, caller: Caller, request: RequestHead): Caller | Promise<Caller> {
    if (caller.kind === 'operator') return this.standing(operation, this.proven(operation, caller, request))
    const taken = this.rateLimiter.take(caller.appId, caller.rateLimitPerSecond)
    return taken === undefined ? permitted(operation, caller) : taken.then(() => permitted(operation, caller))
  }

  /** Lets a change check again whether its caller may still make it. */
  private standing(operation: Admission, admitted: Caller | Promise<Caller>): Caller | Promise<Caller> {
    if (operation.method === 'GET') return admitted
    const { rules } = this
    const lasting = (caller: Caller): Caller =>
      caller.kind === 'application'
        ? caller
        : { ...caller, requireStanding: (tx) => requireStanding(tx, operation, caller, rules) }
    return admitted instanceof Promise ? admitted.then(lasting) : lasting(admitted)
  }

  /** Looks up a session again if it lacks something that another process may just have received. */
  private proven(operation: Admission, caller: OperatorCaller, request: RequestHead): Caller | Promise<Caller> {
    const session = this.cookies.session(request)
    if (session === undefined || whatIsMissing(operation, caller) === undefined) return permitted(operation, caller)
    return this.cache
      .checkAnew({ kind: 'session', hash: hashSecret(session) })
      .then((now) => permitted(operation, orRefuse(now)))
  }

  /** Returns the caller; `isAnew` makes a new look-up. Throws 10002 and 10005. */
  authenticate(request: RequestHead, isAnew = false): Caller | Promise<Caller> {
    const authorization = request.header('authorization')
    if (authorization === null) {
      const session = this.cookies.session(request)
      if (session === undefined) throw tokenInvalid()
      return this.known({ kind: 'session', hash: hashSecret(session) }, isAnew)
    }
    // The scheme is case-insensitive (RFC 7235). The customer's document asks for exactly one space.
    if (authorization.length < 8 || authorization.slice(0, 7).toLowerCase() !== 'bearer ') throw tokenInvalid()
    const token = authorization.slice(7)
    const hash = hashSecret(token)
    // Only a token of the key's length can be the key; the length is no secret.
    if (token.length === this.settingKeyLength && timingSafeEqual(Buffer.from(hash), this.settingKeyHash)) {
      return settingCaller
    }
    const kind = kindOfToken(token)
    if (kind === undefined) throw tokenInvalid('invalid_token')
    return this.known({ kind, hash }, isAnew)
  }

  private known(credential: Credential, isAnew: boolean): Caller | Promise<Caller> {
    const caller = isAnew ? this.cache.checkAnew(credential) : this.cache.check(credential)
    return caller instanceof Promise ? caller.then(orRefuse) : orRefuse(caller)
  }
}

function orRefuse(caller: Caller | undefined): Caller {
  if (caller === undefined) throw tokenInvalid('invalid_token')
  return caller
}

/** Returns the caller if it may call the operation. Throws 10003, 10034 and 10035. */
export function permitted(operation: Admission, caller: Caller): Caller {
  const missing = caller.kind === 'operator' ? whatIsMissing(operation, caller) : undefined
  if (missing === 'secondFactorSetUpRequired') throw new Refusal(missing, { actor: actorOf(caller) })
  if (!mayCall(operation, caller)) {
    const actor = actorOf(caller)
    throw new Refusal('notPermitted', caller.kind === 'application' ? { actor, appId: caller.appId } : { actor })
  }
  if (missing !== undefined) throw new Refusal(missing, { actor: actorOf(caller) })
  return caller
}

/**
 * Returns the operator with its current rights, once a change has the locks it waited for. `holds` also locks the
 * session's row; the caller must have locked the account first. Throws 10002, 10003 and 10034.
 */
export async function requireStanding(
  tx: Statements,
  operation: Admission,
  caller: Caller,
  rules: SessionRules,
  { holds = false } = {},
): Promise<OperatorCaller> {
  if (caller.kind === 'application') throw new Refusal('notPermitted')
  const { asksProof: _, ...admission } = operation
  const now = await findStanding(tx, caller, rules, holds)
  permitted(admission, orRefuse(now))
  return now as OperatorCaller
}

/** Throws 10035 if a session's identity confirmation is too old. Programs, which hold only a token, confirm nothing. */
export function requireProof(caller: Caller): void {
  if (isProofOld(caller)) throw new Refusal('confirmationRequired', { actor: actorOf(caller) })
}

function isProofOld(caller: Caller): boolean {
  return caller.kind === 'operator' && caller.provenUntil !== null && caller.provenUntil <= performance.now()
}

/** Returns what a session must confirm before the operation. */
function whatIsMissing(
  operation: Admission,
  caller: OperatorCaller,
): 'secondFactorSetUpRequired' | 'confirmationRequired' | undefined {
  if (caller.lacks !== null && !isOpenWithout(caller.lacks, operation)) return 'secondFactorSetUpRequired'
  return operation.asksProof && isProofOld(caller) ? 'confirmationRequired' : undefined
}

function mayCall(operation: Admission, caller: Caller): boolean {
  return caller.kind === 'application'
    ? operation.callers.includes('application')
    : rolesOf(operation).includes(caller.role)
}
