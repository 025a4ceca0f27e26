import { DownloadOutlined } from '@ant-design/icons'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { Alert, Button, Progress } from 'antd'
import { useState } from 'react'
import { Link, useParams } from 'react-router'
import type { ForecourtError } from '../../../sdk/src/error.ts'
import { type ActRecord, actOutcomes, cancelAct, getAct, getActResult } from '../../../src/bulk/acts/contract.ts'
import { useRead, useWrite } from '../api/api.ts'
import { useMay } from '../api/session.tsx'
import { ImportState, isUnderWay } from '../imports/parts.tsx'
import { firstRows, resultAddress } from '../imports/result.ts'
import { useLanguage } from '../language/index.ts'
import { paths } from '../paths.ts'
import { Confirm } from '../ui/dialog/confirm.tsx'
import { showSuccess } from '../ui/dialog/feedback.tsx'
import { ChoiceFilter, useFilters } from '../ui/filter/filters.tsx'
import { Loading } from '../ui/page/loading.tsx'
import { Page as PageFrame } from '../ui/page/page.tsx'
import { RefusalResult } from '../ui/page/refusal.tsx'
import { Rows, type RowsColumn } from '../ui/table/rows.tsx'
import { Actor } from '../ui/text/actor.tsx'
import { ApplicationName } from '../ui/text/application-name.tsx'
import { Facts } from '../ui/text/facts.tsx'
import { State } from '../ui/text/status.tsx'
import { useCommon } from '../ui/text/texts.ts'
import { Faults } from '../words/faults.tsx'
import { jobFailureWords } from '../words/job-failure-words.ts'
import { ActCounts, FilterInWords, inOneLine, percentOf, useActName } from './parts.tsx'
import { useTexts } from './texts.ts'

/** The most rows that the page shows; all of them are in the file. */
const mostShown = 200

/** One act: its progress, and the outcomes of its rows. */
export function Page() {
  const t = useTexts()
  const nameOf = useActName()
  const language = useLanguage()
  const id = Number(useParams().id)
  const { data: act, error, refetch } = useRead(getAct, { id })
  if (act === undefined) {
    return (
      <PageFrame title={t('one')} operation={getAct}>
        {error === null ? <Loading /> : <RefusalResult error={error} retry={() => void refetch()} />}
      </PageFrame>
    )
  }
  return (
    <PageFrame
      title={t('actTitle', { id, act: nameOf(act.kind as 'devices', act.act as 'update') })}
      beside={
        <>
          <ImportState status={act.status} />
          {act.dryRun && <State tone="idle">{t('dryRun')}</State>}
        </>
      }
      operation={getAct}
      actions={<Cancel act={act} />}
    >
      {isUnderWay(act) && <Watch id={id} />}
      <section className="card">
        {act.error !== null && (
          <Alert
            type="error"
            showIcon
            title={jobFailureWords({ ...act, noun: 'act' }, language)}
            style={{ marginBottom: 12 }}
          />
        )}
        {isUnderWay(act) && <Progress aria-label={t('status')} percent={percentOf(act)} status="active" />}
        <About act={act} />
        <div style={{ marginTop: 16 }}>
          <ActCounts act={act} />
        </div>
      </section>
      <Results key={act.status} act={act} />
    </PageFrame>
  )
}

/** Polls the act while it is mounted. */
function Watch({ id }: { id: number }) {
  useRead(getAct, { id }, { refetchInterval: 1_000 })
  return null
}

function About({ act }: { act: ActRecord }) {
  const t = useTexts()
  const common = useCommon()
  const language = useLanguage()
  const { appId, targetAppId, kind, filter, set, reason, actor, createTime, finishTime } = act
  return (
    <Facts
      facts={{
        [common('application')]: <ApplicationName appId={appId} />,
        [t('filter')]: <FilterInWords appId={appId} kind={kind} filter={filter} />,
        ...(set !== null && { [t('set')]: inOneLine(set, kind, language) }),
        ...(targetAppId !== null && { [t('target')]: <ApplicationName appId={targetAppId} /> }),
        ...(reason !== null && { [common('reason')]: reason }),
        [t('actor')]: <Actor actor={actor} />,
        [t('started')]: <span className="number">{createTime}</span>,
        [t('finished')]: finishTime && <span className="number">{finishTime}</span>,
      }}
    />
  )
}

