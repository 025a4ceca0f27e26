import { applicationOf, lockApplicationFor, requireApplicationOf } from '../callers/permissions.ts'
import type { Config } from '../config.ts'
import { once } from '../database/idempotency.ts'
import type { Sql } from '../database/open.ts'
import { transaction } from '../database/transaction.ts'
import { etagOf, requireMatch, tagged } from '../http/etag.ts'
import { type Handler, handle, read } from '../http/serve.ts'
import { Refusal } from '../refusals.ts'
import {
  getThirdPartyConfig,
  rotateCallbackSecret,
  saveThirdPartyConfig,
  type ThirdPartyConfigRecord,
} from './contract.ts'
import { type ConfigParts, configFaults, requireConfig, rotateSecret, saveConfig, showConfig } from './save.ts'
import { findConfig } from './store.ts'

interface Parts extends ConfigParts {
  sql: Sql
  config: Pick<Config, 'privateCallbacks'>
}

export function thirdPartyConfigRoutes(parts: Parts): Handler[] {
  const { sql } = parts
  /** Of the record as its detail answers it: the secret is shown once and is no part of its state. */
  const tagOf = (record: ThirdPartyConfigRecord) => etagOf({ ...record, callbackSecret: null })

  return [
    handle(
      saveThirdPartyConfig,
      async ({ caller, actor, body, header, idempotency }) => {
        const appId = applicationOf(caller, body.appId)
        const ifMatch = header('if-match')
        const record = await transaction(sql, async (tx) => {
          await lockApplicationFor(tx, caller, appId)
          return once(tx, idempotency, appId, async () => {
            if (ifMatch !== null) {
              const config = await findConfig(tx, appId)
              if (config === undefined) throw new Refusal('preconditionFailed')
              requireMatch(ifMatch, tagOf(showConfig(parts, config, null)))
            }
            return saveConfig(parts, tx, { ...body, appId }, actor)
          })
        })
        return tagged(record, tagOf(record))
      },
      { check: (body) => configFaults(body, parts.config) },
    ),

    handle(rotateCallbackSecret, async ({ caller, body, actor, sourceAddress, idempotency }) => {
      const appId = applicationOf(caller, body.appId)
      return transaction(sql, async (tx) => {
        await lockApplicationFor(tx, caller, appId)
        const rotate = () => rotateSecret(parts, tx, appId, { actor, address: sourceAddress() })
        return once(tx, idempotency, appId, rotate)
      })
    }),

    read(getThirdPartyConfig, async ({ sql, caller, query }) => {
      const appId = await requireApplicationOf(sql, caller, query.appId)
      return tagged(showConfig(parts, await requireConfig(sql, appId), null))
    }),
  ]
}
