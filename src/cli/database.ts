import type { MigrationStatus } from '../database/migrate.ts'
import { usageError } from '../runtime/user-error.ts'
import type { CliCommand } from './command.ts'
import { type Context, exitCodes } from './context.ts'
import { table } from './table.ts'

interface EraseOptions {
  app?: string
  site?: string
  days?: string
  dryRun?: true
}

export function databaseCommands(program: CliCommand, context: Context): void {
  const migrate = program
    .command('migrate')
    .summary('manage the database schema')
    .description('Shows the schema version of the database and migrates it. The service also migrates at startup.')
  migrate
    .command('status')
    .description(
      'Lists applied and pending migrations. Exits with 1 if the database is newer than this program, or if an applied migration differs from its file.',
    )
    .example('migrate status')
    .example('migrate status --json')
    .action(async () => {
      const { readMigrationStatus } = await import('./migrate.ts')
      showMigrations(await readMigrationStatus(context.config()), context)
    })
  migrate
    .command('up')
    .description('Applies pending migrations, each in its own transaction, without starting the service.')
    .example('migrate up', 'migrate before you start a new version')
    .action(async () => {
      const { migrateUp } = await import('./migrate.ts')
      showMigrations(await migrateUp(context.config()), context)
    })
  program
    .command('distribute')
    .summary('distribute an empty database over a Citus cluster')
    .description(
      'Distributes the configured database over the nodes of its Citus cluster. The database must be empty and on the coordinator. Restart running services afterwards.',
    )
    .example('distribute', 'with DATABASE_URL set to the coordinator')
    .action(async () => {
      const { distributeDatabase } = await import('./distribute.ts')
      const remarks = await distributeDatabase(context.config())
      context.result({ distributed: true }, 'Database distributed. Start or restart the service.')
      for (const words of remarks) context.remark(words)
    })
  program
    .command('erase')
    .summary('erase personal data of deleted sites')
    .description(
      'Replaces contacts and phone numbers of deleted sites with *** in the event log and in responses stored for retries, and records this in the audit log (site.erased). Copies in callbacks, exports, backups and refused import rows (kept for 7 days) are not changed.',
    )
    .option('--app <id>', 'only this application')
    .option('--site <id>', 'only this site; requires --app')
    .option('--days <number>', 'all sites deleted at least this many days ago')
    .option('--dry-run', 'only counts')
    .example('erase --app eb5ffaabb88d8c09f000 --site 1024', 'one deleted site')
    .example('erase --days 90', 'all sites deleted at least 90 days ago')
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
        context.remark('Sent callbacks, exports and backups still contain this data. Inform the people who hold them.')
      }
    })
}

function showMigrations(migrations: MigrationStatus[], context: Context): void {
  const faulty = migrations.filter(({ fault }) => fault !== null)
  const waiting = migrations.filter(({ appliedAt }) => appliedAt === null)
  const rows = table(migrations, {
    version: ({ version }) => version,
    file: ({ file }) => file,
    applied: ({ appliedAt, fault }) => `${appliedAt?.toISOString() ?? 'pending'}${fault ? `, ${faults[fault]}` : ''}`,
    'sha-256': ({ checksum }) => checksum?.slice(0, 16),
  })
  const summary =
    faulty.length > 0
      ? 'This version can’t use the database. Run the version that created its schema, or a newer one.'
      : waiting.length > 0
        ? `${waiting.length} pending. To apply: \`forecourt migrate up\`, or start the service.`
        : 'The schema is up to date.'
  context.result({ upToDate: faulty.length + waiting.length === 0, migrations }, `${rows}\n${summary}`)
  if (faulty.length > 0) context.exitCode = exitCodes.failed
}

const faults = { altered: 'from a different file', unknown: 'by a newer version' }

function readEraseOptions({ app, site, days }: EraseOptions) {
  if ((site === undefined) === (days === undefined)) throw usageError('specify either --site or --days')
  const number = (name: string, text: string) => {
    if (!/^\d{1,15}$/.test(text)) throw usageError(`${name} must be a whole number, not "${text}"`)
    return Number(text)
  }
  if (days !== undefined) return { appId: app ?? null, days: number('--days', days) }
  if (app === undefined) throw usageError('--site requires --app')
  return { appId: app, siteId: number('--site', site ?? '') }
}
