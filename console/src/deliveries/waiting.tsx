import { pageDeliveries } from '../../../src/deliveries/contract.ts'
import { getCallbackHealth } from '../../../src/deliveries/health/contract.ts'
import { useRead } from '../api/api.ts'
import { Note } from '../ui/page/note.tsx'
import { grouped } from '../ui/text/number.ts'
import { MissedEvents } from './missed.tsx'
import { useTexts } from './texts.ts'

interface WaitingProps {
  appId: string
  /** Missed events are shown from this time on; empty for all. */
  timeFrom: string
  timeTo: string
  /** Opens the form that sends the events from the one time to the other. */
  onSend: ((from: string, to: string) => void) | undefined
}

/** What an application's list of deliveries lacks: events that wait, and events of the callback's stops. */
export function Waiting({ appId, timeFrom, timeTo, onSend }: WaitingProps) {
  const t = useTexts()
  const input = { appId, timeFrom, timeTo, pageSize: 1 }
  const { data } = useRead(pageDeliveries, input, { refetchInterval: 10_000, keepsPrevious: true })
  const hasMissed = (data?.missedEvents ?? 0) > 0
  const { data: health } = useRead(getCallbackHealth, { appId }, { enabled: hasMissed, refetchInterval: 10_000 })
  if (data === undefined || data.waitingEvents === null) return null
  const { waitingEvents, waitingSince, heldUntil, callbacks } = data
  const { missedFrom, missedTo } = data
  const count = grouped(waitingEvents)
  const send = onSend && missedFrom !== null && missedTo !== null ? () => onSend(missedFrom, missedTo) : undefined
  return (
    <>
      {callbacks === 'paused' && <Paused />}
      {heldUntil !== null && <Line type="warning" text={t('held', { time: heldUntil })} />}
      {waitingSince !== null && <Line type="info" text={t('waitingEvents', { count, time: waitingSince })} />}
      <MissedEvents missed={data} isStopped={health?.state === 'stopped'} onSend={send} />
    </>
  )
}

/** A notice that this service has paused callbacks. */
export function Paused() {
  return <Line type="warning" text={useTexts()('paused')} />
}

function Line({ type, text }: { type: 'info' | 'warning'; text: string }) {
  return <Note type={type} role="status" words={text} />
}
