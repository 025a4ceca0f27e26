import type { Row } from 'postgres'
import type { Sql, Statements } from '../database/open.ts'
import { textArray } from '../database/routine.ts'
import { Refusal } from '../vocabulary/refusals.ts'
import type { FactorLack, Role } from '../vocabulary/roles.ts'
import type { ApplicationCaller, Caller, OperatorCaller } from './caller.ts'
import type { Credential } from './credentials.ts'

/**
 * SQL: whether token `t` of application `a` works: it has not expired, and its secret is the current one or, during an
 * overlap, the previous one.
 */
export const isLivingAt = (now: string) => `t.expires_at > ${now} and (t.generation = a.token_generation
    or t.generation = a.token_generation - 1 and a.previous_secret_until > ${now})`

const isLiving = isLivingAt('clock_timestamp()')

/** A routine receives its batch's callers by these; `callerValues` returns the values. */
export const callerParameters = { p_callers: 'integer', p_caller_apps: 'text[]', p_caller_tokens: 'text[]' }

/**
 * Returns what stands for an operator in place of a token: session or key, and role. Token hashes hold no space.
 * Undefined for the settings' key, which lasts.
 */
function standingOf({ sessionId, operatorKeyId, role }: OperatorCaller): string | undefined {
  if (sessionId !== null) return `session ${sessionId} ${role}`
  return operatorKeyId === null ? undefined : `key ${operatorKeyId} ${role}`
}

/**
 * Returns a batch's callers for `callerParameters`, each token once. An operator counts for every application it may
 * act for: if it loses access, other writes are only retried.
 */
export function callerValues(callers: Iterable<Caller>, apps: Iterable<string>): [number, string, string] {
  const appIds: string[] = []
  const tokens: string[] = []
  const seen = new Set<string>()
  for (const caller of callers) {
    const token = caller.kind === 'application' ? caller.tokenHash : standingOf(caller)
    if (token === undefined || seen.has(token)) continue
    seen.add(token)
    const own = caller.kind === 'application' ? [caller.appId] : apps
    for (const appId of own) {
      if (caller.kind === 'operator' && caller.applications?.has(appId) === false) continue
      appIds.push(appId)
      tokens.push(token)
    }
  }
  return [tokens.length, textArray(appIds), textArray(tokens)]
}

/** Looks up each token by its key; a join could begin with the applications. */
const isOfLiving = `exists (
          select 1 from application a where a.app_id = t.app_id and a.status = 1 and ${isLiving})`

/** SQL: applications that have lost access since they were admitted. */
const revokedOf = (apps: string, tokens: string) => `array(
      select c.app_id from unnest(${apps}, ${tokens}) as c (app_id, token_hash)
      where c.token_hash not like '% %' and not exists (
        select 1 from access_token t where t.token_hash = c.token_hash and ${isOfLiving}))`

/** SQL: whether an operator of `c` still has its role; a developer, for the application. */
const actsBy = (role: string) => `${role} = split_part(c.token_hash, ' ', 3) and (${role} <> 'developer'
            or exists (select 1 from operator_application a where a.operator_id = o.id and a.app_id = c.app_id))`

const standingId = `nullif(split_part(c.token_hash, ' ', 2), '')::bigint`

/**
 * SQL: applications of which an operator has lost access. A statement of its own, because on a cluster its tables are
 * local and those of tokens are not.
 */
const endedOf = (apps: string, tokens: string) => `array(
      select c.app_id from unnest(${apps}, ${tokens}) as c (app_id, token_hash)
      where case
        when c.token_hash like 'session %' then not exists (
          select 1 from ${livingSessions} and s.id = ${standingId}
            and ${actsBy(`coalesce(case when k.id is null then o.role else ${keyRole} end, 'admin')`)})
        when c.token_hash like 'key %' then not exists (
          select 1 from operator_key k left join operator o on o.id = k.operator_id
          where k.id = ${standingId} and ${actsBy(keyRole)})
        else false end)`

/**
 * For a routine with the applications' locks: puts those whose caller lost access into `v_revoked`. A cheaper query
 * comes first, because nearly all still have access.
 */
export const findRevokedSql = () => `if p_callers > 0 and (
      select count(*) from unnest(p_caller_tokens) as c (token_hash) cross join lateral (
        select 1 from access_token t where t.token_hash = c.token_hash and ${isOfLiving} limit 1) as living) < p_callers then
      v_revoked := ${revokedOf('p_caller_apps', 'p_caller_tokens')};
      if array_to_string(p_caller_tokens, '') like '% %' then
        v_revoked := v_revoked || ${endedOf('p_caller_apps', 'p_caller_tokens')};
      end if;
    end if;`

