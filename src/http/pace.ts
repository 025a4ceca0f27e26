import type { Company } from '../runtime/company.ts'
import { limits } from '../vocabulary/limits.ts'

/**
 * Few requests of a caller begin in a turn of the event loop, so that others come between. A caller that is alone needs
 * no turns: all that it sends at once makes one batch, which costs less.
 */
export class Pace {
  private readonly company: Company
  private begun = 0
  private readonly begunOf = new Map<string, number>()
  private isTurnNoted = false
  /** The requests that wait, by caller; the first caller is the next. */
  private readonly waiting = new Map<string, Set<() => void>>()

  private readonly crowd: number

  /** Of a caller that keeps more than `crowd` waiting, even fewer begin in a turn. */
  constructor(company: Company, crowd: number) {
    this.company = company
    this.crowd = crowd
  }

  /** Undefined if the request may begin now. */
  wait(caller: string, isStranger: boolean): Promise<void> | undefined {
    if (!isStranger && this.waiting.size === 0 && this.company.restMs <= 0) return undefined
    this.noteTurn()
    const own = this.waiting.get(caller)
    if (own === undefined && this.begins(caller)) return undefined
    return new Promise((resolve) => {
      if (own === undefined) this.waiting.set(caller, new Set([resolve]))
      else own.add(resolve)
    })
  }

  private begins(caller: string): boolean {
    const own = this.begunOf.get(caller) ?? 0
    const isCrowd = (this.waiting.get(caller)?.size ?? 0) > this.crowd
    const most = isCrowd ? limits.requestsOfCrowdInTurn : limits.requestsOfOneInTurn
    if (own >= most || this.begun >= limits.requestsInTurn) return false
    this.begunOf.set(caller, own + 1)
    this.begun++
    return true
  }

  private noteTurn(): void {
    if (this.isTurnNoted) return
    this.isTurnNoted = true
    setImmediate(() => {
      this.isTurnNoted = false
      this.begun = 0
      this.begunOf.clear()
      this.beginWaiting()
    })
  }

  private beginWaiting(): void {
    if (this.waiting.size > 0) this.noteTurn()
    for (const [caller, own] of [...this.waiting]) {
      if (this.begun >= limits.requestsInTurn) return
      for (const next of own) {
        if (!this.begins(caller)) break
        own.delete(next)
        next()
      }
      // A caller that has more goes behind the others.
      this.waiting.delete(caller)
      if (own.size > 0) this.waiting.set(caller, own)
    }
  }
}
