import { randomUUID } from 'node:crypto'
import type { Row } from 'postgres'
import type { Caller } from '../../callers/caller.ts'
import { takeLock } from '../../database/advisory-lock.ts'
import { lowestEventId } from '../../database/application-lock.ts'
import type { Sql, Statements } from '../../database/open.ts'
import { byId, type PageQuery, readPage } from '../../database/page.ts'
import { textArray } from '../../database/routine.ts'
import { transaction } from '../../database/transaction.ts'
import { readActor } from '../../events/rules.ts'
import { faultKind } from '../../vocabulary/faults.ts'
import { limits } from '../../vocabulary/limits.ts'
import { showMoment, type TimeRange } from '../../vocabulary/moments.ts'
import { Refusal, type RefusalName } from '../../vocabulary/refusals.ts'
import { jobStatus } from './contract.ts'
import type { JobFailure } from './failure/contract.ts'
import type { ToldFailure } from './failure/rules.ts'
import { countOutcomes, type KeptOutcome, packOutcomes } from './rules.ts'

// Imports and bulk actions share the table `import` and its ids. An application has one job at a time.

const days = 7
const dryRunDays = 1
/** A process without a renewal for this long counts as gone. It is longer than a statement may take. */
const leaseSeconds = 6

export interface JobFamily<Told> {
  isOneSql: string
  columnsSql: string
  page: string
  notFound: RefusalName
  toRecord(row: Row): Told
}

const sharedColumnsSql =
  'id, app_id, kind, is_dry_run, status, rows, refused, actor, created_at, finished_at, error, failure'
const columnsOf = <Told>({ columnsSql }: JobFamily<Told>) => `${sharedColumnsSql}, ${columnsSql}`

export const endOfRecord = (row: Row) => ({
  actor: readActor(row.actor).actor,
  createTime: showMoment(row.created_at),
  finishTime: row.finished_at === null ? null : showMoment(row.finished_at),
  error: row.error as string | null,
  failure: row.failure === null ? null : (JSON.parse(row.failure) as JobFailure),
})

/** Null means all applications and the platform. */
export type Whose = readonly string[] | null

const ofThem = (sql: Statements, appIds: Whose) =>
  appIds === null ? sql`true` : appIds.length === 0 ? sql`false` : sql`app_id in ${sql(appIds)}`

/** Returns the job. Throws 70002 if it isn't of this family and these applications. */
export async function requireJob<Told>(
  sql: Statements,
  family: JobFamily<Told>,
  appIds: Whose,
  id: number,
): Promise<Told> {
  const [row] = await sql`
    select ${sql.unsafe(columnsOf(family))} from import
    where id = ${id} and status > 0 and ${sql.unsafe(family.isOneSql)} and ${ofThem(sql, appIds)}`
  if (row === undefined) throw new Refusal(family.notFound)
  return family.toRecord(row)
}

export interface JobFilter extends PageQuery {
  appIds: Whose
  kind: string | null
  status: number | null
  time: TimeRange
}

export function pageOfJobs<Told>(sql: Sql, family: JobFamily<Told>, filter: JobFilter) {
  const { appIds, kind, status, time } = filter
  const rows = sql`
    select ${sql.unsafe(columnsOf(family))} from import
    where status > 0 and ${sql.unsafe(family.isOneSql)} and ${ofThem(sql, appIds)}
      and (${kind}::text is null or kind = ${kind})
      and (${status}::smallint is null or status = ${status})
      and (${time.from}::timestamptz is null or created_at >= ${time.from})
      and (${time.before}::timestamptz is null or created_at < ${time.before})`
  const source = { operation: family.page, rows, key: byId, newestFirst: true }
  return readPage(sql, source, filter, (row) => family.toRecord(row))
}

/** Tells whether the application's job runs or waits; null means the platform. */
export async function isUnderWay(sql: Statements, appId: string | null): Promise<boolean> {
  const [row] = await sql`select 1 from import where coalesce(app_id, '') = ${appId ?? ''} and status in (1, 2)`
  return row !== undefined
}

