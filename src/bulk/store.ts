import { randomUUID } from 'node:crypto'
import type { Row } from 'postgres'
import type { Caller } from '../callers/caller.ts'
import { findOperatorAccess, isLivingAt } from '../callers/store.ts'
import { takeLock } from '../database/advisory-lock.ts'
import { lockApplication, lowestEventId } from '../database/application-lock.ts'
import type { Sql, Statements } from '../database/open.ts'
import { byId, type PageQuery, readPage } from '../database/page.ts'
import { textArray } from '../database/routine.ts'
import { transaction } from '../database/transaction.ts'
import { readActor } from '../events/rules.ts'
import { limits } from '../vocabulary/limits.ts'
import type { ShowMoment, TimeRange } from '../vocabulary/moments.ts'
import { Refusal, type RefusalName, unavailable } from '../vocabulary/refusals.ts'
import { rolesOf } from '../vocabulary/roles.ts'
import {
  createImport,
  type ImportFormat,
  type ImportKind,
  type ImportRecord,
  importStatus,
  type Outcome,
  pageImports,
} from './contract.ts'
import { type KeptOutcome, type KeptRow, outcomeOf, packOutcomes, unpackOutcomes } from './rules.ts'

const days = 7
/** A process that has not renewed its lease for this long counts as gone: longer than a statement may take. */
const leaseSeconds = 6

const recordColumns = `id, app_id, kind, format, is_dry_run, status, rows, bytes, created, existing, refused, bytes_read,
  actor, created_at, finished_at, error`

function toRecord(row: Row, showMoment: ShowMoment): ImportRecord {
  return {
    id: row.id,
    appId: row.app_id,
    kind: row.kind,
    format: row.format,
    dryRun: row.is_dry_run,
    status: row.status,
    rows: row.rows,
    created: row.created,
    existing: row.existing,
    refused: row.refused,
    bytes: row.bytes,
    bytesRead: row.bytes_read,
    actor: readActor(row.actor).actor,
    createTime: showMoment(row.created_at),
    finishTime: row.finished_at === null ? null : showMoment(row.finished_at),
    error: row.error,
  }
}

/** The applications whose imports are meant; null for all of them and the platform's own. */
type Whose = readonly string[] | null

const ofThem = (sql: Statements, appIds: Whose) =>
  appIds === null ? sql`true` : appIds.length === 0 ? sql`false` : sql`app_id in ${sql(appIds)}`

/** Throws 70002. */
export async function requireImport(
  sql: Statements,
  appIds: Whose,
  id: number,
  showMoment: ShowMoment,
): Promise<ImportRecord> {
  const [row] = await sql`
    select ${sql.unsafe(recordColumns)} from import where id = ${id} and status > 0 and ${ofThem(sql, appIds)}`
  if (row === undefined) throw new Refusal('importNotFound')
  return toRecord(row, showMoment)
}

/** A filter of imports; null means no filter. */
export interface ImportFilter extends PageQuery {
  appIds: Whose
  kind: ImportKind | null
  status: number | null
  created: TimeRange
}

export function pageOfImports(sql: Sql, filter: ImportFilter, showMoment: ShowMoment) {
  const { appIds, kind, status, created } = filter
  const rows = sql`
    select ${sql.unsafe(recordColumns)} from import
    where status > 0 and ${ofThem(sql, appIds)}
      and (${kind}::text is null or kind = ${kind})
      and (${status}::smallint is null or status = ${status})
      and (${created.from}::timestamptz is null or created_at >= ${created.from})
      and (${created.before}::timestamptz is null or created_at < ${created.before})`
  const source = { operation: pageImports.id, rows, key: byId, newestFirst: true }
  return readPage(sql, source, filter, (row) => toRecord(row, showMoment))
}

/** Whether an import of the application is under way; null for the platform's own. */
export async function isUnderWay(sql: Statements, appId: string | null): Promise<boolean> {
  const [row] = await sql`select 1 from import where coalesce(app_id, '') = ${appId ?? ''} and status in (1, 2)`
  return row !== undefined
}

export interface NewImport {
  appId: string | null
  kind: ImportKind
  format: ImportFormat
  isDryRun: boolean
  actor: string
  caller: Caller
}

