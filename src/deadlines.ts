/** When something times out, by the monotonic clock, and what happens then. The time may move meanwhile. */
export interface Deadline {
  at: number
  expire: () => void
}

const precisionMs = 250
/**
 * How many expire in one turn of the event loop. Bun ends a pending body inside the resolution of the answer before it,
 * a stack level each: some four thousand in one turn end the process.
 */
const mostInOneTurn = 100

/**
 * Deadlines for many requests with one timer: a timer a request would cost more than the request's own routing.
 * Precision is a quarter of a second.
 */
export class Deadlines {
  private readonly pending = new Set<Deadline>()
  private next: ReturnType<typeof setTimeout> | undefined

  constructor() {
    this.sweepIn(precisionMs)
  }

  /** Watches the deadline until it is left or expires. */
  enter(deadline: Deadline): void {
    this.pending.add(deadline)
  }

  leave(deadline: Deadline): void {
    this.pending.delete(deadline)
  }

  stop(): void {
    clearTimeout(this.next)
  }

  private sweepIn(milliseconds: number): void {
    this.next = setTimeout(() => this.sweepIn(this.sweep() ? 1 : precisionMs), milliseconds)
    this.next.unref()
  }

  /** Answers whether there may be more that have expired. */
  private sweep(): boolean {
    const now = performance.now()
    let expired = 0
    for (const deadline of this.pending) {
      if (deadline.at > now) continue
      if (expired === mostInOneTurn) return true
      expired++
      this.pending.delete(deadline)
      deadline.expire()
    }
    return false
  }
}
