import { limits } from '../vocabulary/limits.ts'
import { unavailable } from '../vocabulary/refusals.ts'
import { databaseRefusal, isLockTimeout, isRolledBack } from './failures.ts'
import type { Pending } from './pending.ts'

export interface GroupCommitOptions<Item, Outcome> {
  /** Writes a batch in one transaction and answers one outcome an item, in order, after the commit. */
  write(items: Item[]): Promise<Outcome[]>
  /** The values that the item needs for itself alone: two items with the same claim never share a batch. */
  claims(item: Item): string[]
  /** The application that the item counts for; without it all items count for one. */
  ownerOf?: (item: Item) => string
  /** The request that the item is for, if it may end before. */
  pendingOf?: (item: Item) => Pending
  maxBatch: number
  /** The most items that may wait; further ones are refused with 50003. Half of them may be one owner's. */
  maxWaiting: number
  /** An item that has waited longer is refused: its request was answered with 50003, so nothing may be written. */
  maxWaitMs: number
  onBatch(size: number): void
  /** How long the next batch gives way to other writers, in milliseconds. Items that arrive meanwhile are in it. */
  restMs?: () => number
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

/** A batch that is being filled, with the claims of its items. */
interface Taking<Item, Outcome> {
  batch: Waiting<Item, Outcome>[]
  /** The most items of the batch. */
  most: number
  claimed: Set<string>
  now: number
}

/** When all items have had one owner for this long, that owner counts as alone. */
const companyMs = 1000
/** After this, an item's caller may have gone: until then, asking would cost more than it saves. */
const lookAfterMs = 50

/**
 * One lane of group commit: the items that arrive while a batch is being written form the next batch (decision 0003).
 *
 * An item waits in its owner's queue, then belongs to a batch under way, then has its outcome; or it is refused, because
 * too many wait, because it waited too long or because its request is over. There is no timer: a lone item is written at
 * once, and the items of one turn of the event loop share a batch. Under load a second batch is sent before the first is
 * committed, so that neither the database nor this process is idle. Owners share each batch, and while several use the
 * lane, each has a small part of it, so that nobody waits long for the batch of another. An owner whose lock is held by
 * another transaction is tried again in batches of its own, with pauses in which the others are written.
 *
 * Never: two items with one claim in one batch; an outcome before the commit; a write for an item that was refused.
 */
export class GroupCommit<Item, Outcome> {
  private readonly options: GroupCommitOptions<Item, Outcome>
  /** The waiting items by owner; the first owner is the next to get a part of a batch. */
  private readonly queues = new Map<string, Waiting<Item, Outcome>[]>()
  /** The owners whose locks were held at their last attempt, and when the next may begin. */
  private readonly held = new Map<string, number>()
  private waiting = 0
  private running = 0
  private underWay = 0
  private lastOwner = ''
  private companyUntil = 0

  constructor(options: GroupCommitOptions<Item, Outcome>) {
    this.options = options
  }

  get queueLength(): number {
    return this.waiting
  }

  /** How long the oldest waiting item has waited. */
  get queueAgeMs(): number {
    const now = performance.now()
    return [...this.queues.values()].reduce((age, [first]) => Math.max(age, now - (first?.since ?? now)), 0)
  }

  /**
   * Resolves with the item's outcome after its batch has been committed. Rejects with 50003 when the lane is full,
   * or when its owner fills half of it. `since` is when the item began to wait, if that was earlier: a
   * resubmitted item keeps its place.
   */
  submit(item: Item, since = performance.now()): Promise<Outcome> {
    const { maxWaiting, ownerOf } = this.options
    if (this.waiting >= maxWaiting) return Promise.reject(unavailable())
    const owner = this.ownerOf(item)
    const queue = this.queueOf(owner)
    if (ownerOf !== undefined && queue.length > 0 && queue.length >= maxWaiting / 2)
      return Promise.reject(unavailable())
    if (owner !== this.lastOwner) {
      this.lastOwner = owner
      this.companyUntil = performance.now() + companyMs
    }
    return new Promise((resolve, reject) => {
      let place = queue.length
      while (place > 0 && (queue[place - 1] as Waiting<Item, Outcome>).since > since) place--
      queue.splice(place, 0, { item, since, resolve, reject })
      this.waiting++
      this.go()
    })
  }

  private queueOf(owner: string): Waiting<Item, Outcome>[] {
    let queue = this.queues.get(owner)
    if (queue === undefined) {
      queue = []
      this.queues.set(owner, queue)
    }
    return queue
  }

  /** Begins a batch, unless too many are under way or too few items wait. */
  private go(): void {
    const { atOnce = 1 } = this.options
    const least =
      this.running === 0 ? 1 : Math.max(limits.batchLeastBeside, Math.min(limits.batchWellFilled, this.part))
    if (this.running >= atOnce || this.waiting < least) return
    this.running++
    setImmediate(() => void this.run())
  }

  private async run(): Promise<void> {
    const restMs = this.options.restMs?.() ?? 0
    if (restMs > 0) await new Promise((resolve) => setTimeout(resolve, restMs))
    const batch = this.takeBatch()
    if (batch.length > 0) {
      this.options.onBatch(batch.length)
      this.underWay += batch.length
      await this.writeBatch(batch)
      this.underWay -= batch.length
    }
    this.running--
    if (batch.length > 0) this.go()
    // What waits belongs to owners whose locks were held a moment ago.
    else if (this.waiting > 0) setTimeout(() => this.go(), limits.laneLockMs)
  }

