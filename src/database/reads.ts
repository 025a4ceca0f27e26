import { setTimeout as pause } from 'node:timers/promises'
import { limits } from '../vocabulary/limits.ts'
import { Refusal, unavailable } from '../vocabulary/refusals.ts'
import type { Database } from './database.ts'
import { connectionsOf, type DriverConnection, type Sql } from './open.ts'

/**
 * What a read costs its owner: the time that it holds its connection, of which what exceeds `shortReadMs` counts so many
 * times. So beside others, reads that never stop take a quarter of one connection's time where they are long, and all of
 * one connection's where they are short, over however many connections they come.
 */
const longTimes = 4
/** An owner may be ahead by so much cost, a second of long reads, of which the latter half goes one at a time: a few slow reads don't wait. */
const aheadMs = 1000 * longTimes
/** An owner's next read waits no longer than that for those before it, so reads of over 300 ms get more than a quarter. */
const mostRestMs = 1000
/** So long after somebody asked, an owner is not alone. */
const companyMs = 1000
/** How soon a read is told again to end, when it went on with its next statement. */
const endAgainMs = 20
/** How often owners are looked for that have not read for a while. */
const sweepAfterMs = 5_000

/** A connection that one read has for itself, so that nobody else's statement is cancelled with its own. */
interface Slot {
  sql: Sql
  connection: DriverConnection | undefined
}

/** Whoever reads: an application or an operator. */
interface Owner {
  running: number
  /** When the cost of its reads so far has passed, by this process's monotonic clock. */
  dueAt: number
  /** Looks again when they have. */
  timer: ReturnType<typeof setTimeout> | undefined
  waiting: Set<(slot: Slot) => void>
}

/**
 * Gives reads their connections (decision 0014). An owner has two at once, and owners take turns, so that one owner's
 * long searches do not hold up the others.
 *
 * A read waits in its owner's queue, runs on a slot, and ends; an owner is due again after a rest that its reads have cost. A
 * read whose request has ended leaves the queue, or is cancelled in the database.
 *
 * Never: a cancel that reaches another read's statement (a slot serves one read at a time); a rest while nobody else asks.
 */
export class Reads {
  private readonly free: Slot[]
  private readonly owners = new Map<string, Owner>()
  /** Those of whom a read waits, in turns. */
  private readonly queue = new Set<Owner>()
  private sweep: ReturnType<typeof setTimeout> | undefined
  private lastCaller = ''
  private companyUntil = 0

  constructor(database: Database) {
    this.free = Array.from({ length: limits.readsAtOnce }, () => {
      const sql = database.open(1, { isPlannedEachTime: true })
      return { sql, connection: connectionsOf(sql)[0] }
    })
  }

  /** Reads that wait for a connection. */
  get waiting(): number {
    let count = 0
    for (const { waiting } of this.queue) count += waiting.size
    return count
  }

  /** Is told of every request, read or not: whoever is alone need not leave anything to others. */
  note(caller: string): void {
    if (caller === this.lastCaller) return
    this.lastCaller = caller
    this.companyUntil = performance.now() + companyMs
  }

  /** Reads once there is a slot. Throws 10007 when too many of the owner's wait, and 50003 when nobody waits for it any more. */
  async run<Answer>(name: string, signal: AbortSignal, read: (sql: Sql) => Promise<Answer>): Promise<Answer> {
    if (signal.aborted) throw unavailable()
    const owner = this.ownerOf(name)
    const slot = this.take(owner) ?? (await this.wait(owner, signal))
    const beganAt = performance.now()
    let isDone = false
    let ending: Promise<void> | undefined
    const cancel = () => {
      ending = this.end(slot, () => isDone)
    }
    signal.addEventListener('abort', cancel)
    try {
      return await read(slot.sql)
    } catch (error) {
      throw signal.aborted ? unavailable() : error
    } finally {
      isDone = true
      await ending
      signal.removeEventListener('abort', cancel)
      const now = performance.now()
      owner.dueAt = Math.min(Math.max(owner.dueAt, now - aheadMs) + costOf(now - beganAt), now + mostRestMs)
      owner.running--
      this.free.push(slot)
      this.letNextIn()
    }
  }

  private ownerOf(name: string): Owner {
    const known = this.owners.get(name)
    if (known !== undefined) return known
    const owner: Owner = { running: 0, dueAt: Number.NEGATIVE_INFINITY, timer: undefined, waiting: new Set() }
    this.owners.set(name, owner)
    this.sweep ??= setTimeout(() => this.forgetIdle(), sweepAfterMs).unref()
    return owner
  }

  private take(owner: Owner): Slot | undefined {
    if (owner.running >= limits.readsAtOnceOfOne || this.mustRest(owner)) return undefined
    const slot = this.free.pop()
    if (slot !== undefined) owner.running++
    return slot
  }

  private mustRest(owner: Owner): boolean {
    const now = performance.now()
    const mayAt = owner.dueAt + (owner.running === 0 ? 0 : aheadMs / 2)
    if (mayAt <= now || this.companyUntil <= now) return false
    owner.timer ??= setTimeout(
      () => {
        owner.timer = undefined
        this.letNextIn()
      },
      Math.ceil(Math.min(mayAt, this.companyUntil) - now),
    )
    return true
  }

  private wait(owner: Owner, signal: AbortSignal): Promise<Slot> {
    if (owner.waiting.size >= limits.readsWaitingOfOne)
      throw new Refusal('tooManyRequests', { headers: { 'retry-after': '1' } })
    return new Promise((resolve, reject) => {
      const go = (slot: Slot) => {
        signal.removeEventListener('abort', leave)
        resolve(slot)
      }
      const leave = () => {
        owner.waiting.delete(go)
        if (owner.waiting.size === 0) this.queue.delete(owner)
        reject(unavailable())
      }
      owner.waiting.add(go)
      this.queue.add(owner)
      // An export has one signal for all of its reads.
      signal.addEventListener('abort', leave, { once: true })
    })
  }

  /** Forgets owners who are as good as new. One that has only paused between two reads is not. */
  private forgetIdle(): void {
    const newSince = performance.now() - aheadMs
    for (const [name, { running, waiting, dueAt }] of this.owners) {
      if (running === 0 && waiting.size === 0 && dueAt <= newSince) this.owners.delete(name)
    }
    this.sweep = this.owners.size === 0 ? undefined : setTimeout(() => this.forgetIdle(), sweepAfterMs).unref()
  }

  private letNextIn(): void {
    for (const owner of this.queue) {
      if (this.free.length === 0) return
      const [next] = owner.waiting
      const slot = next && this.take(owner)
      if (next === undefined || slot === undefined) continue
      owner.waiting.delete(next)
      // Behind the others that wait, where it is looked at again.
      this.queue.delete(owner)
      if (owner.waiting.size > 0) this.queue.add(owner)
      next(slot)
    }
  }

  /** Cancels one statement of a read after the other, until it has ended and its connection is at rest. */
  private async end({ connection }: Slot, isDone: () => boolean): Promise<void> {
    if (connection === undefined) return
    while (!isDone() || connection.query !== null) {
      await connection.query?.canceller(connection.query).catch(() => {})
      await pause(endAgainMs)
    }
  }
}

function costOf(tookMs: number): number {
  return tookMs <= limits.shortReadMs ? tookMs : limits.shortReadMs + (tookMs - limits.shortReadMs) * longTimes
}
