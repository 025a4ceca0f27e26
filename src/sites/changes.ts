import { findRuleTypes } from '../billing-rules/store.ts'
import { type Change, type ChangeOutcome, decided } from '../callers/change-lane.ts'
import type { Statements } from '../database/open.ts'
import { insertEvents } from '../events/store.ts'
import { etagOf, requireMatch } from '../http/etag.ts'
import type { ShowMoment } from '../vocabulary/moments.ts'
import { Refusal } from '../vocabulary/refusals.ts'
import type { SiteRecord, SiteUpdate } from './contract.ts'
import { writeDueBefore } from './price-changes/effect.ts'
import { changedRules } from './price-changes/rules.ts'
import { insertSiteRules } from './prices/store.ts'
import { changeSite, type NamedRules, ruleFaults, ruleRefusal, rulesGiven, type Site, showSite } from './rules.ts'
import { findSites, saveChangedSites } from './store.ts'

/** Makes the check of named rules: whether the application has them and they are of their fields' types. */
export async function ruleChecker(
  tx: Statements,
  appId: string,
  named: readonly NamedRules[],
): Promise<(rules: NamedRules) => Refusal | undefined> {
  const ids = new Set(
    named.flatMap(({ fastRuleId, slowRuleId, occupancyRuleId }) => [fastRuleId, slowRuleId, occupancyRuleId]),
  )
  ids.delete(null)
  const types = ids.size === 0 ? new Map<number, number>() : await findRuleTypes(tx, appId, [...ids] as number[])
  const typeOf = (id: number | null) => (id === null ? null : (types.get(id) ?? null))
  return (rules) => {
    const faults = ruleFaults(rules, {
      fast: typeOf(rules.fastRuleId),
      slow: typeOf(rules.slowRuleId),
      occupancy: typeOf(rules.occupancyRuleId),
    })
    return faults.length > 0 ? ruleRefusal(faults) : undefined
  }
}

/** The result of changes before they are written. */
interface PlannedChanges {
  outcomes: ChangeOutcome<Site>[]
  /** The site after each change that has an effect, in order; a site that changes twice is here twice. */
  steps: { site: Site; record: SiteRecord; actor: string }[]
  /** The sites as they were. */
  before: ReadonlyMap<number, Site>
}

const idsOf = (changes: readonly Change<SiteUpdate>[]) => [...new Set(changes.map(({ body }) => body.id))]

/**
 * Reads the sites of these changes and applies the changes in order; writes nothing. Refuses with 30002, 10009, 40002
 * and 40003.
 */
export async function planSiteChanges(
  tx: Statements,
  appId: string,
  changes: readonly Change<SiteUpdate>[],
  showMoment: ShowMoment,
): Promise<PlannedChanges> {
  const before = await findSites(tx, appId, idsOf(changes))
  const now = new Map(before)
  const refusalOf = await ruleChecker(
    tx,
    appId,
    changes.map(({ body }) => rulesGiven(body)),
  )
  const steps: PlannedChanges['steps'] = []
  const outcomes = changes.map(({ body, actor, ifMatch }) =>
    decided(() => {
      const present = now.get(body.id)
      if (present === undefined) throw new Refusal('siteNotFound')
      const etag = etagOf(showSite(present, showMoment))
      requireMatch(ifMatch, etag)
      const refusal = refusalOf(rulesGiven(body))
      if (refusal !== undefined) throw refusal
      const site = changeSite(present, body)
      const record = showSite(site, showMoment)
      if (etagOf(record) === etag) return { item: present, isChanged: false }
      now.set(body.id, site)
      steps.push({ site, record, actor })
      return { item: site, isChanged: true }
    }),
  )
  return { outcomes, steps, before }
}

/**
 * Changes sites of an application in a transaction that holds its lock, after the price changes that are due were
 * written: reads the sites by their ids, writes those that differ in one statement, and an event for each change in
 * another. A change without effect writes nothing. Returns one outcome for each change, in order.
 */
export async function changeSites(
  tx: Statements,
  appId: string,
  changes: readonly Change<SiteUpdate>[],
  showMoment: ShowMoment,
): Promise<ChangeOutcome<Site>[]> {
  const from = await writeDueBefore(tx, appId, idsOf(changes), showMoment)
  const { outcomes, steps, before } = await planSiteChanges(tx, appId, changes, showMoment)
  const changed = new Map(steps.map(({ site }) => [site.id, site]))
  const rules = [...changed.values()].flatMap((site) => changedRules(before.get(site.id) as Site, site))
  await insertSiteRules(tx, appId, rules, { from, changeId: 0, isWritten: true })
  await saveChangedSites(tx, appId, [...changed.values()])
  const events = steps.map(({ site, record, actor }) => ({
    type: 'site.updated' as const,
    actor,
    subject: String(site.id),
    data: record,
  }))
  await insertEvents(tx, appId, events)
  return outcomes
}
