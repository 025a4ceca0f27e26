import type { GroupCommit } from '../database/group-commit.ts'
import type { Refusal } from '../vocabulary/refusals.ts'
import type { CallerCache } from './cache.ts'
import type { Caller } from './caller.ts'

/**
 * What a lane makes of an item. `again`: nothing was written and nothing refused, because something moved between being
 * read and being written. `revoked`: nothing was written either: a caller of the application lost its access.
 */
export type LaneOutcome<Written = string> =
  | { record: Written }
  | { refusal: Refusal }
  | { again: true }
  | { revoked: true }

/**
 * Submits items to a lane, each until it is decided; the lane refuses one that has waited long enough. Answers the
 * record, as JSON text where nothing else is said, and throws the refusal; 10002 and 10005 where the caller has lost its
 * access while it waited.
 */
export function submitter<Item extends { caller: Caller }, Written>(
  lane: GroupCommit<Item, LaneOutcome<Written>>,
  callers: CallerCache,
): (item: Item) => Promise<Written> {
  return async (item) => {
    const since = performance.now()
    for (;;) {
      const outcome = await lane.submit(item, since)
      if ('record' in outcome) return outcome.record
      if ('refusal' in outcome) throw outcome.refusal
      if ('revoked' in outcome) await callers.requireAccess(item.caller)
    }
  }
}