/** A file that is being taken. */
export interface Draft {
  id: number
  owner: string
}

/** So long after a process was last heard of, a file that it took is given up. */
const draftLeaseSeconds = 60

/** Inserts an import that stays invisible until its file is complete. */
export async function insertDraft(sql: Statements, given: NewImport): Promise<Draft> {
  const owner = randomUUID()
  const { appId, kind, format, isDryRun, actor, caller } = given
  const tokenHash = caller.kind === 'application' ? caller.tokenHash : null
  const { operatorId = null, operatorKeyId = null, sessionId = null } = caller.kind === 'operator' ? caller : {}
  const [row] = await sql<[{ id: number }]>`
    insert into import (app_id, kind, format, is_dry_run, status, actor, token_hash, token_until, token_generation,
      operator_id, operator_key_id, session_id, session_until, lease_owner, lease_until)
    select ${appId}, ${kind}, ${format}, ${isDryRun}, 0, ${actor}, ${tokenHash}, t.expires_at, t.generation,
      ${operatorId}, ${operatorKeyId}, ${sessionId}, s.expires_at,
      ${owner}, now() + ${draftLeaseSeconds} * interval '1 second'
    from (select 1) as one left join access_token t on t.token_hash = ${tokenHash}
      left join operator_session s on s.id = ${sessionId}
    returning id`
  return { id: row.id, owner }
}

/** Says that a file is still being taken. */
export async function renewDraft(sql: Statements, draft: Draft): Promise<void> {
  await renewal(sql, draft, 0)
}

const renewal = (sql: Statements, { id, owner }: Draft, bytes: number) => sql`
  update import set lease_until = now() + ${draftLeaseSeconds} * interval '1 second', kept_bytes = kept_bytes + ${bytes}
  where id = ${id} and lease_owner = ${owner} and status = 0 returning id`

/** Keeps a piece of a file. One statement, so that no connection is held while the next piece is waited for. */
export async function insertPiece(
  sql: Statements,
  draft: Draft,
  piece: number,
  bytesRead: number,
  rows: readonly KeptRow[],
): Promise<void> {
  const text = JSON.stringify(rows)
  const kept = await sql`
    with draft as (${renewal(sql, draft, Buffer.byteLength(text))})
    insert into import_piece (import_id, piece, bytes_read, rows)
    select id, ${piece}, ${bytesRead}, ${text} from draft`
  // Upkeep has deleted the draft, as one whose upload had stopped.
  if (kept.count === 0) throw unavailable()
}

/** The bytes that an application's files and results take, over all processes; null for the platform's. */
export async function readKeptBytes(sql: Statements, appId: string | null): Promise<number> {
  const whose = appId === null ? sql`app_id is null` : sql`app_id = ${appId}`
  const [row] = await sql<[{ bytes: number }]>`
    select coalesce(sum(kept_bytes), 0)::bigint as bytes from import where ${whose}`
  return row.bytes
}

/** The result of reading a file. */
export interface TakenFile {
  columns: readonly string[] | null
  rows: number
  bytes: number
}

/** Sets an import waiting whose file is whole. Throws 70003 when another one was quicker. */
export async function submitDraft(
  tx: Statements,
  { id, owner }: Draft,
  { columns, rows, bytes }: TakenFile,
  showMoment: ShowMoment,
): Promise<ImportRecord> {
  try {
    const [row] = await tx`
      update import set status = ${importStatus.waiting}, columns = ${columns && JSON.stringify(columns)}, rows = ${rows},
        bytes = ${bytes}, created_at = now(), lease_owner = null, lease_until = '-infinity'
      where id = ${id} and lease_owner = ${owner} and status = 0 returning ${tx.unsafe(recordColumns)}`
    if (row === undefined) throw unavailable()
    return toRecord(row, showMoment)
  } catch (error) {
    throw (error as { code?: string }).code === '23505' ? new Refusal('importRunning') : error
  }
}

/** Leaves an import whose file did not come whole to upkeep, which removes it in steps. */
export async function dropDraft(sql: Statements, { id }: Draft): Promise<void> {
  await sql`update import set lease_owner = null where id = ${id} and status = 0`
}

