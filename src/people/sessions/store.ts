import type { Row } from 'postgres'
import {
  actingColumns,
  hasFactorSql,
  idleSessionHours,
  isLinkedSql,
  livingSessions,
  methodOf,
  operatorOf,
  type SessionRules,
} from '../../callers/store.ts'
import type { Sql, Statements } from '../../database/open.ts'
import { byId, type PageQuery, readPage } from '../../database/page.ts'
import type { Pruned } from '../../database/prune.ts'
import { limits } from '../../vocabulary/limits.ts'
import { showMoment } from '../../vocabulary/moments.ts'
import { Refusal, tokenInvalid } from '../../vocabulary/refusals.ts'
import type { Role } from '../../vocabulary/roles.ts'
import { type OwnSession, pageSessions, type SessionRecord, type SignInMethod } from './contract.ts'

/** By the expression of the unique index, which folds case and look-alike variants of characters. */
export function sameName(sql: Statements, name: string) {
  return sql`lower(normalize(name, NFKC)) = lower(normalize(${name}, NFKC))`
}

export interface Account {
  id: number
  name: string
  role: Role
  /** Null if the account cannot sign in with a password. */
  passwordHash: string | null
  hasFactor: boolean
}

const accountColumnsSql = `id, name, role, case when status = 1 then password_hash end as password_hash,
  ${hasFactorSql('operator.id')} as has_factor`

function toAccount(row: Row): Account {
  const { id, name, role, password_hash: passwordHash, has_factor: hasFactor } = row
  return { id, name, role, passwordHash, hasFactor }
}

export async function findAccount(sql: Statements, name: string): Promise<Account | undefined> {
  const [row] = await sql`
    select ${sql.unsafe(accountColumnsSql)} from operator where ${sameName(sql, name)}`
  return row && toAccount(row)
}

export async function requireAccount(sql: Statements, id: number): Promise<Account> {
  const [row] = await sql`select ${sql.unsafe(accountColumnsSql)} from operator where id = ${id}`
  if (row === undefined) throw new Refusal('operatorNotFound')
  return toAccount(row)
}

export async function isUnchanged(
  tx: Statements,
  { id, passwordHash, hasFactor }: Pick<Account, 'id' | 'passwordHash' | 'hasFactor'>,
): Promise<boolean> {
  const now = await requireAccount(tx, id)
  return now.passwordHash === passwordHash && now.hasFactor === hasFactor
}

/** How long a browser stays known after the last sign-in from it. */
export const browserDays = 180

export async function findBrowser(
  sql: Statements,
  operatorId: number,
  tokenHashes: readonly string[],
): Promise<string | null> {
  const [row] = await sql`
    select token_hash from operator_browser
    where token_hash in (select json_array_elements_text(${JSON.stringify(tokenHashes)}::text::json))
      and operator_id = ${operatorId}
      and seen_at > now() - ${browserDays} * interval '1 day'`
  return row?.token_hash ?? null
}

export async function keepBrowser(
  tx: Statements,
  operatorId: number,
  tokenHash: string,
  formerHashes: readonly string[],
): Promise<void> {
  await tx`
    delete from operator_browser where operator_id = ${operatorId} and (
      token_hash in (select json_array_elements_text(${JSON.stringify(formerHashes)}::text::json))
      or token_hash in (
        select token_hash from operator_browser where operator_id = ${operatorId}
        order by seen_at desc offset ${limits.browsersOfOne - 1}))`
  await tx`
    insert into operator_browser (token_hash, operator_id, seen_at) values (${tokenHash}, ${operatorId}, now())`
}

/** At a reset, any of them may be in the wrong hands. */
export async function forgetBrowsers(tx: Statements, operatorId: number): Promise<void> {
  await tx`delete from operator_browser where operator_id = ${operatorId}`
}

/** Exactly one member is set. */
export interface SessionHolder {
  operatorId: number | null
  operatorKeyId: number | null
  settingKeyHash: string | null
}

