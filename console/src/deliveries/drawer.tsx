import type { ReactNode } from 'react'
import { type DeliveryRecord, getDelivery, replayDeliveries } from '../../../src/deliveries/contract.ts'
import { getEvent } from '../../../src/events/contract.ts'
import { useMay, useRead, useWrite } from '../api/api.ts'
import { Dialog } from '../ui/dialog/dialog.tsx'
import { showSuccess } from '../ui/dialog/feedback.tsx'
import { Button } from '../ui/page/button.tsx'
import { Loading } from '../ui/page/loading.tsx'
import { RefusalAlert } from '../ui/page/refusal-alert.tsx'
import { Rows } from '../ui/table/rows.tsx'
import { ApplicationName } from '../ui/text/application-name.tsx'
import { Facts } from '../ui/text/facts.tsx'
import { inMilliseconds } from '../ui/text/number.ts'
import { RecordJson, TextBlock } from '../ui/text/text-block.tsx'
import { useTypeWords } from '../words/type-words.ts'
import { useAttemptWords } from '../words/use-attempt-words.ts'
import { ReplayRefusal } from './refusal.tsx'
import { DeliveryState } from './state.tsx'
import { useTexts } from './texts.ts'

interface Props {
  delivery: DeliveryRecord | undefined
  onClose: () => void
}

/** Everything about one delivery. */
export function DeliveryDrawer({ delivery, onClose }: Props) {
  const t = useTexts()
  return (
    <Dialog
      isOpen={delivery !== undefined}
      onClose={onClose}
      title={t('delivery', { id: delivery?.id ?? '' })}
      side="right"
      width={640}
    >
      {delivery && <Details key={`${delivery.appId} ${delivery.id}`} opened={delivery} />}
    </Dialog>
  )
}

/** The current state of the delivery. */
function useNewest(opened: DeliveryRecord): DeliveryRecord {
  return useRead(getDelivery, { appId: opened.appId, id: opened.id }, { refetchInterval: 10_000 }).data ?? opened
}

function Details({ opened }: { opened: DeliveryRecord }) {
  const { appId } = opened
  const t = useTexts()
  const delivery = useNewest(opened)
  return (
    <div style={{ display: 'grid', gap: 20, gridTemplateColumns: 'minmax(0, 1fr)' }}>
      <ReplayOne appId={appId} id={delivery.id} />
      <Facts isFramed facts={useFacts(delivery)} />
      <Part title={t('request')} hint={delivery.eventId === null ? t('requestOfTest') : t('requestHint')}>
        {delivery.eventId !== null && <EventData appId={appId} eventId={delivery.eventId} />}
      </Part>
      <Part title={t('latestResponse')}>
        <Response delivery={delivery} />
      </Part>
      <Part title={t('attemptLog')} hint={t('attemptLogHint')}>
        <Attempts log={delivery.attemptLog} />
      </Part>
    </div>
  )
}

function ReplayOne({ appId, id }: { appId: string; id: number }) {
  const t = useTexts()
  const may = useMay()
  const replay = useWrite(replayDeliveries)
  if (!may(replayDeliveries)) return null

  async function run(): Promise<void> {
    try {
      await replay.mutateAsync({ input: { appId, id } })
      showSuccess(t('replayed', { id }))
    } catch {
      // The error is shown above the button.
    }
  }

  return (
    <div>
      <ReplayRefusal appId={appId} error={replay.error} />
      <Button loading={replay.isPending} onClick={() => void run()}>
        {t('replay')}
      </Button>
    </div>
  )
}

function Part({ title, hint, children }: { title: string; hint?: string; children: ReactNode }) {
  return (
    <section>
      <h2 className="small-heading flush-above spaced-little">{title}</h2>
      {hint !== undefined && <p className="faint flush-above spaced-little">{hint}</p>}
      {children}
    </section>
  )
}

function useFacts(delivery: DeliveryRecord): Record<string, ReactNode> {
  const t = useTexts()
  const words = useTypeWords()
  const attemptWords = useAttemptWords()
  const { responseStatus, error, durationMs } = delivery
  return {
    [t('status')]: <DeliveryState status={delivery.status} />,
    [t('type')]: <span title={delivery.type}>{words(delivery.type)}</span>,
    [t('eventId')]: delivery.eventId,
    [t('eventTime')]: delivery.time,
    [t('createTime')]: delivery.createTime,
    [t('nextAttempt')]: delivery.nextAttemptTime,
    [t('finished')]: delivery.finishTime,
    [t('attempts')]: (
      <>
        {delivery.attempts} <span className="faint">{t('attemptsHint')}</span>
      </>
    ),
    [t('responseStatus')]: responseStatus,
    [t('duration')]: durationMs === null ? null : inMilliseconds(durationMs),
    [t('error')]: responseStatus === null && error !== null ? attemptWords(error) : null,
    [t('application')]: <ApplicationName appId={delivery.appId} />,
  }
}

function EventData({ appId, eventId }: { appId: string; eventId: number }) {
  const t = useTexts()
  const { data, error, refetch } = useRead(getEvent, { appId, id: eventId })
  if (error?.code === 60002) return <p className="faint">{t('requestGone')}</p>
  if (error !== null) return <RefusalAlert error={error} retry={() => void refetch()} />
  if (data === undefined) return <Loading />
  return <RecordJson record={data.data} />
}

function Response({ delivery: { responseStatus, response } }: { delivery: DeliveryRecord }) {
  const t = useTexts()
  if (responseStatus === null) return <span className="faint">{t('noResponse')}</span>
  if (response === null || response === '') return <span className="faint">{t('emptyResponse')}</span>
  return <TextBlock text={response} />
}

type Attempt = DeliveryRecord['attemptLog'][number]

function Attempts({ log }: { log: Attempt[] }) {
  const t = useTexts()
  const words = useAttemptWords()
  if (log.length === 0) return <span className="faint">{t('noAttempts')}</span>
  return (
    <Rows<Attempt & { number: number }>
      label={t('attemptLog')}
      isSmall
      rowKey={({ number }) => number}
      empty={null}
      rows={log.map((attempt, index) => ({ ...attempt, number: index + 1 }))}
      columns={[
        { key: 'time', title: t('time'), className: 'number' },
        { key: 'responseStatus', title: t('responseStatus'), align: 'end', className: 'number', none: t('noResponse') },
        {
          key: 'durationMs',
          title: t('duration'),
          align: 'end',
          className: 'number',
          render: ({ durationMs }) => inMilliseconds(durationMs),
        },
        {
          key: 'error',
          title: t('error'),
          render: ({ error, responseStatus }) => responseStatus === null && error !== null && words(error),
        },
      ]}
    />
  )
}
