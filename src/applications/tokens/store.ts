import type { Statements } from '../../database/open.ts'
import type { Pruned } from '../../database/prune.ts'

export interface Client {
  appId: string
  secretHash: string
  /** It is null if none works. */
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

/**
 * Deletes a token; an unknown one is no error (RFC 7009 §2.2). Its imports must stop, unlike those of a token that
 * expires.
 */
export async function deleteToken(sql: Statements, appId: string, tokenHash: string): Promise<void> {
  await sql`
    with revoked as (
      delete from access_token where token_hash = ${tokenHash} and app_id = ${appId} returning token_hash
    )
    update import set token_until = null from revoked
    where import.app_id = ${appId} and import.token_hash = revoked.token_hash`
}

export const expiredTokens: Pruned = {
  table: 'access_token',
  key: 'token_hash',
  isOld: 'expires_at <= now()',
  skipsLocked: true,
}
