import { basename, join, resolve } from 'node:path'
import type { Place } from '../backup/session.ts'
import { UserError, usageError } from '../runtime/user-error.ts'
import type { CliCommand } from './command.ts'
import type { Context } from './context.ts'
import { progressBar } from './progress.ts'

const migrationsFolder = join(import.meta.dirname, '..', '..', 'migrations')

export function backupCommands(program: CliCommand, context: Context): void {
  program
    .command('backup')
    .argument('[file]', 'file to write; - writes to standard output')
    .summary('back up the database to a file')
    .description(
      'Writes a consistent snapshot of the database to a file while the service runs. The file contains secrets: ' +
        'only its owner can read it; keep it that way. With --to, the file is named by its time and verified ' +
        'before it gets its final name. --keep N then verifies older backups and keeps the newest N intact ' +
        'ones; damaged files don’t count.',
    )
    .option('--to <folder>', 'folder to write to; the file is named by its time')
    .option('--keep <number>', 'number of intact backups to keep in the folder (default: all)')
    .example('backup /var/backups/forecourt.fcb')
    .example('backup --to /var/backups/forecourt --keep 14', 'nightly, from a timer')
    .example('backup - | age -r age1… > forecourt.fcb.age', 'encrypted')
    .action((path: string | undefined, options: FolderOptions) => backup(path, options, context))
  program
    .command('restore')
    .argument('<file>', 'backup file; - reads standard input')
    .summary('restores a backup into an empty database')
    .description(
      'Restores a backup into the configured database, which must be empty. Truncated or altered backups are ' +
        'refused before anything is written. Callbacks stay paused until `forecourt callbacks resume`.',
    )
    .example('restore /var/backups/forecourt.fcb')
    .example('restore forecourt.fcb', 'with DATABASE_URL set: from the embedded database to a server')
    .action((path: string) => restore(path, context))
  const callbacks = program.command('callbacks').description('Resumes callbacks after a restore.')
  callbacks
    .command('resume')
    .description('Resumes callbacks after a restore and sends the events of the pause.')
    .example('callbacks resume')
    .action(() => resume(context))
}

interface FolderOptions {
  to?: string
  keep?: string
}

interface Destination {
  path: string | undefined
  folder: string | undefined
  keep: number | undefined
}

async function destinationOf(path: string | undefined, { to, keep }: FolderOptions): Promise<Destination> {
  if ((path === undefined) === (to === undefined)) throw usageError('specify a file, or a folder with --to')
  if (keep !== undefined && to === undefined) throw usageError('--keep requires --to FOLDER')
  if (keep !== undefined && !/^[1-9]\d{0,5}$/.test(keep)) throw usageError('--keep must be a whole number, 1 or more')
  if (to === undefined)
    return { path: path === '-' ? undefined : resolve(path ?? ''), folder: undefined, keep: undefined }
  const { nameAt, prepareFolder } = await import('../backup/folder.ts')
  const folder = resolve(to)
  await prepareFolder(folder)
  return { path: join(folder, nameAt(new Date())), folder, keep: keep === undefined ? undefined : Number(keep) }
}

async function backup(given: string | undefined, options: FolderOptions, context: Context): Promise<void> {
  if (given === '-' && context.isJson) {
    throw usageError('with --json, the backup can’t be written to standard output; specify a file')
  }
  context.outlivesReader = given === '-'
  const { requireDatabase } = await import('../embedded/command-database.ts')
  // Before a folder is made for it.
  requireDatabase(context.config())
  const destination = await destinationOf(given, options)
  const {
    tables,
    rows,
    bytes,
    missingKeys,
    seconds: lasted,
  } = await atPlace(context, {}, (place) => takeAndNote(destination, place, context))
  if (missingKeys.length > 0) {
    context.remark(
      `The encryption key for callback secrets is not in the backup. Also keep the file from FORECOURT_SECRETS_KEY_FILE with the key ${missingKeys.join(' and ')}.`,
    )
  }
  const words = `${rows.toLocaleString('en')} rows of ${tables} tables, ${megabytes(bytes)}, in ${lasted.toFixed(1)} s.`
  const { path: file, folder } = destination
  if (file === undefined) {
    context.remark(words)
    return
  }
  const found = { file, tables, rows, bytes, seconds: lasted }
  if (folder === undefined) context.result(found, `${file}: ${words}`)
  else await prune(destination, found, `${file}: verified, ${words}`, context)
}

async function takeAndNote(destination: Destination, place: Place, context: Context) {
  const { recordBackup } = await import('../backup/record.ts')
  const [beganAt, began] = [new Date(), performance.now()]
  const seconds = () => (performance.now() - began) / 1000
  const path = destination.path ?? null
  const isVerified = destination.folder !== undefined
  try {
    const summary = { ...(await take(destination, place, context)), seconds: seconds() }
    const { rows, bytes } = summary
    const record = { beganAt, path, rows, bytes, seconds: summary.seconds, isVerified, failure: null }
    // A backup of a database that accepts no writes, such as a standby, is valid without its record.
    await recordBackup(place, record).catch((error) =>
      context.remark(`The backup is complete, but couldn’t be recorded in the database: ${error.message}`),
    )
    return summary
  } catch (error) {
    const failure = error instanceof Error ? error.message : String(error)
    const record = { beganAt, path, rows: null, bytes: null, seconds: seconds(), isVerified: false, failure }
    // The database may be the reason for both failures.
    await recordBackup(place, record).catch(() => {})
    throw error
  }
}

