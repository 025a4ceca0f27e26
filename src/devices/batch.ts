import type { Static } from 'typebox'
import { findReusedBatchKey } from '../database/idempotency.ts'
import { preferredLanguage } from '../http/language.ts'
import type { Idempotency } from '../http/serve.ts'
import { validator } from '../http/validate.ts'
import type { Platform } from '../platform.ts'
import { type Reason, Refusal, refusals, unavailable } from '../refusals.ts'
import { createDevice, DeviceBatchRow } from './contract.ts'
import type { Submission } from './lane.ts'

interface Batch {
  appId: string
  actor: string
  rows: readonly unknown[]
  idempotency: Idempotency | undefined
  acceptLanguage: string | null
}

const readRow = validator(DeviceBatchRow, 'device', undefined)

/**
 * Registers the rows of a batch, each by itself: what is refused or faulty is that row's outcome. Answers the results,
 * in order, as JSON text. With a key, each row that succeeds keeps its own answer in its own transaction, so a retry
 * after a crash finds the rows that were written and writes the others. Throws 10008.
 */
export async function registerBatch(
  { sql, log }: Platform,
  register: (submission: Submission) => Promise<string>,
  { appId, actor, rows, idempotency, acceptLanguage }: Batch,
): Promise<string> {
  if (idempotency !== undefined) await requireSameBatch(sql, appId, idempotency)
  const language = preferredLanguage(acceptLanguage)
  const results = await Promise.all(
    rows.map(async (row, index) => {
      try {
        const body = { ...(readRow(row) as Static<typeof DeviceBatchRow>), appId }
        // A caller's own keys hold no space, so the two can never be mistaken for each other.
        const key = idempotency && { ...idempotency, key: `${batchKey(idempotency)} ${index}` }
        const record = await register({ body, actor, idempotency: key })
        return resultText(body.deviceNo, 0, 'success', record)
      } catch (error) {
        if (!(error instanceof Refusal)) log.error({ err: error, row: index }, 'a row of a batch failed')
        return refusedText(row, error instanceof Refusal ? error : unavailable(), language)
      }
    }),
  )
  return `{"results":[${results.join(',')}]}`
}

const batchKey = ({ key }: Idempotency) => `batch ${key}`

async function requireSameBatch(sql: Platform['sql'], appId: string, idempotency: Idempotency): Promise<void> {
  const create = { appId, operation: createDevice.id, key: batchKey(idempotency), bodyHash: idempotency.bodyHash }
  if (await findReusedBatchKey(sql, create)) throw new Refusal('idempotencyKeyReused')
}

function refusedText(row: unknown, refusal: Refusal, language: keyof Reason): string {
  const { code, [language]: msg } = refusals[refusal.refusal]
  const errors = refusal.errors?.map(({ field, reason }) => ({ field, reason: reason[language] }))
  const sent = (row as { deviceNo?: unknown } | null)?.deviceNo
  const deviceNo = typeof sent === 'string' ? sent : null
  return resultText(deviceNo, code, msg, errors === undefined ? 'null' : JSON.stringify({ errors }))
}

function resultText(deviceNo: string | null, code: number, msg: string, data: string): string {
  return `{"deviceNo":${JSON.stringify(deviceNo)},"code":${code},"msg":${JSON.stringify(msg)},"data":${data}}`
}
