import { Button, Empty } from 'antd'
import { useState } from 'react'
import { useSearchParams } from 'react-router'
import { type DeliveryRecord, pageDeliveries, replayDeliveries, testType } from '../../../src/deliveries/contract.ts'
import { eventTypes } from '../../../src/events/contract.ts'
import { useMay } from '../session.tsx'
import { ApplicationFilter, NoApplication, useApplication } from '../ui/application-picker.tsx'
import { ChoiceFilter, FilterBar, RangeFilter, useFilters } from '../ui/filters.tsx'
import { Page as PageFrame } from '../ui/page.tsx'
import { type Column, Records } from '../ui/records.tsx'
import { useCommon } from '../ui/texts.ts'
import { DeliveryDrawer } from './drawer.tsx'
import { ReplayRange } from './range.tsx'
import { ReplaySelection } from './selection.tsx'
import { DeliveryState } from './state.tsx'
import { useTexts } from './texts.ts'
import { Waiting } from './waiting.tsx'

const filterNames = ['appId', 'status', 'type', 'eventId', 'timeFrom', 'timeTo'] as const
const refetchInterval = 10_000

/** What was sent to an application's callback, and what came of it. */
export function Page() {
  const t = useTexts()
  const may = useMay()
  const [appId, choose] = useApplication()
  const [isRangeOpen, setRangeOpen] = useState(false)
  const { values } = useFilters(filterNames)
  const mayReplay = may(replayDeliveries)
  return (
    <PageFrame
      title={t('title')}
      operation={pageDeliveries}
      actions={mayReplay && appId !== '' && <Button onClick={() => setRangeOpen(true)}>{t('replayRange')}</Button>}
    >
      <section className="card">
        <Filters appId={appId} choose={choose} />
        {appId === '' ? <NoApplication /> : <Deliveries key={appId} appId={appId} mayReplay={mayReplay} />}
      </section>
      {mayReplay && (
        <ReplayRange
          appId={appId}
          isOpen={isRangeOpen}
          // What is looked at is most likely what is meant.
          from={values.timeFrom}
          to={values.timeTo}
          status={values.status}
          onClose={() => setRangeOpen(false)}
        />
      )}
    </PageFrame>
  )
}

function Filters({ appId, choose }: { appId: string; choose: (appId: string) => void }) {
  const t = useTexts()
  const { values, set } = useFilters(filterNames)
  return (
    <FilterBar>
      <ApplicationFilter value={appId} onChange={choose} />
      <ChoiceFilter
        label={t('status')}
        value={values.status}
        onChange={(status) => set({ status })}
        choices={[
          { value: '1', label: t('waiting') },
          { value: '2', label: t('delivered') },
          { value: '3', label: t('dead') },
        ]}
      />
      <ChoiceFilter
        label={t('type')}
        value={values.type}
        onChange={(type) => set({ type })}
        choices={[...eventTypes, testType].map((type) => ({ value: type, label: type }))}
        width={200}
      />
      <RangeFilter
        label={t('eventTime')}
        from={values.timeFrom}
        to={values.timeTo}
        onChange={(timeFrom, timeTo) => set({ timeFrom, timeTo })}
      />
    </FilterBar>
  )
}

/** What is chosen of the rows that are shown; another page or filter chooses nothing. */
function useSelection() {
  const [search] = useSearchParams()
  const place = search.toString()
  const [chosen, setChosen] = useState<{ place: string; ids: number[] }>({ place, ids: [] })
  const ids = chosen.place === place ? chosen.ids : []
  return [ids, (now: number[]) => setChosen({ place, ids: now })] as const
}

function Deliveries({ appId, mayReplay }: { appId: string; mayReplay: boolean }) {
  const t = useTexts()
  const { values, clear, isNarrowed } = useFilters(filterNames)
  const [ids, choose] = useSelection()
  const [opened, setOpened] = useState<DeliveryRecord>()
  return (
    <>
      <Waiting appId={appId} />
      <Records
        name="deliveries"
        operation={pageDeliveries}
        input={{ ...values, appId }}
        columns={useColumns(setOpened)}
        rowKey={({ id }) => id}
        isNarrowed={isNarrowed(['appId'])}
        clear={() => clear(['appId'])}
        empty={<Empty image={Empty.PRESENTED_IMAGE_SIMPLE} description={t('noneYet')} />}
        refetchInterval={refetchInterval}
        onRow={(delivery) => ({ onClick: () => setOpened(delivery) })}
        {...(mayReplay && { selection: { keys: ids, onChange: (keys) => choose(keys as number[]) } })}
        footer={mayReplay && ids.length > 0 && <ReplaySelection appId={appId} ids={ids} onDone={() => choose([])} />}
      />
      <DeliveryDrawer appId={appId} delivery={opened} onClose={() => setOpened(undefined)} />
    </>
  )
}

function useColumns(open: (delivery: DeliveryRecord) => void): Column<DeliveryRecord>[] {
  const t = useTexts()
  const common = useCommon()
  return [
    {
      key: 'id',
      title: t('id'),
      isFixed: true,
      className: 'number',
      render: (_, delivery) => (
        <Button
          type="link"
          size="small"
          style={{ padding: 0 }}
          aria-label={t('details', { id: delivery.id })}
          onClick={() => open(delivery)}
        >
          {delivery.id}
        </Button>
      ),
    },
    { key: 'type', title: t('type'), dataIndex: 'type', className: 'mono' },
    { key: 'status', title: t('status'), render: (_, { status }) => <DeliveryState status={status} /> },
    { key: 'attempts', title: t('attempts'), dataIndex: 'attempts', align: 'end', className: 'number' },
    {
      key: 'outcome',
      title: t('outcome'),
      render: (_, { error, responseStatus }) => (
        <Short text={error ?? (responseStatus === null ? common('unknown') : `HTTP ${responseStatus}`)} />
      ),
    },
    { key: 'time', title: t('eventTime'), dataIndex: 'time', className: 'number' },
    { key: 'createTime', title: t('created'), dataIndex: 'createTime', className: 'number', isExtra: true },
    {
      key: 'nextAttemptTime',
      title: t('nextAttempt'),
      className: 'number',
      render: (_, { nextAttemptTime }) => nextAttemptTime ?? common('unknown'),
    },
    {
      key: 'durationMs',
      title: t('duration'),
      align: 'end',
      className: 'number',
      render: (_, { durationMs }) => (durationMs === null ? common('unknown') : `${durationMs.toLocaleString()} ms`),
      isExtra: true,
    },
    {
      key: 'finishTime',
      title: t('finished'),
      className: 'number',
      render: (_, { finishTime }) => finishTime ?? common('unknown'),
      isExtra: true,
    },
    {
      key: 'eventId',
      title: t('eventId'),
      className: 'number',
      render: (_, { eventId }) => eventId ?? common('unknown'),
      isExtra: true,
    },
  ]
}

/** One line of what may be long; the drawer has all of it. */
function Short({ text }: { text: string }) {
  return (
    <span
      title={text}
      style={{ display: 'block', maxWidth: 220, overflow: 'hidden', textOverflow: 'ellipsis', whiteSpace: 'nowrap' }}
    >
      {text}
    </span>
  )
}
