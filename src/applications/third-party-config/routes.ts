import { applicationOf, requireApplicationOf } from '../../callers/permissions.ts'
import type { Context } from '../../context.ts'
import { requireMatch, tagged } from '../../http/etag.ts'
import { type Handler, handle, read } from '../../http/handler.ts'
import { Refusal } from '../../vocabulary/refusals.ts'
import { writeAlone } from '../../writes/alone.ts'
import { getThirdPartyConfig, rotateCallbackSecret, saveThirdPartyConfig } from './contract.ts'
import { configFaults, requireConfig, rotateSecret, saveConfig, shownTo, tagOf, toKept } from './save.ts'
import { findConfig, type ThirdPartyConfig } from './store.ts'

export function thirdPartyConfigRoutes(context: Context): Handler[] {
  const { sql } = context
  return [
    handle(
      saveThirdPartyConfig,
      async (request) => {
        const { caller, actor, body, header } = request
        const appId = applicationOf(caller, body.appId)
        const ifMatch = header('if-match')
        let saved: ThirdPartyConfig | undefined
        const record = await writeAlone(sql, request, appId, async (tx) => {
          if (ifMatch !== null) {
            const config = await findConfig(tx, appId)
            if (config === undefined) throw new Refusal('preconditionFailed')
            requireMatch(ifMatch, tagOf(config))
          }
          const { config, record } = await saveConfig(context, tx, { ...body, appId }, actor)
          saved = config
          return record
        })
        const now = saved ?? (await requireConfig(sql, appId))
        return tagged(shownTo(caller, context, record), tagOf(now))
      },
      { check: (body) => configFaults(body, context.config) },
    ),

    handle(rotateCallbackSecret, async (request) => {
      const { caller, body, actor, sourceAddress } = request
      const appId = applicationOf(caller, body.appId)
      const by = { actor, address: sourceAddress() }
      const record = await writeAlone(sql, request, appId, (tx) => rotateSecret(context, tx, appId, by))
      return shownTo(caller, context, record)
    }),

    read(getThirdPartyConfig, async ({ sql, caller, query }) => {
      const appId = await requireApplicationOf(sql, caller, query.appId)
      const config = await requireConfig(sql, appId)
      return tagged(shownTo(caller, context, toKept(config, null)), tagOf(config))
    }),
  ]
}