/** Inserts a waiting job and returns its record. Throws 70003 if another job came first. */
export async function beginJob<Told>(
  family: JobFamily<Told>,
  begin: (columnsSql: string) => Promise<Row[]>,
): Promise<Told | undefined> {
  try {
    const [row] = await begin(columnsOf(family))
    return row && family.toRecord(row)
  } catch (error) {
    throw (error as { code?: string }).code === '23505' ? new Refusal('importRunning') : error
  }
}

/** SQL: the columns that say who started a job, to check the access again. */
export const beginnerColumnsSql = `actor, token_hash, token_until, token_generation, operator_id, operator_key_id,
  session_id, session_until`

/** SQL: the values of `beginnerColumnsSql`, and the row to select them from. */
export function beginnerValues(sql: Statements, caller: Caller, actor: string) {
  const tokenHash = caller.kind === 'application' ? caller.tokenHash : null
  const { operatorId = null, operatorKeyId = null, sessionId = null } = caller.kind === 'operator' ? caller : {}
  return {
    values: sql`${actor}, ${tokenHash}, t.expires_at, t.generation, ${operatorId}::bigint, ${operatorKeyId}::bigint,
      ${sessionId}::bigint, s.expires_at`,
    from: sql`(select 1) as one left join access_token t on t.token_hash = ${tokenHash}
      left join operator_session s on s.id = ${sessionId}`,
  }
}

/** Cancels a waiting or running job. Throws 70003 for any other. */
export async function cancelJob<Told>(tx: Statements, family: JobFamily<Told>, id: number): Promise<Told> {
  const [row] = await tx`
    update import set status = ${jobStatus.cancelled}, finished_at = now()
    where id = ${id} and status in (1, 2) and ${tx.unsafe(family.isOneSql)} returning ${tx.unsafe(columnsOf(family))}`
  if (row === undefined) throw new Refusal('importRunning')
  return family.toRecord(row)
}

export interface Job {
  id: number
  owner: string
  appId: string | null
  /** It is the target of a transfer. */
  targetAppId: string | null
  kind: string
  /** It is null for an import. */
  act: string | null
  isDryRun: boolean
  actor: string
  /** The row when the lease was taken, with the position updated since. */
  row: Row
  /** The line, serial number or ID reached; null before the first row. */
  place: string | null
  /** The latest event ids of its applications after this process's last write. */
  lastEventIds: Record<string, number>
  waitedMs: number
  /** Rows written since this process last analyzed the tables. */
  unanalyzed: number
}

/** Takes a job that waits or whose process is gone. Returns undefined if none is, or too many of its size run. */
export async function takeJob(sql: Sql): Promise<Job | undefined> {
  const [ready] = await sql`
    select 1 from import where status in (1, 2) and lease_until < now() limit 1`
  if (ready === undefined) return undefined
  return transaction(sql, async (tx) => {
    await takeLock(tx, 'take an import')
    const owner = randomUUID()
    // The job is looked at twice: a cancel may have changed its row while this waited for it.
    const [row] = await tx`
      update import set status = ${jobStatus.running}, lease_owner = ${owner},
        lease_until = now() + ${leaseSeconds} * interval '1 second'
      where status in (1, 2) and lease_until < now() and id = (
        select w.id from import w
        where w.status in (1, 2) and w.lease_until < now()
          and (
            select count(*) from import r where r.status = 2 and r.lease_until >= now()
              and (r.rows > ${limits.shortJobRows}) = (w.rows > ${limits.shortJobRows})
          ) < ${limits.importsAtOnce}
        order by w.status desc, w.id limit 1)
      returning *`
    return row && toJob(row, owner)
  })
}

function toJob(row: Row, owner: string): Job {
  return {
    id: row.id,
    owner,
    appId: row.app_id,
    targetAppId: row.target_app_id,
    kind: row.kind,
    act: row.act,
    isDryRun: row.is_dry_run,
    actor: row.actor,
    row,
    place: null,
    lastEventIds: {},
    waitedMs: 0,
    unanalyzed: 0,
  }
}

export const jobLost = faultKind<number>('jobLost', (id) => `job ${id} is another process’s, or was cancelled`)

