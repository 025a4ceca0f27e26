import type { Statements } from '../database/open.ts'
import type { FactorLack, Role } from '../vocabulary/roles.ts'

/** An application, by its access token. */
export interface ApplicationCaller {
  kind: 'application'
  appId: string
  /** The hash of the request's token: waiting work uses it to check the access again. */
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
  /** The applications of which a developer is a member; null for all others, who may act for every application. */
  applications: ReadonlySet<string> | null
  /** What a session lacks of its second factor; null when it lacks nothing, and for a bearer token. */
  lacks: FactorLack | null
  /** Until when the session's last proof counts, by this process's monotonic clock; null for a bearer token. */
  provenUntil: number | null
  /**
   * Of the request of a change: the caller with its present rights. A change asks once it has its locks, for which it may
   * have waited. Throws 10002, 10003 and 10034.
   */
  requireStanding?: (tx: Statements) => Promise<OperatorCaller>
}

/** The caller of a request. */
export type Caller = ApplicationCaller | OperatorCaller

/** The actor in the event log: an account or key with its id after its name (`readActor`). */
export function actorOf(caller: Caller): string {
  if (caller.kind === 'application') return `application:${caller.appId}`
  const id = caller.operatorId ?? caller.operatorKeyId
  return `${caller.source}:${caller.name}${id === null ? '' : `#${id}`}`
}

/**
 * The owner of an operator's idempotency keys, for writes about no application. It contains a space, so it cannot equal
 * an `appId`.
 */
export function keyOwnerOf(caller: Caller): string {
  if (caller.kind === 'application') return caller.appId
  return `operator ${caller.operatorId ?? caller.operatorKeyId ?? ''}`
}
