/** What the write path's lanes have done so far. */
export interface WriteLoad {
  batches: number
  items: number
}

const tickMs = 50
/** A large batch may take several ticks, in which nothing seems to happen. */
const ticksUntilQuiet = 10
/** A lane whose batches hold this many is a lane that creates queue for. */
const busyBatch = 8
/** What callbacks keep of a service that creates keep busy: so many for each create, and so many a second. */
const leastShare = 0.02
const leastPerSecond = 100
/** A batch is one tick's and the next one's. */
const smoothing = 0.1
/** Faster than anything is as good as no limit. */
const unlimited = 50_000

/**
 * Callbacks have the processor time that creates leave over. While creates queue up for their batches, the rate of
 * attempts shrinks, to a small share that is always kept; when they don't, it grows back until it is no limit.
 */
export class Pace {
  private readonly load: WriteLoad
  private seen: WriteLoad
  private perSecond = unlimited
  /** Attempts that may still begin in this tick. */
  private allowance = 0
  private begun = 0
  private quietTicks = 0
  private itemsPerTick = 0
  private readonly waiting: (() => void)[] = []
  private readonly timer: ReturnType<typeof setInterval>

  constructor(load: WriteLoad) {
    this.load = load
    this.seen = { ...load }
    this.timer = setInterval(() => this.tick(), tickMs)
    this.timer.unref()
  }

  /** Resolves when an attempt may begin; undefined when that is at once. */
  take(): Promise<void> | undefined {
    if (this.perSecond >= unlimited || (this.allowance >= 1 && this.waiting.length === 0)) {
      this.begun++
      this.allowance--
      return undefined
    }
    return new Promise((resolve) => this.waiting.push(resolve))
  }

  stop(): void {
    clearInterval(this.timer)
    this.perSecond = unlimited
    this.admit()
  }

  private tick(): void {
    const items = this.load.items - this.seen.items
    const batches = this.load.batches - this.seen.batches
    this.seen = { ...this.load }
    const perSecond = (this.begun * 1000) / tickMs
    this.begun = 0
    this.quietTicks = items === 0 ? this.quietTicks + 1 : 0
    this.itemsPerTick += (items - this.itemsPerTick) * smoothing
    if (items > batches * busyBatch) {
      const least = Math.max(leastPerSecond, (leastShare * this.itemsPerTick * 1000) / tickMs)
      this.perSecond = Math.max(least, Math.min(this.perSecond, perSecond) * 0.7)
    } else if (items > 0) {
      this.perSecond = Math.min(unlimited, this.perSecond * 1.15)
    } else if (this.quietTicks > ticksUntilQuiet) {
      this.perSecond = unlimited
    }
    this.allowance = Math.min(this.allowance, 0) + (this.perSecond * tickMs) / 1000
    this.admit()
  }

  private admit(): void {
    while (this.waiting.length > 0 && (this.allowance >= 1 || this.perSecond >= unlimited)) {
      this.allowance--
      this.begun++
      this.waiting.shift()?.()
    }
  }
}
