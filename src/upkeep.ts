import type { Logger } from 'pino'
import type { Sql } from './database/open.ts'
import { deleteExpiredTokens } from './tokens/store.ts'

const everyMs = 60_000

/** Removes, in small steps, what has expired: idempotency keys after 24 hours, tokens an hour after their end. */
export function startUpkeep(sql: Sql, log: Logger): { stop(): void } {
  const steps = [deleteExpiredTokens, deleteOldIdempotencyKeys]
  const timer = setInterval(() => {
    for (const step of steps) {
      step(sql).catch((error: unknown) => log.warn({ err: error }, 'upkeep did not finish; it is tried again'))
    }
  }, everyMs)
  timer.unref()
  return { stop: () => clearInterval(timer) }
}

async function deleteOldIdempotencyKeys(sql: Sql): Promise<number> {
  const deleted = await sql`
    delete from idempotency_key where ctid in (
      select ctid from idempotency_key where created_at < now() - interval '24 hours' limit 5000)`
  return deleted.count
}
