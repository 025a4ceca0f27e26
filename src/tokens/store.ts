import { nextAccessVersion } from '../applications/store.ts'
import type { Sql, Statements } from '../database/open.ts'
import { transaction } from '../database/transaction.ts'
import { isLiving } from './power.ts'

export interface Client {
  appId: string
  secretHash: string
  /** That of the secret before, while it still works. */
  previousSecretHash: string | null
  isFrozen: boolean
  rateLimitPerSecond: number | null
}

export async function findClient(sql: Statements, appId: string): Promise<Client | undefined> {
  const [row] = await sql`
    select app_id, secret_hash, case when previous_secret_until > now() then previous_secret_hash end as previous_secret_hash,
      status, rate_limit_per_second
    from application where app_id = ${appId}`
  if (row === undefined) return undefined
  return {
    appId: row.app_id,
    secretHash: row.secret_hash,
    previousSecretHash: row.previous_secret_hash,
    isFrozen: row.status === 2,
    rateLimitPerSecond: row.rate_limit_per_second,
  }
}

export interface KnownToken {
  appId: string
  isFrozen: boolean
  rateLimitPerSecond: number | null
  /** The application's `access_changed_at` in microseconds, as of this reading. */
  accessVersion: number
  /** How long the token is still valid, by the database's clock: to its own end, or to that of its secret. */
  remainingMs: number
}

export async function findToken(sql: Statements, tokenHash: string): Promise<KnownToken | undefined> {
  const [row] = await sql`
    select app_id, status, rate_limit_per_second,
      (extract(epoch from access_changed_at) * 1000000)::bigint as access_version,
      (extract(epoch from case when t.generation = a.token_generation then t.expires_at
        else least(t.expires_at, a.previous_secret_until) end - clock_timestamp()) * 1000)::double precision as remaining_ms
    from access_token t join application a using (app_id)
    where token_hash = ${tokenHash} and ${sql.unsafe(isLiving)}`
  if (row === undefined) return undefined
  return {
    appId: row.app_id,
    isFrozen: row.status === 2,
    rateLimitPerSecond: row.rate_limit_per_second,
    accessVersion: row.access_version,
    remainingMs: row.remaining_ms,
  }
}

/** Deletes one token of a client and tells every process. Unknown tokens are nobody's business (RFC 7009 §2.2). */
export async function deleteToken(sql: Sql, appId: string, tokenHash: string): Promise<void> {
  await transaction(sql, async (tx) => {
    // The application first, as a rotation takes them: the other order could meet it half-way.
    await tx`select 1 from application where app_id = ${appId} for no key update`
    const deleted = await tx`delete from access_token where token_hash = ${tokenHash} and app_id = ${appId}`
    if (deleted.count === 0) return
    await tx`update application set access_changed_at = ${tx.unsafe(nextAccessVersion)} where app_id = ${appId}`
  })
}

export interface AccessChange {
  appId: string
  accessVersion: number
}

/**
 * The applications whose access changed since an earlier look, which a process that was still, or without its database,
 * made long ago; null for none. A change becomes visible at its commit, later than the time it carries, but never by
 * more than a transaction may last (at most 2 minutes); hence the generous window.
 */
export async function recentAccessChanges(
  sql: Statements,
  seenUntil: string | null,
): Promise<{ changes: AccessChange[]; seenUntil: string }> {
  const rows = await sql`
    select now()::text as seen_until, app_id, (extract(epoch from access_changed_at) * 1000000)::bigint as access_version
    from (select 1) look left join application
      on access_changed_at > least(${seenUntil}::timestamptz, now()) - interval '3 minutes'`
  const changes = rows.flatMap((row) =>
    row.app_id === null ? [] : [{ appId: row.app_id, accessVersion: row.access_version }],
  )
  return { changes, seenUntil: rows[0]?.seen_until }
}

/** Removes at most `limit` expired tokens; answers how many. */
export async function deleteExpiredTokens(sql: Statements, limit: number): Promise<number> {
  const deleted = await sql`
    delete from access_token where token_hash in (
      select token_hash from access_token where expires_at <= now() limit ${limit} for update skip locked)`
  return deleted.count
}
