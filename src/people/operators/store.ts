import type { Row } from 'postgres'
import { hasFactorSql, isLinkedSql, keyRole, membershipsOf } from '../../callers/store.ts'
import { takeLock } from '../../database/advisory-lock.ts'
import type { Sql, Statements } from '../../database/open.ts'
import { byId, type PageQuery, readPage } from '../../database/page.ts'
import type { Pruned } from '../../database/prune.ts'
import { readActor } from '../../events/rules.ts'
import { showMoment } from '../../vocabulary/moments.ts'
import { invalidField, Refusal, tokenInvalid } from '../../vocabulary/refusals.ts'
import type { Role } from '../../vocabulary/roles.ts'
import { given } from '../../vocabulary/values.ts'
import { type Account, sameName } from '../sessions/store.ts'
import { type OperatorKeyRecord, type OperatorRecord, pageOperators } from './contract.ts'

const setUpHours = 24

const operatorColumnsSql = `id, name, role, status, created_at, signed_in_at, source,
  password_hash is not null or ${isLinkedSql('operator.id')} as is_set_up, ${isLinkedSql('operator.id')} as is_linked,
  ${hasFactorSql('operator.id')} as has_factor, ${membershipsOf('operator.id')} as app_ids`

function toOperator(row: Row): OperatorRecord {
  return {
    id: row.id,
    name: row.name,
    role: row.role,
    status: row.status,
    isSetUp: row.is_set_up,
    appIds: row.app_ids,
    createTime: showMoment(row.created_at),
    signInTime: row.signed_in_at === null ? null : showMoment(row.signed_in_at),
    source: row.source,
    isLinked: row.is_linked,
    hasSecondFactor: row.has_factor,
  }
}

/** Serializes changes of accounts: two of them must not each rely on the admin that the other one removes. */
export async function lockOperators(tx: Statements): Promise<void> {
  await takeLock(tx, 'operators')
}

export async function requireOperator(sql: Statements, id: number): Promise<OperatorRecord> {
  const [row] = await sql`select ${sql.unsafe(operatorColumnsSql)} from operator where id = ${id}`
  if (row === undefined) throw new Refusal('operatorNotFound')
  return toOperator(row)
}

export async function requireOtherAdmin(tx: Statements, id: number): Promise<void> {
  const [row] = await tx`
    select 1 from operator
    where role = 'admin' and status = 1 and source = 1 and password_hash is not null and id <> ${id} limit 1`
  if (row === undefined) throw new Refusal('lastAdmin')
}

export interface NewOperator {
  name: string
  role: Role
  passwordHash: string | null
}

export async function insertOperator(tx: Statements, operator: NewOperator): Promise<number> {
  const [row] = await tx`
    insert into operator (name, role, password_hash, created_at)
    values (${operator.name}, ${operator.role}, ${operator.passwordHash}, now())
    on conflict do nothing returning id`
  if (row === undefined) throw new Refusal('operatorNameTaken')
  return row.id
}

export interface OperatorChange {
  name?: string | undefined
  role?: Role | undefined
  status?: number | undefined
  passwordHash?: string | null
}

export async function updateOperator(tx: Statements, id: number, change: OperatorChange): Promise<void> {
  const { name, role, status, passwordHash } = change
  if (name !== undefined) {
    const [taken] = await tx`select 1 from operator where ${sameName(tx, name)} and id <> ${id}`
    if (taken !== undefined) throw new Refusal('operatorNameTaken')
  }
  await tx`
    update operator set
      name = coalesce(${name ?? null}, name), role = coalesce(${role ?? null}, role),
      status = coalesce(${status ?? null}::smallint, status),
      password_hash = case when ${passwordHash !== undefined} then ${passwordHash ?? null} else password_hash end
    where id = ${id}`
}

