import { limits } from '../../../vocabulary/limits.ts'
import { type RefusalName, refusals } from '../../../vocabulary/refusals.ts'
import type { JobFailure } from './contract.ts'

// Why a job failed: as data, of which the console makes a sentence in the reader's language, and as a sentence in English
// for other readers and for the command line.

interface FailedJob {
  noun: 'import' | 'act'
  id: number
  /** Where the job stopped: a line of its file, a serial number or the id of a site; null before its first row. */
  place: string | null
}

export interface ToldFailure {
  failure: JobFailure
  words: string
}

const nothing = { place: null, code: null, count: null, cause: null }

const at = ({ noun, place }: FailedJob) => (place === null ? '' : ` at ${noun === 'import' ? 'line ' : ''}${place}`)

/** The caller who began the job may not go on with it. */
export function accessLost(job: FailedJob, loss: RefusalName): ToldFailure {
  const { code, en } = refusals[loss]
  return {
    failure: { ...nothing, kind: 'accessLost', place: job.place, code },
    words: `The ${job.noun} stopped${at(job)} because the person or program that started it lost access (${code} ${loss}: ${en}). Rows before that point are done.`,
  }
}

/** Too many rows were refused to keep their outcomes. */
export function rowsRefused(job: FailedJob): ToldFailure {
  const count = limits.importRefusedRows
  const todo = job.noun === 'import' ? '. Correct the file and upload it again' : ''
  return {
    failure: { ...nothing, kind: 'rowsRefused', place: job.place, count },
    words: `The ${job.noun} stopped${at(job)}, because ${count} of its rows were refused${todo}.`,
  }
}

/** Attempts failed one after the other. Only the log has the database's own words: they can repeat a row. */
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
