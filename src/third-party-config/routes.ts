import { requireApplication, requireLockedApplication } from '../applications/store.ts'
import { transaction } from '../database/transaction.ts'
import { requireActingFor } from '../http/authenticate.ts'
import { type Handler, handle } from '../http/serve.ts'
import type { Platform } from '../platform.ts'
import { Refusal } from '../refusals.ts'
import { getThirdPartyConfig, saveThirdPartyConfig } from './contract.ts'
import { configFaults, saveConfig, showConfig } from './save.ts'
import { findConfig } from './store.ts'

export function thirdPartyConfigRoutes(platform: Platform): Handler[] {
  const { sql } = platform
  return [
    handle(
      saveThirdPartyConfig,
      async ({ caller, body }) => {
        const actor = requireActingFor(caller, body.appId)
        return transaction(sql, async (tx) => {
          await requireLockedApplication(tx, body.appId)
          return saveConfig(platform, tx, body, actor)
        })
      },
      { check: (body) => configFaults(body, platform.config) },
    ),

    handle(getThirdPartyConfig, async ({ caller, query }) => {
      requireActingFor(caller, query.appId)
      await requireApplication(sql, query.appId)
      const config = await findConfig(sql, query.appId)
      if (config === undefined) throw new Refusal('thirdPartyConfigMissing')
      return showConfig(platform, config, null)
    }),
  ]
}
