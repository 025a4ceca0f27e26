import { setTimeout as pause } from 'node:timers/promises'
import type { Company } from '../runtime/company.ts'
import { limits } from '../vocabulary/limits.ts'
import { tooManyRequests, unavailable } from '../vocabulary/refusals.ts'
import type { Database } from './database.ts'
import { connectionsOf, type DriverConnection, type Sql } from './open.ts'

/**
 * The time that a read holds its connection is its cost to its owner; the part above `shortReadMs` counts this many
 * times. So while others read too, an owner that reads without a pause gets a quarter of one connection's time for long
 * reads, and all of it for short ones, over any number of connections.
 */
const longTimes = 4
/**
 * How far ahead of its share an owner may get, as cost: one second of long reads. Beyond half of this its reads run one
 * at a time.
 */
const aheadMs = 1000 * longTimes
/** The longest rest before an owner's next read. Because of it, reads of over 300 ms get more than a quarter. */
const mostRestMs = 1000
/** How soon the next cancel follows, if a read has gone on to its next statement. */
const endAgainMs = 20
/** How often idle owners are looked for. */
const sweepAfterMs = 5_000

/** A connection for one read at a time, so that a cancel never reaches another read's statement. */
interface Slot {
  sql: Sql
  connection: DriverConnection | undefined
}

/** The application or operator whose reads these are. */
interface Owner {
  running: number
  /** When the cost of the owner's reads so far is paid, by this process's monotonic clock. */
  dueAt: number
  /** Calls for the owner's next read at that time. */
  timer: ReturnType<typeof setTimeout> | undefined
  waiting: Set<(slot: Slot) => void>
}

/**
 * Gives reads their connections (decision 0014). An owner has at most two at once, and owners take turns, so that one
 * owner's long searches do not block the others.
 *
 * A read waits in its owner's queue, runs on a slot and ends; then its owner rests for as long as the reads have cost.
 * A read whose request has ended leaves the queue, or is cancelled in the database.
 *
 * Never: a cancel that reaches another read's statement (a slot runs one read at a time); a rest while no one else
 * reads.
 */
export class Reads {
  private readonly free: Slot[]
  private readonly owners = new Map<string, Owner>()
  private readonly queue = new Set<Owner>()
  private sweep: ReturnType<typeof setTimeout> | undefined
  private readonly company: Company

  /** `company` says who makes requests, also such as do not read: an owner without others needs no rests. */
  constructor(database: Database, company: Company) {
    this.company = company
    this.free = Array.from({ length: limits.readsAtOnce }, () => {
      const sql = database.open(1, { isPlannedEachTime: true })
      return { sql, connection: connectionsOf(sql)[0] }
    })
  }

  /** The number of reads that wait for a connection. */
  get waiting(): number {
    let count = 0
    for (const { waiting } of this.queue) count += waiting.size
    return count
  }

  /** Runs a read on a slot. Throws 10007 when too many reads of the owner wait, 50003 when its request has ended. */
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
      // The listener is removed when the read begins, because an export uses one signal for all of its reads.
      signal.addEventListener('abort', leave, { once: true })
    })
  }

  /**
   * Removes each owner that has neither cost left nor a waiting read. An owner that only pauses between two reads still
   * has cost, and stays.
   */
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

  /** Cancels the statements of a read, one after the other, until the read has ended and its connection is idle. */
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
