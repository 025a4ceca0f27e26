import { Refusal, type RefusalName } from '../vocabulary/refusals.ts'
import type { Reply } from './answer.ts'
import { isStreamed, type Streamed } from './message.ts'

/**
 * The interval of checks; callers are kept in memory for 0.9 s, so an upload ends within a second after its caller has
 * lost access.
 */
const lookAgainMs = 100

/**
 * Closes a streamed response whose caller has lost access. It is needed for a reader that stalls: it never asks for the
 * next page, which would be refused.
 */
export function endWithAccess({ answer }: Reply, still: () => Promise<void>): void {
  const { body } = answer
  if (!isStreamed(body)) return
  const cut = new AbortController()
  answer.cut = cut.signal
  answer.body = watched()
  async function* watched(): AsyncGenerator<Uint8Array> {
    const looking = watchAccess(still, () => cut.abort())
    try {
      yield* body as Streamed
    } finally {
      clearInterval(looking)
    }
  }
}

/**
 * Checks again and again whether a caller still has access. While the database is unavailable, the caller keeps its
 * access.
 */
export function watchAccess(
  still: () => Promise<void>,
  onLoss: (refusal: Refusal) => void,
): ReturnType<typeof setInterval> {
  return setInterval(() => {
    still().catch((error: unknown) => {
      if (error instanceof Refusal && lossesOfAccess.has(error.refusal)) onLoss(error)
    })
  }, lookAgainMs)
}

const lossesOfAccess: ReadonlySet<RefusalName> = new Set(['tokenInvalid', 'notPermitted', 'applicationFrozen'])