/** The decided rows and the new position. Fields left out stay as they are. */
export interface Progress {
  outcomes: readonly KeptOutcome[]
  nextPiece?: number
  nextRow?: number
  /** Fields of NDJSON rows that were ignored, as JSON. */
  ignoredColumns?: string
  /** Finished bytes of the file; only at the end of a piece. */
  bytesRead?: number
  /** The size of the pieces that are removed with the import. */
  freedBytes?: number
  position?: string
}

/**
 * Stores results in the transaction that wrote the rows, so that a row has both its effect and its result, or neither.
 * Returns the number of refused rows so far. Throws `jobLost` if another process has the job.
 */
export async function settleRows(tx: Statements, job: Job, progress: Progress): Promise<number> {
  const { outcomes, nextPiece = null, nextRow = null, bytesRead = null, freedBytes = 0, position = null } = progress
  const { ignoredColumns = null } = progress
  const { created, updated, existing, refused } = countOutcomes(outcomes)
  const text = outcomes.length === 0 ? null : packOutcomes(outcomes)
  const keptBytes = (text === null ? 0 : Buffer.byteLength(text)) - freedBytes
  const settled = await tx`
    with job as (
      update import set created = created + ${created}, updated = updated + ${updated}, existing = existing + ${existing},
        refused = refused + ${refused}, next_piece = coalesce(${nextPiece}, next_piece),
        next_row = coalesce(${nextRow}, next_row), bytes_read = coalesce(${bytesRead}, bytes_read),
        position = coalesce(${position}, position), ignored_columns = coalesce(${ignoredColumns}, ignored_columns),
        kept_bytes = kept_bytes + ${keptBytes},
        lease_until = now() + ${leaseSeconds} * interval '1 second'
      where id = ${job.id} and lease_owner = ${job.owner} and status = ${jobStatus.running}
      returning id, next_piece, refused)
    , done as (delete from import_piece p using job j where p.import_id = j.id and p.piece < j.next_piece)
    , kept as (
      insert into import_result (import_id, id, created, updated, existing, refused, outcomes)
      select j.id, coalesce((select max(r.id) from import_result r where r.import_id = j.id), 0) + 1,
        ${created}, ${updated}, ${existing}, ${refused}, ${text} from job j where ${text}::text is not null)
    select refused from job`
  if (settled[0] === undefined) throw jobLost(job.id)
  return settled[0].refused
}

/** Returns the latest event ids of the job's applications. Needs their locks. */
export async function readLastEventIds(tx: Statements, job: Job): Promise<Record<string, number>> {
  const ids: Record<string, number> = {}
  for (const appId of applicationsOf(job)) {
    const [row] = await tx<[{ id: number }]>`select last_event_id as id from event_head where app_id = ${appId}`
    ids[appId] = row.id
  }
  return ids
}

/** Returns the job's applications in the order of their locks. */
export const applicationsOf = ({ appId, targetAppId }: Job): string[] =>
  [...new Set([appId, targetAppId].flatMap((one) => one ?? []))].sort()

/**
 * Tells whether others wrote in the last milliseconds, in any process, by the events they left. It ignores applications
 * of other jobs, which check for themselves, and the platform's log, where each job starts with an event.
 */
export async function areOthersWriting(sql: Sql, job: Job, withinMs: number): Promise<boolean> {
  const since = lowestEventId(new Date(Date.now() - withinMs))
  const rows = await sql`
    select app_id, target_app_id from import where status = ${jobStatus.running} and lease_until > now()`
  const own = applicationsOf(job)
  const ofJobs = rows.flatMap((row) => [row.app_id, row.target_app_id])
  const passedOver = ofJobs.filter((appId) => appId !== null && !own.includes(appId))
  const written = Object.entries(job.lastEventIds).map(([appId, id]) => `${appId} ${id}`)
  const [found] = await sql`
    select 1 from event_head
    where last_event_id > ${since} and app_id <> all(${textArray(['', ...passedOver])}::text[])
      and app_id || ' ' || last_event_id <> all(${textArray(written)}::text[])
    limit 1`
  return found !== undefined
}

export async function renewJobLease(sql: Statements, job: Job): Promise<void> {
  await renewal(sql, job)
}

/** Reads the stored position and renews the lease. Throws `jobLost`. */
export async function readPosition(sql: Statements, job: Job): Promise<void> {
  const [row] = await renewal(sql, job)
  if (row === undefined) throw jobLost(job.id)
  job.row = row
}

