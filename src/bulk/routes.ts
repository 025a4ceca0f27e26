import { readBillingRulePage } from '../billing-rules/pages.ts'
import { actorOf, type Caller, keyOwnerOf } from '../callers/caller.ts'
import { requireApplicationOf, requireApplicationsOf } from '../callers/permissions.ts'
import type { Config } from '../config.ts'
import { findReplay, hasAnswer, once, type RequestKey } from '../database/idempotency.ts'
import type { Sql } from '../database/open.ts'
import { deliveryPages } from '../deliveries/pages.ts'
import { readExportedDevicePage } from '../devices/pages.ts'
import { readPlacementPage } from '../devices/placement/pages.ts'
import { readAuditPage, readEventPage } from '../events/pages.ts'
import { readRefusalPage } from '../events/refusal-log/pages.ts'
import { insertPlatformEvent } from '../events/store.ts'
import { fileReply } from '../http/answer.ts'
import { type Handler, handle, read, stream, takeFile } from '../http/handler.ts'
import { preferredLanguage } from '../http/language.ts'
import { validator } from '../http/validate.ts'
import { startRounds } from '../runtime/actor.ts'
import { yielder } from '../runtime/event-loop.ts'
import { readSitePage } from '../sites/pages.ts'
import { readPriceChangePage } from '../sites/price-changes/pages.ts'
import { limits } from '../vocabulary/limits.ts'
import { readTimeRange, showMoment } from '../vocabulary/moments.ts'
import { invalidRequest, type Reason, Refusal, unavailable } from '../vocabulary/refusals.ts'
import { given } from '../vocabulary/values.ts'
import {
  cancelImport,
  createExport,
  createImport,
  type ExportKind,
  exportFilters,
  formatOf,
  getImport,
  getImportResult,
  getTemplate,
  type ImportFormat,
  type ImportRecord,
  mediaTypeOf,
  pageImports,
  pageOfKind,
} from './contract.ts'
import { byteOrderMark, csvLine } from './csv.ts'
import { type FileWriter, fileWriter } from './files.ts'
import { RowFile } from './intake.ts'
import { resultReply } from './jobs/result.ts'
import * as jobs from './jobs/store.ts'
import { refusedRowsReply } from './refused-rows.ts'
import { roomFor } from './room.ts'
import { columnsOf, leftOutColumns } from './rules.ts'
import * as store from './store.ts'

interface Parts {
  sql: Sql
  config: Pick<Config, 'callbacks' | 'coordinates' | 'databaseUrl' | 'dataDir' | 'fileBytes'>
  /** Wakes the worker: a new job waits. */
  onSubmitted(): void
}

/** A lease outlasts some renewals that fail. */
const renewEveryMs = 5_000
/** After this many pieces of a file, some megabytes, the room that is left is checked again. */
const piecesOfRoom = 16
/** How many rows are written before other requests get a turn. */
const writtenAtOnce = 50

