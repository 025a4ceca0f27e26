import { type Change, changeLane } from '../callers/change-lane.ts'
import { applicationOf, lockApplicationFor, requireActingFor, requireApplicationOf } from '../callers/permissions.ts'
import { once } from '../database/idempotency.ts'
import type { Sql } from '../database/open.ts'
import { clearSites } from '../devices/placement/lane.ts'
import { insertEvent } from '../events/store.ts'
import { JsonText } from '../http/answer.ts'
import { type BatchParts, runBatch } from '../http/batch.ts'
import { etagOf, etagOfText, requireMatch, tagged } from '../http/etag.ts'
import { type Handler, handle, handleOutOfTurn, read } from '../http/handler.ts'
import { validator } from '../http/validate.ts'
import type { ReadTimeRange } from '../vocabulary/moments.ts'
import { changeSites } from './changes.ts'
import {
  deleteSite,
  getSite,
  pageSites,
  SiteBatchRow,
  type SiteUpdate,
  SiteUpdateRow,
  saveSite,
  saveSites,
  updateSite,
  updateSites,
} from './contract.ts'
import { type SiteLaneParts, siteLane } from './lane.ts'
import { sitePages } from './pages.ts'
import { writeDueBefore } from './price-changes/effect.ts'
import { type Site, showSite } from './rules.ts'
import { removeSites, requireSite } from './store.ts'

interface Parts extends SiteLaneParts, BatchParts {
  sql: Sql
  readTimeRange: ReadTimeRange
}

const readRow = validator(SiteBatchRow, 'site', undefined)
const readUpdate = validator(SiteUpdateRow, 'site', undefined)

export function siteRoutes(parts: Parts): Handler[] {
  const { sql, showMoment } = parts
  const save = siteLane(parts)
  const show = (site: Site) => showSite(site, showMoment)
  const update = changeLane(
    parts,
    'siteChanges',
    (tx, appId, changes: readonly Change<SiteUpdate>[]) => changeSites(tx, appId, changes, showMoment),
    (site) => {
      const record = JSON.stringify(show(site))
      return { record, etag: etagOfText(record) }
    },
  )
  const readPage = sitePages(parts)

  return [
    handleOutOfTurn(saveSite, async ({ caller, body, idempotency, pending }) => {
      const actor = requireActingFor(caller, body.appId)
      const record = await save({ caller, body, actor, idempotency, pending })
      return new JsonText(record, { etag: etagOfText(record) })
    }),

    handleOutOfTurn(saveSites, async ({ caller, actor, body, ...request }) => {
      const appId = await requireApplicationOf(sql, caller, body.appId)
      return runBatch(parts, request, {
        owner: appId,
        rows: body.sites,
        name: 'siteName',
        readRow,
        write: (row, key) =>
          save({ caller, body: { ...row, appId }, actor, idempotency: key, pending: request.pending }),
      })
    }),

    handleOutOfTurn(updateSite, async ({ caller, actor, body, header, pending }) => {
      const appId = await requireApplicationOf(sql, caller, body.appId)
      const change = { caller, actor, appId, body, ifMatch: header('if-match'), idempotency: undefined, pending }
      const { record, etag } = await update(change)
      return new JsonText(record, { etag })
    }),

    handleOutOfTurn(updateSites, async ({ caller, actor, body, ...request }) => {
      const appId = await requireApplicationOf(sql, caller, body.appId)
      const change = { caller, actor, appId, ifMatch: null, pending: request.pending }
      return runBatch(parts, request, {
        owner: appId,
        rows: body.sites,
        name: 'id',
        readRow: readUpdate,
        write: async (row, idempotency) => (await update({ ...change, body: row, idempotency })).record,
      })
    }),

    handle(deleteSite, async ({ caller, actor, body, header, idempotency, pending }) => {
      const appId = applicationOf(caller, body.appId)
      return pending.transaction(sql, async (tx) => {
        await lockApplicationFor(tx, caller, appId)
        await writeDueBefore(tx, appId, [body.id], showMoment)
        return once(tx, idempotency, appId, async () => {
          const site = await requireSite(tx, appId, body.id)
          const data = show(site)
          requireMatch(header('if-match'), etagOf(data))
          await clearSites(tx, appId, [site.id], actor, showMoment)
          await removeSites(tx, appId, [site.id])
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
