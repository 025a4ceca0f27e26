import { useState } from 'react'
import { type DeliveryRecord, pageDeliveries, replayDeliveries, testType } from '../../../src/deliveries/contract.ts'
import { eventTypes } from '../../../src/vocabulary/event-types.ts'
import { AllThatMatchButton } from '../acts/all-that-match.tsx'
import { useMay } from '../api/api.ts'
import { ApplicationFilter, ChoiceFilter, RangeFilter, useFilters } from '../ui/filter/filters.tsx'
import { Button } from '../ui/page/button.tsx'
import { Page as PageFrame } from '../ui/page/page.tsx'
import { part } from '../ui/page/part.tsx'
import { type Column, Records } from '../ui/table/records.tsx'
import { OneLine } from '../ui/table/rows.tsx'
import { useSelection } from '../ui/table/selection.ts'
import { useApplicationColumn } from '../ui/text/application-name.tsx'
import { inMilliseconds } from '../ui/text/number.ts'
import { FilterBar } from '../views/filter-bar.tsx'
import { useTypeWords } from '../words/type-words.ts'
import { useAttemptWords } from '../words/use-attempt-words.ts'
import { DeliveryDrawer } from './drawer.tsx'
import { eventsOnly, statusAsked, undelivered } from './filter.ts'
import { Waiting } from './missed.tsx'
import { type Chosen, ReplaySelection } from './selection.tsx'
import { DeliveryState, useStateChoices } from './state.tsx'
import { useTexts } from './texts.ts'

const ReplayRange = part(async () => (await import('./range.tsx')).ReplayRange)

const filterNames = ['appId', 'status', 'type', 'eventId', 'timeFrom', 'timeTo'] as const
const refetchInterval = 10_000
/** Before any event. */
const beginning = '2020-01-01 00:00:00'

/** The deliveries to callbacks, of all applications or of one, with their results. */
export function Page() {
  const t = useTexts()
  const may = useMay()
  const [rangeOpen, openRange] = useState<'chosen' | 'all' | { from: string; to: string }>()
  const { values } = useFilters(filterNames)
  const { appId, timeFrom, timeTo } = values
  const mayReplay = may(replayDeliveries)
  // The form begins with the page's filters. For everything that they match, the range has no bounds but the present
  // moment.
  const range = rangeOpen === 'all' ? { from: timeFrom || beginning, to: timeTo } : { from: timeFrom, to: timeTo }
  const ofStop = typeof rangeOpen === 'object' ? { ...rangeOpen, status: undelivered } : {}
  return (
    <PageFrame
      operation={pageDeliveries}
      actions={mayReplay && appId !== '' && <Button onClick={() => openRange('chosen')}>{t('replayRange')}</Button>}
    >
      <section className="card">
        <Filters />
        {appId !== '' && (
          <Waiting
            appId={appId}
            timeFrom={timeFrom}
            timeTo={timeTo}
            onSend={mayReplay ? (from, to) => openRange({ from, to }) : undefined}
          />
        )}
        {appId === '' && <p className="faint">{t('orderAcross')}</p>}
        <Deliveries key={appId} appId={appId} mayReplay={mayReplay} replayAll={() => openRange('all')} />
      </section>
      {mayReplay && (
        <ReplayRange
          appId={appId}
          isOpen={rangeOpen !== undefined}
          {...range}
          toNow={rangeOpen === 'all' && timeTo === ''}
          status={values.status}
          {...ofStop}
          onClose={() => openRange(undefined)}
        />
      )}
    </PageFrame>
  )
}

function Filters() {
  const t = useTexts()
  const words = useTypeWords()
  const { values, of, range } = useFilters(filterNames)
  return (
    <FilterBar views="deliveries" values={values}>
      <ApplicationFilter isOptional {...of('appId')} />
      <ChoiceFilter label={t('status')} {...of('status')} choices={useStateChoices()} />
      <ChoiceFilter
        label={t('type')}
        {...of('type')}
        choices={{
          [eventsOnly]: t('eventsOnly'),
          ...Object.fromEntries([...eventTypes, testType].map((type) => [type, words(type)])),
        }}
        width={200}
      />
      <RangeFilter label={t('eventTime')} {...range('timeFrom', 'timeTo')} />
    </FilterBar>
  )
}

