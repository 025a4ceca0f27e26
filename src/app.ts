import type { Logger } from 'pino'
import { applicationRoutes } from './applications/routes.ts'
import { billingRuleRoutes } from './billing-rules/routes.ts'
import type { Config } from './config.ts'
import { withConsole } from './console-pages.ts'
import { GuardedPool } from './database/guarded-pool.ts'
import { connectionStates, type Sql, type Target } from './database/open.ts'
import type { Routine } from './database/routine.ts'
import { Deadlines } from './deadlines.ts'
import { openCallbackClient } from './deliveries/client.ts'
import { showDeliveries } from './deliveries/figures.ts'
import { deliveryRoutes } from './deliveries/routes.ts'
import { CallbackWorker } from './deliveries/worker.ts'
import { deviceInventoryRoutes } from './device-inventory/routes.ts'
import { Catalogue } from './device-models/catalogue.ts'
import { deviceModelRoutes } from './device-models/routes.ts'
import { deviceOwnershipRoutes } from './device-ownership/routes.ts'
import { deviceSearchRoutes } from './device-search/routes.ts'
import { Searcher } from './device-search/searcher.ts'
import { startPresence } from './device-state/presence.ts'
import { deviceStateRoutes } from './device-state/routes.ts'
import { changeStatesRoutine } from './device-state/store.ts'
import { registerDevicesRoutine } from './devices/register.ts'
import { deviceRoutes } from './devices/routes.ts'
import { eventRoutes } from './events/routes.ts'
import { authenticator } from './http/authenticate.ts'
import { RateLimiter } from './http/limits.ts'
import type { HttpHandler } from './http/message.ts'
import { Metrics } from './http/metrics.ts'
import { type Handler, serve } from './http/serve.ts'
import { momentFormat, momentReader } from './moments.ts'
import { operations } from './operations.ts'
import { operatorRoutes } from './operators/routes.ts'
import { overviewRoutes } from './overview/routes.ts'
import { startTally } from './overview/tally.ts'
import type { Platform } from './platform.ts'
import { regionRoutes } from './regions/routes.ts'
import type { SecretBox } from './secrets/box.ts'
import { serviceRoutes } from './service/routes.ts'
import { OperatorAccess } from './sessions/access.ts'
import { sessionRoutes } from './sessions/routes.ts'
import { siteRoutes } from './sites/routes.ts'
import { saveSitesRoutine } from './sites/save.ts'
import { thirdPartyConfigRoutes } from './third-party-config/routes.ts'
import { AccessCache } from './tokens/access-cache.ts'
import { tokenRoutes } from './tokens/routes.ts'
import { startUpkeep } from './upkeep.ts'

/** What happens at each operation. */
function routes(platform: Platform, schemaVersion: number): Handler[] {
  const handlers = [
    ...tokenRoutes(platform),
    ...siteRoutes(platform),
    ...billingRuleRoutes(platform),
    ...thirdPartyConfigRoutes(platform),
    ...deviceRoutes(platform),
    ...deviceSearchRoutes(platform),
    ...deviceOwnershipRoutes(platform),
    ...deviceStateRoutes(platform),
    ...eventRoutes(platform),
    ...deliveryRoutes(platform),
    ...regionRoutes(),
    ...applicationRoutes(platform),
    ...deviceModelRoutes(platform),
    ...deviceInventoryRoutes(platform),
    ...operatorRoutes(platform),
    ...sessionRoutes(platform),
    ...overviewRoutes(platform),
    ...serviceRoutes(platform, schemaVersion),
  ]
  const handled = new Set(handlers.map((handler) => handler.operation))
  const forgotten = operations.filter((operation) => !handled.has(operation)).map((operation) => operation.id)
  if (forgotten.length > 0) throw new Error(`no handler for ${forgotten.join(', ')}`)
  return handlers
}

/** The SQL functions that the database must hold before the first request. */
export const routines: Routine[] = [registerDevicesRoutine, changeStatesRoutine, saveSitesRoutine]

