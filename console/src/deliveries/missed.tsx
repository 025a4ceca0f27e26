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
