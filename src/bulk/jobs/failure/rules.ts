import { limits } from '../../../vocabulary/limits.ts'
import { type RefusalName, refusals } from '../../../vocabulary/refusals.ts'
import type { JobFailure } from './contract.ts'

// The console makes a sentence of the data, in the reader's language; other readers and the CLI get an English one.

interface FailedJob {
  noun: 'import' | 'act'
  id: number
  /** A line, serial number or site ID; null before the first row. */
  place: string | null
}

export interface ToldFailure {
  failure: JobFailure
  words: string
}

const nothing = { place: null, code: null, count: null, cause: null }

const at = ({ noun, place }: FailedJob) => (place === null ? '' : ` at ${noun === 'import' ? 'line ' : ''}${place}`)

export function accessLost(job: FailedJob, loss: RefusalName): ToldFailure {
  const { code, en } = refusals[loss]
  return {
    failure: { ...nothing, kind: 'accessLost', place: job.place, code },
    words: `The ${job.noun} stopped${at(job)} because the person or program that started it lost access (${code} ${loss}: ${en}). Rows before that point are done.`,
  }
}

/** Refused too many rows to keep their results. */
export function rowsRefused(job: FailedJob): ToldFailure {
  const count = limits.importRefusedRows
  const todo = job.noun === 'import' ? '. Correct the file and upload it again' : ''
  return {
    failure: { ...nothing, kind: 'rowsRefused', place: job.place, count },
    words: `The ${job.noun} stopped${at(job)}, because ${count} of its rows were refused${todo}.`,
  }
}

/** Only the log has the database's own words, which can repeat a row. */
export function attemptsFailed(job: FailedJob, error: unknown): ToldFailure {
  const { name = 'Error', code } = error as { name?: string; code?: string }
  const cause = code === undefined ? name : `${name} ${code}`
  const count = limits.importFailures
  return {
    failure: { ...nothing, kind: 'attemptsFailed', place: job.place, count, cause },
    words: `The ${job.noun} stopped${at(job)} after ${count} failed attempts (${cause}). For details, search the service log for ${job.noun}Id ${job.id}.`,
  }
}

export function rowsLost(count: number): ToldFailure {
  return {
    failure: { ...nothing, kind: 'rowsLost', count },
    words: `${count} rows of the file were lost. Upload the file again.`,
  }
}
