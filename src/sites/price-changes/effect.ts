import { areSameTerms } from '../../billing-rules/rules.ts'
import { keepPastTerms, requireBillingRule, saveChangedBillingRule } from '../../billing-rules/store.ts'
import type { Statements } from '../../database/open.ts'
import { insertEvents } from '../../events/store.ts'
import { limits } from '../../vocabulary/limits.ts'
import type { ShowMoment } from '../../vocabulary/moments.ts'
import { keepPastRules } from '../prices/store.ts'
import { showSite } from '../rules.ts'
import { findSites, saveRulesOfSites } from '../store.ts'
import { type PriceChange, type RulesOfSite, showPriceChange, withRules } from './rules.ts'
import {
  findFirstDue,
  findUnwrittenOfSites,
  findUnwrittenSites,
  noteApplied,
  noteThrough,
  noteWritten,
} from './store.ts'

// How a price change is written down once its moment has come. From that moment on it is in force, even before it is
// written. Writing it down changes the rows of the rule or the sites, adds their history, and writes the events.
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
export async function writeDue(tx: Statements, appId: string, showMoment: ShowMoment): Promise<WrittenDown> {
  for (let room: number = limits.pricePortionSites; ; ) {
    const { now, due } = await findFirstDue(tx, appId)
    if (due === undefined) return { now, isLeft: false }
    if (room <= 0) return { now, isLeft: true }
    if (due.billingRuleId === null) room -= await writeNextSites(tx, due, room, now, showMoment)
    else {
      await writeTerms(tx, due, due.billingRuleId, now, showMoment)
      room--
    }
  }
}

/**
 * Applies what is due (`writeDue`) before a write of some sites. If more than a portion is due, the changes of these sites
 * are applied out of turn. Returns the moment as of which the write counts.
 */
export async function writeDueBefore(
  tx: Statements,
  appId: string,
  siteIds: readonly number[],
  showMoment: ShowMoment,
): Promise<Date> {
  const { now, isLeft } = await writeDue(tx, appId, showMoment)
  if (!isLeft) return now
  for (const { change, sites } of await findUnwrittenOfSites(tx, appId, siteIds)) {
    await writeSites(tx, change, sites, now, showMoment)
    await noteWritten(tx, change, sites)
  }
  return now
}

async function writeTerms(
  tx: Statements,
  change: PriceChange,
  ruleId: number,
  now: Date,
  showMoment: ShowMoment,
): Promise<void> {
  const { appId, id, terms, effectiveAt } = change
  // The rule exists: its deletion cancels the price changes that wait for it.
  const rule = await requireBillingRule(tx, appId, ruleId, showMoment)
  if (!areSameTerms(rule, terms)) {
    const changed = { ...rule, ...terms }
    await keepPastTerms(tx, rule, { until: effectiveAt, changeId: id })
    await saveChangedBillingRule(tx, changed)
    const event = { type: 'billingRule.updated' as const, actor, subject: String(ruleId), data: changed }
    await insertEvents(tx, appId, [event], now)
  }
  await finish(tx, change, now, showMoment)
}

/** Writes down the next sites of a change, and ends it with the last of them. Returns how many it has written. */
async function writeNextSites(
  tx: Statements,
  change: PriceChange,
  most: number,
  now: Date,
  showMoment: ShowMoment,
): Promise<number> {
  const sites = await findUnwrittenSites(tx, change, most)
  await writeSites(tx, change, sites, now, showMoment)
  const last = sites.at(-1)
  if (sites.length < most || last === undefined) await finish(tx, change, now, showMoment)
  else await noteThrough(tx, change, last.siteId)
  return sites.length
}

async function writeSites(
  tx: Statements,
  { appId, id: changeId, effectiveAt }: PriceChange,
  members: readonly RulesOfSite[],
  now: Date,
  showMoment: ShowMoment,
): Promise<void> {
  const sites = await findSites(
    tx,
    appId,
    members.map(({ siteId }) => siteId),
  )
  const changed = members.flatMap((member) => {
    const site = sites.get(member.siteId)
    const after = site && withRules(site, member)
    return after === undefined || after.former.length === 0 ? [] : [after]
  })
  const former = changed.flatMap((one) => one.former)
  await keepPastRules(tx, appId, former, { until: effectiveAt, changeId })
  await saveRulesOfSites(
    tx,
    appId,
    changed.map(({ site }) => site),
  )
  const events = changed.map(({ site }) => ({
    type: 'site.updated' as const,
    actor,
    subject: String(site.id),
    data: showSite(site, showMoment),
  }))
  await insertEvents(tx, appId, events, now)
}

async function finish(tx: Statements, change: PriceChange, now: Date, showMoment: ShowMoment): Promise<void> {
  const { appId, id } = change
  await noteApplied(tx, change, now)
  const data = showPriceChange({ ...change, appliedAt: now }, now, showMoment)
  await insertEvents(tx, appId, [{ type: 'priceChange.applied', actor, subject: String(id), data }], now)
}
