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
  const app = program.command('app').summary('applications').description('Creates, lists and changes applications.')

  app
    .command('create')
    .description('Creates an application that is ready for use, and shows its secret once.')
    .argument('<name>', 'its name, for people')
    .option('--operator-name <name>', 'the company in its third-party configuration (default: its own name)')
    .option('--callback-url <url>', 'where its events are sent to, https')
    .option('--token-lifetime <seconds>', 'how long its access tokens live', wholeNumber(1))
    .option('--rate-limit <number>', 'requests a second that it may make', wholeNumber(1))
    .example('app create "City charging"')
    .example('app create "City charging" --json --quiet', 'appId and appSecret for a script')
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
        context.remark('The secret is shown only now. Store it where the application reads it.')
      },
    )

  app
    .command('list')
    .description('Lists the applications, newest first.')
    .option('--name <part>', 'those with this in their name')
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
      .argument('<appid>', 'the application')
      .example(`app ${name} 0f4a1b9c2d3e4f5a6b7c`)
      .action(async (appId: string) => {
        const record = await act(context.client(), appId)
        context.result(record, sheetOf(record))
      })
  change('show', 'Shows one application.', (client, appId) => client.getApplication({ appId }))
  change('online', 'Takes an application online: it can create devices again.', (client, appId) =>
    client.takeApplicationOnline({ appId }),
  )
  change(
    'offline',
    'Takes an application offline: it can create no more devices; everything else works.',
    (client, appId) => client.takeApplicationOffline({ appId }),
  )
  app
    .command('freeze')
    .description('Freezes an application: its tokens stop working within a second. Its records stay.')
    .argument('<appid>', 'the application')
    .requiredOption('--reason <text>', 'why, in words: it is kept and shown')
    .example('app freeze 0f4a1b9c2d3e4f5a6b7c --reason "contract ended"')
    .action(async (appId: string, { reason }: { reason: string }) => {
      const record = await context.client().freezeApplication({ appId, reason })
      context.result(record, sheetOf(record))
    })
  change('unfreeze', 'Lets a frozen application work again.', (client, appId) => client.unfreezeApplication({ appId }))
  app
    .command('rotate-secret')
    .description('Gives an application a new secret, and shows it, once.')
    .argument('<appid>', 'the application')
    .option(
      '--overlap <seconds>',
      'how long the old secret and its tokens keep working (default: not at all)',
      wholeNumber(0),
    )
    .example('app rotate-secret 0f4a1b9c2d3e4f5a6b7c --overlap 86400', 'a day to change over')
    .action(async (appId: string, { overlap }: { overlap?: number }) => {
      const record = await context.client().rotateApplicationSecret({ appId, overlapSeconds: overlap })
      context.result(record, `${sheetOf(record)}\n${sheet({ appSecret: record.appSecret })}`)
      context.remark('The secret is shown only now. Store it where the application reads it.')
    })
  change(
    'end-old-secret',
    'Ends the overlap of a rotation: the old secret and its tokens stop working within a second.',
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
    ...(overlapUntil !== null && { 'old secret': `works until ${overlapUntil}` }),
    tokens: `${tokenLifetimeSeconds} s`,
    'rate limit': rateLimitPerSecond === null ? 'none' : `${rateLimitPerSecond} a second`,
    created: createTime,
  })
}
