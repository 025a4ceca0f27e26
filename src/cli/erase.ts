import type { CliCommand } from './command.ts'
import { type Context, UsageError } from './context.ts'

interface Options {
  app?: string
  site?: string
  days?: string
  dryRun?: true
}

/** `erase`, straight at the database of the settings: the log can be changed by nobody else. */
export function eraseCommands(program: CliCommand, context: Context): void {
  program
    .command('erase')
    .summary('erases contacts and phone numbers of deleted sites')
    .description(
      'Replaces contacts and phone numbers of deleted sites by *** in the event log and in the answers that are kept for retries, and tells it in the audit trail (site.erased). What callbacks, exports and backups have carried away is not reached.',
    )
    .option('--app <id>', 'of this application')
    .option('--site <id>', 'this site; wants --app')
    .option('--days <number>', 'every site that was deleted at least so many days ago')
    .option('--dry-run', 'only counts')
    .example('erase --app eb5ffaabb88d8c09f000 --site 1024', 'one site, after its delete')
    .example('erase --days 90', 'all that were deleted at least 90 days ago')
    .action(async (options: Options) => {
      const { eraseFromDatabase } = await import('./erasure.ts')
      const isDryRun = options.dryRun === true
      const { sites, events } = await eraseFromDatabase(context.config(), readOptions(options), isDryRun)
      const done = isDryRun ? 'Would erase' : 'Erased'
      context.result({ sites, events }, `${done} what ${events} events tell of the people of ${sites} sites.`)
      if (!isDryRun && events > 0) {
        context.remark('Callbacks that were sent, exports and backups still hold it: tell those who have them.')
      }
    })
}

function readOptions({ app, site, days }: Options) {
  if ((site === undefined) === (days === undefined)) throw new UsageError('give either --site, or --days')
  const number = (name: string, text: string) => {
    if (!/^\d{1,15}$/.test(text)) throw new UsageError(`${name} takes a whole number, not "${text}"`)
    return Number(text)
  }
  if (days !== undefined) return { appId: app ?? null, days: number('--days', days) }
  if (app === undefined) throw new UsageError('--site wants --app')
  return { appId: app, siteId: number('--site', site ?? '') }
}
