import type { Logger } from 'pino'
import { findRuleTypes } from '../billing-rules/store.ts'
import { applicationOf, lockApplicationFor, requireActingFor, requireApplicationOf } from '../callers/permissions.ts'
import { once } from '../database/idempotency.ts'
import type { Sql, Statements } from '../database/open.ts'
import { transaction } from '../database/transaction.ts'
import { insertEvent } from '../events/store.ts'
import { JsonText } from '../http/answer.ts'
import { runBatch } from '../http/batch.ts'
import { etagOf, etagOfText, requireMatch, tagged } from '../http/etag.ts'
import { type Handler, handle, read } from '../http/handler.ts'
import { validator } from '../http/validate.ts'
import type { ReadTimeRange } from '../vocabulary/moments.ts'
import { deleteSite, getSite, pageSites, SiteBatchRow, saveSite, saveSites, updateSite } from './contract.ts'
import { type SiteLaneParts, siteLane } from './lane.ts'
import { sitePages } from './pages.ts'
import { changeSite, type NamedRules, ruleFaults, ruleRefusal, rulesGiven, type Site, showSite } from './rules.ts'
import { removeSite, requireSite, saveChangedSite } from './store.ts'

interface Parts extends SiteLaneParts {
  sql: Sql
  log: Logger
  readTimeRange: ReadTimeRange
}

const readRow = validator(SiteBatchRow, 'site', undefined)

export function siteRoutes(parts: Parts): Handler[] {
  const { sql, showMoment } = parts
  const save = siteLane(parts)
  const readPage = sitePages(parts)
  const show = (site: Site) => showSite(site, showMoment)

  return [
    handle(saveSite, async ({ caller, body, idempotency }) => {
      const actor = requireActingFor(caller, body.appId)
      const record = await save({ caller, body, actor, idempotency })
      return new JsonText(record, { etag: etagOfText(record) })
    }),

    handle(saveSites, async ({ caller, actor, body, ...request }) => {
      const appId = await requireApplicationOf(sql, caller, body.appId)
      return runBatch(parts, request, {
        owner: appId,
        rows: body.sites,
        name: 'siteName',
        readRow,
        write: (row, key) => save({ caller, body: { ...row, appId }, actor, idempotency: key }),
      })
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

    read(pageSites, ({ sql, caller, query }) => readPage(sql, caller, query)),
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
