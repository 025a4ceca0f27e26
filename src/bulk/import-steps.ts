import type { Context } from '../context.ts'
import { transaction } from '../database/transaction.ts'
import type { Catalogue } from '../devices/models/catalogue.ts'
import { insertPlatformEvent } from '../events/store.ts'
import { jsonFault, parseJson } from '../http/json.ts'
import { validator } from '../http/validate.ts'
import { limits } from '../vocabulary/limits.ts'
import { invalidField, Refusal } from '../vocabulary/refusals.ts'
import { createImport, type ImportKind, type ImportMode, rowsOf } from './contract.ts'
import { FirstLines } from './first-lines.ts'
import { rowsLost } from './jobs/failure/rules.ts'
import { readResultBytes } from './jobs/outcomes/store.ts'
import type { KeptOutcome } from './jobs/rules.ts'
import { finishJob, type Job, type Progress, readLastEventIds, requireJob, settleRows } from './jobs/store.ts'
import { requireAccessOf, type Steps } from './jobs/worker.ts'
import { deviceUpserter, placementDeciders, siteUpserter } from './row-upserts.ts'
import {
  type DecideRows,
  type DeviceRow,
  decideInventory,
  deviceWriter,
  type RowOutcome,
  siteWriter,
  type Writer,
} from './row-writers.ts'
import { cellReader, type KeptRow, memberReader, requireOwn } from './rules.ts'
import { type ImportJob, importOf, imports, readPiece, type StoredPiece } from './store.ts'

interface ReadRow {
  line: number
  cells: string[]
  key: string | number | null
  body: unknown
  refusal: Refusal | undefined
}

interface Memory {
  firstLines: FirstLines
  /** Bytes of refused rows; after another process took over, of all results. */
  sentBytes: number
}

type Reader = (row: KeptRow) => ReadRow
type Composer = (rows: unknown[]) => Promise<DecideRows>

type DecideKind = (rows: never[], writer: Writer) => Promise<DecideRows>

type Needed = Pick<Context, 'sql' | 'config' | 'metrics'>

function rowDeciders(
  context: Needed,
  catalogue: Catalogue,
): Record<Exclude<ImportKind, 'inventory'>, Record<ImportMode, DecideKind>> {
  const createSites = siteWriter(context)
  return {
    devices: { create: deviceWriter(context, catalogue), upsert: deviceUpserter(context, catalogue) },
    placements: placementDeciders(),
    sites: { create: createSites, upsert: siteUpserter(createSites) },
  }
}

export function importSteps(context: Needed, catalogue: Catalogue): Steps {
  const { sql } = context
  const deciders = rowDeciders(context, catalogue)
  const memories = new WeakMap<Job, Memory>()

  async function memoryOf(job: Job): Promise<Memory> {
    const known = memories.get(job)
    if (known !== undefined) return known
    const decides = job.isDryRun && importOf(job).mode === 'create'
    const memory = { firstLines: new FirstLines(decides), sentBytes: await readResultBytes(sql, job.id) }
    memories.set(job, memory)
    return memory
  }

  function composerOf({ kind, mode }: ImportJob, { isDryRun, appId, actor }: Job): Composer {
    if (kind === 'inventory' || appId === null) {
      return async (rows) => (tx) => decideInventory(tx, rows as never[], { isDryRun, isUpsert: mode === 'upsert' })
    }
    const decide = deciders[kind][mode]
    return (rows) => decide(rows as never[], { appId, actor, isDryRun })
  }

  /** Writes rows and stores their results in one transaction. Returns the job's number of refused rows. */
  async function decide(job: Job, compose: Composer, rows: readonly ReadRow[], next: Omit<Progress, 'outcomes'>) {
    const memory = await memoryOf(job)
    const sound = rows.filter(({ refusal }) => refusal === undefined)
    const decideRows = await compose(sound.map(({ body }) => body))
    const [refused, lastEventIds] = await transaction(sql, async (tx) => {
      await requireAccessOf(tx, job, createImport)
      const decided = await decideRows(tx)
      const outcomeOf = new Map(sound.map((row, place) => [row, decided[place] as RowOutcome]))
      const outcomes = rows.map((row): KeptOutcome => {
        const decided = outcomeOf.get(row)
        if (decided === undefined) return toKept(row, { refusal: row.refusal as Refusal }, memory)
        const isDevice = job.kind === 'devices'
        const { firstLines } = memory
        return toKept(row, isDevice ? firstLines.outcomeOf(row.body as DeviceRow, row.line, decided) : decided, memory)
      })
      const refused = await settleRows(tx, job, { outcomes, ...next })
      return [refused, await readLastEventIds(tx, job)] as const
    })
    job.lastEventIds = lastEventIds
    job.unanalyzed += rows.length
    if (job.kind === 'inventory' && !job.isDryRun) catalogue.forget()
    return refused
  }

  return {
    noun: 'import',

    async findRows(job) {
      const own = importOf(job)
      const piece = await readPiece(sql, job.id, own.nextPiece)
      if (piece === undefined) return undefined
      const ignored = new Set(own.ignoredColumns)
      const read = readerOf(own, job.appId, (column) => void ignored.add(column))
      const compose = composerOf(own, job)
      const first = own.nextRow
      return {
        rows: piece.rows.length - first,
        async decide(from, to) {
          const rows = piece.rows.slice(first + from, first + to).map(read)
          const [at] = rows
          job.place = at === undefined ? null : String(at.line)
          const ignoredColumns = JSON.stringify([...ignored])
          const next = { ...progressTo(own, piece, first + to), ignoredColumns }
          const refused = await decide(job, compose, rows, next)
          Object.assign(job.row, {
            next_piece: next.nextPiece,
            next_row: next.nextRow,
            ignored_columns: ignoredColumns,
          })
          return refused
        },
      }
    },

    async finish(job) {
      const { rows, created, updated, existing, refused } = await requireJob(sql, imports, null, job.id)
      const missing = rows - created - updated - existing - refused
      if (missing > 0) return rowsLost(missing)
      await transaction(sql, async (tx) => {
        if (job.kind === 'inventory' && !job.isDryRun) {
          const data = { importId: job.id, added: created + updated }
          const type = 'deviceInventory.imported'
          await insertPlatformEvent(tx, { type, actor: job.actor, subject: null, data }, true)
        }
        await finishJob(tx, job)
      })
      return undefined
    },
  }
}