export interface NewSession extends SessionHolder {
  method: SignInMethod
  tokenHash: string
  userAgent: string | null
  address: string
  /** For single sign-on. `hours`: the longest that the session lasts; `idToken` is sealed. */
  signOn?: { hours: number; providerSession: string | null; idToken: string | null }
}

/** Locks the account's row until the transaction ends. */
export async function insertSession(tx: Statements, session: NewSession): Promise<void> {
  const { tokenHash, userAgent, address, method, signOn, ...holder } = session
  const hours = Math.min(idleSessionHours, signOn?.hours ?? idleSessionHours)
  await tx`
    insert into operator_session (token_hash, operator_id, operator_key_id, setting_key_hash, user_agent, address, method,
      created_at, seen_at, confirmed_at, expires_at, ends_at, provider_session, id_token)
    values (${tokenHash}, ${holder.operatorId}, ${holder.operatorKeyId}, ${holder.settingKeyHash}, ${userAgent}, ${address},
      ${method}, now(), now(), now(), now() + ${hours} * interval '1 hour',
      now() + ${signOn?.hours ?? null}::double precision * interval '1 hour', ${signOn?.providerSession ?? null},
      ${signOn?.idToken ?? null})`
  if (holder.operatorId !== null) {
    await tx`update operator set signed_in_at = now() where id = ${holder.operatorId}`
  }
}

/** `insertSession` has locked the account's row, so concurrent sign-ins count each other's sessions. */
export async function sessionsReplacedBy(
  tx: Statements,
  sessionId: number,
  { operatorId }: SessionHolder,
  formerHash: string | null,
): Promise<number[]> {
  const rows = await tx`
    select id from operator_session where token_hash = ${formerHash} and id <> ${sessionId}
    union
    select id from (
      select id from operator_session where operator_id = ${operatorId} and token_hash is distinct from ${formerHash}
      order by id desc offset ${limits.sessionsOfOne}) as oldest`
  return rows.map(({ id }) => id)
}

export async function deleteSessionsOf(tx: Statements, operatorId: number, except: number | null): Promise<void> {
  await tx`
    delete from operator_session where id in (
      select id from operator_session where operator_id = ${operatorId} and id is distinct from ${except}
      order by id for update)`
}

export async function noteProof(tx: Statements, id: number): Promise<void> {
  await tx`
    update operator_session set confirmed_at = clock_timestamp(), provider_proven_at = null where id = ${id}`
}

/** A second factor must still complete this proof. */
export async function noteProviderProof(tx: Statements, id: number): Promise<void> {
  await tx`update operator_session set provider_proven_at = clock_timestamp() where id = ${id}`
}

export async function hasProviderProof(sql: Statements, id: number): Promise<boolean> {
  const [row] = await sql`
    select 1 from operator_session
    where id = ${id} and provider_proven_at > clock_timestamp() - ${limits.signOnSeconds} * interval '1 second'`
  return row !== undefined
}

export async function noteShown(tx: Statements, id: number, factor: 'code' | 'passkey'): Promise<void> {
  await tx`
    update operator_session set has_shown_factor = true,
      method = case when method = 'signOn' then 'signOn+' || ${factor} else method end
    where id = ${id}`
}

export async function isSessionOfKey(sql: Statements, id: number, keyHash: string): Promise<boolean> {
  const [row] = await sql`
    select 1 from operator_session s left join operator_key k on k.id = s.operator_key_id
    where s.id = ${id} and (s.setting_key_hash = ${keyHash} or k.key_hash = ${keyHash})`
  return row !== undefined
}

/** Sealed; undefined for a session without single sign-on. */
export async function findIdToken(sql: Statements, id: number): Promise<string | null | undefined> {
  const [row] = await sql`select id_token from operator_session where id = ${id} and method like 'signOn%'`
  return row?.id_token
}

export async function sessionsOfAccount(sql: Statements, operatorId: number): Promise<number[]> {
  const rows = await sql`select id from operator_session where operator_id = ${operatorId}`
  return rows.map(({ id }) => id)
}

