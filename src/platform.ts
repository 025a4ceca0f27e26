import type { Logger } from 'pino'
import type { Config } from './config.ts'
import type { Sql } from './database/open.ts'
import type { CallbackClient } from './deliveries/client.ts'
import type { Share } from './deliveries/share.ts'
import type { Catalogue } from './device-models/catalogue.ts'
import type { RateLimiter, UnderWay } from './http/limits.ts'
import type { Metrics } from './http/metrics.ts'
import type { Peers } from './process/peers.ts'
import type { SecretBox } from './secrets/box.ts'
import type { OperatorAccess } from './sessions/access.ts'
import type { AccessCache } from './tokens/access-cache.ts'

/** What the operations work with; made once by `app.ts`. */
export interface Platform {
  config: Config
  log: Logger
  /** The other processes of this service on this machine. */
  peers: Peers
  metrics: Metrics
  rateLimiter: RateLimiter
  underWay: UnderWay
  /** The pool for what the feature changes; what it reads comes with the request. */
  sql: Sql
  /** The connections of the lanes of creates. */
  writer: Sql
  /** The connections of the lane of state reports, which creates never wait behind. */
  stateWriter: Sql
  /** The connection of the lane of tokens. */
  tokenWriter: Sql
  access: AccessCache
  operatorAccess: OperatorAccess
  catalogue: Catalogue
  callbacks: CallbackClient
  /** For callback secrets, which the database holds sealed. */
  secrets: SecretBox
  /** Callbacks' part of the processor beside creates. */
  callbackShare: Share
  /** Shows an instant in the service's time zone. */
  showMoment(instant: Date): string
  /** Reads a moment of the service's time zone; one that the clocks repeat is its first occurrence, or its last. */
  readMoment(text: string, occurrence?: 'first' | 'last'): Date
}

/** How a write path's lane is set up. */
export function laneOptions({ config, metrics, callbackShare }: Platform, lane: string) {
  return {
    maxBatch: 512,
    maxWaiting: config.maxWaitingCreates,
    // Shorter than a request is waited for: what is refused for its waiting is never written afterwards.
    maxWaitMs: config.statementTimeoutMs * 0.8,
    onBatch(size: number) {
      metrics.observeBatch(lane, size)
      callbackShare.onBatch(size)
    },
  }
}

/** Shows operators how many creates wait in a lane. */
export function showQueue({ metrics }: Platform, lane: string, queue: { queueLength: number }): void {
  const help = `Creates that wait for a batch in the lane ${lane}.`
  metrics.gauge(`forecourt_queue_length_${lane}`, help, () => queue.queueLength)
}
