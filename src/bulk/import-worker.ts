import type { Logger } from 'pino'
import { databaseRefusal } from '../database/failures.ts'
import type { Sql, Statements } from '../database/open.ts'
import { transaction } from '../database/transaction.ts'
import { insertPlatformEvent } from '../events/store.ts'
import { JsonFault, parseJson } from '../http/json.ts'
import { validator } from '../http/validate.ts'
import { yielder } from '../runtime/event-loop.ts'
import { Rests } from '../runtime/rests.ts'
import { limits } from '../vocabulary/limits.ts'
import { invalidRequest, Refusal, type RefusalName, refusals } from '../vocabulary/refusals.ts'
import { importRows } from './contract.ts'
import {
  type DecideRows,
  decideInventory,
  devicePredictor,
  deviceWriter,
  predictSites,
  type RowOutcome,
  type RowParts,
  siteCreator,
  siteWriter,
  TryAgain,
} from './row-writers.ts'
import { cellReader, type KeptOutcome, type KeptRow } from './rules.ts'
import * as store from './store.ts'

const lookEveryMs = 1_000
/** How long a failed job rests before its next attempt. */
const againAfterMs = 500
/** How often the worker checks whether other writes are under way. */
const busyMs = 300
/** How long an import rests between portions while others write, as a share of what the portion took: they keep over half. */
const restShare = 1.75
/** The longest rest after a portion, however long the portion took. */
const mostRestMs = 1_000

interface Parts extends RowParts {
  sql: Sql
  log: Logger
}

interface ReadRow {
  line: number
  key: string | null
  body: unknown
  refusal: Refusal | undefined
}

type Reader = (row: KeptRow) => ReadRow
/** Composes what can be composed of rows before their transaction. */
type Composer = (rows: unknown[]) => Promise<DecideRows>

/** Runs imports for as long as the service runs, whichever process received their files. */
export class ImportWorker {
  private readonly parts: Parts
  private readonly writers: Record<
    'devices' | 'sites',
    Record<'write' | 'predict', (rows: never[], writer: { appId: string; actor: string }) => Promise<DecideRows>>
  >
  private isStopping = false
  private running: Promise<unknown> = Promise.resolve()
  private readonly rests = new Rests()

  constructor(parts: Parts) {
    this.parts = parts
    this.writers = {
      devices: { write: deviceWriter(parts), predict: devicePredictor(parts) },
      sites: { write: siteWriter(siteCreator(parts)), predict: siteWriter(predictSites) },
    }
  }

  start(): void {
    this.running = Promise.all(Array.from({ length: limits.importsOfProcess }, () => this.run()))
  }

  async stop(): Promise<void> {
    this.isStopping = true
    this.rests.stop()
    await this.running
  }

  /** Looks for work at once. */
  wake(): void {
    this.rests.wake()
  }

  private async run(): Promise<void> {
    while (!this.isStopping) {
      const job = await store.takeJob(this.parts.sql).catch((error: unknown) => {
        this.parts.log.debug({ err: error }, 'imports could not be looked for')
        return undefined
      })
      if (job === undefined) await this.rests.rest(lookEveryMs)
      else await this.workOff(job)
    }
  }

  /** Runs one job until its end or until this process loses its lease. */
  private async workOff(job: store.Job): Promise<void> {
    const { sql, log } = this.parts
    const isBusy = this.lookout(job)
    const keepStatistics = this.statistician(job)
    let failures = 0
    let hasFailed = false
    while (!this.isStopping) {
      try {
        if (await this.attempt(job, isBusy, hasFailed)) return
        await keepStatistics()
        failures = 0
        hasFailed = false
      } catch (error) {
        if (error instanceof store.JobLost) return
        if (error instanceof TryAgain) continue
        hasFailed = true
        log.warn({ err: error, importId: job.id }, 'import attempt failed: it is tried again')
        if (databaseRefusal(error) === undefined && ++failures === limits.importFailures) return this.giveUp(job, error)
        await this.rests.rest(againAfterMs, false)
      }
    }
    await store.releaseJob(sql, job).catch(() => {})
  }

  private async giveUp(job: store.Job, error: unknown, words = wordsOfFailure(job, error)): Promise<void> {
    const { sql, log } = this.parts
    log.error({ err: error, importId: job.id, line: job.line }, 'import failed')
    // If this fails too, the job is taken again and fails again.
    await store.failJob(sql, job, words).catch(() => {})
  }

