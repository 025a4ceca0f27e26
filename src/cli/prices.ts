import { readFileSync } from 'node:fs'
import { InvalidArgumentError } from 'commander'
import type { PriceChange, SchedulePriceChangeRequest } from '#sdk/api'
import { UserError, usageError } from '../runtime/user-error.ts'
import { collect, filtersOf, wholeNumber } from './arguments.ts'
import { addCallerOptions, type CallerOptions, callerOf, callerOfOne } from './caller.ts'
import type { CliCommand } from './command.ts'
import type { Context } from './context.ts'
import { sheet, table } from './table.ts'

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

export function priceCommands(program: CliCommand, context: Context): void {
  const price = program
    .command('price')
    .summary('schedule price changes')
    .description('Schedules, lists, cancels and undoes price changes.')
  const schedule = price
    .command('schedule')
    .description(
      'Schedules new pricing for a billing rule (--rule and --terms), or other billing rules for sites (--site, --all or --filter, with --fast, --slow or --occupancy).',
    )
    .requiredOption(
      '--at <time>',
      'when it takes effect, "yyyy-MM-dd HH:mm:ss" in the service’s time zone, or RFC 3339',
    )
    .option('--rule <id>', 'billing rule that gets new pricing', wholeNumber(1))
    .option(
      '--terms <file>',
      'its complete pricing: a JSON file with the fields of billingRule/save; - reads standard input',
    )
    .option('--site <id>', 'ID of a site; repeatable', (text, given: number[] = []) => [...given, wholeNumber(1)(text)])
    .option('--all', 'all sites of the application')
    .option(
      '--filter <name=value>',
      'provinceCode, cityCode, districtCode or billingRuleId of the sites; sites must match all filters',
      collect,
    )
    .option('--fast <id>', 'new rule for fast charging; `none` removes it', ruleOrNone)
    .option('--slow <id>', 'new rule for slow charging; `none` removes it', ruleOrNone)
    .option('--occupancy <id>', 'new rule for occupancy; `none` removes it', ruleOrNone)
    .option('--reason <text>', 'reason')
    .option('--dry-run', 'show what would be scheduled, without writing anything')
    .example('price schedule --app 0f4a1b9c2d3e4f5a6b7c --at "2027-03-01 00:00:00" --rule 12 --terms spring.json')
    .example(
      'price schedule --app 0f4a1b9c2d3e4f5a6b7c --at "2027-03-01 00:00:00" --filter cityCode=360100 --fast 14 --dry-run',
      'count the sites that would change',
    )
  addCallerOptions(schedule, 'application that owns the prices').action((options: ScheduleOptions) =>
    schedulePrices(options, context),
  )

  for (const name of ['cancel', 'undo'] as const) {
    const command = price
      .command(name)
      .description(
        name === 'cancel'
          ? 'Cancels a scheduled price change.'
          : 'Undoes an applied price change. The previous prices take effect immediately.',
      )
      .argument('<id>', 'ID of the price change', wholeNumber(1))
      .requiredOption('--reason <text>', 'reason')
      .example(`price ${name} 7 --app 0f4a1b9c2d3e4f5a6b7c --reason "a mistake"`)
    addCallerOptions(command, 'application that owns the prices').action(async (id: number, options: ReasonOptions) => {
      const { client, appId } = callerOfOne(options, context)
      const body = { appId, id, reason: options.reason }
      const change = await (name === 'cancel' ? client.cancelPriceChange(body) : client.undoPriceChange(body))
      context.result(change, sheetOf(change))
    })
  }

  const list = price
    .command('list')
    .description('Lists price changes, latest effective time first, grouped by application.')
    .option('--filter <name=value>', 'filter of the list operation; repeatable', collect)
    .option('--limit <number>', 'maximum number of rows', wholeNumber(1), 100)
    .example('price list --app 0f4a1b9c2d3e4f5a6b7c --filter status=1', 'only scheduled ones')
  addCallerOptions(list, 'only this application').action((options: ListOptions) => listPrices(options, context))
}

function ruleOrNone(text: string): number | null {
  if (text === 'none') return null
  if (/^[1-9]\d*$/.test(text)) return wholeNumber(1)(text)
  throw new InvalidArgumentError('Must be the ID of a billing rule, or none.')
}

const statuses = ['', 'scheduled', 'applied', 'cancelled']

async function schedulePrices(options: ScheduleOptions, context: Context): Promise<void> {
  const { at: effectiveTime, rule: billingRuleId, reason, dryRun } = options
  const { client, appId } = callerOfOne(options, context)
  const what = billingRuleId === undefined ? sitesOf(options) : { ...readTerms(options), billingRuleId }
  // The file may be a whole record, whose other members count for nothing.
  const change = await client.schedulePriceChange({ ...what, appId, effectiveTime, reason, dryRun })
  context.result(change, sheetOf(change))
}

function sitesOf(options: ScheduleOptions): Pick<SchedulePriceChangeRequest, 'sites' | 'rules'> {
  const { site: ids, all, filter, fast, slow, occupancy } = options
  if (ids === undefined && all === undefined && filter === undefined) {
    throw usageError('specify a rule with --rule, or sites with --site, --all or --filter')
  }
  const { billingRuleId, ...places } = filtersOf(filter)
  if (billingRuleId !== undefined && !/^[1-9]\d{0,15}$/.test(billingRuleId)) {
    throw usageError(`"${billingRuleId}" isn’t the ID of a billing rule`)
  }
  const filters = { ...places, ...(billingRuleId !== undefined && { billingRuleId: Number(billingRuleId) }) }
  const rules = {
    ...(fast !== undefined && { fastChargeBillRuleId: fast }),
    ...(slow !== undefined && { rushingBillRuleId: slow }),
    ...(occupancy !== undefined && { placeholderBillRuleId: occupancy }),
  }
  if (Object.keys(rules).length === 0) throw usageError('specify the new rules with --fast, --slow or --occupancy')
  return { sites: { ids, all, ...filters }, rules }
}

function readTerms({ terms: file }: ScheduleOptions): object {
  if (file === undefined) throw usageError('--terms FILE with the rule’s complete pricing is required')
  try {
    return JSON.parse(readFileSync(file === '-' ? 0 : file, 'utf8'))
  } catch (error) {
    throw new UserError(`${file} isn’t valid JSON (${(error as Error).message}).`)
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
  const what = billingRuleId === null ? `rules of ${siteCount} sites` : `pricing of rule ${billingRuleId}`
  return undoOf === null ? what : `${what}, undoes ${undoOf}`
}

function sheetOf(change: Omit<PriceChange, 'id'> & { id: number | null }): string {
  const { id, status, effectiveTime, skippedCount } = change
  return sheet({
    'price change': id ?? 'none (dry run: nothing was written)',
    from: effectiveTime,
    status: statuses[status],
    what: whatOf(change),
    ...(skippedCount !== null && { 'not changed': `${skippedCount} sites` }),
  })
}