function progressTo({ nextPiece }: ImportJob, piece: StoredPiece, nextRow: number): Omit<Progress, 'outcomes'> {
  return nextRow === piece.rows.length
    ? { nextPiece: nextPiece + 1, nextRow: 0, bytesRead: piece.bytesRead, freedBytes: piece.keptBytes }
    : { nextPiece, nextRow }
}

/** Reads a stored row and checks it like the operation for one record. */
function readerOf(
  { kind, mode, format, columns }: ImportJob,
  appId: string | null,
  noteIgnored: (column: string) => void,
): Reader {
  const check = validator(rowsOf(kind, mode), 'row', undefined)
  const readCells = format === 'csv' ? cellReader({ kind, mode }, columns ?? []) : undefined
  const readMembers = memberReader({ kind, mode }, noteIgnored)
  const width = columns?.length ?? 0
  const ownerAt = columns?.indexOf('appId') ?? -1
  return ([line, ...cells]) => {
    let body: unknown
    try {
      if (cells.length === 0) throw rowFault('is too large', '过大')
      let owner: unknown = cells[ownerAt]
      if (readCells === undefined) {
        const row = parseJson(Buffer.from(cells[0] ?? ''))
        body = readMembers(row)
        owner = (row as { appId?: unknown } | null)?.appId
      } else if (cells.length === width) body = readCells(cells)
      else throw wrongWidth(cells.length, width)
      requireOwn(appId, owner)
      return { line, cells, key: keyOf(kind, body), body: check(body), refusal: undefined }
    } catch (error) {
      const key = keyOf(kind, body)
      if (error instanceof Refusal) return { line, cells, key, body, refusal: error }
      if (!jsonFault.is(error)) throw error
      return { line, cells, key, body, refusal: rowFault(error.detail.en, error.detail.zh) }
    }
  }
}

const rowFault = (en: string, zh: string) => invalidField('row', en, zh)

function wrongWidth(cells: number, columns: number): Refusal {
  return cells > columns
    ? rowFault(
        `has more cells than there are columns (${columns}); a cell that holds a comma needs quotes`,
        `单元格多于表头的 ${columns} 列；含逗号的单元格须加引号`,
      )
    : rowFault(`has ${cells} cells, but there are ${columns} columns`, `有 ${cells} 个单元格，而表头有 ${columns} 列`)
}

/** Returns the serial or site ID of a row, even an invalid one; null without. */
function keyOf(kind: ImportJob['kind'], body: unknown): string | number | null {
  const { deviceNo, id } = (body ?? {}) as { deviceNo?: unknown; id?: unknown }
  if (kind === 'sites') return typeof id === 'number' && Number.isSafeInteger(id) ? id : null
  return typeof deviceNo === 'string' ? deviceNo.slice(0, 128) : null
}

function toKept({ line, key, cells }: ReadRow, decided: RowOutcome, memory: Memory): KeptOutcome {
  if ('outcome' in decided) return [line, decided.outcome, decided.key]
  const { refusal, errors } = decided.refusal
  memory.sentBytes += Buffer.byteLength(cells.join())
  return [line, refusal, key, errors ?? null, memory.sentBytes <= limits.importSentBytes ? cells : []]
}
