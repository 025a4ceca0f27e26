import { createReadStream, statSync } from 'node:fs'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { Argument, Option } from 'commander'
import type { Import } from '#sdk/api'
import { UserError, usageError } from '../runtime/user-error.ts'
import { collect, fileName, filtersOf, wholeNumber } from './arguments.ts'
import type { CliCommand } from './command.ts'
import type { Context } from './context.ts'
import { jobStatuses, waitForJob, watch } from './jobs.ts'
import { progressBar } from './progress.ts'
import { sheet } from './table.ts'

interface ImportOptions {
  app?: string
  format?: 'csv' | 'ndjson'
  mode?: 'create' | 'upsert'
  dryRun?: true
  ignoreColumns?: string
  charset?: string
  refused?: string
}

interface ExportOptions {
  app?: string
  format: 'csv' | 'ndjson' | 'geojson'
  output?: string
  filter?: string[]
}

const importKinds = {
  sites: 'Creates sites from a file. Columns are the fields of a site.',
  devices: 'Creates devices from a file. Columns are the fields of a device.',
  placements: 'Adds devices to sites from a file. Columns are the fields of a placement.',
  inventory: 'Adds serial numbers and their models to the inventory.',
} as const
const exportKinds = [
  ...(['sites', 'devices', 'placements', 'billingRules', 'priceChanges'] as const),
  ...(['events', 'audit', 'deliveries', 'refusals'] as const),
]
type ExportKind = (typeof exportKinds)[number]

export function bulkCommands(program: CliCommand, context: Context): void {
  const imports = program
    .command('import')
    .summary('import a file of rows')
    .description(
      'Uploads a CSV or NDJSON file of up to 1 GB and waits until its rows are processed. You can upload a file again: rows that already exist with the same content are counted as existing. Exits with 4 if rows were refused.',
    )
  for (const [kind, description] of Object.entries(importKinds) as [keyof typeof importKinds, string][]) {
    const command = imports
      .command(kind)
      .description(description)
      .argument('<file>', 'file to import; - reads standard input')
    if (kind !== 'inventory') command.requiredOption('--app <appid>', 'application that will own the rows')
    command
      .addOption(
        new Option('--format <format>', 'file format (default: from the file extension, otherwise csv)').choices([
          'csv',
          'ndjson',
        ]),
      )
      .addOption(
        new Option(
          '--mode <mode>',
          'upsert: update existing rows, matching devices and placements by deviceNo and sites by id (default: create)',
        ).choices(['create', 'upsert']),
      )
      .addOption(
        new Option(
          '--charset <encoding>',
          'the encoding of a CSV file (default: detected; needed where both can read it)',
        ).choices(['utf-8', 'gb18030']),
      )
      .option('--dry-run', 'show what would happen, without writing anything')
      .option('--ignore-columns <names>', 'CSV columns to ignore, separated by commas')
      .addOption(refusedOption())
      .example(`import ${kind} ${kind}.csv${kind === 'inventory' ? '' : ' --app 0f4a1b9c2d3e4f5a6b7c'} --dry-run`)
      .action((file: string, options: ImportOptions) => importFile(kind, file, options, context))
  }
  imports
    .command('wait')
    .description('Waits for an import that is already running and prints its result.')
    .argument('<id>', 'ID of the import', wholeNumber(1))
    .addOption(refusedOption())
    .example('import wait 12', 'after Ctrl-C')
    .example('import wait 12 --refused refused.csv', 'save the refused rows to correct and import them again')
    .action((id: number, { refused }: Pick<ImportOptions, 'refused'>) =>
      watch(context, (signal) => waitFor(id, refused, signal, context)),
    )
  imports
    .command('cancel')
    .description('Cancels an import. Rows already written are kept.')
    .argument('<id>', 'ID of the import', wholeNumber(1))
    .option('--app <appid>', 'application of the import')
    .example('import cancel 12')
    .action(async (id: number, { app: appId }: { app?: string }) => {
      const cancelled = await context.client().cancelImport({ id, appId })
      context.result(cancelled, sheetOf(cancelled))
    })

  program
    .command('export')
    .summary('download rows as a file')
    .description('Downloads all rows of one kind as a file, with the filters of its list operation.')
    .addArgument(new Argument('<kind>', 'kind of rows').choices(exportKinds))
    .addOption(
      new Option('--format <format>', 'file format; geojson (WGS 84) only for sites and devices')
        .choices(['csv', 'ndjson', 'geojson'])
        .default('csv'),
    )
    .option('--app <appid>', 'only this application')
    .option('--filter <name=value>', 'filter of the list operation; repeatable', collect)
    .option(
      '--output <file>',
      'file to write; it appears under this name when complete (default, and -: standard output)',
    )
    .example('export devices --output devices.csv')
    .example('export sites --filter cityCode=360100 --format geojson > nanchang.geojson')
    .action((kind: ExportKind, options: ExportOptions) => exportFile(kind, options, context))
}

const refusedOption = () =>
  new Option('--refused <file>', 'save refused rows as they were sent, with the reason for each').argParser(fileName)

