import type { Logger } from 'pino'
import { Database } from '../database/database.ts'
import { isConnectionLost } from '../database/failures.ts'
import type { Sql, Target } from '../database/open.ts'
import { waitForDatabase } from '../database/start.ts'
import { UserError } from '../runtime/user-error.ts'

export interface Place {
  target: Target
  statementTimeoutMs: number
  waitSeconds: number
  keyFile: string | undefined
  dataDir: string
  migrationsFolder: string
  log: Logger
  signal: AbortSignal
}

export type OnProgress = (step: 'verifying' | 'counting' | 'reading' | 'writing', done: number, total: number) => void

export interface Session {
  sql: Sql
  openAlone: () => Sql
}

/** A connection that ends early becomes one clear sentence. */
export async function inSession<Answer>(
  { target, statementTimeoutMs, waitSeconds, log, signal }: Place,
  run: (session: Session) => Promise<Answer>,
): Promise<Answer> {
  const database = new Database(target, statementTimeoutMs)
  const openAlone = () => database.open(1, { longestStatementMs: Number.POSITIVE_INFINITY })
  const sql = openAlone()
  const close = () => void sql.end({ timeout: 0 })
  signal.addEventListener('abort', close)
  try {
    signal.throwIfAborted()
    await waitForDatabase(sql, { target, seconds: waitSeconds, log, signal })
    return await run({ sql, openAlone })
  } catch (error) {
    if (signal.aborted) throw signal.reason
    if (isConnectionLost(error)) throw new UserError('The database connection was lost. Run the command again.')
    const { name, message } = error as Error
    throw name === 'PostgresError' ? new UserError(`The database refused a statement: ${message}.`) : error
  } finally {
    signal.removeEventListener('abort', close)
    await database.close()
  }
}
