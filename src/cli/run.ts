import { CommanderError } from 'commander'
import { ForecourtError } from '#sdk/error'
import { UserError } from '../runtime/user-error.ts'
import { type Context, exitCodes } from './context.ts'
import { createProgram } from './program.ts'

/** `args` are without the program's name. Returns the exit code. */
export async function run(args: string[], context: Context): Promise<number> {
  try {
    await createProgram(context).parseAsync(args, { from: 'user' })
    return context.exitCode
  } catch (error) {
    // Commander has printed its reason.
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.done : exitCodes.wrongUsage
    context.stderr.write(`${explain(error, context)}\n`)
    if (error instanceof UserError && error.isUsage) return exitCodes.wrongUsage
    return error instanceof ForecourtError && error.code !== 0 ? exitCodes.refused : exitCodes.failed
  }
}

function explain(error: unknown, context: Context): string {
  if (error instanceof ForecourtError) return explainAnswer(error, context.url)
  if (error instanceof UserError) return error.isUsage ? `error: ${error.message}` : error.message
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}

function explainAnswer({ code, name, status, reason, errors, requestId }: ForecourtError, url: string): string {
  if (status === 0) {
    return `No response from the service at ${url} (${reason.replace(/^no answer: /, '')}). Check that it is running, or set its address with --url or FORECOURT_URL.`
  }
  if (code === 0)
    return `The server at ${url} isn’t Forecourt (HTTP ${status}). Set the service’s address with --url or FORECOURT_URL.`
  const faults = errors.map(({ field, reason }) => `\n  ${field}: ${reason}`).join('')
  const todo = remedies[name] === undefined ? '' : ` ${remedies[name]}`
  const request = requestId === null ? '' : ` [request ${requestId}]`
  return `${code} ${name}: ${reason}${todo}${request}${faults}`
}

/** For refusals whose message does not say what to do. */
const remedies: Record<string, string> = {
  tokenInvalid: 'Check the operator key (--key or FORECOURT_OPERATOR_KEY). It is unknown, expired or revoked.',
  notPermitted: 'Use a key whose role allows this.',
  clientInvalid: 'Check the application’s ID and secret (--app-id and APP_SECRET). One of them is wrong.',
  applicationNotFound: 'To list the applications: `forecourt app list`.',
  tooManyRequests: 'Try again in a moment.',
  unavailable: 'Try again in a moment. To find the cause: `forecourt doctor`.',
}
