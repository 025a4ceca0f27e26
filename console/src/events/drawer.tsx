import { useQuery } from '@tanstack/react-query'
import type { ForecourtError } from '../../../sdk/src/error.ts'
import { getEvent, pageAudit, pageEvents } from '../../../src/events/contract.ts'
import { call, useMay, useRead } from '../api/api.ts'
import { language, useLanguage } from '../language/index.ts'
import { Dialog } from '../ui/dialog/dialog.tsx'
import { Loading } from '../ui/page/loading.tsx'
import { Nothing } from '../ui/page/nothing.tsx'
import { RefusalResult, Unread } from '../ui/page/refusal.tsx'
import { Actor } from '../ui/text/actor.tsx'
import { ApplicationName } from '../ui/text/application-name.tsx'
import { Facts } from '../ui/text/facts.tsx'
import { RecordJson } from '../ui/text/text-block.tsx'
import { actOf, sentencesOf } from '../words/sentences.ts'
import {
  type AnyEvent,
  type EventName,
  earlierOf,
  isBeginning,
  isGone,
  keyOf,
  ownSidesOf,
  sidesOf,
  standsAlone,
} from '../words/subject.ts'
import { SubjectLink } from './subject-link.tsx'
import { useTexts } from './texts.ts'

interface EventDrawerProps {
  /** The event to show; the drawer is closed while it is undefined. */
  shown: EventName | undefined
  /** The application of the feed; undefined for the audit trail. */
  feedOf: string | undefined
  onClose: () => void
  words: (type: string) => string
}

/** Reads one event by its id. No operation reads a single event of the audit trail, so this reads a page of one. */
function useEvent(shown: EventName | undefined, feedOf: string | undefined) {
  const { id, type, appId } = shown ?? { id: 0, type: '', appId: null }
  const isOpen = shown !== undefined
  const feed = useRead(getEvent, { appId: feedOf, id }, { enabled: isOpen && feedOf !== undefined })
  const asked = { beforeId: id + 1, type, ...(appId === null ? {} : { appId }), pageSize: 1 }
  const audit = useRead(pageAudit, asked, { enabled: isOpen && feedOf === undefined })
  if (feedOf !== undefined) {
    const { data, error, refetch } = feed
    const isGone = error?.code === 60002
    return { event: data, isRead: data !== undefined || isGone, error: isGone ? null : error, refetch }
  }
  const { data, error, refetch } = audit
  const found: AnyEvent | undefined = data?.list[0]
  return { event: found?.id === id ? found : undefined, isRead: data !== undefined, error, refetch }
}

/** One event: its actor, type, time and subject, and the changes. */
export function EventDrawer({ shown, feedOf, onClose, words }: EventDrawerProps) {
  const t = useTexts()
  const { event, isRead, error, refetch } = useEvent(shown, feedOf)
  return (
    <Dialog
      isOpen={shown !== undefined}
      onClose={onClose}
      side="right"
      width={760}
      title={event === undefined ? t('eventTitle', { id: shown?.id ?? '' }) : words(event.type)}
    >
      {event !== undefined && <OneEvent event={event} words={words} />}
      {event === undefined && error !== null && <RefusalResult error={error} retry={() => void refetch()} />}
      {event === undefined && error === null && !isRead && <Loading />}
      {event === undefined && error === null && isRead && <Nothing words={t('notFound')} />}
    </Dialog>
  )
}

interface ComparisonProps {
  event: AnyEvent
  words: (type: string) => string
}

function OneEvent({ event, words }: ComparisonProps) {
  const t = useTexts()
  const { appId } = event
  return (
    <>
      <Facts
        isFramed
        facts={{
          [t('event')]: (
            <>
              {words(event.type)} <span className="mono faint">{event.type}</span>
            </>
          ),
          [t('about')]: <SubjectLink event={event} />,
          [t('by')]: (
            <>
              <Actor actor={event.actor} /> <span className="mono faint">{event.actor}</span>{' '}
              {event.actorId != null && <span className="number faint">#{event.actorId}</span>}
            </>
          ),
          ...(event.address != null && { [t('ipAddress')]: <span className="mono">{event.address}</span> }),
          [t('time')]: <span className="number">{event.time}</span>,
          ...(appId !== null && { [t('application')]: <ApplicationName appId={appId} /> }),
          ID: <span className="number">{event.id}</span>,
        }}
      />
      <h2 className="small-heading spaced-above">{t('comparison')}</h2>
      <Change event={event} words={words} />
      <details className="spaced-above">
        <summary>{t('record')}</summary>
        <RecordJson record={event.data} />
      </details>
    </>
  )
}

/**
 * The changes of an event, by its own data or compared with the previous event about the record; if neither is
 * possible, its data.
 */
function Change({ event, words }: ComparisonProps) {
  const t = useTexts()
  const { type, data } = event
  const own = ownSidesOf(data)
  if (own !== undefined) return <Sentences type={type} {...own} />
  if (standsAlone(type)) return <Sentences type={type} after={data} />
  if (isBeginning(type) || isGone(type)) {
    return (
      <>
        <p className="faint">{t(isGone(type) ? 'isGone' : 'isBeginning')}</p>
        <Sentences type={type} after={data} />
      </>
    )
  }
  return <Comparison event={event} words={words} />
}

interface SentencesProps {
  type: string
  /** Undefined if there is nothing to compare with. */
  before?: unknown
  after: unknown
}

/** A change in the user's language, one sentence for each difference. */
function Sentences({ type, before, after }: SentencesProps) {
  const t = useTexts()
  const language = useLanguage()
  const told = sentencesOf(type, before, after, language)
  if (told.length === 0) return <p className="faint">{actOf(type, language) ?? t('nothingChanged')}</p>
  return (
    <ul className="sentences">
      {told.map(({ what, before, after }) => (
        <li key={what}>
          {what}
          {before === undefined ? t('colon') : <span className="faint"> {before} → </span>}
          <strong>{after}</strong>
        </li>
      ))}
    </ul>
  )
}

/** The previous event about the same record. Without permission for the audit trail, the feed alone is searched. */
function useEarlier(event: AnyEvent) {
  const mayAudit = useMay()(pageAudit)
  return useQuery<AnyEvent | null, ForecourtError>({
    queryKey: ['earlier', keyOf(event), mayAudit, language()],
    queryFn: async () => {
      const { feed, audit, fits = () => true } = earlierOf(event)
      const pages = await Promise.all([
        ...feed.map((query) => call(pageEvents, query)),
        ...(mayAudit ? audit.map((query) => call(pageAudit, query)) : []),
      ])
      const found: AnyEvent[] = pages.flatMap(({ data }): AnyEvent[] => data.list.filter(fits))
      return found.sort((one, other) => other.id - one.id)[0] ?? null
    },
  })
}

function Comparison({ event, words }: ComparisonProps) {
  const t = useTexts()
  const { data: earlier, error, refetch } = useEarlier(event)
  if (earlier === undefined) {
    return <Unread error={error} refetch={refetch} />
  }
  if (earlier === null) {
    return (
      <>
        <p className="faint">{t('noBefore')}</p>
        <Sentences type={event.type} after={event.data} />
      </>
    )
  }
  return (
    <>
      <p className="faint">{t('comparedWith', { id: earlier.id, time: earlier.time, type: words(earlier.type) })}</p>
      <Sentences type={event.type} {...sidesOf(event, earlier.data)} />
    </>
  )
}
