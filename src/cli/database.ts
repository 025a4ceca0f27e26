import type { MigrationStatus } from '../database/migrate.ts'
import type { CliCommand } from './command.ts'
import { type Context, exitCodes } from './context.ts'
import { table } from './table.ts'
import { UsageError } from './usage-error.ts'

interface EraseOptions {
  app?: string
  site?: string
  days?: string
  dryRun?: true
}

/** The commands that go straight to the database of the settings. */
export function databaseCommands(program: CliCommand, context: Context): void {
  const migrate = program
    .command('migrate')
    .summary('the schema of the database that the settings name')
    .description(
      'Shows the schema’s version in the database that the settings name, and migrates it. A start of the service does the same.',
    )
  migrate
    .command('status')
    .description(
      'Lists the migrations: when each was applied, and which a start would apply. Ends with 1 when the database is newer than this program, or when a migration was applied from another file.',
    )
    .example('migrate status')
    .example('migrate status --json')
    .action(async () => {
      const { readMigrationStatus } = await import('./migrate.ts')
      showMigrations(await readMigrationStatus(context.config()), context)
    })
  migrate
    .command('up')
    .description('Applies the pending migrations, each in its own transaction, without serving.')
    .example('migrate up', 'migrates the database before the new version is started')
    .action(async () => {
      const { migrateUp } = await import('./migrate.ts')
      showMigrations(await migrateUp(context.config()), context)
    })
  program
    .command('distribute')
    .summary('makes an empty Citus database a distributed one')
    .description(
      'Distributes the empty database of the settings, once; it must be on a Citus coordinator. Running services must be restarted.',
    )
    .example('distribute', 'with DATABASE_URL set to the coordinator')
    .action(async () => {
      const { distributeDatabase } = await import('./distribute.ts')
      const remarks = await distributeDatabase(context.config())
      context.result({ distributed: true }, 'The database is distributed. Start the service, or start it again.')
      for (const words of remarks) context.remark(words)
    })
  program
    .command('erase')
    .summary('erases contacts and phone numbers of deleted sites')
    .description(
      'Replaces contacts and phone numbers of deleted sites by *** in the event log and in the responses stored for retries, and records it in the audit trail (site.erased). Copies in callbacks, exports, backups and the refused rows of imports, which are kept for 7 days, are not changed.',
    )
    .option('--app <id>', 'of this application')
    .option('--site <id>', 'this site; needs --app')
    .option('--days <number>', 'every site that was deleted at least this many days ago')
    .option('--dry-run', 'only counts')
    .example('erase --app eb5ffaabb88d8c09f000 --site 1024', 'one site, after its delete')
    .example('erase --days 90', 'all that were deleted at least 90 days ago')
    .action(async (options: EraseOptions) => {
      const { eraseFromDatabase } = await import('./erase.ts')
      const isDryRun = options.dryRun === true
      const { sites, events } = await eraseFromDatabase(context.config(), readEraseOptions(options), isDryRun)
      const done = isDryRun ? 'Would erase' : 'Erased'
      const counted = (count: number, noun: string) => `${count} ${noun}${count === 1 ? '' : 's'}`
      context.result(
        { sites, events },
        `${done} the contacts of ${counted(sites, 'site')} in ${counted(events, 'event')}.`,
      )
      if (!isDryRun && events > 0) {
        context.remark('Callbacks that were sent, exports and backups still hold them: tell the people who have those.')
      }
    })
}

function showMigrations(migrations: MigrationStatus[], context: Context): void {
  const faulty = migrations.filter(({ fault }) => fault !== null)
  const waiting = migrations.filter(({ appliedAt }) => appliedAt === null)
  const rows = table(migrations, {
    version: ({ version }) => version,
    file: ({ file }) => file,
    applied: ({ appliedAt, fault }) => `${appliedAt?.toISOString() ?? 'waits'}${fault ? `, ${faults[fault]}` : ''}`,
    'sha-256': ({ checksum }) => checksum?.slice(0, 16),
  })
  const summary =
    faulty.length > 0
      ? 'This program cannot use the database: run the version that created its schema, or a newer one.'
      : waiting.length > 0
        ? `${waiting.length} pending: \`forecourt migrate up\`, or the next start of the service, applies them.`
        : 'The schema is up to date.'
  context.result({ upToDate: faulty.length + waiting.length === 0, migrations }, `${rows}\n${summary}`)
  if (faulty.length > 0) context.exitCode = exitCodes.failed
}

const faults = { altered: 'but its file was different', unknown: 'by a newer program' }

function readEraseOptions({ app, site, days }: EraseOptions) {
  if ((site === undefined) === (days === undefined)) throw new UsageError('give either --site, or --days')
  const number = (name: string, text: string) => {
    if (!/^\d{1,15}$/.test(text)) throw new UsageError(`${name} must be a whole number, not "${text}"`)
    return Number(text)
  }
  if (days !== undefined) return { appId: app ?? null, days: number('--days', days) }
  if (app === undefined) throw new UsageError('--site needs --app')
  return { appId: app, siteId: number('--site', site ?? '') }
}
