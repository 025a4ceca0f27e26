import type { Forecourt } from '#sdk/forecourt'
import type { CliCommand } from './command.ts'
import type { Context } from './context.ts'
import { UsageError } from './usage-error.ts'

/** The options of a command that an application may use as well as an operator. */
export interface CallerOptions {
  app?: string
  appId?: string | undefined
  appSecret?: string
}

export function addCallerOptions(command: CliCommand, app: string): CliCommand {
  return command
    .option('--app <appid>', `with an operator key: ${app}`)
    .option('--app-id <appid>', 'call as this application, not with an operator key (APP_ID)')
    .option(
      '--app-secret <secret>',
      'its secret (better: APP_SECRET or APP_SECRET_FILE, which process lists do not show)',
    )
}

interface Caller<AppId> {
  client: Forecourt
  appId: AppId
}

/** Calls for one application, which the options or the environment name. */
export function callerOfOne(options: CallerOptions, context: Context): Caller<string> {
  const appId = options.appId ?? (options.app === undefined ? applicationOf(context) : undefined)
  const caller = options.app === undefined && appId === undefined ? undefined : callerOf({ ...options, appId }, context)
  if (caller?.appId !== undefined) return { ...caller, appId: caller.appId }
  throw new UsageError('name the application: --app APPID with an operator key, or --app-id APPID with its secret')
}

/**
 * Calls for the application that the options name, or for all. Without an option the operator key of the environment
 * comes before an application of the environment.
 */
export function callerOf({ app, appId, appSecret }: CallerOptions, context: Context): Caller<string | undefined> {
  if (app !== undefined && appId !== undefined) {
    throw new UsageError('--app is for an operator key, --app-id for an application’s secret: give one of them')
  }
  const named = appId ?? (app === undefined && !context.hasKey ? applicationOf(context) : undefined)
  return named === undefined
    ? { client: context.client(), appId: app }
    : { client: context.applicationClient(named, appSecret), appId: named }
}

function applicationOf({ environment }: Context): string | undefined {
  return environment.APP_ID?.trim() || undefined
}
