import type { Logger } from 'pino'
import { applicationRoutes } from './applications/routes.ts'
import { thirdPartyConfigRoutes } from './applications/third-party-config/routes.ts'
import { tokenRoutes } from './applications/tokens/routes.ts'
import { issueTokensRoutine } from './applications/tokens/routine.ts'
import { billingRuleRoutes } from './billing-rules/routes.ts'
import { actRoutes } from './bulk/acts/routes.ts'
import { actSteps } from './bulk/acts/steps.ts'
import { importSteps } from './bulk/import-steps.ts'
import { JobWorker } from './bulk/jobs/worker.ts'
import { bulkRoutes } from './bulk/routes.ts'
import { AccessControl } from './callers/access-control.ts'
import { CallerCache } from './callers/cache.ts'
import { Cookies } from './callers/cookies.ts'
import { hashSecret } from './callers/credentials.ts'
import { RateLimiter } from './callers/rate-limit.ts'
import type { SessionRules } from './callers/store.ts'
import type { Config } from './config.ts'
import type { Context } from './context.ts'
import type { Database } from './database/database.ts'
import { laneOpener } from './database/lanes.ts'
import type { Sql } from './database/open.ts'
import type { Pools } from './database/pools.ts'
import { Reads } from './database/reads.ts'
import type { Routine } from './database/routine.ts'
import { KeyUsage } from './database/usage.ts'
import { CallbackWorker } from './deliveries/callback-worker.ts'
import { openCallbackClient } from './deliveries/client.ts'
import { registerGauges } from './deliveries/gauges.ts'
import { claimEndpointsRoutine, renewLeasesRoutine } from './deliveries/leases/routine.ts'
import { deliveryRoutes } from './deliveries/routes.ts'
import { readWorkRoutine, writeProgressRoutine } from './deliveries/routine.ts'
import { Throttle } from './deliveries/throttle.ts'
import { deviceInventoryRoutes } from './devices/inventory/routes.ts'
import { Catalogue } from './devices/models/catalogue.ts'
import { deviceModelRoutes } from './devices/models/routes.ts'
import { deviceOwnershipRoutes } from './devices/ownership/routes.ts'
import { placementRoutes } from './devices/placement/routes.ts'
import { deviceRoutes } from './devices/routes.ts'
import { registerDevicesRoutine } from './devices/routine.ts'
import { startHearing } from './devices/state/hearing.ts'
import { startPresence } from './devices/state/presence-watcher.ts'
import { noteRepeatsRoutine } from './devices/state/repeats/routine.ts'
import { deviceStateRoutes } from './devices/state/routes.ts'
import { applyReportsRoutine } from './devices/state/routine.ts'
import { RefusalRecorder } from './events/refusal-log/recorder.ts'
import { refusalRoutes } from './events/refusal-log/routes.ts'
import { eventRoutes } from './events/routes.ts'
import { LogReader } from './events/streams/log-reader.ts'
import { streamRoutes } from './events/streams/routes.ts'
import { Streams } from './events/streams/streams.ts'
import { AccessWatch } from './http/access-watch.ts'
import { BoundedLines } from './http/bounded-lines.ts'
import { withConsole } from './http/console-pages.ts'
import { farewellMs } from './http/drain.ts'
import type { Handler } from './http/handler.ts'
import { InFlight } from './http/in-flight.ts'
import { listen } from './http/listen.ts'
import type { HttpHandler } from './http/message.ts'
import { serve } from './http/serve.ts'
import { listOf, sourceFinder } from './http/source-address.ts'
import { operatorRoutes } from './people/operators/routes.ts'
import { secondFactorRoutes } from './people/second-factor/routes.ts'
import { sessionRoutes } from './people/sessions/routes.ts'
import { openProvider } from './people/sign-on/provider.ts'
import { signOnRoutes } from './people/sign-on/routes.ts'
import { viewRoutes } from './people/views/routes.ts'
import { api } from './reference/api.ts'
import { openApiDocument } from './reference/openapi.ts'
import { refusalsOf } from './reference/operation-refusals.ts'
import { operations } from './reference/operations.ts'
import { regionRoutes } from './regions/routes.ts'
import { SavedRegions } from './regions/saved-regions.ts'
import { Company } from './runtime/company.ts'
import { Deadlines } from './runtime/deadlines.ts'
import { nextTurn } from './runtime/event-loop.ts'
import type { Lifetime } from './runtime/lifetime.ts'
import { Metrics } from './runtime/metrics.ts'
import type { Peers } from './runtime/peer-processes.ts'
import { Turns, turnsOfEach } from './runtime/turns.ts'
import { runtime, version } from './runtime/version.ts'
import type { SecretBox } from './secrets/box.ts'
import { serviceDetailRoutes } from './service/detail/routes.ts'
import { startFleetCounter } from './service/fleet/counter.ts'
import { fleetRegistry, KnownFleet } from './service/fleet/gauges.ts'
import { registerServiceGauges } from './service/gauges.ts'
import { startRecorder } from './service/overview/recorder.ts'
import { overviewRoutes } from './service/overview/routes.ts'
import { readinessOf } from './service/readiness.ts'
import { serviceRoutes } from './service/routes.ts'
import { searchRoutes } from './service/search/routes.ts'
import { surroundingsOf } from './service/surroundings.ts'
import { startUpkeep } from './service/upkeep.ts'
import { priceKeeper } from './sites/price-changes/keeper.ts'
import { PriceApplier } from './sites/price-changes/price-applier.ts'
import { priceChangeRoutes } from './sites/price-changes/routes.ts'
import { sitePriceRoutes } from './sites/prices/routes.ts'
import { siteRoutes } from './sites/routes.ts'
import { limits } from './vocabulary/limits.ts'
import { refusals, tooManyRequests } from './vocabulary/refusals.ts'

