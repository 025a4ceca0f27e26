import { actorOf, type Caller } from '../callers/caller.ts'
import type { Operation } from '../vocabulary/operation.ts'
import type { Refusal, RefusalName } from '../vocabulary/refusals.ts'
import type { BoundedLines, LineKind } from './bounded-lines.ts'

/** Possible signs of an attack that are recorded neither as events nor in the refusal log. */
const kinds: Partial<Record<RefusalName, LineKind>> = {
  clientInvalid: {
    level: 'warn',
    line: 'client authentication failed',
    rest: 'more client authentication failures in this minute',
  },
  notPermitted: {
    level: 'info',
    line: 'request refused: missing permission',
    rest: 'more requests refused in this minute: missing permission',
  },
}

export interface RefusedRequest {
  refusal: Refusal
  requestId: string
  operation: Pick<Operation, 'id' | 'callers'> | undefined
  caller: Caller | undefined
  address(): string
}

/** Without the content of the requests. */
export function noteRefusedRequest(
  lines: BoundedLines,
  { refusal, requestId, operation, caller, address }: RefusedRequest,
): void {
  const kind = kinds[refusal.refusal]
  if (kind === undefined) return
  lines.note(kind, () => {
    const isKnown = caller !== undefined && operation?.callers.length !== 0
    const actor = isKnown ? actorOf(caller) : refusal.actor
    return { requestId, operation: operation?.id, actor, address: address() }
  })
}
