import { randomBytes } from 'node:crypto'
import type { Static } from 'typebox'
import type { Config } from '../config.ts'
import type { Statements } from '../database/open.ts'
import { callbackUrlFault } from '../deliveries/callback-url.ts'
import { syncEndpoint } from '../deliveries/store.ts'
import { eventTypes } from '../events/contract.ts'
import { insertEvent, insertPlatformEvent } from '../events/store.ts'
import type { ShowMoment } from '../moments.ts'
import { type FieldFault, Refusal } from '../refusals.ts'
import type { SecretBox } from '../secrets/box.ts'
import { given } from '../values.ts'
import type { saveThirdPartyConfig, ThirdPartyConfigRecord } from './contract.ts'
import { findConfig, replaceSecret, type ThirdPartyConfig, upsertConfig } from './store.ts'

type ConfigBody = Static<NonNullable<typeof saveThirdPartyConfig.body>> & { appId: string }

/** What a configuration is kept and shown with. */
export interface ConfigParts {
  /** Seals the callback's secret. */
  secrets: SecretBox
  showMoment: ShowMoment
}

/** The configuration as its operations answer it; the callback secret only when it has just been made. */
export function showConfig(
  parts: ConfigParts,
  config: ThirdPartyConfig,
  callbackSecret: string | null,
): ThirdPartyConfigRecord {
  const { updatedAt, stoppedAt, stoppedReason, ...members } = config
  return {
    ...members,
    callbackSecret,
    callbackStopTime: stoppedAt === null ? null : parts.showMoment(stoppedAt),
    callbackStopReason: stoppedReason,
    updateTime: parts.showMoment(updatedAt),
  }
}

function newCallbackSecret(): string {
  return `whsec_${randomBytes(32).toString('base64')}`
}

/** Saves a checked configuration, and its event, in a transaction that has made or locked the application. */
export async function saveConfig(
  parts: ConfigParts,
  tx: Statements,
  body: ConfigBody,
  actor: string,
): Promise<ThirdPartyConfigRecord> {
  const newSecret = newCallbackSecret()
  const members = {
    appId: body.appId,
    operatorName: body.operatorName,
    operatorId: given(body.operatorId),
    callbackUrl: given(body.callbackUrl),
    callbackEvents: [...new Set(given(body.callbackEvents) ?? eventTypes)],
  }
  const { config, isNew } = await upsertConfig(tx, members, parts.secrets.seal(body.appId, newSecret))
  // Before the event, so that the event is the first that a new callback gets.
  await syncEndpoint(tx, body.appId, members.callbackUrl !== null)
  const data = showConfig(parts, config, null)
  const { appId, updatedAt: time } = config
  await insertEvent(tx, { appId, type: 'thirdPartyConfig.saved', time, actor, subject: null, data })
  return showConfig(parts, config, isNew ? newSecret : null)
}

/** Replaces the callback secret, in a transaction that has locked the application. Throws 30003. */
export async function rotateSecret(
  parts: ConfigParts,
  tx: Statements,
  appId: string,
  by: { actor: string; address: string },
): Promise<ThirdPartyConfigRecord> {
  const newSecret = newCallbackSecret()
  await replaceSecret(tx, appId, parts.secrets.seal(appId, newSecret))
  const config = await requireConfig(tx, appId)
  const data = showConfig(parts, config, null)
  const { updatedAt: time } = config
  await insertPlatformEvent(tx, { type: 'thirdPartyConfig.secretRotated', time, subject: appId, ...by, data })
  return showConfig(parts, config, newSecret)
}

/** Throws 30003. */
export async function requireConfig(sql: Statements, appId: string): Promise<ThirdPartyConfig> {
  const config = await findConfig(sql, appId)
  if (config === undefined) throw new Refusal('thirdPartyConfigMissing')
  return config
}

/** What a configuration's members may not be by a setting; `within` is put before their names. */
export function configFaults(
  config: { callbackUrl?: string | null },
  { privateCallbacks }: Pick<Config, 'privateCallbacks'>,
  within = '',
): FieldFault[] {
  const callbackUrl = given(config.callbackUrl)
  const reason = callbackUrl === null ? undefined : callbackUrlFault(callbackUrl, privateCallbacks)
  return reason === undefined ? [] : [{ field: `${within}callbackUrl`, reason }]
}
