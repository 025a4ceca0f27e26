import { randomBytes } from 'node:crypto'
import type { Static } from 'typebox'
import { requireApplication, requireLockedApplication } from '../applications/store.ts'
import type { Statements } from '../database/open.ts'
import { eventTypes } from '../events/contract.ts'
import { insertEvent } from '../events/store.ts'
import { requireActingFor } from '../http/authenticate.ts'
import { type Handler, handle } from '../http/serve.ts'
import type { Platform } from '../platform.ts'
import { invalidRequest, Refusal } from '../refusals.ts'
import { given } from '../values.ts'
import { getThirdPartyConfig, saveThirdPartyConfig, type ThirdPartyConfigRecord } from './contract.ts'
import { callbackUrlFault } from './rules.ts'
import { findConfig, type ThirdPartyConfig, upsertConfig } from './store.ts'

type ConfigBody = Static<NonNullable<typeof saveThirdPartyConfig.body>>

function show(platform: Platform, config: ThirdPartyConfig, callbackSecret: string | null): ThirdPartyConfigRecord {
  const { updatedAt, ...members } = config
  return { ...members, callbackSecret, updateTime: platform.showMoment(updatedAt) }
}

/**
 * Saves a configuration, and its event, in a transaction that has made or locked the application.
 * `within` is put before the names of faulty fields, for a body that holds the configuration as a member.
 */
export async function saveConfig(
  platform: Platform,
  tx: Statements,
  body: ConfigBody,
  actor: string,
  within = '',
): Promise<ThirdPartyConfigRecord> {
  const callbackUrl = given(body.callbackUrl)
  const reason = callbackUrl === null ? undefined : callbackUrlFault(callbackUrl, platform.config.privateCallbacks)
  if (reason !== undefined) throw invalidRequest([{ field: `${within}callbackUrl`, reason }])
  const newSecret = `whsec_${randomBytes(32).toString('base64')}`
  const members = {
    appId: body.appId,
    operatorName: body.operatorName,
    operatorId: given(body.operatorId),
    callbackUrl,
    callbackEvents: [...new Set(given(body.callbackEvents) ?? eventTypes)],
  }
  const { config, isNew } = await upsertConfig(tx, members, newSecret)
  await insertEvent(tx, {
    appId: body.appId,
    type: 'thirdPartyConfig.saved',
    time: config.updatedAt,
    actor,
    subject: null,
    data: show(platform, config, null),
  })
  return show(platform, config, isNew ? newSecret : null)
}

export function thirdPartyConfigRoutes(platform: Platform): Handler[] {
  const { sql } = platform
  return [
    handle(saveThirdPartyConfig, async ({ caller, body }) => {
      const actor = requireActingFor(caller, body.appId)
      return sql.begin(async (tx) => {
        await requireLockedApplication(tx, body.appId)
        return saveConfig(platform, tx, body, actor)
      })
    }),

    handle(getThirdPartyConfig, async ({ caller, query }) => {
      requireActingFor(caller, query.appId)
      await requireApplication(sql, query.appId)
      const config = await findConfig(sql, query.appId)
      if (config === undefined) throw new Refusal('thirdPartyConfigMissing')
      return show(platform, config, null)
    }),
  ]
}