interface DeliveriesProps {
  appId: string
  mayReplay: boolean
  replayAll: () => void
}

function Deliveries({ appId, mayReplay, replayAll }: DeliveriesProps) {
  const t = useTexts()
  const filters = useFilters(filterNames, ['appId'])
  const { values } = filters
  const [keys, choose] = useSelection()
  const [opened, setOpened] = useState<DeliveryRecord>()
  const { status, isUndelivered } = statusAsked(values.status)
  // A range has no tests.
  const isOfRange = (values.type === '' || values.type === eventsOnly) && values.eventId === ''
  const hindrance = isOfRange ? undefined : t('allOfRangeOnly')
  return (
    <>
      <Records
        name="deliveries"
        operation={pageDeliveries}
        exportKind="deliveries"
        input={{ ...values, status, ...(isUndelivered && { isDelivered: 'false' }) }}
        columns={useColumns(appId, setOpened)}
        rowKey={keyOf}
        filters={filters}
        empty={t('noneYet')}
        refetchInterval={refetchInterval}
        onRow={(delivery) => ({ onClick: () => setOpened(delivery) })}
        {...(mayReplay && { selection: { keys, onChange: (now) => choose(now as string[]) } })}
        footer={(found) =>
          mayReplay && (
            <>
              {keys.length > 0 && <ReplaySelection chosen={keys.map(readKey)} onDone={() => choose([])} />}
              {found.total > 0 && (
                <AllThatMatchButton
                  appId={appId}
                  {...found}
                  words={(count) => t('replayAll', { count })}
                  hindrance={hindrance}
                  onClick={replayAll}
                />
              )}
            </>
          )
        }
      />
      <DeliveryDrawer delivery={opened} onClose={() => setOpened(undefined)} />
    </>
  )
}

/** Identifies a delivery among the deliveries of all applications. */
const keyOf = ({ appId, id }: Chosen) => `${appId} ${id}`
const readKey = (key: string): Chosen => ({ appId: key.split(' ')[0] ?? '', id: Number(key.split(' ')[1]) })

function useColumns(appId: string, open: (delivery: DeliveryRecord) => void): Column<DeliveryRecord>[] {
  const t = useTexts()
  const words = useTypeWords()
  const attemptWords = useAttemptWords()
  const wordsOf = (error: string | null) => (error === null ? t('unknown') : attemptWords(error))
  const application = useApplicationColumn<DeliveryRecord>(appId)
  return [
    { key: 'time', title: t('eventTime'), className: 'number', isFixed: true },
    {
      key: 'type',
      title: t('type'),
      isFixed: true,
      render: (delivery) => (
        <Button
          type="link"
          size="small"
          className="bare"
          title={delivery.type}
          aria-label={t('detailsOf', { type: words(delivery.type), time: delivery.time, id: delivery.id })}
          onClick={() => open(delivery)}
        >
          {words(delivery.type)}
        </Button>
      ),
    },
    ...application,
    { key: 'status', title: t('status'), render: ({ status }) => <DeliveryState status={status} /> },
    { key: 'attempts', title: t('attempts'), align: 'end', className: 'number' },
    {
      key: 'outcome',
      title: t('latestResponse'),
      className: 'fills',
      render: ({ error, responseStatus }) => (
        <OneLine text={responseStatus === null ? wordsOf(error) : `HTTP ${responseStatus}`} />
      ),
    },
    { key: 'createTime', title: t('createTime'), className: 'number', isExtra: true },
    { key: 'nextAttemptTime', title: t('nextAttempt'), className: 'number', none: t('unknown') },
    {
      key: 'durationMs',
      title: t('duration'),
      align: 'end',
      className: 'number',
      render: ({ durationMs }) => (durationMs === null ? t('unknown') : inMilliseconds(durationMs)),
      isExtra: true,
    },
    { key: 'finishTime', title: t('finished'), className: 'number', isExtra: true, none: t('unknown') },
    { key: 'id', title: t('id'), className: 'number', isExtra: true },
    { key: 'eventId', title: t('eventId'), className: 'number', isExtra: true, none: t('unknown') },
  ]
}
