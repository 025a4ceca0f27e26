import type { FileHandle } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { findDistributed } from '../database/distribute.ts'
import { isOfBefore, readMigrations } from '../database/migrate.ts'
import { passwordOf, type Statements } from '../database/open.ts'
import { prepareSchema } from '../database/start.ts'
import { transaction } from '../database/transaction.ts'
import { UserError } from '../runtime/user-error.ts'
import { idOfKey } from '../secrets/box.ts'
import { findKeys, openSecrets } from '../secrets/open.ts'
import { BackupReader, RowSum, type Verified, verifyBackup } from './format.ts'
import type { Head, TableHead } from './head.ts'
import { isReplaced, isWrittenByItself } from './rules.ts'
import { inSession, type OnProgress, type Place, type Session } from './session.ts'
import * as store from './store.ts'

/** For fewer rows, to fill the existing indexes takes less time than to create them again. */
const fewRows = 10_000
/** The first start creates its application under this actor (src/process/first-application.ts). */
const firstStart = 'operator:first start'

/** Before the database is touched. */
export async function requireRestorable(
  file: FileHandle,
  { keyFile, dataDir, migrationsFolder }: Pick<Place, 'keyFile' | 'dataDir' | 'migrationsFolder'>,
  onProgress: OnProgress,
): Promise<Verified> {
  const { size } = await file.stat()
  let done = 0
  const verified = await verifyBackup(file, (bytes) => {
    done += bytes
    onProgress('verifying', done, size)
  })
  requireKnownSchema(verified.head, migrationsFolder)
  requireKeys(verified.head, { keyFile, dataDir })
  return verified
}

function requireKnownSchema({ migrations }: Head, migrationsFolder: string): void {
  const known = readMigrations(migrationsFolder)
  if (isOfBefore(migrations, known)) {
    throw new UserError(
      'The backup was taken by a version before 1.0.0, which this version cannot restore. Nothing was written.',
    )
  }
  if (migrations.length > known.length) {
    throw new UserError(
      `The backup is newer than this version of Forecourt: its schema is version ${migrations.length}, but this version supports ${known.length}. Nothing was written.`,
    )
  }
  const other = migrations.find(({ version, checksum }) => known[version - 1]?.checksum !== checksum)
  if (other === undefined) return
  throw new UserError(
    `The schema of the backup was made by another version of ${other.file} than this program has: restore it with the program that took it. Nothing was written.`,
  )
}

function requireKeys({ secrets }: Head, settings: Pick<Place, 'keyFile' | 'dataDir'>): void {
  const held = new Set([
    ...secrets.keys.map((key) => idOfKey(Buffer.from(key, 'base64'))),
    ...findKeys(settings).keys(),
  ])
  const missing = secrets.keyIds.find((keyId) => !held.has(keyId))
  if (missing === undefined) return
  throw new UserError(
    `The callback secrets in the backup are encrypted with the key ${missing}, which is stored in a separate file. Set FORECOURT_SECRETS_KEY_FILE to that file. Nothing was written.`,
  )
}

export interface RestoreOptions extends Place {
  file: FileHandle
  verified: Verified
  onProgress: OnProgress
}

/** One transaction: if it fails, the database stays as empty as before. Callbacks stay paused. */
export function restoreBackup(options: RestoreOptions): Promise<void> {
  return inSession(options, async (session) => {
    const wanted = options.verified.head.migrations.length
    const has = (await store.findMigrations(session.sql)).length
    if (has > wanted) await transaction(session.sql, dropNewerSchema)
    if (has !== wanted) await migrateTo(options, session, wanted)
    await transaction(session.sql, (tx) => load(tx, options))
    await migrateTo(options, session)
  })
}

function migrateTo(options: RestoreOptions, { sql, openAlone }: Session, upTo?: number): Promise<void> {
  const { target, migrationsFolder, log } = options
  const install = async () => {}
  const version = upTo === undefined ? {} : { upTo }
  return prepareSchema(sql, { target, openAlone, migrationsFolder, install, log, ...version })
}