const renewal = (sql: Statements, { id, owner }: Job) => sql`
  update import set lease_until = now() + ${leaseSeconds} * interval '1 second'
  where id = ${id} and lease_owner = ${owner} and status = ${jobStatus.running}
  returning *`

/** Marks the job as done. Throws `jobLost`. */
export async function finishJob(sql: Statements, job: Job): Promise<void> {
  const finished = await sql`
    update import set status = ${jobStatus.done}, bytes_read = bytes, finished_at = now(), lease_until = '-infinity'
    where id = ${job.id} and lease_owner = ${job.owner} and status = ${jobStatus.running}`
  if (finished.count === 0) throw jobLost(job.id)
}

export async function failJob(sql: Statements, job: Job, { words, failure }: ToldFailure): Promise<void> {
  await sql`
    update import set status = ${jobStatus.failed}, finished_at = now(), error = ${words},
      failure = ${JSON.stringify(failure)}
    where id = ${job.id} and lease_owner = ${job.owner} and status = ${jobStatus.running}`
}

export async function releaseJob(sql: Statements, job: Job): Promise<void> {
  await sql`update import set lease_until = '-infinity' where id = ${job.id} and lease_owner = ${job.owner}`
}

/** Returns the bytes of an application's files and results; null means the platform. */
export async function readKeptBytes(sql: Statements, appId: string | null): Promise<number> {
  const whose = appId === null ? sql`app_id is null` : sql`app_id = ${appId}`
  const [row] = await sql<[{ bytes: number }]>`
    select coalesce(sum(kept_bytes), 0)::bigint as bytes from import where ${whose}`
  return row.bytes
}

const removedAtOnce = 100

/** Removes abandoned files, pieces of finished imports, jobs after 7 days and dry runs after 1 day, in steps. */
export async function deleteOldJobs(tx: Statements, limit: number): Promise<number> {
  const most = Math.min(limit, removedAtOnce)
  // An upload that resumes must not continue a file with missing pieces, so no process owns the draft from here on.
  await tx`update import set lease_owner = null where status = 0 and lease_owner is not null and lease_until < now()`
  const isGone = `(status = 0 and lease_owner is null or status > 2 and created_at < now()
    - case when is_dry_run then interval '${dryRunDays} days' else interval '${days} days' end)`
  const removed = [
    await tx`
      with gone as (
        delete from import_piece where (import_id, piece) in (
          select p.import_id, p.piece from import_piece p join import i on i.id = p.import_id
          where i.status > 2 or ${tx.unsafe(isGone)} limit ${most})
        returning import_id, octet_length(rows) as bytes)
      , freed as (
        update import i set kept_bytes = i.kept_bytes - g.bytes
        from (select import_id, sum(bytes) as bytes from gone group by import_id) g where i.id = g.import_id)
      select from gone`,
    await tx`
      delete from import_result where (import_id, id) in (
        select r.import_id, r.id from import_result r join import i on i.id = r.import_id
        where ${tx.unsafe(isGone)} limit ${most})`,
    await tx`
      delete from import i where ${tx.unsafe(isGone)}
        and not exists (select 1 from import_piece p where p.import_id = i.id)
        and not exists (select 1 from import_result r where r.import_id = i.id)`,
  ]
  // There may be more, so this reports a full step.
  return removed.some(({ count }) => count === most) ? limit : 0
}

const filledBy: Record<string, string[]> = {
  sites: ['site', 'event'],
  devices: ['device', 'device_binding', 'event'],
  placements: ['placement', 'event'],
  inventory: ['device_inventory'],
}

/** Analyzes a kind's tables once the new rows are a fifth of them; autovacuum would do so minutes later. */
export async function analyzeFilled(sql: Sql, kind: string, rows: number): Promise<void> {
  const grown = await sql<{ name: string }[]>`
    select relname as name from pg_class
    where oid = any (${textArray(filledBy[kind] ?? [])}::text[]::regclass[]) and ${rows} >= 0.2 * reltuples`
  if (grown.length > 0) await sql.unsafe(`analyze ${grown.map(({ name }) => name).join(', ')}`)
}