function Cancel({ act }: { act: ActRecord }) {
  const t = useTexts()
  const may = useMay()
  const cancel = useWrite(cancelAct)
  const [isAsking, setAsking] = useState(false)
  if (!may(cancelAct) || !isUnderWay(act)) return null
  return (
    <>
      <Button danger onClick={() => setAsking(true)}>
        {t('cancelVerb')}
      </Button>
      <Confirm
        isOpen={isAsking}
        title={t('cancelTitle')}
        verb={t('cancelVerb')}
        isDangerous
        run={async () => {
          await cancel.mutateAsync({ input: { appId: act.appId, id: act.id } })
          showSuccess(t('cancelled'))
        }}
        onClose={() => setAsking(false)}
      >
        <p>{t('cancelWords')}</p>
      </Confirm>
    </>
  )
}

interface ActRow {
  outcome: (typeof actOutcomes)[number]
  code: number
  msg: string
  errors: { field: string; reason: string }[] | null
  deviceNo?: string | null
  id?: number | null
}

const tones = { done: 'good', unchanged: 'idle', refused: 'bad' } as const

/** The outcomes of the rows: the first ones on the page, all as a file. */
function Results({ act }: { act: ActRecord }) {
  const t = useTexts()
  const language = useLanguage()
  const { values, set } = useFilters(['outcome'] as const)
  // By default the refused rows, if any, because they need action.
  const shown = values.outcome === '' ? (act.refused > 0 ? 'refused' : 'all') : values.outcome
  const outcome = actOutcomes.find((one) => one === shown)
  const address = resultAddress(getActResult, act.id, outcome)
  const { data, error, isFetching, refetch } = useQuery<{ rows: ActRow[] }, ForecourtError>({
    queryKey: ['result of an act', act.id, act.status, outcome, language],
    queryFn: ({ signal }) => firstRows<ActRow>(address, { most: mostShown, language, signal }),
    placeholderData: keepPreviousData,
  })
  return (
    <section className="card">
      <h2>{t('results')}</h2>
      <div className="filters">
        <ChoiceFilter
          label={t('status')}
          value={outcome ?? ''}
          onChange={(chosen) => set({ outcome: chosen === '' ? 'all' : chosen })}
          choices={actOutcomes.map((value) => ({ value, label: t(value) }))}
        />
        <Button
          icon={<DownloadOutlined />}
          href={address}
          download={`act-${act.id}${outcome === undefined ? '' : `-${outcome}`}.ndjson`}
        >
          {t('download')}
        </Button>
      </div>
      {error !== null && data === undefined && <RefusalResult error={error} retry={() => void refetch()} />}
      {error === null && data === undefined && <Loading />}
      {data !== undefined && (
        <Rows<ActRow>
          label={t('results')}
          isSmall
          columns={columnsOf(act, t)}
          rows={data.rows}
          rowKey={({ deviceNo, id }) => deviceNo ?? id ?? ''}
          isBusy={isFetching}
          empty={t('noResults')}
        />
      )}
    </section>
  )
}

function columnsOf(act: ActRecord, t: ReturnType<typeof useTexts>): RowsColumn<ActRow>[] {
  return [
    {
      key: 'subject',
      title: t('subject'),
      className: 'mono',
      render: (_, { deviceNo, id, outcome }) => <Subject act={act} row={{ deviceNo, id, outcome }} />,
    },
    {
      key: 'outcome',
      title: t('status'),
      render: (_, { outcome }) => <State tone={tones[outcome]}>{t(outcome)}</State>,
    },
    {
      key: 'reason',
      title: t('reason'),
      className: 'fills',
      render: (_, { code, msg, errors }) =>
        code !== 0 && (
          <div style={{ whiteSpace: 'normal', overflowWrap: 'anywhere' }}>
            <span className="number">{code}</span> {msg}
            <Faults errors={errors} />
          </div>
        ),
    },
  ]
}

/** The device or the site of a row, as a link to where it is now. */
function Subject({
  act,
  row: { deviceNo, id, outcome },
}: {
  act: ActRecord
  row: Pick<ActRow, 'deviceNo' | 'id' | 'outcome'>
}) {
  const owner = outcome === 'done' && act.targetAppId !== null ? act.targetAppId : act.appId
  if (deviceNo != null) return <Link to={paths.device(owner, deviceNo)}>{deviceNo}</Link>
  return id == null ? null : <Link to={paths.site(owner, id)}>{id}</Link>
}
