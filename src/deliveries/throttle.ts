import { limits } from '../vocabulary/limits.ts'

/** A lane whose batches hold more than this is a lane that creates queue for. */
const queueingBatch = 8
/** Creates queue until so long after such a batch: the next one may take its time. */
const quietMs = 500
/** What is saved up while nothing is to be sent. */
const mostSaved = 1_000
const tickMs = 50

/** Keeps callbacks and creates from taking the processor from each other while both have more to do than it can. */
export class Throttle {
  private allowed = 0
  private queueingUntil = Number.NEGATIVE_INFINITY
  private readonly waiting: (() => void)[] = []
  private readonly timer = setInterval(() => this.allow((limits.attemptsPerSecond * tickMs) / 1000), tickMs)

  constructor() {
    this.timer.unref()
  }

  /** Told of every batch of creates. */
  onBatch(size: number): void {
    if (size > queueingBatch) this.queueingUntil = performance.now() + quietMs
    this.allow(size / limits.createsPerAttempt)
  }

  /** Resolves when an attempt may begin; undefined when that is at once. */
  take(): Promise<void> | undefined {
    if (performance.now() > this.queueingUntil) return undefined
    return new Promise((resolve) => {
      this.waiting.push(resolve)
      this.allow(0)
    })
  }

  /** Lets everything begin. */
  stop(): void {
    clearInterval(this.timer)
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
