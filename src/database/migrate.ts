import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import { UserError } from '../runtime/user-error.ts'
import { distributeNew } from './distribute.ts'
import type { Sql, Statements } from './open.ts'
import { transaction } from './transaction.ts'

interface Migration {
  version: number
  file: string
  text: string
  checksum: string
  holds: string | undefined
}

/** Keeps two starting processes apart. It is any constant that no application's lock equals in practice. */
const migrationLock = 7_103_120_031
const lookEveryMs = 200
/**
 * Limits how long a migration waits for a lock. Later statements on the table queue behind it, so this is the longest
 * pause an attempt causes; the queue drains between attempts.
 */
const lockTimeoutMs = 2_000
const lockRetryMs = 3_000

/**
 * A file that begins with this line runs outside a transaction, as `create index concurrently` needs. It must be
 * repeatable, because a kill can leave half of it done. Only ends of statements may have a semicolon at the end of a
 * line. Without a lock timeout, it may hold only statements that block no writer.
 */
const outsideMarker = '-- outside a transaction\n'

/** A file that may block writers says so in its head; a test demands it (`test/migration-statements.ts`). */
const holdsMarker = /^(?:--.*\n)*?-- holds the write path: (\S.*)/

export function readMigrations(folder: string): Migration[] {
  const files = readdirSync(folder).filter((file) => /^\d{4}-.+\.sql$/.test(file))
  return files.sort().map((file, index) => {
    if (Number(file.slice(0, 4)) !== index + 1)
      throw new Error(`migrations/${file} does not have the next number: migrations are numbered without gaps`)
    const text = readFileSync(join(folder, file), 'utf8')
    const checksum = createHash('sha256').update(text).digest('hex')
    return { version: index + 1, file, text, checksum, holds: holdsMarker.exec(text)?.[1] }
  })
}

/**
 * Brings the schema up to this program's version or `upTo`, one transaction per file. Refuses the database of a newer
 * program, and files that were changed after they were applied. `openAlone` opens a pool of one connection.
 */
export async function migrate(
  sql: Sql,
  openAlone: () => Sql,
  folder: string,
  log: Pick<Logger, 'info'>,
  upTo = Number.POSITIVE_INFINITY,
): Promise<void> {
  const migrations = readMigrations(folder).slice(0, upTo)
  let isWaiting = false
  let isNew = false
  let announced = 0
  const announce = ({ version, file, holds }: Migration) => {
    isNew ||= version === 1
    // A database that this run has created has no other writers.
    if (holds === undefined || isNew || version === announced) return
    announced = version
    log.info({ file, reason: holds }, 'this migration blocks writes while it runs')
  }
  for (;;) {
    const began = performance.now()
    const outcome = await transaction(sql, (tx) => applyNext(tx, openAlone, migrations, announce)).catch(lockedOut)
    if (outcome === 'complete') return
    if (outcome instanceof Error) {
      log.info({ reason: outcome.message }, 'migration couldn’t lock its tables; will retry')
      await sleep(lockRetryMs)
    } else if (outcome === 'busy') {
      if (!isWaiting) log.info('waiting for another process to migrate the schema')
      isWaiting = true
      await sleep(lookEveryMs)
    } else {
      log.info({ file: outcome.file, milliseconds: Math.round(performance.now() - began) }, 'migration applied')
    }
  }
}

/** These mean a lock timeout or a deadlock. */
const lockedOutCodes = ['55P03', '40P01']

function lockedOut(error: unknown): Error {
  if (error instanceof Error && lockedOutCodes.includes(String((error as { code?: string }).code))) return error
  throw error
}

/** Applies the next file. Returns `busy` if another process is doing it. */
async function applyNext(
  tx: Statements,
  openAlone: () => Sql,
  migrations: Migration[],
  announce: (next: Migration) => void,
): Promise<Migration | 'complete' | 'busy'> {
  await tx`set local statement_timeout = 0`
  // A statement that waited for the lock would hold up `create index concurrently`, which waits for all statements.
  const [lock] = await tx`select pg_try_advisory_xact_lock(${migrationLock}) as is_ours`
  if (!lock?.is_ours) return 'busy'
  const next = migrations[requireKnown(await readApplied(tx), migrations)]
  if (next === undefined) return 'complete'
  announce(next)
  try {
    await (next.text.startsWith(outsideMarker) ? runOutside(tx, openAlone(), next.text) : runInside(tx, next.text))
    await distributeNew(tx)
  } catch (error) {
    if (error instanceof Error) error.message = `${next.file}: ${error.message}`
    throw error
  }
  await tx`
    insert into schema_migration (version, file, checksum) values (${next.version}, ${next.file}, ${next.checksum})`
  return next
}

