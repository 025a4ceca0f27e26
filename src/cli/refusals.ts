import { collect, filtersOf, wholeNumber } from './arguments.ts'
import { addCallerOptions, type CallerOptions, callerOf } from './caller.ts'
import type { CliCommand } from './command.ts'
import type { Context } from './context.ts'
import { table } from './table.ts'

interface RefusalsOptions extends CallerOptions {
  filter?: string[]
  limit: number
}

export function refusalCommands(program: CliCommand, context: Context): void {
  const refusals = program
    .command('refusals')
    .summary('list refused requests')
    .description(
      'Lists refused write requests and batch rows, newest first, grouped by application. The service keeps the 1,000 newest of each application for 7 days by default.',
    )
    .option('--filter <name=value>', 'filter of the list operation; repeatable', collect)
    .option('--limit <number>', 'maximum number of rows', wholeNumber(1), 100)
    .example('refusals --limit 20')
    .example(
      'refusals --app 0f4a1b9c2d3e4f5a6b7c --filter deviceNo=FC-GATE-0001',
      'find out why a device couldn’t be created',
    )
    .example('refusals --filter code=20013 --json | jq -r ".[].subject"')
  addCallerOptions(refusals, 'only this application').action((options: RefusalsOptions) =>
    listRefusals(options, context),
  )
}

async function listRefusals({ filter, limit, ...caller }: RefusalsOptions, context: Context): Promise<void> {
  const { client, appId } = callerOf(caller, context)
  const list = []
  let hasMore = false
  for await (const row of client.pageRefusals.all({
    pageSize: Math.min(100, limit + 1),
    ...filtersOf(filter),
    appId,
  })) {
    hasMore = list.length === limit
    if (hasMore) break
    list.push(row)
  }
  context.result(
    list,
    table(list, {
      TIME: ({ time }) => time,
      ...(appId === undefined && { APPID: ({ appId }: { appId: string | null }) => appId }),
      CODE: ({ code }) => code,
      NAME: ({ name }) => name,
      OPERATION: ({ operation }) => operation,
      SUBJECT: ({ subject }) => subject,
      WHY: ({ errors }) => errors?.map(({ field, reason }) => `${field}: ${reason}`).join('; '),
      ACTOR: ({ actor }) => actor,
      REQUEST: ({ requestId }) => requestId,
    }),
  )
  if (hasMore) context.remark(`More rows exist. Use --limit N to show more, or --filter to narrow the list.`)
}
