import { randomUUID } from 'node:crypto'
import type { Row } from 'postgres'
import type { Caller } from '../callers/caller.ts'
import type { Statements } from '../database/open.ts'
import { limits } from '../vocabulary/limits.ts'
import { unavailable } from '../vocabulary/refusals.ts'
import { type ImportFormat, type ImportKind, type ImportMode, type ImportRecord, pageImports } from './contract.ts'
import { jobStatus } from './jobs/contract.ts'
import { beginJob, beginnerColumnsSql, beginnerValues, endOfRecord, type Job, type JobFamily } from './jobs/store.ts'
import type { KeptRow } from './rules.ts'

export const imports: JobFamily<ImportRecord> = {
  isOneSql: 'act is null',
  columnsSql: 'format, is_upsert, bytes, created, updated, existing, bytes_read, ignored_columns',
  page: pageImports.id,
  notFound: 'importNotFound',
  toRecord: (row) => ({
    id: row.id,
    appId: row.app_id,
    kind: row.kind,
    format: row.format,
    mode: modeOf(row),
    dryRun: row.is_dry_run,
    status: row.status,
    rows: row.rows,
    created: row.created,
    updated: row.updated,
    existing: row.existing,
    refused: row.refused,
    bytes: row.bytes,
    bytesRead: row.bytes_read,
    ignoredColumns: ignoredOf(row),
    ...endOfRecord(row),
  }),
}

const modeOf = (row: Row): ImportMode => (row.is_upsert ? 'upsert' : 'create')
const ignoredOf = (row: Row): string[] => (row.ignored_columns === null ? [] : JSON.parse(row.ignored_columns))

export interface NewImport {
  appId: string | null
  kind: ImportKind
  mode: ImportMode
  format: ImportFormat
  isDryRun: boolean
  actor: string
  caller: Caller
}

export interface Draft {
  id: number
  owner: string
}

/** An upload without a renewal for this long is removed. */
const draftLeaseSeconds = 60

/** Inserts an import that stays invisible until its file is complete. */
export async function insertDraft(sql: Statements, given: NewImport): Promise<Draft> {
  const owner = randomUUID()
  const { appId, kind, mode, format, isDryRun, actor, caller } = given
  const beginner = beginnerValues(sql, caller, actor)
  const [row] = await sql<[{ id: number }]>`
    insert into import (app_id, kind, is_upsert, format, is_dry_run, status, ${sql.unsafe(beginnerColumnsSql)}, lease_owner,
      lease_until)
    select ${appId}, ${kind}, ${mode === 'upsert'}, ${format}, ${isDryRun}, 0, ${beginner.values}, ${owner},
      now() + ${draftLeaseSeconds} * interval '1 second'
    from ${beginner.from}
    returning id`
  return { id: row.id, owner }
}

export async function renewDraft(sql: Statements, draft: Draft): Promise<void> {
  await renewal(sql, draft, 0)
}

const renewal = (sql: Statements, { id, owner }: Draft, bytes: number) => sql`
  update import set lease_until = now() + ${draftLeaseSeconds} * interval '1 second', kept_bytes = kept_bytes + ${bytes}
  where id = ${id} and lease_owner = ${owner} and status = 0 returning id`

/** Stores a piece in one statement, so that no connection is held until the next. */
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
  // Cleanup has deleted the draft because its upload had stopped.
  if (kept.count === 0) throw unavailable()
}

export interface TakenFile {
  columns: readonly string[] | null
  ignoredColumns: readonly string[]
  rows: number
  bytes: number
}

/** Makes a complete draft a waiting import. Throws 70003 if another job came first. */
export async function submitDraft(
  tx: Statements,
  { id, owner }: Draft,
  { columns, ignoredColumns, rows, bytes }: TakenFile,
): Promise<ImportRecord> {
  const begun = await beginJob(
    imports,
    (columnsSql) => tx`
      update import set status = ${jobStatus.waiting}, columns = ${columns && JSON.stringify(columns)},
        ignored_columns = ${JSON.stringify(ignoredColumns)}, rows = ${rows}, bytes = ${bytes}, created_at = now(), lease_owner = null, lease_until = '-infinity'
      where id = ${id} and lease_owner = ${owner} and status = 0 returning ${tx.unsafe(columnsSql)}`,
  )
  if (begun === undefined) throw unavailable()
  return begun
}

/**
 * Removes an application's oldest finished dry runs; null means the platform. A large one becomes an abandoned file,
 * which is removed in steps.
 */
export async function removeDryRuns(tx: Statements, appId: string | null): Promise<void> {
  const whose = appId === null ? tx`app_id is null` : tx`app_id = ${appId}`
  const old = tx`
    id in (select id from import where ${whose} and is_dry_run and status > 2 order by id desc offset ${limits.dryRunsOfOne})`
  await tx`delete from import where ${old} and kept_bytes <= ${limits.dryRunRemovedBytes}`
  await tx`update import set status = 0, lease_owner = null where ${old}`
}

/** Abandons an incomplete draft, which is removed in steps. */
export async function dropDraft(sql: Statements, { id }: Draft): Promise<void> {
  await sql`update import set lease_owner = null where id = ${id} and status = 0`
}

export interface ImportJob {
  kind: ImportKind
  mode: ImportMode
  format: ImportFormat
  columns: string[] | null
  ignoredColumns: string[]
  nextPiece: number
  nextRow: number
}

export const importOf = ({ row }: Job): ImportJob => ({
  kind: row.kind,
  mode: modeOf(row),
  format: row.format,
  ignoredColumns: ignoredOf(row),
  columns: row.columns && JSON.parse(row.columns),
  nextPiece: row.next_piece,
  nextRow: row.next_row,
})

export type SentFile = Pick<ImportJob, 'kind' | 'mode' | 'format' | 'columns'>

export async function readSentFile(sql: Statements, importId: number): Promise<SentFile> {
  const [row] = await sql<[Row]>`select kind, is_upsert, format, columns from import where id = ${importId}`
  return { kind: row.kind, mode: modeOf(row), format: row.format, columns: row.columns && JSON.parse(row.columns) }
}

export interface StoredPiece {
  rows: KeptRow[]
  bytesRead: number
  keptBytes: number
}

export async function readPiece(sql: Statements, importId: number, piece: number): Promise<StoredPiece | undefined> {
  const [row] = await sql`select rows, bytes_read from import_piece where import_id = ${importId} and piece = ${piece}`
  return row && { rows: JSON.parse(row.rows), bytesRead: row.bytes_read, keptBytes: Buffer.byteLength(row.rows) }
}
