import type { Static } from 'typebox'
import type { Caller } from '../../callers/caller.ts'
import type { Config } from '../../config.ts'
import type { Context } from '../../context.ts'
import type { Statements } from '../../database/open.ts'
import { callbackUrlFault, hiddenQuery, splitQuery } from '../../deliveries/callback-url.ts'
import { newCallbackSecret } from '../../deliveries/sign.ts'
import { syncEndpoint } from '../../deliveries/store.ts'
import { insertEvent, insertPlatformEvent } from '../../events/store.ts'
import { etagOf } from '../../http/etag.ts'
import { keyIdOf } from '../../secrets/box.ts'
import { eventTypes } from '../../vocabulary/event-types.ts'
import { showMoment } from '../../vocabulary/moments.ts'
import { type FieldFault, invalidField, Refusal } from '../../vocabulary/refusals.ts'
import { given } from '../../vocabulary/values.ts'
import type { saveThirdPartyConfig, ThirdPartyConfigRecord } from './contract.ts'
import { findConfig, replaceSecret, type ThirdPartyConfig, upsertConfig } from './store.ts'

type ConfigBody = Static<NonNullable<typeof saveThirdPartyConfig.body>> & { appId: string }

/** The stored record for retries hides the callback URL's query and seals it separately. */
export type KeptRecord = ThirdPartyConfigRecord & { sealedQuery: string | null }

interface SavedConfig {
  config: ThirdPartyConfig
  record: KeptRecord
}

/** Shows the secret only if it is new, and hides the URL's query; `shownTo` adds it. */
function showConfig(config: ThirdPartyConfig, callbackSecret: string | null): ThirdPartyConfigRecord {
  const { updatedAt, stoppedAt, stoppedReason, callbackQuery, ...members } = config
  return {
    ...members,
    callbackUrl: config.callbackUrl && config.callbackUrl + (callbackQuery === null ? '' : hiddenQuery),
    callbackSecret,
    callbackStopTime: stoppedAt === null ? null : showMoment(stoppedAt),
    callbackStopReason: stoppedReason,
    updateTime: showMoment(updatedAt),
  }
}

export function toKept(config: ThirdPartyConfig, callbackSecret: string | null): KeptRecord {
  return { ...showConfig(config, callbackSecret), sealedQuery: config.callbackQuery }
}

/** The tag covers the sealed query, but not the secret, which is not part of the configuration. */
export function tagOf(config: ThirdPartyConfig): string {
  return etagOf({ ...showConfig(config, null), callbackQuery: config.callbackQuery })
}

/** Seals a query; an unchanged or hidden one keeps its text. Throws 10001 for a hidden one that isn't stored. */
function sealQuery(
  { secrets }: Pick<Context, 'secrets'>,
  appId: string,
  { address, query }: ReturnType<typeof splitQuery>,
  before: ThirdPartyConfig | undefined,
): string | null {
  if (query === null) return null
  const stored = before?.callbackUrl === address ? before.callbackQuery : null
  if (query === hiddenQuery) return stored ?? refuseHiddenQuery()
  return stored !== null && secrets.open(appId, stored) === query ? stored : secrets.seal(appId, query)
}

function refuseHiddenQuery(): never {
  const en = `ends in ${hiddenQuery}, which keeps the stored query, but no query is stored for this URL`
  throw invalidField('callbackUrl', en, `以 ${hiddenQuery} 结尾，表示保留原有查询参数，但此地址没有已保存的查询参数`)
}

/** Saves a configuration. The transaction must have created or locked the application. */
export async function saveConfig(
  context: Pick<Context, 'secrets'>,
  tx: Statements,
  body: ConfigBody,
  actor: string,
): Promise<SavedConfig> {
  const newSecret = newCallbackSecret()
  const url = given(body.callbackUrl)
  const split = url === null ? { address: null, query: null } : splitQuery(url)
  const members = {
    appId: body.appId,
    operatorName: body.operatorName,
    operatorId: given(body.operatorId),
    callbackUrl: split.address,
    callbackQuery:
      split.address === null ? null : sealQuery(context, body.appId, split, await findConfig(tx, body.appId)),
    callbackEvents: [...new Set(given(body.callbackEvents) ?? eventTypes)],
  }
  const { config, isNew } = await upsertConfig(tx, members, context.secrets.seal(body.appId, newSecret))
  // Before the event, so that it is the first that a new callback gets.
  await syncEndpoint(tx, body.appId, members.callbackUrl !== null)
  const data = showConfig(config, null)
  const { appId, updatedAt: time } = config
  await insertEvent(tx, { appId, type: 'thirdPartyConfig.saved', time, actor, subject: null, data })
  return { config, record: toKept(config, isNew ? newSecret : null) }
}

/** Rotates the callback secret. Needs the application's lock. Throws 30003. */
export async function rotateSecret(
  context: Pick<Context, 'secrets'>,
  tx: Statements,
  appId: string,
  by: { actor: string; address: string },
): Promise<KeptRecord> {
  const newSecret = newCallbackSecret()
  await replaceSecret(tx, appId, context.secrets.seal(appId, newSecret))
  const config = await requireConfig(tx, appId)
  const data = showConfig(config, null)
  const { updatedAt: time } = config
  await insertPlatformEvent(tx, { type: 'thirdPartyConfig.secretRotated', time, subject: appId, ...by, data })
  return toKept(config, newSecret)
}

export async function requireConfig(sql: Statements, appId: string): Promise<ThirdPartyConfig> {
  const config = await findConfig(sql, appId)
  if (config === undefined) throw new Refusal('thirdPartyConfigMissing')
  return config
}

/** Returns errors that depend on the settings. `prefix` precedes the field's name. */
export function configFaults(
  config: { callbackUrl?: string | null },
  { privateCallbacks }: Pick<Config, 'privateCallbacks'>,
  prefix = '',
): FieldFault[] {
  const callbackUrl = given(config.callbackUrl)
  const reason = callbackUrl === null ? undefined : callbackUrlFault(callbackUrl, privateCallbacks)
  return reason === undefined ? [] : [{ field: `${prefix}callbackUrl`, reason }]
}

/** Shows the URL's query to the application and admins, unless its encryption key is gone. */
export function shownTo(
  caller: Caller,
  { secrets }: Pick<Context, 'secrets'>,
  { sealedQuery, ...record }: KeptRecord,
): ThirdPartyConfigRecord {
  const { appId, callbackUrl } = record
  const mayReadQuery = caller.kind === 'application' || caller.role === 'admin'
  const isReadable = mayReadQuery && sealedQuery !== null && secrets.keyIds.includes(keyIdOf(sealedQuery))
  if (callbackUrl === null || !isReadable) return record
  return { ...record, callbackUrl: callbackUrl.slice(0, -hiddenQuery.length) + secrets.open(appId, sealedQuery) }
}
