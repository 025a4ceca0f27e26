import type { Config } from '../config.ts'
import type { Target } from '../database/open.ts'
import type { Topic, WorkerStatus } from '../runtime/peer-processes.ts'

/** A worker reads no settings itself, so that all workers are alike, also those that start later. */
export interface ServeOrder {
  config: Config
  target: Target
  isDistributed: boolean
  secretKeys: string[]
  schemaVersion: number
}

export interface Question {
  topic: Topic
  question: unknown
}

export type Request =
  | { what: 'ask'; asked: Question }
  | { what: 'claim'; key: string; most: number }
  | { what: 'metrics' }

export type ToParent =
  /** The worker listens from now on; earlier messages may be lost. */
  | { kind: 'hearing' }
  | { kind: 'serving' }
  /** In one sentence for people. */
  | { kind: 'failed'; reason: string }
  | { kind: 'request'; id: number; request: Request }
  | { kind: 'release'; key: string }
  | { kind: 'answer'; id: number; answer: unknown }

export type ToWorker =
  | { kind: 'serve'; order: ServeOrder; workers: WorkerStatus }
  | { kind: 'workers'; workers: WorkerStatus }
  | { kind: 'reply'; id: number; reply: unknown }
  | { kind: 'question'; id: number; asked: Question }
