import { unavailable } from '../vocabulary/refusals.ts'
import { Company } from './company.ts'

/** The signal is read only by work that waits, because some signals cost more than the work. */
interface Waiter {
  readonly isAborted: boolean
  readonly signal: AbortSignal
}

export interface TurnLimits {
  /** No limit by default. */
  atOnce?: number
  /** How much work of one key runs at once. */
  ofOne?: number
  /** While no other key has had work for a second, or as `company` says. */
  ofOneAlone?: number
  /** Of a key that keeps more than `crowd` waiting while there are others. */
  ofOneCrowded?: number
  crowd?: number
  waiting?: number
  waitingOfOne?: number
  /** Until when work that took so long keeps its place. By default it ends with the work. */
  restAfter?: (tookMs: number) => Promise<unknown>
  full: () => Error
  /** Who is there. By default the turns note their own keys. */
  company?: Company
}

interface Key {
  running: number
  waiting: Set<() => void>
}

/** Keys take turns; the work of one key runs in its order. Work aborted while it waits never begins. */
export class Turns {
  private readonly limits: Required<Omit<TurnLimits, 'company' | 'restAfter'>>
  private readonly restAfter: TurnLimits['restAfter']
  private readonly keys = new Map<string, Key>()
  /** The first is the next to get a turn. */
  private readonly queue = new Map<string, Key>()
  private running = 0
  private waiting = 0
  private readonly company: Company
  private readonly notesCompany: boolean

  constructor({ full, company, restAfter, ...given }: TurnLimits) {
    this.restAfter = restAfter
    this.company = company ?? new Company()
    this.notesCompany = company === undefined
    const most = Number.POSITIVE_INFINITY
    const ofOne = given.ofOne ?? most
    const unlimited = { atOnce: most, crowd: most, waiting: most, waitingOfOne: most }
    this.limits = { ...unlimited, ofOneAlone: ofOne, ofOneCrowded: ofOne, ...given, ofOne, full }
  }

  /** Throws `full`, and 50003 if the signal is aborted before the work has begun. */
  async run<Answer>(name: string, waiter: Waiter | undefined, work: () => Promise<Answer>): Promise<Answer> {
    if (waiter?.isAborted) throw unavailable()
    if (this.notesCompany) this.company.note(name)
    let key = this.keys.get(name)
    if (key === undefined) {
      key = { running: 0, waiting: new Set() }
      this.keys.set(name, key)
    }
    if (key.waiting.size === 0 && this.mayRun(key)) this.begin(key)
    else await this.wait(name, key, waiter?.signal)
    const beganAt = this.restAfter === undefined ? 0 : performance.now()
    try {
      return await work()
    } finally {
      if (this.restAfter === undefined) this.end(name, key)
      else void this.restAfter(performance.now() - beganAt).then(() => this.end(name, key))
    }
  }

  private end(name: string, key: Key): void {
    key.running--
    this.running--
    this.forgetIdle(name, key)
    if (this.queue.size > 0) this.letNextIn()
  }

  private mayRun({ running, waiting }: Key): boolean {
    const { atOnce, ofOne, ofOneAlone, ofOneCrowded, crowd } = this.limits
    if (this.running >= atOnce) return false
    if (running < (waiting.size > crowd ? ofOneCrowded : ofOne)) return true
    return running < ofOneAlone && this.company.restMs <= 0
  }

  private begin(key: Key): void {
    key.running++
    this.running++
  }

  private wait(name: string, key: Key, signal: AbortSignal | undefined): Promise<void> {
    const { waiting, waitingOfOne, full } = this.limits
    // The caller has hung up, and its connection is only looked at now.
    if (signal?.aborted) {
      this.forgetIdle(name, key)
      throw unavailable()
    }
    if (this.waiting >= waiting || key.waiting.size >= waitingOfOne) {
      this.forgetIdle(name, key)
      throw full()
    }
    return new Promise((resolve, reject) => {
      const leaveQueue = () => {
        key.waiting.delete(go)
        this.waiting--
        if (key.waiting.size === 0) this.queue.delete(name)
        signal?.removeEventListener('abort', leave)
      }
      const go = () => {
        leaveQueue()
        this.begin(key)
        resolve()
      }
      const leave = () => {
        leaveQueue()
        this.forgetIdle(name, key)
        reject(unavailable())
      }
      key.waiting.add(go)
      this.waiting++
      this.queue.set(name, key)
      signal?.addEventListener('abort', leave)
    })
  }

  private letNextIn(): void {
    for (const [name, key] of this.queue) {
      if (this.running >= this.limits.atOnce) return
      if (!this.mayRun(key)) continue
      // At the end of the queue, so that each of the others gets a turn first.
      this.queue.delete(name)
      this.queue.set(name, key)
      const [next] = key.waiting
      next?.()
    }
  }

  private forgetIdle(name: string, { running, waiting }: Key): void {
    if (running === 0 && waiting.size === 0) this.keys.delete(name)
  }
}

/** Returns the turns of each kind of work, with these limits. */
export function turnsOfEach(limits: TurnLimits): (kind: string) => Turns {
  const all = new Map<string, Turns>()
  return (kind) => {
    let turns = all.get(kind)
    if (turns === undefined) {
      turns = new Turns(limits)
      all.set(kind, turns)
    }
    return turns
  }
}
