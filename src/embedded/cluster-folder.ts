import { randomBytes } from 'node:crypto'
import { chownSync, existsSync, lstatSync, mkdtempSync, readFileSync, realpathSync, rmdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { UserError } from '../runtime/user-error.ts'
import { makeOpenFolder, systemFolder } from './binaries.ts'
import { findProcess } from './processes.ts'
import { type EmbeddedRecord, newRecord, readRecord, recordPath, writeRecord } from './record.ts'
import { closedFolder, clusterUser, type ServerUser, serverUser } from './user.ts'

export interface Place {
  dataDir: string
  cluster: string
  /** Set if we are root, which cannot run PostgreSQL. */
  user: ServerUser | undefined
  record: EmbeddedRecord
}

/** The kernel's limit for a socket's path is 108 bytes, on some systems 104. */
const longestSocketPath = 100

/** A new place if there is no record, or the first start was cut short. */
export function chooseFolder(dataDir: string, systemFolders: string[], log: (message: string) => void): Place {
  const record = readRecord(dataDir)
  if (record && existsSync(record.cluster)) {
    const cluster = realpathSync(record.cluster)
    return { dataDir, cluster, user: clusterUser(cluster), record }
  }
  if (record?.complete) {
    throw new UserError(
      `The database in ${record.cluster} is missing. Restore it, or delete ${recordPath(dataDir)} to start with an empty one.`,
    )
  }
  return newPlace(dataDir, systemFolders, log)
}

function newPlace(dataDir: string, systemFolders: string[], log: (message: string) => void): Place {
  const inside = join(dataDir, 'postgres')
  if (existsSync(inside)) {
    throw new UserError(
      `${inside} has a database, but its password is missing. Restore ${recordPath(dataDir)}, or move the folder away.`,
    )
  }
  const user = serverUser()
  const closed = user && closedFolder(dataDir, user)
  const cluster = user && closed ? outsideCluster(systemFolders, user) : inside
  if (user && closed)
    log(`The embedded database is stored in ${cluster}, because the user ${user.name} has no access to ${closed}.`)
  const record = newRecord(cluster)
  // Written before anything is created, so that a later start finds what a killed one left.
  writeRecord(dataDir, record)
  return { dataDir, cluster, user, record }
}

function outsideCluster(systemFolders: string[], user: ServerUser): string {
  const clusters = join(systemFolder(systemFolders, user), 'clusters')
  makeOpenFolder(clusters)
  return join(clusters, randomBytes(8).toString('hex'))
}

/** For example because the project was moved into a closed folder. */
export function requireReachable({ cluster, user }: Place): void {
  const closed = user && closedFolder(cluster, user)
  if (closed)
    throw new UserError(`The database in ${cluster} runs as the user ${user.name}, who has no access to ${closed}.`)
}

export function give(path: string, user: ServerUser | undefined): void {
  if (user) chownSync(path, user.uid, user.gid)
}

/** The cluster's, unless its path is too long or has characters that mean something in the server's list of folders. */
export function socketFolder({ cluster, user, record }: Place): string {
  const { port } = record
  const plain = /^[\w./@+-]+$/.test(cluster)
  if (plain && Buffer.byteLength(socketPath(cluster, port)) <= longestSocketPath) return cluster
  // Stays the same while it exists, so that open pools find a restarted server again.
  if (isPrivate(record.socketDir, user) && !isTaken(socketPath(record.socketDir, port))) return record.socketDir
  const folder = mkdtempSync(join(temporaryFolder(user), 'forecourt-'))
  give(folder, user)
  return folder
}

function temporaryFolder(user: ServerUser | undefined): string {
  const fits = (folder: string) => folder.length < 60 && existsSync(folder) && !(user && closedFolder(folder, user))
  return realpathSync([tmpdir(), '/var/tmp'].find(fits) ?? '/tmp')
}

export function socketPath(folder: string, number: number): string {
  return join(folder, `.s.PGSQL.${number}`)
}

/** If the server has left it empty. */
export function removeSocketFolder({ cluster, record }: Place): void {
  if (record.socketDir === cluster) return
  try {
    rmdirSync(record.socketDir)
  } catch {}
}

function isPrivate(folder: string, user: ServerUser | undefined): boolean {
  if (!folder || !existsSync(folder)) return false
  const stats = lstatSync(folder)
  return stats.isDirectory() && stats.uid === (user?.uid ?? process.getuid?.()) && (stats.mode & 0o777) === 0o700
}

/** True if this data folder is a copy whose original still runs. */
function isTaken(socket: string): boolean {
  const path = `${socket}.lock`
  return existsSync(path) && findProcess(Number.parseInt(readFileSync(path, 'utf8'), 10)) !== undefined
}
