import type { Logger } from 'pino'
import type { ApplicationCaller, Caller } from '../callers/caller.ts'
import type { KeyUsage } from '../database/usage.ts'
import type { Deadlines } from '../runtime/deadlines.ts'
import type { Metrics } from '../runtime/metrics.ts'
import type { Operation } from '../vocabulary/operation.ts'
import type { Refusal } from '../vocabulary/refusals.ts'
import type { AccessWatch } from './access-watch.ts'
import type { BoundedLines } from './bounded-lines.ts'
import type { HttpRequest } from './message.ts'
import type { Shares } from './pending-request.ts'

export interface RefusedWrite {
  refusal: Refusal
  operation: Operation
  requestId: string
  caller: Caller | undefined
  /** As sent, possibly invalid; the query, if the operation takes a file. Undefined if it was not read. */
  input: unknown
  /** Of a refused row, null if it names none; absent for a whole request, whose input names the record. */
  subject?: string | null
}

export interface ServeOptions extends Shares {
  /** Must not throw; the response does not wait for it. */
  noteRefusal(refused: RefusedWrite): void
  /** Throws for a caller that may not call the operation. */
  admit(operation: Operation, request: HttpRequest): Caller | Promise<Caller>
  /** The caller's current rights, by all committed changes. Throws if it has lost the right to make its request. */
  present(caller: Caller): Promise<Caller>
  /** A promise if the caller must be looked up. */
  authenticate(request: HttpRequest): Caller | Promise<Caller>
  accessWatch: AccessWatch
  addRateHeaders(caller: ApplicationCaller, headers: Record<string, string>): void
  deadlines: Deadlines
  metrics: Metrics
  log: Logger
  /** For what clients can cause as often as they like. */
  lines: BoundedLines
  sourceOf(request: HttpRequest): string
  /** After this wait for the database, the response is 50003. */
  answerTimeoutMs: number
  bodyTimeoutMs: number
  keyUsage: KeyUsage
}
