import { type ReactNode, useState } from 'react'
import { Link } from 'react-router'
import { replayDeliveries } from '../../../src/deliveries/contract.ts'
import { type CallbackHealth, getCallbackHealth, mostLookedAt } from '../../../src/deliveries/health/contract.ts'
import { useMay, useRead } from '../api/api.ts'
import { defineTexts } from '../language/index.ts'
import { paths } from '../paths.ts'
import { Button } from '../ui/page/button.tsx'
import { Loading } from '../ui/page/loading.tsx'
import { Note } from '../ui/page/note.tsx'
import { Nothing } from '../ui/page/nothing.tsx'
import { part } from '../ui/page/part.tsx'
import { RefusalAlert } from '../ui/page/refusal-alert.tsx'
import { Rows } from '../ui/table/rows.tsx'
import { Facts } from '../ui/text/facts.tsx'
import { grouped } from '../ui/text/number.ts'
import { State } from '../ui/text/status.tsx'
import { useAttemptWords } from '../words/use-attempt-words.ts'
import { eventsOnly, undelivered } from './filter.ts'
import { MissedEvents } from './missed.tsx'
import { useTexts as useDeliveryTexts } from './texts.ts'

const ReplayRange = part(async () => (await import('./range.tsx')).ReplayRange)

const useTexts = defineTexts({
  title: ['Health', '健康状况'],
  off: ['No callback', '没有回调'],
  delivering: ['Delivering', '正常投递'],
  failing: ['Failing', '正在失败'],
  unanswered: ['No successful delivery yet', '尚未成功接收'],
  unansweredText: [
    'The endpoint hasn’t accepted a delivery yet. The first event is sent as soon as the configuration is saved, possibly before the receiver has the secret to verify it. Each delivery is attempted up to 10 times over about 3 days, so it succeeds once the receiver is ready.',
    '接收方尚未成功接收任何投递。新回调在保存配置时即发送首个事件，此时接收方可能还没有用于验签的密钥。每条投递在约 3 天内尝试 10 次，接收方就绪后即可送达。',
  ],
  triedSince: ['First attempt', '开始尝试于'],
  noneYet: ['None yet', '尚无'],
  held: ['Paused after repeated failures', '多次失败，暂缓发送'],
  stopped: ['Disabled by the receiver (410)', '接收方已停止（410）'],
  paused: ['Callbacks paused for the whole service', '服务已暂停回调'],
  heldUntil: ['Next attempt after', '下次尝试不早于'],
  failingSince: ['Failing since', '失败始于'],
  lastSuccess: ['Last success', '最近一次成功'],
  noSuccess: ['None in the latest {{count}} deliveries', '最近 {{count}} 条投递中没有成功'],
  lastHour: ['Last hour', '最近 1 小时'],
  lastDay: ['Last 24 hours', '最近 24 小时'],
  rate: [
    '{{failed}} of {{attempts}} attempts failed ({{percent}})',
    '{{attempts}} 次尝试中 {{failed}} 次失败（{{percent}}）',
  ],
  noAttempts: ['No attempts', '没有尝试'],
  countedFrom: [
    'Counted since {{time}}, because there were more than {{count}} deliveries.',
    '自 {{time}} 起统计：投递超过 {{count}} 条。',
  ],
  waits: ['Pending', '等待中'],
  waitsWords: [
    'Queued events: {{events}}; pending deliveries: {{retries}}; oldest from {{time}}',
    '{{events}} 个事件尚未首次投递、{{retries}} 条等待重试，最早为 {{time}}',
  ],
  failures: ['Failure reasons', '失败原因'],
  noFailures: ['No failures.', '没有失败的投递。'],
  error: ['Error', '原因'],
  from: ['First event', '最早事件'],
  to: ['Last event', '最新事件'],
  showOf: ['View deliveries: {{what}}', '查看投递：{{what}}'],
  all: ['View all deliveries of this application', '该应用的全部投递'],
})

const tones = {
  off: 'idle',
  delivering: 'good',
  failing: 'warn',
  unanswered: 'busy',
  held: 'bad',
  stopped: 'bad',
  paused: 'warn',
} as const

/** The health of an application's callback: the causes of its failures, and a form to send a time range again. */
export function CallbackHealthCard({ appId }: { appId: string }) {
  const t = useTexts()
  const deliveries = useDeliveryTexts()
  const may = useMay()
  const [replaying, setReplaying] = useState<'range' | 'missed'>()
  const { data, error, refetch } = useRead(getCallbackHealth, { appId }, { refetchInterval: 10_000 })
  return (
    <section className="card">
      <div className="page-head">
        <h2 className="flush">{t('title')}</h2>
        <span className="spacer" />
        {may(replayDeliveries) && data !== undefined && data.state !== 'off' && (
          <Button onClick={() => setReplaying('range')}>{deliveries('replayRange')}</Button>
        )}
      </div>
      {error !== null && <RefusalAlert error={error} retry={() => void refetch()} />}
      {data !== undefined && (
        <MissedEvents
          missed={data}
          isStopped={data.state === 'stopped'}
          onSend={may(replayDeliveries) && data.state !== 'off' ? () => setReplaying('missed') : undefined}
        />
      )}
      {data === undefined ? error === null && <Loading /> : <Health health={data} />}
      <p className="spaced-above flush-below">
        <Link to={paths.deliveries({ appId })}>{t('all')}</Link>
      </p>

      <ReplayRange
        appId={appId}
        isOpen={replaying !== undefined}
        {...(replaying === 'missed'
          ? { from: data?.missedFrom ?? '', to: data?.missedTo ?? '', toNow: false, status: undelivered }
          : { from: minuteBefore(data?.failingSince ?? ''), to: '', toNow: data?.failingSince != null, status: '' })}
        onClose={() => setReplaying(undefined)}
      />
    </section>
  )
}