export async function replaceMemberships(tx: Statements, id: number, appIds: readonly string[]): Promise<void> {
  await tx`delete from operator_application where operator_id = ${id}`
  if (appIds.length === 0) return
  const distinct = [...new Set(appIds)]
  const inserted = await tx`
    insert into operator_application (operator_id, app_id)
    select ${id}, app_id from application where app_id in ${tx(distinct)}`
  if (inserted.count !== distinct.length) throw new Refusal('applicationNotFound')
}

export async function deleteOperator(tx: Statements, id: number): Promise<void> {
  await tx`delete from operator where id = ${id}`
}

export interface OperatorFilter extends PageQuery {
  name?: string | null
  role?: string | null
  status?: number | null | ''
  appId?: string | null
}

export function pageOfOperators(sql: Sql, filter: OperatorFilter) {
  const [name, role, status, appId] = [
    given(filter.name),
    given(filter.role),
    given(filter.status),
    given(filter.appId),
  ]
  const rows = sql`
    select ${sql.unsafe(operatorColumnsSql)} from operator
    where (${name}::text is null or strpos(lower(name), lower(${name})) > 0)
      and (${role}::text is null or role = ${role}) and (${status}::smallint is null or status = ${status})
      and (${appId}::text is null
        or id in (select operator_id from operator_application where app_id = ${appId}))`
  return readPage(sql, { operation: pageOperators.id, rows, key: byId, newestFirst: true }, filter, (row) =>
    toOperator(row),
  )
}

/** Whether any account has a password, so that somebody can sign in. */
export async function hasOperators(sql: Statements): Promise<boolean> {
  const [row] = await sql`select 1 from operator where password_hash is not null limit 1`
  return row !== undefined
}

/** The account of the first setup link; the person who uses the link may rename it. */
export async function ensureFirstOperator(tx: Statements): Promise<number> {
  const [known] = await tx`select id from operator where role = 'admin' order by id limit 1`
  return known?.id ?? (await insertOperator(tx, { name: 'admin', role: 'admin', passwordHash: null }))
}

/** Replaces the account's earlier setup link; returns when the new one expires. */
export async function insertSetUp(tx: Statements, operatorId: number, tokenHash: string): Promise<Date> {
  await deleteSetUps(tx, operatorId)
  const [row] = await tx`
    insert into operator_setup (token_hash, operator_id, expires_at)
    values (${tokenHash}, ${operatorId}, now() + ${setUpHours} * interval '1 hour') returning expires_at`
  return row?.expires_at
}

export async function deleteSetUps(tx: Statements, operatorId: number): Promise<void> {
  await tx`delete from operator_setup where operator_id = ${operatorId}`
}

/** Throws 10052 for an expired or unknown link and for a disabled account. */
export async function requireSetUp(sql: Statements, tokenHash: string): Promise<Pick<Account, 'id' | 'name'>> {
  const [row] = await sql`
    select o.id, o.name from operator_setup s join operator o on o.id = s.operator_id
    where s.token_hash = ${tokenHash} and s.expires_at > now() and o.status = 1`
  if (row === undefined) throw new Refusal('setUpLinkInvalid')
  return { id: row.id, name: row.name }
}

export const expiredSetUps: Pruned = { table: 'operator_setup', key: 'token_hash', isOld: 'expires_at < now()' }

const keyColumnsSql = `k.id, k.name, coalesce(${keyRole}, k.role) as role, ${keyRole} is not null as works, k.operator_id,
  o.name as operator_name, k.created_by, k.created_at, k.expires_at, k.used_at`
const keysSql = 'operator_key k left join operator o on o.id = k.operator_id'

function toKey(row: Row): OperatorKeyRecord {
  return {
    id: row.id,
    name: row.name,
    role: row.role,
    status: row.works ? 1 : 2,
    operatorId: row.operator_id,
    operatorName: row.operator_name,
    createdBy: readActor(row.created_by).actor,
    createTime: showMoment(row.created_at),
    expireTime: showMoment(row.expires_at),
    lastUseTime: row.used_at === null ? null : showMoment(row.used_at),
  }
}

