import type { Logger } from 'pino'
import type { Config } from './config.ts'
import type { Sql } from './database/open.ts'
import type { Writer } from './database/writer.ts'
import type { Catalogue } from './device-models/catalogue.ts'
import type { Metrics } from './http/metrics.ts'
import type { AccessCache } from './tokens/access-cache.ts'

/** What the operations work with; made once by `app.ts`. */
export interface Platform {
  config: Config
  log: Logger
  metrics: Metrics
  sql: Sql
  /** The connections of the write path's lanes. */
  writer: Writer
  access: AccessCache
  catalogue: Catalogue
  /** Shows an instant in the service's time zone. */
  showMoment(instant: Date): string
}

/** How a write path's lane is set up, and the numbers that operators see of it. */
export function laneOptions(platform: Platform, lane: string, queueLength: () => number) {
  const { config, metrics } = platform
  metrics.gauge(`forecourt_queue_length_${lane}`, `Creates that wait for a batch in the lane ${lane}.`, queueLength)
  return {
    maxBatch: 512,
    maxWaiting: config.maxWaitingCreates,
    // Shorter than a request is waited for: what is refused for its waiting is never written afterwards.
    maxWaitMs: config.statementTimeoutMs * 0.8,
    onBatch: (size: number) => metrics.observeBatch(lane, size),
  }
}
