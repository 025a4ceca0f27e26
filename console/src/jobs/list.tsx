import type { ReactNode } from 'react'
import { Link } from 'react-router'
import { jobStatusValues } from '../../../src/bulk/jobs/contract.ts'
import type { Operation } from '../../../src/vocabulary/operation.ts'
import { ApplicationFilter, ChoiceFilter, RangeFilter, useFilters } from '../ui/filter/filters.tsx'
import { Nothing } from '../ui/page/nothing.tsx'
import { Page as PageFrame } from '../ui/page/page.tsx'
import { type Column, Records } from '../ui/table/records.tsx'
import { actorColumn } from '../ui/text/actor.tsx'
import { useApplicationColumn } from '../ui/text/application-name.tsx'
import { grouped } from '../ui/text/number.ts'
import { FilterBar } from '../views/filter-bar.tsx'
import { isUnderWay, type Job, JobState, percentOf } from './parts.tsx'
import { useJobTexts } from './texts.ts'

const refetchInterval = 5_000

/** The filters of a list of jobs. */
export const useJobFilters = () => useFilters(['appId', 'kind', 'status', 'timeFrom', 'timeTo'] as const, ['appId'])

interface Words {
  /** What one job is called. */
  one: string
  kind: string
  started: string
  /** Says how long jobs are kept. */
  week: string
  none: string
}

interface JobListProps<One extends Job> {
  name: 'imports' | 'acts'
  operation: Operation
  words: Words
  kinds: Record<string, string>
  titleOf: (job: One) => string
  pathOf: (id: number) => string
  /** The columns of counts: members of a job, with their headings. */
  counts: Partial<Record<keyof One & string, string>>
  others?: Column<One>[]
  actions?: ReactNode
  /** The next step, where there is no job. */
  next?: ReactNode
}

/** The recent jobs of a kind, of all applications or of one. */
export function JobList<One extends Job>({ actions, next, ...list }: JobListProps<One>) {
  const t = useJobTexts()
  const filters = useJobFilters()
  const { values, of, range } = filters
  const { name, operation, words, kinds } = list
  return (
    <PageFrame operation={operation} actions={actions}>
      <section className="card">
        <FilterBar views={name} values={values}>
          <ApplicationFilter isOptional {...of('appId')} />
          <ChoiceFilter label={words.kind} {...of('kind')} choices={kinds} />
          <ChoiceFilter
            label={t('status')}
            {...of('status')}
            choices={Object.fromEntries(jobStatusValues.map((value) => [value, t(`status_${value}`)]))}
          />
          <RangeFilter label={words.started} {...range('timeFrom', 'timeTo')} />
        </FilterBar>
        <p className="faint">{words.week}</p>
        <Records
          name={name}
          operation={operation}
          input={values}
          columns={useColumns(values.appId, list)}
          rowKey={({ id }) => id}
          refetchInterval={refetchInterval}
          filters={filters}
          empty={<Nothing words={words.none}>{next}</Nothing>}
        />
      </section>
    </PageFrame>
  )
}

type Columns<One extends Job> = Pick<JobListProps<One>, 'words' | 'titleOf' | 'pathOf' | 'counts' | 'others'>

function useColumns<One extends Job>(
  chosen: string,
  { words, titleOf, pathOf, counts, others = [] }: Columns<One>,
): Column<One>[] {
  const t = useJobTexts()
  const application = useApplicationColumn<One>(chosen)
  return [
    { key: 'id', title: words.one, isFixed: true, render: (job) => <Link to={pathOf(job.id)}>{titleOf(job)}</Link> },
    ...application,
    {
      key: 'status',
      title: t('status'),
      isFixed: true,
      render: (job) => (
        <>
          <JobState status={job.status} /> {isUnderWay(job) && <span className="number">{percentOf(job)} %</span>}
          {job.dryRun && <span className="faint"> · {t('dryRun')}</span>}
        </>
      ),
    },
    ...Object.entries(counts).map(
      ([key, title]): Column<One> => ({
        key,
        title: title as string,
        align: 'end',
        className: 'number',
        render: (job) => grouped(job[key as keyof One] as number),
      }),
    ),
    ...others,
    actorColumn<One>(t('actor')),
    { key: 'createTime', title: words.started, className: 'number', render: ({ createTime }) => createTime },
    { key: 'finishTime', title: t('finished'), className: 'number', isExtra: true, none: t('unknown') },
  ]
}