function Health({ health }: { health: CallbackHealth }) {
  const t = useTexts()
  const { countedFrom } = health
  return (
    <>
      <Facts isFramed isWide facts={useFacts(health)} />
      {stateOf(health) === 'unanswered' && <Note type="info" role="status" words={t('unansweredText')} />}
      {countedFrom !== null && (
        <Note type="info" words={t('countedFrom', { time: countedFrom, count: grouped(mostLookedAt) })} />
      )}
      <h3 style={{ fontSize: 15, margin: '20px 0 8px' }}>{t('failures')}</h3>
      <Failures health={health} />
    </>
  )
}

/** A receiver that fails and has never taken a delivery is not set up yet: that is no failure of its service. */
function stateOf({ state, hasSucceeded }: CallbackHealth): keyof typeof tones {
  return !hasSucceeded && (state === 'failing' || state === 'held') ? 'unanswered' : state
}

function useFacts(health: CallbackHealth): Record<string, ReactNode> {
  const t = useTexts()
  const words = useAttemptWords()
  const { heldUntil, failingSince, failingReason, lastSuccessTime, dead } = health
  const state = stateOf(health)
  const { waitingEvents, waitingRetries, waitingSince } = health
  const noSuccess = health.hasSucceeded ? t('noSuccess', { count: grouped(mostLookedAt) }) : t('noneYet')
  return {
    [t('status')]: (
      <span data-testid="callback-state">
        <State tone={tones[state]}>{t(state)}</State>
      </span>
    ),
    [t('lastSuccess')]: lastSuccessTime ?? <span className="faint">{noSuccess}</span>,
    ...(heldUntil !== null && { [t('heldUntil')]: heldUntil }),
    ...(failingSince !== null && {
      [t(state === 'unanswered' ? 'triedSince' : 'failingSince')]:
        failingReason === null ? failingSince : `${failingSince} · ${words(failingReason)}`,
    }),
    [t('lastHour')]: <Rate counts={health.lastHour} />,
    [t('lastDay')]: <Rate counts={health.lastDay} />,
    [t('waits')]:
      waitingEvents + waitingRetries === 0
        ? t('nothing')
        : t('waitsWords', {
            events: grouped(waitingEvents),
            retries: grouped(waitingRetries),
            time: waitingSince ?? t('unknown'),
          }),
    [t('failed')]: grouped(dead),
  }
}

/** The share of attempts that failed. */
function Rate({ counts: { attempts, failed } }: { counts: CallbackHealth['lastHour'] }) {
  const t = useTexts()
  if (attempts === 0) return <span className="faint">{t('noAttempts')}</span>
  const percent = `${((failed / attempts) * 100).toFixed(failed === 0 || failed === attempts ? 0 : 1)} %`
  return t('rate', { failed: grouped(failed), attempts: grouped(attempts), percent })
}

type Failure = CallbackHealth['failures'][number]

function Failures({ health: { appId, failures } }: { health: CallbackHealth }) {
  const t = useTexts()
  const words = useAttemptWords()
  if (failures.length === 0) return <Nothing words={t('noFailures')} />
  const to = ({ timeFrom, timeTo }: Failure) =>
    paths.deliveries({ appId, status: undelivered, type: eventsOnly, timeFrom, timeTo })
  return (
    <Rows<Failure>
      label={t('failures')}
      isSmall
      rowKey={({ reason, responseStatus }) => `${responseStatus} ${reason}`}
      rows={failures}
      empty={null}
      columns={[
        { key: 'error', title: t('error'), render: ({ reason }) => words(reason) },
        {
          key: 'waiting',
          title: t('pending'),
          align: 'end',
          className: 'number',
          render: ({ waiting }) => grouped(waiting),
        },
        { key: 'dead', title: t('failed'), align: 'end', className: 'number', render: ({ dead }) => grouped(dead) },
        { key: 'timeFrom', title: t('from'), className: 'number' },
        { key: 'timeTo', title: t('to'), className: 'number' },
        {
          key: 'show',
          title: '',
          render: (failure) => (
            <Link to={to(failure)} aria-label={t('showOf', { what: words(failure.reason) })}>
              {t('view')}
            </Link>
          ),
        },
      ]}
    />
  )
}

/** A minute before a moment of the service: an event is written before its first attempt fails. Empty for none. */
function minuteBefore(moment: string): string {
  if (moment === '') return ''
  const earlier = new Date(Date.parse(`${moment.replace(' ', 'T')}Z`) - 60_000)
  return earlier.toISOString().slice(0, 19).replace('T', ' ')
}
