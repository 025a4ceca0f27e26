import { limits } from '../../../vocabulary/limits.ts'
import { type RefusalName, refusals } from '../../../vocabulary/refusals.ts'

// Why a job failed, as a sentence that its record keeps. The console reads the sentence and says it in the reader's
// language, so each sentence stands here beside the pattern that reads it.

type Noun = 'import' | 'act'

interface FailedJob {
  noun: Noun
  id: number
  /** Where the job stopped: a line of its file, a serial number or the id of a site; null before its first row. */
  place: string | null
}

const at = ({ place }: FailedJob) => (place === null ? '' : ` at ${place}`)

/** The caller who began the job may not go on with it. */
export function wordsOfLoss(job: FailedJob, loss: RefusalName): string {
  const { code, en } = refusals[loss]
  return `The ${job.noun} stopped${at(job)}, because its sender has lost access (${code} ${loss}: ${en}). Rows before it are done.`
}

/** Too many rows were refused to keep their outcomes. */
export function wordsOfRefused(job: FailedJob): string {
  const todo = job.noun === 'import' ? ': correct the file and send it again' : ''
  return `The ${job.noun} stopped${at(job)}, because ${limits.importRefusedRows} of its rows were refused${todo}.`
}

/** Attempts failed one after the other. Only the log has the database's own words: they can repeat a row. */
export function wordsOfFailure(job: FailedJob, error: unknown): string {
  const { name = 'Error', code } = error as { name?: string; code?: string }
  const what = code === undefined ? name : `${name} ${code}`
  return `The ${job.noun} stopped after ${limits.importFailures} failed attempts${at(job)} (${what}). See the service log, ${job.noun}Id ${job.id}.`
}

export function wordsOfMissing(rows: number): string {
  return `The service has lost ${rows} rows of the file: send it again.`
}

/** What a sentence says, by its kind: `place` is empty where the job had not begun. */
export type JobFailure =
  | { kind: 'loss'; place: string; code: string; name: string }
  | { kind: 'refused'; place: string; rows: string }
  | { kind: 'failure'; place: string; attempts: string; what: string; id: string }
  | { kind: 'missing'; rows: string }

const patterns: Record<JobFailure['kind'], RegExp> = {
  loss: /^The \w+ stopped(?: at (?<place>.+?))?, because its sender has lost access \((?<code>\d+) (?<name>\w+): /,
  refused: /^The \w+ stopped(?: at (?<place>.+?))?, because (?<rows>\d+) of its rows were refused/,
  failure:
    /^The \w+ stopped after (?<attempts>\d+) failed attempts(?: at (?<place>.+?))? \((?<what>.+)\)\. See the service log, \w+Id (?<id>\d+)\.$/,
  missing: /^The service has lost (?<rows>\d+) rows of the file/,
}

/** Reads one of the sentences above; undefined for any other text. */
export function readJobFailure(error: string): JobFailure | undefined {
  for (const [kind, pattern] of Object.entries(patterns)) {
    const groups = pattern.exec(error)?.groups
    if (groups !== undefined) return { ...groups, place: groups.place ?? '', kind } as JobFailure
  }
  return undefined
}