/** Returns the applications of which a caller has lost access. */
export async function findRevokedApplications(
  sql: Statements,
  callers: readonly Caller[],
  appIds: Iterable<string>,
): Promise<Set<string>> {
  const [count, apps, tokens] = callerValues(callers, appIds)
  if (count === 0) return new Set()
  const find = (array: (apps: string, tokens: string) => string) =>
    sql.unsafe(`select unnest(${array('$1::text[]', '$2::text[]')}) as app_id`, [apps, tokens], { prepare: true })
  const isAmong = (kind: Caller['kind']) => callers.some((caller) => caller.kind === kind)
  const [revoked, ended] = await Promise.all([
    isAmong('application') ? find(revokedOf) : [],
    isAmong('operator') ? find(endedOf) : [],
  ])
  return new Set([...revoked, ...ended].map((row) => row.app_id))
}

export async function applicationExists(sql: Statements, appId: string): Promise<boolean> {
  const [known] = await sql`select 1 from application where app_id = ${appId}`
  return known !== undefined
}

/** Checks that the application exists. Throws 10004. */
export async function requireApplicationExists(sql: Statements, appId: string): Promise<void> {
  if (!(await applicationExists(sql, appId))) throw new Refusal('applicationNotFound')
}

export interface KnownCaller<Kind extends Caller = Caller> {
  caller: Kind
  isFrozen: boolean
  /** It counts by the database's clock. */
  remainingMs: number
  /** Whether the stored last use is old enough to be stored again. */
  isUseOld: boolean
}

export interface SessionRules {
  /** Ends sessions by the settings' key when another key is set. */
  settingKeyHash: string | null
  factorRoles: readonly Role[]
  /** Whether single sign-on also needs our second factor. */
  asksFactorAfterSignOn: boolean
  confirmSeconds: number
}

export async function findCallers(
  sql: Sql,
  credentials: readonly Credential[],
  rules: SessionRules,
): Promise<(KnownCaller | undefined)[]> {
  const hashesOf = (kind: Credential['kind']) =>
    credentials.filter((credential) => credential.kind === kind).map(({ hash }) => hash)
  const [token, key, session] = await Promise.all([
    findTokens(sql, hashesOf('token')),
    findKeys(sql, hashesOf('key')),
    findSessions(sql, hashesOf('session'), rules),
  ])
  const known = { token, key, session }
  return credentials.map(({ kind, hash }) => known[kind].get(hash))
}

type Known<Kind extends Caller> = Map<string, KnownCaller<Kind>>

const remainingMs = (end: string) => `(extract(epoch from ${end} - clock_timestamp()) * 1000)::double precision`
const tokenEnd = `case when t.generation = a.token_generation then t.expires_at
  else least(t.expires_at, a.previous_secret_until) end`

async function findTokens(sql: Statements, hashes: readonly string[]): Promise<Known<ApplicationCaller>> {
  if (hashes.length === 0) return new Map()
  const rows = await sql.unsafe(
    `select t.token_hash as hash, t.app_id, a.status, a.rate_limit_per_second,
      ${remainingMs(tokenEnd)} as remaining_ms
    from unnest($1::text[]) as c (token_hash)
    cross join lateral (select * from access_token where token_hash = c.token_hash limit 1) as t
    cross join lateral (select * from application where app_id = t.app_id limit 1) as a
    where ${isLiving}`,
    [textArray(hashes)],
    { prepare: true },
  )
  return new Map(rows.map((row) => [row.hash, toApplication(row)]))
}

function toApplication(row: Row): KnownCaller<ApplicationCaller> {
  const { app_id: appId, hash: tokenHash, rate_limit_per_second: rateLimitPerSecond, remaining_ms: remainingMs } = row
  const actor = `application:${appId}`
  const caller: ApplicationCaller = { kind: 'application', appId, tokenHash, rateLimitPerSecond, actor }
  return { caller, isFrozen: row.status === 2, remainingMs, isUseOld: false }
}

// Stored at most once a minute, so that a busy caller doesn't write at each request.
const isOld = (seenAt: string) => `coalesce(${seenAt} < now() - interval '1 minute', true)`

