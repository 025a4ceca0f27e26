import type { Sql, Statements } from './open.ts'

/** A request as its work sees it. Once it is answered or its caller has gone, nothing more may start for it. */
export interface Pending {
  readonly isAnswered: boolean
  /** Answered, or left by its caller. It costs more than `isAnswered`, so use it for work that has waited. */
  readonly isOver: boolean
  readonly isAborted: boolean
  /** Aborts when the request times out or its caller hangs up. */
  readonly signal: AbortSignal
  /** Runs a read in its owner's turn, without a lock. Throws 10007 and 50003. */
  read<Answer>(read: (sql: Sql) => Promise<Answer>): Promise<Answer>
  /** Checks again whether the caller may make the request. Throws 10002, 10003, 10005, 10034 and 50003. */
  requireStanding(): Promise<void>
  /**
   * Runs a transaction in its owner's turn. Throws 50003 without a write if the request ends before it has a
   * connection, or is answered before the commit. After waiting for locks, it commits and shows refusals only if the
   * caller may still make the request.
   */
  transaction<Answer>(sql: Sql, run: (tx: Statements) => Promise<Answer>): Promise<Answer>
}
