import { hash } from 'node:crypto'
import { operators } from '../callers/cache.ts'
import type { Caller } from '../callers/caller.ts'
import { Refusal, type RefusalName } from '../vocabulary/refusals.ts'
import type { Reply } from './answer.ts'
import { type HttpRequest, isStreamed, type Streamed } from './message.ts'

/** The interval between two checks of one caller. What it began ends within a second after it has lost access. */
const lookAgainMs = 500
/** The callers are checked in this many groups, one after the other, so that not all are looked up at once. */
const groups = 5

/** Checks a caller as it now is, for one of the responses or files that it has begun. Throws when it has lost access. */
type Check = (now: Caller) => void

interface Watched {
  /** The application, or `operators`. */
  owner: string
  group: number
  isLooking: boolean
  /** By each check, its request and what to do when it fails. */
  checks: Map<Check, { request: HttpRequest; onLoss: (refusal: Refusal) => void }>
}

/**
 * Checks again and again whether the callers of long responses and uploads still have access: each caller once,
 * however many it has begun. While the database is unavailable, a caller keeps its access.
 */
export class AccessWatch {
  private readonly authenticateAnew: (request: HttpRequest) => Promise<Caller>
  private readonly callers = new Map<string, Watched>()
  private timer: ReturnType<typeof setInterval> | undefined
  private ticks = 0

  /** `authenticateAnew` looks the caller of a request up again. */
  constructor(authenticateAnew: (request: HttpRequest) => Promise<Caller>) {
    this.authenticateAnew = authenticateAnew
  }

  /** Calls `onLoss` when the request's caller has lost its access. Returns the function that ends this. */
  watch(request: HttpRequest, caller: Caller, check: Check, onLoss: (refusal: Refusal) => void): () => void {
    const credential = `${request.header('authorization') ?? ''}\n${request.header('cookie') ?? ''}`
    const key = hash('sha256', credential, 'base64')
    let watched = this.callers.get(key)
    if (watched === undefined) {
      const owner = caller.kind === 'application' ? caller.appId : operators
      watched = { owner, group: this.callers.size % groups, isLooking: false, checks: new Map() }
      this.callers.set(key, watched)
    }
    const { checks } = watched
    checks.set(check, { request, onLoss })
    this.timer ??= setInterval(() => this.tick(), lookAgainMs / groups)
    return () => {
      checks.delete(check)
      if (checks.size === 0 && this.callers.get(key)?.checks === checks) this.callers.delete(key)
      if (this.callers.size > 0) return
      clearInterval(this.timer)
      this.timer = undefined
    }
  }

  /** Checks at once those whose access has changed. */
  noteChange(whose: string): void {
    for (const watched of this.callers.values()) if (watched.owner === whose) void this.look(watched)
  }

  private tick(): void {
    this.ticks++
    for (const watched of this.callers.values()) {
      if (watched.group === this.ticks % groups && !watched.isLooking) void this.look(watched)
    }
  }

  private async look(watched: Watched): Promise<void> {
    // All requests have the same credential; that of a connection that is closed may not be readable.
    const [first] = watched.checks.values()
    if (first === undefined) return
    watched.isLooking = true
    try {
      const now = await this.authenticateAnew(first.request)
      this.endLost(watched, (check) => check(now))
    } catch (error) {
      this.endLost(watched, () => {
        throw error
      })
    } finally {
      watched.isLooking = false
    }
  }

  /** Ends what has lost its access; any other error says nothing of it. */
  private endLost({ checks }: Watched, run: (check: Check) => void): void {
    for (const [check, { onLoss }] of checks) {
      try {
        run(check)
      } catch (error) {
        if (error instanceof Refusal && lossesOfAccess.has(error.refusal)) onLoss(error)
      }
    }
  }
}

const lossesOfAccess: ReadonlySet<RefusalName> = new Set([
  ...(['tokenInvalid', 'notPermitted', 'applicationFrozen', 'secondFactorSetUpRequired'] as const),
])

/**
 * Closes a streamed response whose caller has lost access. It is needed for a reader that stalls: it never asks for the
 * next page, which would be refused.
 */
export function endWithAccess({ answer }: Reply, watch: (onLoss: () => void) => () => void): void {
  const { body } = answer
  if (!isStreamed(body)) return
  const cut = new AbortController()
  answer.cut = cut.signal
  answer.body = watched()
  async function* watched(): AsyncGenerator<Uint8Array> {
    const end = watch(() => cut.abort())
    try {
      yield* body as Streamed
    } finally {
      end()
    }
  }
}