function toOperators(rows: readonly Row[], rules?: SessionRules): Known<OperatorCaller> {
  return new Map(
    rows.map((row) => [
      row.hash,
      { caller: operatorOf(row, rules), isFrozen: false, remainingMs: row.remaining_ms, isUseOld: row.is_use_old },
    ]),
  )
}

/** The settings' key has this name in the log. */
const settingKeyName = 'operator'

export function operatorOf(row: Row, rules?: SessionRules): OperatorCaller {
  return {
    kind: 'operator',
    source: row.operator_id === null ? 'operatorKey' : 'operator',
    name: row.name ?? settingKeyName,
    role: row.role ?? 'admin',
    operatorId: row.operator_id,
    operatorKeyId: row.operator_key_id,
    sessionId: row.session_id,
    applications: row.app_ids === null ? null : new Set(row.app_ids),
    lacks: rules === undefined ? null : lackOf(row, rules),
    provenUntil: rules === undefined ? null : performance.now() + rules.confirmSeconds * 1000 - row.proof_age_ms,
  }
}

/** Returns how a session started; sessions of the previous version have no stored method. */
export function methodOf({ method, operator_id }: Row): string {
  return method ?? (operator_id === null ? 'operatorKey' : 'password')
}

/** Returns what a session lacks of its second factor (contract §12.3). A passkey is two factors in one. */
function lackOf(row: Row, { factorRoles, asksFactorAfterSignOn }: SessionRules): FactorLack | null {
  if (row.is_of_setting_key) return null
  const isAsked = factorRoles.includes(row.role)
  switch (methodOf(row)) {
    case 'operatorKey':
      return isAsked ? 'show' : null
    case 'password':
      if (!isAsked || row.has_shown_factor) return null
      // `show`: another session added the factor after this one had started.
      return row.has_factor ? 'show' : 'setUp'
    case 'signOn':
      if (!asksFactorAfterSignOn) return null
      return row.has_factor ? 'show' : 'setUp'
    default:
      return null
  }
}

/** Without a single sign-on by their owner, keys stop working after this many days. */
const restingDays = 30

/**
 * SQL: a key's role, at most that of its owner `o`. Null for a key without effect: expired; owner disabled or a
 * developer; owner by single sign-on who has left or has not signed in for a while.
 */
export const keyRole = `
  case when k.expires_at <= now() or o.status = 2 or o.role = 'developer' then null
    when o.source = 2 and (o.has_left or coalesce(o.signed_in_at, o.created_at) < now() - interval '${restingDays} days')
      then null
    when 'viewer' in (k.role, o.role) then 'viewer'
    when 'operator' in (k.role, o.role) then 'operator' else k.role end`

/** SQL: a developer's applications, as JSON, because the driver reads no arrays. */
export function membershipsOf(operatorId: string): string {
  return `coalesce((select json_agg(app_id order by app_id) from operator_application a
    where a.operator_id = ${operatorId}), '[]')`
}

/** SQL: whether an account has a second factor. Recovery codes alone are none. */
export const hasFactorSql = (operatorId: string) => `(exists (
    select 1 from operator_totp where operator_id = ${operatorId})
  or exists (select 1 from operator_passkey where operator_id = ${operatorId}))`

/** SQL: whether an account is linked to an identity provider. */
export const isLinkedSql = (operatorId: string) =>
  `exists (select 1 from operator_identity where operator_id = ${operatorId})`

/** SQL: the last identity confirmation. Sessions of the previous version store none, and started with one. */
const provenAtSql = 'coalesce(s.confirmed_at, s.created_at)'

/** SQL: who acts in a session of `livingSessions`: account `o`, or a key whose owner is `o`. */
export const actingColumns = `s.id as session_id, s.operator_id, s.operator_key_id,
  coalesce(k.name, o.name) as name, case when k.id is null then o.role else ${keyRole} end as role,
  case when k.id is null and o.role = 'developer' then ${membershipsOf('o.id')} end as app_ids,
  s.method, s.has_shown_factor, s.setting_key_hash is not null as is_of_setting_key, ${provenAtSql} as proven_at,
  (extract(epoch from clock_timestamp() - ${provenAtSql}) * 1000)::double precision as proof_age_ms,
  case when s.operator_id is not null then ${hasFactorSql('s.operator_id')} else false end as has_factor`

