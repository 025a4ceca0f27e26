import type { Caller } from '../callers/caller.ts'
import { lockApplicationFor } from '../callers/permissions.ts'
import { readClock } from '../database/clock.ts'
import { once, type RequestKey } from '../database/idempotency.ts'
import type { Sql, Statements } from '../database/open.ts'
import type { Pending } from '../database/pending.ts'
import { inOneFlight } from '../database/transaction.ts'
import { unavailable } from '../vocabulary/refusals.ts'

// Rare writes have no lane: each is a transaction in its caller's turn.

/** The longest wait for what `settle` writes. */
const waitMs = 3_000

export interface AloneRequest {
  caller: Caller
  pending: Pending
  idempotency?: RequestKey | undefined
}

/** Writes what must come before. Returns the time as of which the write counts, unless something `isLeft`. */
export type Settle = (tx: Statements) => Promise<{ now: Date; isLeft: boolean }>

/**
 * Runs a write under the application's lock, at most once per key, and not if the caller lost access meanwhile. Throws
 * as `lockApplicationFor` and `once` do, and 50003 if `settle` takes too long.
 */
export async function writeAlone<Data extends object | undefined>(
  sql: Sql,
  request: AloneRequest,
  appId: string,
  write: (tx: Statements, now: Date) => Promise<Data>,
  settle?: Settle,
): Promise<Data> {
  const { caller, pending, idempotency } = request
  const until = performance.now() + waitMs
  for (;;) {
    const done = await pending.transaction(sql, async (tx) => {
      // Statements run in the order they are sent, so the clock is read after the lock.
      const [, clock] = await inOneFlight([lockApplicationFor(tx, caller, appId), readClock(tx)])
      const { now, isLeft } = (await settle?.(tx)) ?? { now: clock, isLeft: false }
      return isLeft ? undefined : { data: await once(tx, idempotency, appId, () => write(tx, now)) }
    })
    if (done !== undefined) return done.data
    if (performance.now() > until) throw unavailable()
  }
}
