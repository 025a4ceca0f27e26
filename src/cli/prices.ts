import { readFileSync } from 'node:fs'
import { InvalidArgumentError } from 'commander'
import type { PriceChange, SchedulePriceChangeRequest } from '#sdk/api'
import { UserError } from '../runtime/user-error.ts'
import { collect, filtersOf, wholeNumber } from './arguments.ts'
import { addCallerOptions, type CallerOptions, callerOf, callerOfOne } from './caller.ts'
import type { CliCommand } from './command.ts'
import type { Context } from './context.ts'
import { sheet, table } from './table.ts'
import { UsageError } from './usage-error.ts'

interface ScheduleOptions extends CallerOptions {
  at: string
  rule?: number
  terms?: string
  site?: number[]
  all?: true
  filter?: string[]
  fast?: number | null
  slow?: number | null
  occupancy?: number | null
  reason?: string
  dryRun?: true
}

interface ReasonOptions extends CallerOptions {
  reason: string
}

interface ListOptions extends CallerOptions {
  filter?: string[]
  limit: number
}

/** The commands for prices from a date on. */
export function priceCommands(program: CliCommand, context: Context): void {
  const price = program
    .command('price')
    .summary('prices from a date on')
    .description('Price changes of an application.')
  const schedule = price
    .command('schedule')
    .description(
      'Schedules new terms of a billing rule (--rule and --terms), or other rules at sites (--site, --all or --filter, and --fast, --slow or --occupancy), from a moment on.',
    )
    .requiredOption(
      '--at <time>',
      'when it takes effect, "yyyy-MM-dd HH:mm:ss" in the service’s time zone, or RFC 3339',
    )
    .option('--rule <id>', 'the rule that gets new terms', wholeNumber(1))
    .option(
      '--terms <file>',
      'its whole terms: a JSON file with the members that billingRule/save takes; - for standard input',
    )
    .option('--site <id>', 'a site; can be repeated', (text, given: number[] = []) => [...given, wholeNumber(1)(text)])
    .option('--all', 'every site of the application')
    .option(
      '--filter <name=value>',
      'provinceCode, cityCode, districtCode or billingRuleId of the sites; all must fit',
      collect,
    )
    .option('--fast <id>', 'the rule that they get for fast charging; `none` removes it', ruleOrNone)
    .option('--slow <id>', 'the same for slow charging', ruleOrNone)
    .option('--occupancy <id>', 'the same for occupancy', ruleOrNone)
    .option('--reason <text>', 'why')
    .option('--dry-run', 'says what would be scheduled, and writes nothing')
    .example('price schedule --app 0f4a1b9c2d3e4f5a6b7c --at "2027-03-01 00:00:00" --rule 12 --terms spring.json')
    .example(
      'price schedule --app 0f4a1b9c2d3e4f5a6b7c --at "2027-03-01 00:00:00" --filter cityCode=360100 --fast 14 --dry-run',
      'how many sites would follow',
    )
  addCallerOptions(schedule, 'whose prices').action((options: ScheduleOptions) => schedulePrices(options, context))

  for (const name of ['cancel', 'undo'] as const) {
    const command = price
      .command(name)
      .description(
        name === 'cancel'
          ? 'Cancels a price change that waits: it never takes effect.'
          : 'Undoes a price change that is in force: puts back, at once, the prices from before it.',
      )
      .argument('<id>', 'the price change', wholeNumber(1))
      .requiredOption('--reason <text>', 'why')
      .example(`price ${name} 7 --app 0f4a1b9c2d3e4f5a6b7c --reason "a mistake"`)
    addCallerOptions(command, 'whose prices').action(async (id: number, options: ReasonOptions) => {
      const { client, appId } = callerOfOne(options, context)
      const body = { appId, id, reason: options.reason }
      const change = await (name === 'cancel' ? client.cancelPriceChange(body) : client.undoPriceChange(body))
      context.result(change, sheetOf(change))
    })
  }

  const list = price
    .command('list')
    .description('Lists price changes, the latest moment first; those of several applications by application first.')
    .option('--filter <name=value>', 'a filter of the page operation; can be repeated', collect)
    .option('--limit <number>', 'how many at most', wholeNumber(1), 100)
    .example('price list --app 0f4a1b9c2d3e4f5a6b7c --filter status=1', 'what waits')
  addCallerOptions(list, 'of this application only').action((options: ListOptions) => listPrices(options, context))
}

