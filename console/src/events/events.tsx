import { type ComponentProps, useId, useState } from 'react'
import { useSearchParams } from 'react-router'
import { pageAudit, pageEvents } from '../../../src/events/contract.ts'
import { eventTypes, platformEventTypes } from '../../../src/vocabulary/event-types.ts'
import { useMay } from '../api/api.ts'
import { plainCode } from '../browser/typed.ts'
import { useLanguage } from '../language/index.ts'
import { paths } from '../paths.ts'
import { useChangeSearch } from '../ui/filter/address.ts'
import {
  ApplicationFilter,
  NoApplication,
  RangeFilter,
  TextFilter,
  useApplication,
  useFilters,
} from '../ui/filter/filters.tsx'
import { ManySelect } from '../ui/form/many-select.tsx'
import { Button } from '../ui/page/button.tsx'
import { Page as PageFrame } from '../ui/page/page.tsx'
import { part } from '../ui/page/part.tsx'
import { Parts } from '../ui/page/parts.tsx'
import { type Column, Records } from '../ui/table/records.tsx'
import { widthOf } from '../ui/table/rows.tsx'
import { Actor } from '../ui/text/actor.tsx'
import { ApplicationName } from '../ui/text/application-name.tsx'
import { FilterBar } from '../views/filter-bar.tsx'
import { changeInShort } from '../words/sentences.ts'
import { type AnyEvent, type EventName, eventInAddress, keyOf } from '../words/subject.ts'
import { useTypeWords } from '../words/type-words.ts'
import { ActorFilter } from './actor-filter.tsx'
import type { EventDrawer } from './drawer.tsx'
import { SubjectLink } from './subject-link.tsx'
import { useTexts } from './texts.ts'

/** Two lists of events: the audit trail of all operators, and the feed of one application. */
export function Page() {
  const t = useTexts()
  const may = useMay()
  const [search] = useSearchParams()
  const mayAudit = may(pageAudit)
  // A link with an application opens that application's feed.
  const asked = search.get('tab') ?? (search.has('appId') ? 'feed' : 'audit')
  const tab = mayAudit && asked === 'audit' ? 'audit' : 'feed'
  const parts = [
    { key: 'audit', title: t('audit'), path: paths.events({ tab: 'audit' }) },
    { key: 'feed', title: t('feed'), path: paths.events({ tab: 'feed', appId: search.get('appId') }) },
  ]
  return (
    <PageFrame operation={tab === 'audit' ? pageAudit : pageEvents}>
      {mayAudit && <Parts label={t('tabs')} current={tab} parts={parts} />}
      {tab === 'audit' ? <Audit /> : <Feed />}
    </PageFrame>
  )
}

const LazyDrawer = part(async () => (await import('./drawer.tsx')).EventDrawer)

/** The drawer, loaded when it is first opened; after that it stays, so that it can be seen to close. */
function Opened(props: ComponentProps<typeof EventDrawer>) {
  const [wasShown, setWasShown] = useState(false)
  if (props.shown !== undefined && !wasShown) setWasShown(true)
  if (!wasShown) return null
  return <LazyDrawer {...props} />
}

/** Opens and closes the drawer of one event, which the address names; the page of the table stays. */
function useOpenEvent() {
  const [search] = useSearchParams()
  const change = useChangeSearch()
  const id = Number(search.get('event') ?? 0)
  const shown: EventName = { id, type: search.get('eventType') ?? '', appId: search.get('eventAppId') }
  return {
    shown: id > 0 ? shown : undefined,
    open: (event: EventName) => change(eventInAddress(event)),
    close: () => change({ event: undefined, eventType: undefined, eventAppId: undefined }),
  }
}

const auditFilters = ['appId', 'actor', 'actorId', 'type', 'subject', 'timeFrom', 'timeTo'] as const

function Audit() {
  const t = useTexts()
  const words = useTypeWords()
  const { shown, open, close } = useOpenEvent()
  const filters = useFilters([...auditFilters, 'tab'] as const, ['tab'])
  const { values, of, range } = filters
  const { tab: _, ...narrowing } = values
  // Without `tab`, choosing an application would open the other tab.
  const set = (changes: Partial<typeof values>) => filters.set({ ...changes, tab: 'audit' })
  const columns = useColumns(open)
  const application: Column<AnyEvent> = {
    key: 'application',
    title: t('application'),
    render: ({ appId }) =>
      appId !== null && (
        <span className="one-line" style={{ maxWidth: 140 }}>
          <ApplicationName appId={appId} />
        </span>
      ),
  }
  const address: Column<AnyEvent> = {
    key: 'address',
    title: t('ipAddress'),
    className: 'mono',
    isExtra: true,
  }
  return (
    <section className="card">
      <p className="faint flush-above">{t('auditWords')}</p>
      <FilterBar views="audit" values={narrowing}>
        <ActorFilter actor={values.actor} actorId={values.actorId} onChange={set} />
        <TypeFilter types={[...eventTypes, ...platformEventTypes]} {...of('type')} hasStates />
        <ApplicationFilter isOptional value={values.appId} onChange={(appId) => set({ appId })} />
        <TextFilter label={t('subject')} {...of('subject')} />
        <RangeFilter label={t('time')} {...range('timeFrom', 'timeTo')} />
      </FilterBar>
      <Records<AnyEvent, NonNullable<typeof pageAudit.body>, NonNullable<typeof pageAudit.query>, typeof pageAudit.data>
        name="audit"
        operation={pageAudit}
        exportKind="audit"
        input={{ ...narrowing, type: auditTypesOf(narrowing.type) }}
        columns={[...columns, application, address]}
        rowKey={keyOf}
        filters={filters}
        empty={t('emptyAudit')}
        onRow={(event) => ({ onClick: () => open(event) })}
      />
      <Opened shown={shown} feedOf={undefined} onClose={close} words={words} />
    </section>
  )
}

