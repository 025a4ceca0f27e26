import { wholeNumber } from './arguments.ts'
import { addCallerOptions, type CallerOptions } from './caller.ts'
import type { CliCommand } from './command.ts'
import type { Context } from './context.ts'

export interface ListenOptions extends CallerOptions {
  forward: string
  after?: number
  types?: string
  secret?: string
}

export function listenCommands(program: CliCommand, context: Context): void {
  const listen = program
    .command('listen')
    .summary('forward events to your machine')
    .description(
      'Forwards the events of an application, in order, to a program on your machine until you press Ctrl-C. Requests look exactly like callbacks and don’t affect the application’s own callback. Each event is retried until the program responds with 2xx; retries keep the same webhook-id. http:// works for this machine, private addresses and container names; other hosts need https:// or --allow-http. With --json, the result is printed at the end.',
    )
    .requiredOption('--forward <url>', 'URL that receives the events, such as http://127.0.0.1:9000/callbacks')
    .option('--after <id>', 'start after this event (default: only new events)', wholeNumber(0))
    .option('--types <types>', 'event types, separated by commas; device.* matches all device events (default: all)')
    .option(
      '--secret <secret>',
      'signing secret, whsec_… (env: CALLBACK_SECRET or CALLBACK_SECRET_FILE; default: a new one, which is printed)',
    )
    .example('listen --forward http://127.0.0.1:9000/callbacks', 'with APP_ID, APP_SECRET and CALLBACK_SECRET set')
    .example(
      'listen --forward http://localhost:9000 --app 0f4a1b9c2d3e4f5a6b7c --types "device.*"',
      'with an operator key',
    )
    .example('listen --forward http://localhost:9000 --after 1795422025367000', 'continue after an earlier run')
  addCallerOptions(listen, 'the application').action(async (options: ListenOptions) => {
    const { forwardEvents } = await import('./event-forwarder.ts')
    await forwardEvents(options, context)
  })
}