  /** Runs one step. After a failure it continues from the stored progress: the lost answer may have been a success. */
  private async attempt(job: store.Job, isBusy: () => Promise<boolean>, hasFailed: boolean): Promise<boolean> {
    if (hasFailed) Object.assign(job, await store.renewJobLease(this.parts.sql, job))
    try {
      return await this.step(job, isBusy, hasFailed)
    } catch (error) {
      if (!(error instanceof AccessLost)) throw error
      await this.giveUp(job, error, wordsOfLoss(job, error.loss))
      return true
    }
  }

  /** Decides the rows of a piece, after a failure one by one to find the faulty row. Returns whether the job ended. */
  private async step(job: store.Job, isBusy: () => Promise<boolean>, isCareful: boolean): Promise<boolean> {
    const piece = await store.readPiece(this.parts.sql, job, job.nextPiece)
    if (piece === undefined) {
      await this.finish(job)
      return true
    }
    const read = readerOf(job)
    const giveTurn = yielder()
    while (job.nextRow < piece.rows.length) {
      await giveTurn()
      const givesWay = await isBusy()
      const beganAt = performance.now()
      const most = isCareful ? 1 : givesWay ? limits.importBusyPortionRows : limits.importPortionRows
      const rows = piece.rows.slice(job.nextRow, job.nextRow + most).map(read)
      job.line = rows[0]?.line ?? null
      const next = progressTo(job, piece, rows.length)
      const refused = await this.decide(job, rows, next)
      if (refused >= limits.importRefusedRows) {
        await this.giveUp(job, new Error(`${refused} rows are refused`), wordsOfRefused(job))
        return true
      }
      Object.assign(job, { nextPiece: next.nextPiece, nextRow: next.nextRow })
      const tookMs = performance.now() - beganAt
      if (givesWay) await this.rests.rest(Math.min(tookMs * restShare, mostRestMs), false)
      if (this.isStopping || next.nextRow === 0) return false
    }
    return false
  }

  /** Ends a job whose pieces are worked off: as done, when that was all of its rows. */
  private async finish(job: store.Job): Promise<void> {
    const { sql, showMoment } = this.parts
    const { rows, created, existing, refused } = await store.requireImport(sql, null, job.id, showMoment)
    const missing = rows - created - existing - refused
    if (missing > 0) {
      const words = `The service has lost ${missing} rows of the file: send it again.`
      return this.giveUp(job, new Error(`${missing} rows are missing`), words)
    }
    await transaction(sql, async (tx) => {
      if (job.kind === 'inventory' && !job.isDryRun) {
        const data = { importId: job.id, added: created }
        await insertPlatformEvent(tx, { type: 'deviceInventory.imported', actor: job.actor, subject: null, data })
      }
      await store.finishJob(tx, job, showMoment)
    })
  }

  /** Says whether others write beside a job. */
  private lookout(job: store.Job): () => Promise<boolean> {
    let [lookAt, isBusy] = [Number.NEGATIVE_INFINITY, false]
    return async () => {
      const now = performance.now()
      if (now < lookAt) return isBusy
      lookAt = now + busyMs
      isBusy = await store.areOthersWriting(this.parts.sql, job, busyMs)
      return isBusy
    }
  }

  /** Analyzes a job's tables after the first piece, and then whenever the rows have doubled. */
  private statistician(job: store.Job): () => Promise<void> {
    const { sql, log } = this.parts
    let next = limits.importPortionRows
    return async () => {
      if (job.isDryRun || job.unanalyzed < next) return
      await store
        .analyzeFilled(sql, job.kind, job.unanalyzed)
        .catch((error: unknown) =>
          log.debug({ err: error, importId: job.id }, 'tables of an import could not be analyzed'),
        )
      job.unanalyzed = 0
      next *= 2
    }
  }

  /** Writes rows and stores their outcomes in one transaction. Returns the number of the job's refused rows. */
  private async decide(
    job: store.Job,
    rows: readonly ReadRow[],
    next: Omit<store.Progress, 'outcomes'>,
  ): Promise<number> {
    const { sql } = this.parts
    const sound = rows.filter(({ refusal }) => refusal === undefined)
    const decideRows = await this.composerOf(job)(sound.map(({ body }) => body))
    const [refused, lastEventId] = await transaction(sql, async (tx) => {
      const decided = await this.decideFor(tx, job, decideRows)
      const outcomeOf = new Map(sound.map((row, place) => [row, decided[place] as RowOutcome]))
      const outcomes = rows.map((row) => toKept(row, outcomeOf.get(row) ?? { refusal: row.refusal as Refusal }))
      const refused = await store.settleRows(tx, job, { outcomes, ...next })
      return [refused, job.appId === null ? null : await store.readLastEventId(tx, job.appId)]
    })
    job.lastEventId = lastEventId
    job.unanalyzed += rows.length
    if (job.kind === 'inventory' && !job.isDryRun) this.parts.catalogue.forget()
    return refused
  }