/** Ends an import that waits or runs. Throws 70003 for an ended one. */
export async function cancelImportOf(tx: Statements, id: number, showMoment: ShowMoment): Promise<ImportRecord> {
  const [row] = await tx`
    update import set status = ${importStatus.cancelled}, finished_at = now()
    where id = ${id} and status in (1, 2) returning ${tx.unsafe(recordColumns)}`
  if (row === undefined) throw new Refusal('importRunning')
  return toRecord(row, showMoment)
}

/** An import that this process works off, for as long as its lease lasts. */
export interface Job {
  id: number
  owner: string
  appId: string | null
  kind: ImportKind
  format: ImportFormat
  isDryRun: boolean
  columns: string[] | null
  actor: string
  nextPiece: number
  nextRow: number
  /** The line of the file at which the job is; null before the first. */
  line: number | null
  /** The newest id of the application's events when this process had last written for it; null before. */
  lastEventId: number | null
  /** Rows that this process has written since it last analyzed the tables. */
  unanalyzed: number
}

/** Takes an import that waits, or whose process is gone, when not too many run. Undefined for none. */
export async function takeJob(sql: Sql): Promise<Job | undefined> {
  const [ready] = await sql`
    select 1 from import where status in (1, 2) and lease_until < now() limit 1`
  if (ready === undefined) return undefined
  return transaction(sql, async (tx) => {
    await takeLock(tx, 'take an import')
    const owner = randomUUID()
    const [row] = await tx`
      update import set status = ${importStatus.running}, lease_owner = ${owner},
        lease_until = now() + ${leaseSeconds} * interval '1 second'
      where id = (
        select id from import
        where status in (1, 2) and lease_until < now()
          and (select count(*) from import where status = 2 and lease_until >= now()) < ${limits.importsAtOnce}
        order by status desc, id limit 1)
      returning id, app_id, kind, format, is_dry_run, columns, actor, next_piece, next_row`
    return row && toJob(row, owner)
  })
}

function toJob(row: Row, owner: string): Job {
  return {
    id: row.id,
    owner,
    appId: row.app_id,
    kind: row.kind,
    format: row.format,
    isDryRun: row.is_dry_run,
    columns: row.columns && JSON.parse(row.columns),
    actor: row.actor,
    nextPiece: row.next_piece,
    nextRow: row.next_row,
    line: null,
    lastEventId: null,
    unanalyzed: 0,
  }
}

export interface StoredPiece {
  rows: KeptRow[]
  bytesRead: number
  /** The stored size. */
  keptBytes: number
}

/** A piece of a job's file; undefined behind the last. */
export async function readPiece(sql: Statements, { id }: Job, piece: number): Promise<StoredPiece | undefined> {
  const [row] = await sql`select rows, bytes_read from import_piece where import_id = ${id} and piece = ${piece}`
  return row && { rows: JSON.parse(row.rows), bytesRead: row.bytes_read, keptBytes: Buffer.byteLength(row.rows) }
}

/** The job belongs to another process by now, or was cancelled. */
export class JobLost extends Error {}

/** Rows that are decided, and where the job goes on. */
export interface Progress {
  outcomes: readonly KeptOutcome[]
  nextPiece: number
  nextRow: number
  /** How much of the file is worked off, where a piece has come to its end. */
  bytesRead: number | null
  /** The size of the pieces that are removed with the import. */
  freedBytes: number
}

/**
 * Stores the outcomes of rows in the transaction that wrote them, and returns the number of refused rows so far:
 * whenever a process ends, a row has both its effect and its outcome, or neither. Throws `JobLost` when the job now
 * belongs to another process.
 */
