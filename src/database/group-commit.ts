import { limits } from '../vocabulary/limits.ts'
import { unavailable } from '../vocabulary/refusals.ts'
import { databaseRefusal, isRolledBack } from './failures.ts'

export interface GroupCommitOptions<Item, Outcome> {
  /** Writes a batch in one transaction and answers one outcome an item, in order, after the commit. */
  write(items: Item[]): Promise<Outcome[]>
  /** The values that the item needs for itself alone: two items with the same claim never share a batch. */
  claims(item: Item): string[]
  maxBatch: number
  /** The most items that may wait; further ones are refused with 50003. */
  maxWaiting: number
  /** An item that has waited longer is refused: its request was answered with 50003, so nothing may be written. */
  maxWaitMs: number
  onBatch(size: number): void
  /**
   * The most batches under way at once; 1 by default. A further batch begins when enough items wait to fill its part of
   * all items. The batches need one connection, so that the database runs them one after the other.
   */
  atOnce?: number
}

interface Waiting<Item, Outcome> {
  item: Item
  since: number
  resolve(outcome: Outcome): void
  reject(error: unknown): void
}

/**
 * One lane of group commit: the items that arrive while a batch is being written form the next batch (decision 0003).
 *
 * An item waits, then belongs to a batch under way, then has its outcome; or it is refused with 50003, because too many wait or
 * because it waited too long. There is no timer: a lone item is written at once, and the items of one turn of the event
 * loop share a batch. Under load a second batch is sent before the first is committed, so that neither the database nor this
 * process is idle.
 *
 * Never: two items with one claim in one batch; an outcome before the commit; a write for an item that was refused.
 */
export class GroupCommit<Item, Outcome> {
  private readonly options: GroupCommitOptions<Item, Outcome>
  private waiting: Waiting<Item, Outcome>[] = []
  private running = 0
  private underWay = 0

  constructor(options: GroupCommitOptions<Item, Outcome>) {
    this.options = options
  }

  get queueLength(): number {
    return this.waiting.length
  }

  /** How long the oldest waiting item has waited. */
  get queueAgeMs(): number {
    const [first] = this.waiting
    return first === undefined ? 0 : Math.max(0, performance.now() - first.since)
  }

  /**
   * Resolves with the item's outcome after its batch has been committed. Rejects with 50003 when the queue is full.
   * `since` is when the item began to wait, if that was earlier: a resubmitted item keeps its place.
   */
  submit(item: Item, since = performance.now()): Promise<Outcome> {
    if (this.waiting.length >= this.options.maxWaiting) return Promise.reject(unavailable())
    return new Promise((resolve, reject) => {
      let place = this.waiting.length
      while (place > 0 && (this.waiting[place - 1] as Waiting<Item, Outcome>).since > since) place--
      this.waiting.splice(place, 0, { item, since, resolve, reject })
      this.go()
    })
  }

  /** Begins a batch, unless too many are under way or too few items wait. */
  private go(): void {
    const { atOnce = 1 } = this.options
    const least =
      this.running === 0 ? 1 : Math.max(limits.batchLeastBeside, Math.min(limits.batchWellFilled, this.part))
    if (this.running >= atOnce || this.waiting.length < least) return
    this.running++
    setImmediate(() => void this.run())
  }

  private async run(): Promise<void> {
    const batch = this.takeBatch()
    if (batch.length > 0) {
      this.options.onBatch(batch.length)
      this.underWay += batch.length
      await this.writeBatch(batch)
      this.underWay -= batch.length
    }
    this.running--
    this.go()
  }

  /** Takes the items that have waited longest, except those whose claim an earlier item has; these keep their place. */
  private takeBatch(): Waiting<Item, Outcome>[] {
    const { maxWaitMs, claims } = this.options
    const maxBatch = Math.min(this.options.maxBatch, Math.max(limits.batchWellFilled, this.part))
    const batch: Waiting<Item, Outcome>[] = []
    const left: Waiting<Item, Outcome>[] = []
    const claimed = new Set<string>()
    const tooOld = performance.now() - maxWaitMs
    for (const entry of this.waiting) {
      if (batch.length === maxBatch) {
        left.push(entry)
        continue
      }
      if (entry.since < tooOld) {
        entry.reject(unavailable())
        continue
      }
      const wanted = claims(entry.item)
      // An item that must wait keeps its claims, so that a third one cannot overtake it.
      const free = wanted.every((claim) => !claimed.has(claim))
      for (const claim of wanted) claimed.add(claim)
      if (free) batch.push(entry)
      else left.push(entry)
    }
    this.waiting = left
    return batch
  }

  /** A batch takes a part of all items, so that one is written while another is answered and the next is composed. */
  private get part(): number {
    const { atOnce = 1 } = this.options
    return Math.ceil((this.waiting.length + this.underWay) / atOnce)
  }

  private async writeBatch(batch: Waiting<Item, Outcome>[]): Promise<void> {
    try {
      const outcomes = await this.options.write(batch.map((entry) => entry.item))
      batch.forEach((entry, index) => {
        entry.resolve(outcomes[index] as Outcome)
      })
    } catch (error) {
      await this.afterFailure(batch, error)
    }
  }

  /**
   * Retries the items of a batch that the database refused, each in a batch of its own, so that one faulty item cannot
   * fail the others. The refused batch has written nothing. After a lost connection the outcome is unknown, and a retry
   * could refuse an item because of its own earlier write; so that item fails, and its caller repeats it with its
   * idempotency key.
   */
  private async afterFailure(batch: Waiting<Item, Outcome>[], error: unknown): Promise<void> {
    if (batch.length === 1 || (databaseRefusal(error) !== undefined && !isRolledBack(error))) {
      for (const entry of batch) entry.reject(error)
      return
    }
    for (const entry of batch) await this.writeBatch([entry])
  }
}
