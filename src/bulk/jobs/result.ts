import type { Sql } from '../../database/open.ts'
import { fileReply, type Reply } from '../../http/answer.ts'
import { preferredLanguage } from '../../http/language.ts'
import type { Reason } from '../../vocabulary/refusals.ts'
import { mediaTypeOf } from '../contract.ts'
import { type Outcome, outcomeOf, resultLine } from './rules.ts'
import { readOutcomes } from './store.ts'

type ReadNext = <Answer>(read: (sql: Sql) => Promise<Answer>) => Promise<Answer>

interface JobOfResult {
  id: number
  kind: string
  noun: 'import' | 'act'
}

/** Responds with the outcomes of a job's rows, a line of NDJSON each. */
export function resultReply(
  job: JobOfResult,
  wanted: Outcome | null,
  languages: string | null,
  readNext: ReadNext,
): Reply {
  const lines = resultLines(job, wanted, preferredLanguage(languages), readNext)
  return fileReply(lines, mediaTypeOf('ndjson'), `${job.noun}-${job.id}.ndjson`)
}

const encoder = new TextEncoder()

async function* resultLines(
  { id, kind }: JobOfResult,
  wanted: Outcome | null,
  language: keyof Reason,
  readNext: ReadNext,
): AsyncGenerator<Uint8Array> {
  for (let after = 0; ; ) {
    const portion = await readNext((sql) => readOutcomes(sql, id, after, wanted))
    if (portion === undefined) return
    after = portion.id
    const meant = portion.outcomes.filter((outcome) => wanted === null || outcomeOf(outcome) === wanted)
    yield encoder.encode(meant.map((outcome) => resultLine(kind, outcome, language)).join(''))
  }
}