/** By ID, the order in which every transaction locks them. Returns the sessions that existed. */
export async function deleteSessions(
  tx: Statements,
  ids: readonly number[],
  shown: SessionView,
): Promise<SessionRecord[]> {
  const ended: SessionRecord[] = []
  for (const id of ids.toSorted((one, other) => one - other)) {
    const session = await deleteSession(tx, id, null, shown)
    if (session !== undefined) ended.push(session)
  }
  return ended
}

export async function deleteSession(
  tx: Statements,
  id: number,
  ofOperator: number | null,
  shown: SessionView,
): Promise<SessionRecord | undefined> {
  const [row] = await tx`
    select ${tx.unsafe(sessionColumnsSql)} from ${tx.unsafe(livingSessions)}
      and s.id = ${id} and (${ofOperator}::bigint is null or s.operator_id = ${ofOperator}) for update of s`
  await tx`
    delete from operator_session
    where id = ${id} and (${ofOperator}::bigint is null or operator_id = ${ofOperator})`
  return row && toSession(row, shown)
}

export interface SessionView {
  rules: SessionRules
}

function toSession(row: Row, { rules }: SessionView): SessionRecord {
  const { name, role, operatorId, applications, lacks } = operatorOf(row, rules)
  return {
    id: row.session_id,
    operatorId,
    name,
    role,
    appIds: applications && [...applications],
    userAgent: row.user_agent,
    address: row.address,
    createTime: showMoment(row.created_at),
    seenTime: showMoment(row.seen_at),
    expireTime: showMoment(row.expires_at),
    method: methodOf(row),
    isLimited: lacks !== null,
    confirmedUntil: showMoment(new Date(row.proven_at.getTime() + rules.confirmSeconds * 1000)),
  }
}

const sessionColumnsSql = `s.id, s.user_agent, s.address, s.created_at, s.seen_at, s.expires_at, ${actingColumns}`

/** Throws 10002: the session may have ended while this process still remembers it. */
export async function requireSession(sql: Statements, id: number, shown: SessionView): Promise<SessionRecord> {
  const [row] = await sql`
    select ${sql.unsafe(sessionColumnsSql)} from ${sql.unsafe(livingSessions)} and s.id = ${id}`
  if (row === undefined) throw tokenInvalid()
  return toSession(row, shown)
}

export async function requireOwnSession(sql: Statements, id: number, shown: SessionView): Promise<OwnSession> {
  const [row] = await sql`
    select ${sql.unsafe(sessionColumnsSql)}, case when s.operator_id is not null then o.source end as source,
      ${sql.unsafe(isLinkedSql('s.operator_id'))} as is_linked,
      s.operator_id is not null and o.password_hash is not null as has_password
    from ${sql.unsafe(livingSessions)} and s.id = ${id}`
  if (row === undefined) throw tokenInvalid()
  const { source, is_linked: isLinked, has_password: hasPassword } = row
  return { ...toSession(row, shown), source, isLinked, hasPassword }
}

export function pageOfSessions(
  sql: Sql,
  filter: PageQuery & { operatorId: number | null; sessionId: number | null },
  shown: SessionView,
) {
  const { operatorId, sessionId } = filter
  const rows = sql`
    select ${sql.unsafe(sessionColumnsSql)} from ${sql.unsafe(livingSessions)}
      and (${operatorId}::bigint is null or s.operator_id = ${operatorId})
      and (${sessionId}::bigint is null or s.id = ${sessionId})`
  return readPage(sql, { operation: pageSessions.id, rows, key: byId, newestFirst: true }, filter, (row) =>
    toSession(row, shown),
  )
}

export const endedSessions: Pruned = {
  table: 'operator_session',
  key: 'id',
  isOld: 'expires_at < now()',
  skipsLocked: true,
}

export const forgottenBrowsers: Pruned = {
  table: 'operator_browser',
  key: 'token_hash',
  isOld: `seen_at < now() - interval '${browserDays} days'`,
}
