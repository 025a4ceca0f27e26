import type { Peers } from '../runtime/peer-processes.ts'
import { Refusal } from '../vocabulary/refusals.ts'
import type { ApplicationCaller } from './caller.ts'

type RateLimited = Pick<ApplicationCaller, 'appId' | 'rateLimitPerSecond'>

interface Bucket {
  tokens: number
  limit: number
  filledAt: number
  /** The limit as the header `RateLimit-Policy` gives it. */
  policy: string
  /** How many requests wait for tokens that other processes have left. */
  waiting: number
  asking: Promise<void> | undefined
  /** Until this time the limit is used up. */
  isSpentUntil: number
}

/** A little less than one, because three thirds add up to slightly less than one. */
const oneToken = 1 - 1e-6
/**
 * The share of a limit that a process borrows in advance, so that it does not ask the other processes at every request.
 */
const reserve = 1 / 50
/** How long a process waits before it asks the others again, after they had nothing left. */
const askAgainMs = 20

/**
 * A token bucket for each application: `limit` requests a second, with bursts of one second's worth. Each of several
 * processes has an equal part, which needs no exchange; a process whose part is used up borrows what the others have
 * left.
 */
export class RateLimiter {
  private readonly buckets = new Map<string, Bucket>()
  private readonly peers: Peers

  constructor(peers: Peers) {
    this.peers = peers
    peers.onAsked('rate', ({ appId, limitPerSecond, want }) => this.lend(appId, limitPerSecond, want))
  }

  /** Takes one request from the application's bucket, or refuses with 10007 and `Retry-After`. */
  take(appId: string, limitPerSecond: number | null): undefined | Promise<void> {
    if (limitPerSecond === null) return undefined
    const now = performance.now()
    const bucket = this.bucketOf(appId, limitPerSecond, now)
    if (bucket.tokens >= oneToken) {
      bucket.tokens -= 1
      return undefined
    }
    if (this.peers.workers.serving < 2 || now < bucket.isSpentUntil) throw tooManyRequests(appId, bucket)
    return this.takeBorrowed(appId, bucket)
  }

  /**
   * Adds the limit and what is left of it to the headers (IETF httpapi, RateLimit header fields). A process knows its
   * own part alone, and assumes that the others' are alike.
   */
  tell({ appId, rateLimitPerSecond: limit }: RateLimited, headers: Record<string, string>): void {
    const bucket = this.buckets.get(appId)
    if (limit === null || bucket?.limit !== limit) return
    headers['ratelimit-policy'] = bucket.policy
    const left = Math.min(limit, bucket.tokens * Math.max(1, this.peers.workers.serving))
    headers.ratelimit = `"default";r=${Math.floor(left)};t=1`
  }

  private async takeBorrowed(appId: string, bucket: Bucket): Promise<void> {
    bucket.waiting++
    try {
      while (bucket.tokens < oneToken) {
        if (performance.now() < bucket.isSpentUntil) throw tooManyRequests(appId, bucket)
        bucket.asking ??= this.borrow(appId, bucket).finally(() => {
          bucket.asking = undefined
        })
        await bucket.asking
      }
      bucket.tokens -= 1
    } finally {
      bucket.waiting--
    }
  }

  private async borrow(appId: string, bucket: Bucket): Promise<void> {
    const { limit } = bucket
    const want = bucket.waiting + limit * reserve - bucket.tokens
    const lent = await this.peers.ask('rate', { appId, limitPerSecond: limit, want })
    for (const tokens of lent) bucket.tokens += tokens
    if (bucket.tokens < oneToken) bucket.isSpentUntil = performance.now() + Math.max(askAgainMs, 1000 / limit)
  }

  private lend(appId: string, limitPerSecond: number, want: number): number {
    const bucket = this.bucketOf(appId, limitPerSecond, performance.now())
    const lent = Math.min(bucket.tokens, want)
    bucket.tokens -= lent
    return lent
  }

  /** The application's bucket, refilled for the time since its last use. */
  private bucketOf(appId: string, limit: number, now: number): Bucket {
    const part = limit / Math.max(1, this.peers.workers.serving)
    let bucket = this.buckets.get(appId)
    if (bucket === undefined || bucket.limit !== limit) {
      if (bucket === undefined && this.buckets.size >= 100_000) this.dropFull(now)
      const policy = `"default";q=${limit};w=1`
      bucket = { tokens: part, limit, filledAt: now, policy, waiting: 0, asking: undefined, isSpentUntil: 0 }
      this.buckets.set(appId, bucket)
    }
    // A bucket that has borrowed can hold more tokens than its own part.
    const refilled = Math.min(part, bucket.tokens + ((now - bucket.filledAt) * part) / 1000)
    bucket.tokens = Math.max(bucket.tokens, refilled)
    bucket.filledAt = now
    return bucket
  }

  /** A full bucket holds nothing to remember. */
  private dropFull(now: number): void {
    for (const [appId, bucket] of this.buckets) if (now - bucket.filledAt > 1000) this.buckets.delete(appId)
  }
}

function tooManyRequests(appId: string, { policy }: Bucket): Refusal {
  const headers = { 'retry-after': '1', 'ratelimit-policy': policy, ratelimit: '"default";r=0;t=1' }
  return new Refusal('tooManyRequests', { appId, headers })
}
