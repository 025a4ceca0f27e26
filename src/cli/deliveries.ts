import { InvalidArgumentError, Option } from 'commander'
import type { ReplayDeliveriesRequest } from '#sdk/api'
import { usageError } from '../runtime/user-error.ts'
import { wholeNumber } from './arguments.ts'
import { addCallerOptions, type CallerOptions, callerOfOne } from './caller.ts'
import type { CliCommand } from './command.ts'
import type { Context } from './context.ts'

interface ReplayOptions extends CallerOptions {
  id?: number
  from?: string
  to?: string
  status?: NonNullable<ReplayDeliveriesRequest['status']> | typeof undelivered
}

/** In the order of their numbers, from 1. */
const statuses = ['waiting', 'delivered', 'dead']
/** Pending and failed deliveries, and missed events. */
const undelivered = 'undelivered'

export function deliveryCommands(program: CliCommand, context: Context): void {
  const delivery = program
    .command('delivery')
    .summary('replay callback deliveries')
    .description('Manages callback deliveries.')
  const replay = delivery
    .command('replay')
    .description(
      'Replays one delivery, or all events in a time range that the endpoint subscribes to. The service sends them in the background, one replay per application at a time.',
    )
    .option('--id <id>', 'ID of the delivery', wholeNumber(1))
    .option('--from <time>', 'start of the range: "yyyy-MM-dd HH:mm:ss" in the service’s time zone, or RFC 3339')
    .option('--to <time>', 'end of the range (inclusive)')
    .addOption(
      new Option(
        '--status <status>',
        'only deliveries with this status; undelivered: pending and failed (dead) deliveries, and missed events',
      )
        .choices([...statuses, undelivered])
        .argParser(readStatus),
    )
    .example('delivery replay --app 0f4a1b9c2d3e4f5a6b7c --id 1795422025367000')
    .example(
      'delivery replay --app 0f4a1b9c2d3e4f5a6b7c --from "2026-11-20 00:00:00" --to "2026-11-21 23:59:59" --status dead',
      'deliveries that failed while the receiver was down',
    )
  addCallerOptions(replay, 'application that owns the callback').action((options: ReplayOptions) =>
    replayDeliveries(options, context),
  )
}

async function replayDeliveries(options: ReplayOptions, context: Context): Promise<void> {
  const { id, from, to, status } = options
  const isRange = from !== undefined || to !== undefined || status !== undefined
  if ((id !== undefined) === isRange || (isRange && (from === undefined || to === undefined))) {
    throw usageError('specify a delivery with --id, or a time range with --from and --to')
  }
  const { client, appId } = callerOfOne(options, context)
  const outcome = await client.replayDeliveries({
    appId,
    id,
    timeFrom: from,
    timeTo: to,
    ...(status === undelivered ? { isDelivered: false } : { status }),
  })
  const { replayed } = outcome
  context.result(outcome, `${replayed} ${replayed === 1 ? 'delivery' : 'deliveries'} will be replayed.`)
}

function readStatus(given: string): number | typeof undelivered {
  if (given === undelivered) return undelivered
  const status = statuses.indexOf(given) + 1 || Number(given)
  if (statuses[status - 1] !== undefined) return status
  throw new InvalidArgumentError(`It must be one of ${[...statuses, undelivered].join(', ')}.`)
}
