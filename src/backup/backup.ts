import { findDistributed } from '../database/distribute.ts'
import { readMigrations } from '../database/migrate.ts'
import { passwordOf, type Statements } from '../database/open.ts'
import { requireForecourt } from '../database/start.ts'
import { transaction } from '../database/transaction.ts'
import { UserError } from '../runtime/user-error.ts'
import { exportKeys } from '../secrets/open.ts'
import { BackupWriter } from './format.ts'
import { isKept, sortByReference } from './rules.ts'
import { inSession, type OnProgress, type Place } from './session.ts'
import * as store from './store.ts'

export interface BackupOptions extends Place {
  /** Called for one piece after the other. */
  write: (piece: Buffer) => Promise<void>
  onProgress: OnProgress
}

export interface BackupSummary {
  tables: number
  rows: number
  bytes: number
  /** Keys that the secrets need and the backup does not hold. */
  missingKeys: string[]
}

/** Of one moment. The service keeps running. */
export function takeBackup({ write, onProgress, ...place }: BackupOptions): Promise<BackupSummary> {
  const { target, keyFile, dataDir, migrationsFolder } = place
  return inSession(place, async ({ sql, openAlone }) => {
    await requireForecourt(sql, target)
    const isDistributed = await findDistributed(sql)
    return transaction(
      sql,
      async (tx) => {
        await store.disableStatementTimeout(tx)
        const takenAt = new Date().toISOString()
        if (isDistributed) await store.beginOnAllNodes(tx, openAlone())
        // The first query takes the transaction's snapshot.
        const migrations = await findKnownMigrations(tx, migrationsFolder)
        const secrets = await exportKeys(tx, { keyFile, dataDir, password: passwordOf(target) })
        const found = sortByReference((await store.findTables(tx)).filter(isKept))
        const tables = []
        for (const [index, { name, columns, partitions }] of found.entries()) {
          onProgress('counting', index, found.length)
          tables.push({ name, columns, partitions, rows: await store.countRows(tx, name) })
        }
        const postgres = await store.serverVersion(tx)
        const sequences = await store.findSequences(tx)
        const writer = new BackupWriter(write)
        await writer.begin({ takenAt, postgres, migrations, secrets, sequences, tables })
        const rows = tables.reduce((sum, table) => sum + table.rows, 0)
        let done = 0
        for (const table of tables) {
          await writer.addTable(table, store.readRows(tx, table), (more) => {
            done += more
            onProgress('reading', done, rows)
          })
        }
        await writer.end()
        const missingKeys = secrets.keys.length === 0 ? secrets.keyIds : []
        return { tables: tables.length, rows, bytes: writer.bytes, missingKeys }
      },
      'isolation level repeatable read read only',
    )
  })
}

async function findKnownMigrations(tx: Statements, migrationsFolder: string) {
  const migrations = await store.findMigrations(tx)
  if (migrations.length === 0) throw new UserError('Nothing to back up: the database has no Forecourt data yet.')
  if (migrations.length > readMigrations(migrationsFolder).length) {
    throw new UserError(
      'The database schema is newer than this version. Take the backup with the version that runs on this database.',
    )
  }
  return migrations
}
