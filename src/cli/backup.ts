import { join, resolve } from 'node:path'
import type { Place } from '../backup/session.ts'
import type { Config } from '../config.ts'
import type { CliCommand } from './command.ts'
import type { Context } from './context.ts'
import { progressBar } from './progress.ts'

const migrationsFolder = join(import.meta.dirname, '..', '..', 'migrations')

/** Backup, restore, and what ends the pause of callbacks that a restore leaves. */
export function backupCommands(program: CliCommand, context: Context): void {
  program
    .command('backup')
    .argument('<file>', 'where it goes; - for standard output')
    .summary('writes all that the database holds into a file')
    .description(
      'Writes what the database of the settings holds at this moment into a file, while the service goes on. The file ' +
        'holds secrets: only its owner can read it, and so should it stay.',
    )
    .example('backup /var/backups/forecourt.fcb')
    .example('backup - | age -r age1… > forecourt.fcb.age', 'encrypted on its way')
    .action((path: string) => backup(path, context))
  program
    .command('restore')
    .argument('<file>', 'the backup; - for standard input')
    .summary('restores a backup into an empty database')
    .description(
      'Restores a backup into the database of the settings, which must be empty. A backup that was cut or altered is ' +
        'refused before anything is written. Callbacks stay paused until `forecourt callbacks resume`.',
    )
    .example('restore /var/backups/forecourt.fcb')
    .example('restore forecourt.fcb', 'with DATABASE_URL set: from the embedded database to a server')
    .action((path: string) => restore(path, context))
  const callbacks = program.command('callbacks').description('Callbacks after a restore.')
  callbacks
    .command('resume')
    .description('Lets callbacks go again that a restore has paused: what happened meanwhile is sent then.')
    .example('callbacks resume')
    .action(() => resume(context))
}

async function backup(path: string, context: Context): Promise<void> {
  const { takeBackup } = await import('../backup/backup.ts')
  const { PartialFile } = await import('../backup/file.ts')
  context.outlivesReader = path === '-'
  const began = performance.now()
  const config = context.config()
  await requireEmbedded(config)
  const file = path === '-' ? undefined : await PartialFile.create(resolve(path))
  try {
    const summary = await atPlace(context, (place) =>
      takeBackup({
        ...place,
        write: (piece) => (file === undefined ? writeOut(context, piece) : file.write(piece)),
        onProgress: progressBar(context),
      }),
    )
    await file?.finish()
    const seconds = (performance.now() - began) / 1000
    const { tables, rows, bytes, missingKeys } = summary
    if (missingKeys.length > 0) {
      context.remark(
        `The key for callback secrets is not in it: keep the file of FORECOURT_SECRETS_KEY_FILE with the key ${missingKeys.join(' and ')} as well.`,
      )
    }
    const words = `${rows.toLocaleString('en')} rows of ${tables} tables, ${megabytes(bytes)}, in ${seconds.toFixed(1)} s.`
    if (file === undefined) context.remark(words)
    else context.result({ file: path, tables, rows, bytes, seconds }, `${path}: ${words}`)
  } finally {
    // Nothing where it has its name.
    await file?.abandon()
  }
}

async function restore(path: string, context: Context): Promise<void> {
  const { openBackup, spool } = await import('../backup/file.ts')
  const { requireRestorable, restoreBackup } = await import('../backup/restore.ts')
  const began = performance.now()
  const { secretsKeyFile: keyFile, dataDir } = context.config()
  const file = path === '-' ? await spool(context.stdin) : await openBackup(path)
  try {
    const onProgress = progressBar(context)
    const verified = await requireRestorable(file, { keyFile, dataDir, migrationsFolder }, onProgress)
    await atPlace(context, (place) => restoreBackup({ ...place, file, verified, onProgress }))
    const { tables, takenAt } = verified.head
    const rows = tables.reduce((sum, table) => sum + table.rows, 0)
    const seconds = (performance.now() - began) / 1000
    context.result(
      { tables: tables.length, rows, takenAt, seconds, callbacks: 'paused' },
      `Restored, and compared with what was backed up at ${takenAt}: ${rows.toLocaleString('en')} rows of ${tables.length} tables, in ${seconds.toFixed(1)} s.\n` +
        'Callbacks are paused, as this may be a copy: `forecourt callbacks resume` lets them go.',
    )
  } finally {
    await file.close()
  }
}

async function resume(context: Context): Promise<void> {
  await requireEmbedded(context.config())
  const { inSession } = await import('../backup/session.ts')
  const { endPause } = await import('../deliveries/store.ts')
  const wasPaused = await atPlace(context, (place) => inSession(place, ({ sql }) => endPause(sql)))
  const setting = context.config().callbacks
  const isOn = setting === 'on' ? 'Callbacks are sent.' : 'Callbacks stay paused by FORECOURT_CALLBACKS.'
  context.result({ wasPaused, callbacks: setting }, `${wasPaused ? '' : 'No restore had paused them. '}${isOn}`)
}

/** Runs on the database of the settings, whether the service does or not. A signal ends it with nothing written. */
async function atPlace<Answer>(context: Context, run: (place: Place) => Promise<Answer>): Promise<Answer> {
  const { openBesideService } = await import('../database/beside.ts')
  const { StartError } = await import('../database/start-error.ts')
  const { openLog } = await import('../log.ts')
  const { databaseWaitSeconds: waitSeconds, statementTimeoutMs, secretsKeyFile: keyFile, ...config } = context.config()
  const stopping = new AbortController()
  const stop = (name: string) => stopping.abort(new StartError(`${name} ended it, and nothing was written.`))
  process.on('SIGINT', stop).on('SIGTERM', stop)
  // What helps people is thrown or told; the rest is for those who ask for it.
  const log = openLog(config.logLevel === 'info' ? 'error' : config.logLevel)
  try {
    const { owner: target, close } = await openBesideService(config, (message) => log.info(message))
    try {
      const { dataDir } = config
      const { signal } = stopping
      return await run({ target, statementTimeoutMs, waitSeconds, keyFile, dataDir, migrationsFolder, log, signal })
    } finally {
      await close()
    }
  } catch (error) {
    // The terminal ends what was started as well, and what that says of it is no reason.
    throw stopping.signal.aborted ? stopping.signal.reason : error
  } finally {
    process.off('SIGINT', stop).off('SIGTERM', stop)
    log.flush()
  }
}

/** A command that reads makes no database. */
async function requireEmbedded({ databaseUrl, dataDir }: Config): Promise<void> {
  if (databaseUrl !== undefined) return
  const { readRecord } = await import('../database/embedded/record.ts')
  const { StartError } = await import('../database/start-error.ts')
  if (readRecord(dataDir)?.complete) return
  throw new StartError(
    `There is no database in ${dataDir}: name its folder in FORECOURT_DATA_DIR, or its server in DATABASE_URL.`,
  )
}

/** Half a backup is none, and a database that was started for it is to be stopped. */
async function writeOut({ stdout }: Context, piece: Buffer): Promise<void> {
  const fault = await new Promise<Error | null | undefined>((resolve) => stdout.write(piece, resolve))
  if (!fault) return
  const { StartError } = await import('../database/start-error.ts')
  const { code, message } = fault as NodeJS.ErrnoException
  const why = code === 'EPIPE' ? 'was closed' : `cannot be written (${message})`
  throw new StartError(`Standard output ${why}, and the backup is not whole.`)
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`
}
