import type { Statements } from './open.ts'

// Locks that stand for no row, each by its name, until their transaction ends.

/** Waits for whoever has the lock. */
export async function takeLock(tx: Statements, name: string): Promise<void> {
  await tx`select pg_advisory_xact_lock(hashtextextended(${name}, 0))`
}

/** False while another transaction has the lock. */
export async function tryLock(tx: Statements, name: string): Promise<boolean> {
  const [row] = await tx`select pg_try_advisory_xact_lock(hashtextextended(${name}, 0)) as had`
  return row?.had === true
}
