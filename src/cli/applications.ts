import type { Application } from '#sdk/api'
import type { Forecourt } from '#sdk/forecourt'
import { rowsOf } from './all-rows.ts'
import { wholeNumber } from './arguments.ts'
import type { CliCommand } from './command.ts'
import type { Context } from './context.ts'
import { sheet, table } from './table.ts'

interface CreateOptions {
  operatorName?: string
  callbackUrl?: string
  tokenLifetime?: number
  rateLimit?: number
}

export function applicationCommands(program: CliCommand, context: Context): void {
  const app = program
    .command('app')
    .summary('manage applications')
    .description('Creates, lists and changes applications.')

  app
    .command('create')
    .description('Creates an application and shows its secret once.')
    .argument('<name>', 'display name')
    .option('--operator-name <name>', 'company name in the third-party configuration (default: the application’s name)')
    .option('--callback-url <url>', 'https URL that receives its events')
    .option('--token-lifetime <seconds>', 'lifetime of its access tokens', wholeNumber(1))
    .option('--rate-limit <number>', 'maximum requests per second', wholeNumber(1))
    .example('app create "City charging"')
    .example('app create "City charging" --json --quiet', 'for scripts: print appId and appSecret as JSON')
    .action(
      async (appName: string, { operatorName = appName, callbackUrl, tokenLifetime, rateLimit }: CreateOptions) => {
        const made = await context.client().createApplication({
          appName,
          thirdPartyConfig: { operatorName, callbackUrl },
          tokenLifetimeSeconds: tokenLifetime,
          ...(rateLimit !== undefined && { rateLimitPerSecond: rateLimit }),
        })
        const { appSecret, thirdPartyConfig } = made
        const callbackSecret = thirdPartyConfig?.callbackSecret
        context.result(made, `${sheetOf(made)}\n${sheet({ appSecret, ...(callbackSecret && { callbackSecret }) })}`)
        context.remark('Store the secret now. It can’t be shown again.')
      },
    )

  app
    .command('list')
    .description('Lists the applications, newest first.')
    .option('--name <part>', 'only applications with this text in their name')
    .example('app list')
    .example('app list --json | jq -r ".[].appId"')
    .action(async ({ name: appName }: { name?: string }) => {
      const list = await rowsOf(context.client().pageApplications.all({ appName }))
      context.result(
        list,
        table(list, {
          APPID: ({ appId }) => appId,
          NAME: ({ appName }) => appName,
          ONLINE: (row) => onlineStatus(row),
          STATUS: (row) => status(row),
          CREATED: ({ createTime }) => createTime,
        }),
      )
    })

  const change = (name: string, description: string, act: (client: Forecourt, appId: string) => Promise<Application>) =>
    app
      .command(name)
      .description(description)
      .argument('<appid>', 'ID of the application')
      .example(`app ${name} 0f4a1b9c2d3e4f5a6b7c`)
      .action(async (appId: string) => {
        const record = await act(context.client(), appId)
        context.result(record, sheetOf(record))
      })
  change('show', 'Shows one application.', (client, appId) => client.getApplication({ appId }))
  change('online', 'Brings an application online, so that it can create devices again.', (client, appId) =>
    client.takeApplicationOnline({ appId }),
  )
  change(
    'offline',
    'Takes an application offline. It can’t create devices; everything else keeps working.',
    (client, appId) => client.takeApplicationOffline({ appId }),
  )
  app
    .command('freeze')
    .description('Freezes an application. Its tokens stop working within a second; its records are kept.')
    .argument('<appid>', 'ID of the application')
    .requiredOption('--reason <text>', 'reason; stored and shown to people')
    .example('app freeze 0f4a1b9c2d3e4f5a6b7c --reason "contract ended"')
    .action(async (appId: string, { reason }: { reason: string }) => {
      const record = await context.client().freezeApplication({ appId, reason })
      context.result(record, sheetOf(record))
    })
  change('unfreeze', 'Unfreezes an application.', (client, appId) => client.unfreezeApplication({ appId }))
  app
    .command('rotate-secret')
    .description('Rotates an application’s secret and shows the new one once.')
    .argument('<appid>', 'ID of the application')
    .option('--overlap <seconds>', 'how long the old secret and its tokens stay valid (default: 0)', wholeNumber(0))
    .example('app rotate-secret 0f4a1b9c2d3e4f5a6b7c --overlap 86400', 'keep the old secret valid for a day')
    .action(async (appId: string, { overlap }: { overlap?: number }) => {
      const record = await context.client().rotateApplicationSecret({ appId, overlapSeconds: overlap })
      context.result(record, `${sheetOf(record)}\n${sheet({ appSecret: record.appSecret })}`)
      context.remark('Store the secret now. It can’t be shown again.')
    })
  change(
    'end-old-secret',
    'Ends the overlap early. The old secret and its tokens stop working within a second.',
    (client, appId) => client.endPreviousApplicationSecret({ appId }),
  )
}

function onlineStatus({ onlineStatus }: Application): string {
  return onlineStatus === 1 ? 'online' : 'offline'
}

function status({ status }: Application): string {
  return status === 1 ? 'normal' : 'frozen'
}

function sheetOf(application: Application): string {
  const { appId, appName, frozenReason, tokenLifetimeSeconds, rateLimitPerSecond, createTime } = application
  const { overlapUntil } = application
  return sheet({
    appId,
    name: appName,
    online: onlineStatus(application),
    status: status(application),
    ...(frozenReason !== null && { reason: frozenReason }),
    ...(overlapUntil !== null && { 'old secret': `valid until ${overlapUntil}` }),
    tokens: `${tokenLifetimeSeconds} s`,
    'rate limit': rateLimitPerSecond === null ? 'none' : `${rateLimitPerSecond}/s`,
    created: createTime,
  })
}
