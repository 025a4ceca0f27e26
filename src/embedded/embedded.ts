import { existsSync, realpathSync } from 'node:fs'
import { makeDataFolder } from '../database/data-folder.ts'
import { openPlainly } from '../database/open.ts'
import { explainFault } from '../database/system-fault.ts'
import { startRounds } from '../runtime/actor.ts'
import { UserError } from '../runtime/user-error.ts'
import { type Binaries, defaultSystemFolders, findBinaries, usableBinaries } from './binaries.ts'
import { makeCluster, removeHalfMade, requireSameMajor } from './cluster.ts'
import { chooseFolder, type Place, removeSocketFolder, requireReachable, socketFolder } from './cluster-folder.ts'
import { keepLogSmall } from './log.ts'
import { isRunning, type ProcessId } from './processes.ts'
import { type EmbeddedRecord, readRecord, writeRecord } from './record.ts'
import { becomesReady, findServer, isAsWeStartIt, launch, serverFailure, stopServer } from './server.ts'

interface Connection {
  host: string
  port: number
  user: string
  password: string
  database: string
}

export interface EmbeddedDatabase {
  /** The owner's options for postgres.js. The same at every start while the data folder stays where it is. */
  connection: Connection
  /** The options of the role that serves requests, likewise. */
  serviceConnection: Connection
  /** Whether this is the first start: the database has never been used before. */
  firstStart: boolean
  pid: number
  /** False when the server was ended from outside. To start it again is safe, and open pools reconnect. */
  isRunning(): boolean
  /** Stops the server in PostgreSQL's fast mode, kills it if that takes too long, and resolves when it is gone. */
  stop(): Promise<void>
}

export interface EmbeddedOptions {
  /** The number of processes of the service, each with its own connections; 1 by default. */
  processes?: number
  /** Instead of what npm installed. */
  binaries?: Binaries
  /** Instead of /var/lib/forecourt and /var/tmp/forecourt. */
  systemFolders?: string[]
}

type Log = (message: string) => void

/** The name of the service's database in the cluster. */
export const database = 'forecourt'
const logCheckSeconds = 60

/**
 * Starts the PostgreSQL that lives in the data folder, making it at the first start, or takes over one that a killed
 * Forecourt left running. The caller holds the folder's lock (`lockDataDir`). Refusals are a UserError.
 */
export async function startEmbeddedDatabase(
  dataDir: string,
  log: Log = () => {},
  options: EmbeddedOptions = {},
): Promise<EmbeddedDatabase> {
  try {
    if (process.platform === 'win32') {
      throw new UserError('The embedded database does not run on Windows: set DATABASE_URL.')
    }
    makeDataFolder(dataDir)
    return await start(realpathSync(dataDir), log, options)
  } catch (fault) {
    throw explainFault(fault, dataDir)
  }
}

async function start(dataDir: string, log: Log, options: EmbeddedOptions): Promise<EmbeddedDatabase> {
  const systemFolders = options.systemFolders ?? defaultSystemFolders
  const binaries = options.binaries ?? (await findBinaries())
  const earlier = readRecord(dataDir)
  if (earlier && !earlier.complete) await removeHalfMade(earlier.cluster)
  const place = chooseFolder(dataDir, systemFolders, log)
  const { processes = 1 } = options
  const firstStart = !place.record.complete
  if (existsSync(place.cluster)) requireSameMajor(place, binaries.version)
  let server = await adopt(place, processes, log)
  if (!server) {
    const binFolder = usableBinaries(binaries, place.user, { systemFolders, dataDir })
    if (!existsSync(place.cluster)) await makeCluster(place, binFolder)
    requireReachable(place)
    remember(place, { socketDir: socketFolder(place) })
    server = await launch(place, binFolder, processes, log)
  }
  try {
    await ensureDatabase(place)
    remember(place, { complete: true })
  } catch (fault) {
    await stopServer(server, place.cluster)
    throw fault
  }
  return handle(place, server, firstStart)
}

/**
 * Returns the server that is still running, if it was started as this version would start it and answers; stops any
 * other server.
 */
async function adopt(place: Place, processes: number, log: Log): Promise<ProcessId | undefined> {
  const server = findServer(place.cluster)
  if (!server) return undefined
  if (
    isAsWeStartIt(place, processes) &&
    (await becomesReady(server, place.cluster, log)) &&
    (await answers(place.record))
  ) {
    log('The embedded database was still running, and is used without a restart.')
    return server
  }
  log('The embedded database was still running, but did not answer or had other settings: it is restarted.')
  await stopServer(server, place.cluster)
  return undefined
}

function handle(place: Place, server: ProcessId, firstStart: boolean): EmbeddedDatabase {
  const { cluster, user, record } = place
  const rounds = startRounds(() => {
    if (!isRunning(server)) return
    try {
      keepLogSmall(cluster, user)
    } catch {
      // The log could not be opened; it is tried again later.
    }
  }, logCheckSeconds * 1000)
  let stopping: Promise<void> | undefined
  const stop = async () => {
    await rounds.stop()
    await stopServer(server, cluster)
    removeSocketFolder(place)
  }
  return {
    connection: connectionTo(record, database),
    serviceConnection: {
      ...connectionTo(record, database),
      user: record.serviceUser,
      password: record.servicePassword,
    },
    firstStart,
    pid: server.pid,
    isRunning: () => isRunning(server),
    stop: () => {
      stopping ??= stop()
      return stopping
    },
  }
}

export function connectionTo({ socketDir, port, user, password }: EmbeddedRecord, name: string): Connection {
  return { host: socketDir, port, user, password, database: name }
}

/**
 * Creates the database and the service's role at the first start; at later starts, makes sure that the service can
 * connect.
 */
async function ensureDatabase({ cluster, record }: Place): Promise<void> {
  try {
    if (record.complete) await run(record, database, 'select 1')
    else {
      const { serviceUser, servicePassword } = record
      await run(record, 'postgres', `create database ${database}`).catch(ignoreDuplicate)
      await run(record, 'postgres', `create role ${serviceUser} login`).catch(ignoreDuplicate)
      await run(record, 'postgres', `alter role ${serviceUser} password '${servicePassword}'`)
    }
  } catch (fault) {
    throw serverFailure(cluster, (fault as Error).message)
  }
}

/** A first start that was cut short had made it already. */
function ignoreDuplicate(fault: { code?: string }): void {
  if (fault.code !== '42P04' && fault.code !== '42710') throw fault
}

async function answers(record: EmbeddedRecord): Promise<boolean> {
  try {
    await run(record, 'postgres', 'select 1', 2)
    return true
  } catch {
    return false
  }
}

/** Runs one statement on its own connection, with a timeout. */
async function run(record: EmbeddedRecord, name: string, statement: string, timeoutSeconds = 30): Promise<void> {
  const sql = openPlainly(connectionTo(record, name))
  let timer: NodeJS.Timeout | undefined
  const silence = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('it does not answer')), timeoutSeconds * 1000)
  })
  try {
    await Promise.race([sql.unsafe(statement), silence])
  } finally {
    clearTimeout(timer)
    await sql.end({ timeout: 0 })
  }
}

function remember(place: Place, change: Partial<EmbeddedRecord>): void {
  const record = { ...place.record, ...change }
  if (JSON.stringify(record) !== JSON.stringify(place.record)) writeRecord(place.dataDir, record)
  place.record = record
}
