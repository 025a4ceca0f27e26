import { Link } from 'react-router'
import { type ActRecord, cancelAct, getAct, getActResult } from '../../../src/bulk/acts/contract.ts'
import { useMay, useWrite } from '../api/api.ts'
import { JobFacts, JobPage } from '../jobs/job.tsx'
import { isUnderWay, JobFailure, JobProgress } from '../jobs/parts.tsx'
import { type ResultRow, resultAddress } from '../jobs/result.ts'
import { Download, Results } from '../jobs/results.tsx'
import { useLanguage } from '../language/index.ts'
import { paths } from '../paths.ts'
import { ConfirmButton } from '../ui/dialog/confirm.tsx'
import { ApplicationName } from '../ui/text/application-name.tsx'
import { ActCounts, FilterInWords, inOneLine, useActTitle, useProgressWords } from './parts.tsx'
import { useTexts } from './texts.ts'

/** One bulk action: its progress, and the results of its rows. */
export function Page() {
  const t = useTexts()
  const progressWords = useProgressWords()
  return (
    <JobPage<ActRecord>
      operation={getAct}
      loadingTitle={t('one')}
      titleOf={useActTitle()}
      actionsOf={(act) => <Cancel act={act} />}
    >
      {(act) => (
        <>
          <section className="card">
            <JobFailure job={act} />
            {isUnderWay(act) && (
              <JobProgress job={act} label={t('status')} words={progressWords(act)} mayLeave={t('runsWhileYouRead')} />
            )}
            <About act={act} />
            <ActCounts act={act} />
          </section>
          <ActResults key={act.status} act={act} />
        </>
      )}
    </JobPage>
  )
}

function About({ act }: { act: ActRecord }) {
  const t = useTexts()
  const language = useLanguage()
  const { appId, targetAppId, kind, filter, set, reason } = act
  return (
    <JobFacts
      job={act}
      started={t('started')}
      facts={{
        [t('filter')]: <FilterInWords appId={appId} kind={kind} filter={filter} />,
        ...(set !== null && { [t('set')]: inOneLine(set, kind, language) }),
        ...(targetAppId !== null && { [t('target')]: <ApplicationName appId={targetAppId} /> }),
        ...(reason !== null && { [t('reason')]: reason }),
      }}
    />
  )
}

function Cancel({ act }: { act: ActRecord }) {
  const t = useTexts()
  const may = useMay()
  const cancel = useWrite(cancelAct)
  if (!may(cancelAct) || !isUnderWay(act)) return null
  return (
    <ConfirmButton
      button={{ danger: true }}
      title={t('cancelTitle')}
      verb={t('cancelVerb')}
      isDangerous
      run={() => cancel.mutateAsync({ input: { appId: act.appId, id: act.id } })}
      done={t('cancelled')}
    >
      <p>{t('cancelWords')}</p>
    </ConfirmButton>
  )
}

function ActResults({ act }: { act: ActRecord }) {
  const t = useTexts()
  return (
    <Results
      job={act}
      operation={getActResult}
      outcomes={{ done: t('done'), unchanged: t('unchanged'), refused: t('refused') }}
      label={t('status')}
      downloads={(outcome) => (
        <Download
          words={t('download')}
          address={resultAddress(getActResult, act.id, outcome)}
          name={`act-${act.id}${outcome === undefined ? '' : `-${outcome}`}.ndjson`}
        />
      )}
      before={[
        { key: 'subject', title: t('subject'), className: 'mono', render: (row) => <Subject act={act} row={row} /> },
      ]}
    />
  )
}

/** The device or the site of a row, as a link to where it is now. */
function Subject({ act, row: { deviceNo, id, outcome } }: { act: ActRecord; row: ResultRow }) {
  const owner = outcome === 'done' && act.targetAppId !== null ? act.targetAppId : act.appId
  if (deviceNo != null) return <Link to={paths.device(owner, deviceNo)}>{deviceNo}</Link>
  return id == null ? null : <Link to={paths.site(owner, id)}>{id}</Link>
}
