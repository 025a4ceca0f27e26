import { Refusal, unavailable } from '../vocabulary/refusals.ts'
import { takeLock } from './advisory-lock.ts'
import type { Statements } from './open.ts'
import type { Pruned } from './prune.ts'
import { recordsOf, textArray } from './routine.ts'

// One effect for each key, operation and owner (contract §4.3). A key is claimed by the transaction that writes, then
// kept with its response for 24 hours. A second request waits for the claim's lock and gets the response without its
// secrets, which are not stored. Creates claim their keys in their batch (decision 0003); a batch's rows have keys of
// their own, so that a retry continues where the first attempt ended. A refusal is never kept.

export interface RequestKey {
  operation: string
  key: string
  bodyHash: string
  secrets: readonly (readonly string[])[]
  attempt?: BatchAttempt
  isReplayed: boolean
  keptRows?: number
}

interface BatchAttempt {
  begunAt: Date
  isFirst: boolean
  /** Only for the first request: its claim's version, which changes when another request continues the batch. */
  version?: string
}

export interface KeyedWrite {
  /** The owner is an application, or the operator if there is none. */
  owner: string
  operation: string
  key: string
  bodyHash: string
}

/** The name of a key's lock. Equal keys of other owners and operations don't wait for each other. */
export const keyName = ({ owner, operation, key }: Omit<KeyedWrite, 'bodyHash'>) => `${owner} ${operation} ${key}`

/**
 * Runs a write at most once per key: a second request gets the first response without its secrets. Stores nothing if
 * there is no response. Before the write, it takes only locks that every request with this key takes. Throws 10008.
 */
export async function once<Data extends object | undefined>(
  tx: Statements,
  request: RequestKey | undefined,
  owner: string,
  write: () => Promise<Data>,
): Promise<Data> {
  if (request === undefined) return write()
  const keyed = { owner, ...request }
  await takeLock(tx, keyName(keyed))
  const kept = await findReplay<Data>(tx, request, owner)
  if (kept !== undefined) return kept
  const data = await write()
  if (data !== undefined) {
    await keepAnswers(tx, owner, [{ ...request, answer: JSON.stringify(withoutSecrets(data, request.secrets)) }])
  }
  return data
}

/** Tells whether a response is stored for the key, even for another body. */
export async function hasAnswer(sql: Statements, request: RequestKey | undefined, owner: string): Promise<boolean> {
  if (request === undefined) return false
  const kept = await findKeptAnswers(sql, [{ owner, ...request }])
  return kept.size > 0
}

/** Returns the response to the first successful request with this key. Throws 10008. */
export async function findReplay<Data>(
  sql: Statements,
  request: RequestKey | undefined,
  owner: string,
): Promise<Data | undefined> {
  if (request === undefined) return undefined
  const kept = await findKept(sql, { owner, ...request })
  if (kept === undefined) return undefined
  request.isReplayed = true
  return JSON.parse(kept)
}

function withoutSecrets(data: object, secrets: RequestKey['secrets']): object {
  const shown: Record<string, unknown> = { ...data }
  for (const [member = '', ...within] of secrets) {
    const value = shown[member]
    if (within.length === 0) shown[member] = null
    else if (typeof value === 'object' && value !== null) shown[member] = withoutSecrets(value, [within])
  }
  return shown
}

async function findKept(sql: Statements, write: KeyedWrite): Promise<string | undefined> {
  const [kept] = await sql`
    select body_hash, answer from idempotency_key
    where app_id = ${write.owner} and operation = ${write.operation} and key = ${write.key}
      and created_at > now() - interval '24 hours'`
  if (kept === undefined) return undefined
  if (kept.body_hash !== write.bodyHash) throw new Refusal('idempotencyKeyReused')
  return kept.answer
}

export interface KeptAnswer {
  bodyHash: string
  answer: string
}

export async function findKeptAnswers(
  sql: Statements,
  writes: readonly KeyedWrite[],
): Promise<Map<string, KeptAnswer>> {
  if (writes.length === 0) return new Map()
  const owners = [...new Set(writes.map(({ owner }) => owner))]
  const kept = await Promise.all(
    owners.map((owner) =>
      findKeptOf(
        sql,
        owner,
        writes.filter((write) => write.owner === owner),
      ),
    ),
  )
  return new Map(kept.flat())
}

async function findKeptOf(
  sql: Statements,
  owner: string,
  writes: readonly KeyedWrite[],
): Promise<(readonly [string, KeptAnswer])[]> {
  const rows = await sql.unsafe(
    `select i.operation, i.key, kept.body_hash, kept.answer
    from unnest($2::text[], $3::text[]) as i (operation, key) cross join lateral (
      select body_hash, answer from idempotency_key
      where app_id = $1 and operation = i.operation and key = i.key and created_at > now() - interval '24 hours'
      limit 1) as kept`,
    [owner, textArray(writes.map(({ operation }) => operation)), textArray(writes.map(({ key }) => key))],
    { prepare: true },
  )
  return rows.map(
    ({ operation, key, body_hash: bodyHash, answer }) =>
      [keyName({ owner, operation, key }), { bodyHash, answer }] as const,
  )
}

