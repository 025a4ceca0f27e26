import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Logger } from 'pino'
import { routines, startServer } from '../app.ts'
import { type Config, findUnknownSettings, readConfig, type UnknownSetting } from '../config.ts'
import { isDistributed } from '../database/cluster.ts'
import { Database } from '../database/database.ts'
import { findDistributed } from '../database/distribute.ts'
import { readMigrations } from '../database/migrate.ts'
import { warnOfNodes } from '../database/nodes.ts'
import { passwordOf, type Target } from '../database/open.ts'
import { openPools, poolSizes } from '../database/pools.ts'
import { installRoutines } from '../database/routine.ts'
import { prepareSchema, requireWrites, waitForDatabase } from '../database/start.ts'
import { startEmbeddedDatabase } from '../embedded/embedded.ts'
import { lockDataDir } from '../embedded/instance-lock.ts'
import { grantService } from '../embedded/rights.ts'
import { installHistoryKeeping } from '../events/history/store.ts'
import { findPort } from '../http/listen.ts'
import { urlOf } from '../http/listener.ts'
import { makeFirstSetUp } from '../people/operators/routes.ts'
import { Lifetime } from '../runtime/lifetime.ts'
import { openLog } from '../runtime/log.ts'
import { startRounds } from '../runtime/loop.ts'
import { NoPeers } from '../runtime/peer-processes.ts'
import { UserError } from '../runtime/user-error.ts'
import { runtime, version } from '../runtime/version.ts'
import { openSecrets } from '../secrets/open.ts'
import { setTimeZone } from '../vocabulary/moments.ts'
import { createDemoOnce } from './first-application.ts'
import type { ServeOrder } from './messages.ts'
import { Workers } from './workers.ts'

const migrationsFolder = join(import.meta.dirname, '..', '..', 'migrations')

/** The only process, or the parent of the workers. Ends with 0 at SIGTERM and SIGINT, with 1 if it cannot start. */
export function runService(environment: Record<string, string | undefined>): Promise<void> {
  const life = new Lifetime()
  // The command that started this process on Bun (bin/forecourt.js) was killed, and can no longer pass on a signal.
  process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'))
  return life.run(
    () => start(readConfig(environment), findUnknownSettings(environment), life),
    ['SIGTERM', 'SIGINT'],
    (error) => {
      process.stderr.write(`${error instanceof UserError ? error.message : (error as Error).stack}\n`)
    },
  )
}

async function start(config: Config, unknown: readonly UnknownSetting[], life: Lifetime): Promise<void> {
  setTimeZone(config.timeZone)
  const log = openLog(config.logLevel)
  life.onStop(() => log.flush())
  life.endAtUncaught(log)

  // Who started the service may close its standard output after the ready line.
  process.stdout.on('error', () => {})

  const isEmbedded = config.databaseUrl === undefined
  const places = await findDatabase(config, life, (message) => log.info(message))
  await prepareDatabase(config, log, places, life.stopSignal)
  const { target } = places
  const database = new Database(target, config.statementTimeoutMs)
  life.onStop(() => database.close())
  if (!database.isWatched) {
    log.warn('database driver not patched, so hanging connections go unnoticed; run npm ci')
  }
  const sql = database.open(poolSizes.control, { isByKeys: true })
  const secrets = await openSecrets(sql, {
    keyFile: config.secretsKeyFile,
    dataDir: config.dataDir,
    password: passwordOf(places.owner),
    log,
  })

  const isParent = config.workers > 1
  const served = { config, schemaVersion: readMigrations(migrationsFolder).length }
  const url = isParent
    ? await startWorkers(
        { ...served, target, isDistributed: isDistributed(), secretKeys: secrets.keysAsText() },
        life,
        log,
      )
    : await startServer(life, {
        ...served,
        log,
        database,
        pools: openPools(database, sql),
        secrets,
        peers: new NoPeers(),
      })
  const setUpPath = config.operatorKey === undefined ? await makeFirstSetUp(sql) : undefined
  const demo = isEmbedded ? await createDemoOnce(sql, { secrets }) : undefined
  // The workers have their own connections.
  if (isParent) await database.close()
  const setUp =
    setUpPath &&
    `Create the first admin account (one-time link, valid for 24 hours): ${config.publicUrl ?? url}${setUpPath}\n`
  // In one write, so that a program that waits for the first line has the others too.
  process.stdout.write(`Forecourt is ready at ${url}\n${setUp ?? ''}${demo?.commands(url) ?? ''}`)
  if (config.trustedProxies === undefined && !isLoopback(config.host)) {
    const remedy =
      'if the service runs behind a proxy, set FORECOURT_TRUSTED_PROXIES; otherwise all callers appear with the proxy’s address'
    log.warn({ host: config.host }, `service reachable from other machines, with no trusted proxy; ${remedy}`)
  }
  // After the start: a start that fails logs only its reason.
  for (const { name, nearest } of unknown) log.warn(`unknown setting ${name}; did you mean ${nearest}?`)
  if (process.getuid?.() === 0) {
    log.warn('service runs as root, which isn’t necessary; run it as a dedicated user (SECURITY.md)')
  }
  log.info({ url, version, runtime, database: isEmbedded ? 'embedded' : 'external', workers: config.workers }, 'ready')
}

