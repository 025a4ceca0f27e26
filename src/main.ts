import { join } from 'node:path'
import type { Logger } from 'pino'
import { createApp, openPools, routines } from './app.ts'
import { type Config, ConfigError, readConfig } from './config.ts'
import { Database } from './database/database.ts'
import { grantService } from './database/embedded/rights.ts'
import { startEmbeddedDatabase } from './database/embedded.ts'
import { lockDataDir } from './database/instance-lock.ts'
import { readMigrations } from './database/migrate.ts'
import { passwordOf, type Target } from './database/open.ts'
import { installRoutines } from './database/routine.ts'
import { prepareSchema, waitForDatabase } from './database/start.ts'
import { StartError } from './database/start-error.ts'
import { createDemoOnce } from './demo.ts'
import { installEventPruning } from './events/store.ts'
import { ListenError, listen } from './http/listen.ts'
import { openLog } from './log.ts'
import { makeFirstSetUp } from './operators/routes.ts'
import { openSecrets } from './secrets/open.ts'

const migrationsFolder = join(import.meta.dirname, '..', 'migrations')

/** What was started, in order; stopped in reverse. */
const stops: (() => unknown)[] = []
const stopSignal = new AbortController()

async function start(config: Config): Promise<void> {
  const log = openLog(config.logLevel)
  stops.push(() => log.flush())
  endAtUncaught(log)

  // Whoever started the service may close its standard output after the ready line.
  process.stdout.on('error', () => {})

  const isEmbedded = config.databaseUrl === undefined
  const places = await findDatabase(config, (message) => log.info(message))
  await prepareDatabase(config, log, places)
  const { target } = places
  const database = new Database(target, config.statementTimeoutMs)
  stops.push(() => database.close())
  if (!database.isWatched) {
    log.warn('the database driver lacks its patch: connections that fall silent are not noticed; run npm ci')
  }
  const pools = openPools(database)
  const secrets = await openSecrets(pools.control, {
    keyFile: config.secretsKeyFile,
    dataDir: config.dataDir,
    password: passwordOf(places.owner),
    log,
  })

  const schemaVersion = readMigrations(migrationsFolder).length
  const app = createApp({ config, log, secrets, database, pools, schemaVersion })
  stops.push(() => app.stop())
  const listener = await listen(config.host, config.port, app.handler, log)
  // Together: a test of a callback is a request that ends with its attempt.
  stops.push(() => Promise.all([app.stopCallbacks(), listener.stop()]))
  const setUpPath = await makeFirstSetUp(app.platform)
  const demo = isEmbedded ? await createDemoOnce(app.platform) : undefined
  const setUp = setUpPath && `Set up the first operator within 24 hours, once: ${listener.url}${setUpPath}\n`
  // At once, so that whoever waits for the first line has the others too.
  process.stdout.write(`Forecourt is ready at ${listener.url}\n${setUp ?? ''}${demo?.commands(listener.url) ?? ''}`)
  if (config.trustedProxies === undefined && !isLoopback(config.host)) {
    const remedy = 'name the proxies before it in FORECOURT_TRUSTED_PROXIES, or every caller has the address of one'
    log.warn({ host: config.host }, `it listens beyond this machine: ${remedy}`)
  }
  // Not before: a start that is refused says nothing but why.
  if (process.getuid?.() === 0) {
    log.warn('the service runs as root, which it does not need: start it as a user of its own (SECURITY.md)')
  }
  log.info({ url: listener.url, database: isEmbedded ? 'embedded' : 'external' }, 'ready')
}

/** Where the schema is made, and where requests are served: by a role of its own where the database is ours. */
interface DatabasePlaces {
  owner: Target
  target: Target
  role?: string
}

async function findDatabase(config: Config, log: (message: string) => void): Promise<DatabasePlaces> {
  const { databaseUrl } = config
  return databaseUrl === undefined ? startEmbedded(config, log) : { owner: databaseUrl, target: databaseUrl }
}

/** Waits for the database, and brings its schema up to date as its owner. */
async function prepareDatabase(config: Config, log: Logger, { owner: target, role }: DatabasePlaces): Promise<void> {
  const database = new Database(target, config.statementTimeoutMs)
  // A migration takes as long as it takes.
  const open = (connections: number) => database.open(connections, { longestStatementMs: Number.POSITIVE_INFINITY })
  const owner = open(2)
  const install = async () => {
    await installRoutines(owner, routines)
    await installEventPruning(owner, config.eventDays)
    if (role !== undefined) await grantService(owner, role)
  }
  try {
    await waitForDatabase(owner, { target, seconds: config.databaseWaitSeconds, log, signal: stopSignal.signal })
    await prepareSchema(owner, { target, openAlone: () => open(1), migrationsFolder, install, log })
  } finally {
    await database.close()
  }
}

async function startEmbedded(config: Config, log: (message: string) => void): Promise<DatabasePlaces> {
  const lock = await lockDataDir(config.dataDir)
  stops.push(() => lock.release())
  let database = await startEmbeddedDatabase(config.dataDir, log)
  let restart: Promise<void> | undefined
  // A database that died (killed for its memory, say) comes back at the same address, and the pools find it there.
  const watch = setInterval(() => {
    if (database.isRunning() || restart !== undefined) return
    log('the embedded database has ended; it is started again')
    restart = startEmbeddedDatabase(config.dataDir, log)
      .then((started) => {
        database = started
      })
      .catch(async (error: Error) => {
        log(`the embedded database does not start: ${error.message}`)
        await new Promise((resolve) => setTimeout(resolve, 2000))
      })
      .finally(() => {
        restart = undefined
      })
  }, 250)
  stops.push(async () => {
    clearInterval(watch)
    await restart
    await database.stop()
  })
  const { connection: owner, serviceConnection: target } = database
  return { owner, target, role: target.user }
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127\.\d+\.\d+\.\d+$/.test(host)
}

/**
 * A throw that nothing caught leaves what threw it in no known state, so the process ends and its supervisor starts it
 * again. A rejection that nobody waited for is one piece of work that failed, and the rest goes on.
 */
function endAtUncaught(log: Logger): void {
  process.on('unhandledRejection', (error) => {
    log.error({ err: error }, 'work that nobody waited for has failed')
  })
  process.on('uncaughtException', (error) => {
    log.fatal({ err: error }, 'a fault that nothing caught: the service ends and wants to be started again')
    setTimeout(() => process.exit(1), stopWithinMs).unref()
    void stop().then(() => process.exit(1))
  })
}

let starting: Promise<void> = Promise.resolve()
let stopping: Promise<void> | undefined

/** Stops everything that was started, the newest first; what is still starting is waited for. */
function stop(): Promise<void> {
  stopSignal.abort()
  stopping ??= (async () => {
    await starting.catch(() => {})
    for (const stopOne of stops.toReversed()) {
      try {
        await stopOne()
      } catch {
        // The others must be stopped all the same.
      }
    }
  })()
  return stopping
}

/** A supervisor kills what does not end within 10 s; a database that is left then is adopted at the next start. */
const stopWithinMs = 9_500

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.on(signal, () => {
    setTimeout(() => process.exit(1), stopWithinMs).unref()
    void stop().then(() => process.exit(0))
  })
}

try {
  starting = start(readConfig(process.env))
  await starting
} catch (error) {
  if (stopping === undefined) {
    const isExplained = error instanceof ConfigError || error instanceof StartError || error instanceof ListenError
    process.stderr.write(isExplained ? `${error.message}\n` : `${(error as Error).stack}\n`)
    await stop()
    process.exit(1)
  }
}
