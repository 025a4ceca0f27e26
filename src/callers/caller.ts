import type { Statements } from '../database/open.ts'
import type { FactorLack, Role } from '../vocabulary/roles.ts'

export interface ApplicationCaller {
  kind: 'application'
  appId: string
  /** Waiting work uses the token's hash to check access again. */
  tokenHash: string
  rateLimitPerSecond: number | null
  /** Of the log, and the owner of its requests: made once, because each request asks for it several times. */
  actor: string
}

/** A person or program that runs the platform, or a developer. */
export interface OperatorCaller {
  kind: 'operator'
  /** It is a person's account or a key. */
  source: 'operator' | 'operatorKey'
  name: string
  role: Role
  /** It is null for a key. */
  operatorId: number | null
  /** It is null for an account and for the settings' key. */
  operatorKeyId: number | null
  /** It is null for a bearer token. */
  sessionId: number | null
  /** A developer's applications; null means all. */
  applications: ReadonlySet<string> | null
  /** Says what a session lacks of its second factor. */
  lacks: FactorLack | null
  /** Until when the identity confirmation counts, by the monotonic clock; null for a bearer token. */
  provenUntil: number | null
  /** Returns a changing caller's current rights, once it has its locks. Throws 10002, 10003 and 10034. */
  requireStanding?: (tx: Statements) => Promise<OperatorCaller>
}

export type Caller = ApplicationCaller | OperatorCaller

/** Returns the actor for the log: an account or key has its ID after its name (`readActor`). */
export function actorOf(caller: Caller): string {
  if (caller.kind === 'application') return caller.actor
  const id = caller.operatorId ?? caller.operatorKeyId
  return `${caller.source}:${caller.name}${id === null ? '' : `#${id}`}`
}

/** Returns the owner of keys for writes about no application. An operator's has a space, unlike an `appId`. */
export function keyOwnerOf(caller: Caller): string {
  if (caller.kind === 'application') return caller.appId
  return `operator ${caller.operatorId ?? caller.operatorKeyId ?? ''}`
}
