import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Sql } from './open.ts'
import { StartError } from './start-error.ts'
import { transaction } from './transaction.ts'

interface Migration {
  version: number
  file: string
}

/** Any constant that no application's lock can equal in practice; it keeps two starting processes apart. */
const migrationLock = 7_103_120_031

/** The numbered files of a folder, in order. */
export function readMigrations(folder: string): Migration[] {
  const migrations = readdirSync(folder)
    .filter((file) => /^\d{4}-.+\.sql$/.test(file))
    .sort()
    .map((file) => ({ version: Number(file.slice(0, 4)), file }))
  migrations.forEach((migration, index) => {
    if (migration.version !== index + 1) throw new Error(`migrations/${migration.file} breaks the numbering`)
  })
  return migrations
}

/**
 * Brings the schema up to this program's version, forward only. Two processes that start at once wait for each other.
 * Refuses a database that a newer program has migrated.
 */
export async function migrate(sql: Sql, folder: string): Promise<void> {
  const migrations = readMigrations(folder)
  await transaction(sql, async (tx) => {
    // Before the lock: another process may take its time with a migration.
    await tx`set local statement_timeout = 0`
    await tx`select pg_advisory_xact_lock(${migrationLock})`
    await tx`
      create table if not exists schema_migration (
        version integer primary key,
        file text not null,
        applied_at timestamptz not null default now()
      )`
    const applied = await appliedVersion(tx)
    if (applied > migrations.length) {
      throw new StartError(
        `The database is newer than this program: its schema is version ${applied}, and this program knows ${migrations.length}.`,
      )
    }
    for (const { version, file } of migrations.slice(applied)) {
      await tx.unsafe(readFileSync(join(folder, file), 'utf8'))
      await tx`insert into schema_migration (version, file) values (${version}, ${file})`
    }
  })
}

/** The newest version that was applied to the database; 0 for none. */
export async function appliedVersion(sql: Pick<Sql, 'unsafe'>): Promise<number> {
  const [row] = await sql.unsafe<[{ version: number }]>(
    'select coalesce(max(version), 0) as version from schema_migration',
  )
  return row.version
}
