import type { Row } from 'postgres'
import type { Sql, Statements } from '../database/open.ts'
import { type PageQuery, readPage } from '../database/page.ts'
import type { Role } from '../http/operation.ts'
import type { ShowMoment } from '../moments.ts'
import { keyRole, membershipsOf } from '../operators/store.ts'
import { Refusal } from '../refusals.ts'
import type { SessionRecord } from './contract.ts'

/** How long a session lasts while nobody uses it, and at most. */
const idleSessionHours = 12
export const longestSessionDays = 14

/** How long a browser is known that nobody has signed in from, and how many of an account are. */
export const browserDays = 180
const mostBrowsers = 20

/** Of the marks that a browser shows, the one by which the account knows it. */
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

/** Marks a browser that an account signs in from anew; those that it showed before are worth nothing any more. */
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
        order by seen_at desc offset ${mostBrowsers - 1}))`
  await tx`
    insert into operator_browser (token_hash, operator_id, seen_at) values (${tokenHash}, ${operatorId}, now())`
}

/** Whoever resets an account does not know which of its browsers are in the right hands. */
export async function forgetBrowsers(tx: Statements, operatorId: number): Promise<void> {
  await tx`delete from operator_browser where operator_id = ${operatorId}`
}

/** Who a session is for: exactly one of the three. */
export interface SessionHolder {
  operatorId: number | null
  operatorKeyId: number | null
  settingKeyHash: string | null
}

export async function insertSession(
  tx: Statements,
  holder: SessionHolder,
  tokenHash: string,
  userAgent: string | null,
  address: string,
): Promise<void> {
  await tx`
    insert into operator_session (token_hash, operator_id, operator_key_id, setting_key_hash, user_agent, address,
      created_at, seen_at, expires_at)
    values (${tokenHash}, ${holder.operatorId}, ${holder.operatorKeyId}, ${holder.settingKeyHash}, ${userAgent}, ${address},
      now(), now(), now() + ${idleSessionHours} * interval '1 hour')`
  if (holder.operatorId !== null) {
    await tx`update operator set signed_in_at = now() where id = ${holder.operatorId}`
  }
}

/** Who acts by a session or a key. */
export interface Acting {
  kind: 'operator' | 'operatorKey'
  name: string
  role: Role
  operatorId: number | null
  operatorKeyId: number | null
  sessionId: number | null
  /** Of a developer; null for everyone else, who may act for every application. */
  appIds: string[] | null
}

// An account's own, or a key's with the account that owns it: `o` is both.
const acting = `
  coalesce(k.name, o.name) as name, case when k.id is null then o.role else ${keyRole} end as role,
  case when k.id is null and o.role = 'developer' then ${membershipsOf('o.id')} end as app_ids`

const livingSessions = `
  operator_session s left join operator_key k on k.id = s.operator_key_id
    left join operator o on o.id = coalesce(s.operator_id, k.operator_id)
  where s.expires_at > now()
    and (s.operator_id is null or (o.status = 1 and o.password_hash is not null))
    and (k.id is null or ${keyRole} is not null)`

function toActing(row: Row): Acting {
  return {
    kind: row.operator_id === null ? 'operatorKey' : 'operator',
    name: row.name ?? settingKeyName,
    role: row.role ?? 'admin',
    operatorId: row.operator_id,
    operatorKeyId: row.operator_key_id,
    sessionId: row.session_id,
    appIds: row.app_ids,
  }
}

/** What the event log calls the key that the service is started with. */
const settingKeyName = 'operator'

/** Who a session is of, while it lasts; `settingKeyHash` is of the key that the service runs with now. */
export async function findSession(
  sql: Statements,
  tokenHash: string,
  settingKeyHash: string | null,
): Promise<Acting | undefined> {
  const [row] = await sql`
    select s.id as session_id, s.operator_id, s.operator_key_id, ${sql.unsafe(acting)}
    from ${sql.unsafe(livingSessions)} and s.token_hash = ${tokenHash}
      and (s.setting_key_hash is null or s.setting_key_hash = ${settingKeyHash})`
  return row === undefined ? undefined : toActing(row)
}

/** Puts off a session's end, but not beyond its longest time. */
export async function renewSession(sql: Statements, tokenHash: string): Promise<void> {
  await sql`
    update operator_session set seen_at = now(),
      expires_at = least(now() + ${idleSessionHours} * interval '1 hour',
        created_at + ${longestSessionDays} * interval '1 day')
    where token_hash = ${tokenHash} and seen_at < now() - interval '1 minute'`
}

/** Who a key is of, while it does anything. */
export async function findKey(sql: Statements, keyHash: string): Promise<Acting | undefined> {
  const [row] = await sql`
    select k.id, k.name, ${sql.unsafe(keyRole)} as role
    from operator_key k left join operator o on o.id = k.operator_id where k.key_hash = ${keyHash}`
  if (row === undefined || row.role === null) return undefined
  const { id: operatorKeyId, name, role } = row
  return { kind: 'operatorKey', name, role, operatorId: null, operatorKeyId, sessionId: null, appIds: null }
}

/** Notes that a key is used; to the minute, so that a busy one is not written at each request. */
export async function noteKeyUse(sql: Statements, keyHash: string): Promise<void> {
  await sql`
    update operator_key set used_at = now()
    where key_hash = ${keyHash} and (used_at is null or used_at < now() - interval '1 minute')`
}

/** Ends an operator's sessions, but for one that is to go on. */
export async function deleteSessionsOf(tx: Statements, operatorId: number, except: number | null): Promise<void> {
  await tx`delete from operator_session where operator_id = ${operatorId} and id is distinct from ${except}`
}

/** Ends one session; of one operator only, when that is given. Answers it, if there was one. */
export async function deleteSession(
  tx: Statements,
  id: number,
  ofOperator: number | null,
  showMoment: ShowMoment,
): Promise<SessionRecord | undefined> {
  const [row] = await tx`
    select ${tx.unsafe(sessionColumns)} from ${tx.unsafe(livingSessions)}
      and s.id = ${id} and (${ofOperator}::bigint is null or s.operator_id = ${ofOperator}) for update of s`
  await tx`
    delete from operator_session
    where id = ${id} and (${ofOperator}::bigint is null or operator_id = ${ofOperator})`
  return row && toSession(row, showMoment)
}

function toSession(row: Row, showMoment: ShowMoment): SessionRecord {
  const { name, role, operatorId, sessionId, appIds } = toActing(row)
  return {
    id: sessionId,
    operatorId,
    name,
    role,
    appIds,
    userAgent: row.user_agent,
    address: row.address,
    createTime: showMoment(row.created_at),
    seenTime: showMoment(row.seen_at),
    expireTime: showMoment(row.expires_at),
  }
}

const sessionColumns = `s.id, s.id as session_id, s.operator_id, s.operator_key_id, s.user_agent, s.address, s.created_at, s.seen_at, s.expires_at,
  ${acting}`

/** Throws 10053. */
export async function requireSession(sql: Statements, id: number, showMoment: ShowMoment): Promise<SessionRecord> {
  const [row] = await sql`
    select ${sql.unsafe(sessionColumns)} from ${sql.unsafe(livingSessions)} and s.id = ${id}`
  if (row === undefined) throw new Refusal('sessionNotFound')
  return toSession(row, showMoment)
}

/** Sessions that last, of one operator or of all. */
export function pageOfSessions(
  sql: Sql,
  filter: PageQuery & { operatorId: number | null; sessionId: number | null },
  showMoment: ShowMoment,
) {
  const { operatorId, sessionId } = filter
  const rows = sql`
    select ${sql.unsafe(sessionColumns)} from ${sql.unsafe(livingSessions)}
      and (${operatorId}::bigint is null or s.operator_id = ${operatorId})
      and (${sessionId}::bigint is null or s.id = ${sessionId})`
  const key = [{ column: 'id', type: 'bigint' as const }]
  return readPage(sql, { rows, key, newestFirst: true }, filter, (row) => toSession(row, showMoment))
}

/** Removes, at most `limit`, sessions that have ended, and browsers that nobody signs in from any more. */
export async function deleteEndedSessions(sql: Statements, limit: number): Promise<number> {
  const sessions = await sql`
    delete from operator_session where id in (select id from operator_session where expires_at < now() limit ${limit})`
  await sql`delete from operator_browser where seen_at < now() - ${browserDays} * interval '1 day'`
  return sessions.count
}
