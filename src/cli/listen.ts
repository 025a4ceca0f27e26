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

/** The command that brings callbacks to a developer's own machine. */
export function listenCommands(program: CliCommand, context: Context): void {
  const listen = program
    .command('listen')
    .summary('posts events to a program on your machine')
    .description(
      'Follows the events of an application until Ctrl-C and posts each, in order, to a program on your own machine: with the same request as a callback, independently of the application’s own callback. An event is posted again, and the next one waits, until the program answers 2xx; an event whose answer was lost comes again with the same webhook-id. http:// is for this machine, private addresses and names of containers; another host takes https://, or --allow-http. With --json the one value comes at the end.',
    )
    .requiredOption('--forward <url>', 'where events are posted to, as http://127.0.0.1:9000/callbacks')
    .option('--after <id>', 'begin after this event (default: with the events from now on)', wholeNumber(0))
    .option('--types <types>', 'only events of these types, with commas; device.* for all of a kind (default: all)')
    .option(
      '--secret <secret>',
      'the secret that signs the callbacks, whsec_… (CALLBACK_SECRET or CALLBACK_SECRET_FILE; default: a new one, which is printed)',
    )
    .example('listen --forward http://127.0.0.1:9000/callbacks', 'with APP_ID, APP_SECRET and CALLBACK_SECRET set')
    .example(
      'listen --forward http://localhost:9000 --app 0f4a1b9c2d3e4f5a6b7c --types "device.*"',
      'by an operator key',
    )
    .example('listen --forward http://localhost:9000 --after 1795422025367000', 'continues where it ended')
  addCallerOptions(listen, 'the application').action(async (options: ListenOptions) => {
    const { forwardEvents } = await import('./event-forwarder.ts')
    await forwardEvents(options, context)
  })
}