interface Applied {
  version: number
  file: string
  checksum: string | null
}

async function readApplied(tx: Statements): Promise<Applied[]> {
  // `create table if not exists` needs the right to create even if the table exists.
  const [table] = await tx`select to_regclass('schema_migration') is not null as exists`
  if (!table?.exists) {
    await tx`
      create table schema_migration (
        version integer primary key,
        file text not null,
        checksum text,
        applied_at timestamptz not null default now()
      )`
  }
  return tx<Applied[]>`select version, file, checksum from schema_migration order by version`
}

function requireKnown(applied: Applied[], migrations: Migration[]): number {
  const newest = applied.at(-1)?.version ?? 0
  if (newest > 0 && isOfBefore(applied, migrations)) {
    throw new UserError(
      'The database was created by a version before 1.0.0, which this version cannot upgrade: use an empty database or data folder.',
    )
  }
  if (newest > migrations.length) {
    throw new UserError(
      `The database is newer than this version of Forecourt: its schema is version ${newest}, but this version supports ${migrations.length}. Run a newer version.`,
    )
  }
  for (const { version, file, checksum } of applied) {
    if (migrations[version - 1]?.checksum === checksum) continue
    throw new UserError(
      `Migration ${file} differs from the version that was applied to the database. Restore the file and make the change in a new migration.`,
    )
  }
  return newest
}

/** Tells whether a schema is older than 1.0.0: its first file is not this program's. */
export const isOfBefore = (
  applied: readonly { checksum: string | null }[],
  known: readonly Pick<Migration, 'checksum'>[],
): boolean => applied[0]?.checksum !== known[0]?.checksum

async function runInside(tx: Statements, text: string): Promise<void> {
  await tx.unsafe(`set local lock_timeout = ${lockTimeoutMs}`)
  await tx.unsafe(text)
  await tx`set local lock_timeout = 0`
}

async function runOutside(tx: Statements, alone: Sql, text: string): Promise<void> {
  // Sent by the simple protocol, this ends the last prepared statement's snapshot, which `create index concurrently`
  // would wait for.
  await tx.unsafe('set local idle_in_transaction_session_timeout = 0')
  try {
    await alone`set statement_timeout = 0`
    for (const statement of text.split(/;[ \t]*$/m)) {
      if (statement.trim() !== '') await alone.unsafe(statement)
    }
  } finally {
    await alone.end({ timeout: 1 })
  }
}

export interface MigrationStatus {
  version: number
  file: string
  checksum: string | null
  appliedAt: Date | null
  /** `altered`: the file differs from the applied one. `unknown`: a newer program applied it. */
  fault: 'altered' | 'unknown' | null
}

/** Reads the applied and pending migrations. Changes nothing. */
export async function readStatus(sql: Sql, folder: string): Promise<MigrationStatus[]> {
  const [table] = await sql`select to_regclass('schema_migration') is not null as exists`
  const applied = table?.exists
    ? await sql<Omit<MigrationStatus, 'fault'>[]>`
        select version, file, checksum, applied_at as "appliedAt" from schema_migration order by version`
    : []
  const known = readMigrations(folder)
  const done = applied.map((row): MigrationStatus => {
    const ours = known[row.version - 1]
    return { ...row, fault: ours === undefined ? 'unknown' : ours.checksum === row.checksum ? null : 'altered' }
  })
  const newest = applied.at(-1)?.version ?? 0
  const waiting = known.slice(newest).map(({ version, file, checksum }) => ({ version, file, checksum }))
  return [...done, ...waiting.map((row) => ({ ...row, appliedAt: null, fault: null }))]
}

/** Returns the newest applied version; 0 for none. */
export async function appliedVersion(sql: Pick<Sql, 'unsafe'>): Promise<number> {
  const [row] = await sql.unsafe<[{ version: number }]>(
    'select coalesce(max(version), 0) as version from schema_migration',
  )
  return row.version
}
