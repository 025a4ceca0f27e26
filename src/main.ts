import { join } from 'node:path'
import pino from 'pino'
import { createApp, routines } from './app.ts'
import { type Config, ConfigError, readConfig } from './config.ts'
import { startEmbeddedDatabase } from './database/embedded.ts'
import { lockDataDir } from './database/instance-lock.ts'
import { migrate, readMigrations } from './database/migrate.ts'
import { openDatabase, requireDatabase, type Target } from './database/open.ts'
import { installRoutines } from './database/routine.ts'
import { StartError } from './database/start-error.ts'
import { createDemo } from './demo.ts'
import { ListenError, listen } from './http/listen.ts'

const migrationsFolder = join(import.meta.dirname, '..', 'migrations')
const lookUpConnections = 8

/** What was started, in order; stopped in reverse. */
const stops: (() => unknown)[] = []

async function start(config: Config): Promise<void> {
  const log = pino({ level: config.logLevel }, pino.destination({ dest: 2, sync: false, minLength: 0 }))
  stops.push(() => log.flush())

  const isEmbedded = config.databaseUrl === undefined
  const target = config.databaseUrl ?? (await startEmbedded(config, (message) => log.info(message)))
  const open = (connections: number) =>
    openDatabase({
      target,
      connections,
      statementTimeoutMs: config.statementTimeoutMs,
    })
  const sql = open(lookUpConnections)
  stops.push(() => sql.end({ timeout: 2 }))
  await requireDatabase(sql)
  const { wasEmpty } = await migrate(sql, migrationsFolder)
  await installRoutines(sql, routines)

  const schemaVersion = readMigrations(migrationsFolder).length
  // One connection a lane: devices and sites.
  const app = createApp({ config, log, sql, openWriterSql: () => open(2), schemaVersion })
  stops.push(() => app.stop())
  const demo = wasEmpty && isEmbedded ? await createDemo(app.platform) : undefined

  const listener = await listen(config.host, config.port, app.handler)
  stops.push(() => listener.stop())
  process.stdout.write(`Forecourt is ready at ${listener.url}\n`)
  if (demo !== undefined) process.stdout.write(demo.commands(listener.url))
  log.info({ url: listener.url, database: isEmbedded ? 'embedded' : 'external' }, 'ready')
}

async function startEmbedded(config: Config, log: (message: string) => void): Promise<Target> {
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
      .catch((error: Error) => log(`the embedded database does not start: ${error.message}`))
      .finally(() => {
        restart = undefined
      })
  }, 250)
  stops.push(async () => {
    clearInterval(watch)
    await restart
    await database.stop()
  })
  return database.connection
}

let stopping: Promise<void> | undefined

/** Stops everything that was started, the newest first. */
function stop(): Promise<void> {
  stopping ??= (async () => {
    for (const stopOne of stops.toReversed()) await Promise.resolve(stopOne()).catch(() => {})
  })()
  return stopping
}

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.on(signal, () => void stop().then(() => process.exit(0)))
}

try {
  await start(readConfig(process.env))
} catch (error) {
  const isExplained = error instanceof ConfigError || error instanceof StartError || error instanceof ListenError
  process.stderr.write(isExplained ? `${error.message}\n` : `${(error as Error).stack}\n`)
  await stop()
  process.exit(1)
}
