import type { Peers } from '../runtime/peer-processes.ts'
import { Refusal } from '../vocabulary/refusals.ts'
import type { ApplicationCaller } from './caller.ts'

type RateLimited = Pick<ApplicationCaller, 'appId' | 'rateLimitPerSecond'>

interface Bucket {
  tokens: number
  limit: number
  filledAt: number
  /** It is sent in the header `RateLimit-Policy`. */
  policy: string
  waiting: number
  asking: Promise<void> | undefined
  isSpentUntil: number
}

/** Three thirds add up to slightly less than one. */
const oneToken = 1 - 1e-6
/** A process borrows this share of a limit in advance, so that it rarely asks the others. */
const reserve = 1 / 50
/** A process asks again after this, if the others had nothing left. */
const askAgainMs = 20

/**
 * A token bucket per application: `limit` requests a second, with bursts of one second's worth. Processes have equal
 * parts and borrow from each other.
 */
export class RateLimiter {
  private readonly buckets = new Map<string, Bucket>()
  private readonly peers: Peers

  constructor(peers: Peers) {
    this.peers = peers
    peers.onAsked('rate', ({ appId, limitPerSecond, want }) => this.lend(appId, limitPerSecond, want))
  }

  /** Takes one request. Throws 10007 with `Retry-After`. */
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

  /** Adds the rate-limit headers (IETF httpapi), assuming that the other processes' parts are alike. */
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

  private bucketOf(appId: string, limit: number, now: number): Bucket {
    const part = limit / Math.max(1, this.peers.workers.serving)
    let bucket = this.buckets.get(appId)
    if (bucket === undefined || bucket.limit !== limit) {
      if (bucket === undefined && this.buckets.size >= 100_000) this.dropFull(now)
      const policy = `"default";q=${limit};w=1`
      bucket = { tokens: part, limit, filledAt: now, policy, waiting: 0, asking: undefined, isSpentUntil: 0 }
      this.buckets.set(appId, bucket)
    }
    // A bucket that borrowed can hold more than its own part.
    const refilled = Math.min(part, bucket.tokens + ((now - bucket.filledAt) * part) / 1000)
    bucket.tokens = Math.max(bucket.tokens, refilled)
    bucket.filledAt = now
    return bucket
  }

  /** Drops full buckets, which hold nothing to remember. */
  private dropFull(now: number): void {
    for (const [appId, bucket] of this.buckets) if (now - bucket.filledAt > 1000) this.buckets.delete(appId)
  }
}

function tooManyRequests(appId: string, { policy }: Bucket): Refusal {
  const headers = { 'retry-after': '1', 'ratelimit-policy': policy, ratelimit: '"default";r=0;t=1' }
  return new Refusal('tooManyRequests', { appId, headers })
}
