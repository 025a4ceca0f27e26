import type { ReactNode } from 'react'
import { useParams } from 'react-router'
import type { Operation } from '../../../src/vocabulary/operation.ts'
import { useRead } from '../api/api.ts'
import { Page as PageFrame } from '../ui/page/page.tsx'
import { Unread } from '../ui/page/refusal.tsx'
import { Actor } from '../ui/text/actor.tsx'
import { ApplicationName } from '../ui/text/application-name.tsx'
import { Facts } from '../ui/text/facts.tsx'
import { Figure } from '../ui/text/figure.tsx'
import { State } from '../ui/text/status.tsx'
import { isUnderWay, type Job, JobState } from './parts.tsx'
import { useJobTexts } from './texts.ts'

interface JobPageProps<One extends Job> {
  /** Returns one job. */
  operation: Operation
  /** The title while the job loads. */
  loadingTitle: string
  titleOf: (job: One) => string
  /** Stands beside the title. */
  besideOf?: (job: One) => ReactNode
  actionsOf: (job: One) => ReactNode
  children: (job: One) => ReactNode
}

/** The frame of the page of one job, which is read again until the job has finished. */
export function JobPage<One extends Job>({ operation, loadingTitle, children, ...parts }: JobPageProps<One>) {
  const t = useJobTexts()
  const { titleOf, besideOf, actionsOf } = parts
  const id = Number(useParams().id)
  const { data, error, refetch } = useRead(operation, { id })
  const job = data as One | undefined
  if (job === undefined) {
    return (
      <PageFrame title={loadingTitle} operation={operation}>
        <Unread error={error} refetch={refetch} />
      </PageFrame>
    )
  }
  return (
    <PageFrame
      title={titleOf(job)}
      beside={
        <>
          <JobState status={job.status} />
          {besideOf?.(job)}
          {job.dryRun && <State tone="idle">{t('dryRun')}</State>}
        </>
      }
      operation={operation}
      actions={actionsOf(job)}
    >
      {isUnderWay(job) && <Watch operation={operation} id={id} />}
      {children(job)}
    </PageFrame>
  )
}

/** Polls the job while it is mounted. */
function Watch({ operation, id }: { operation: Operation; id: number }) {
  useRead(operation, { id }, { refetchInterval: 1_000 })
  return null
}

interface JobFactsProps {
  job: Job
  started: string
  /** Facts of this kind of job. */
  facts: Record<string, ReactNode>
}

/** The application of a job, what is particular to its kind, who started it and when. */
export function JobFacts({ job: { appId, actor, createTime, finishTime }, started, facts }: JobFactsProps) {
  const t = useJobTexts()
  return (
    <Facts
      facts={{
        ...(appId !== null && { [t('application')]: <ApplicationName appId={appId} /> }),
        ...facts,
        [t('actor')]: <Actor actor={actor} />,
        [started]: <span className="number">{createTime}</span>,
        [t('finished')]: finishTime && <span className="number">{finishTime}</span>,
      }}
    />
  )
}

/** The counts of a job, each a link to its rows. */
export function JobCounts({ of, pathOf }: { of: Count[]; pathOf: (outcome: string) => string }) {
  return (
    <div className="grid-cards spaced-above">
      {of.map(({ name, value, outcome }) => (
        <Figure key={outcome} name={name} value={value} isBad={outcome === 'refused'} to={pathOf(outcome)} />
      ))}
    </div>
  )
}

interface Count {
  name: string
  value: number
  outcome: string
}