/** On one port, each with its part of the service's limits. Returns the address. */
async function startWorkers({ config, ...order }: ServeOrder, life: Lifetime, log: Logger): Promise<string> {
  const port = await findPort(config.host, config.port)
  const shareOf = (most: number) => Math.ceil(most / config.workers)
  const shares = { maxRequests: shareOf(config.maxRequests), maxWaitingCreates: shareOf(config.maxWaitingCreates) }
  const workers = new Workers({ config: { ...config, port, ...shares }, ...order }, log)
  life.onStop(() => workers.stop())
  await workers.start()
  return urlOf(config.host, port)
}

/** The embedded database has a role of its own for requests. */
interface DatabasePlaces {
  owner: Target
  target: Target
  role?: string
}

async function findDatabase(config: Config, life: Lifetime, log: (message: string) => void): Promise<DatabasePlaces> {
  const { databaseUrl } = config
  return databaseUrl === undefined ? startEmbedded(config, life, log) : { owner: databaseUrl, target: databaseUrl }
}

/** Migrates the database as the schema's owner, and notes whether it is distributed. */
export async function prepareDatabase(
  config: Config,
  log: Logger,
  { owner: target, role }: Pick<DatabasePlaces, 'owner' | 'role'>,
  signal: AbortSignal,
): Promise<void> {
  const database = new Database(target, config.statementTimeoutMs)
  // A migration may take any time.
  const open = (connections: number) => database.open(connections, { longestStatementMs: Number.POSITIVE_INFINITY })
  const owner = open(2)
  const install = async () => {
    await installRoutines(owner, routines)
    await installHistoryKeeping(owner, config)
    if (role !== undefined) await grantService(owner, role)
  }
  try {
    await waitForDatabase(owner, { target, seconds: config.databaseWaitSeconds, log, signal })
    await requireWrites(owner)
    await prepareSchema(owner, { target, openAlone: () => open(1), migrationsFolder, install, log })
    if (await findDistributed(owner)) await warnOfNodes(owner, config.workers, log)
  } finally {
    await database.close()
  }
}

async function startEmbedded(config: Config, life: Lifetime, log: (message: string) => void): Promise<DatabasePlaces> {
  const lock = await lockDataDir(config.dataDir)
  life.onStop(() => lock.release())
  const startOnce = () => startEmbeddedDatabase(config.dataDir, log, { processes: config.workers })
  let database = await startOnce()
  // A database that was killed, for its memory say, is started again at the same address, where the pools find it.
  const watch = startRounds(async () => {
    if (database.isRunning()) return
    log('embedded database stopped; restarting it')
    try {
      database = await startOnce()
    } catch (error) {
      log(`embedded database can’t be restarted: ${(error as Error).message}`)
      await pause(2000)
    }
  }, 250)
  life.onStop(async () => {
    await watch.stop()
    await database.stop()
  })
  const { connection: owner, serviceConnection: target } = database
  return { owner, target, role: target.user }
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127\.\d+\.\d+\.\d+$/.test(host)
}