function requireAll(handlers: readonly Handler[]): void {
  const handled = new Set(handlers.map((handler) => handler.operation))
  const forgotten = operations.filter((operation) => !handled.has(operation)).map((operation) => operation.id)
  if (forgotten.length > 0) throw new Error(`no handler for ${forgotten.join(', ')}`)
}

/** The database must hold these before the first request. */
export const routines: Routine[] = [
  registerDevicesRoutine,
  noteRepeatsRoutine,
  applyReportsRoutine,
  issueTokensRoutine,
  claimEndpointsRoutine,
  renewLeasesRoutine,
  readWorkRoutine,
  writeProgressRoutine,
]

interface App {
  handler: HttpHandler
  /** Reads the regions that operators have saved, and follows their changes. */
  startRegions(): Promise<void>
  /** Writes price changes that took effect while no process ran, and starts the worker for later ones. */
  startPrices(): Promise<void>
  /** Refuses all requests under way with 50003. */
  giveUp(): void
  /** Ends open streams within 1 s and callbacks within 2 s; requests are still served. */
  stopLasting(): Promise<void>
  stop(): Promise<void>
}

interface AppOptions {
  config: Config
  log: Logger
  secrets: SecretBox
  database: Database
  pools: Pools
  schemaVersion: number
  peers: Peers
}