const feedFilters = ['type', 'deviceNo', 'siteId', 'billingRuleId', 'timeFrom', 'timeTo'] as const

function Feed() {
  const t = useTexts()
  const words = useTypeWords()
  const { shown, open, close } = useOpenEvent()
  const [appId, choose] = useApplication()
  const filters = useFilters(feedFilters)
  const { values, of, range } = filters
  const columns = useColumns(open)
  return (
    <section className="card">
      <FilterBar views="events" values={{ appId, ...values }}>
        <ApplicationFilter value={appId} onChange={choose} />
        <TypeFilter types={eventTypes} {...of('type')} />
        <TextFilter label={t('deviceNo')} {...of('deviceNo')} meaning={plainCode} />
        <TextFilter label={t('siteId')} width={140} {...of('siteId')} />
        <TextFilter label={t('billingRuleId')} width={140} {...of('billingRuleId')} />
        <RangeFilter label={t('time')} {...range('timeFrom', 'timeTo')} />
      </FilterBar>
      {appId === '' ? (
        <NoApplication />
      ) : (
        <Records<
          AnyEvent,
          NonNullable<typeof pageEvents.body>,
          NonNullable<typeof pageEvents.query>,
          typeof pageEvents.data
        >
          name="feed"
          operation={pageEvents}
          isLive
          exportKind="events"
          input={{ appId, ...values }}
          orderedBy="time"
          columns={columns}
          rowKey={keyOf}
          filters={filters}
          empty={t('noEventsHere')}
          onRow={(event) => ({ onClick: () => open(event) })}
        />
      )}
      {appId !== '' && <Opened shown={shown} feedOf={appId} onClose={close} words={words} />}
    </section>
  )
}

/** The value in the address for all types, including changes of state. */
const everyType = 'all'
const stateChanged = 'device.stateChanged'

/** The event types that the page requests. By default it leaves out changes of state, among which people's acts would not be seen. */
function auditTypesOf(asked: string): string {
  if (asked === everyType) return ''
  return asked === '' ? [...eventTypes, ...platformEventTypes].filter((type) => type !== stateChanged).join(',') : asked
}

const isType = (chosen: string) => chosen !== everyType

interface TypeFilterProps {
  types: readonly string[]
  /** The chosen types, with commas between them. */
  value: string
  onChange: (type: string) => void
  /** Whether changes of state are left out unless they are asked for. */
  hasStates?: boolean
}

/** Chooses one type of event or several. */
function TypeFilter({ types, value, onChange, hasStates = false }: TypeFilterProps) {
  const t = useTexts()
  const id = useId()
  const words = useTypeWords()
  return (
    <label htmlFor={id}>
      {t('event')}
      <ManySelect<string[]>
        id={id}
        aria-label={t('event')}
        allowClear
        maxTagCount={1}
        style={{ width: 260, maxWidth: '100%' }}
        popupMatchSelectWidth={false}
        placeholder={hasStates ? t('allButStates') : t('all')}
        value={value === '' ? [] : value.split(',')}
        // Every type is chosen alone.
        onChange={(chosen) => onChange(chosen.at(-1) === everyType ? everyType : chosen.filter(isType).join(','))}
        showSearch={{ optionFilterProp: 'label' }}
        options={[
          ...(hasStates ? [{ value: everyType, label: t('everyType') }] : []),
          ...types.map((type) => ({ value: type, label: words(type) })),
        ]}
      />
    </label>
  )
}

function useColumns(open: (event: EventName) => void): Column<AnyEvent>[] {
  const t = useTexts()
  const language = useLanguage()
  const words = useTypeWords()
  return [
    { key: 'time', title: t('time'), className: 'number', isFixed: true },
    {
      key: 'type',
      title: t('event'),
      isFixed: true,
      // The change is as long as there is room for it.
      className: 'fills',
      render: (event) => {
        const change = changeInShort(event, language)
        return (
          <span className="one-line" title={change}>
            <Button
              type="link"
              size="small"
              className="bare"
              title={event.type}
              aria-label={t('openEvent', { type: words(event.type), time: event.time })}
              onClick={() => open(event)}
            >
              {words(event.type)}
            </Button>
            {change !== '' && <span className="faint"> {change}</span>}
          </span>
        )
      },
    },
    {
      key: 'about',
      title: t('about'),
      render: (event) => (
        <span className="one-line" style={{ maxWidth: widthOf(220) }}>
          <SubjectLink event={event} />
        </span>
      ),
    },
    {
      key: 'actor',
      title: t('by'),
      render: ({ actor }) => (
        <span className="one-line" style={{ maxWidth: 180 }}>
          <Actor actor={actor} />
        </span>
      ),
    },
    { key: 'id', title: 'ID', className: 'number', isExtra: true },
  ]
}
