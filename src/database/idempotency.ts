import { Refusal } from '../refusals.ts'
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

/**
 * Whether a batch with this key was sent with another body within 24 hours. Its rows are kept under the key, a space
 * and their number.
 */
export async function findReusedBatchKey(sql: Statements, batch: KeyedCreate): Promise<boolean> {
  const [reused] = await sql`
    select from idempotency_key
    where app_id = ${batch.appId} and operation = ${batch.operation}
      and key > ${`${batch.key} `} and key < ${`${batch.key}!`}
      and body_hash <> ${batch.bodyHash} and created_at > now() - interval '24 hours'
    limit 1`
  return reused !== undefined
}
