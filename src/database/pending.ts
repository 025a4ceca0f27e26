import type { Sql, Statements } from './open.ts'

/**
 * A request as its work sees it. It is over once it was answered, or its caller has gone: then nothing that it asked
 * for may begin.
 */
export interface Pending {
  readonly isAnswered: boolean
  /** Answered, or left by its caller. Costs more to find out than `isAnswered`: it is for work that has waited. */
  readonly isOver: boolean
  /** Aborted when the request times out or its caller hangs up. */
  readonly signal: AbortSignal
  /** Runs a read when its owner's turn has come, without a lock and beside the owner's reads. Throws 10007 and 50003. */
  read<Answer>(read: (sql: Sql) => Promise<Answer>): Promise<Answer>
  /**
   * Checks again whether the caller may still make the request; changes committed before the call count. Throws 10002,
   * 10003, 10005, 10034 and 50003.
   */
  requireStanding(): Promise<void>
  /**
   * Runs a transaction in the turn of the request's owner. Throws 50003 without a write when the request is over before
   * the transaction has a connection. It may have waited for locks: it is committed only if its caller still stands at its
   * end, and its refusals reach only a caller who does.
   */
  transaction<Answer>(sql: Sql, run: (tx: Statements) => Promise<Answer>): Promise<Answer>
}
