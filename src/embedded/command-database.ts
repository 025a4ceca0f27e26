import { realpathSync } from 'node:fs'
import type { Config } from '../config.ts'
import type { Target } from '../database/open.ts'
import { UserError } from '../runtime/user-error.ts'
import { connectionTo, database as embeddedName, startEmbeddedDatabase } from './embedded.ts'
import { lockDataDir, lockHolder } from './instance-lock.ts'
import { readRecord } from './record.ts'
import { findServer } from './server.ts'

/** For work beside the service or while it is stopped. */
export interface BesideService {
  owner: Target
  /** Serves requests, if the database is the embedded one. */
  role?: string
  close(): Promise<void>
}

/** Undefined unless it runs under a service. */
export function findRunning(dataDir: string): BesideService | undefined {
  const record = readRecord(dataDir)
  if (!record?.complete || lockHolder(dataDir) === undefined) return undefined
  if (findServer(realpathSync(record.cluster)) === undefined) return undefined
  return { owner: connectionTo(record, embeddedName), role: record.serviceUser, close: async () => {} }
}

export function requireDatabase({ databaseUrl, dataDir }: Pick<Config, 'databaseUrl' | 'dataDir'>): void {
  if (databaseUrl !== undefined || readRecord(dataDir)?.complete) return
  throw new UserError(
    `No Forecourt database found in ${dataDir}. Set FORECOURT_DATA_DIR to its folder, or DATABASE_URL to its server.`,
  )
}

export interface CommandOptions {
  log?: (message: string) => void
  /** Makes the embedded database if there is none, as a start does. */
  mayMake?: boolean
}

/** The embedded database is used as it runs, or locked and started for the command. Throws `UserError`. */
export async function openBesideService(
  { databaseUrl, dataDir }: Pick<Config, 'databaseUrl' | 'dataDir'>,
  { log = () => {}, mayMake = false }: CommandOptions = {},
): Promise<BesideService> {
  if (databaseUrl !== undefined) return { owner: databaseUrl, close: async () => {} }
  if (!mayMake) requireDatabase({ databaseUrl, dataDir })
  const running = findRunning(dataDir)
  if (running !== undefined) return running
  const lock = await lockDataDir(dataDir)
  try {
    const database = await startEmbeddedDatabase(dataDir, log)
    const close = async () => {
      await database.stop()
      lock.release()
    }
    return { owner: database.connection, role: database.serviceConnection.user, close }
  } catch (fault) {
    lock.release()
    throw fault
  }
}
