import { isConnectionLost } from './failures.ts'
import type { Sql, Statements } from './open.ts'

/**
 * Runs statements in one transaction, and undoes it when they throw.
 *
 * Not the driver's own `begin`: that one writes its rollback also to a connection that has closed, which ends the
 * process. Here a lost connection is left alone, since the database has undone its transaction already.
 */
export async function transaction<Answer>(
  sql: Sql,
  run: (tx: Statements) => Promise<Answer>,
  mode = '',
): Promise<Answer> {
  const tx = await sql.reserve()
  let isLost = false
  try {
    await tx.unsafe(`begin ${mode}`)
    const answer = await run(tx)
    await tx.unsafe('commit')
    return answer
  } catch (error) {
    isLost = isConnectionLost(error)
    if (!isLost) {
      await tx.unsafe('rollback').catch(() => {
        isLost = true
      })
    }
    throw error
  } finally {
    if (!isLost) tx.release()
  }
}
