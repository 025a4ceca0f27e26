import { CommanderError } from 'commander'
import { ForecourtError } from '#sdk/error'
import { UserError } from '../runtime/user-error.ts'
import { type Context, exitCodes } from './context.ts'
import { createProgram } from './program.ts'
import { UsageError } from './usage-error.ts'

/** Runs one command line, given without the program's name. Returns the exit code. */
export async function run(args: string[], context: Context): Promise<number> {
  try {
    await createProgram(context).parseAsync(args, { from: 'user' })
    return context.exitCode
  } catch (error) {
    // Commander has printed its reason already.
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.done : exitCodes.wrongUsage
    context.stderr.write(`${explain(error, context)}\n`)
    if (error instanceof UsageError) return exitCodes.wrongUsage
    return error instanceof ForecourtError && error.code !== 0 ? exitCodes.refused : exitCodes.failed
  }
}

/** Words an error for users: what went wrong and what to do. */
function explain(error: unknown, context: Context): string {
  if (error instanceof ForecourtError) return explainAnswer(error, context.url)
  if (error instanceof UsageError) return `error: ${error.message}`
  if (error instanceof UserError) return error.message
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}

function explainAnswer({ code, name, status, reason, errors, requestId }: ForecourtError, url: string): string {
  if (status === 0) {
    return `The service does not answer at ${url} (${reason.replace(/^no answer: /, '')}): is it running? Another address: --url or FORECOURT_URL.`
  }
  if (code === 0)
    return `What answers at ${url} is not Forecourt (HTTP ${status}): give its address as --url or FORECOURT_URL.`
  const faults = errors.map(({ field, reason }) => `\n  ${field}: ${reason}`).join('')
  const todo = remedies[name] === undefined ? '' : ` ${remedies[name]}`
  const request = requestId === null ? '' : ` [request ${requestId}]`
  return `${code} ${name}: ${reason}${todo}${request}${faults}`
}

/** What the user of a command can do about a refusal, where its message does not say so. */
const remedies: Record<string, string> = {
  tokenInvalid: 'Check the operator key (--key, FORECOURT_OPERATOR_KEY): it is unknown, expired or deleted.',
  notPermitted: 'Use the key of an operator whose role permits this.',
  clientInvalid: 'Check the application’s id and secret (--app-id, APP_SECRET): one of them is wrong.',
  applicationNotFound: '`forecourt app list` lists the applications.',
  tooManyRequests: 'Try it again in a moment.',
  unavailable: 'Try it again in a moment; `forecourt doctor` looks for the reason.',
}
