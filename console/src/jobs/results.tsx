import { DownloadOutlined, ReloadOutlined } from '@ant-design/icons'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import type { ForecourtError } from '../../../sdk/src/error.ts'
import type { Operation } from '../../../src/vocabulary/operation.ts'
import { useLanguage } from '../language/index.ts'
import { ChoiceFilter, useFilters } from '../ui/filter/filters.tsx'
import { Button, ButtonLink } from '../ui/page/button.tsx'
import { Loading } from '../ui/page/loading.tsx'
import { Card } from '../ui/page/page.tsx'
import { RefusalResult } from '../ui/page/refusal.tsx'
import { Rows, type RowsColumn } from '../ui/table/rows.tsx'
import { grouped } from '../ui/text/number.ts'
import { State } from '../ui/text/status.tsx'
import { Faults } from '../words/faults.tsx'
import { isUnderWay, type Job } from './parts.tsx'
import { firstRows, type ResultRow, resultAddress } from './result.ts'
import { useJobTexts } from './texts.ts'

const step = 100
/** The most rows that the page shows; a longer result should be downloaded. */
const mostShown = 2_000

interface ResultsProps<Outcome extends string> {
  job: Job
  /** Returns the results of the job’s rows. */
  operation: Operation
  /** The outcomes that a row can have, with their words. */
  outcomes: Record<Outcome, string>
  /** What an outcome is called. */
  label: string
  downloads: (outcome: Outcome | undefined) => ReactNode
  hint?: ReactNode
  /** The columns before the one of the outcome, and those between it and the reason. */
  before: RowsColumn<ResultRow>[]
  between?: RowsColumn<ResultRow>[]
  /** Whether the reasons are about columns of a file. */
  areColumns?: boolean
}

/** The results of a job's rows, all or with one outcome: the first ones on the page, all as a download. */
export function Results<Outcome extends string>({ downloads, hint, ...results }: ResultsProps<Outcome>) {
  const t = useJobTexts()
  const { values, set } = useFilters(['outcome'] as const)
  const { job, outcomes, label } = results
  const names = Object.keys(outcomes) as Outcome[]
  // By default the refused rows, if any, because they need action.
  const shown = values.outcome === '' ? (job.refused > 0 ? 'refused' : 'all') : values.outcome
  const outcome = names.find((one) => one === shown)
  return (
    <Card title={t('results')}>
      <div className="filters">
        <ChoiceFilter
          label={label}
          value={outcome ?? ''}
          onChange={(chosen) => set({ outcome: chosen === '' ? 'all' : chosen })}
          choices={outcomes}
        />
        {downloads(outcome)}
      </div>
      {hint}
      <ResultRows key={outcome ?? 'all'} outcome={outcome} {...results} />
    </Card>
  )
}

type ResultRowsProps<Outcome extends string> = Omit<ResultsProps<Outcome>, 'downloads' | 'hint'> & {
  outcome: Outcome | undefined
}

function ResultRows<Outcome extends string>({ job, operation, outcome, ...shown }: ResultRowsProps<Outcome>) {
  const t = useJobTexts()
  const language = useLanguage()
  const [most, setMost] = useState(step)
  const address = resultAddress(operation, job.id, outcome)
  const { data, error, isFetching, refetch } = useQuery<Awaited<ReturnType<typeof firstRows>>, ForecourtError>({
    queryKey: ['results', address, job.status, most, language],
    queryFn: ({ signal }) => firstRows(address, { most, language, signal }),
    placeholderData: keepPreviousData,
  })
  const columns = useColumns(shown)
  if (error !== null) return <RefusalResult error={error} retry={() => void refetch()} />
  if (data === undefined) return <Loading />
  const { rows, isMore } = data
  return (
    <>
      <Rows<ResultRow>
        label={t('results')}
        isSmall
        columns={columns}
        rows={rows}
        rowKey={({ line, deviceNo, id }) => line ?? deviceNo ?? id ?? ''}
        isBusy={isFetching}
        empty={t(isUnderWay(job) ? 'noResultsYet' : 'noResults')}
      />
      <div className="pager">
        {isMore && (
          <span className="faint number">
            {t(most < mostShown ? 'first' : 'lastShown', { count: grouped(rows.length) })}
          </span>
        )}
        {isUnderWay(job) && (
          <Button icon={<ReloadOutlined />} aria-label={t('refresh')} onClick={() => void refetch()} />
        )}
        {isMore && most < mostShown && <Button onClick={() => setMost(most + 4 * step)}>{t('more')}</Button>}
      </div>
    </>
  )
}

const tones: Record<string, 'good' | 'idle' | 'bad'> = {
  created: 'good',
  updated: 'good',
  done: 'good',
  refused: 'bad',
}

type ColumnsProps<Outcome extends string> = Pick<
  ResultsProps<Outcome>,
  'outcomes' | 'label' | 'before' | 'between' | 'areColumns'
>

function useColumns<Outcome extends string>({
  outcomes,
  label,
  before,
  between = [],
  areColumns = false,
}: ColumnsProps<Outcome>): RowsColumn<ResultRow>[] {
  const t = useJobTexts()
  return [
    ...before,
    {
      key: 'outcome',
      title: label,
      render: ({ outcome }) => <State tone={tones[outcome] ?? 'idle'}>{outcomes[outcome as Outcome]}</State>,
    },
    ...between,
    { key: 'code', title: t('code'), className: 'number', render: ({ code }) => code !== 0 && code },
    {
      key: 'reason',
      title: t('reason'),
      className: 'fills',
      render: ({ code, msg, errors }) =>
        code !== 0 && (
          <div className="wraps">
            {msg}
            <Faults areColumns={areColumns} errors={errors} />
          </div>
        ),
    },
  ]
}

/** The download of results as the service returns them. */
export function Download({ words, address, name }: { words: string; address: string; name: string }) {
  return (
    <ButtonLink icon={<DownloadOutlined />} href={address} download={name}>
      {words}
    </ButtonLink>
  )
}
