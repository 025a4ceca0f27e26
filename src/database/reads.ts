import { setTimeout as pause } from 'node:timers/promises'
import type { Company } from '../runtime/company.ts'
import { limits } from '../vocabulary/limits.ts'
import { tooManyRequests, unavailable } from '../vocabulary/refusals.ts'
import type { Database } from './database.ts'
import { connectionsOf, type DriverConnection, type Sql } from './open.ts'

/**
 * The part of a read above `shortReadMs` counts this many times. While others read too, an owner gets a quarter of one
 * connection's time for long reads, and all of it for short ones.
 */
const longTimes = 4
/** How far ahead of its share an owner may get: one second of long reads. Beyond half, its reads run one at a time. */
const aheadMs = 1000 * longTimes
/** Limits the rest before an owner's next read, so reads of over 300 ms get more than a quarter. */
const mostRestMs = 1000
/** A read may go on to its next statement, which needs another cancel. */
const endAgainMs = 20
const sweepAfterMs = 5_000

/** One read at a time, so that a cancel never reaches another read's statement. */
interface Slot {
  sql: Sql
  connection: DriverConnection | undefined
}

interface Owner {
  running: number
  /** When the cost of its reads so far is paid, by the monotonic clock. */
  dueAt: number
  timer: ReturnType<typeof setTimeout> | undefined
  waiting: Set<(slot: Slot) => void>
}

/**
 * Gives reads their connections (decision 0014). An owner has at most two at once and, while others read, rests for as
 * long as its reads have cost, so that its long searches don't block them.
 */
export class Reads {
  private readonly free: Slot[]
  private readonly owners = new Map<string, Owner>()
  private readonly queue = new Set<Owner>()
  private sweep: ReturnType<typeof setTimeout> | undefined
  private readonly company: Company

  /** `company` knows who makes requests, even without reads: a lone owner needs no rests. */
  constructor(database: Database, company: Company) {
    this.company = company
    this.free = Array.from({ length: limits.readsAtOnce }, () => {
      const sql = database.open(1, { isPlannedEachTime: true })
      return { sql, connection: connectionsOf(sql)[0] }
    })
  }

  get waiting(): number {
    let count = 0
    for (const { waiting } of this.queue) count += waiting.size
    return count
  }

  /** Runs a read. Throws 10007 when too many of the owner's reads wait, 50003 when its request has ended. */
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
    const { restMs } = this.company
    if (mayAt <= now || restMs <= 0) return false
    owner.timer ??= setTimeout(
      () => {
        owner.timer = undefined
        this.letNextIn()
      },
      Math.ceil(Math.min(mayAt - now, restMs)),
    )
    return true
  }

  private wait(owner: Owner, signal: AbortSignal): Promise<Slot> {
    if (owner.waiting.size >= limits.readsWaitingOfOne) throw tooManyRequests()
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
      // An export uses one signal for all of its reads, so the listener must go when the read starts.
      signal.addEventListener('abort', leave, { once: true })
    })
  }

  /** Removes owners without cost or waiting reads. One that only pauses between reads still has cost. */
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
      this.queue.delete(owner)
      if (owner.waiting.size > 0) this.queue.add(owner)
      next(slot)
    }
  }

  /** Cancels a read's statements one after the other, until its connection is idle. */
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
