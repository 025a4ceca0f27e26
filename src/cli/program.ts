import { version } from '../runtime/version.ts'
import { actCommands } from './acts.ts'
import { applicationCommands } from './applications.ts'
import { backupCommands } from './backup.ts'
import { bulkCommands } from './bulk.ts'
import { CliCommand } from './command.ts'
import { completionCommands } from './completion.ts'
import type { Context } from './context.ts'
import { databaseCommands } from './database.ts'
import { deliveryCommands } from './deliveries.ts'
import { demoCommands } from './demo.ts'
import { documentCommands } from './document.ts'
import { listenCommands } from './listen.ts'
import { operatorCommands } from './operators.ts'
import { priceCommands } from './prices.ts'
import { refusalCommands } from './refusals.ts'
import { serviceCommands } from './service.ts'

const groups: ((program: CliCommand, context: Context) => void)[] = [
  serviceCommands,
  databaseCommands,
  backupCommands,
  applicationCommands,
  operatorCommands,
  bulkCommands,
  actCommands,
  priceCommands,
  deliveryCommands,
  refusalCommands,
  listenCommands,
  demoCommands,
  documentCommands,
  completionCommands,
]

/** Commands import what they need of the service when they run, so that help is quick. */
export function createProgram(context: Context): CliCommand {
  const program = new CliCommand('forecourt')
  context.follow(program)
  program
    .description('Runs and maintains the Forecourt service and calls its API.')
    .version(version, '--version', 'show the version')
    .helpOption('-h, --help', 'show help for a command')
    .helpCommand('help [command]', 'show help for a command')
    .option('--json', 'print the result as one JSON value')
    .option('--quiet', 'print only the result, without notes and progress')
    .option('--url <address>', 'address of the service (env: FORECOURT_URL; default: http://127.0.0.1:8080)')
    .option('--allow-http', 'allow http:// to other machines; the key is then sent in plain text')
    .option(
      '--key <key>',
      'an operator key (better: FORECOURT_OPERATOR_KEY or FORECOURT_OPERATOR_KEY_FILE, which process lists do not show)',
    )
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({
      writeOut: (text) => context.stdout.write(text),
      writeErr: (text) => context.stderr.write(text),
      getOutHelpWidth: () => context.stdout.columns ?? 100,
      getErrHelpWidth: () => context.stderr.columns ?? 100,
      getOutHasColors: () => false,
      getErrHasColors: () => false,
    })
    .exitOverride()
    .example('serve', 'starts the service')
    .example('app create "City charging"', 'creates an application, and shows its secret once')
  for (const addTo of groups) addTo(program, context)
  return program
}
