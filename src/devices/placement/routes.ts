import { requireApplicationOf } from '../../callers/permissions.ts'
import type { Context } from '../../context.ts'
import { JsonText } from '../../http/answer.ts'
import { runBatch } from '../../http/batch.ts'
import { tagged } from '../../http/etag.ts'
import { type Handler, handleOutOfTurn, read } from '../../http/handler.ts'
import { validator } from '../../http/validate.ts'
import { fieldFault } from '../../vocabulary/refusals.ts'
import { given } from '../../vocabulary/values.ts'
import { shownText, writeLane } from '../../writes/lane.ts'
import { DeviceNamed } from '../ownership/contract.ts'
import {
  getPlacement,
  PlacementBatchRow,
  pagePlacementHistory,
  pagePlacements,
  removePlacement,
  removePlacements,
  savePlacement,
  savePlacements,
  suggestPlacements,
  summarizePlacements,
} from './contract.ts'
import { readPlacementPage } from './pages.ts'
import { placementTag, placing, showPlacement } from './rules.ts'
import { pageOfHistory, requirePlacement, summarizeSites } from './store.ts'
import { suggestDevices, suggestSites } from './suggestions/store.ts'
import { placementChanges } from './writes.ts'

const readRow = validator(PlacementBatchRow, 'placement', undefined)
const readNamed = validator(DeviceNamed, 'device', undefined)

/** Suggestions reach this far by default. */
const defaultMeters = 500

export function placementRoutes(context: Context): Handler[] {
  const { sql } = context
  const change = writeLane(context, { name: 'placements' }, placementChanges)

  return [
    handleOutOfTurn(savePlacement, async ({ caller, actor, body, header, pending }) => {
      const appId = await requireApplicationOf(sql, caller, body.appId)
      const asked = { caller, actor, appId, ifMatch: header('if-match'), idempotency: undefined, pending }
      return shownText(await change({ ...asked, body: placing(body) }))
    }),

    handleOutOfTurn(savePlacements, async ({ caller, actor, body, ...request }) => {
      const appId = await requireApplicationOf(sql, caller, body.appId)
      const asked = { caller, actor, appId, ifMatch: null, pending: request.pending }
      return runBatch(context, request, {
        owner: appId,
        rows: body.placements,
        name: 'deviceNo',
        readRow,
        write: async (row, idempotency) => (await change({ ...asked, body: placing(row), idempotency })).record,
      })
    }),

    handleOutOfTurn(removePlacement, async ({ caller, actor, body, idempotency, pending }) => {
      const appId = await requireApplicationOf(sql, caller, body.appId)
      const asked = { caller, actor, appId, ifMatch: null, idempotency, pending }
      const removal = { deviceNo: body.deviceNo, to: null, reason: given(body.reason) }
      return new JsonText((await change({ ...asked, body: removal })).record)
    }),

    handleOutOfTurn(removePlacements, async ({ caller, actor, body, ...request }) => {
      const appId = await requireApplicationOf(sql, caller, body.appId)
      const reason = given(body.reason)
      const asked = { caller, actor, appId, ifMatch: null, pending: request.pending }
      return runBatch(context, request, {
        owner: appId,
        rows: body.deviceNos.map((deviceNo) => ({ deviceNo })),
        name: 'deviceNo',
        readRow: readNamed,
        write: async ({ deviceNo }, idempotency) =>
          (await change({ ...asked, body: { deviceNo, to: null, reason }, idempotency })).record,
      })
    }),

    read(getPlacement, async ({ sql, caller, query }) => {
      const appId = await requireApplicationOf(sql, caller, query.appId)
      const placement = await requirePlacement(sql, appId, query.deviceNo)
      return tagged(showPlacement(placement), placementTag(placement))
    }),

    read(pagePlacements, ({ sql, caller, query }) => readPlacementPage(sql, caller, query)),

    read(
      pagePlacementHistory,
      async ({ sql, caller, query }) => {
        const appId = await requireApplicationOf(sql, caller, query.appId)
        const filter = { ...query, appId, deviceNo: given(query.deviceNo), siteId: given(query.siteId) }
        return pageOfHistory(sql, filter)
      },
      { queryCheck: namingFaults },
    ),

    read(summarizePlacements, async ({ sql, caller, query }) => {
      const appId = await requireApplicationOf(sql, caller, query.appId)
      return { list: await summarizeSites(sql, appId, query.siteIds.split(',').map(Number)) }
    }),

    read(
      suggestPlacements,
      async ({ sql, caller, query }) => {
        const appId = await requireApplicationOf(sql, caller, query.appId)
        const [siteId, deviceNo] = [given(query.siteId), given(query.deviceNo)]
        const meters = given(query.meters) ?? defaultMeters
        return {
          list:
            siteId === null
              ? await suggestSites(sql, appId, deviceNo as string, meters)
              : await suggestDevices(sql, appId, siteId, meters),
        }
      },
      { queryCheck: namingFaults },
    ),
  ]
}

const names = ['deviceNo', 'siteId'] as const

/** Faults of a query that does not name exactly one of device and site. */
function namingFaults(query: { [Name in (typeof names)[number]]?: unknown }, faulty: readonly string[]) {
  if (names.filter((name) => faulty.includes(name) || given(query[name]) !== null).length === 1) return []
  const en = 'is required: send either deviceNo or siteId, not both'
  return names.map((field) => fieldFault(field, en, '必须且只能给出 deviceNo 与 siteId 之一'))
}
