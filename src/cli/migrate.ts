import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../config.ts'
import { Database } from '../database/database.ts'
import { type MigrationStatus, readMigrations, readStatus } from '../database/migrate.ts'
import { waitForDatabase } from '../database/start.ts'
import { openBesideService } from '../embedded/command-database.ts'
import { recordPath } from '../embedded/record.ts'
import { prepareDatabase } from '../process/start.ts'
import { openLog } from '../runtime/log.ts'

export const migrationsFolder = join(import.meta.dirname, '..', '..', 'migrations')

/** Creates no database. */
export async function readMigrationStatus(config: Config): Promise<MigrationStatus[]> {
  if (config.databaseUrl === undefined && !existsSync(recordPath(config.dataDir))) {
    const known = readMigrations(migrationsFolder)
    return known.map(({ version, file, checksum }) => ({ version, file, checksum, appliedAt: null, fault: null }))
  }
  const { owner: target, close } = await openBesideService(config)
  const database = new Database(target, config.statementTimeoutMs)
  const log = openLog(config.logLevel)
  try {
    const sql = database.open(1)
    const { signal } = new AbortController()
    await waitForDatabase(sql, { target, seconds: config.databaseWaitSeconds, log, signal })
    return await readStatus(sql, migrationsFolder)
  } finally {
    await database.close()
    await close()
    log.flush()
  }
}

/** Migrates as a start does, but serves nothing. */
export async function migrateUp(config: Config): Promise<MigrationStatus[]> {
  const places = await openBesideService(config, { mayMake: true })
  const log = openLog(config.logLevel)
  try {
    await prepareDatabase(config, log, places, new AbortController().signal)
    const database = new Database(places.owner, config.statementTimeoutMs)
    try {
      return await readStatus(database.open(1), migrationsFolder)
    } finally {
      await database.close()
    }
  } finally {
    await places.close()
    log.flush()
  }
}
