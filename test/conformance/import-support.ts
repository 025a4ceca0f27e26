import { expect } from 'bun:test'
import type { CallOptions } from '../kit/client.ts'
import type { OperationId } from '../kit/contracts.ts'
import { client, expectSuccess, linesOf, succeed } from './support.ts'

export const ndjson = 'application/x-ndjson'

export type File = string | Uint8Array<ArrayBuffer>

/** A line of an import's result; that of an act has no number. */
export interface Line {
  line?: number
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

/** Reads an import or act until it has ended. */
export async function untilEnded<Job extends { status: number }>(read: () => Promise<Job>): Promise<Job> {
  for (;;) {
    const told = await read()
    if (told.status > 2) return told
    await Bun.sleep(25)
  }
}

export const ended = (id: number) => untilEnded(() => succeed('getImport', { id }))

export async function resultOf(id: number, query: object = {}, of: OperationId = 'getImportResult'): Promise<Line[]> {
  const { status, text, headers } = await client.operate(of, { id, ...query })
  expect([status, headers.get('content-type')]).toEqual([200, ndjson])
  const lines = linesOf<Line>(text)
  for (const { outcome, code } of lines) expect(outcome === 'refused').toBe(code !== 0)
  return lines
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

/** The same with the line's number before it. */
export const numbered = (lines: readonly Line[]) =>
  outcomesOf(lines).map((outcome, at) => `${lines[at]?.line} ${outcome}`)

/** The members that a refused line names. */
export const fieldsOf = (line: Line | undefined) => line?.errors?.map(({ field }) => field).sort()

/** The columns of a CSV file of devices, and a row. */
export const columns = 'deviceNo,deviceName,districtCode,coordinates'
export const place = '"115.899918,28.676493"'
export const rowOf = (deviceNo: string, deviceName = 'Gate', coordinates = place) =>
  `${deviceNo},${deviceName},360102,${coordinates}`

/** Rows of NDJSON. */
export const ndjsonOf = (...rows: unknown[]) => rows.map((row) => JSON.stringify(row)).join('\n')

export const nameOf = async (app: CallOptions, deviceNo: string) =>
  (await succeed('getDevice', { deviceNo }, app)).deviceName
