import { useDeferredValue } from 'react'
import { Link, Navigate } from 'react-router'
import type { Static } from 'typebox'
import type { AuditRecord } from '../../../src/events/contract.ts'
import { getOverview } from '../../../src/service/overview/contract.ts'
import { useMay, useRead } from '../api/api.ts'
import { eventsOnly } from '../deliveries/filter.ts'
import { Paused } from '../deliveries/missed.tsx'
import { SubjectLink } from '../events/subject-link.tsx'
import { paths } from '../paths.ts'
import { Nothing } from '../ui/page/nothing.tsx'
import { Card, Page as PageFrame } from '../ui/page/page.tsx'
import { RefusalResult } from '../ui/page/refusal.tsx'
import { Rows } from '../ui/table/rows.tsx'
import { actorColumn } from '../ui/text/actor.tsx'
import { Figure } from '../ui/text/figure.tsx'
import { grouped } from '../ui/text/number.ts'
import { State } from '../ui/text/status.tsx'
import { eventInAddress, keyOf } from '../words/subject.ts'
import { useTypeWords } from '../words/type-words.ts'
import { Attention } from './attention.tsx'
import { Chart } from './chart.tsx'
import { useTexts } from './texts.ts'

/** The platform at a glance. Developers start with their applications instead, the only ones that they see. */
export function Page() {
  const may = useMay()
  return may(getOverview) ? <Overview /> : <Navigate to={paths.applications()} replace />
}

function Overview() {
  const t = useTexts()
  const { data: latest, error, refetch } = useRead(getOverview, {}, { refetchInterval: 10_000 })
  // The deferred value lets React draw the page in slices.
  const data = useDeferredValue(latest, undefined)
  if (latest === undefined && error !== null) {
    return (
      <PageFrame>
        <RefusalResult error={error} retry={() => void refetch()} />
      </PageFrame>
    )
  }
  const { counts } = data ?? {}
  return (
    <PageFrame operation={getOverview} beside={<CountedAt overview={data} />}>
      {data?.callbacks === 'paused' && <Paused />}
      <div className="grid-cards grid-cards-full spaced">
        <Figure name={t('sites')} value={counts?.sites} to={paths.sites()}>
          {counts && counts.sitesWithoutDevices > 0 && (
            <Link to={paths.sites({ hasDevices: 'false' })}>
              <State tone="idle">{t('withoutDevices', { count: grouped(counts.sitesWithoutDevices) })}</State>
            </Link>
          )}
        </Figure>
        <Figure name={t('devices')} value={counts?.devices} to={paths.devices()}>
          {counts && (
            <>
              <State tone="good">{`${t('online')} ${grouped(counts.devicesOnline)}`}</State>
              <br />
              <Link to={paths.devices({ onlineStatus: 2 })}>
                <State tone="idle">{`${t('offline')} ${grouped(counts.devices - counts.devicesOnline)}`}</State>
              </Link>
            </>
          )}
        </Figure>
        <Figure name={t('faulty')} value={counts?.devicesFaulty} isBad to={paths.devices({ status: 2 })} />
        <Figure name={t('applications')} value={counts?.applications} to={paths.applications()}>
          {counts && counts.applicationsOffline > 0 && (
            <State tone="idle">{t('offlineApplications', { count: counts.applicationsOffline })}</State>
          )}
          <br />
          {counts && counts.applicationsFrozen > 0 && (
            <State tone="bad">{t('frozenApplications', { count: counts.applicationsFrozen })}</State>
          )}
        </Figure>
        <Figure
          name={t('waiting')}
          value={counts?.callbacksWaiting}
          to={paths.deliveries({ status: 1, type: eventsOnly })}
        >
          {counts && counts.eventsWaiting > 0 && (
            <State tone="busy">{t('eventsWaiting', { count: grouped(counts.eventsWaiting) })}</State>
          )}
          {counts && counts.callbacksHeld > 0 && (
            <State tone="idle">{t('heldCallbacks', { count: counts.callbacksHeld })}</State>
          )}
        </Figure>
        <Figure
          name={t('dead')}
          value={counts?.callbacksDead}
          isBad
          to={paths.deliveries({ status: 3, type: eventsOnly })}
        >
          {counts && counts.callbacksStopped > 0 && (
            <State tone="bad">{t('stopped', { count: counts.callbacksStopped })}</State>
          )}
        </Figure>
      </div>
      <Card title={t('chart')}>
        <div className="chart-space">{data && <Minutes overview={data} />}</div>
      </Card>
      <div style={{ display: 'grid', gap: 16, gridTemplateColumns: 'repeat(auto-fit, minmax(min(100%, 420px), 1fr))' }}>
        <Card title={t('troubles')} id="troubles">
          {data && <Attention findings={data.attention} counts={data.counts} />}
        </Card>
        <Card title={t('events')}>
          <p className="faint">{t('eventsHint')}</p>
          {data && (
            <>
              <NewestEvents events={data.events} />
              <div style={{ textAlign: 'end', paddingTop: 8 }}>
                <Link to={paths.events({ tab: 'audit' })}>{t('allEvents')}</Link>
              </div>
            </>
          )}
        </Card>
      </div>
    </PageFrame>
  )
}

/** The age of the figures. Its space is reserved until it is known. */
function CountedAt({ overview }: { overview: Static<typeof getOverview.data> | undefined }) {
  const t = useTexts()
  const isFirst = overview !== undefined && overview.countTime === null
  return (
    <span className="faint number" style={{ visibility: overview ? 'visible' : 'hidden' }}>
      {isFirst ? t('counting') : t('countedAt', { time: overview?.countTime ?? '0000-00-00 00:00:00' })}
    </span>
  )
}

function Minutes({ overview: { minutes, online } }: { overview: Static<typeof getOverview.data> }) {
  const t = useTexts()
  if (minutes.length === 0 && !online.some(({ devicesOnline }) => devicesOnline > 0)) {
    return <Nothing words={t('chartEmpty')} />
  }
  const sum = (read: (minute: (typeof minutes)[number]) => number) =>
    minutes.reduce((total, minute) => total + read(minute), 0)
  const words = t('chartWords', {
    creates: grouped(sum(({ creates }) => creates)),
    refusals: grouped(sum(({ refusals }) => refusals)),
    most: grouped(Math.max(0, ...minutes.map(({ creates }) => creates))),
  })
  return <Chart minutes={minutes} online={online} words={words} />
}

function NewestEvents({ events }: { events: AuditRecord[] }) {
  const t = useTexts()
  const words = useTypeWords()
  return (
    <Rows<AuditRecord>
      label={t('events')}
      isSmall
      rowKey={keyOf}
      rows={events}
      empty={<Nothing words={t('noEvents')} />}
      columns={[
        { key: 'time', title: t('time'), className: 'number' },
        {
          key: 'type',
          title: t('event'),
          render: (event) => (
            <Link to={paths.events({ tab: 'audit', ...eventInAddress(event) })} title={event.type}>
              {words(event.type)}
            </Link>
          ),
        },
        { key: 'subject', title: t('subject'), most: 120, render: (event) => <SubjectLink event={event} /> },
        actorColumn(t('by')),
      ]}
    />
  )
}
