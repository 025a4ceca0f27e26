import type { Static } from 'typebox'
import type { Caller } from '../../callers/caller.ts'
import { applicationOf, requireApplicationOf, requireApplicationsOf } from '../../callers/permissions.ts'
import type { Sql } from '../../database/open.ts'
import { type Handler, handle, read } from '../../http/handler.ts'
import { Refusal } from '../../vocabulary/refusals.ts'
import {
  cancelPriceChange,
  getPriceChange,
  pagePriceChanges,
  schedulePriceChange,
  undoPriceChange,
} from './contract.ts'
import { cancelWaiting, type PriceKeeper } from './keeper.ts'
import { readPriceChangePage } from './pages.ts'
import { scheduleFaults, showPriceChange } from './rules.ts'
import { type Scheduling, schedule } from './schedule.ts'
import { findDue, requirePriceChange } from './store.ts'
import { undo } from './undo.ts'

export function priceChangeRoutes(prices: PriceKeeper, onScheduled: () => void): Handler[] {
  return [
    handle(
      schedulePriceChange,
      async (request) => {
        const { caller, actor, body, pending } = request
        const appId = applicationOf(caller, body.appId)
        if (body.dryRun === true) {
          const draft = await pending.read((sql) => draftOf(sql, { caller, appId, actor, body }))
          if (draft !== undefined) return draft
        }
        const scheduled = await prices.write(request, appId, (tx, now) => schedule(tx, { appId, actor, body, now }))
        onScheduled()
        return scheduled
      },
      { check: scheduleFaults },
    ),

    handle(cancelPriceChange, async (request) => {
      const { caller, actor, body } = request
      const appId = applicationOf(caller, body.appId)
      return prices.write(request, appId, async (tx) => {
        await requirePriceChange(tx, [appId], body.id)
        const cancelled = await cancelWaiting(tx, appId, body.id, { actor, reason: body.reason })
        if (cancelled === undefined) throw new Refusal('priceChangeWrongState')
        return showPriceChange(cancelled.change, cancelled.now)
      })
    }),

    handle(undoPriceChange, async (request) => {
      const { caller, actor, body } = request
      const { id, reason } = body
      const appId = applicationOf(caller, body.appId)
      const undone = await prices.write(request, appId, (tx, now) => undo(tx, { appId, id, actor, reason, now }))
      onScheduled()
      return undone
    }),

    read(getPriceChange, async ({ sql, caller, query }) =>
      requirePriceChange(sql, await requireApplicationsOf(sql, caller, query.appId), query.id),
    ),

    read(pagePriceChanges, ({ sql, caller, query }) => readPriceChangePage(sql, caller, query)),
  ]
}

/** Returns what would be scheduled, without the lock. Undefined while a due change isn't written down. */
async function draftOf(
  sql: Sql,
  { caller, ...asked }: Omit<Scheduling, 'now'> & { caller: Caller },
): Promise<Static<typeof schedulePriceChange.data> | undefined> {
  await requireApplicationOf(sql, caller, asked.appId)
  const { now, due } = await findDue(sql, asked.appId, 1)
  return due.length === 0 ? schedule(sql, { ...asked, now }) : undefined
}
