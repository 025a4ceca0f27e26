import { applicationOf, lockApplicationFor, requireApplicationOf } from '../../callers/permissions.ts'
import type { Config } from '../../config.ts'
import { once } from '../../database/idempotency.ts'
import type { Sql } from '../../database/open.ts'
import { requireMatch, tagged } from '../../http/etag.ts'
import { type Handler, handle, read } from '../../http/handler.ts'
import { Refusal } from '../../vocabulary/refusals.ts'
import { getThirdPartyConfig, rotateCallbackSecret, saveThirdPartyConfig } from './contract.ts'
import {
  type ConfigParts,
  configFaults,
  requireConfig,
  rotateSecret,
  saveConfig,
  shownTo,
  tagOf,
  toKept,
} from './save.ts'
import { findConfig, type ThirdPartyConfig } from './store.ts'

interface Parts extends ConfigParts {
  sql: Sql
  config: Pick<Config, 'privateCallbacks'>
}

export function thirdPartyConfigRoutes(parts: Parts): Handler[] {
  const { sql } = parts
  return [
    handle(
      saveThirdPartyConfig,
      async ({ caller, actor, body, header, idempotency, pending }) => {
        const appId = applicationOf(caller, body.appId)
        const ifMatch = header('if-match')
        let saved: ThirdPartyConfig | undefined
        const record = await pending.transaction(sql, async (tx) => {
          await lockApplicationFor(tx, caller, appId)
          return once(tx, idempotency, appId, async () => {
            if (ifMatch !== null) {
              const config = await findConfig(tx, appId)
              if (config === undefined) throw new Refusal('preconditionFailed')
              requireMatch(ifMatch, tagOf(parts, config))
            }
            const { config, record } = await saveConfig(parts, tx, { ...body, appId }, actor)
            saved = config
            return record
          })
        })
        const now = saved ?? (await requireConfig(sql, appId))
        return tagged(shownTo(caller, parts, record), tagOf(parts, now))
      },
      { check: (body) => configFaults(body, parts.config) },
    ),

    handle(rotateCallbackSecret, async ({ caller, body, actor, sourceAddress, idempotency, pending }) => {
      const appId = applicationOf(caller, body.appId)
      const record = await pending.transaction(sql, async (tx) => {
        await lockApplicationFor(tx, caller, appId)
        const by = { actor, address: sourceAddress() }
        return once(tx, idempotency, appId, () => rotateSecret(parts, tx, appId, by))
      })
      return shownTo(caller, parts, record)
    }),

    read(getThirdPartyConfig, async ({ sql, caller, query }) => {
      const appId = await requireApplicationOf(sql, caller, query.appId)
      const config = await requireConfig(sql, appId)
      return tagged(shownTo(caller, parts, toKept(parts, config, null)), tagOf(parts, config))
    }),
  ]
}