export interface App {
  handler: HttpHandler
  platform: Platform
  /** Ends the callbacks that are under way, within 2 seconds; requests go on. */
  stopCallbacks(): Promise<void>
  /** Stops what runs beside requests and closes the connections of all but the look-ups. */
  stop(): Promise<void>
}

export interface AppOptions {
  config: Config
  log: Logger
  secrets: SecretBox
  sql: Sql
  openWriterSql: () => Sql
  openStateSql: () => Sql
  openAccessSql: () => Sql
  openCallbackSql: () => Sql
  /** For connections that are opened outside this thread. */
  target: Target
  schemaVersion: number
}

/** Joins the parts: operations and handlers on the one side, the database on the other. */
export function createApp({
  config,
  log,
  secrets,
  sql,
  openWriterSql,
  openStateSql,
  openAccessSql,
  openCallbackSql,
  target,
  schemaVersion,
}: AppOptions): App {
  const deadlines = new Deadlines()
  const metrics = new Metrics()
  const rateLimiter = new RateLimiter()
  const writer = new GuardedPool(openWriterSql, deadlines, config.statementTimeoutMs + 1000)
  const stateWriter = new GuardedPool(openStateSql, deadlines, config.statementTimeoutMs + 1000)
  // Connections of its own: what decides about access never waits behind an operator's long list.
  const accessPool = new GuardedPool(openAccessSql, deadlines, config.statementTimeoutMs)
  const access = new AccessCache(accessPool)
  const operatorAccess = new OperatorAccess(accessPool, config.operatorKey)
  // And callbacks, so that requests never wait for them.
  const callbackPool = new GuardedPool(openCallbackSql, deadlines, config.statementTimeoutMs + 1000)
  const callbacks = openCallbackClient(config)
  const load = { batches: 0, items: 0 }
  const { statementTimeoutMs, searchMemoryMegabytes } = config
  const maxBytes = searchMemoryMegabytes * 1024 * 1024
  const searcher = new Searcher({ target, statementTimeoutMs, maxBytes, sql, log, metrics })
  const platform: Platform = {
    config,
    log,
    metrics,
    rateLimiter,
    sql,
    writer,
    stateWriter,
    access,
    operatorAccess,
    catalogue: new Catalogue(writer),
    searcher,
    callbacks,
    secrets,
    load,
    showMoment: momentFormat(config.timeZone),
    readMoment: momentReader(config.timeZone),
  }
  const handler = serve(routes(platform, schemaVersion), {
    authenticate: authenticator({
      settingKey: config.operatorKey,
      checkToken: (tokenHash) => access.check(tokenHash),
      checkKey: (keyHash) => operatorAccess.ofKey(keyHash),
      checkSession: (tokenHash) => operatorAccess.ofSession(tokenHash),
    }),
    rateLimiter,
    deadlines,
    metrics,
    log,
    trustedProxies: config.trustedProxies,
    // A little earlier than the database gives up, so that the answer is there within the statement timeout.
    answerTimeoutMs: config.statementTimeoutMs * 0.9,
    bodyTimeoutMs: 5_000,
    maxInFlight: config.maxWaitingCreates,
  })
  const metricTimeoutMs = Math.min(1000, config.statementTimeoutMs / 2)
  metrics.gaugeByState(
    'forecourt_database_connections',
    'Connections of this process’s pools to the database, by what they do.',
    () => connectionStates(sql, metricTimeoutMs),
  )
  showDeliveries(metrics, sql, metricTimeoutMs)
  const worker = new CallbackWorker({ pool: callbackPool, client: callbacks, secrets, load, config, metrics, log })
  access.start()
  worker.start()
  const upkeep = startUpkeep(sql, log, config)
  const tally = startTally(sql, log, metrics)
  const presence = startPresence(platform)
  searcher.start()
  return {
    handler: withConsole(handler, config.mapTileUrl),
    platform,
    stopCallbacks: () => worker.stop(),
    async stop() {
      await worker.stop()
      access.stop()
      upkeep.stop()
      await tally.stop()
      presence.stop()
      await searcher.stop()
      deadlines.stop()
      await Promise.all([writer.close(), stateWriter.close(), accessPool.close(), callbackPool.close()])
    },
  }
}
