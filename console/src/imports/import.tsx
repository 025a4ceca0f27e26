import type { ReactNode } from 'react'
import { cancelImport, createImport, getImport, type ImportRecord } from '../../../src/bulk/contract.ts'
import { jobStatus } from '../../../src/bulk/jobs/contract.ts'
import { importDeviceInventory } from '../../../src/devices/inventory/contract.ts'
import { useMay, useWrite } from '../api/api.ts'
import { JobCounts, JobFacts, JobPage } from '../jobs/job.tsx'
import { decidedOf, isUnderWay, JobFailure, JobProgress } from '../jobs/parts.tsx'
import { paths } from '../paths.ts'
import { ConfirmButton } from '../ui/dialog/confirm.tsx'
import { LinkButton } from '../ui/page/button.tsx'
import { Note } from '../ui/page/note.tsx'
import { grouped } from '../ui/text/number.ts'
import { State } from '../ui/text/status.tsx'
import { showBytes } from './parts.tsx'
import { ImportResults } from './results.tsx'
import { useTexts } from './texts.ts'

/** One import: its progress, and the results of its rows. */
export function Page() {
  const t = useTexts()
  return (
    <JobPage<ImportRecord>
      operation={getImport}
      loadingTitle={t('title')}
      titleOf={({ id, kind }) => t('jobTitle', { id, kind: t(kind) })}
      besideOf={({ mode }) => mode === 'upsert' && <State tone="idle">{t('mode_upsert')}</State>}
      actionsOf={(job) => <Cancel job={job} />}
    >
      {(job) => (
        <>
          <section className="card">
            <Notes job={job} />
            <JobFacts
              job={job}
              started={t('started')}
              facts={{ [t('size')]: <span className="number">{showBytes(job.bytes)}</span> }}
            />
            <Counts job={job} />
          </section>
          <ImportResults key={job.status} job={job} />
        </>
      )}
    </JobPage>
  )
}

/** The state of an import, in words. */
function Notes({ job }: { job: ImportRecord }) {
  const t = useTexts()
  const may = useMay()
  const note = (type: 'info' | 'warning', title: string, action?: ReactNode) => (
    <Note type={type} words={title} action={action} />
  )
  const { status, kind, mode, appId, ignoredColumns } = job
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
      <JobFailure job={job} wrap={(error) => t('failedWords', { error })} />
      {status === jobStatus.cancelled && note('warning', t('cancelledWords'))}
      {isUnderWay(job) && (
        <JobProgress
          job={job}
          label={t('progress')}
          words={t('progressWords', { rows: grouped(job.rows), done: grouped(decidedOf(job)) })}
          mayLeave={t('mayLeave')}
        />
      )}
    </>
  )
}

function Counts({ job: { id, dryRun, ...job } }: { job: ImportRecord }) {
  const t = useTexts()
  return (
    <JobCounts
      pathOf={(outcome) => paths.import(id, { outcome })}
      of={[
        { name: t('rowCount'), value: job.rows, outcome: 'all' },
        { name: t(dryRun ? 'wouldCreate' : 'created'), value: job.created, outcome: 'created' },
        { name: t(dryRun ? 'wouldUpdate' : 'updated'), value: job.updated, outcome: 'updated' },
        { name: t('existing'), value: job.existing, outcome: 'existing' },
        { name: t(dryRun ? 'wouldRefuse' : 'refused'), value: job.refused, outcome: 'refused' },
      ]}
    />
  )
}

function Cancel({ job }: { job: ImportRecord }) {
  const t = useTexts()
  const may = useMay()
  const cancel = useWrite(cancelImport)
  const mayCancel = may(cancelImport) && (job.kind !== 'inventory' || may(importDeviceInventory))
  if (!mayCancel || !isUnderWay(job)) return null
  const { id, appId } = job
  return (
    <ConfirmButton
      button={{ danger: true }}
      title={t('cancelTitle')}
      verb={t('cancelVerb')}
      isDangerous
      run={() => cancel.mutateAsync({ input: { id, ...(appId !== null && { appId }) } })}
      done={t('cancelled')}
    >
      <p>{t('cancelWords')}</p>
    </ConfirmButton>
  )
}
