import { expect } from 'bun:test'
import type { ImportRecord } from '../../src/bulk/contract.ts'
import { client, expectSuccess, linesOf } from './support.ts'

export const ndjson = 'application/x-ndjson'

export type File = string | Uint8Array<ArrayBuffer>

/** A line of an import's result. */
export interface Line {
  line: number
  outcome: string
  code: number
  msg: string
  errors: { field: string; reason: string }[] | null
  deviceNo?: string | null
  id?: number | null
}

/** Sends a file and returns the response. */
export function send(
  { token }: { token: string },
  kind: string,
  file: File,
  type = 'text/csv',
  more: object = {},
  key?: string,
) {
  const headers = { 'content-type': type, ...(key !== undefined && { 'idempotency-key': key }) }
  return client.call('createImport', { kind, file, ...more }, { token, headers })
}

/** Waits for an import's end. */
export async function ended(id: number): Promise<ImportRecord> {
  for (;;) {
    const told = expectSuccess(await client.operate('getImport', { id }))
    if (told.status > 2) return told
    await Bun.sleep(25)
  }
}

export async function resultOf(id: number, query: object = {}): Promise<Line[]> {
  const { status, text, headers } = await client.operate('getImportResult', { id, ...query })
  expect([status, headers.get('content-type')]).toEqual([200, ndjson])
  return linesOf(text)
}

/**
 * Imports a file and waits for the end. Returns the import with the lines of its result. The inventory takes one import at
 * a time, of any test.
 */
export async function imported(caller: { token: string }, kind: string, file: File, type?: string, more?: object) {
  let answer = await send(caller, kind, file, type, more)
  for (; kind === 'inventory' && answer.code === 70003; answer = await send(caller, kind, file, type, more)) {
    await Bun.sleep(25)
  }
  const { id } = expectSuccess(answer)
  return { ...(await ended(id)), lines: await resultOf(id) }
}

/** The same with `mode=upsert`. */
export const upserted = (caller: { token: string }, kind: string, file: File, type?: string, more: object = {}) =>
  imported(caller, kind, file, type, { mode: 'upsert', ...more })

/** For each line its outcome, or the code of its refusal. */
export const outcomesOf = (lines: readonly Line[]) => lines.map(({ outcome, code }) => (code === 0 ? outcome : code))

export const csvOf = (...rows: string[]) => `${rows.join('\r\n')}\r\n`
