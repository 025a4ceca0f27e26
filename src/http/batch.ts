import type { Logger } from 'pino'
import type { Context } from '../context.ts'
import { claimKey, type RequestKey, releaseKey, settleKey } from '../database/idempotency.ts'
import { rowsInLane } from '../database/lanes.ts'
import { yielder } from '../runtime/event-loop.ts'
import { Turns } from '../runtime/turns.ts'
import { limits } from '../vocabulary/limits.ts'
import { type Reason, Refusal, type RefusalName, refusals, unavailable } from '../vocabulary/refusals.ts'
import { JsonText } from './answer.ts'
import type { OperationRequest } from './handler.ts'
import { preferredLanguage } from './language.ts'

interface Batch<Row> {
  owner: string
  rows: readonly unknown[]
  /** The field that names a row, in the row and in its result. */
  name: string
  /** Throws 10001. */
  readRow(row: unknown): Row
  /** At most once for its key. Returns the response for one row, as JSON text. */
  write(row: Row, key: RequestKey | undefined): Promise<string>
  /** `write` stores no key. */
  keepsNoKeys?: boolean
}

type BatchRequest = Pick<OperationRequest, 'idempotency' | 'header' | 'noteRefusedRow' | 'pending'>

/** The lanes' queues stay short, and more portions would not be faster. */
const portions = new Turns({ ofOne: limits.batchPortionsOfOne, full: unavailable })

interface RowOutcome {
  text: string
  refused?: RefusalName
}

const losses: ReadonlySet<RefusalName | undefined> = new Set(['tokenInvalid', 'applicationFrozen'])
const isUnknown = ({ refused }: RowOutcome) => refused === 'unavailable' || refused === 'tooManyRequests'
/** A retry may still decide the row: there was no room for it, or the caller had lost its access. */
const isUndecided = (outcome: RowOutcome) => isUnknown(outcome) || losses.has(outcome.refused)

/**
 * Each row is a write by itself, whose refusal is its result. Returns the results in order.
 *
 * With a key the first response is kept whole. Each row that succeeds also keeps its own in its own transaction, so a
 * retry after a crash finds the rows that were written and writes the others. If the caller loses its access midway,
 * the other rows are refused. Throws 10008, 50003 if there is no room for the first rows, 10002 and 10005 if the caller
 * lost its access before them: then the key is free again.
 */
export async function runBatch<Row>(
  context: Pick<Context, 'sql' | 'log'>,
  request: BatchRequest,
  batch: Batch<Row>,
): Promise<JsonText> {
  const { sql, log } = context
  const { idempotency } = request
  if (idempotency === undefined) return new JsonText(answerOf(await writeRows(log, request, batch)))
  const keyed = { owner: batch.owner, ...idempotency }
  const claim = await claimKey(sql, keyed)
  if ('answer' in claim) {
    idempotency.isReplayed = true
    return new JsonText(claim.answer)
  }
  idempotency.attempt = claim
  const outcomes = await writeRows(log, request, batch).catch(async (error) => {
    if (error instanceof Refusal && losses.has(error.refusal)) await releaseKey(sql, keyed, claim)
    throw error
  })
  const answer = answerOf(outcomes)
  // Nothing is stored for the key, so that a retry decides the rows without a result.
  if (outcomes.some(isUndecided)) return new JsonText(answer)
  const first = await settleKey(sql, keyed, answer)
  idempotency.isReplayed = first !== undefined
  return new JsonText(first ?? answer)
}

function answerOf(outcomes: RowOutcome[]): string {
  return `{"results":[${outcomes.map(({ text }) => text).join(',')}]}`
}

/** A caller's own keys hold no space. `begunAt`: rows that a retry wrote late must not count for a later batch. */
const keyOfRow = ({ key, attempt }: RequestKey, index: number) => `batch ${key} ${attempt?.begunAt.getTime()} ${index}`

async function writeRows<Row>(
  log: Logger,
  { idempotency, header, noteRefusedRow, pending }: BatchRequest,
  { owner, rows, name, readRow, write, keepsNoKeys = false }: Batch<Row>,
): Promise<RowOutcome[]> {
  const language = preferredLanguage(header('accept-language'))
  const kept = keepsNoKeys ? undefined : idempotency
  let lost: Refusal | undefined

  async function writeRow(row: unknown, index: number): Promise<RowOutcome> {
    const { named, subject } = nameOf(row, name)
    try {
      if (lost !== undefined) throw lost
      const read = readRow(row)
      const record = await write(read, idempotency && { ...idempotency, key: keyOfRow(idempotency, index) })
      noteKept(kept)
      return { text: `${named},"code":0,"msg":"success","data":${record}}` }
    } catch (error) {
      if (!(error instanceof Refusal)) log.error({ err: error, row: index }, 'batch row failed')
      const refusal = error instanceof Refusal ? error : unavailable()
      if (losses.has(refusal.refusal)) lost = refusal
      noteRefusedRow(refusal, subject)
      return { text: `${named},${refusedText(refusal, language)}}`, refused: refusal.refusal }
    }
  }

  const outcomes: RowOutcome[] = []
  const portionRows = rowsInLane()
  const pause = yielder()
  for (let from = 0; from < rows.length; from += portionRows) {
    // Invalid rows wait for nothing by themselves.
    await pause()
    const portion = rows.slice(from, from + portionRows)
    const writePortion = () => Promise.all(portion.map((row, index) => writeRow(row, from + index)))
    outcomes.push(...(await portions.run(owner, pending, writePortion)))
    // A row whose wait has timed out may have been written.
    if (from === 0 && outcomes.every(isUndecided)) throw outcomes.some(isUnknown) ? unavailable() : lost
  }
  return outcomes
}

function noteKept(idempotency: RequestKey | undefined): void {
  if (idempotency !== undefined) idempotency.keptRows = (idempotency.keptRows ?? 0) + 1
}

/** Such as `{"deviceNo":"…"`. */
function nameOf(row: unknown, member: string): { named: string; subject: string | null } {
  const value = (row as Record<string, unknown> | null)?.[member]
  const isName = member === 'id' ? Number.isSafeInteger(value) : typeof value === 'string'
  return { named: `{"${member}":${isName ? JSON.stringify(value) : null}`, subject: isName ? String(value) : null }
}

function refusedText(refusal: Refusal, language: keyof Reason): string {
  const { code, [language]: msg } = refusals[refusal.refusal]
  const errors = refusal.errors?.map(({ field, reason }) => ({ field, reason: reason[language] }))
  const data = errors === undefined ? null : { errors }
  return `"code":${code},"msg":${JSON.stringify(msg)},"data":${JSON.stringify(data)}`
}