/** SQL: the sessions that have not ended; conditions follow. */
export const livingSessions = `
  operator_session s left join operator_key k on k.id = s.operator_key_id
    left join operator o on o.id = coalesce(s.operator_id, k.operator_id)
  where s.expires_at - now() > interval '0' -- not as a range, whose index holds the sessions of everybody
    and (s.operator_id is null
      or (o.status = 1 and not o.has_left and (o.password_hash is not null or ${isLinkedSql('o.id')})))
    and (k.id is null or ${keyRole} is not null)`

/** Returns the accounts of sessions that have not ended. */
export async function findSessions(
  sql: Statements,
  hashes: readonly string[],
  rules: SessionRules,
): Promise<Known<OperatorCaller>> {
  if (hashes.length === 0) return new Map()
  const rows = await sql.unsafe(
    `select s.token_hash as hash, ${actingColumns}, ${isOld('s.seen_at')} as is_use_old,
      ${remainingMs('least(s.expires_at, k.expires_at)')} as remaining_ms
    from ${livingSessions} and s.token_hash = any($1::text[])
      and (s.setting_key_hash is null or s.setting_key_hash = $2)`,
    [textArray(hashes), rules.settingKeyHash],
    { prepare: true },
  )
  return toOperators(rows, rules)
}

const keysSql = `select k.key_hash as hash, null::bigint as session_id, null::bigint as operator_id, k.id as operator_key_id,
    k.name, ${keyRole} as role, null as app_ids, ${isOld('k.used_at')} as is_use_old,
    ${remainingMs('k.expires_at')} as remaining_ms
  from operator_key k left join operator o on o.id = k.operator_id
  where ${keyRole} is not null`

export async function findKeys(sql: Statements, hashes: readonly string[]): Promise<Known<OperatorCaller>> {
  if (hashes.length === 0) return new Map()
  const rows = await sql.unsafe(`${keysSql} and k.key_hash = any($1::text[])`, [textArray(hashes)], { prepare: true })
  return toOperators(rows)
}

/**
 * Returns the operator with its current rights; undefined if session or key has ended. `holds` keeps the session until
 * the transaction ends.
 */
export async function findStanding(
  tx: Statements,
  caller: OperatorCaller,
  rules: SessionRules,
  holds: boolean,
): Promise<OperatorCaller | undefined> {
  const { sessionId, operatorKeyId } = caller
  if (sessionId !== null) {
    const [row] = await tx.unsafe(
      `select ${actingColumns} from ${livingSessions} and s.id = $1 ${holds ? 'for no key update of s' : ''}`,
      [sessionId],
      { prepare: true }, // its planning takes longer than all the rest of an ordinary write
    )
    return row && operatorOf(row, rules)
  }
  if (operatorKeyId === null) return caller
  const [row] = await tx.unsafe(`${keysSql} and k.id = $1`, [operatorKeyId], { prepare: true })
  return row && operatorOf(row)
}

/** Returns the current rights of an account or key; undefined if gone, disabled or expired. */
export async function findOperatorAccess(
  sql: Statements,
  operatorId: number | null,
  operatorKeyId: number | null,
): Promise<Pick<OperatorCaller, 'role' | 'applications'> | undefined> {
  if (operatorId === null && operatorKeyId === null) return { role: 'admin', applications: null }
  const [row] =
    operatorKeyId === null
      ? await sql`
          select o.role, case when o.role = 'developer' then ${sql.unsafe(membershipsOf('o.id'))} end as app_ids
          from operator o where o.id = ${operatorId} and o.status = 1 and not o.has_left`
      : await sql`
          select ${sql.unsafe(keyRole)} as role, null as app_ids
          from operator_key k left join operator o on o.id = k.operator_id
          where k.id = ${operatorKeyId} and ${sql.unsafe(keyRole)} is not null`
  return row && { role: row.role, applications: row.app_ids === null ? null : new Set<string>(row.app_ids) }
}

/** A session lasts this long without use, and at most. */
export const idleSessionHours = 12
export const longestSessionDays = 14

/** Stores that a key or session is in use, and extends the session up to its longest lifetime. */
export async function noteUse(sql: Statements, { kind, hash }: Credential): Promise<void> {
  if (kind === 'key') await sql`update operator_key set used_at = now() where key_hash = ${hash}`
  else {
    await sql`
      update operator_session set seen_at = now(),
        expires_at = least(now() + ${idleSessionHours} * interval '1 hour',
          coalesce(ends_at, created_at + ${longestSessionDays} * interval '1 day'))
      where token_hash = ${hash}`
  }
}
