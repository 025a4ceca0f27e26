import type { Statements } from './open.ts'

// Each lock has a name instead of a row. The transaction holds it until it ends.

export async function takeLock(tx: Statements, name: string): Promise<void> {
  await tx`select pg_advisory_xact_lock(hashtextextended(${name}, 0))`
}

/** Returns false while another transaction holds the lock. */
export async function tryLock(tx: Statements, name: string): Promise<boolean> {
  const [row] = await tx`select pg_try_advisory_xact_lock(hashtextextended(${name}, 0)) as had`
  return row?.had === true
}
