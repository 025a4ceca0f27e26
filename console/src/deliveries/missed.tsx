import { pageDeliveries } from '../../../src/deliveries/contract.ts'
import { getCallbackHealth } from '../../../src/deliveries/health/contract.ts'
import { useRead } from '../api/api.ts'
import { Button } from '../ui/page/button.tsx'
import { Note } from '../ui/page/note.tsx'
import { grouped } from '../ui/text/number.ts'
import { useTexts } from './texts.ts'

/** The events of a callback's stops, as the operations answer them. */
export interface Missed {
  missedEvents: number | null
  missedIsExact: boolean
  missedFrom: string | null
  missedTo: string | null
}

/** How many events the stops have that were not sent; with a plus if there may be more. */
export const missedCount = ({ missedEvents, missedIsExact }: Missed) =>
  `${grouped(missedEvents ?? 0)}${missedIsExact ? '' : '+'}`

interface MissedEventsProps {
  missed: Missed
  /** Whether the stop lasts: until it is lifted, nothing can be sent. */
  isStopped?: boolean
  /** Opens the form that sends them. */
  onSend?: (() => void) | undefined
}

/** Events that were made while the callback was stopped: they have no delivery, so no list shows them. */
export function MissedEvents({ missed, isStopped = false, onSend }: MissedEventsProps) {
  const t = useTexts()
  if (missed.missedEvents === null || missed.missedEvents === 0) return null
  const values = { count: missedCount(missed), from: missed.missedFrom ?? '', to: missed.missedTo ?? '' }
  return (
    <Note
      type="warning"
      role="status"
      words={
        <>
          {t('missed', values)} {t(isStopped ? 'missedStopped' : 'missedText')}{' '}
          {onSend !== undefined && !isStopped && (
            <Button size="small" onClick={onSend}>
              {t('missedSend')}
            </Button>
          )}
        </>
      }
    />
  )
}

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
