import type { GroupCommit } from '../database/group-commit.ts'
import type { LaneItem } from '../database/lanes.ts'
import type { Refusal } from '../vocabulary/refusals.ts'
import type { CallerCache } from './cache.ts'
import type { Caller } from './caller.ts'

/**
 * The outcome of an item in a lane. `again`: nothing was written or refused, because a row changed between being read
 * and being written. `revoked`: nothing was written, because a caller of the application lost its access.
 */
export type LaneOutcome<Written = string> =
  | { record: Written }
  | { refusal: Refusal }
  | { again: true }
  | { revoked: true }

/**
 * Submits items to a lane until each has an outcome; the lane refuses an item that has waited too long. Returns the
 * record (JSON text unless its type says otherwise) and throws the refusal, or 10002 or 10005 when the caller lost its
 * access meanwhile.
 */
export function submitter<Item extends LaneItem & { caller: Caller }, Written>(
  lane: GroupCommit<Item, LaneOutcome<Written>>,
  callers: CallerCache,
): (item: Item) => Promise<Written> {
  return async (submitted) => {
    const since = performance.now()
    let item = submitted
    for (;;) {
      const outcome = await lane.submit(item, since)
      if ('record' in outcome) return outcome.record
      if ('refusal' in outcome) throw outcome.refusal
      if ('revoked' in outcome) item = { ...item, caller: await callers.requireAccess(item.caller) }
    }
  }
}
