import { readBillingRulePage } from '../billing-rules/pages.ts'
import { actorOf, type Caller, keyOwnerOf } from '../callers/caller.ts'
import { requireApplicationOf, requireApplicationsOf } from '../callers/permissions.ts'
import type { Config } from '../config.ts'
import type { Context } from '../context.ts'
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
import { noting } from '../http/request-parts.ts'
import { validator } from '../http/validate.ts'
import { yielder } from '../runtime/event-loop.ts'
import { startRounds } from '../runtime/loop.ts'
import { readSitePage } from '../sites/pages.ts'
import { readPriceChangePage } from '../sites/price-changes/pages.ts'
import { readFilters } from '../vocabulary/filters.ts'
import { limits } from '../vocabulary/limits.ts'
import { showMoment } from '../vocabulary/moments.ts'
import {
  type FieldFault,
  fieldFault,
  invalidField,
  invalidRequest,
  type Reason,
  Refusal,
  unavailable,
} from '../vocabulary/refusals.ts'
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

/** A lease outlasts a few failed renewals. */
const renewEveryMs = 5_000
/** The room is checked again after this many pieces, some megabytes. */
const piecesOfRoom = 16
/** Other requests get a turn after this many rows. */
const writtenAtOnce = 50

export function bulkRoutes({ sql, config }: Context, onSubmitted: () => void): Handler[] {
  const readPage = exportReader(config)
  const requireRoom = roomFor(sql, config)

  return [
    takeFile(
      createImport,
      async ({ caller, actor, query, file, idempotency, sourceAddress, pending }) => {
        const { kind } = query
        const format = requireFormat(file.mediaType, given(query.format))
        const appId =
          kind === 'inventory' ? requirePlatform(caller) : await requireApplicationOf(sql, caller, query.appId)
        const owner = appId ?? keyOwnerOf(caller)
        // Before the replay: the running import may be this very request's, whose response is then stored.
        const isUnderWay = await jobs.isUnderWay(sql, appId)
        if (await hasAnswer(sql, idempotency, owner)) return firstAnswer(sql, file, idempotency, owner)
        if (isUnderWay) throw new Refusal('importRunning')
        await requireRoom(appId)
        const mode = given(query.mode) ?? 'create'
        const leftOut = leftOutColumns({ kind, mode }, given(query.ignoreColumns))
        const begun = { appId, kind, mode, format, isDryRun: query.dryRun === 'true', actor, caller }
        const draft = await pending.transaction(sql, (tx) => store.insertDraft(tx, begun))
        // A piece of a slow file may take longer than a lease. If the lease is lost, the next piece is refused.
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
              // A dry run changes nothing and leaves no event.
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
      },
      { isPlatforms: ({ kind }) => kind === 'inventory' },
    ),

    read(getImport, async ({ sql, caller, query }) =>
      jobs.requireJob(sql, store.imports, await requireApplicationsOf(sql, caller, query.appId), query.id),
    ),

    read(pageImports, async ({ sql, caller, query: { appId, ...query } }) => {
      const appIds = await requireApplicationsOf(sql, caller, appId)
      const filter = { ...query, ...readFilters(pageImports.query, query), appIds }
      return jobs.pageOfJobs(sql, store.imports, filter)
    }),

    handle(cancelImport, async ({ caller, body, sourceAddress, pending }) => {
      const appIds = await requireApplicationsOf(sql, caller, body.appId)
      return pending.transaction(sql, async (tx) => {
        const data = await jobs.requireJob(tx, store.imports, appIds, body.id)
        if (data.kind === 'inventory') requirePlatform(caller)
        const event = { actor: actorOf(caller), address: sourceAddress(), subject: data.id, data }
        // Event first: a worker that finishes an inventory import takes its locks in this order.
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
      if (outcome !== null && outcome !== 'refused') {
        throw invalidField('outcome', 'must be refused if rows is true', 'rows 为 true 时只能是 refused')
      }
      return refusedRowsReply(id, languages, readNext)
    }),

    stream(
      createExport,
      async ({ caller, query, header, readNext }) => {
        const { kind } = query
        const format = given(query.format) ?? 'csv'
        // Not before the caller is known to be permitted to read the kind.
        const faults = exportFaults(query)
        if (faults.length > 0) throw invalidRequest(faults)
        const filters = filterReader(kind)(filtersIn(query))
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
        // A query that the list operation refuses is refused before anything is sent.
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

/** Returns the response to the key's first request, after reading the file to compare it. Throws 10008. */
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

/** Stores a file as it arrives, reading one piece ahead. */
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
    // The file's error is reported even if its last piece can't be written.
    await writing.catch(() => {})
    throw error
  }
  await writing
}

/** Throws 10003 for applications and developers: the inventory is the platform's. */
function requirePlatform(caller: Caller): null {
  if (caller.kind === 'application' || caller.applications !== null) throw new Refusal('notPermitted')
  return null
}

/** Returns the file's format. Throws 10001 with status 415 if `format` and media type disagree. */
function requireFormat(mediaType: string, named: ImportFormat | null): ImportFormat {
  const format = formatOf(mediaType)
  if (named === null || named === format) return format
  const en = `is ${mediaType}, which doesn’t match the format parameter`
  throw invalidField('Content-Type', en, `是 ${mediaType}，与 format 不符`, 415)
}

const encoder = new TextEncoder()

interface ExportPage {
  list: object[]
  nextCursor: string | null
}

/** Only refusals use the language, for their reasons. */
type ExportReader<Query> = (sql: Sql, caller: Caller, query: Query, language: keyof Reason) => Promise<ExportPage>

/** Returns each kind's reader: that of its list operation, except for devices. */
function exportReader(config: Config) {
  const deliveries = deliveryPages(config)
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

/** Checks an export's filters as the list operation does. */
function filterReader(kind: ExportKind): (value: unknown) => object {
  const read = filterReaders.get(kind) ?? validator(exportFilters(kind), 'query', undefined)
  filterReaders.set(kind, read)
  return read
}

const filtersIn = ({
  kind: _,
  format: __,
  ...filters
}: {
  kind?: unknown
  format?: unknown
}): Record<string, unknown> => filters

/** Faults of an export's format and filters, which depend on its kind. */
function exportFaults(query: { kind: ExportKind; format?: unknown }): FieldFault[] {
  const { kind, format } = query
  const filters = filtersIn(query)
  const { properties } = exportFilters(kind)
  const unknown = Object.keys(filters).filter((name) => !Object.hasOwn(properties, name))
  const faults = unknown.map((field) => fieldFault(field, `is not a filter of ${kind}`, `不是 ${kind} 的筛选条件`))
  if (format === 'geojson' && kind !== 'sites' && kind !== 'devices') {
    faults.unshift(fieldFault('format', 'geojson is only for sites and devices', 'geojson 仅用于站点和设备'))
  }
  noting(faults, () => filterReader(kind)(filters))
  return faults
}

/** Yields a file in pieces, one page at a time, with turns for others between. */
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