  private async decideFor(tx: Statements, job: store.Job, decideRows: DecideRows): Promise<RowOutcome[]> {
    const loss = await store.lockAndCheckAccess(tx, job)
    if (loss !== undefined) throw new AccessLost(loss)
    return decideRows(tx)
  }

  private composerOf({ kind, isDryRun, appId, actor }: store.Job): Composer {
    if (kind === 'inventory' || appId === null) {
      return async (rows) => (tx) => decideInventory(tx, rows as never[], isDryRun)
    }
    const compose = this.writers[kind][isDryRun ? 'predict' : 'write']
    return (rows) => compose(rows as never[], { appId, actor })
  }
}

/** The job's position after some more rows of a piece. */
function progressTo(job: store.Job, piece: store.StoredPiece, rows: number): Omit<store.Progress, 'outcomes'> {
  const nextRow = job.nextRow + rows
  return nextRow === piece.rows.length
    ? { nextPiece: job.nextPiece + 1, nextRow: 0, bytesRead: piece.bytesRead, freedBytes: piece.keptBytes }
    : { nextPiece: job.nextPiece, nextRow, bytesRead: null, freedBytes: 0 }
}

/** The caller who began a job may not go on with it. */
class AccessLost extends Error {
  readonly loss: RefusalName

  constructor(loss: RefusalName) {
    super(`access is lost: ${loss}`)
    this.loss = loss
  }
}

function wordsOfLoss({ line }: store.Job, loss: RefusalName): string {
  const { code, en } = refusals[loss]
  return `The import stopped at line ${line}, because its sender has lost access (${code} ${loss}: ${en}). Rows before it are done.`
}

function wordsOfRefused({ line }: store.Job): string {
  return `The import stopped at line ${line}, because ${limits.importRefusedRows} of its rows were refused: correct the file and send it again.`
}

/** The reason that users see. Only the log has the database's own words: they can repeat a row. */
function wordsOfFailure({ id, line }: store.Job, error: unknown): string {
  const { name = 'Error', code } = error as { name?: string; code?: string }
  const place = line === null ? '' : ` at line ${line}`
  const what = code === undefined ? name : `${name} ${code}`
  return `The import stopped after ${limits.importFailures} failed attempts${place} (${what}). See the service log, importId ${id}.`
}

/** Reads a stored row, and checks it as the operation that creates such a record does. */
function readerOf({ kind, format, columns }: store.Job): Reader {
  const check = validator(importRows[kind], 'row', undefined)
  const readCells = format === 'csv' ? cellReader(kind, columns ?? []) : undefined
  const width = columns?.length ?? 0
  return ([line, ...cells]) => {
    let body: unknown
    try {
      if (cells.length === 0) throw rowFault('is too large', '过大')
      if (readCells === undefined) body = parseJson(Buffer.from(cells[0] ?? ''))
      else if (cells.length === width) body = readCells(cells)
      else throw wrongWidth(cells.length, width)
      return { line, key: keyOf(kind, body), body: check(body), refusal: undefined }
    } catch (error) {
      const key = keyOf(kind, body)
      if (error instanceof Refusal) return { line, key, body, refusal: error }
      if (error instanceof JsonFault) return { line, key, body, refusal: rowFault(error.reason.en, error.reason.zh) }
      throw error
    }
  }
}

function rowFault(en: string, zh: string): Refusal {
  return invalidRequest([{ field: 'row', reason: { en, zh } }])
}

/** A row with too many cells keeps one more than there are columns. */
function wrongWidth(cells: number, columns: number): Refusal {
  return cells > columns
    ? rowFault(
        `has more cells than there are columns (${columns}); a cell that holds a comma stands in quotes`,
        `单元格多于表头的 ${columns} 列；含逗号的单元格须加引号`,
      )
    : rowFault(`has ${cells} cells, but there are ${columns} columns`, `有 ${cells} 个单元格，而表头有 ${columns} 列`)
}

/** The serial number that a row names, faulty as it may be. */
function keyOf(kind: store.Job['kind'], body: unknown): string | null {
  const serial = kind === 'sites' ? undefined : (body as { deviceNo?: unknown } | null | undefined)?.deviceNo
  return typeof serial === 'string' ? serial.slice(0, 128) : null
}

function toKept({ line, key }: ReadRow, decided: RowOutcome): KeptOutcome {
  if ('outcome' in decided) return [line, decided.outcome, decided.key]
  const { refusal, errors } = decided.refusal
  return [line, refusal, key, errors ?? null]
}
