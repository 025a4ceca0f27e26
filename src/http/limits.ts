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

/** How many requests are under way in this process, and how many may be. */
export class UnderWay {
  count = 0
  readonly most: number

  constructor(most: number) {
    this.most = most
  }

  get isFull(): boolean {
    return this.count >= this.most
  }
}
