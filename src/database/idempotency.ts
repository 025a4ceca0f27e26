import { Refusal } from '../refusals.ts'
import { takeLock } from './advisory-lock.ts'
import type { Statements } from './open.ts'

/** What a create is kept under (contract §4.3). */
export interface KeyedCreate {
  appId: string
  operation: string
  key: string
  bodyHash: string
}

/** The answer that is kept for the key, if any. The transaction must hold the application's lock. Throws 10008. */
export async function findKeptAnswer(tx: Statements, create: KeyedCreate): Promise<string | undefined> {
  const [kept] = await tx`
    select body_hash, answer from idempotency_key
    where app_id = ${create.appId} and operation = ${create.operation} and key = ${create.key}
      and created_at > now() - interval '24 hours'`
  if (kept === undefined) return undefined
  if (kept.body_hash !== create.bodyHash) throw new Refusal('idempotencyKeyReused')
  return kept.answer
}

/** Keeps the answer of a create that succeeded, in the create's own transaction. */
export async function keepAnswer(tx: Statements, create: KeyedCreate, answer: string): Promise<void> {
  await tx`
    insert into idempotency_key (app_id, operation, key, body_hash, answer, created_at)
    values (${create.appId}, ${create.operation}, ${create.key}, ${create.bodyHash}, ${answer}, now())
    on conflict (app_id, operation, key) do update
      set body_hash = excluded.body_hash, answer = excluded.answer, created_at = excluded.created_at`
}

/** Until the transaction ends, nobody else works under the key: for creates that no application's lock orders. */
export async function lockKey(tx: Statements, { operation, key }: KeyedCreate): Promise<void> {
  await takeLock(tx, `${operation} ${key}`)
}

/** What stands for the answer of a create that has begun: no answer is an empty text. */
const begun = ''

/**
 * Claims a key before a create that takes several transactions. Answers what is kept for it when it was claimed and
 * the create came to its end before; nothing when it is to be carried out, or carried on. Throws 10008.
 */
export async function claimKey(sql: Statements, create: KeyedCreate): Promise<string | undefined> {
  await sql`
    delete from idempotency_key
    where app_id = ${create.appId} and operation = ${create.operation} and key = ${create.key}
      and created_at <= now() - interval '24 hours'`
  await sql`
    insert into idempotency_key (app_id, operation, key, body_hash, answer, created_at)
    values (${create.appId}, ${create.operation}, ${create.key}, ${create.bodyHash}, ${begun}, now())
    on conflict (app_id, operation, key) do nothing`
  const kept = await findKeptAnswer(sql, create)
  return kept === begun ? undefined : kept
}

/** Keeps the answer of a create whose key was claimed, unless another request with it came first. Answers the one kept. */
export async function settleKey(sql: Statements, create: KeyedCreate, answer: string): Promise<string> {
  const { appId, operation, key, bodyHash } = create
  await sql`
    update idempotency_key set answer = ${answer}
    where app_id = ${appId} and operation = ${operation} and key = ${key} and body_hash = ${bodyHash}
      and answer = ${begun}`
  return (await findKeptAnswer(sql, create)) ?? answer
}

/** Removes, at most `limit`, keys that are kept no longer. */
export async function deleteOldIdempotencyKeys(sql: Statements, limit: number): Promise<number> {
  const deleted = await sql`
    delete from idempotency_key where (app_id, operation, key) in (
      select app_id, operation, key from idempotency_key where created_at < now() - interval '24 hours' limit ${limit})`
  return deleted.count
}

/** SQL for a routine with `p_apps`, `p_keys` and `p_now`: the answers that are kept for its batch. */
export const keptAnswers = (operation: string) => `
    select app_id, key, body_hash, answer from idempotency_key
    where app_id = any(p_apps) and operation = '${operation}' and key = any(p_keys)
      -- Not as a range of created_at: a plan that came by that index would read every key of a day.
      and created_at + interval '24 hours' > p_now`

/** SQL: the same keys, each behind its application's id. */
export const keptKeys = (operation: string) => `array(
      select app_id || ' ' || key from (${keptAnswers(operation)}) kept)`

/** SQL: the key of row `i` of a batch, as `keptKeys` tells it. */
export const keptKey = `i.app_id || ' ' || i.key`
