import { getBillingRule } from '../../../src/billing-rules/contract.ts'
import {
  type PriceChangeRecord,
  pagePriceChanges,
  priceChangeStatus,
} from '../../../src/sites/price-changes/contract.ts'
import { call, useRead } from '../api/api.ts'
import { areSame, type Terms } from '../pricing/line.ts'
import { ofRows } from '../ui/table/of-rows.ts'

const refreshEvery = 30_000

/** The newest undo of each of these price changes of an application, by the id of the change. */
async function undosOf(appId: string, ids: readonly string[]): Promise<Record<string, PriceChangeRecord>> {
  if (ids.length === 0) return {}
  const { data } = await call(pagePriceChanges, { appId, undoOf: ids.join(','), pageSize: 100 })
  const oldestFirst = data.list.toSorted((one, other) => one.id - other.id)
  return Object.fromEntries(oldestFirst.map((undo) => [String(undo.undoOf), undo]))
}

/** The undo of a price change that holds: an undo can be undone itself, which brings the change back. */
const useUndo = ofRows<PriceChangeRecord, PriceChangeRecord>({
  name: 'undo',
  keyOf: ({ id }) => String(id),
  load: async (appId, ids) => {
    const undos = await undosOf(appId, ids)
    const undone = await undosOf(
      appId,
      Object.values(undos).map(({ id }) => String(id)),
    )
    return Object.fromEntries(Object.entries(undos).filter(([, { id }]) => undone[String(id)] === undefined))
  },
  refetchInterval: refreshEvery,
})

/**
 * What became of a price change that took effect: whether it was undone, and whether it can be. Of a rule, only the
 * terms that it has now can be taken back. Both are false until they are known.
 */
export function useAfter(change: PriceChangeRecord, among: readonly PriceChangeRecord[]) {
  const { appId, billingRuleId, status } = change
  const isInForce = status === priceChangeStatus.inForce
  const undo = useUndo(change, among)
  const rule = useRead(
    getBillingRule,
    { appId, id: billingRuleId ?? 0 },
    { enabled: isInForce && billingRuleId !== null, refetchInterval: refreshEvery },
  )
  const holds = billingRuleId === null || (rule.data !== undefined && areSame(rule.data, change as Terms))
  return { isUndone: isInForce && undo != null, isLeft: isInForce && undo === null && holds }
}
