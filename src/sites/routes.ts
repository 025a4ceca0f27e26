import { findRuleTypes } from '../billing-rules/store.ts'
import type { CallerCache } from '../callers/cache.ts'
import type { Caller } from '../callers/caller.ts'
import { applicationOf, lockApplicationFor, requireActingFor, requireApplicationOf } from '../callers/permissions.ts'
import { once, type RequestKey } from '../database/idempotency.ts'
import type { OpenLane } from '../database/lanes.ts'
import type { Sql, Statements } from '../database/open.ts'
import { transaction } from '../database/transaction.ts'
import { insertEvent } from '../events/store.ts'
import { etagOf, requireMatch, tagged } from '../http/etag.ts'
import { type Handler, handle, JsonText, read } from '../http/serve.ts'
import type { Metrics } from '../metrics.ts'
import type { ReadTimeRange, ShowMoment } from '../moments.ts'
import { Refusal } from '../refusals.ts'
import { given, readBbox } from '../values.ts'
import { deleteSite, getSite, pageSites, type SiteRegistration, saveSite, updateSite } from './contract.ts'
import { type SiteInsert, type SiteOutcome, saveSites } from './routine.ts'
import {
  changeSite,
  type NamedRules,
  type RuleFault,
  readSite,
  ruleFaults,
  rulesGiven,
  type Site,
  showSite,
  showWithoutId,
} from './rules.ts'
import { pageOfSites, removeSite, requireSite, saveChangedSite } from './store.ts'

interface Submission {
  caller: Caller
  body: SiteRegistration
  actor: string
  idempotency: RequestKey | undefined
}

interface Parts {
  sql: Sql
  /** For the lane's batches. */
  writer: Sql
  openLane: OpenLane
  callers: CallerCache
  metrics: Metrics
  showMoment: ShowMoment
  readTimeRange: ReadTimeRange
}

export function siteRoutes(parts: Parts): Handler[] {
  const { sql, writer, openLane, callers, metrics, showMoment, readTimeRange } = parts
  const show = (site: Site) => showSite(site, showMoment)

  const lane = openLane<Submission, SiteOutcome>('sites', {
    claims: ({ body, idempotency }) => (idempotency === undefined ? [] : [`${body.appId} ${idempotency.key}`]),
    async write(submissions) {
      const now = new Date()
      const createTime = showMoment(now)
      const sites = submissions.map((submission) => composeSite(submission, createTime))
      const callers = submissions.map(({ caller }) => caller)
      const outcomes = await saveSites(writer, sites, callers, now)
      metrics.countCreates(outcomes.filter((outcome) => 'record' in outcome).length)
      return outcomes
    },
  })

  return [
    handle(saveSite, async ({ caller, body, idempotency }) => {
      const actor = requireActingFor(caller, body.appId)
      const since = performance.now()
      for (;;) {
        const outcome = await lane.submit({ caller, body, actor, idempotency }, since)
        if ('record' in outcome) return new JsonText(outcome.record)
        if ('refusal' in outcome) throw new Refusal(outcome.refusal)
        if ('ruleFaults' in outcome) throw ruleRefusal(outcome.ruleFaults)
        await callers.requireAccess(caller)
      }
    }),

    handle(updateSite, async ({ caller, actor, body, header }) => {
      const appId = applicationOf(caller, body.appId)
      const record = await transaction(sql, async (tx) => {
        await lockApplicationFor(tx, caller, appId)
        const site = await requireSite(tx, appId, body.id)
        const before = show(site)
        requireMatch(header('if-match'), etagOf(before))
        await requireFittingRules(tx, appId, rulesGiven(body))
        const changed = changeSite(site, body)
        const after = show(changed)
        if (etagOf(after) === etagOf(before)) return before
        await saveChangedSite(tx, changed)
        await insertEvent(tx, { appId, type: 'site.updated', actor, subject: site.id, data: after })
        return after
      })
      return tagged(record)
    }),

    handle(deleteSite, async ({ caller, actor, body, header, idempotency }) => {
      const appId = applicationOf(caller, body.appId)
      return transaction(sql, async (tx) => {
        await lockApplicationFor(tx, caller, appId)
        return once(tx, idempotency, appId, async () => {
          const site = await requireSite(tx, appId, body.id)
          const data = show(site)
          requireMatch(header('if-match'), etagOf(data))
          await removeSite(tx, site)
          await insertEvent(tx, { appId, type: 'site.deleted', actor, subject: site.id, data })
          return data
        })
      })
    }),

    read(getSite, async ({ sql, caller, query }) => {
      const appId = await requireApplicationOf(sql, caller, query.appId)
      return tagged(show(await requireSite(sql, appId, query.id)))
    }),

    read(pageSites, async ({ sql, caller, query }) => {
      const appId = await requireApplicationOf(sql, caller, query.appId)
      const bbox = given(query.bbox)
      const filter = {
        ...query,
        appId,
        siteName: given(query.siteName),
        contacts: given(query.contacts),
        provinceCode: given(query.provinceCode),
        cityCode: given(query.cityCode),
        districtCode: given(query.districtCode),
        billingRuleId: given(query.billingRuleId),
        created: readTimeRange(query),
        bbox: bbox === null ? null : readBbox(bbox),
      }
      return pageOfSites(sql, filter, showMoment)
    }),
  ]
}

/** Throws 40002 and 40003, as create does. */
async function requireFittingRules(tx: Statements, appId: string, named: NamedRules): Promise<void> {
  const { fastRuleId, slowRuleId, occupancyRuleId } = named
  const ids = [fastRuleId, slowRuleId, occupancyRuleId].filter((id) => id !== null)
  if (ids.length === 0) return
  const types = await findRuleTypes(tx, appId, ids)
  const typeOf = (id: number | null) => (id === null ? undefined : types.get(id)) ?? null
  const faults = ruleFaults(named, {
    fast: typeOf(fastRuleId),
    slow: typeOf(slowRuleId),
    occupancy: typeOf(occupancyRuleId),
  })
  if (faults.length > 0) throw ruleRefusal(faults)
}

/** A rule that does not exist comes before one of the wrong type; every field that shares the refusal is named. */
function ruleRefusal(faults: RuleFault[]): Refusal {
  const refusal = faults.some((fault) => fault.refusal === 'billingRuleNotFound')
    ? 'billingRuleNotFound'
    : 'billingRuleWrongType'
  const reason =
    refusal === 'billingRuleNotFound'
      ? { en: 'is not a billing rule of this application', zh: '不是该应用的计费规则' }
      : { en: 'is a billing rule of another type', zh: '计费规则类型不符' }
  return new Refusal(refusal, {
    errors: faults.filter((fault) => fault.refusal === refusal).map(({ field }) => ({ field, reason })),
  })
}

function composeSite({ body, actor, idempotency }: Submission, createTime: string): SiteInsert {
  const { appId } = body
  const site = readSite(body)
  const record = showWithoutId(appId, site, createTime)
  return { ...site, appId, actor, idempotency, recordAfterId: `,${JSON.stringify(record).slice(1)}` }
}
