import type { Readable, Writable } from 'node:stream'
import { travelsOpenly } from '#sdk/address'
import { Forecourt } from '#sdk/forecourt'
import { type Config, readConfig, readSecret } from '../config.ts'
import { usageError } from '../runtime/user-error.ts'
import type { CliCommand } from './command.ts'
import { readServiceAddress } from './service-address.ts'

type OutputStream = Writable & { isTTY?: boolean; columns?: number }

export interface Surroundings {
  environment: Record<string, string | undefined>
  stdin: Readable
  stdout: OutputStream
  stderr: OutputStream
}

interface GlobalOptions {
  json?: true
  quiet?: true
  url?: string
  allowHttp?: true
  key?: string
}

/** Contract §8. */
export const exitCodes = { done: 0, failed: 1, wrongUsage: 2, refused: 3, someRefused: 4 } as const
type ExitCode = (typeof exitCodes)[keyof typeof exitCodes]

const colours = { red: 31, green: 32, yellow: 33, bold: 1 } as const

export class Context {
  readonly environment: Surroundings['environment']
  readonly stdin: Readable
  readonly stdout: OutputStream
  readonly stderr: OutputStream
  exitCode: ExitCode = exitCodes.done
  /** The command itself handles a standard output that is no longer read. */
  outlivesReader = false
  private program: CliCommand | undefined

  constructor({ environment, stdin, stdout, stderr }: Surroundings) {
    this.environment = environment
    this.stdin = stdin
    this.stdout = stdout
    this.stderr = stderr
  }

  follow(program: CliCommand): void {
    this.program = program
  }

  private get options(): GlobalOptions {
    return this.program?.opts<GlobalOptions>() ?? {}
  }

  get isJson(): boolean {
    return this.options.json === true
  }

  get isQuiet(): boolean {
    return this.options.quiet === true
  }

  /** A progress bar makes sense only on a terminal. */
  get isWatched(): boolean {
    return this.stderr.isTTY === true && !this.isQuiet
  }

  /** Without a slash at its end. Throws `UserError`. */
  get url(): string {
    return readServiceAddress(this.options.url ?? (this.environment.FORECOURT_URL?.trim() || 'http://127.0.0.1:8080'))
  }

  config(): Config {
    return readConfig(this.environment)
  }

  get allowsHttp(): boolean {
    return this.options.allowHttp === true
  }

  client(): Forecourt {
    const baseUrl = this.requireAddress('the operator key')
    const operatorKey = this.secret('--key', this.options.key, 'FORECOURT_OPERATOR_KEY')
    if (operatorKey === undefined) {
      throw usageError('an operator key is required; set FORECOURT_OPERATOR_KEY or FORECOURT_OPERATOR_KEY_FILE')
    }
    return new Forecourt({ baseUrl, operatorKey, allowHttp: true })
  }

  get hasKey(): boolean {
    return (this.options.key ?? readSecret(this.environment, 'FORECOURT_OPERATOR_KEY')) !== undefined
  }

  applicationClient(appId: string, givenSecret: string | undefined): Forecourt {
    const baseUrl = this.requireAddress('the application’s secret')
    const appSecret = this.secret('--app-secret', givenSecret, 'APP_SECRET')
    if (appSecret === undefined) {
      throw usageError('the application’s secret is required too; set APP_SECRET or APP_SECRET_FILE')
    }
    return new Forecourt({ baseUrl, appId, appSecret, allowHttp: true })
  }

  /** Warns about a secret given as an option: the list of processes shows it. */
  secret(option: string, given: string | undefined, variable: string): string | undefined {
    if (given === undefined) return readSecret(this.environment, variable)
    this.remark(`Warning: other users of this machine can see ${option} in the process list. Set ${variable} instead.`)
    return given
  }

  private requireAddress(secret: string): string {
    const { url } = this
    if (travelsOpenly(new URL(url)) && !this.allowsHttp) {
      throw usageError(
        `${secret} would be sent to ${url} in plain text; use https://, or add --allow-http if you trust the network`,
      )
    }
    return url
  }

  /** Writes the result to standard output: one JSON value with --json, else these words. */
  result(value: unknown, words: string): void {
    const text = this.isJson ? JSON.stringify(value, null, 2) : words
    if (text !== '') this.stdout.write(text.endsWith('\n') ? text : `${text}\n`)
  }

  /** Writes to standard error what helps, but is not the result. */
  remark(words: string): void {
    if (!this.isQuiet) this.stderr.write(`${words}\n`)
  }

  /** If standard output is a terminal, NO_COLOR is not set and TERM is not dumb. */
  coloured(colour: keyof typeof colours, words: string): string {
    const { NO_COLOR, TERM } = this.environment
    const isPlain = this.stdout.isTTY !== true || Boolean(NO_COLOR) || TERM === 'dumb'
    return isPlain ? words : `\x1b[${colours[colour]}m${words}\x1b[0m`
  }
}
