import type { Logger } from 'pino'
import type { Static } from 'typebox'
import type { Caller } from '../callers/caller.ts'
import { claimKey, type RequestKey, settleKey } from '../database/idempotency.ts'
import type { Sql } from '../database/open.ts'
import { yielder } from '../event-loop.ts'
import { preferredLanguage } from '../http/language.ts'
import { validator } from '../http/validate.ts'
import { type Reason, Refusal, type RefusalName, refusals, unavailable } from '../refusals.ts'
import { DeviceBatchRow } from './contract.ts'
import type { Submission } from './lane.ts'

interface Parts {
  sql: Sql
  log: Logger
  register(submission: Submission): Promise<string>
}

interface Batch {
  caller: Caller
  appId: string
  actor: string
  rows: readonly unknown[]
  idempotency: RequestKey | undefined
  acceptLanguage: string | null
  noteRefusedRow(refusal: Refusal, subject: string | null): void
}

interface RowOutcome {
  /** The row's result as JSON text. */
  text: string
  /** Nothing was decided about the row, so that it can be tried again. */
  isUndecided: boolean
}

/** Rows that are with the lane at once: a thousand would stand before everybody else's one. */
const portionRows = 128

/** What a caller is told that has lost its access. */
const losses: ReadonlySet<RefusalName> = new Set(['tokenInvalid', 'applicationFrozen'])

const readRow = validator(DeviceBatchRow, 'device', undefined)

/**
 * Registers the rows of a batch, each by itself: what is refused or faulty is that row's outcome. Answers the results,
 * in order, as JSON text.
 *
 * With a key the first answer is kept whole. Each row that succeeds also keeps its own in its own transaction, so a
 * retry after a crash finds the rows that were written and writes the others. Where the caller loses its access midway,
 * the rows that were written stay, and the others are refused. Throws 10008, 50003 when there is no room for the first
 * rows, 10002 and 10005 when the caller lost its access before them.
 */
export async function registerBatch(parts: Parts, batch: Batch): Promise<string> {
  const { idempotency, appId } = batch
  if (idempotency === undefined) return answerOf(await registerRows(parts, batch))
  const keyed = { owner: appId, ...idempotency }
  const kept = await claimKey(parts.sql, keyed)
  if (kept !== undefined) {
    idempotency.isReplayed = true
    return kept
  }
  const outcomes = await registerRows(parts, batch)
  const answer = answerOf(outcomes)
  // What the service could not decide, a retry shall.
  if (outcomes.some((outcome) => outcome.isUndecided)) return answer
  const first = await settleKey(parts.sql, keyed, answer)
  idempotency.isReplayed = first !== undefined
  return first ?? answer
}

function answerOf(outcomes: RowOutcome[]): string {
  return `{"results":[${outcomes.map(({ text }) => text).join(',')}]}`
}

async function registerRows(
  { log, register }: Parts,
  { caller, appId, actor, rows, idempotency, acceptLanguage, noteRefusedRow }: Batch,
): Promise<RowOutcome[]> {
  const language = preferredLanguage(acceptLanguage)
  /** Once the caller has lost its access, the rows that are left need not ask. */
  let lost: Refusal | undefined

  async function registerRow(row: unknown, index: number): Promise<RowOutcome> {
    try {
      if (lost !== undefined) throw lost
      const body = { ...(readRow(row) as Static<typeof DeviceBatchRow>), appId }
      // A caller's own keys hold no space, so the two can never be mistaken for each other.
      const key = idempotency && { ...idempotency, key: `batch ${idempotency.key} ${index}` }
      const record = await register({ caller, body, actor, idempotency: key })
      return { text: resultText(body.deviceNo, 0, 'success', record), isUndecided: false }
    } catch (error) {
      if (!(error instanceof Refusal)) log.error({ err: error, row: index }, 'a row of a batch failed')
      const refusal = error instanceof Refusal ? error : unavailable()
      if (losses.has(refusal.refusal)) lost = refusal
      const isUndecided = refusal === lost || refusal.refusal === 'unavailable'
      const deviceNo = serialOf(row)
      noteRefusedRow(refusal, deviceNo)
      return { text: refusedText(deviceNo, refusal, language), isUndecided }
    }
  }

  const outcomes: RowOutcome[] = []
  const pause = yielder()
  for (let from = 0; from < rows.length; from += portionRows) {
    // Faulty rows wait for nothing by themselves.
    await pause()
    const portion = rows.slice(from, from + portionRows)
    outcomes.push(...(await Promise.all(portion.map((row, index) => registerRow(row, from + index)))))
    if (from === 0 && outcomes.every((outcome) => outcome.isUndecided)) throw lost ?? unavailable()
  }
  return outcomes
}

/** The serial number that a row names; null where it names none. */
function serialOf(row: unknown): string | null {
  const sent = (row as { deviceNo?: unknown } | null)?.deviceNo
  return typeof sent === 'string' ? sent : null
}

function refusedText(deviceNo: string | null, refusal: Refusal, language: keyof Reason): string {
  const { code, [language]: msg } = refusals[refusal.refusal]
  const errors = refusal.errors?.map(({ field, reason }) => ({ field, reason: reason[language] }))
  return resultText(deviceNo, code, msg, errors === undefined ? 'null' : JSON.stringify({ errors }))
}

function resultText(deviceNo: string | null, code: number, msg: string, data: string): string {
  return `{"deviceNo":${JSON.stringify(deviceNo)},"code":${code},"msg":${JSON.stringify(msg)},"data":${data}}`
}
