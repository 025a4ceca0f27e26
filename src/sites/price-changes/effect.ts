import { areSameTerms } from '../../billing-rules/rules.ts'
import { requireBillingRule, settleTerms } from '../../billing-rules/store.ts'
import type { Statements } from '../../database/open.ts'
import { insertEvents } from '../../events/store.ts'
import { limits } from '../../vocabulary/limits.ts'
import { showSite } from '../rules.ts'
import { findSites, saveRulesOfSites } from '../store.ts'
import { type PriceChange, type RulesOfSite, ruleFields, showPriceChange, withRules } from './rules.ts'
import { findDue, findUnwritten, noteApplied, noteWritten } from './store.ts'

// Writes down a price change once it is due. It is in effect from its effective time on, because its rows in the
// history were stored before; this marks them, changes the sites and writes the events. Transactions hold the
// application's lock and mark what they have written, so each change is written once, even if a process is killed. A
// write of a rule or site must write down its due changes first.

const actor = 'platform:prices'

/** All the application's price changes up to `now` are written down, unless `isLeft`. */
export interface WrittenDown {
  now: Date
  isLeft: boolean
}

/**
 * Writes down the application's due changes in order of time, up to a portion. Needs the application's lock. Later
 * writes of the transaction count as of `now`, before changes that become due later.
 */
export async function writeDue(tx: Statements, appId: string): Promise<WrittenDown> {
  for (let room: number = limits.pricePortionSites; ; ) {
    const { now, due } = await findDue(tx, appId, 1)
    const [change] = due
    if (change === undefined) return { now, isLeft: false }
    if (room <= 0) return { now, isLeft: true }
    if (change.billingRuleId === null) room -= await writeNextSites(tx, change, room, now)
    else {
      await writeTerms(tx, change, change.billingRuleId, now)
      room--
    }
  }
}

/**
 * Writes down due changes before a write of some sites; if there is more than a portion, those of these sites first.
 * Returns the time as of which the write counts.
 */
export async function writeDueBefore(tx: Statements, appId: string, siteIds: readonly number[]): Promise<Date> {
  const { now, isLeft } = await writeDue(tx, appId)
  if (!isLeft) return now
  const { due } = await findDue(tx, appId, limits.priceChangesOfOne)
  for (const change of due) {
    await writeSites(tx, change, await findUnwritten(tx, change, { siteIds }), now)
  }
  return now
}

async function writeTerms(tx: Statements, change: PriceChange, ruleId: number, now: Date): Promise<void> {
  const { appId, id, terms } = change
  // The rule exists: its deletion cancels its scheduled price changes.
  const rule = await requireBillingRule(tx, appId, ruleId)
  const isTurn = !areSameTerms(rule, terms)
  await settleTerms(tx, rule, { changeId: id, isTurn })
  if (isTurn) {
    const data = { ...rule, ...terms }
    await insertEvents(tx, appId, [{ type: 'billingRule.updated', actor, subject: String(ruleId), data }], now)
  }
  await finish(tx, change, now)
}

async function writeNextSites(tx: Statements, change: PriceChange, most: number, now: Date): Promise<number> {
  const sites = await findUnwritten(tx, change, { most })
  await writeSites(tx, change, sites, now)
  if (sites.length < most) await finish(tx, change, now)
  return sites.length
}

async function writeSites(
  tx: Statements,
  change: PriceChange,
  members: readonly RulesOfSite[],
  now: Date,
): Promise<void> {
  if (members.length === 0) return
  const { appId } = change
  const ids = members.map(({ siteId }) => siteId)
  const sites = await findSites(tx, appId, ids)
  const written = members.flatMap((member) => {
    const site = sites.get(member.siteId)
    return site === undefined ? [] : [withRules(site, member)]
  })
  const same = change.fields.map((field): [number, number[]] => [
    ruleFields[field].number,
    written.flatMap((one) => (one.same.includes(field) ? [one.site.id] : [])),
  ])
  await noteWritten(tx, change, ids, new Map(same))
  const changed = written.flatMap(({ site, isChanged }) => (isChanged ? [site] : []))
  await saveRulesOfSites(tx, appId, changed)
  const events = changed.map((site) => ({
    type: 'site.updated' as const,
    actor,
    subject: String(site.id),
    data: showSite(site),
  }))
  await insertEvents(tx, appId, events, now)
}

async function finish(tx: Statements, change: PriceChange, now: Date): Promise<void> {
  const { appId, id } = change
  await noteApplied(tx, change, now)
  const data = showPriceChange({ ...change, appliedAt: now }, now)
  await insertEvents(tx, appId, [{ type: 'priceChange.applied', actor, subject: String(id), data }], now)
}