export async function settleRows(tx: Statements, job: Job, progress: Progress): Promise<number> {
  const { outcomes, nextPiece, nextRow, bytesRead, freedBytes } = progress
  const text = packOutcomes(outcomes)
  const count = (wanted: Outcome) => outcomes.filter((outcome) => outcomeOf(outcome) === wanted).length
  const [created, existing, refused] = [count('created'), count('existing'), count('refused')]
  const settled = await tx`
    with job as (
      update import set created = created + ${created}, existing = existing + ${existing}, refused = refused + ${refused},
        next_piece = ${nextPiece}, next_row = ${nextRow}, bytes_read = coalesce(${bytesRead}, bytes_read),
        kept_bytes = kept_bytes + ${Buffer.byteLength(text) - freedBytes}, lease_until = now() + ${leaseSeconds} * interval '1 second'
      where id = ${job.id} and lease_owner = ${job.owner} and status = ${importStatus.running}
      returning id, next_piece, refused)
    , done as (delete from import_piece p using job j where p.import_id = j.id and p.piece < j.next_piece)
    , kept as (
      insert into import_result (import_id, id, created, existing, refused, outcomes)
      select j.id, coalesce((select max(r.id) from import_result r where r.import_id = j.id), 0) + 1,
        ${created}, ${existing}, ${refused}, ${text} from job j)
    select refused from job`
  if (settled[0] === undefined) throw new JobLost()
  return settled[0].refused
}

/** Within a transaction that holds the application's lock. */
export async function readLastEventId(tx: Statements, appId: string): Promise<number> {
  const [row] = await tx<[{ id: number }]>`select last_event_id as id from event_head where app_id = ${appId}`
  return row.id
}

/**
 * Whether anything else has been written within the last milliseconds, by whichever process: each write leaves an event.
 * What other imports write does not count; their applications are theirs to look at. Nor does the platform's own log: an
 * import begins with an event there.
 */
export async function areOthersWriting(sql: Sql, { appId, lastEventId }: Job, withinMs: number): Promise<boolean> {
  const since = lowestEventId(new Date(Date.now() - withinMs))
  const rows = await sql`
    select app_id from import where status = ${importStatus.running} and lease_until > now() and app_id is not null`
  const imported = rows.map((row) => row.app_id).filter((other) => other !== appId)
  const [found] = await sql`
    select bool_or(app_id <> ${appId ?? ''} or last_event_id <> ${lastEventId}) as are_writing from event_head
    where last_event_id > ${since} and app_id <> all(${textArray(['', ...imported])}::text[])`
  return found?.are_writing === true
}

/** Keeps a job of which no row could be decided, and answers where it goes on. Throws `JobLost`. */
export async function renewJobLease(sql: Statements, job: Job): Promise<Pick<Job, 'nextPiece' | 'nextRow'>> {
  const [row] = await sql`
    update import set lease_until = now() + ${leaseSeconds} * interval '1 second'
    where id = ${job.id} and lease_owner = ${job.owner} and status = ${importStatus.running}
    returning next_piece, next_row`
  if (row === undefined) throw new JobLost()
  return { nextPiece: row.next_piece, nextRow: row.next_row }
}

/** Says that all rows of a job are decided. */
export async function finishJob(sql: Statements, job: Job, showMoment: ShowMoment): Promise<ImportRecord> {
  const [row] = await sql`
    update import set status = ${importStatus.done}, bytes_read = bytes, finished_at = now(), lease_until = '-infinity'
    where id = ${job.id} and lease_owner = ${job.owner} and status = ${importStatus.running}
    returning ${sql.unsafe(recordColumns)}`
  if (row === undefined) throw new JobLost()
  return toRecord(row, showMoment)
}

/** Says that a job cannot be carried on, and why. */
export async function failJob(sql: Statements, job: Job, error: string): Promise<void> {
  await sql`
    update import set status = ${importStatus.failed}, finished_at = now(), error = ${error}
    where id = ${job.id} and lease_owner = ${job.owner} and status = ${importStatus.running}`
}

/** Leaves a job to others, at once. */
export async function releaseJob(sql: Statements, job: Job): Promise<void> {
  await sql`update import set lease_until = '-infinity' where id = ${job.id} and lease_owner = ${job.owner}`
}

/**
 * Locks the application of a job, if it has one, and returns the reason why the caller who began it may no longer
 * write; undefined while they may. A token or session that expires by itself does not stop its imports.
 */
export async function lockAndCheckAccess(tx: Statements, { id, appId }: Job): Promise<RefusalName | undefined> {
  if (appId !== null) await lockApplication(tx, appId)
  const [given] = await tx`
    select token_hash, token_until, token_generation, operator_id, operator_key_id, session_id, session_until
    from import where id = ${id}`
  if (given === undefined) return undefined
  return given.token_hash === null ? lossOfOperator(tx, given, appId) : lossOfToken(tx, given, appId)
}