/** A file gets its name once all of it is on the disk, and in a folder once it was read again. */
async function take({ path, folder }: Destination, place: Place, context: Context) {
  const { takeBackup } = await import('../backup/backup.ts')
  const { PartialFile } = await import('../backup/file.ts')
  const { verifyBackup } = await import('../backup/format.ts')
  const file = path === undefined ? undefined : await PartialFile.create(path)
  try {
    const summary = await takeBackup({
      ...place,
      write: (piece) => (file === undefined ? writeOut(context, piece) : file.write(piece)),
      onProgress: progressBar(context),
    })
    if (folder !== undefined) await file?.read((whole) => verifyBackup(whole, () => {}))
    await file?.finish()
    return summary
  } finally {
    await file?.abandon()
  }
}

async function prune(
  { path, folder, keep }: Destination,
  found: object,
  words: string,
  context: Context,
): Promise<void> {
  const { keepNewest } = await import('../backup/folder.ts')
  if (path === undefined || folder === undefined || keep === undefined) {
    context.result({ ...found, verified: true }, words)
    return
  }
  const { kept, removed, damaged } = await keepNewest(folder, basename(path), keep)
  for (const name of damaged) {
    context.remark(
      `${join(folder, name)} is damaged and doesn’t count as a backup. Check the disk and delete the file.`,
    )
  }
  const outcome = `Kept ${kept.length} intact backups, deleted ${removed.length} older ones.`
  context.result({ ...found, verified: true, kept, removed, damaged }, `${words} ${outcome}`)
}

async function restore(path: string, context: Context): Promise<void> {
  const { explained, openBackup, spool } = await import('../backup/file.ts')
  const { requireRestorable, restoreBackup } = await import('../backup/restore.ts')
  const began = performance.now()
  const { secretsKeyFile: keyFile, dataDir } = context.config()
  const file = path === '-' ? await spool(context.stdin) : await openBackup(path)
  try {
    const onProgress = progressBar(context)
    const keys = { keyFile, dataDir, migrationsFolder }
    const verified = await explained(path, () => requireRestorable(file, keys, onProgress))
    await atPlace(context, { mayMake: true }, (place) =>
      explained(path, () => restoreBackup({ ...place, file, verified, onProgress })),
    )
    const { tables, takenAt } = verified.head
    const rows = tables.reduce((sum, table) => sum + table.rows, 0)
    const seconds = (performance.now() - began) / 1000
    context.result(
      { tables: tables.length, rows, takenAt, seconds, callbacks: 'paused' },
      `Restored and verified the backup of ${takenAt}: ${rows.toLocaleString('en')} rows in ${tables.length} tables, ${seconds.toFixed(1)} s.\n` +
        'Callbacks are paused, because this database may be a copy. To resume them: `forecourt callbacks resume`.',
    )
  } finally {
    await file.close()
  }
}

async function resume(context: Context): Promise<void> {
  const { inSession } = await import('../backup/session.ts')
  const { requireForecourt } = await import('../database/start.ts')
  const { endPause } = await import('../deliveries/store.ts')
  const wasPaused = await atPlace(context, {}, (place) =>
    inSession(place, async ({ sql }) => {
      await requireForecourt(sql, place.target)
      return endPause(sql)
    }),
  )
  const setting = context.config().callbacks
  const isOn =
    setting === 'on' ? 'Callbacks are on.' : 'Callbacks stay paused, because FORECOURT_CALLBACKS is set to paused.'
  context.result(
    { wasPaused, callbacks: setting },
    `${wasPaused ? '' : 'Callbacks were not paused by a restore. '}${isOn}`,
  )
}

/** Runs whether the service does or not. A signal ends it with nothing written. */
async function atPlace<Answer>(
  context: Context,
  options: { mayMake?: true },
  run: (place: Place) => Promise<Answer>,
): Promise<Answer> {
  const { openBesideService } = await import('../embedded/command-database.ts')
  const { openLog } = await import('../runtime/log.ts')
  const { databaseWaitSeconds: waitSeconds, statementTimeoutMs, secretsKeyFile: keyFile, ...config } = context.config()
  const stopping = new AbortController()
  const stop = (name: string) => stopping.abort(new UserError(`Stopped by ${name}. Nothing was written.`))
  process.on('SIGINT', stop).on('SIGTERM', stop)
  const log = openLog(config.logLevel === 'info' ? 'error' : config.logLevel)
  try {
    const { owner: target, close } = await openBesideService(config, {
      log: (message) => log.info(message),
      ...options,
    })
    try {
      const { dataDir } = config
      const { signal } = stopping
      return await run({ target, statementTimeoutMs, waitSeconds, keyFile, dataDir, migrationsFolder, log, signal })
    } finally {
      await close()
    }
  } catch (error) {
    // The terminal also ends the child processes, whose errors then explain nothing.
    throw stopping.signal.aborted ? stopping.signal.reason : error
  } finally {
    process.off('SIGINT', stop).off('SIGTERM', stop)
    log.flush()
  }
}

/** Throws if standard output ends early, so that the command fails and stops a database that it started. */
async function writeOut({ stdout }: Context, piece: Buffer): Promise<void> {
  const fault = await new Promise<Error | null | undefined>((resolve) => stdout.write(piece, resolve))
  if (!fault) return
  const { code, message } = fault as NodeJS.ErrnoException
  const why = code === 'EPIPE' ? 'was closed' : `cannot be written (${message})`
  throw new UserError(`Standard output ${why}. The backup is incomplete.`)
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`
}
