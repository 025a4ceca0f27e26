import { existsSync, realpathSync } from 'node:fs'
import { makeDataFolder } from '../database/data-folder.ts'
import { openPlainly } from '../database/open.ts'
import { explainFault } from '../database/system-fault.ts'
import { startRounds } from '../runtime/loop.ts'
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
  /** The owner's. The same at every start while the data folder stays where it is. */
  connection: Connection
  serviceConnection: Connection
  firstStart: boolean
  pid: number
  /** False if the server was ended from outside. To start it again is safe, and open pools reconnect. */
  isRunning(): boolean
  /** In PostgreSQL's fast mode; kills the server if that takes too long. Resolves when it is gone. */
  stop(): Promise<void>
}

export interface EmbeddedOptions {
  processes?: number
  /** Instead of what npm installed. */
  binaries?: Binaries
  /** Instead of /var/lib/forecourt and /var/tmp/forecourt. */
  systemFolders?: string[]
}

type Log = (message: string) => void

export const database = 'forecourt'
const logCheckSeconds = 60

/** Takes over a server that a killed Forecourt left running. The caller holds `lockDataDir`. Throws `UserError`. */
export async function startEmbeddedDatabase(
  dataDir: string,
  log: Log = () => {},
  options: EmbeddedOptions = {},
): Promise<EmbeddedDatabase> {
  try {
    if (process.platform === 'win32') {
      throw new UserError('The embedded database isn’t available on Windows. Set DATABASE_URL.')
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

/** Only a server that responds and was started as this version would start it; stops any other. */
async function adopt(place: Place, processes: number, log: Log): Promise<ProcessId | undefined> {
  const server = findServer(place.cluster)
  if (!server) return undefined
  if (
    isAsWeStartIt(place, processes) &&
    (await becomesReady(server, place.cluster, log)) &&
    (await answers(place.record))
  ) {
    log('The embedded database was already running and is used as it is.')
    return server
  }
  log('The embedded database was already running, but didn’t respond or had different settings. Restarting it.')
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

/** Creates the database and the service's role at the first start. */
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

/** A first start that was cut short had made it. */
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
