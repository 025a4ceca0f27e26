import { realpathSync } from 'node:fs'
import type { Config } from '../config.ts'
import { readRecord } from './embedded/record.ts'
import { findServer } from './embedded/server.ts'
import { connectionTo, database as embeddedName, startEmbeddedDatabase } from './embedded.ts'
import { lockDataDir, lockHolder } from './instance-lock.ts'
import type { Target } from './open.ts'

/** The database of the settings, for work beside the service or while it is stopped. */
export interface BesideService {
  /** As who owns the schema. */
  owner: Target
  /** Of the embedded database: the role as which requests are served. */
  role?: string
  close(): Promise<void>
}

/** The embedded database as it runs under a service; undefined while it does not. */
export function findRunning(dataDir: string): BesideService | undefined {
  const record = readRecord(dataDir)
  if (!record?.complete || lockHolder(dataDir) === undefined) return undefined
  if (findServer(realpathSync(record.cluster)) === undefined) return undefined
  return { owner: connectionTo(record, embeddedName), role: record.serviceUser, close: async () => {} }
}

/**
 * Finds the database of the settings for a command: the embedded one is used as it runs, or else locked and started for
 * as long as the command takes. Refusals are a UserError.
 */
export async function openBesideService(
  { databaseUrl, dataDir }: Pick<Config, 'databaseUrl' | 'dataDir'>,
  log: (message: string) => void = () => {},
): Promise<BesideService> {
  if (databaseUrl !== undefined) return { owner: databaseUrl, close: async () => {} }
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
