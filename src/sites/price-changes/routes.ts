import { applicationOf, requireApplicationsOf } from '../../callers/permissions.ts'
import { once } from '../../database/idempotency.ts'
import { type Handler, handle, read } from '../../http/handler.ts'
import type { ReadMoment, ReadTimeRange, ShowMoment } from '../../vocabulary/moments.ts'
import { Refusal } from '../../vocabulary/refusals.ts'
import {
  cancelPriceChange,
  getPriceChange,
  pagePriceChanges,
  schedulePriceChange,
  undoPriceChange,
} from './contract.ts'
import { cancelWaiting, type PriceKeeper } from './keeper.ts'
import { priceChangePages } from './pages.ts'
import { scheduleFaults, showPriceChange } from './rules.ts'
import { schedule } from './schedule.ts'
import { requirePriceChange } from './store.ts'
import { undo } from './undo.ts'

interface Parts {
  prices: PriceKeeper
  showMoment: ShowMoment
  readMoment: ReadMoment
  readTimeRange: ReadTimeRange
  /** Wakes the worker: a new price change waits. */
  onScheduled(): void
}

export function priceChangeRoutes(parts: Parts): Handler[] {
  const { prices, showMoment, onScheduled } = parts
  const readPage = priceChangePages(parts)

  return [
    handle(
      schedulePriceChange,
      async ({ caller, actor, body, idempotency }) => {
        const appId = applicationOf(caller, body.appId)
        const scheduled = await prices.write(caller, appId, (tx, now) => {
          const run = () => schedule(tx, { appId, actor, body, now }, parts)
          // A dry run stores nothing, so its key stays free.
          return body.dryRun === true ? run() : once(tx, idempotency, appId, run)
        })
        onScheduled()
        return scheduled
      },
      { check: scheduleFaults },
    ),

    handle(cancelPriceChange, async ({ caller, actor, body, idempotency }) => {
      const appId = applicationOf(caller, body.appId)
      return prices.write(caller, appId, (tx) =>
        once(tx, idempotency, appId, async () => {
          await requirePriceChange(tx, [appId], body.id, showMoment)
          const cancelled = await cancelWaiting(tx, appId, body.id, { actor, reason: body.reason }, showMoment)
          if (cancelled === undefined) throw new Refusal('priceChangeWrongState')
          return showPriceChange(cancelled.change, cancelled.now, showMoment)
        }),
      )
    }),

    handle(undoPriceChange, async ({ caller, actor, body: { id, reason, ...body }, idempotency }) => {
      const appId = applicationOf(caller, body.appId)
      const undone = await prices.write(caller, appId, (tx, now) =>
        once(tx, idempotency, appId, () => undo(tx, { appId, id, actor, reason, now }, showMoment)),
      )
      onScheduled()
      return undone
    }),

    read(getPriceChange, async ({ sql, caller, query }) =>
      requirePriceChange(sql, await requireApplicationsOf(sql, caller, query.appId), query.id, showMoment),
    ),

    read(pagePriceChanges, ({ sql, caller, query }) => readPage(sql, caller, query)),
  ]
}
