import { areSameTerms } from '../../billing-rules/rules.ts'
import { findRuleTypes, findFormerTerms as findTermsBefore, requireBillingRule } from '../../billing-rules/store.ts'
import type { Statements } from '../../database/open.ts'
import { insertEvents } from '../../events/store.ts'
import { groupBy } from '../../vocabulary/group-by.ts'
import { Refusal } from '../../vocabulary/refusals.ts'
import type { PriceChangeRecord } from './contract.ts'
import { writeDue } from './effect.ts'
import { type NewPriceChange, type PriceChange, type RulesOfSite, showPriceChange } from './rules.ts'
import * as store from './store.ts'

interface Undoing {
  appId: string
  id: number
  actor: string
  reason: string
  now: Date
}

/**
 * Undoes a price change with another that takes effect immediately; later transactions write down what exceeds a
 * portion. Needs the application's lock, and due changes written down. Throws 40005 and 40006.
 */
export async function undo(tx: Statements, { appId, id, actor, reason, now }: Undoing): Promise<PriceChangeRecord> {
  const original = await store.findPriceChange(tx, appId, id)
  if (original === undefined) throw new Refusal('priceChangeNotFound')
  const back = original.appliedAt === null ? undefined : await findFormer(tx, original)
  if (back === undefined) throw new Refusal('priceChangeWrongState')
  const by = { reason, undoOf: id, createdAt: now, createdBy: actor }
  const change = await store.insertPriceChange(tx, { appId, effectiveAt: now, ...back, ...by })
  const data = showPriceChange(change, now)
  await insertEvents(tx, appId, [{ type: 'priceChange.scheduled', actor, subject: String(change.id), data }], now)
  await writeDue(tx, appId)
  return store.requirePriceChange(tx, [appId], change.id)
}

type Former = Pick<NewPriceChange, 'what' | 'skippedCount'>

function findFormer(tx: Statements, original: PriceChange): Promise<Former | undefined> {
  const { billingRuleId } = original
  return billingRuleId === null ? findFormerRules(tx, original) : findFormerTerms(tx, original, billingRuleId)
}

/** Returns a rule's previous pricing, if it still has what the change brought. */
async function findFormerTerms(
  tx: Statements,
  { appId, id, terms, effectiveAt }: PriceChange,
  billingRuleId: number,
): Promise<Former | undefined> {
  const rule = { appId, id: billingRuleId }
  const former = await findTermsBefore(tx, rule, { changeId: id, effectiveAt })
  if (former === undefined) return undefined
  try {
    const present = await requireBillingRule(tx, appId, billingRuleId)
    if (!areSameTerms(present, terms)) return undefined
  } catch (error) {
    if (error instanceof Refusal) return undefined
    throw error
  }
  return { what: { billingRuleId, terms: former }, skippedCount: null }
}

/** Returns previous rules that still exist, of sites that still have what the change gave them. */
async function findFormerRules(tx: Statements, original: PriceChange): Promise<Former | undefined> {
  const changed = await store.findChangedFields(tx, original)
  const ids = [...new Set(changed.map(({ former }) => former))].filter((id) => id !== null && id !== undefined)
  const known = ids.length === 0 ? new Map<number, number>() : await findRuleTypes(tx, original.appId, ids)
  const members = groupBy(changed, ({ siteId }) => siteId)
  const sites = [...members].flatMap(([siteId, own]): RulesOfSite[] => {
    const isStill = own.every(({ present, gave }) => present === gave)
    const turned = own.filter(({ former }) => former !== undefined)
    const isPossible = turned.length > 0 && turned.every(({ former }) => former == null || known.has(former))
    const rules = own.map(({ field, gave, former }) => [field, former === undefined ? gave : former])
    return isStill && isPossible ? [{ siteId, rules: Object.fromEntries(rules) }] : []
  })
  if (sites.length === 0) return undefined
  return { what: { fields: original.fields, rules: null, sites }, skippedCount: members.size - sites.length }
}