/** Operators may still create for a frozen application. */
async function lossOfOperator(tx: Statements, given: Row, appId: string | null): Promise<RefusalName | undefined> {
  if (appId !== null) {
    const [found] = await tx`select 1 from application where app_id = ${appId}`
    if (found === undefined) return 'applicationNotFound'
  }
  const access = await findOperatorAccess(tx, given.operator_id, given.operator_key_id)
  if (access === undefined || (await isSessionEnded(tx, given))) return 'tokenInvalid'
  const mayWrite = rolesOf(createImport).includes(access.role)
  const isOwn = access.applications === null || (appId !== null && access.applications.has(appId))
  return mayWrite && isOwn ? undefined : 'notPermitted'
}

/** Whether the session that sent the file was ended; one that expires by itself stops nothing. */
async function isSessionEnded(tx: Statements, { session_id, session_until }: Row): Promise<boolean> {
  if (session_id === null) return false
  const [row] = await tx`
    select ${session_until}::timestamptz > clock_timestamp()
      and not exists (select 1 from operator_session where id = ${session_id}) as is_ended`
  return row?.is_ended === true
}

async function lossOfToken(tx: Statements, given: Row, appId: string | null): Promise<RefusalName | undefined> {
  const [found] = await tx`
    select a.status, a.token_generation as generation, ${given.token_until}::timestamptz <= clock_timestamp() as is_over,
      exists (select 1 from access_token t
        where t.token_hash = ${given.token_hash} and ${tx.unsafe(isLivingAt('clock_timestamp()'))}) as is_living
    from application a where a.app_id = ${appId}`
  if (found === undefined) return 'applicationNotFound'
  if (found.status === 2) return 'applicationFrozen'
  const hasAccess = found.is_living || (found.is_over && found.generation === given.token_generation)
  return hasAccess ? undefined : 'tokenInvalid'
}

/** The outcomes of an import's rows, one portion after the other; undefined after the last. */
export async function readOutcomes(
  sql: Statements,
  importId: number,
  after: number,
  outcome: Outcome | null,
): Promise<{ id: number; outcomes: KeptOutcome[] } | undefined> {
  const [row] = await sql`
    select id, outcomes from import_result where import_id = ${importId} and id > ${after}
      and (${outcome}::text is null
        or case ${outcome}::text when 'created' then created when 'existing' then existing else refused end > 0)
    order by id limit 1`
  return row && { id: row.id, outcomes: unpackOutcomes(row.outcomes) }
}

/** Pieces and results that one step of upkeep removes. */
const removedAtOnce = 100

/** Removes, in steps, abandoned files, the pieces of imports that have ended, and imports after 7 days. */
export async function deleteOldImports(tx: Statements, limit: number): Promise<number> {
  const most = Math.min(limit, removedAtOnce)
  // No process owns the draft from here on: an upload that resumes must not continue a file with missing pieces.
  await tx`update import set lease_owner = null where status = 0 and lease_owner is not null and lease_until < now()`
  const isGone = `(status = 0 and lease_owner is null or status > 2 and created_at < now() - interval '${days} days')`
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
  // Reported as a full step: there may be more.
  return removed.some(({ count }) => count === most) ? limit : 0
}

const filledBy: Record<ImportKind, string[]> = {
  sites: ['site', 'event'],
  devices: ['device', 'device_binding', 'event'],
  inventory: ['device_inventory'],
}

/** Analyzes a kind's tables when the rows are a fifth of them, as autovacuum would some minutes later. */
export async function analyzeFilled(sql: Sql, kind: ImportKind, rows: number): Promise<void> {
  const grown = await sql<{ name: string }[]>`
    select relname as name from pg_class
    where oid = any (${textArray(filledBy[kind])}::text[]::regclass[]) and ${rows} >= 0.2 * reltuples`
  if (grown.length > 0) await sql.unsafe(`analyze ${grown.map(({ name }) => name).join(', ')}`)
}
