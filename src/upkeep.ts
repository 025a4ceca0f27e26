import type { Logger } from 'pino'
import type { Sql } from './database/open.ts'
import { deleteExpiredTokens } from './tokens/store.ts'

const everyMs = 60_000
/** Few enough that no step holds up creates. */
const stepRows = 2000

/** Removes, in small steps, what has expired: idempotency keys after 24 hours, tokens an hour after their end. */
export function startUpkeep(sql: Sql, log: Logger): { stop(): void } {
  const steps = [deleteExpiredTokens, deleteOldIdempotencyKeys]
  let isRunning = false
  async function run(): Promise<void> {
    if (isRunning) return
    isRunning = true
    try {
      for (const step of steps) while ((await step(sql, stepRows)) === stepRows);
    } catch (error) {
      log.warn({ err: error }, 'upkeep did not finish; it is tried again')
    }
    isRunning = false
  }
  const timer = setInterval(() => void run(), everyMs)
  timer.unref()
  return { stop: () => clearInterval(timer) }
}

async function deleteOldIdempotencyKeys(sql: Sql, limit: number): Promise<number> {
  const deleted = await sql`
    delete from idempotency_key where ctid in (
      select ctid from idempotency_key where created_at < now() - interval '24 hours' limit ${limit})`
  return deleted.count
}
