import type { Logger } from 'pino'
import type { ApplicationCaller, Caller } from '../callers/caller.ts'
import type { KeyUsage } from '../database/usage.ts'
import type { Deadlines } from '../runtime/deadlines.ts'
import type { Metrics } from '../runtime/metrics.ts'
import type { Operation } from '../vocabulary/operation.ts'
import type { Refusal } from '../vocabulary/refusals.ts'
import type { BoundedLines } from './bounded-lines.ts'
import type { HttpRequest } from './message.ts'
import type { Shares } from './pending-request.ts'

export interface RefusedWrite {
  refusal: Refusal
  operation: Operation
  requestId: string
  /** The caller; undefined if the request was refused before its caller was known. */
  caller: Caller | undefined
  /**
   * The body as it was sent, possibly faulty; of an operation that takes a file, its query. Undefined when it was not
   * read.
   */
  input: unknown
  /** The record that a refused row names, null if it names none; absent for a whole request, whose input names the record. */
  subject?: string | null
}

export interface ServeOptions extends Shares {
  /** Records a refused write. Must not throw, and the response does not wait for it. */
  noteRefusal(refused: RefusedWrite): void
  /** Returns the caller of an operation. Throws for one that may not call it. */
  admit(operation: Operation, request: HttpRequest): Caller | Promise<Caller>
  /**
   * Returns the caller with its present rights; changes committed before the call count. Throws for one that may not make
   * its request any more.
   */
  present(caller: Caller): Promise<Caller>
  /** Returns the caller, or a promise of it when it must be looked up. */
  authenticate(request: HttpRequest): Caller | Promise<Caller>
  addRateHeaders(caller: ApplicationCaller, headers: Record<string, string>): void
  deadlines: Deadlines
  metrics: Metrics
  log: Logger
  /** Logs what clients can cause as often as they like. */
  lines: BoundedLines
  /** Returns the address that a request came from. */
  sourceOf(request: HttpRequest): string
  /** A request that has waited for the database for this long is answered with 50003. */
  answerTimeoutMs: number
  /** A body that has not arrived by then is refused. */
  bodyTimeoutMs: number
  /** Counts the idempotency keys that are stored. */
  keyUsage: KeyUsage
}
