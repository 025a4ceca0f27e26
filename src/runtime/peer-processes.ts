import type { MetricsSnapshot } from './metrics.ts'

/** The questions between processes of one service, and their answers, by topic. */
export interface Topics {
  /** Asks for at most `want` unused requests of an application's rate. */
  rate: { question: { appId: string; limitPerSecond: number; want: number }; answer: number }
  /** Reports that an application's or the operators' access has changed (`CallerCache`). */
  access: { question: string; answer: null }
  /** Reports that operators have changed the regions (`SavedRegions`). */
  regions: { question: null; answer: null }
  metrics: { question: null; answer: MetricsSnapshot }
}

export type Topic = keyof Topics

/** The workers on one port. */
export interface WorkerStatus {
  serving: number
  wanted: number
  /** Whether all processes have served at the same time; before that, the service is still starting. */
  isStarted: boolean
}

/** The other processes of this service on this machine. */
export interface Peers {
  readonly workers: WorkerStatus
  /** Asks all other processes. A process that does not answer soon is left out. */
  ask<Name extends Topic>(topic: Name, question: Topics[Name]['question']): Promise<Topics[Name]['answer'][]>
  /** How this process answers the others. */
  onAsked<Name extends Topic>(topic: Name, answer: Answerer<Name>): void
  /** Returns false while this or another process holds the key. */
  claim(key: string): Promise<boolean>
  release(key: string): void
  /** The metrics of all processes as one text; undefined for a single process. */
  allMetrics(): Promise<string> | undefined
}

export type Answerer<Name extends Topic> = (
  question: Topics[Name]['question'],
) => Topics[Name]['answer'] | Promise<Topics[Name]['answer']>

/** Keys that one holder at a time may have. */
export class Claims<Holder> {
  private readonly held = new Map<string, Holder>()

  claim(key: string, holder: Holder): boolean {
    if (this.held.has(key)) return false
    this.held.set(key, holder)
    return true
  }

  release(key: string): void {
    this.held.delete(key)
  }

  releaseAllOf(holder: Holder): void {
    for (const [key, owner] of this.held) if (owner === holder) this.held.delete(key)
  }
}

/** The peers of a service that is one process. */
export class NoPeers implements Peers {
  readonly workers: WorkerStatus = { serving: 1, wanted: 1, isStarted: true }
  private readonly claims = new Claims<'this process'>()

  async ask(): Promise<never[]> {
    return []
  }

  onAsked(): void {}

  async claim(key: string): Promise<boolean> {
    return this.claims.claim(key, 'this process')
  }

  release(key: string): void {
    this.claims.release(key)
  }

  allMetrics(): undefined {
    return undefined
  }
}
