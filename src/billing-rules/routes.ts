import { requireApplication, requireLockedApplication } from '../applications/store.ts'
import { findKeptAnswer, keepAnswer } from '../database/idempotency.ts'
import { transaction } from '../database/transaction.ts'
import { insertEvent } from '../events/store.ts'
import { requireActingFor } from '../http/authenticate.ts'
import { type Handler, handle, JsonText } from '../http/serve.ts'
import type { Platform } from '../platform.ts'
import { getBillingRule, pageBillingRules, saveBillingRule } from './contract.ts'
import { readTerms, ruleFaults } from './rules.ts'
import { insertBillingRule, pageOfBillingRules, requireBillingRule } from './store.ts'

export function billingRuleRoutes({ sql, showMoment }: Platform): Handler[] {
  return [
    handle(
      saveBillingRule,
      async ({ caller, body, idempotency }) => {
        const { appId, ruleName, ruleType } = body
        const actor = requireActingFor(caller, appId)
        const create = idempotency && { appId, operation: saveBillingRule.id, ...idempotency }
        const answer = await transaction(sql, async (tx) => {
          await requireLockedApplication(tx, appId)
          const kept = create && (await findKeptAnswer(tx, create))
          if (kept !== undefined) return kept
          const rule = await insertBillingRule(tx, { appId, ruleName, ruleType, ...readTerms(body) }, showMoment)
          const subject = String(rule.id)
          await insertEvent(tx, { appId, type: 'billingRule.created', time: new Date(), actor, subject, data: rule })
          const text = JSON.stringify(rule)
          if (create !== undefined) await keepAnswer(tx, create, text)
          return text
        })
        return new JsonText(answer)
      },
      { check: ruleFaults },
    ),

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
