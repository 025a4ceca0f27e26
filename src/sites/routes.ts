import { applicationOf, requireActingFor, requireApplicationOf } from '../callers/permissions.ts'
import type { Context } from '../context.ts'
import type { Statements } from '../database/open.ts'
import { JsonText } from '../http/answer.ts'
import { runBatch } from '../http/batch.ts'
import { etagOf, etagOfText, requireMatch, tagged } from '../http/etag.ts'
import { type Handler, handle, handleOutOfTurn, read } from '../http/handler.ts'
import { validator } from '../http/validate.ts'
import { writeAlone } from '../writes/alone.ts'
import { shownText, writeLane } from '../writes/lane.ts'
import {
  deleteSite,
  getSite,
  pageSites,
  SiteBatchRow,
  SiteUpdateRow,
  saveSite,
  saveSites,
  updateSite,
  updateSites,
} from './contract.ts'
import { readSitePage } from './pages.ts'
import { writeDueBefore } from './price-changes/effect.ts'
import { showSite } from './rules.ts'
import { requireSite } from './store.ts'
import { deleteSites, siteCreation, siteUpdates } from './writes.ts'

const readRow = validator(SiteBatchRow, 'site', undefined)
const readUpdate = validator(SiteUpdateRow, 'site', undefined)

export function siteRoutes(context: Context): Handler[] {
  const { sql, pools, metrics } = context
  const create = { name: 'sites', noteWritten: (sites: number) => metrics.countCreates(sites, 'sites') }
  const save = writeLane({ ...context, sql: pools.creates }, create, siteCreation)
  const update = writeLane(context, { name: 'siteChanges' }, siteUpdates)

  return [
    handleOutOfTurn(saveSite, async ({ caller, body, idempotency, pending }) => {
      const actor = requireActingFor(caller, body.appId)
      const { record } = await save({ caller, appId: body.appId, body, actor, ifMatch: null, idempotency, pending })
      return new JsonText(record, { etag: etagOfText(record) })
    }),

    handleOutOfTurn(saveSites, async ({ caller, actor, body, ...request }) => {
      const appId = await requireApplicationOf(sql, caller, body.appId)
      const asked = { caller, actor, appId, ifMatch: null, pending: request.pending }
      return runBatch(context, request, {
        owner: appId,
        rows: body.sites,
        name: 'siteName',
        readRow,
        write: async (row, idempotency) => (await save({ ...asked, body: { ...row, appId }, idempotency })).record,
      })
    }),

    handleOutOfTurn(updateSite, async ({ caller, actor, body, header, pending }) => {
      const appId = await requireApplicationOf(sql, caller, body.appId)
      const change = { caller, actor, appId, body, ifMatch: header('if-match'), idempotency: undefined, pending }
      return shownText(await update(change))
    }),

    handleOutOfTurn(updateSites, async ({ caller, actor, body, ...request }) => {
      const appId = await requireApplicationOf(sql, caller, body.appId)
      const change = { caller, actor, appId, ifMatch: null, pending: request.pending }
      return runBatch(context, request, {
        owner: appId,
        rows: body.sites,
        name: 'id',
        readRow: readUpdate,
        write: async (row, idempotency) => (await update({ ...change, body: row, idempotency })).record,
      })
    }),

    handle(deleteSite, async (request) => {
      const { caller, actor, body, header } = request
      const appId = applicationOf(caller, body.appId)
      const settle = async (tx: Statements) => ({
        now: await writeDueBefore(tx, appId, [body.id]),
        isLeft: false,
      })
      const remove = async (tx: Statements, now: Date) => {
        const site = await requireSite(tx, appId, body.id)
        const data = showSite(site)
        requireMatch(header('if-match'), etagOf(data))
        await deleteSites(tx, appId, [site], { actor, now })
        return data
      }
      return writeAlone(sql, request, appId, remove, settle)
    }),

    read(getSite, async ({ sql, caller, query }) => {
      const appId = await requireApplicationOf(sql, caller, query.appId)
      return tagged(showSite(await requireSite(sql, appId, query.id)))
    }),

    read(pageSites, ({ sql, caller, query }) => readSitePage(sql, caller, query)),
  ]
}