export function bulkRoutes(parts: Parts): Handler[] {
  const { sql, config, onSubmitted } = parts
  const readPage = exportReader(parts)
  const requireRoom = roomFor(sql, config)

  return [
    takeFile(createImport, async ({ caller, actor, query, file, idempotency, sourceAddress, pending }) => {
      const { kind } = query
      const format = requireFormat(file.mediaType, given(query.format))
      const appId =
        kind === 'inventory' ? requirePlatform(caller) : await requireApplicationOf(sql, caller, query.appId)
      const owner = appId ?? keyOwnerOf(caller)
      // First, because the import under way may be this very request, whose response is then stored.
      const isUnderWay = await jobs.isUnderWay(sql, appId)
      if (await hasAnswer(sql, idempotency, owner)) return firstAnswer(sql, file, idempotency, owner)
      if (isUnderWay) throw new Refusal('importRunning')
      await requireRoom(appId)
      const mode = given(query.mode) ?? 'create'
      const leftOut = leftOutColumns({ kind, mode }, given(query.ignoreColumns))
      const begun = { appId, kind, mode, format, isDryRun: query.dryRun === 'true', actor, caller }
      const draft = await pending.transaction(sql, (tx) => store.insertDraft(tx, begun))
      // A piece of a slow file may take longer than a lease. A failed renewal is followed by the next one; if the lease
      // is lost, the next piece is refused.
      const renewing = startRounds(() => void store.renewDraft(sql, draft).catch(() => {}), renewEveryMs)
      let isSubmitted = false
      try {
        const rows = new RowFile({ kind, mode }, format, leftOut, file)
        await keepPieces(sql, draft, rows, () => requireRoom(appId))
        const { columns, ignoredColumns } = rows
        const taken = { columns, ignoredColumns, rows: rows.rows, bytes: file.size }
        const submitted = await pending.transaction(sql, (tx) =>
          once(tx, idempotency, owner, async () => {
            const data = await store.submitDraft(tx, draft, taken)
            // A dry run changes nothing that the log would have to tell, and its job goes before long.
            if (data.dryRun) {
              await store.removeDryRuns(tx, appId)
              return data
            }
            const event = { actor, address: sourceAddress(), subject: data.id, data }
            await insertPlatformEvent(tx, { type: 'import.created', ...event })
            return data
          }),
        )
        isSubmitted = submitted.id === draft.id
        return submitted
      } finally {
        void renewing.stop()
        if (isSubmitted) onSubmitted()
        else await store.dropDraft(sql, draft).catch(() => {})
      }
    }),

    read(getImport, async ({ sql, caller, query }) =>
      jobs.requireJob(sql, store.imports, await requireApplicationsOf(sql, caller, query.appId), query.id),
    ),

    read(pageImports, async ({ sql, caller, query: { appId, ...query } }) => {
      const filter = {
        ...query,
        appIds: await requireApplicationsOf(sql, caller, appId),
        kind: given(query.kind),
        status: given(query.status),
        created: readTimeRange(query),
      }
      return jobs.pageOfJobs(sql, store.imports, filter)
    }),

    handle(cancelImport, async ({ caller, body, sourceAddress, pending }) => {
      const appIds = await requireApplicationsOf(sql, caller, body.appId)
      return pending.transaction(sql, async (tx) => {
        const data = await jobs.requireJob(tx, store.imports, appIds, body.id)
        if (data.kind === 'inventory') requirePlatform(caller)
        const event = { actor: actorOf(caller), address: sourceAddress(), subject: data.id, data }
        // The event is inserted before the import's row is changed: a worker that finishes an import of the inventory
        // takes its locks in the same order.
        if (!data.dryRun) await insertPlatformEvent(tx, { type: 'import.cancelled', ...event })
        return jobs.cancelJob(tx, store.imports, body.id)
      })
    }),

    stream(getImportResult, async ({ caller, query, header, readNext }) => {
      const { id, kind } = await readNext(async (sql) =>
        jobs.requireJob(sql, store.imports, await requireApplicationsOf(sql, caller, query.appId), query.id),
      )
      const outcome = given(query.outcome)
      const languages = header('accept-language')
      if (query.rows !== 'true') return resultReply({ id, kind, noun: 'import' }, outcome, languages, readNext)
      if (outcome !== null && outcome !== 'refused') throw onlyRefusedRows()
      return refusedRowsReply(id, languages, readNext)
    }),

    stream(
      createExport,
      async ({ caller, query, header, readNext }) => {
        const { kind } = query
        const format = given(query.format) ?? 'csv'
        if (format === 'geojson' && kind !== 'sites' && kind !== 'devices') throw notOnTheMap()
        const filters = readFilters(kind, query)
        const language = preferredLanguage(header('accept-language'))
        const readPageAt = (cursor: string | null) =>
          readNext((sql) =>
            readPage[kind](
              sql,
              caller,
              { ...filters, cursor, pageSize: limits.exportPageRows, isUncounted: true },
              language,
            ),
          )
        // A query that the page operation refuses is refused here too, before anything is sent.
        const first = await readPageAt(null)
        const file = fileWriter(kind, format, config.coordinates)
        const moment = showMoment(new Date()).replaceAll(/[-:]/g, '').replace(' ', '-')
        const mediaType = format === 'csv' ? `${mediaTypeOf(format)}; charset=utf-8` : mediaTypeOf(format)
        return fileReply(exportPieces(file, first, readPageAt), mediaType, `${kind}-${moment}.${format}`)
      },
      { admission: ({ kind }) => pageOfKind(kind) },
    ),

    handle(getTemplate, async ({ query: { kind } }) =>
      fileReply(`${byteOrderMark}${csvLine(columnsOf(kind))}`, `${mediaTypeOf('csv')}; charset=utf-8`, `${kind}.csv`),
    ),
  ]
}

/** The response to the first request with this key. The file can be compared only once it has arrived. Throws 10008. */
async function firstAnswer(
  sql: Sql,
  file: AsyncIterable<Uint8Array>,
  key: RequestKey | undefined,
  owner: string,
): Promise<ImportRecord> {
  for await (const _ of file);
  const first = await findReplay<ImportRecord>(sql, key, owner)
  if (first === undefined) throw unavailable()
  return first
}

