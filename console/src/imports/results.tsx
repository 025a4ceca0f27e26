import { DownloadOutlined, ReloadOutlined } from '@ant-design/icons'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { Button } from 'antd'
import { useState } from 'react'
import { Link } from 'react-router'
import type { ForecourtError } from '../../../sdk/src/error.ts'
import { getImportResult, type ImportOutcome, type ImportRecord, outcomes } from '../../../src/bulk/contract.ts'
import { useLanguage } from '../language/index.ts'
import { paths } from '../paths.ts'
import { ChoiceFilter, useFilters } from '../ui/filter/filters.tsx'
import { Loading } from '../ui/page/loading.tsx'
import { RefusalResult } from '../ui/page/refusal.tsx'
import { RefusalAlert } from '../ui/page/refusal-alert.tsx'
import { Rows, type RowsColumn } from '../ui/table/rows.tsx'
import { grouped } from '../ui/text/number.ts'
import { State } from '../ui/text/status.tsx'
import { useCommon } from '../ui/text/texts.ts'
import { Faults } from '../words/faults.tsx'
import { isUnderWay } from './parts.tsx'
import { firstRows, type ResultRow, refusedRows, resultAddress, resultCsv } from './result.ts'
import { useTexts } from './texts.ts'

const step = 100
/** The most lines that the page shows; a longer result should be downloaded. */
const mostShown = 2_000

/** The outcomes of an import's rows, all or of one kind: the first ones on the page, all as a download. */
export function Results({ job }: { job: ImportRecord }) {
  const t = useTexts()
  const { values, set } = useFilters(['outcome'] as const)
  // By default the refused rows, if any, because they need action.
  const shown = values.outcome === '' ? (job.refused > 0 ? 'refused' : 'all') : values.outcome
  const outcome = outcomes.find((one) => one === shown)
  return (
    <section className="card">
      <h2>{t('results')}</h2>
      <div className="filters">
        <ChoiceFilter
          label={t('outcome')}
          value={outcome ?? ''}
          onChange={(chosen) => set({ outcome: chosen === '' ? 'all' : chosen })}
          choices={outcomes.map((value) => ({ value, label: t(`outcome_${value}`) }))}
        />
        <Downloads job={job} outcome={outcome} />
      </div>
      {job.refused > 0 && <p className="faint">{t('asSentHint')}</p>}
      <ResultRows key={outcome ?? 'all'} job={job} outcome={outcome} />
    </section>
  )
}

interface ResultProps {
  job: ImportRecord
  outcome: ImportOutcome | undefined
}

function ResultRows({ job, outcome }: ResultProps) {
  const t = useTexts()
  const common = useCommon()
  const language = useLanguage()
  const [most, setMost] = useState(step)
  const { data, error, isFetching, refetch } = useQuery({
    queryKey: ['result of an import', job.id, job.status, outcome, most, language],
    queryFn: ({ signal }) => firstRows(resultAddress(getImportResult, job.id, outcome), { most, language, signal }),
    placeholderData: keepPreviousData,
  })
  const columns = useColumns(job)
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
        rowKey={({ line }) => line}
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
          <Button icon={<ReloadOutlined />} aria-label={common('refresh')} onClick={() => void refetch()} />
        )}
        {isMore && most < mostShown && <Button onClick={() => setMost(most + 4 * step)}>{t('more')}</Button>}
      </div>
    </>
  )
}

const tones = { created: 'good', updated: 'good', existing: 'idle', refused: 'bad' } as const

function useColumns(job: ImportRecord): RowsColumn<ResultRow>[] {
  const t = useTexts()
  return [
    { key: 'line', title: t('place'), className: 'number', render: (_, { line }) => t('line', { line }) },
    {
      key: 'outcome',
      title: t('outcome'),
      render: (_, { outcome }) => <State tone={tones[outcome]}>{t(`outcome_${outcome}`)}</State>,
    },
    { key: 'subject', title: t('subject'), className: 'mono', render: (_, row) => <Subject job={job} row={row} /> },
    { key: 'code', title: t('code'), className: 'number', render: (_, { code }) => code !== 0 && code },
    {
      key: 'reason',
      title: t('reason'),
      className: 'fills',
      render: (_, { code, msg, errors }) =>
        code !== 0 && (
          <div style={{ whiteSpace: 'normal', overflowWrap: 'anywhere' }}>
            {msg}
            <Faults areColumns errors={errors} />
          </div>
        ),
    },
  ]
}

/** The device or the site of a row, as a link if it exists. */
function Subject({ job: { appId, dryRun }, row: { deviceNo, id, outcome } }: { job: ImportRecord; row: ResultRow }) {
  const isThere = outcome === 'existing' || outcome === 'updated' || (outcome === 'created' && !dryRun)
  if (deviceNo != null) {
    return isThere && appId !== null ? <Link to={paths.device(appId, deviceNo)}>{deviceNo}</Link> : deviceNo
  }
  if (id == null) return null
  return isThere && appId !== null ? <Link to={paths.site(appId, id)}>{id}</Link> : id
}

/** Saves a file that is read from the service first; says whether that is under way, and why it failed. */
function useSaving() {
  const [isBusy, setBusy] = useState(false)
  const [error, setError] = useState<ForecourtError>()
  async function save(name: string, read: () => Promise<Blob>): Promise<void> {
    setBusy(true)
    setError(undefined)
    try {
      const address = URL.createObjectURL(await read())
      const link = Object.assign(document.createElement('a'), { href: address, download: name })
      link.click()
      URL.revokeObjectURL(address)
    } catch (refusal) {
      setError(refusal as ForecourtError)
    } finally {
      setBusy(false)
    }
  }
  return { save, isBusy, error }
}

function Downloads({ job: { id, format, refused }, outcome }: ResultProps) {
  const t = useTexts()
  const language = useLanguage()
  const [lines, asSent] = [useSaving(), useSaving()]
  const name = `import-${id}${outcome === undefined ? '' : `-${outcome}`}`

  /** The service returns NDJSON; spreadsheets need CSV. */
  async function readCsv(): Promise<Blob> {
    const wish = { most: Number.POSITIVE_INFINITY, language }
    const { rows } = await firstRows(resultAddress(getImportResult, id, outcome), wish)
    return new Blob([resultCsv(rows)], { type: 'text/csv' })
  }

  return (
    <div style={{ display: 'flex', flexWrap: 'wrap', gap: 8 }}>
      <RefusalAlert error={lines.error ?? asSent.error} />
      {refused > 0 && (
        <Button
          type="primary"
          icon={<DownloadOutlined />}
          loading={asSent.isBusy}
          onClick={() => void asSent.save(`import-${id}-refused-rows.${format}`, () => refusedRows(id, language))}
        >
          {t('asSent')}
        </Button>
      )}
      <Button
        icon={<DownloadOutlined />}
        loading={lines.isBusy}
        onClick={() => void lines.save(`${name}.csv`, readCsv)}
      >
        {t('asCsv')}
      </Button>
      <Button
        icon={<DownloadOutlined />}
        href={resultAddress(getImportResult, id, outcome)}
        download={`${name}.ndjson`}
      >
        {t('asNdjson')}
      </Button>
    </div>
  )
}
