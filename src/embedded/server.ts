import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, existsSync, fstatSync, readFileSync, rmSync, statfsSync } from 'node:fs'
import { connect } from 'node:net'
import { totalmem } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { diskFull } from '../database/system-fault.ts'
import { UserError } from '../runtime/user-error.ts'
import { endOrphansIn, runAs } from './cluster.ts'
import { type Place, socketPath } from './cluster-folder.ts'
import { keepLogSmall, lastComplaint, openServerLog } from './log.ts'
import { findProcess, goneWithin, isPostgresIn, isRunning, type ProcessId, serverName, signal } from './processes.ts'

/** The server outlives us and our terminal's signals. */
export async function launch(
  place: Place,
  binFolder: string,
  processes: number,
  log: (message: string) => void,
): Promise<ProcessId> {
  const { cluster, user } = place
  await clearRemains(place)
  const output = openServerLog(cluster, user)
  const logged = fstatSync(output).size
  const child = spawn(join(binFolder, 'postgres'), serverArguments(place, processes), {
    ...runAs(user),
    detached: true,
    stdio: ['ignore', output, output],
  })
  closeSync(output)
  await once(child, 'spawn')
  child.unref()
  const server = child.pid && findProcess(child.pid)
  if (!server || !(await becomesReady(server, cluster, log)))
    throw serverFailure(cluster, lastComplaint(cluster, logged))
  return server
}

export function findServer(cluster: string): ProcessId | undefined {
  const pid = Number(postmasterFile(cluster)[0])
  return pid > 0 && isPostgresIn(pid, cluster) ? findProcess(pid) : undefined
}

/** In the same place and with the arguments that this version would use. */
export function isAsWeStartIt(place: Place, processes: number): boolean {
  const given = serverArguments(place, processes).map((argument) => ` "${argument}"`)
  return readIfThere(join(place.cluster, 'postmaster.opts')).trimEnd().endsWith(given.join(''))
}

/** Without a limit, because recovery after a crash can take long. False if the server ends instead. */
export async function becomesReady(
  server: ProcessId,
  cluster: string,
  log: (message: string) => void,
): Promise<boolean> {
  let reminder = performance.now() + 5000
  while (isRunning(server)) {
    const lines = postmasterFile(cluster)
    const status = Number(lines[0]) === server.pid ? lines[7]?.trim() : undefined
    if (status === 'ready') return true
    if (status === 'stopping') return false
    if (performance.now() > reminder) {
      reminder += 5000
      log('The embedded database is still starting.')
    }
    await sleep(10)
  }
  return false
}

/** Keeps the commits of its clients. Kills the server if that takes too long. */
export async function stopServer(server: ProcessId, cluster: string): Promise<void> {
  for (const [name, timeoutMs] of [
    ['SIGINT', 8000],
    ['SIGQUIT', 6000],
  ] as const) {
    signal(server, name)
    // A stopped process would not receive the other signal.
    signal(server, 'SIGCONT')
    if (await goneWithin(server, timeoutMs)) return
  }
  signal(server, 'SIGKILL')
  await goneWithin(server, 2000)
  await endOrphansIn(cluster)
}

/** No process of an earlier server may be alive, and no file of a dead one may look like a live server. */
async function clearRemains(place: Place): Promise<void> {
  const { cluster, user, record } = place
  await endOrphansIn(cluster)
  const socket = socketPath(record.socketDir, record.port)
  if (await somebodyAnswers(socket)) {
    throw new UserError(`Another server, possibly in another container, already uses the database in ${cluster}.`)
  }
  // PostgreSQL removes these files itself, unless it takes another process with that number for a running server.
  if (findStrayPid(cluster)) {
    rmSync(join(cluster, 'postmaster.pid'), { force: true })
    rmSync(`${socket}.lock`, { force: true })
  }
  keepLogSmall(cluster, user)
}

function findStrayPid(cluster: string): boolean {
  const pid = Number(postmasterFile(cluster)[0])
  if (!(pid > 0)) return false
  try {
    // Also true for a zombie.
    return process.kill(pid, 0)
  } catch (fault) {
    return (fault as NodeJS.ErrnoException).code !== 'ESRCH'
  }
}

/** Containers that share the folder reach each other's sockets, but do not see each other's processes. */
async function somebodyAnswers(path: string): Promise<boolean> {
  const socket = connect(path)
  try {
    await once(socket, 'connect')
    return true
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}

/** The most connections of a process of the service, with some to spare. */
const connectionsOfProcess = 32
/** For the start, for operators with psql, and for a second service while a database is moved. */
const otherConnections = 40

/**
 * A quarter of the memory, from 128 MB to 8 GB, because every create touches the indexes of bindings and the newest
 * partitions of history. PostgreSQL takes the memory only as the buffers fill.
 */
function sharedBufferMegabytes(): number {
  const limit = process.constrainedMemory() || Number.POSITIVE_INFINITY
  return Math.round(Math.min(8192, Math.max(128, Math.min(totalmem(), limit) / 4 / 1024 ** 2)))
}

/**
 * A sixteenth of the disk, from 4 to 16 GB: a longer log of changes means fewer checkpoints under sustained load, each
 * of which makes the next change of a page write the whole page, and a longer recovery after a crash.
 */
function maxLogGigabytes(cluster: string): number {
  const { blocks, bsize } = statfsSync(cluster)
  // Whole ones, because some file systems show a size that varies: a server with another setting is started again.
  return Math.round(Math.min(16, Math.max(4, (blocks * bsize) / 16 / 1024 ** 3)))
}

function serverArguments({ cluster, record }: Place, processes: number): string[] {
  const settings = {
    listen_addresses: '',
    // Quoted, because the setting is a list.
    unix_socket_directories: `"${record.socketDir}"`,
    unix_socket_permissions: '0700',
    cluster_name: serverName(cluster),
    fsync: 'on',
    autovacuum: 'on',
    jit: 'off',
    max_connections: String(Math.max(100, otherConnections + processes * connectionsOfProcess)),
    shared_buffers: `${sharedBufferMegabytes()}MB`,
    max_wal_size: `${maxLogGigabytes(cluster)}GB`,
    min_wal_size: '256MB',
    checkpoint_timeout: '15min',
    // This build only has pglz: saves a fifth of the bytes at most, for the processor time of a create.
    wal_compression: 'off',
    // Forecourt logs failed statements itself: their text and details hold secrets and people's data.
    log_min_messages: 'log',
    log_min_error_statement: 'panic',
    log_error_verbosity: 'terse',
    logging_collector: 'off',
    log_destination: 'stderr',
    log_timezone: 'UTC',
    timezone: 'UTC',
  }
  const given = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  return ['-D', cluster, '-p', String(record.port), ...given]
}

/** Says why the server failed, as far as its log or the disk shows. */
export function serverFailure(cluster: string, complaint: string | undefined): UserError {
  const { bavail, bsize } = statfsSync(cluster)
  // With a full disk the server cannot even write its complaint.
  if (/No space left|quota exceeded/i.test(complaint ?? '') || bavail * bsize < 1_000_000) return diskFull(cluster)
  return new UserError(`Can’t use the embedded database in ${cluster}: ${complaint ?? 'no reason given'}.`)
}

/** Process, folder, start, port, socket folder, address, shared memory, status. */
function postmasterFile(cluster: string): string[] {
  return readIfThere(join(cluster, 'postmaster.pid')).split('\n')
}

function readIfThere(path: string): string {
  return existsSync(path) ? readFileSync(path, 'utf8') : ''
}
