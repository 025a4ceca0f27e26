import { Refusal } from '../refusals.ts'

interface Bucket {
  tokens: number
  limit: number
  filledAt: number
}

/** A token bucket an application: `limit` requests a second, bursts of one second's worth. Counts per process. */
export class RateLimiter {
  private readonly buckets = new Map<string, Bucket>()

  /** Takes one request from the application's bucket, or refuses with 10007 and `Retry-After`. */
  take(appId: string, limitPerSecond: number, now = performance.now()): void {
    let bucket = this.buckets.get(appId)
    if (bucket === undefined || bucket.limit !== limitPerSecond) {
      if (bucket === undefined && this.buckets.size >= 100_000) this.dropFull(now)
      bucket = { tokens: limitPerSecond, limit: limitPerSecond, filledAt: now }
      this.buckets.set(appId, bucket)
    }
    const refilled = ((now - bucket.filledAt) * limitPerSecond) / 1000
    bucket.tokens = Math.min(limitPerSecond, bucket.tokens + refilled)
    bucket.filledAt = now
    if (bucket.tokens < 1) throw new Refusal('tooManyRequests', { headers: { 'retry-after': '1' } })
    bucket.tokens -= 1
  }

  /** A full bucket holds nothing to remember. */
  private dropFull(now: number): void {
    for (const [appId, bucket] of this.buckets) if (now - bucket.filledAt > 1000) this.buckets.delete(appId)
  }
}

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
