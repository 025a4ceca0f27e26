import { requireApplication, requireLockedApplication } from '../applications/store.ts'
import { insertEvent } from '../events/store.ts'
import { requireActingFor } from '../http/authenticate.ts'
import { type Handler, handle } from '../http/serve.ts'
import type { Platform } from '../platform.ts'
import { invalidRequest } from '../refusals.ts'
import { getBillingRule, pageBillingRules, saveBillingRule } from './contract.ts'
import { readTerms } from './rules.ts'
import { insertBillingRule, pageOfBillingRules, requireBillingRule } from './store.ts'

export function billingRuleRoutes({ sql, showMoment }: Platform): Handler[] {
  return [
    handle(saveBillingRule, async ({ caller, body }) => {
      const { terms, faults } = readTerms(body)
      if (faults.length > 0) throw invalidRequest(faults)
      const { appId, ruleName, ruleType } = body
      const actor = requireActingFor(caller, appId)
      return sql.begin(async (tx) => {
        await requireLockedApplication(tx, appId)
        const rule = await insertBillingRule(tx, { appId, ruleName, ruleType, ...terms }, showMoment)
        const subject = String(rule.id)
        await insertEvent(tx, { appId, type: 'billingRule.created', time: new Date(), actor, subject, data: rule })
        return rule
      })
    }),

    handle(getBillingRule, async ({ caller, query }) => {
      requireActingFor(caller, query.appId)
      await requireApplication(sql, query.appId)
      return requireBillingRule(sql, query.appId, query.id, showMoment)
    }),

    handle(pageBillingRules, async ({ caller, query }) => {
      requireActingFor(caller, query.appId)
      await requireApplication(sql, query.appId)
      return pageOfBillingRules(sql, query, showMoment)
    }),
  ]
}
