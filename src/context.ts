import type { Logger } from 'pino'
import type { CallerCache } from './callers/cache.ts'
import type { Cookies } from './callers/cookies.ts'
import type { RateLimiter } from './callers/rate-limit.ts'
import type { SessionRules } from './callers/store.ts'
import type { Config } from './config.ts'
import type { OpenLane } from './database/lanes.ts'
import type { Sql } from './database/open.ts'
import type { Pools } from './database/pools.ts'
import type { Metrics } from './runtime/metrics.ts'
import type { Peers } from './runtime/peer-processes.ts'
import type { SecretBox } from './secrets/box.ts'

/** What a process has for each of its features. A function that needs less takes `Pick<Context, …>`. */
export interface Context {
  /** The pool that the feature writes through, unless it has one of its own. Reads get a connection with the request. */
  sql: Sql
  pools: Pools
  /** Opens a lane with the process's limits and gauges. */
  openLane: OpenLane
  config: Config
  log: Logger
  metrics: Metrics
  secrets: SecretBox
  callers: CallerCache
  rateLimiter: RateLimiter
  rules: SessionRules
  cookies: Cookies
  /** The other workers of this machine. */
  peers: Peers
}
