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

/** The commands that do to everything that matches what an operation does to one. */
export function actCommands(program: CliCommand, context: Context): void {
  const acts = program
    .command('act')
    .summary('changes everything that matches')
    .description(
      'Carries out an operation on every device or site that matches, and waits for the end. --filter all=true means every one. Look first: --dry-run counts, and --expect refuses another number. Ends with 4 when rows were refused.',
    )
  for (const kind of Object.keys(kinds) as Kind[]) {
    acts
      .command(kind)
      .description(`Acts on the ${kind} of an application that match.`)
      .addArgument(new Argument('<act>', 'the operation for each row').choices(kinds[kind]))
      .requiredOption('--app <appid>', 'the application that the rows belong to')
      .option('--filter <name=value>', 'a filter of the page operation; can be repeated', collect)
      .option(
        '--set <name=value>',
        'for update: a member to change; an empty value clears it; can be repeated',
        collect,
      )
      .option('--target-app <appid>', 'for transfer: the application that the devices go to')
      .option('--reason <words>', 'the reason; forceUnbind and transfer must have one')
      .option('--expect <number>', 'how many rows must match: with another number nothing is done', wholeNumber(0))
      .option('--dry-run', 'only counts')
      .example(examples[kind])
      .action((act: Act['act'], options: ActOptions) => beginAct(kind, act, options, context))
  }
  acts
    .command('wait')
    .description('Waits for an act that was begun before, and prints its outcome.')
    .argument('<id>', 'the act', wholeNumber(1))
    .example('act wait 12', 'after Ctrl-C')
    .action((id: number) => watch(context, (signal) => waitFor(id, signal, context)))
  acts
    .command('cancel')
    .description('Ends an act that waits or runs. What it has done stays.')
    .argument('<id>', 'the act', wholeNumber(1))
    .option('--app <appid>', 'the application of the act')
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

/** Waits for an act and prints its outcome. */
function waitFor(id: number, signal: AbortSignal, context: Context): Promise<void> {
  const client = context.client()
  return waitForJob<Act>(id, signal, context, {
    noun: 'act',
    get: () => client.getAct({ id }, { signal }),
    refusedRows: () => client.getActResult({ id, outcome: 'refused' }, { signal }),
    progress: ({ done, unchanged, refused, rows }) => [done + unchanged + refused, rows],
    sheetOf,
    onFailure: 'What was done stays.',
    onCancel: 'What was done stays.',
  })
}

function sheetOf({ id, kind, act, status, rows, done, unchanged, refused }: Act | BegunAct): string {
  const shownId = id ?? 'none (dry run: nothing was done)'
  return sheet({ act: shownId, kind, does: act, status: jobStatuses[status] ?? '', rows, done, unchanged, refused })
}
