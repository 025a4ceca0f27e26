import { limits } from '../vocabulary/limits.ts'
import { unavailable } from '../vocabulary/refusals.ts'
import { databaseRefusal, isLockTimeout, isRolledBack } from './failures.ts'
import type { Pending } from './pending.ts'

export interface GroupCommitOptions<Item, Outcome> {
  /** Writes a batch in one transaction. Returns one outcome per item, in order, after the commit. */
  write(items: Item[]): Promise<Outcome[]>
  /** Two items with the same claim never share a batch. */
  claims(item: Item): string[]
  /** Returns the application that the item counts for. Without it, all items count for one. */
  ownerOf?: (item: Item) => string
  /** Returns the item's request, if that may end first. */
  pendingOf?: (item: Item) => Pending
  maxBatch: number
  /** The items of one owner in a batch while others use the lane; by default `batchItemsOfOneBeside`. */
  mostOfOneBeside?: number
  /** Further items are refused with 50003. One owner may fill half of it. */
  maxWaiting: number
  /** An item that waited longer is refused: its request got 50003, so nothing may be written. */
  maxWaitMs: number
  onBatch(size: number): void
  /** Returns how long the next batch gives way to other writers, in ms. */
  restMs?: () => number
  /**
   * Limits the batches under way; 1 by default. Another starts once enough items wait. All need one connection, so that
   * the database runs them one after the other.
   */
  atOnce?: number
}

interface Waiting<Item, Outcome> {
  item: Item
  since: number
  resolve(outcome: Outcome): void
  reject(error: unknown): void
}

interface Taking<Item, Outcome> {
  batch: Waiting<Item, Outcome>[]
  most: number
  claimed: Set<string>
  now: number
}

/** An owner counts as alone when all items were its own for this long. */
const companyMs = 1000
/** Before this, asking whether an item's caller has gone costs more than it saves. */
const lookAfterMs = 50

/**
 * Writes items in groups: those that arrive while a batch is being written form the next one (decision 0003). Without a
 * timer: a lone item is written immediately. Under load, a second batch is sent before the first is committed, so that
 * neither the database nor this process is idle. While several owners use the lane, each gets a small part of a batch,
 * so that nobody waits long for others. An owner whose lock is held gets batches of its own, with pauses for the
 * others. An outcome is never given before the commit, and a refused item is never written.
 */
export class GroupCommit<Item, Outcome> {
  private readonly options: GroupCommitOptions<Item, Outcome>
  /** The first owner is the next to get a part of a batch. */
  private readonly queues = new Map<string, Waiting<Item, Outcome>[]>()
  /** For owners whose locks were held, when the next attempt may start. */
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

  get queueAgeMs(): number {
    const now = performance.now()
    return [...this.queues.values()].reduce((age, [first]) => Math.max(age, now - (first?.since ?? now)), 0)
  }

  /**
   * Resolves after the commit. Rejects with 50003 when the lane is full, or its owner fills half of it. A resubmitted
   * item passes its first `since` and so keeps its place.
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
    // The waiting items belong to owners whose locks were held.
    else if (this.waiting > 0) setTimeout(() => this.go(), limits.laneLockMs)
  }

  /** Takes each owner's oldest items. An item whose claim an earlier one has stays in its place. */
  private takeBatch(): Waiting<Item, Outcome>[] {
    const most = Math.min(this.options.maxBatch, Math.max(limits.batchWellFilled, this.part))
    const taking: Taking<Item, Outcome> = { batch: [], most, claimed: new Set(), now: performance.now() }
    const { mostOfOneBeside = limits.batchItemsOfOneBeside } = this.options
    const ofOne = this.companyUntil > taking.now ? Math.min(most, mostOfOneBeside) : most
    const share = Math.min(ofOne, Math.max(1, Math.floor(most / this.queues.size)))
    this.takeOfEach(share, taking)
    if (share < ofOne) this.takeOfEach(ofOne - share, taking)
    return taking.batch
  }

  /** Takes up to `share` items of each owner, who then goes to the end. An owner with a held lock is alone. */
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
   * Retries a refused batch as two halves, so that one faulty item can't fail the others. After a lost connection the
   * outcome is unknown, and a retry could refuse an item because of its own write: it fails, and its caller repeats it
   * with its key.
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
   * Writes each owner's items separately, because one owner's lock is held. That owner's items go back to its queue.
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
