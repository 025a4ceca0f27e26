import { hasConfiguration } from '../applications/third-party-config/store.ts'
import { findRuleTypes } from '../billing-rules/store.ts'
import { applicationExists } from '../callers/store.ts'
import type { Statements } from '../database/open.ts'
import { clearSites } from '../devices/placement/writes.ts'
import { insertEventTexts } from '../events/store.ts'
import { etagOfText, requireMatch } from '../http/etag.ts'
import { groupBy } from '../vocabulary/group-by.ts'
import { Refusal } from '../vocabulary/refusals.ts'
import { ofEachApplication, type WriteKind } from '../writes/kind.ts'
import type { SiteRegistration, SiteUpdate } from './contract.ts'
import { writeDueBefore } from './price-changes/effect.ts'
import { changedRules } from './price-changes/rules.ts'
import { insertSiteRules } from './prices/store.ts'
import {
  changeSite,
  type NamedRules,
  readSite,
  ruleFaults,
  ruleRefusal,
  rulesGiven,
  type Site,
  showSite,
} from './rules.ts'
import { drawSiteIds, findSites, insertSites, removeSites, saveChangedSites } from './store.ts'

type RequireRules = (rules: NamedRules) => void

/** Makes the check that the application has the named rules, with their fields' types. It throws 40002 and 40003. */
async function ruleChecker(tx: Statements, appId: string, named: readonly NamedRules[]): Promise<RequireRules> {
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
    if (faults.length > 0) throw ruleRefusal(faults)
  }
}

const namedBy = ({ body }: { body: Parameters<typeof rulesGiven>[0] }) => rulesGiven(body)

interface Premises {
  refusal: Refusal | undefined
  requireRules: RequireRules
  freeIds: number[]
}

/** Creates sites. Throws 10004, 30001, 40002 and 40003. */
export const siteCreation: WriteKind<SiteRegistration, ReadonlyMap<string, Premises>, Site> = {
  read: (tx, writes) =>
    ofEachApplication(writes, async (appId, own) => {
      const [refusal, requireRules, freeIds] = await Promise.all([
        findObstacle(tx, appId),
        ruleChecker(tx, appId, own.map(namedBy)),
        drawSiteIds(tx, own.length),
      ])
      return { refusal, requireRules, freeIds }
    }),

  decide(known, { body, actor }, now) {
    const { appId } = body
    const { refusal, requireRules, freeIds } = known.get(appId) as Premises
    if (refusal !== undefined) throw refusal
    const members = readSite(body)
    requireRules(members)
    const site = { ...members, appId, id: freeIds.shift() as number, createdAt: now }
    const record = JSON.stringify(showSite(site))
    const event = { appId, type: 'site.created', actor, subject: String(site.id), record } as const
    return { outcome: 'created', shown: { record }, rows: [site], events: [event] }
  },

  save: insertSites,
}

/** Returns why the application can have no site; undefined if it can. */
async function findObstacle(tx: Statements, appId: string): Promise<Refusal | undefined> {
  if (await hasConfiguration(tx, appId)) return undefined
  return new Refusal((await applicationExists(tx, appId)) ? 'thirdPartyConfigMissing' : 'applicationNotFound')
}

interface KnownSites {
  sites: Map<number, Site>
  requireRules: RequireRules
}

interface ChangedSite {
  before: Site
  site: Site
}

const idsOf = (writes: readonly { body: SiteUpdate }[]) => [...new Set(writes.map(({ body }) => body.id))]

/** Updates sites. Throws 30002, 10009, 40002 and 40003. */
export const siteUpdates: WriteKind<SiteUpdate, ReadonlyMap<string, KnownSites>, ChangedSite> = {
  async settle(tx, writes) {
    const settled: Date[] = []
    for (const [appId, own] of groupBy(writes, (write) => write.appId as string)) {
      settled.push(await writeDueBefore(tx, appId, idsOf(own)))
    }
    // The earliest, so that no write counts from after a price change that became due meanwhile.
    return settled[0] as Date
  },

  read: (tx, writes) =>
    ofEachApplication(writes, async (appId, own) => {
      const [sites, requireRules] = await Promise.all([
        findSites(tx, appId, idsOf(own)),
        ruleChecker(tx, appId, own.map(namedBy)),
      ])
      return { sites, requireRules }
    }),

  decide(known, { appId, body, actor, ifMatch }) {
    const { sites, requireRules } = known.get(appId as string) as KnownSites
    const before = sites.get(body.id)
    if (before === undefined) throw new Refusal('siteNotFound')
    const former = JSON.stringify(showSite(before))
    requireMatch(ifMatch, etagOfText(former))
    requireRules(rulesGiven(body))
    const site = changeSite(before, body)
    const record = JSON.stringify(showSite(site))
    const shown = { record, etag: etagOfText(record) }
    if (record === former) return { outcome: 'existing', shown, rows: [], events: [] }
    sites.set(body.id, site)
    const event = { appId: site.appId, type: 'site.updated', actor, subject: String(site.id), record } as const
    return { outcome: 'updated', shown, rows: [{ before, site }], events: [event] }
  },

  async save(tx, rows, now) {
    await ofEachApplication(ofEachSite(rows), async (appId, changed) => {
      const rules = changed.flatMap(({ before, site }) => changedRules(before, site))
      await insertSiteRules(tx, appId, rules, { from: now, changeId: 0, isWritten: true })
      await saveChangedSites(
        tx,
        appId,
        changed.map(({ site }) => site),
      )
    })
  },
}

function ofEachSite(rows: readonly ChangedSite[]) {
  const changes = new Map<number, ChangedSite & { appId: string }>()
  for (const { before, site } of rows) {
    const { id, appId } = site
    changes.set(id, { appId, before: changes.get(id)?.before ?? before, site })
  }
  return [...changes.values()]
}

/** Deletes sites and ends their placements, with events. Needs the application's lock. */
export async function deleteSites(
  tx: Statements,
  appId: string,
  sites: readonly Site[],
  by: { actor: string; now: Date },
): Promise<void> {
  const ids = sites.map(({ id }) => id)
  await clearSites(tx, appId, ids, by)
  await removeSites(tx, appId, ids)
  const events = sites.map((site) => {
    const record = JSON.stringify(showSite(site))
    return { appId, type: 'site.deleted', actor: by.actor, subject: String(site.id), record } as const
  })
  await insertEventTexts(tx, events, by.now)
}