/** The id of a rule; null for the word none. */
function ruleOrNone(text: string): number | null {
  if (text === 'none') return null
  if (/^[1-9]\d*$/.test(text)) return wholeNumber(1)(text)
  throw new InvalidArgumentError('It must be the id of a rule, or none.')
}

const statuses = ['', 'waiting', 'in force', 'cancelled']

async function schedulePrices(options: ScheduleOptions, context: Context): Promise<void> {
  const { at: effectiveTime, rule: billingRuleId, reason, dryRun } = options
  const { client, appId } = callerOfOne(options, context)
  const what = billingRuleId === undefined ? sitesOf(options) : { billingRuleId, ...readTerms(options) }
  const change = await client.schedulePriceChange({ appId, effectiveTime, reason, dryRun, ...what })
  context.result(change, sheetOf(change))
}

function sitesOf(options: ScheduleOptions): Pick<SchedulePriceChangeRequest, 'sites' | 'rules'> {
  const { site: ids, all, filter, fast, slow, occupancy } = options
  if (ids === undefined && all === undefined && filter === undefined) {
    throw new UsageError('name a rule with --rule, or sites with --site, --all or --filter')
  }
  const { billingRuleId, ...places } = filtersOf(filter)
  const filters = { ...places, ...(billingRuleId !== undefined && { billingRuleId: Number(billingRuleId) }) }
  const rules = {
    ...(fast !== undefined && { fastChargeBillRuleId: fast }),
    ...(slow !== undefined && { rushingBillRuleId: slow }),
    ...(occupancy !== undefined && { placeholderBillRuleId: occupancy }),
  }
  if (Object.keys(rules).length === 0) throw new UsageError('say what they get: --fast, --slow or --occupancy')
  return { sites: { ids, all, ...filters }, rules }
}

function readTerms({ terms: file }: ScheduleOptions): object {
  if (file === undefined) throw new UsageError('the rule’s whole terms are needed: --terms FILE')
  try {
    return JSON.parse(readFileSync(file === '-' ? 0 : file, 'utf8'))
  } catch (error) {
    throw new UserError(`${file} cannot be read as JSON (${(error as Error).message}).`)
  }
}

async function listPrices({ filter, limit, ...caller }: ListOptions, context: Context): Promise<void> {
  const { client, appId } = callerOf(caller, context)
  const list: PriceChange[] = []
  const query = { pageSize: Math.min(100, limit), ...filtersOf(filter), appId }
  for await (const row of client.pagePriceChanges.all(query)) {
    if (list.push(row) === limit) break
  }
  context.result(
    list,
    table(list, {
      ID: ({ id }) => id,
      ...(appId === undefined && { APPID: ({ appId }: { appId: string }) => appId }),
      FROM: ({ effectiveTime }) => effectiveTime,
      STATUS: ({ status }) => statuses[status],
      WHAT: (change) => whatOf(change),
      REASON: ({ reason }) => reason,
      BY: ({ createdBy }) => createdBy,
    }),
  )
}

type Shown = Pick<PriceChange, 'billingRuleId' | 'siteCount' | 'undoOf'>

function whatOf({ billingRuleId, siteCount, undoOf }: Shown): string {
  const what = billingRuleId === null ? `other rules at ${siteCount} sites` : `new terms of rule ${billingRuleId}`
  return undoOf === null ? what : `${what}, undoes ${undoOf}`
}

function sheetOf(change: Omit<PriceChange, 'id'> & { id: number | null }): string {
  const { id, status, effectiveTime, skippedCount } = change
  return sheet({
    'price change': id ?? 'none (dry run: nothing was written)',
    from: effectiveTime,
    status: statuses[status],
    what: whatOf(change),
    ...(skippedCount !== null && { skipped: `${skippedCount} sites` }),
  })
}
