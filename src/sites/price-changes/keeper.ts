import type { Sql, Statements } from '../../database/open.ts'
import { insertEvents } from '../../events/store.ts'
import { type AloneRequest, writeAlone } from '../../writes/alone.ts'
import { writeDue } from './effect.ts'
import { type PriceChange, showPriceChange } from './rules.ts'
import { cancelLocked, isGivenByWaiting, lockForCancel, lockOpenOfRule } from './store.ts'

/** `now` is the database's time as of which the write counts. */
type PricedWrite<Data> = (tx: Statements, now: Date) => Promise<Data>

/** What operations on billing rules need of price changes. */
export interface PriceKeeper {
  /** Runs a write under the application's lock, once per key, after due price changes. Throws as `writeAlone` does. */
  write<Data extends object>(request: AloneRequest, appId: string, write: PricedWrite<Data>): Promise<Data>
  /** Tells whether a scheduled price change gives the rule to sites. */
  isGivenByWaiting(tx: Statements, appId: string, ruleId: number): Promise<boolean>
  /** Cancels a rule's scheduled changes before its deletion. Returns the time as of which the deletion counts. */
  cancelOfRule(tx: Statements, appId: string, ruleId: number, actor: string): Promise<Date>
}

export function priceKeeper(sql: Sql): PriceKeeper {
  return {
    write: (request, appId, write) => writeAlone(sql, request, appId, write, (tx) => writeDue(tx, appId)),

    isGivenByWaiting,

    async cancelOfRule(tx, appId, ruleId, actor) {
      const ids = await lockOpenOfRule(tx, appId, ruleId)
      // One that became due meanwhile is in effect; with the rows locked, no other can be.
      let written = await writeDue(tx, appId)
      while (written.isLeft) written = await writeDue(tx, appId)
      for (const id of ids) await cancelWaiting(tx, appId, id, { actor, reason: null }, written.now)
      return written.now
    },
  }
}

/**
 * Cancels a price change, with an event. Returns undefined if it took effect before it was locked, or before `asOf`, a
 * time after the caller locked it. Needs the application's lock.
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
