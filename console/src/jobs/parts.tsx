import { Progress } from 'antd'
import type { ReactNode } from 'react'
import type { ActRecord } from '../../../src/bulk/acts/contract.ts'
import type { ImportRecord } from '../../../src/bulk/contract.ts'
import { jobStatus } from '../../../src/bulk/jobs/contract.ts'
import { useLanguage } from '../language/index.ts'
import { Note } from '../ui/page/note.tsx'
import { State } from '../ui/text/status.tsx'
import { jobFailureWords } from '../words/job-failure-words.ts'
import { useJobTexts } from './texts.ts'

/** An import, or a bulk action. */
export type Job = ImportRecord | ActRecord

const tones = ['idle', 'busy', 'good', 'bad', 'warn'] as const

/** The state of a job, in a word. */
export function JobState({ status }: Pick<Job, 'status'>) {
  const t = useJobTexts()
  return <State tone={tones[status - 1] ?? 'idle'}>{t(`status_${status}` as 'status_1')}</State>
}

/** Whether a job has not finished. */
export const isUnderWay = ({ status }: Pick<Job, 'status'>) =>
  status === jobStatus.waiting || status === jobStatus.running

/** How many rows have a result. */
export const decidedOf = (job: Job): number =>
  'bytes' in job ? job.created + job.updated + job.existing + job.refused : job.done + job.unchanged + job.refused

/** How far a job is, in whole per cent: an import by its file, because its rows are not known before the end. */
export function percentOf(job: Job): number {
  const [done, all] = 'bytes' in job ? [job.bytesRead, job.bytes] : [decidedOf(job), job.rows]
  return Math.floor((done / Math.max(1, all)) * 100)
}

interface JobProgressProps {
  job: Job
  label: string
  /** Says how many of its rows have a result. */
  words: string
  /** Says that the job doesn’t need this page. */
  mayLeave: string
}

/** How far a job is. */
export function JobProgress({ job, label, words, mayLeave }: JobProgressProps) {
  const isOver = !isUnderWay(job)
  const status = job.error === null ? 'success' : 'exception'
  return (
    <output className="spaced">
      <Progress aria-label={label} percent={isOver ? 100 : percentOf(job)} status={isOver ? status : 'active'} />
      <span className="number">{words}</span> {!isOver && <span className="faint">{mayLeave}</span>}
    </output>
  )
}

/** Says why a job failed, if it did; `wrap` puts the reason into a sentence. */
export function JobFailure({ job, wrap = (reason) => reason }: { job: Job; wrap?: (reason: string) => ReactNode }) {
  const language = useLanguage()
  if (job.error === null) return null
  const noun = 'bytes' in job ? 'import' : 'act'
  return <Note type="error" words={wrap(jobFailureWords({ ...job, noun }, language))} />
}
