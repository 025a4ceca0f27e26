import { unavailable } from '../vocabulary/refusals.ts'
import { collectEvents } from './commits.ts'
import { isConnectionLost } from './failures.ts'
import type { Sql, Statements } from './open.ts'
import type { Pending } from './pending.ts'

/**
 * Waits for statements that were sent without waiting for each other. Throws the error of the first that failed, by which
 * those after it failed.
 */
export async function inOneFlight<Sent extends readonly unknown[]>(
  sent: readonly [...Sent],
): Promise<{ -readonly [At in keyof Sent]: Awaited<Sent[At]> }> {
  const ended = await Promise.allSettled(sent)
  for (const end of ended) if (end.status === 'rejected') throw end.reason
  return Promise.all(sent) as Promise<{ -readonly [At in keyof Sent]: Awaited<Sent[At]> }>
}

/**
 * Runs statements in one transaction, and rolls it back when they throw. For a request that is over once there is a
 * connection nothing runs: throws 50003.
 *
 * When the connection is lost, the driver rejects by itself as soon as it notices, and the database has rolled the
 * transaction back. The error must not reach the driver earlier: the driver would write a rollback to the closed
 * connection, which ends the process.
 */
export async function transaction<Answer>(
  sql: Sql,
  run: (tx: Statements) => Promise<Answer>,
  mode = '',
  pending?: Pick<Pending, 'isOver'>,
): Promise<Answer> {
  let tellEvents = () => {}
  const answer = await sql.begin(mode, async (tx) => {
    // The connection may have been waited for.
    if (pending?.isOver) throw unavailable()
    tellEvents = collectEvents(tx)
    try {
      return await run(tx)
    } catch (error) {
      if (isConnectionLost(error)) return new Promise<never>(() => {})
      throw error
    }
  })
  tellEvents()
  return answer as Answer
}
