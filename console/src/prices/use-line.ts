import type { BillingRuleRecord } from '../../../src/billing-rules/contract.ts'
import { pageEvents } from '../../../src/events/contract.ts'
import { pagePriceChanges } from '../../../src/sites/price-changes/contract.ts'
import { type ReadOptions, useRead } from '../api/api.ts'
import { lineOf } from '../pricing/line.ts'

/** The most price changes and events that are read for the timeline. */
const mostRead = 100

/** Reads the timeline of a rule's prices. `line` is undefined until everything is read, `rule` too. */
export function useLine(
  { appId, id }: Pick<BillingRuleRecord, 'appId' | 'id'>,
  rule: BillingRuleRecord | undefined,
  options: ReadOptions,
) {
  const changes = useRead(pagePriceChanges, { appId, billingRuleId: id, pageSize: mostRead }, options)
  const events = useRead(pageEvents, { appId, billingRuleId: id, order: 'desc', pageSize: mostRead }, options)
  const isRead = rule !== undefined && changes.data !== undefined && events.data !== undefined
  const line = isRead ? lineOf(rule, events.data.list, changes.data.list) : undefined
  return { line, changes: changes.data?.list ?? [], error: changes.error ?? events.error }
}
