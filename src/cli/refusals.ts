import { collect, filtersOf, wholeNumber } from './arguments.ts'
import { addCallerOptions, type CallerOptions, callerOf } from './caller.ts'
import type { CliCommand } from './command.ts'
import type { Context } from './context.ts'
import { table } from './table.ts'

interface RefusalsOptions extends CallerOptions {
  filter?: string[]
  limit: number
}

/** The command that shows the refused writes. */
export function refusalCommands(program: CliCommand, context: Context): void {
  const refusals = program
    .command('refusals')
    .summary('the writes that were refused, and why')
    .description(
      'Lists refused writes, rows of batches too, newest first; those of several applications by application first. The service keeps the newest 1,000 of each application, for some days.',
    )
    .option('--filter <name=value>', 'a filter of the page operation; can be repeated', collect)
    .option('--limit <number>', 'how many at most', wholeNumber(1), 100)
    .example('refusals --limit 20')
    .example('refusals --app 0f4a1b9c2d3e4f5a6b7c --filter deviceNo=FC-GATE-0001', 'why it could not be created')
    .example('refusals --filter code=20013 --json | jq -r ".[].subject"')
  addCallerOptions(refusals, 'of this application only').action((options: RefusalsOptions) =>
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
  if (hasMore) context.remark(`There are more: --limit N shows them, --filter narrows them.`)
}
