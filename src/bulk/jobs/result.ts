import type { Sql } from '../../database/open.ts'
import { fileReply, type Reply } from '../../http/answer.ts'
import { preferredLanguage } from '../../http/language.ts'
import { mediaTypeOf } from '../contract.ts'
import { readOutcomes } from './outcomes/store.ts'
import { type KeptOutcome, type Outcome, outcomeOf, resultLine } from './rules.ts'

export type ReadNext = <Answer>(read: (sql: Sql) => Promise<Answer>) => Promise<Answer>

interface JobOfResult {
  id: number
  kind: string
  noun: 'import' | 'act'
}

export function resultReply(
  job: JobOfResult,
  wanted: Outcome | null,
  languages: string | null,
  readNext: ReadNext,
): Reply {
  const language = preferredLanguage(languages)
  const lines = textOfOutcomes(job.id, wanted, readNext, (outcome) => resultLine(job.kind, outcome, language))
  return fileReply(lines, mediaTypeOf('ndjson'), `${job.noun}-${job.id}.ndjson`)
}

const encoder = new TextEncoder()

export async function* textOfOutcomes(
  id: number,
  wanted: Outcome | null,
  readNext: ReadNext,
  textOf: (outcome: KeptOutcome) => string,
): AsyncGenerator<Uint8Array> {
  for (let after = 0; ; ) {
    const portion = await readNext((sql) => readOutcomes(sql, id, after, wanted))
    if (portion === undefined) return
    after = portion.id
    const meant = portion.outcomes.filter((outcome) => wanted === null || outcomeOf(outcome) === wanted)
    yield encoder.encode(meant.map(textOf).join(''))
  }
}
