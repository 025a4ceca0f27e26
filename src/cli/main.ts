import { ConfigError, readConfig } from '../config.ts'
import { StartError } from '../database/start-error.ts'
import { distributeDatabase } from './distribute.ts'

// The command line. Settings come from the environment, as the service's do.

const usage = `Usage: forecourt COMMAND

  distribute   makes the empty database of the settings, a Citus coordinator's, a distributed one
`

const [command, ...rest] = process.argv.slice(2)
if (command !== 'distribute' || rest.length > 0) {
  process.stderr.write(usage)
  process.exit(2)
}
try {
  process.stdout.write(`${await distributeDatabase(readConfig(process.env))}\n`)
} catch (error) {
  const isExplained = error instanceof ConfigError || error instanceof StartError
  process.stderr.write(isExplained ? `${error.message}\n` : `${(error as Error).stack}\n`)
  process.exit(1)
}
