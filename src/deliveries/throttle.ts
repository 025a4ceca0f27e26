import { startRounds } from '../runtime/loop.ts'
import { limits } from '../vocabulary/limits.ts'

/** A larger batch than this means that creates queue. */
const queueingBatch = 8
/** Creates then count as queueing for this long, because the next batch may take a while. */
const quietMs = 500
const mostSaved = 1_000
const tickMs = 50

/** Shares the processor between callbacks and creates while both have more work than it can do. */
export class Throttle {
  private allowed = 0
  private queueingUntil = Number.NEGATIVE_INFINITY
  private readonly waiting: (() => void)[] = []
  private readonly rounds = startRounds(() => this.allow((limits.attemptsPerSecond * tickMs) / 1000), tickMs)

  /** Must be called for every batch of creates. */
  onBatch(size: number): void {
    if (size > queueingBatch) this.queueingUntil = performance.now() + quietMs
    this.allow(size / limits.createsPerAttempt)
  }

  /** Undefined if an attempt may begin now. */
  take(): Promise<void> | undefined {
    if (performance.now() > this.queueingUntil) return undefined
    return new Promise((resolve) => {
      this.waiting.push(resolve)
      this.allow(0)
    })
  }

  stop(): void {
    void this.rounds.stop()
    this.queueingUntil = Number.NEGATIVE_INFINITY
    this.allow(0)
  }

  private allow(attempts: number): void {
    this.allowed = Math.min(this.allowed + attempts, mostSaved)
    const isFree = performance.now() > this.queueingUntil
    while (this.waiting.length > 0 && (isFree || this.allowed >= 1)) {
      if (!isFree) this.allowed--
      this.waiting.shift()?.()
    }
  }
}