/** Keeps a file while it arrives: the next piece is read while the last one is written, and no further. */
async function keepPieces(
  sql: Sql,
  draft: store.Draft,
  file: RowFile,
  requireRoom: () => Promise<void>,
): Promise<void> {
  let count = 0
  let writing: Promise<void> = Promise.resolve()
  try {
    for await (const { rows, bytesRead } of file.pieces()) {
      await writing
      if (count % piecesOfRoom === piecesOfRoom - 1) await requireRoom()
      writing = store.insertPiece(sql, draft, count, bytesRead, rows)
      // The next write awaits it; until then a failure must not count as unhandled.
      writing.catch(() => {})
      count++
    }
  } catch (error) {
    // The fault of the file is reported even when its last piece could not be written.
    await writing.catch(() => {})
    throw error
  }
  await writing
}

/** The inventory is the platform's: neither applications nor developers change it. */
function requirePlatform(caller: Caller): null {
  if (caller.kind === 'application' || caller.applications !== null) throw new Refusal('notPermitted')
  return null
}

/** The format of a file, which may be named beside its media type. Throws 415 if the two disagree. */
function requireFormat(mediaType: string, named: ImportFormat | null): ImportFormat {
  const format = formatOf(mediaType)
  if (named === null || named === format) return format
  const reason = {
    en: `is ${mediaType}, which doesn’t match the format parameter`,
    zh: `是 ${mediaType}，与 format 不符`,
  }
  throw invalidRequest([{ field: 'Content-Type', reason }], 415)
}

const encoder = new TextEncoder()

interface ExportPage {
  list: object[]
  nextCursor: string | null
}

/** The language is that of reasons, which only refusals have. */
type ExportReader<Query> = (sql: Sql, caller: Caller, query: Query, language: keyof Reason) => Promise<ExportPage>

/** Returns a reader for each kind: that of its page operation, except that devices have one of their own. */
function exportReader(parts: Parts) {
  const deliveries = deliveryPages(parts)
  const readers: Record<ExportKind, ExportReader<never>> = {
    sites: readSitePage,
    devices: readExportedDevicePage,
    placements: readPlacementPage,
    billingRules: readBillingRulePage,
    priceChanges: readPriceChangePage,
    events: readEventPage,
    audit: readAuditPage,
    deliveries: async (sql, caller, query) => (await deliveries(sql, caller, query)).page,
    refusals: readRefusalPage,
  }
  return readers as Record<ExportKind, ExportReader<object>>
}

const filterReaders = new Map<ExportKind, (value: unknown) => object>()

/**
 * The filters of an export, as the page operation of its kind takes them. Throws 10001, also for filters of other
 * kinds.
 */
function readFilters(
  kind: ExportKind,
  { kind: _, format: __, ...filters }: { kind: ExportKind; format?: unknown },
): object {
  const schema = exportFilters(kind)
  const unknown = Object.keys(filters).filter((name) => !Object.hasOwn(schema.properties, name))
  if (unknown.length > 0) {
    const reason = { en: `is not a filter of ${kind}`, zh: `不是 ${kind} 的筛选条件` }
    throw invalidRequest(unknown.map((field) => ({ field, reason })))
  }
  const read = filterReaders.get(kind) ?? validator(schema, 'query', undefined)
  filterReaders.set(kind, read)
  return read(filters)
}

function onlyRefusedRows(): Refusal {
  const reason = { en: 'must be refused if rows is true', zh: 'rows 为 true 时只能是 refused' }
  return invalidRequest([{ field: 'outcome', reason }])
}

function notOnTheMap(): Refusal {
  const reason = { en: 'geojson is only for sites and devices', zh: 'geojson 仅用于站点和设备' }
  return invalidRequest([{ field: 'format', reason }])
}

/** Yields a file in pieces: a page is read when the reader has taken the one before, with turns for others between. */
async function* exportPieces(
  file: FileWriter,
  first: ExportPage,
  readPageAt: (cursor: string) => Promise<ExportPage>,
): AsyncGenerator<Uint8Array> {
  const giveTurn = yielder()
  let page = first
  let text = file.head
  let isFirst = true
  for (;;) {
    for (let from = 0; from < page.list.length; from += writtenAtOnce) {
      await giveTurn()
      text += file.rows(page.list.slice(from, from + writtenAtOnce) as never[], isFirst)
      isFirst = false
    }
    if (page.nextCursor === null) break
    yield encoder.encode(text)
    text = ''
    page = await readPageAt(page.nextCursor)
  }
  yield encoder.encode(text + file.tail)
}
