import type { MetricsSnapshot } from './metrics.ts'

export interface Topics {
  /** Asks for at most `want` unused requests of an application's rate. */
  rate: { question: { appId: string; limitPerSecond: number; want: number }; answer: number }
  /** The access of an application, or of operators, has changed (`CallerCache`). */
  access: { question: string; answer: null }
  /** Operators have changed the regions (`SavedRegions`). */
  regions: { question: null; answer: null }
  metrics: { question: null; answer: MetricsSnapshot }
}

export type Topic = keyof Topics

export interface WorkerStatus {
  serving: number
  wanted: number
  /** All processes have served at the same time; before that, the service is still starting. */
  isStarted: boolean
}

export interface Peers {
  readonly workers: WorkerStatus
  /** A process that does not respond soon is left out. */
  ask<Name extends Topic>(topic: Name, question: Topics[Name]['question']): Promise<Topics[Name]['answer'][]>
  onAsked<Name extends Topic>(topic: Name, answer: Answerer<Name>): void
  /** Returns false while this and other processes hold all places: `most`, or 1. */
  claim(key: string, most?: number): Promise<boolean>
  release(key: string): void
  /** Returns the metrics of all processes as one text; undefined for a single process. */
  allMetrics(): Promise<string> | undefined
}

export type Answerer<Name extends Topic> = (
  question: Topics[Name]['question'],
) => Topics[Name]['answer'] | Promise<Topics[Name]['answer']>

export class Claims<Holder> {
  private readonly held = new Map<string, Holder[]>()

  claim(key: string, holder: Holder, most = 1): boolean {
    const holders = this.held.get(key)
    if (holders === undefined) this.held.set(key, [holder])
    else if (holders.length >= most) return false
    else holders.push(holder)
    return true
  }

  release(key: string, holder: Holder): void {
    const holders = this.held.get(key) ?? []
    const at = holders.indexOf(holder)
    if (at !== -1) holders.splice(at, 1)
    if (holders.length === 0) this.held.delete(key)
  }

  releaseAllOf(holder: Holder): void {
    for (const [key, holders] of this.held) {
      const others = holders.filter((other) => other !== holder)
      if (others.length === 0) this.held.delete(key)
      else this.held.set(key, others)
    }
  }
}

export class NoPeers implements Peers {
  readonly workers: WorkerStatus = { serving: 1, wanted: 1, isStarted: true }
  private readonly claims = new Claims<'this process'>()

  async ask(): Promise<never[]> {
    return []
  }

  onAsked(): void {}

  async claim(key: string, most?: number): Promise<boolean> {
    return this.claims.claim(key, 'this process', most)
  }

  release(key: string): void {
    this.claims.release(key, 'this process')
  }

  allMetrics(): undefined {
    return undefined
  }
}
