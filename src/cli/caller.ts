import type { Forecourt } from '#sdk/forecourt'
import { usageError } from '../runtime/user-error.ts'
import type { CliCommand } from './command.ts'
import type { Context } from './context.ts'

/** For commands that an application may use as well as an operator. */
export interface CallerOptions {
  app?: string
  appId?: string | undefined
  appSecret?: string
}

export function addCallerOptions(command: CliCommand, app: string): CliCommand {
  return command
    .option('--app <appid>', `${app} (with an operator key)`)
    .option('--app-id <appid>', 'call as this application instead of with an operator key (env: APP_ID)')
    .option(
      '--app-secret <secret>',
      'its secret (safer: APP_SECRET or APP_SECRET_FILE, which process lists don’t show)',
    )
}

interface Caller<AppId> {
  client: Forecourt
  appId: AppId
}

export function callerOfOne(options: CallerOptions, context: Context): Caller<string> {
  const appId = options.appId ?? (options.app === undefined ? applicationOf(context) : undefined)
  const caller = options.app === undefined && appId === undefined ? undefined : callerOf({ ...options, appId }, context)
  if (caller?.appId !== undefined) return { ...caller, appId: caller.appId }
  throw usageError('specify the application: --app APPID with an operator key, or --app-id APPID with its secret')
}

/** Without an option, the environment's operator key comes before its application. */
export function callerOf({ app, appId, appSecret }: CallerOptions, context: Context): Caller<string | undefined> {
  if (app !== undefined && appId !== undefined) {
    throw usageError('use either --app (with an operator key) or --app-id (with the application’s secret)')
  }
  const named = appId ?? (app === undefined && !context.hasKey ? applicationOf(context) : undefined)
  return named === undefined
    ? { client: context.client(), appId: app }
    : { client: context.applicationClient(named, appSecret), appId: named }
}

function applicationOf({ environment }: Context): string | undefined {
  return environment.APP_ID?.trim() || undefined
}
