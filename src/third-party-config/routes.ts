import { requireApplication, requireLockedApplicationFor } from '../applications/store.ts'
import { transaction } from '../database/transaction.ts'
import { applicationOf } from '../http/authenticate.ts'
import { etagOf, requireMatch, tagged } from '../http/etag.ts'
import { type Handler, handle, read } from '../http/serve.ts'
import type { Platform } from '../platform.ts'
import { Refusal } from '../refusals.ts'
import {
  getThirdPartyConfig,
  rotateCallbackSecret,
  saveThirdPartyConfig,
  type ThirdPartyConfigRecord,
} from './contract.ts'
import { configFaults, requireConfig, rotateSecret, saveConfig, showConfig } from './save.ts'
import { findConfig } from './store.ts'

export function thirdPartyConfigRoutes(platform: Platform): Handler[] {
  const { sql } = platform
  /** Of the record as its detail answers it: the secret is shown once and is no part of its state. */
  const tagOf = (record: ThirdPartyConfigRecord) => etagOf({ ...record, callbackSecret: null })

  return [
    handle(
      saveThirdPartyConfig,
      async ({ caller, actor, body, header }) => {
        const appId = applicationOf(caller, body.appId)
        const ifMatch = header('if-match')
        const record = await transaction(sql, async (tx) => {
          await requireLockedApplicationFor(tx, caller, appId)
          if (ifMatch !== null) {
            const config = await findConfig(tx, appId)
            if (config === undefined) throw new Refusal('preconditionFailed')
            requireMatch(ifMatch, tagOf(showConfig(platform, config, null)))
          }
          return saveConfig(platform, tx, { ...body, appId }, actor)
        })
        return tagged(record, tagOf(record))
      },
      { check: (body) => configFaults(body, platform.config) },
    ),

    handle(rotateCallbackSecret, async ({ caller, body, actor, sourceAddress }) => {
      const appId = applicationOf(caller, body.appId)
      return transaction(sql, async (tx) => {
        await requireLockedApplicationFor(tx, caller, appId)
        return rotateSecret(platform, tx, appId, { actor, address: sourceAddress() })
      })
    }),

    read(getThirdPartyConfig, async ({ sql, caller, query }) => {
      const appId = applicationOf(caller, query.appId)
      await requireApplication(sql, appId)
      return tagged(showConfig(platform, await requireConfig(sql, appId), null))
    }),
  ]
}
