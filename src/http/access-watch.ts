import { hash } from 'node:crypto'
import { operators } from '../callers/cache.ts'
import type { Caller } from '../callers/caller.ts'
import { type Rounds, startRounds } from '../runtime/loop.ts'
import { Refusal, type RefusalName } from '../vocabulary/refusals.ts'
import type { Reply } from './answer.ts'
import type { HttpRequest, Streamed } from './message.ts'

/** A caller is checked this often: what it began ends within a second after it has lost access. */
const lookAgainMs = 500
/** Callers are checked in this many groups, so that not all are looked up at once. */
const groups = 5

/** Throws if the caller, as it now is, has lost access to what it began. */
type Check = (now: Caller) => void

interface Watched {
  /** The application, or `operators`. */
  owner: string
  group: number
  isLooking: boolean
  /** By what they check, or by themselves. */
  checks: Map<string | Check, Watch>
}

interface Watch {
  check: Check
  /** Of each who waits for the loss, its request. */
  listeners: Map<(refusal: Refusal) => void, HttpRequest>
}

/** Each caller is checked once, however much it has begun. While the database is away, it keeps its access. */
export class AccessWatch {
  private readonly authenticateAnew: (request: HttpRequest) => Promise<Caller>
  private readonly callers = new Map<string, Watched>()
  private rounds: Rounds | undefined
  private ticks = 0

  constructor(authenticateAnew: (request: HttpRequest) => Promise<Caller>) {
    this.authenticateAnew = authenticateAnew
  }

  /** Returns the function that ends the watch. Of a caller's checks with the same `what`, one is run for all. */
  watch(
    request: HttpRequest,
    caller: Caller,
    check: Check,
    onLoss: (refusal: Refusal) => void,
    what: string | Check = check,
  ): () => void {
    const credential = `${request.header('authorization') ?? ''}\n${request.header('cookie') ?? ''}`
    const key = hash('sha256', credential, 'base64')
    let watched = this.callers.get(key)
    if (watched === undefined) {
      const owner = caller.kind === 'application' ? caller.appId : operators
      watched = { owner, group: this.callers.size % groups, isLooking: false, checks: new Map() }
      this.callers.set(key, watched)
    }
    const { checks } = watched
    const one = checks.get(what) ?? { check, listeners: new Map() }
    checks.set(what, one)
    one.listeners.set(onLoss, request)
    this.rounds ??= startRounds(() => this.tick(), lookAgainMs / groups)
    return () => {
      one.listeners.delete(onLoss)
      if (one.listeners.size === 0 && checks.get(what) === one) checks.delete(what)
      if (checks.size === 0 && this.callers.get(key)?.checks === checks) this.callers.delete(key)
      if (this.callers.size > 0) return
      void this.rounds?.stop()
      this.rounds = undefined
    }
  }

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
    // All requests have the same credential; that of a closed connection may not be readable.
    const [first] = watched.checks.values()
    const [request] = first?.listeners.values() ?? []
    if (request === undefined) return
    watched.isLooking = true
    try {
      const now = await this.authenticateAnew(request)
      this.endLost(watched, (check) => check(now))
    } catch (error) {
      this.endLost(watched, () => {
        throw error
      })
    } finally {
      watched.isLooking = false
    }
  }

  /** Any other error says nothing about access. */
  private endLost({ checks }: Watched, run: (check: Check) => void): void {
    for (const { check, listeners } of checks.values()) {
      try {
        run(check)
      } catch (error) {
        if (!(error instanceof Refusal && lossesOfAccess.has(error.refusal))) continue
        for (const onLoss of listeners.keys()) onLoss(error)
      }
    }
  }
}

const lossesOfAccess: ReadonlySet<RefusalName> = new Set([
  ...(['tokenInvalid', 'notPermitted', 'applicationFrozen', 'secondFactorSetUpRequired'] as const),
])

/** For a reader that stalls: it never asks for the next page, which would be refused. `onEnd` is called at the end. */
export function endWithAccess({ answer }: Reply, watch: (onLoss: () => void) => () => void, onEnd: () => void): void {
  const body = answer.body as Streamed
  const cut = new AbortController()
  answer.cut = cut.signal
  answer.body = watched()
  async function* watched(): AsyncGenerator<Uint8Array> {
    const end = watch(() => cut.abort())
    try {
      yield* body
    } finally {
      end()
      onEnd()
    }
  }
}
