/** When something's patience ends, by the monotonic clock, and what happens then. The time may move meanwhile. */
export interface Deadline {
  at: number
  expire: () => void
}

/**
 * Deadlines for many requests with one timer: a timer a request would cost more than the request's own routing.
 * Precision is a quarter of a second.
 */
export class Deadlines {
  private readonly pending = new Set<Deadline>()
  private readonly sweep: ReturnType<typeof setInterval>

  constructor() {
    this.sweep = setInterval(() => {
      const now = performance.now()
      for (const deadline of this.pending) {
        if (deadline.at > now) continue
        this.pending.delete(deadline)
        deadline.expire()
      }
    }, 250)
    this.sweep.unref()
  }

  /** Watches the deadline until it is left or expires. */
  enter(deadline: Deadline): void {
    this.pending.add(deadline)
  }

  leave(deadline: Deadline): void {
    this.pending.delete(deadline)
  }

  stop(): void {
    clearInterval(this.sweep)
  }
}
