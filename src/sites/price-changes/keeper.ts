import type { Sql, Statements } from '../../database/open.ts'
import { insertEvents } from '../../events/store.ts'
import { type AloneRequest, writeAlone } from '../../writes/alone.ts'
import { writeDue } from './effect.ts'
import { type PriceChange, showPriceChange } from './rules.ts'
import { cancelLocked, isGivenByWaiting, lockForCancel, lockOpenOfRule } from './store.ts'

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
  /**
   * Cancels the price changes that wait for a rule that is about to be deleted, with an event for each. Returns the
   * moment as of which the deletion counts.
   */
  cancelOfRule(tx: Statements, appId: string, ruleId: number, actor: string): Promise<Date>
}

export function priceKeeper({ sql }: { sql: Sql }): PriceKeeper {
  return {
    write: (request, appId, write) => writeAlone(sql, request, appId, write, (tx) => writeDue(tx, appId)),

    isGivenByWaiting,

    async cancelOfRule(tx, appId, ruleId, actor) {
      const ids = await lockOpenOfRule(tx, appId, ruleId)
      // One that became due meanwhile is in force; with the rows locked, no other can.
      let written = await writeDue(tx, appId)
      while (written.isLeft) written = await writeDue(tx, appId)
      for (const id of ids) await cancelWaiting(tx, appId, id, { actor, reason: null }, written.now)
      return written.now
    },
  }
}

/**
 * Cancels a price change and writes the event. Returns undefined if its moment has come already, by the clock after the
 * change was locked, or by `asOf`, a moment after the caller locked it. The transaction must hold the application's lock.
 */
export async function cancelWaiting(
  tx: Statements,
  appId: string,
  id: number,
  by: { actor: string; reason: string | null },
  asOf?: Date,
): Promise<{ change: PriceChange; now: Date } | undefined> {
  const now = asOf ?? (await lockForCancel(tx, appId, id))
  const change = now && (await cancelLocked(tx, { appId, id }, { now, ...by }))
  if (now === undefined || change === undefined) return undefined
  const data = showPriceChange(change, now)
  await insertEvents(tx, appId, [{ type: 'priceChange.cancelled', actor: by.actor, subject: String(id), data }], now)
  return { change, now }
}