function createApp({ config, log, secrets, database, pools, schemaVersion, peers }: AppOptions): App {
  const deadlines = new Deadlines()
  const metrics = new Metrics()
  const rateLimiter = new RateLimiter(peers)
  const { operatorKey } = config
  const settingKeyHash = operatorKey === undefined ? null : hashSecret(operatorKey)
  const rules: SessionRules = {
    settingKeyHash,
    factorRoles: config.factorRoles ?? [],
    asksFactorAfterSignOn: config.signOnSecondFactor === 'ours',
    confirmSeconds: config.confirmSeconds,
  }
  const callers = new CallerCache(pools.access, pools.control, peers, rules)
  const cookies = new Cookies(config.publicUrl)
  const access = new AccessControl(callers, rateLimiter, cookies, rules, operatorKey)
  const accessWatch = new AccessWatch(async (request) => access.authenticate(request, true))
  callers.onChange = (whose) => accessWatch.noteChange(whose)
  const lines = new BoundedLines(log)
  const inFlight = new InFlight(config.maxRequests)
  const company = new Company()
  const writeTurns = new Turns({
    ofOne: limits.writesAtOnceOfOne,
    ofOneAlone: limits.writesAtOnceOfOneAlone,
    waitingOfOne: inFlight.mostOfOne,
    full: tooManyRequests,
  })
  const outOfTurn = turnsOfEach({
    ofOne: limits.outOfTurnAtOnceOfOne,
    ofOneAlone: inFlight.mostOfOne,
    ofOneCrowded: limits.outOfTurnAtOnceOfCrowd,
    crowd: inFlight.crowd,
    company,
    full: tooManyRequests,
  })
  const client = openCallbackClient(config)
  const throttle = new Throttle()
  const catalogue = new Catalogue(pools.creates)
  const regions = new SavedRegions(pools.control, peers)
  const openLane = laneOpener(
    metrics,
    // Shorter than the request timeout, so that a create refused for waiting too long is never written.
    { maxWaiting: config.maxWaitingCreates, maxWaitMs: config.statementTimeoutMs * 0.8 },
    (size) => throttle.onBatch(size),
  )
  const shared = { pools, openLane, config, log, metrics, secrets, callers, rateLimiter, rules, cookies, peers }
  const through = (sql: Sql): Context => ({ ...shared, sql })
  const [ofWrites, ofControl, ofBulk] = [through(pools.writes), through(pools.control), through(pools.bulk)]
  const inBackground = through(pools.background)
  const fleet = new KnownFleet()
  const readiness = readinessOf(inBackground, schemaVersion, inFlight, () => applier.isCaughtUp)
  const surroundings = surroundingsOf(inBackground)
  const prices = priceKeeper(pools.writes)
  const applier = new PriceApplier(ofWrites)
  const importing = importSteps(ofBulk, catalogue)
  const acting = actSteps(ofBulk)
  const jobs = new JobWorker(ofBulk, ({ act }) => (act === null ? importing : acting))
  const provider = openProvider(config)
  const reader = new LogReader(ofWrites)
  const streams = new Streams(reader, peers)
  const handlers = [
    ...tokenRoutes(ofControl),
    ...siteRoutes(ofWrites),
    ...billingRuleRoutes(ofWrites, prices),
    ...sitePriceRoutes(),
    ...priceChangeRoutes(prices, () => applier.wake()),
    ...thirdPartyConfigRoutes(ofWrites),
    ...deviceRoutes(ofWrites, catalogue),
    ...deviceOwnershipRoutes(ofWrites),
    ...placementRoutes(ofWrites),
    ...deviceStateRoutes(ofWrites),
    ...eventRoutes(),
    ...streamRoutes(streams),
    ...deliveryRoutes(ofWrites, client),
    ...refusalRoutes(),
    ...bulkRoutes(ofBulk, () => jobs.wake()),
    ...actRoutes(ofBulk, () => jobs.wake()),
    ...regionRoutes(ofControl, regions),
    ...applicationRoutes(ofControl),
    ...deviceModelRoutes(ofControl, catalogue),
    ...deviceInventoryRoutes(ofControl, catalogue),
    ...operatorRoutes(ofControl),
    ...sessionRoutes(ofControl, provider),
    ...signOnRoutes(ofControl, provider, lines, (head) => access.authenticate(head, true)),
    ...secondFactorRoutes(ofControl),
    ...viewRoutes(ofControl),
    ...searchRoutes(),
    ...overviewRoutes(inBackground, surroundings),
    ...serviceDetailRoutes(inBackground, readiness, surroundings),
    ...serviceRoutes(ofControl, readiness, fleetRegistry(fleet), () => openApiDocument(api)),
  ]
  requireAll(handlers)
  const refusalRecorder = new RefusalRecorder(pools.background, log)
  for (const operation of operations) {
    metrics.expect(operation.id, [0, ...[...refusalsOf(operation)].map((name) => refusals[name].code)])
  }
  const reads = new Reads(database, company)
  const keyUsage = new KeyUsage(pools.background)
  const handler = serve(handlers, {
    reads,
    noteRefusal: (refused) => refusalRecorder.note(refused),
    admit: (operation, request) => access.admit(operation, request),
    authenticate: (request) => access.authenticate(request),
    accessWatch,
    present: (caller) => callers.present(caller),
    addRateHeaders: (caller, headers) => rateLimiter.tell(caller, headers),
    deadlines,
    metrics,
    log,
    lines,
    sourceOf: sourceFinder(config.trustedProxies && listOf(config.trustedProxies), log),
    // A little earlier than the database gives up, so that the response is within the statement timeout.
    answerTimeoutMs: config.statementTimeoutMs * 0.9,
    bodyTimeoutMs: 5_000,
    keyUsage,
    inFlight,
    writes: writeTurns,
    outOfTurn,
    company,
    responses: new Turns({ ofOne: limits.responsesOfOneInTurn, restAfter: nextTurn, full: tooManyRequests }),
    largeBodies: new Turns({ ofOne: limits.largeBodiesOfOne, full: tooManyRequests }),
  })
  const metricTimeoutMs = Math.min(1000, config.statementTimeoutMs / 2)
  registerServiceGauges(inBackground, {
    readiness,
    fleetCountedAt: () => fleet.countedAt,
    readsWaiting: () => reads.waiting,
    inFlight,
    timeoutMs: metricTimeoutMs,
  })
  metrics.gauge({ name: 'forecourt_streams', help: 'Open streams of events.', merged: 'sum' }, () => streams.count)
  metrics.counter('forecourt_stream_events_total', 'Events that were sent to streams.', () => streams.sent)
  const unwatch = metrics.watchProcess({ version, runtime })
  peers.onAsked('metrics', () => metrics.registry.getMetricsAsJSON())
  registerGauges(metrics, pools.background, metricTimeoutMs, config)
  const worker = new CallbackWorker({
    pool: pools.callbacks,
    client,
    secrets,
    throttle,
    config,
    metrics,
    log,
  })
  worker.start()
  const upkeep = startUpkeep(pools.background, log, config, routines)
  jobs.start()
  const recorder = startRecorder(pools.background, log, metrics)
  const fleetCounter = startFleetCounter(pools.background, log, fleet)
  const presence = startPresence(inBackground)
  return {
    handler: withConsole(handler, config),
    startRegions: () => regions.start(),
    async startPrices() {
      await applier.catchUp()
      applier.start()
    },
    giveUp: () => deadlines.expireAll(),
    stopLasting() {
      streams.stop()
      return worker.stop()
    },
    async stop() {
      await Promise.all([worker.stop(), jobs.stop(), applier.stop()])
      upkeep.stop()
      await Promise.all([recorder.stop(), refusalRecorder.stop(), keyUsage.stop()])
      presence.stop()
      await fleetCounter.stop()
      reader.stop()
      regions.stop()
      deadlines.stop()
      unwatch()
    },
  }
}

/** Serves in this process until its lifetime ends. Returns the address. */
export async function startServer(life: Lifetime, parts: AppOptions): Promise<string> {
  const { config, log } = parts
  const app = createApp(parts)
  life.onStop(() => app.stop())
  await app.startRegions()
  await app.startPrices()
  const trustedProxies = config.trustedProxies && listOf(config.trustedProxies)
  const listener = await listen(config.host, config.port, app.handler, {
    log,
    trustedProxies,
    giveUp: app.giveUp,
    isShared: config.workers > 1,
  })
  const hearing = startHearing({ sql: parts.pools.control, log, config })
  // Together, because a request that tests a callback ends only with its attempt.
  life.onStop(() => Promise.all([app.stopLasting(), listener.stop(), hearing.stop(farewellMs)]))
  return listener.url
}