export interface NewOperatorKey {
  name: string
  role: string
  keyHash: string
  /** The creator: an account, or a key, whose owner then owns the new key too. */
  operatorId: number | null
  operatorKeyId: number | null
  createdBy: string
  expiresAt: Date
}

/** Locks the creator's row, or its key could end up without an owner. Throws 10002 if the creator was deleted. */
async function ownerOfNew(tx: Statements, { operatorId, operatorKeyId }: NewOperatorKey): Promise<number | null> {
  if (operatorId === null && operatorKeyId === null) return null
  const [maker] =
    operatorKeyId === null
      ? await tx`select id as owner from operator where id = ${operatorId} for key share`
      : await tx`select operator_id as owner from operator_key where id = ${operatorKeyId} for key share`
  if (maker === undefined) throw tokenInvalid('invalid_token')
  return maker.owner
}

/** Throws 10002 if the creator was deleted, and 10051 for a name that is taken. */
export async function insertOperatorKey(tx: Statements, key: NewOperatorKey): Promise<OperatorKeyRecord> {
  const owner = await ownerOfNew(tx, key)
  const [row] = await tx`
    insert into operator_key (name, role, key_hash, operator_id, created_by, created_at, expires_at)
    values (${key.name}, ${key.role}, ${key.keyHash}, ${owner}, ${key.createdBy}, now(), ${key.expiresAt})
    on conflict do nothing returning id`
  if (row === undefined) throw new Refusal('operatorNameTaken')
  return requireKey(tx, row.id)
}

async function requireKey(tx: Statements, id: number): Promise<OperatorKeyRecord> {
  const [row] = await tx`select ${tx.unsafe(keyColumnsSql)} from ${tx.unsafe(keysSql)} where k.id = ${id}`
  if (row === undefined) throw new Refusal('operatorKeyNotFound')
  return toKey(row)
}

export async function deleteOperatorKey(tx: Statements, id: number): Promise<OperatorKeyRecord> {
  const key = await requireKey(tx, id)
  await tx`delete from operator_key where id = ${id}`
  return key
}

/** Throws 10055 and 10050. */
export async function replaceKeyOwner(
  tx: Statements,
  id: number,
  operatorId: number,
): Promise<{ before: OperatorKeyRecord; after: OperatorKeyRecord }> {
  const before = await requireKey(tx, id)
  // Locks the account's row until the transaction ends, or the key could be left without an owner.
  const [owner] = await tx`select 1 from operator where id = ${operatorId} for key share`
  if (owner === undefined) throw new Refusal('operatorNotFound')
  await tx`update operator_key set operator_id = ${operatorId} where id = ${id}`
  return { before, after: await requireKey(tx, id) }
}

/** Locks both accounts; returns the heir. Throws 10001 unless it is another, active account. */
export async function requireHeir(tx: Statements, id: number, heirId: number): Promise<Row> {
  const rows = await tx`
    select id, name, role, status from operator where id in ${tx([id, heirId])} order by id for no key update`
  const heir = rows.find((row) => row.id === heirId && row.id !== id && row.status === 1)
  if (heir !== undefined) return heir
  throw invalidField('handOverTo', 'must be the ID of another active account', '必须是另一个启用中账号的编号')
}

export async function keysOf(tx: Statements, operatorId: number): Promise<OperatorKeyRecord[]> {
  const rows = await tx`
    select ${tx.unsafe(keyColumnsSql)} from ${tx.unsafe(keysSql)} where k.operator_id = ${operatorId} order by k.id`
  return rows.map((row) => toKey(row))
}

export function pageOfOperatorKeys(
  sql: Sql,
  operation: string,
  filter: PageQuery & { operatorId?: number | null | '' },
) {
  const operatorId = given(filter.operatorId)
  const rows = sql`
    select ${sql.unsafe(keyColumnsSql)} from ${sql.unsafe(keysSql)}
    where (${operatorId}::bigint is null or k.operator_id = ${operatorId})`
  return readPage(sql, { operation, rows, key: byId, newestFirst: true }, filter, (row) => toKey(row))
}
