import type { Sql, Statements } from '../../database/open.ts'
import { insertEvents } from '../../events/store.ts'
import type { ShowMoment } from '../../vocabulary/moments.ts'
import { type AloneRequest, writeAlone } from '../../writes/alone.ts'
import { TryAgain } from '../../writes/kind.ts'
import { writeDue } from './effect.ts'
import { type PriceChange, showPriceChange } from './rules.ts'
import { cancelLocked, findWaitingOfRule, isGivenByWaiting, lockForCancel } from './store.ts'

/** A write within its transaction, and the moment of the database's clock as of which it counts. */
type PricedWrite<Data> = (tx: Statements, now: Date) => Promise<Data>

/** What the operations on billing rules need to know of price changes. */
export interface PriceKeeper {
  /**
   * Runs a write in a transaction that holds the application's lock, once all price changes that are due for the
   * application are written down, at most once for the request's key. Throws as `writeAlone` does.
   */
  write<Data extends object>(request: AloneRequest, appId: string, write: PricedWrite<Data>): Promise<Data>
  /** Whether a price change that waits gives the rule to sites. */
  isGivenByWaiting(tx: Statements, appId: string, ruleId: number): Promise<boolean>
  /** Cancels the price changes that wait for a rule that is about to be deleted, with an event for each. */
  cancelOfRule(tx: Statements, appId: string, ruleId: number, actor: string): Promise<void>
}

export function priceKeeper({ sql, showMoment }: { sql: Sql; showMoment: ShowMoment }): PriceKeeper {
  return {
    write: (request, appId, write) => writeAlone(sql, request, appId, write, (tx) => writeDue(tx, appId, showMoment)),

    isGivenByWaiting,

    async cancelOfRule(tx, appId, ruleId, actor) {
      for (const id of await findWaitingOfRule(tx, appId, ruleId)) {
        const cancelled = await cancelWaiting(tx, appId, id, { actor, reason: null }, showMoment)
        // It became due after this transaction had written down the others.
        if (cancelled === undefined) throw new TryAgain()
      }
    },
  }
}

/**
 * Cancels a price change and writes the event. Returns undefined if its moment has come already. The transaction must
 * hold the application's lock.
 */
export async function cancelWaiting(
  tx: Statements,
  appId: string,
  id: number,
  by: { actor: string; reason: string | null },
  showMoment: ShowMoment,
): Promise<{ change: PriceChange; now: Date } | undefined> {
  const locked = await lockForCancel(tx, appId, id)
  if (locked === undefined || locked.change.cancelledAt !== null) return undefined
  const { now } = locked
  if (locked.change.effectiveAt <= now) return undefined
  const change = await cancelLocked(tx, locked.change, { now, ...by })
  const data = showPriceChange(change, now, showMoment)
  await insertEvents(tx, appId, [{ type: 'priceChange.cancelled', actor: by.actor, subject: String(id), data }], now)
  return { change, now }
}
