import type { GroupCommit } from '../database/group-commit.ts'
import type { LaneItem } from '../database/lanes.ts'
import type { Refusal } from '../vocabulary/refusals.ts'
import type { CallerCache } from './cache.ts'
import type { Caller } from './caller.ts'

/** `again`: a row changed after it was read. `revoked`: a caller of the application lost access. Neither wrote. */
export type LaneOutcome<Written = string> =
  | { record: Written }
  | { refusal: Refusal }
  | { again: true }
  | { revoked: true }

/** Submits an item until it has an outcome. Throws refusals, and 10002 or 10005 if the caller lost access. */
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
