import type { JobFailure } from '../../../src/bulk/jobs/failure/contract.ts'
import type { FindingRecord } from '../../../src/service/contract.ts'
import { fill } from '../../../src/vocabulary/fill.ts'
import { wordsOf } from '../../../src/vocabulary/findings.ts'
import { type Language, useLanguage } from '../language/index.ts'
import { inBytes } from '../ui/text/bytes.ts'
import { grouped } from '../ui/text/number.ts'
import { attemptWords } from '../words/attempt-words.ts'
import { jobFailureWords } from '../words/job-failure-words.ts'

/** The values of a finding by their names. */
export const valuesOf = ({ values }: Pick<FindingRecord, 'values'>): Record<string, string> =>
  Object.fromEntries(values.map(({ name, value }) => [name, value]))

const isSize = (name: string) => /bytes$/i.test(name)
const isCount = (name: string) => ['count', 'held', 'stopped', 'limit', 'needed', 'inUse'].includes(name)

/** Why a callback or a job fails, in the reader's words. */
function reasonIn(finding: FindingRecord, reason: string, language: Language): string {
  if (finding.code === 'callbackFailing') return attemptWords(reason, language)
  if (finding.code !== 'importFailed' && finding.code !== 'actFailed') return reason
  const { id = '', why, place = null, code = null, count = null, cause = null } = valuesOf(finding)
  const kind = why as JobFailure['kind'] | undefined
  const failure = kind === undefined ? null : { kind, place, code: numberOf(code), count: numberOf(count), cause }
  const noun = finding.code === 'importFailed' ? 'import' : 'act'
  return jobFailureWords({ noun, id, failure, error: reason }, language)
}

const numberOf = (text: string | null) => (text === null ? null : Number(text))

/** Returns the functions that say a finding in words, and what to do about it. */
export function useSentences() {
  const language = useLanguage()
  const say = (text: string, finding: FindingRecord) => {
    const shown = finding.values.map(({ name, value }) => {
      if (name === 'reason') return [name, reasonIn(finding, value, language)]
      if (isSize(name)) return [name, inBytes(Number(value))]
      return [name, isCount(name) ? grouped(Number(value)) : value]
    })
    return fill(text, Object.fromEntries(shown))
  }
  return {
    sentence(finding: FindingRecord): string {
      const { reason, failure } = valuesOf(finding)
      const words = wordsOf(finding.code)
      const told = (reason ?? failure) === undefined ? words : (words?.withReason ?? words)
      return say(told?.[language] ?? finding.code, finding)
    },
    /** Empty where there is nothing to do. */
    todo(finding: FindingRecord): string {
      return finding.status === 'ok' ? '' : say(wordsOf(finding.code)?.todo?.[language] ?? '', finding)
    },
  }
}
