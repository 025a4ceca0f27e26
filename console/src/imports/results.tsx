import { DownloadOutlined } from '@ant-design/icons'
import { Link } from 'react-router'
import { getImportResult, type ImportOutcome, type ImportRecord } from '../../../src/bulk/contract.ts'
import { useAttempt } from '../api/api.ts'
import { saveFile } from '../browser/saving.ts'
import { firstRows, type ResultRow, refusedRows, resultAddress, resultCsv } from '../jobs/result.ts'
import { Download, Results } from '../jobs/results.tsx'
import { useLanguage } from '../language/index.ts'
import { paths } from '../paths.ts'
import { Button } from '../ui/page/button.tsx'
import { RefusalAlert } from '../ui/page/refusal-alert.tsx'
import { useTexts } from './texts.ts'

/** The results of an import's rows. */
export function ImportResults({ job }: { job: ImportRecord }) {
  const t = useTexts()
  return (
    <Results<ImportOutcome>
      job={job}
      operation={getImportResult}
      outcomes={{
        created: t('created'),
        updated: t('updated'),
        existing: t('exists'),
        refused: t('refused'),
      }}
      label={t('result')}
      downloads={(outcome) => <Downloads job={job} outcome={outcome} />}
      hint={job.refused > 0 && <p className="faint">{t('asSentHint')}</p>}
      before={[{ key: 'line', title: t('place'), className: 'number', render: ({ line = 0 }) => t('line', { line }) }]}
      between={[
        { key: 'subject', title: t('subject'), className: 'mono', render: (row) => <Subject job={job} row={row} /> },
      ]}
      areColumns
    />
  )
}

interface ResultProps {
  job: ImportRecord
  outcome: ImportOutcome | undefined
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
  const { attempt, error, isRunning } = useAttempt()
  const save = (name: string, read: () => Promise<Blob>) => attempt(async () => saveFile(name, await read()))
  return { save, isRunning, error }
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
    <div className="buttons">
      <RefusalAlert error={lines.error ?? asSent.error} />
      {refused > 0 && (
        <Button
          type="primary"
          icon={<DownloadOutlined />}
          loading={asSent.isRunning}
          onClick={() => void asSent.save(`import-${id}-refused-rows.${format}`, () => refusedRows(id, language))}
        >
          {t('asSent')}
        </Button>
      )}
      <Button
        icon={<DownloadOutlined />}
        loading={lines.isRunning}
        onClick={() => void lines.save(`${name}.csv`, readCsv)}
      >
        {t('asCsv')}
      </Button>
      <Download words={t('asNdjson')} address={resultAddress(getImportResult, id, outcome)} name={`${name}.ndjson`} />
    </div>
  )
}
