import { areSameTerms } from '../../billing-rules/rules.ts'
import { requireBillingRule, settleTerms } from '../../billing-rules/store.ts'
import type { Statements } from '../../database/open.ts'
import { insertEvents } from '../../events/store.ts'
import { limits } from '../../vocabulary/limits.ts'
import { showSite } from '../rules.ts'
import { findSites, saveRulesOfSites } from '../store.ts'
import { type PriceChange, type RulesOfSite, ruleFields, showPriceChange, withRules } from './rules.ts'
import { findDue, findUnwritten, noteApplied, noteWritten } from './store.ts'

// How a price change is written down once its moment has come. From that moment on it is in force, because its rows in
// the history of rules and sites were there before. Writing it down marks them, changes the rows of the sites, and writes
// the events.
//
// Everything happens in transactions that hold the application's lock, and each marks what it has written in the
// change's own rows. So each change is written once, with any number of processes, and even if one is killed.
//
// Never: a write of a rule or a site beside a change of it that is due; an event before the row that it tells of.

/** The actor of events that a price change causes. */
const actor = 'platform:prices'

/**
 * A moment of the database's clock up to which all price changes of an application are written down, unless `isLeft`.
 */
export interface WrittenDown {
  now: Date
  isLeft: boolean
}

/**
 * Writes down what is due for the application, in the order of moments, but no more than a portion. The transaction
 * must hold the application's lock. The transaction's later writes count as of `now`, before changes that become due
 * later.
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
 * Applies what is due (`writeDue`) before a write of some sites. If more than a portion is due, the changes of these sites
 * are applied out of turn. Returns the moment as of which the write counts.
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
  // The rule exists: its deletion cancels the price changes that wait for it.
  const rule = await requireBillingRule(tx, appId, ruleId)
  const isTurn = !areSameTerms(rule, terms)
  await settleTerms(tx, rule, { changeId: id, isTurn })
  if (isTurn) {
    const data = { ...rule, ...terms }
    await insertEvents(tx, appId, [{ type: 'billingRule.updated', actor, subject: String(ruleId), data }], now)
  }
  await finish(tx, change, now)
}

/** Writes down the next sites of a change, and ends it with the last of them. Returns how many it has written. */
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
