import { randomBytes } from 'node:crypto'
import type { Static } from 'typebox'
import type { Statements } from '../database/open.ts'
import { eventTypes } from '../events/contract.ts'
import { insertEvent } from '../events/store.ts'
import type { Platform } from '../platform.ts'
import type { FieldFault } from '../refusals.ts'
import { given } from '../values.ts'
import type { saveThirdPartyConfig, ThirdPartyConfigRecord } from './contract.ts'
import { callbackUrlFault } from './rules.ts'
import { type ThirdPartyConfig, upsertConfig } from './store.ts'

type ConfigBody = Static<NonNullable<typeof saveThirdPartyConfig.body>>

/** The configuration as its operations answer it; the callback secret only when it has just been made. */
export function showConfig(
  platform: Platform,
  config: ThirdPartyConfig,
  callbackSecret: string | null,
): ThirdPartyConfigRecord {
  const { updatedAt, ...members } = config
  return { ...members, callbackSecret, updateTime: platform.showMoment(updatedAt) }
}

/** Saves a checked configuration, and its event, in a transaction that has made or locked the application. */
export async function saveConfig(
  platform: Platform,
  tx: Statements,
  body: ConfigBody,
  actor: string,
): Promise<ThirdPartyConfigRecord> {
  const newSecret = `whsec_${randomBytes(32).toString('base64')}`
  const members = {
    appId: body.appId,
    operatorName: body.operatorName,
    operatorId: given(body.operatorId),
    callbackUrl: given(body.callbackUrl),
    callbackEvents: [...new Set(given(body.callbackEvents) ?? eventTypes)],
  }
  const { config, isNew } = await upsertConfig(tx, members, newSecret)
  await insertEvent(tx, {
    appId: body.appId,
    type: 'thirdPartyConfig.saved',
    time: config.updatedAt,
    actor,
    subject: null,
    data: showConfig(platform, config, null),
  })
  return showConfig(platform, config, isNew ? newSecret : null)
}

/** What a configuration's members may not be by a setting; `within` is put before their names. */
export function configFaults(
  config: { callbackUrl?: string | null },
  { privateCallbacks }: Platform['config'],
  within = '',
): FieldFault[] {
  const callbackUrl = given(config.callbackUrl)
  const reason = callbackUrl === null ? undefined : callbackUrlFault(callbackUrl, privateCallbacks)
  return reason === undefined ? [] : [{ field: `${within}callbackUrl`, reason }]
}