type KeyedAnswer = Pick<KeyedWrite, 'operation' | 'key' | 'bodyHash'> & { answer: string }

export async function keepAnswers(tx: Statements, owner: string, answers: readonly KeyedAnswer[]): Promise<void> {
  if (answers.length === 0) return
  const listed = (member: keyof KeyedAnswer) => textArray(answers.map((one) => one[member]))
  await tx.unsafe(
    `insert into idempotency_key (app_id, operation, key, body_hash, answer, created_at)
    select $1, i.operation, i.key, i.body_hash, i.answer, now()
    from unnest($2::text[], $3::text[], $4::text[], ${recordsOf('$5')}) as i (operation, key, body_hash, answer)
    on conflict (app_id, operation, key) do update
      set body_hash = excluded.body_hash, answer = excluded.answer, created_at = excluded.created_at`,
    [owner, listed('operation'), listed('key'), listed('bodyHash'), answers.map(({ answer }) => answer).join('\n')],
    { prepare: true },
  )
}

/** Marks a batch that has started but not finished; no real response is empty. */
const begun = ''

/**
 * Claims a batch's key, which takes several transactions. Returns the stored response if the batch has finished.
 * Otherwise the request starts the batch or, if not the first, continues it. Throws 10008, and 50003 if the claim is
 * released meanwhile.
 */
export async function claimKey(sql: Statements, write: KeyedWrite): Promise<{ answer: string } | BatchAttempt> {
  const { owner, operation, key, bodyHash } = write
  await sql`
    delete from idempotency_key
    where app_id = ${owner} and operation = ${operation} and key = ${key}
      and created_at <= now() - interval '24 hours'`
  const [claimed] = await sql`
    insert into idempotency_key (app_id, operation, key, body_hash, answer, created_at)
    values (${owner}, ${operation}, ${key}, ${bodyHash}, ${begun}, now())
    on conflict (app_id, operation, key) do nothing returning created_at, xmin::text as version`
  if (claimed !== undefined) return { begunAt: claimed.created_at, isFirst: true, version: claimed.version }
  // This changes the version, so that the first request can no longer release the claim.
  const [joined] = await sql`
    update idempotency_key set answer = answer
    where app_id = ${owner} and operation = ${operation} and key = ${key} and body_hash = ${bodyHash}
      and answer = ${begun} returning created_at`
  if (joined !== undefined) return { begunAt: joined.created_at, isFirst: false }
  const answer = await findKept(sql, write)
  if (answer === undefined || answer === begun) throw unavailable()
  return { answer }
}

/** Releases the key of a batch that wrote nothing, unless another request continues it. */
export async function releaseKey(sql: Statements, write: KeyedWrite, { version }: BatchAttempt): Promise<void> {
  if (version === undefined) return
  await sql`
    delete from idempotency_key
    where app_id = ${write.owner} and operation = ${write.operation} and key = ${write.key} and xmin::text = ${version}`
}

/** Stores a batch's response under its claimed key. Returns the response that another request stored before. */
export async function settleKey(sql: Statements, write: KeyedWrite, answer: string): Promise<string | undefined> {
  const { owner, operation, key, bodyHash } = write
  const settled = await sql`
    update idempotency_key set answer = ${answer}
    where app_id = ${owner} and operation = ${operation} and key = ${key} and body_hash = ${bodyHash}
      and answer = ${begun}`
  return settled.count === 1 ? undefined : findKept(sql, write)
}

export const oldIdempotencyKeys: Pruned = {
  table: 'idempotency_key',
  key: 'app_id, operation, key',
  isOld: "created_at < now() - interval '24 hours'",
}

/**
 * SQL for a routine with `p_now`: the response kept for the key of row `i`, in application `v_app`. It looks up one
 * whole key: for a list of keys, a planner without statistics reads all keys of the application.
 */
export const keptAnswer = (operation: string) => `
    select key, body_hash, answer, created_at from idempotency_key
    where app_id = v_app and operation = '${operation}' and key = i.key
      -- Not as a range of created_at: a plan that came by that index would read every key of a day.
      and created_at + interval '24 hours' > p_now
    limit 1`

/** SQL for a routine: collects in `v_kept` the keys that have a response, each after its application's id. */
export const findKeptKeysSql = (operation: string, owners: string) => `foreach v_app in array p_apps loop
      v_kept := v_kept || array(
        select v_app || ' ' || i.key from unnest(${owners}, p_keys) as i (app_id, key)
        cross join lateral (${keptAnswer(operation)}) as kept where i.app_id = v_app);
    end loop;`

export const keptKey = `i.app_id || ' ' || i.key`
