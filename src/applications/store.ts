import type { Row } from 'postgres'
import { insertApplicationLock, lockApplication } from '../database/application-lock.ts'
import type { Sql, Statements } from '../database/open.ts'
import { ofApplications, type PageKey, type PageQuery, readPage, readSort, type SortQuery } from '../database/page.ts'
import { etagOf } from '../http/etag.ts'
import { showMoment } from '../vocabulary/moments.ts'
import { Refusal } from '../vocabulary/refusals.ts'
import { given } from '../vocabulary/values.ts'
import { type ApplicationRecord, type applicationSorts, pageApplications } from './contract.ts'

export interface Application extends Omit<ApplicationRecord, 'overlapUntil' | 'createTime'> {
  /** When the last rotation's overlap ends or ended; null without one. */
  previousSecretEnd: Date | null
  /** Whether it works, by the database's clock. */
  hasPreviousSecret: boolean
  createdAt: Date
}

type Stored = Omit<Application, 'hasPreviousSecret'>

const columnOf = {
  appId: 'app_id',
  appName: 'app_name',
  onlineStatus: 'online_status',
  status: 'status',
  frozenReason: 'frozen_reason',
  tokenLifetimeSeconds: 'token_lifetime_seconds',
  rateLimitPerSecond: 'rate_limit_per_second',
  previousSecretEnd: 'previous_secret_until',
  createdAt: 'created_at',
} as const satisfies Record<keyof Stored, string>
/** Not for `returning`, which on Citus takes no expression with the time. */
const columnsSql = `${Object.values(columnOf).join(', ')},
  coalesce(previous_secret_until > statement_timestamp(), false) as has_previous_secret`

function toApplication(row: Row): Application {
  const members = Object.entries({ ...columnOf, hasPreviousSecret: 'has_previous_secret' })
  return Object.fromEntries(members.map(([member, column]) => [member, row[column]])) as Application
}

export function showApplication(application: Application): ApplicationRecord {
  const { createdAt, previousSecretEnd, hasPreviousSecret, ...members } = application
  return {
    ...members,
    overlapUntil: hasPreviousSecret && previousSecretEnd !== null ? showMoment(previousSecretEnd) : null,
    createTime: showMoment(createdAt),
  }
}

/** Makes the entity tag. A rotation with an overlap changes it; the overlap's end doesn't. */
export function tagOf(application: Application): string {
  return etagOf({ ...showApplication(application), overlapUntil: application.previousSecretEnd })
}

/** Locks the application and returns its latest state. Throws 10004. */
export async function requireLockedApplication(tx: Statements, appId: string): Promise<Application> {
  // The second statement's snapshot is taken after the lock.
  await lockApplication(tx, appId)
  return requireApplication(tx, appId)
}

/** Returns the application. Throws 10004. */
export async function requireApplication(sql: Statements, appId: string): Promise<Application> {
  const [row] = await sql`select ${sql.unsafe(columnsSql)} from application where app_id = ${appId}`
  if (row === undefined) throw new Refusal('applicationNotFound')
  return toApplication(row)
}

export async function hasApplications(sql: Statements): Promise<boolean> {
  const [row] = await sql`select 1 from application limit 1`
  return row !== undefined
}

export interface NewApplication {
  appId: string
  appName: string
  secretHash: string
  tokenLifetimeSeconds: number
  rateLimitPerSecond: number | null
}

export async function insertApplication(tx: Statements, application: NewApplication): Promise<Application> {
  await tx`
    insert into application (app_id, app_name, secret_hash, token_lifetime_seconds, rate_limit_per_second,
      created_at)
    values (${application.appId}, ${application.appName}, ${application.secretHash},
      ${application.tokenLifetimeSeconds}, ${application.rateLimitPerSecond}, now())`
  await insertApplicationLock(tx, application.appId)
  return requireApplication(tx, application.appId)
}

export type ApplicationChange = Partial<Omit<Stored, 'appId' | 'previousSecretEnd' | 'createdAt'>>

/** Changes an application. Throws 10004. */
export async function updateApplication(
  tx: Statements,
  appId: string,
  change: ApplicationChange,
): Promise<Application> {
  const members = Object.keys(change) as (keyof ApplicationChange)[]
  const assignments = members.map((member, index) => `${columnOf[member]} = $${index + 2}`)
  if (members.length > 0) {
    await tx.unsafe(`update application set ${assignments.join(', ')} where app_id = $1`, [
      appId,
      ...members.map((member) => change[member] ?? null),
    ])
  }
  return requireApplication(tx, appId)
}

/**
 * Replaces the secret. The previous one and its tokens work for `overlapSeconds` more; older ones end now. Tokens carry
 * their secret's generation, so only one row changes.
 */
export async function replaceSecret(
  tx: Statements,
  appId: string,
  secretHash: string,
  overlapSeconds: number,
): Promise<Application> {
  await tx`
    update application set secret_hash = ${secretHash}, token_generation = token_generation + 1,
      previous_secret_hash = ${overlapSeconds > 0 ? tx`secret_hash` : null},
      previous_secret_until = ${overlapSeconds > 0 ? tx`statement_timestamp() + make_interval(secs => ${overlapSeconds})` : null}
    where app_id = ${appId}`
  return requireApplication(tx, appId)
}

/** Ends the previous secret and its tokens. */
export async function endPreviousSecret(tx: Statements, appId: string): Promise<Application> {
  await tx`update application set previous_secret_hash = null, previous_secret_until = null where app_id = ${appId}`
  return requireApplication(tx, appId)
}

export interface ApplicationFilter extends PageQuery, SortQuery<(typeof applicationSorts)[number]> {
  appIds: readonly string[] | null
  appName?: string | null
  onlineStatus?: number | null | ''
  status?: number | null | ''
}

const byAge: PageKey = [
  { column: 'created_at', type: 'timestamptz' },
  { column: 'app_id', type: 'text' },
]
const sortKeys: Record<(typeof applicationSorts)[number], PageKey> = {
  createTime: byAge,
  appId: [{ column: 'app_id', type: 'text' }],
  appName: [{ column: 'app_name', type: 'text', isByCode: true }, ...byAge],
  onlineStatus: [{ column: 'online_status', type: 'bigint' }, ...byAge],
  status: [{ column: 'status', type: 'bigint' }, ...byAge],
}

export function pageOfApplications(sql: Sql, filter: ApplicationFilter) {
  const appName = given(filter.appName)
  const onlineStatus = given(filter.onlineStatus)
  const status = given(filter.status)
  const { appIds } = filter
  const rows = sql`
    select ${sql.unsafe(columnsSql)} from application
    where ${ofApplications(sql, appIds)}
      and (${appName}::text is null or strpos(lower(app_name), lower(${appName})) > 0)
      and (${onlineStatus}::smallint is null or online_status = ${onlineStatus})
      and (${status}::smallint is null or status = ${status})`
  const sort = readSort(filter)
  const source = {
    operation: pageApplications.id,
    rows,
    key: sort === null ? byAge : sortKeys[sort.by],
    newestFirst: sort === null || sort.isDescending,
  }
  return readPage(sql, source, filter, (row) => showApplication(toApplication(row)))
}