  /**
   * Takes the items of each owner that have waited longest, except those whose claim an earlier item has; these keep
   * their place. What some owners leave of the batch others fill.
   */
  private takeBatch(): Waiting<Item, Outcome>[] {
    const most = Math.min(this.options.maxBatch, Math.max(limits.batchWellFilled, this.part))
    const taking: Taking<Item, Outcome> = { batch: [], most, claimed: new Set(), now: performance.now() }
    const ofOne = this.companyUntil > taking.now ? Math.min(most, limits.batchItemsOfOneBeside) : most
    const share = Math.min(ofOne, Math.max(1, Math.floor(most / this.queues.size)))
    this.takeOfEach(share, taking)
    if (share < ofOne) this.takeOfEach(ofOne - share, taking)
    return taking.batch
  }

  /**
   * Takes at most `share` items of each owner. Owners that got a share go to the end. An owner whose lock was held gets a
   * batch of its own.
   */
  private takeOfEach(share: number, taking: Taking<Item, Outcome>): void {
    for (const [owner, queue] of [...this.queues]) {
      const room = Math.min(share, taking.most - taking.batch.length)
      if (room <= 0) return
      const heldUntil = this.held.get(owner)
      if (heldUntil !== undefined && (heldUntil > taking.now || taking.batch.length > 0)) continue
      const left = this.take(queue, room, taking)
      this.queues.delete(owner)
      if (left.length > 0) this.queues.set(owner, left)
      if (heldUntil === undefined) continue
      if (taking.batch.length > 0) taking.most = taking.batch.length
      else this.held.delete(owner)
    }
  }

  /** Moves up to `room` items of a queue into a batch. Returns those that stay. */
  private take(
    queue: Waiting<Item, Outcome>[],
    room: number,
    { batch, claimed, now }: Taking<Item, Outcome>,
  ): Waiting<Item, Outcome>[] {
    const held: Waiting<Item, Outcome>[] = []
    const full = batch.length + room
    let next = 0
    for (; next < queue.length && batch.length < full; next++) {
      const entry = queue[next] as Waiting<Item, Outcome>
      if (this.isDropped(entry, now)) {
        this.waiting--
        entry.reject(unavailable())
        continue
      }
      const wanted = this.options.claims(entry.item)
      // An item that must wait keeps its claims, so that a third one cannot overtake it.
      const free = wanted.every((claim) => !claimed.has(claim))
      for (const claim of wanted) claimed.add(claim)
      if (free) {
        this.waiting--
        batch.push(entry)
      } else held.push(entry)
    }
    const rest = queue.slice(next)
    return held.length === 0 ? rest : held.concat(rest)
  }

  /** Whether an item must not be written any more. */
  private isDropped({ item, since }: Waiting<Item, Outcome>, now: number): boolean {
    const waitedMs = now - since
    if (waitedMs > this.options.maxWaitMs) return true
    const pending = this.options.pendingOf?.(item)
    return pending !== undefined && (pending.isAnswered || (waitedMs > lookAfterMs && pending.isOver))
  }

  /** A batch takes a part of all items, so that one is written while another is answered and the next is composed. */
  private get part(): number {
    const { atOnce = 1 } = this.options
    return Math.ceil((this.waiting + this.underWay) / atOnce)
  }

  private async writeBatch(batch: Waiting<Item, Outcome>[]): Promise<void> {
    try {
      const outcomes = await this.options.write(batch.map((entry) => entry.item))
      if (this.held.size > 0) for (const { item } of batch) this.held.delete(this.ownerOf(item))
      batch.forEach((entry, index) => {
        entry.resolve(outcomes[index] as Outcome)
      })
    } catch (error) {
      await this.afterFailure(batch, error)
    }
  }

  /**
   * Retries a batch that the database refused, as two halves, so that one faulty item costs a few transactions and cannot
   * fail the others. The refused batch has written nothing. After a lost connection the outcome is unknown, and a retry
   * could refuse an item because of its own earlier write; so that item fails, and its caller repeats it with its
   * idempotency key.
   */
  private async afterFailure(batch: Waiting<Item, Outcome>[], error: unknown): Promise<void> {
    if (isLockTimeout(error)) return this.afterLockTimeout(batch)
    if (batch.length === 1 || (databaseRefusal(error) !== undefined && !isRolledBack(error))) {
      for (const entry of batch) entry.reject(error)
      return
    }
    const half = batch.length >> 1
    await this.writeAgain(batch.slice(0, half))
    await this.writeAgain(batch.slice(half))
  }

  /** Writes those items of a batch again whose requests are not over. */
  private async writeAgain(batch: Waiting<Item, Outcome>[]): Promise<void> {
    const now = performance.now()
    const due = batch.filter((entry) => {
      const isDropped = this.isDropped(entry, now)
      if (isDropped) entry.reject(unavailable())
      return !isDropped
    })
    if (due.length > 0) await this.writeBatch(due)
  }

  /**
   * Writes the items of each owner by themselves, because the lock of one is held. The items of an owner whose lock is
   * held wait in its queue again.
   */
  private async afterLockTimeout(batch: Waiting<Item, Outcome>[]): Promise<void> {
    const [owner = '', ...others] = new Set(batch.map(({ item }) => this.ownerOf(item)))
    if (others.length > 0) {
      for (const one of [owner, ...others])
        await this.writeAgain(batch.filter(({ item }) => this.ownerOf(item) === one))
      return
    }
    const pauseMs = this.companyUntil > performance.now() ? limits.laneLockMs : 0
    this.held.set(owner, performance.now() + pauseMs)
    this.waiting += batch.length
    this.queues.set(
      owner,
      this.queueOf(owner)
        .concat(batch)
        .sort((one, other) => one.since - other.since),
    )
  }

  private ownerOf(item: Item): string {
    return this.options.ownerOf?.(item) ?? ''
  }
}
