import { once, type RequestKey } from '../database/idempotency.ts'
import type { Sql, Statements } from '../database/open.ts'
import type { Pending } from '../database/pending.ts'
import { type Caller, keyOwnerOf } from './caller.ts'

export interface KeyedRequest {
  caller: Caller
  pending: Pending
  idempotency?: RequestKey | undefined
}

/** Runs a write about no application, at most once per key. Throws as `Pending.transaction` and `once` do. */
export function writeOnce<Data extends object | undefined>(
  sql: Sql,
  { caller, pending, idempotency }: KeyedRequest,
  write: (tx: Statements) => Promise<Data>,
): Promise<Data> {
  return pending.transaction(sql, (tx) => once(tx, idempotency, keyOwnerOf(caller), () => write(tx)))
}
