import type { BillingRuleRecord } from '../../../src/billing-rules/contract.ts'
import type { EventRecord } from '../../../src/events/contract.ts'
import { type PriceChangeRecord, priceChangeStatus } from '../../../src/sites/price-changes/contract.ts'

export type Terms = Pick<BillingRuleRecord, 'periods' | 'freeMinutes' | 'unitMinutes' | 'unitPrice' | 'dailyCap'>

/** The terms of a rule in its timeline. */
export interface LineEntry {
  key: string
  /**
   * Since when the terms are, or from when they will be, in force, in the service's time zone; null if that is no
   * longer kept.
   */
  since: string | null
  terms: Terms
  actor: string | null
  reason: string | null
  /** The price change that brings them; null for the rule's creation and for updates. */
  change: PriceChangeRecord | null
}

/** The actor of the events that a price change writes when it takes effect. */
const pricesActor = 'platform:prices'

/** The terms alone, with their members in one order. */
export const termsOf = ({ periods, freeMinutes, unitMinutes, unitPrice, dailyCap }: Terms): Terms => ({
  periods:
    periods?.map(({ startTime, electricityPrice, servicePrice }) => ({ startTime, electricityPrice, servicePrice })) ??
    null,
  freeMinutes,
  unitMinutes,
  unitPrice,
  dailyCap,
})

export const areSame = (one: Terms, other: Terms) => JSON.stringify(termsOf(one)) === JSON.stringify(termsOf(other))

const ofChange = (change: PriceChangeRecord): LineEntry => ({
  key: `change ${change.id}`,
  since: change.effectiveTime,
  terms: termsOf(change),
  actor: change.createdBy,
  reason: change.reason,
  change,
})

const ofEvent = ({ id, time, actor, data }: EventRecord): LineEntry => ({
  key: `event ${id}`,
  since: time,
  terms: termsOf(data as unknown as Terms),
  actor,
  reason: null,
  change: null,
})

/**
 * The timeline of a rule's terms: the waiting ones, soonest first; then the present ones; then the past ones, newest
 * first; and those that were cancelled. It is made from the rule's events and price changes; events that are no longer kept are missing.
 */
export function lineOf(
  rule: BillingRuleRecord,
  events: readonly EventRecord[],
  changes: readonly PriceChangeRecord[],
): { waiting: LineEntry[]; held: LineEntry[]; cancelled: LineEntry[] } {
  const own = changes.filter(({ billingRuleId }) => billingRuleId === rule.id)
  const ofStatus = (wanted: number) =>
    own
      .filter(({ status }) => status === wanted)
      .map(ofChange)
      .toReversed()
  const written = events
    .filter(({ type, actor }) => /^billingRule\.(created|updated)$/u.test(type) && actor !== pricesActor)
    .map(ofEvent)
    // Oldest first, so that events within the same second stay in their order.
    .toReversed()
  const byTime = (one: LineEntry, other: LineEntry) => (one.since ?? '').localeCompare(other.since ?? '')
  const held = [...written, ...ofStatus(priceChangeStatus.inForce)]
    .toSorted(byTime)
    // An update of the name alone is not in the timeline.
    .filter(({ terms, change }, index, all) => {
      const before = all[index - 1]
      return before === undefined || change !== null || !areSame(before.terms, terms)
    })
    .toReversed()
  const last = held[0]
  if (last === undefined || !areSame(last.terms, rule)) {
    held.unshift({ key: 'now', since: null, terms: termsOf(rule), actor: null, reason: null, change: null })
  }
  const cancelled = ofStatus(priceChangeStatus.cancelled)
  return { waiting: ofStatus(priceChangeStatus.waiting).toSorted(byTime), held, cancelled }
}