async function importFile(
  kind: keyof typeof importKinds,
  file: string,
  options: ImportOptions,
  context: Context,
): Promise<void> {
  const client = context.client()
  const format = options.format ?? (/\.(ndjson|jsonl)$/i.test(file) ? 'ndjson' : 'csv')
  await watch(context, async (signal) => {
    const { pieces, size } = openInput(file, context)
    const draw = progressBar(context)
    let sent = 0
    let fault: unknown
    const counted = async function* () {
      try {
        for await (const piece of pieces) {
          sent += piece.length
          if (size !== undefined) draw('sent', Math.min(sent, size - 1), size)
          yield piece
        }
      } catch (error) {
        fault = error
        throw error
      }
    }
    const { app: appId, mode, ignoreColumns, charset } = options
    const query = { kind, format, appId, mode, ignoreColumns, dryRun: options.dryRun && ('true' as const) }
    const begun = await client
      .createImport({ ...query, charset, file: streamOf(counted()) }, { signal })
      .catch((error) => {
        if (fault !== undefined) throw unreadable(file, fault)
        if (!signal.aborted) throw error
        throw new UserError(
          'The upload was interrupted before the service responded. Import the file again: rows already written count as existing.',
        )
      })
    draw('sent', 1, 1)
    await waitFor(begun.id, options.refused, signal, context)
  })
}

function openInput(file: string, { stdin }: Context): { pieces: AsyncIterable<Uint8Array>; size?: number } {
  if (file === '-') return { pieces: stdin }
  try {
    const stats = statSync(file)
    if (stats.isDirectory()) throw usageError(`${file} is a folder; specify a file, or - for standard input`)
    return { pieces: createReadStream(file), size: stats.size }
  } catch (error) {
    if (error instanceof UserError) throw error
    throw unreadable(file, error)
  }
}

function unreadable(file: string, error: unknown): UserError {
  return new UserError(`Can’t read ${file} (${(error as NodeJS.ErrnoException).code}).`)
}

/** Read no faster than it is sent. */
function streamOf(pieces: AsyncIterable<Uint8Array>): ReadableStream<Uint8Array> {
  const reading = pieces[Symbol.asyncIterator]()
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await reading.next()
      if (done) controller.close()
      else controller.enqueue(value)
    },
    async cancel() {
      await reading.return?.()
    },
  })
}

function waitFor(id: number, refused: string | undefined, signal: AbortSignal, context: Context): Promise<void> {
  const client = context.client()
  return waitForJob<Import>(id, signal, context, {
    noun: 'import',
    get: () => client.getImport({ id }, { signal }),
    refusedRows: () => client.getImportResult({ id, outcome: 'refused' }, { signal }),
    async saveRefused() {
      if (refused === undefined) return
      const { body } = await client.getImportResult({ id, rows: 'true' }, { signal })
      await saveWhole(refused, body as ReadableStream<Uint8Array> & AsyncIterable<Uint8Array>)
    },
    progress: ({ bytesRead, bytes }) => [bytesRead, bytes],
    sheetOf,
    onFailure: 'Rows already written are kept. Import the file again to continue.',
    onCancel: 'Rows already written are kept.',
  })
}

function sheetOf(job: Import): string {
  const { id, kind, mode, dryRun, status, rows, created, updated, existing, refused, ignoredColumns } = job
  const isDry = dryRun ? ' (dry run: nothing was written)' : ''
  const counts = { created, ...(mode === 'upsert' && { updated }), existing, refused }
  const ignored = ignoredColumns.length === 0 ? {} : { ignored: ignoredColumns.join(', ') }
  return sheet({ import: id, kind, status: `${jobStatuses[status]}${isDry}`, rows, ...counts, ...ignored })
}

async function exportFile(kind: ExportKind, options: ExportOptions, context: Context): Promise<void> {
  const { format, app: appId } = options
  const output = options.output === '-' ? undefined : options.output
  if (context.isJson && output === undefined) {
    throw usageError('with --json, rows can’t be written to standard output; add --output FILE')
  }
  const query = { ...filtersOf(options.filter), kind, format, appId }
  await watch(context, async (signal) => {
    let bytes = 0
    try {
      const { body } = await context.client().createExport(query, { signal })
      const counted = async function* () {
        for await (const piece of body as ReadableStream<Uint8Array> & AsyncIterable<Uint8Array>) {
          bytes += piece.length
          yield piece
        }
      }
      if (output === undefined) await pipeline(Readable.from(counted()), context.stdout, { end: false })
      else await saveWhole(output, counted())
    } catch (error) {
      if (error instanceof UserError || (bytes === 0 && !signal.aborted)) throw error
      throw new UserError(`The export stopped after ${bytes} bytes. Run it again.`)
    }
    if (output !== undefined) context.result({ kind, format, file: output, bytes }, `${output}: ${bytes} bytes`)
  })
}

/** Once it is complete, for its owner alone: it holds names and phone numbers. */
async function saveWhole(path: string, pieces: AsyncIterable<Uint8Array>): Promise<void> {
  const { PartialFile } = await import('../backup/file.ts')
  const file = await PartialFile.create(path)
  try {
    for await (const piece of pieces) await file.write(Buffer.from(piece))
    await file.finish()
  } catch (error) {
    await file.abandon()
    throw error
  }
}
