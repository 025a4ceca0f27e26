import { ForecourtError } from '../../../sdk/src/error.ts'
import { getImportResult } from '../../../src/bulk/contract.ts'
import type { Operation } from '../../../src/vocabulary/operation.ts'

/** The outcome of one row, as in the service's result file. */
export interface ResultRow<Outcome extends string = string> {
  /** In the file of an import. */
  line?: number
  outcome: Outcome
  code: number
  msg: string
  errors: { field: string; reason: string }[] | null
  /** For a device or an inventory entry. */
  deviceNo?: string | null
  /** For a site. */
  id?: number | null
}

/** The address of a result: of all rows, or of those with one outcome. */
export function resultAddress({ path }: Operation, id: number, outcome: string | undefined): string {
  return `${path}?id=${id}${outcome === undefined ? '' : `&outcome=${outcome}`}`
}

interface Wish {
  most: number
  language: string
  signal?: AbortSignal
}

/** Reads the first rows of a result, which may have a million lines, at its address. Throws `ForecourtError`. */
export async function firstRows(address: string, { most, ...wish }: Wish) {
  const { body } = await read(address, wish)
  return readRows(body, most)
}

/** The refused rows of an import as they were sent, with the reasons. The browser holds them outside of the page's memory. */
export async function refusedRows(id: number, language: string): Promise<Blob> {
  return (await read(`${getImportResult.path}?id=${id}&rows=true`, { language })).blob()
}

async function read(address: string, { language, signal }: Omit<Wish, 'most'>) {
  const headers = { 'accept-language': language }
  const response = await fetch(address, { headers, ...(signal && { signal }) })
  if (!response.ok || response.body === null) {
    const { status, statusText } = response
    const answer = envelopeOf(await response.text())
    throw new ForecourtError(answer?.msg ?? statusText, {
      code: answer?.code ?? 0,
      status,
      operation: address,
      requestId: response.headers.get('x-request-id'),
    })
  }
  return response as Response & { body: ReadableStream<Uint8Array> }
}

/** The envelope of an answer; undefined for any other text. */
function envelopeOf(text: string): { code: number; msg: string } | undefined {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Reads rows until there are enough, and cancels the rest of the download. */
export async function readRows(
  body: ReadableStream<Uint8Array>,
  most: number,
): Promise<{ rows: ResultRow[]; isMore: boolean }> {
  const rows: ResultRow[] = []
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let left = ''
  for (;;) {
    const { done, value } = await reader.read()
    const lines = (left + decoder.decode(value, { stream: !done })).split('\n')
    left = done ? '' : (lines.pop() ?? '')
    rows.push(...lines.filter((line) => line !== '').map((line) => JSON.parse(line) as ResultRow))
    if (done || rows.length > most) break
  }
  await reader.cancel()
  return { rows: rows.slice(0, most), isMore: rows.length > most }
}

/** A result as CSV for spreadsheets. */
export function resultCsv(rows: readonly ResultRow[]): string {
  const lines = rows.map(({ line, outcome, code, msg, errors, deviceNo, id }) => {
    const reasons = (errors ?? []).map(({ field, reason }) => `${field}: ${reason}`)
    return [line ?? '', deviceNo ?? id ?? '', outcome, code, [msg, ...reasons].join('; ')].map(cell).join(',')
  })
  return `\ufeff${['line,key,outcome,code,reason', ...lines].join('\r\n')}\r\n`
}

/** Escapes a cell that a spreadsheet would execute as a formula. */
function cell(value: string | number): string {
  const text = String(value)
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
