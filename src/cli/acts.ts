import { Argument } from 'commander'
import type { Act, BegunAct, CreateActRequest } from '#sdk/api'
import { collect, filtersOf, wholeNumber } from './arguments.ts'
import type { CliCommand } from './command.ts'
import type { Context } from './context.ts'
import { jobStatuses, waitForJob, watch } from './jobs.ts'
import { sheet } from './table.ts'

interface ActOptions {
  app: string
  filter?: string[]
  set?: string[]
  targetApp?: string
  reason?: string
  expect?: number
  dryRun?: true
}

type Kind = Act['kind']

const kinds = {
  devices: ['update', 'unbind', 'forceUnbind', 'transfer'],
  sites: ['update', 'delete'],
} as const

const appId = '0f4a1b9c2d3e4f5a6b7c'
const examples = {
  devices: `act devices transfer --app ${appId} --filter cityCode=360100 --target-app 7c6b5a4f3e2d1c9b4a0f --reason "sold" --expect 2000`,
  sites: `act sites update --app ${appId} --filter billingRuleId=7 --set fastChargeBillRuleId=12 --dry-run`,
}

export function actCommands(program: CliCommand, context: Context): void {
  const acts = program
    .command('act')
    .summary('run bulk actions on devices or sites')
    .description(
      'Runs an action on all devices or sites that match the filters and waits until it finishes. To match all rows, use --filter all=true. Use --dry-run first to count the matches, and --expect to run only if the count is the same. Exits with 4 if rows were refused.',
    )
  for (const kind of Object.keys(kinds) as Kind[]) {
    acts
      .command(kind)
      .description(`Runs a bulk action on matching ${kind} of an application.`)
      .addArgument(new Argument('<act>', 'action for each row').choices(kinds[kind]))
      .requiredOption('--app <appid>', 'application that owns the rows')
      .option('--filter <name=value>', 'filter of the list operation; repeatable', collect)
      .option('--set <name=value>', 'for update: field to set; an empty value clears it; repeatable', collect)
      .option('--target-app <appid>', 'for transfer: application that receives the devices')
      .option('--reason <words>', 'reason; required for forceUnbind and transfer')
      .option('--expect <number>', 'expected number of matches; with any other number, nothing is done', wholeNumber(0))
      .option('--dry-run', 'only count the matches')
      .example(examples[kind])
      .action((act: Act['act'], options: ActOptions) => beginAct(kind, act, options, context))
  }
  acts
    .command('wait')
    .description('Waits for a bulk action that is already running and prints its result.')
    .argument('<id>', 'ID of the bulk action', wholeNumber(1))
    .example('act wait 12', 'after Ctrl-C')
    .action((id: number) => watch(context, (signal) => waitFor(id, signal, context)))
  acts
    .command('cancel')
    .description('Cancels a bulk action. Changes already made are kept.')
    .argument('<id>', 'ID of the bulk action', wholeNumber(1))
    .option('--app <appid>', 'application of the bulk action')
    .example('act cancel 12')
    .action(async (id: number, { app: appId }: { app?: string }) => {
      const cancelled = await context.client().cancelAct({ id, appId })
      context.result(cancelled, sheetOf(cancelled))
    })
}

async function beginAct(kind: Kind, act: Act['act'], options: ActOptions, context: Context): Promise<void> {
  const { readTexts } = await import('../bulk/acts/rules.ts')
  const { actChanges, actFilters } = await import('../bulk/acts/contract.ts')
  const request: CreateActRequest = {
    appId: options.app,
    kind,
    act,
    filter: readTexts(actFilters[kind], filtersOf(options.filter)),
    set: options.set && readTexts(actChanges[kind], filtersOf(options.set)),
    targetAppId: options.targetApp,
    reason: options.reason,
    expectedRows: options.expect,
    dryRun: options.dryRun,
  }
  await watch(context, async (signal) => {
    const begun = await context.client().createAct(request, { signal })
    if (begun.id === null) context.result(begun, sheetOf(begun))
    else await waitFor(begun.id, signal, context)
  })
}

function waitFor(id: number, signal: AbortSignal, context: Context): Promise<void> {
  const client = context.client()
  return waitForJob<Act>(id, signal, context, {
    noun: 'act',
    get: () => client.getAct({ id }, { signal }),
    refusedRows: () => client.getActResult({ id, outcome: 'refused' }, { signal }),
    progress: ({ done, unchanged, refused, rows }) => [done + unchanged + refused, rows],
    sheetOf,
    onFailure: 'Changes already made are kept.',
    onCancel: 'Changes already made are kept.',
  })
}

function sheetOf({ id, kind, act, status, rows, done, unchanged, refused }: Act | BegunAct): string {
  const shownId = id ?? 'none (dry run: nothing was changed)'
  return sheet({
    'bulk action': shownId,
    kind,
    action: act,
    status: jobStatuses[status] ?? '',
    rows,
    done,
    unchanged,
    refused,
  })
}
