import { setTimeout as pause } from 'node:timers/promises'
import { ForecourtError } from '#sdk/error'
import { UserError } from '../runtime/user-error.ts'
import { type Context, exitCodes } from './context.ts'
import { progressBar } from './progress.ts'

/** The most refused rows that are printed; the result has all of them. */
const shownRefusals = 20
const lookEveryMs = 250
const done = { finished: 3, failed: 4, cancelled: 5 } as const

export const jobStatuses = ['', 'waiting', 'running', 'done', 'failed', 'cancelled']

export async function watch(context: Context, act: (signal: AbortSignal) => Promise<void>): Promise<void> {
  const ending = new AbortController()
  const interrupt = () => ending.abort(new UserError('Interrupted.'))
  process.once('SIGINT', interrupt)
  try {
    await act(ending.signal)
  } catch (error) {
    // A bar may be half drawn.
    if (context.isWatched) context.stderr.write('\n')
    throw error
  } finally {
    process.off('SIGINT', interrupt)
  }
}

interface Job {
  status: number
  refused: number
  error: string | null
}

interface JobWords<Of extends Job> {
  noun: 'import' | 'act'
  get(): Promise<Of>
  refusedRows(): Promise<{ rows<Row>(): AsyncIterable<Row> }>
  saveRefused?(): Promise<void>
  /** How much of the job is done, and of how much. */
  progress(job: Of): [number, number]
  sheetOf(job: Of): string
  onFailure: string
  onCancel: string
}

export async function waitForJob<Of extends Job>(
  id: number,
  signal: AbortSignal,
  context: Context,
  words: JobWords<Of>,
): Promise<void> {
  const found = await untilEnded(id, signal, context, words)
  const refusals = found.refused > 0 ? await firstRefusals(words) : []
  const told = refusals.map(describe)
  const more = found.refused > told.length ? [`… and ${found.refused - told.length} more`] : []
  context.result({ ...found, refusals }, [words.sheetOf(found), ...told, ...more].join('\n'))
  // Afterwards, because it may fail.
  if (found.refused > 0) await words.saveRefused?.()
  const { status, error, refused } = found
  if (status === done.failed) throw new UserError(`${error} ${words.onFailure}`)
  if (status === done.cancelled) throw new UserError(`Cancelled. ${words.onCancel}`)
  if (refused > 0) context.exitCode = exitCodes.someRefused
}

async function untilEnded<Of extends Job>(
  id: number,
  signal: AbortSignal,
  context: Context,
  { noun, get, progress }: JobWords<Of>,
): Promise<Of> {
  const draw = progressBar(context)
  const goesOn = `The ${noun} ${id} keeps running in the service. To wait for it: forecourt ${noun} wait ${id}`
  try {
    for (;;) {
      const found = await get()
      const hasEnded = Object.values<number>(done).includes(found.status)
      const [part, whole] = progress(found)
      draw('processed', hasEnded ? 1 : Math.min(part, whole - 1), hasEnded ? 1 : whole)
      if (hasEnded) return found
      await pause(lookEveryMs, undefined, { signal })
    }
  } catch (error) {
    if (signal.aborted) throw new UserError(goesOn)
    if (error instanceof ForecourtError && error.status === 0) context.remark(goesOn)
    throw error
  }
}

interface RefusedRow {
  line?: number
  code: number
  msg: string
  errors: { field: string; reason: string }[] | null
  deviceNo?: string
  id?: number
}

async function firstRefusals<Of extends Job>({ refusedRows }: JobWords<Of>): Promise<RefusedRow[]> {
  const refusals: RefusedRow[] = []
  const result = await refusedRows()
  for await (const row of result.rows<RefusedRow>()) {
    refusals.push(row)
    if (refusals.length === shownRefusals) break
  }
  return refusals
}

function describe({ line, code, msg, errors, deviceNo, id }: RefusedRow): string {
  const faults = errors?.map(({ field, reason }) => `${field}: ${reason}`).join('; ')
  const place = line === undefined ? (deviceNo ?? `site ${id}`) : `line ${line}`
  return `${place}: ${code} ${faults || msg}`
}
