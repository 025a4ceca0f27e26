import { applicationOf, requireApplicationOf } from '../callers/permissions.ts'
import type { Context } from '../context.ts'
import type { Statements } from '../database/open.ts'
import { insertEvent } from '../events/store.ts'
import { etagOf, requireMatch, tagged } from '../http/etag.ts'
import { type Handler, handle, read } from '../http/handler.ts'
import { invalidRequest, Refusal } from '../vocabulary/refusals.ts'
import { type AloneRequest, writeAlone } from '../writes/alone.ts'
import { deleteBillingRule, getBillingRule, pageBillingRules, saveBillingRule, updateBillingRule } from './contract.ts'
import { readBillingRulePage } from './pages.ts'
import { areSameTerms, changeRule, readTerms, ruleFaults, updateFaults } from './rules.ts'
import {
  insertBillingRule,
  insertTerms,
  isRuleInUse,
  removeBillingRule,
  renameBillingRule,
  requireBillingRule,
  settledNow,
} from './store.ts'

interface RulePrices {
  /** Runs a write under the application's lock, after writing down price changes due at `now`. */
  write<Data extends object>(
    request: AloneRequest,
    appId: string,
    write: (tx: Statements, now: Date) => Promise<Data>,
  ): Promise<Data>
  isGivenByWaiting(tx: Statements, appId: string, ruleId: number): Promise<boolean>
  /** Cancels a rule's scheduled changes. Returns the time after which none is left. */
  cancelOfRule(tx: Statements, appId: string, ruleId: number, actor: string): Promise<Date>
}

export function billingRuleRoutes({ sql }: Context, prices: RulePrices): Handler[] {
  return [
    handle(
      saveBillingRule,
      async (request) => {
        const { caller, actor, body } = request
        const { ruleName, ruleType } = body
        const appId = applicationOf(caller, body.appId)
        const saved = await writeAlone(sql, request, appId, async (tx) => {
          const rule = await insertBillingRule(tx, { appId, ruleName, ruleType, ...readTerms(body) })
          await insertEvent(tx, { appId, type: 'billingRule.created', actor, subject: rule.id, data: rule })
          return rule
        })
        return tagged(saved)
      },
      { check: ruleFaults },
    ),

    handle(
      updateBillingRule,
      async (request) => {
        const { caller, actor, body, header } = request
        const appId = applicationOf(caller, body.appId)
        const rule = await prices.write(request, appId, async (tx, now) => {
          const before = await requireBillingRule(tx, appId, body.id)
          requireMatch(header('if-match'), etagOf(before))
          const { changed, faults } = changeRule(before, body)
          if (faults.length > 0) throw invalidRequest(faults)
          if (etagOf(changed) === etagOf(before)) return before
          const row = { from: now, changeId: 0, isWritten: true }
          if (!areSameTerms(before, changed)) await insertTerms(tx, changed, changed, row)
          if (before.ruleName !== changed.ruleName) await renameBillingRule(tx, changed)
          await insertEvent(tx, { appId, type: 'billingRule.updated', actor, subject: changed.id, data: changed })
          return changed
        })
        return tagged(rule)
      },
      { check: updateFaults },
    ),

    handle(deleteBillingRule, async (request) => {
      const { caller, actor, body, header } = request
      const appId = applicationOf(caller, body.appId)
      return prices.write(request, appId, async (tx) => {
        const now = await prices.cancelOfRule(tx, appId, body.id, actor)
        const rule = await requireBillingRule(tx, appId, body.id)
        requireMatch(header('if-match'), etagOf(rule))
        // Sites that name the rule need the same lock, so none can appear before the commit.
        const { id } = rule
        const isInUse = (await isRuleInUse(tx, appId, id)) || (await prices.isGivenByWaiting(tx, appId, id))
        if (isInUse) throw new Refusal('billingRuleInUse')
        await removeBillingRule(tx, rule, now)
        await insertEvent(tx, { appId, type: 'billingRule.deleted', actor, subject: id, data: rule })
        return rule
      })
    }),

    read(getBillingRule, async ({ sql, caller, query }) => {
      const appId = await requireApplicationOf(sql, caller, query.appId)
      return tagged(await requireBillingRule(sql, appId, query.id, await settledNow(sql, [appId])))
    }),

    read(pageBillingRules, ({ sql, caller, query }) => readBillingRulePage(sql, caller, query)),
  ]
}