async function load(tx: Statements, options: RestoreOptions): Promise<void> {
  const { file, verified, onProgress, target, keyFile, dataDir, log } = options
  const { head } = verified
  await store.disableStatementTimeout(tx)
  await store.raiseMaintenanceMemory(tx)
  const isDistributed = await findDistributed(tx)
  if (isDistributed) await store.writeToAllNodes(tx)
  requireKnownTables(head, await store.findTables(tx))
  const tables = await requireEmpty(tx)
  const seenCatalogue = await store.catalogueVersion(tx)
  await store.emptyTables(
    tx,
    tables.filter((name) => isReplaced({ name })),
  )

  let done = 0
  const reader = new BackupReader(file, verified, (bytes) => {
    done += bytes
    onProgress('writing', done, verified.bytes)
  })
  const sums: { table: TableHead; sum: RowSum }[] = []
  for (const table of head.tables) sums.push({ table, sum: await loadTable(tx, table, reader, isDistributed) })
  onProgress('counting', 0, sums.length)
  for (const [index, { table, sum }] of sums.entries()) {
    await requireEqual(tx, table, sum)
    onProgress('counting', index + 1, sums.length)
  }

  await store.resetLeasesAndPauseCallbacks(tx, head.tables, seenCatalogue)
  await openSecrets(tx, { keyFile, dataDir, password: passwordOf(target), log, alsoHeld: head.secrets.keys })
  await store.analyze(
    tx,
    head.tables.map(({ name }) => name),
  )
  for (const [name, last] of Object.entries(head.sequences)) {
    if (await store.setSequence(tx, name, last)) continue
    throw new UserError(
      `The backup uses the sequence ${name} to number rows, but its schema does not have that sequence.`,
    )
  }
}

/** Throws `UserError` for unknown ones: nothing else is named in a statement. */
function requireKnownTables(head: Head, known: readonly store.Table[]): void {
  const seen = new Set<string>()
  for (const { name, columns, partitions = null } of head.tables) {
    const table = known.find((one) => one.name === name && isReplaced(one))
    const column = columns.find((column) => !table?.columns.includes(column))
    const isAsPartitioned = partitions === null || table?.partitions != null
    if (table !== undefined && column === undefined && isAsPartitioned && !seen.has(name)) seen.add(name)
    else {
      const what =
        table === undefined || column === undefined || seen.has(name)
          ? `the table ${name}`
          : `the column ${column} of ${name}`
      throw new UserError(`The backup holds ${what}, which its schema does not have. Nothing was written.`)
    }
  }
}

/** Also locks all tables. Throws `UserError` if they hold more than a service writes by itself. */
async function requireEmpty(tx: Statements): Promise<string[]> {
  const tables = await store.findTables(tx)
  await store.lockTables(
    tx,
    tables.filter(isReplaced).map(({ name }) => name),
  )
  const inUse = async () => {
    for (const table of tables)
      if (!isWrittenByItself(table) && (await store.hasRows(tx, table.name))) return table.name
    if (await store.hasOtherApplications(tx, firstStart)) return 'application'
    if (await store.hasRows(tx, 'operator', 'password_hash is not null')) return 'operator'
    return undefined
  }
  const held = await inUse()
  if (held === undefined) return tables.map(({ name }) => name)
  throw new UserError(
    `The database isn’t empty (${held}). Restore into a new database or a new data folder. Nothing was written.`,
  )
}

/** The backup's schema is created in its place, and migrated with the data in it. */
async function dropNewerSchema(tx: Statements): Promise<void> {
  const tables = await requireEmpty(tx)
  if (await findDistributed(tx)) {
    throw new UserError(
      'The database is distributed, and its schema is newer than the backup’s: distribute a new database with the program that took the backup. Nothing was written.',
    )
  }
  await store.dropSchema(tx, tables)
}

async function loadTable(
  tx: Statements,
  table: TableHead,
  reader: BackupReader,
  isDistributed: boolean,
): Promise<RowSum> {
  const { partitions = null } = table
  if (partitions !== null) await store.replacePartitions(tx, table.name, partitions)
  const indexes = table.rows < fewRows || isDistributed ? [] : await store.findIndexes(tx, table.name)
  await store.changeIndexes(
    tx,
    indexes.map(({ drop }) => drop),
  )
  // PostgreSQL freezes no rows on their way into partitions.
  const isFrozen = !isDistributed && partitions === null
  const sum = new RowSum()
  await pipeline(Readable.from(summed(reader.nextTable(), sum)), await store.writeRows(tx, table, isFrozen))
  await store.changeIndexes(
    tx,
    indexes.map(({ create }) => create),
  )
  return sum
}

async function* summed(texts: AsyncIterable<Buffer>, sum: RowSum): AsyncGenerator<Buffer> {
  for await (const text of texts) {
    sum.add(text)
    yield text
  }
}

/** Reads the table again; throws `UserError` if it is not what was written. */
async function requireEqual(tx: Statements, table: TableHead, written: RowSum): Promise<void> {
  const sum = new RowSum()
  for await (const text of store.readRows(tx, table)) sum.add(text)
  if (sum.equals(written)) return
  throw new UserError(
    `Verification failed: the rows restored into ${table.name} differ from the backup (${sum.rows} of ${table.rows} rows). The restore was rolled back.`,
  )
}
