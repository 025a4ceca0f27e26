import { unavailable } from '../vocabulary/refusals.ts'
import { collectEvents } from './commits.ts'
import { isConnectionLost } from './failures.ts'
import type { Sql, Statements } from './open.ts'
import type { Pending } from './pending.ts'

/** Waits for statements that were sent together. Throws the first error, which made the later ones fail. */
export async function inOneFlight<Sent extends readonly unknown[]>(
  sent: readonly [...Sent],
): Promise<{ -readonly [At in keyof Sent]: Awaited<Sent[At]> }> {
  const ended = await Promise.allSettled(sent)
  for (const end of ended) if (end.status === 'rejected') throw end.reason
  return Promise.all(sent) as Promise<{ -readonly [At in keyof Sent]: Awaited<Sent[At]> }>
}

/**
 * Runs statements in one transaction. Throws 50003 if the request is over before there is a connection, or was answered
 * before the commit. After a lost connection, the error must not reach the driver before it notices by itself: it would write a rollback to the closed
 * connection, which ends the process.
 */
export async function transaction<Answer>(
  sql: Sql,
  run: (tx: Statements) => Promise<Answer>,
  mode = '',
  pending?: Pick<Pending, 'isOver' | 'isAnswered'>,
): Promise<Answer> {
  let tellEvents = () => {}
  const answer = await sql.begin(mode, async (tx) => {
    // The connection may have been waited for.
    if (pending?.isOver) throw unavailable()
    tellEvents = collectEvents(tx)
    try {
      const answer = await run(tx)
      // Locks may have been waited for.
      if (pending?.isAnswered) throw unavailable()
      return answer
    } catch (error) {
      if (isConnectionLost(error)) return new Promise<never>(() => {})
      throw error
    }
  })
  tellEvents()
  return answer as Answer
}
