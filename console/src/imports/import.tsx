import { Alert, Button, Progress } from 'antd'
import { type ReactNode, useState } from 'react'
import { useParams } from 'react-router'
import { cancelImport, createImport, getImport, type ImportRecord } from '../../../src/bulk/contract.ts'
import { jobStatus } from '../../../src/bulk/jobs/contract.ts'
import { importDeviceInventory } from '../../../src/devices/inventory/contract.ts'
import { useRead, useWrite } from '../api/api.ts'
import { useMay } from '../api/session.tsx'
import { useLanguage } from '../language/index.ts'
import { paths } from '../paths.ts'
import { Confirm } from '../ui/dialog/confirm.tsx'
import { showSuccess } from '../ui/dialog/feedback.tsx'
import { LinkButton } from '../ui/page/link-button.tsx'
import { Loading } from '../ui/page/loading.tsx'
import { Page as PageFrame } from '../ui/page/page.tsx'
import { RefusalResult } from '../ui/page/refusal.tsx'
import { Actor } from '../ui/text/actor.tsx'
import { ApplicationName } from '../ui/text/application-name.tsx'
import { Figure } from '../ui/text/figure.tsx'
import { grouped } from '../ui/text/number.ts'
import { State } from '../ui/text/status.tsx'
import { useCommon } from '../ui/text/texts.ts'
import { jobFailureWords } from '../words/job-failure-words.ts'
import { ImportState, isUnderWay, percentOf, showBytes } from './parts.tsx'
import { Results } from './results.tsx'
import { useTexts } from './texts.ts'

const refetchInterval = 1_000

/** One import: its progress, and the outcomes of its rows. */
export function Page() {
  const t = useTexts()
  const id = Number(useParams().id)
  const { data: job, error, refetch } = useRead(getImport, { id })
  if (job === undefined) {
    return (
      <PageFrame title={t('title')} operation={getImport}>
        {error === null ? <Loading /> : <RefusalResult error={error} retry={() => void refetch()} />}
      </PageFrame>
    )
  }
  return (
    <PageFrame
      title={t('jobTitle', { id, kind: t(job.kind) })}
      beside={
        <>
          <ImportState status={job.status} />
          {job.mode === 'upsert' && <State tone="idle">{t('mode_upsert')}</State>}
          {job.dryRun && <State tone="idle">{t('dryRun')}</State>}
        </>
      }
      operation={getImport}
      actions={<Actions job={job} />}
    >
      {isUnderWay(job) && <Watch id={id} />}
      <section className="card">
        <Notes job={job} />
        <Facts job={job} />
        <Counts job={job} />
      </section>
      <Results key={job.status} job={job} />
    </PageFrame>
  )
}

/** The application, the sender and the times of an import. */
function Facts({ job: { appId, actor, createTime, finishTime, bytes } }: { job: ImportRecord }) {
  const t = useTexts()
  const common = useCommon()
  const fact = (name: string, value: ReactNode) => (
    <span>
      <span className="faint">{name}</span> {value}
    </span>
  )
  return (
    <div style={{ display: 'flex', flexWrap: 'wrap', gap: '4px 24px', marginBottom: 12 }}>
      {appId !== null && fact(common('application'), <ApplicationName appId={appId} />)}
      {fact(t('actor'), <Actor actor={actor} />)}
      {fact(t('started'), <span className="number">{createTime}</span>)}
      {finishTime !== null && fact(t('finished'), <span className="number">{finishTime}</span>)}
      {fact(t('size'), <span className="number">{showBytes(bytes)}</span>)}
    </div>
  )
}

/** Polls the import while it is mounted. */
function Watch({ id }: { id: number }) {
  useRead(getImport, { id }, { refetchInterval })
  return null
}

/** The state of an import, in words. */
function Notes({ job }: { job: ImportRecord }) {
  const t = useTexts()
  const language = useLanguage()
  const may = useMay()
  const note = (type: 'info' | 'warning' | 'error', title: string, action?: ReactNode) => (
    <Alert type={type} showIcon style={{ marginBottom: 16 }} title={title} action={action} />
  )
  const { status, kind, mode, appId, ignoredColumns } = job
  const done = job.created + job.updated + job.existing + job.refused
  return (
    <>
      {job.dryRun &&
        note(
          'info',
          t(isUnderWay(job) ? 'dryRunRuns' : 'dryRunWords'),
          status === jobStatus.done && may(createImport) && (
            <LinkButton to={paths.newImport({ kind, mode, appId })}>{t('forReal')}</LinkButton>
          ),
        )}
      {ignoredColumns.length > 0 && note('info', t('notSet', { columns: ignoredColumns.join(', ') }))}
      {status === jobStatus.failed &&
        note('error', t('failedWords', { error: jobFailureWords({ ...job, noun: 'import' }, language) }))}
      {status === jobStatus.cancelled && note('warning', t('cancelledWords'))}
      {isUnderWay(job) && (
        <output style={{ display: 'block', marginBottom: 16 }}>
          <Progress aria-label={t('progress')} percent={percentOf(job)} status="active" />
          <span className="number">{t('progressWords', { rows: grouped(job.rows), done: grouped(done) })}</span>{' '}
          <span className="faint">{t('mayLeave')}</span>
        </output>
      )}
    </>
  )
}

function Counts({ job }: { job: ImportRecord }) {
  const t = useTexts()
  const { id, dryRun } = job
  return (
    <div className="grid-cards">
      <Figure name={t('rows')} value={job.rows} to={paths.import(id, { outcome: 'all' })} />
      <Figure
        name={t(dryRun ? 'wouldCreate' : 'created')}
        value={job.created}
        to={paths.import(id, { outcome: 'created' })}
      />
      <Figure
        name={t(dryRun ? 'wouldUpdate' : 'updated')}
        value={job.updated}
        to={paths.import(id, { outcome: 'updated' })}
      />
      <Figure name={t('existing')} value={job.existing} to={paths.import(id, { outcome: 'existing' })} />
      <Figure
        name={t(dryRun ? 'wouldRefuse' : 'refused')}
        value={job.refused}
        isBad
        to={paths.import(id, { outcome: 'refused' })}
      />
    </div>
  )
}

function Actions({ job }: { job: ImportRecord }) {
  const t = useTexts()
  const may = useMay()
  const [isAsking, setAsking] = useState(false)
  const cancel = useWrite(cancelImport)
  const mayCancel = may(cancelImport) && (job.kind !== 'inventory' || may(importDeviceInventory))
  if (!mayCancel) return null
  return (
    <>
      {isUnderWay(job) && (
        <Button danger onClick={() => setAsking(true)}>
          {t('cancelVerb')}
        </Button>
      )}
      <Confirm
        isOpen={isAsking}
        title={t('cancelTitle')}
        verb={t('cancelVerb')}
        isDangerous
        run={async () => {
          const { id, appId } = job
          await cancel.mutateAsync({ input: { id, ...(appId !== null && { appId }) } })
          showSuccess(t('cancelled'))
        }}
        onClose={() => setAsking(false)}
      >
        <p>{t('cancelWords')}</p>
      </Confirm>
    </>
  )
}
