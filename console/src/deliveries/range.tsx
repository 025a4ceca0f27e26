import { DatePicker, Form, Select } from 'antd'
import dayjs, { type Dayjs } from 'dayjs'
import { useState } from 'react'
import { pageDeliveries, replayDeliveries } from '../../../src/deliveries/contract.ts'
import { useRead, useWrite } from '../api/api.ts'
import { serviceNow } from '../api/clock.ts'
import { CountedDialog } from '../ui/dialog/counted-dialog.tsx'
import { optionsOf } from '../ui/filter/filters.tsx'
import { shownMoment, useRangePresets } from '../ui/filter/range-filter.tsx'
import { Note } from '../ui/page/note.tsx'
import { countOf, grouped } from '../ui/text/number.ts'
import { useServiceZone } from '../ui/text/service-zone.ts'
import { eventsOnly, statusAsked } from './filter.ts'
import { missedCount } from './missed.tsx'
import { ReplayRefusal } from './refusal.tsx'
import { useStateChoices } from './state.tsx'
import { useTexts } from './texts.ts'

const momentFormat = 'YYYY-MM-DD HH:mm:ss'

interface Props {
  appId: string
  isOpen: boolean
  /** The initial values; empty for none. */
  from: string
  to: string
  status: string
  /** Whether the range ends at the present moment. */
  toNow: boolean
  onClose: () => void
}

interface Entered {
  range?: [Dayjs | null, Dayjs | null] | null
  status?: string
}

/** Sends all events of a time range again. Explains this first, and then shows how many it sent. */
export function ReplayRange({ isOpen, toNow, to, ...form }: Props) {
  const timeZone = useServiceZone(toNow)
  if (!isOpen || (toNow && timeZone === undefined)) return null
  return <RangeDialog {...form} to={toNow && timeZone !== undefined ? shownMoment(serviceNow(), timeZone) : to} />
}

const read = (moment: string): Dayjs | null => (moment === '' ? null : dayjs(moment, momentFormat))

/** The range as the operations take it; undefined while it is incomplete. */
function rangeOf({ range, status }: Entered) {
  const [first, last] = range ?? []
  if (!first || !last) return undefined
  return {
    timeFrom: first.format(momentFormat),
    timeTo: last.format(momentFormat),
    ...statusAsked(status ?? ''),
  }
}

type Range = NonNullable<ReturnType<typeof rangeOf>>

function RangeDialog({ appId, from, to, status, onClose }: Omit<Props, 'toNow' | 'isOpen'>) {
  const t = useTexts()
  const replay = useWrite(replayDeliveries)
  const presets = useRangePresets(true)
  const states = useStateChoices()
  const [form] = Form.useForm<Entered>()
  const initial: Entered = { range: [read(from), read(to)], status }
  const entered = Form.useWatch((values: Entered) => values, form) ?? initial
  const range = rangeOf(entered)
  const [sent, setSent] = useState<Range>()

  return (
    <CountedDialog
      title={t('replayRange')}
      counted={{}}
      verb={t('replay')}
      run={() => form.submit()}
      isRunning={replay.isPending}
      begun={
        replay.data !== undefined &&
        sent !== undefined && <Outcome appId={appId} range={sent} count={replay.data.replayed} />
      }
      onClose={onClose}
    >
      <Form<Entered>
        form={form}
        layout="vertical"
        scrollToFirstError={{ focus: true, block: 'center' }}
        initialValues={initial}
        onFinish={(values) => {
          const asked = rangeOf(values)
          if (asked === undefined) return
          setSent(asked)
          const { isUndelivered, ...members } = asked
          replay.mutate({ input: { appId, ...members, ...(isUndelivered && { isDelivered: false }) } })
        }}
      >
        <ReplayRefusal appId={appId} error={replay.error} fieldNames={{ timeFrom: t('from'), timeTo: t('to') }} />
        <p>{t(entered.status ? 'rangeTextOfState' : 'rangeText')}</p>
        <Form.Item
          name="range"
          label={t('range')}
          required
          rules={[
            {
              validator: (_, range: Entered['range']) =>
                range?.[0] && range[1] ? Promise.resolve() : Promise.reject(new Error(t('rangeNeeded'))),
            },
          ]}
        >
          <DatePicker.RangePicker
            showTime={{ defaultValue: [dayjs('00:00:00', 'HH:mm:ss'), dayjs('23:59:59', 'HH:mm:ss')] }}
            format={momentFormat}
            presets={presets}
            placeholder={[t('from'), t('to')]}
            // Enter in this field accepts the time; it must not submit the form.
            onKeyDown={(event) => event.key === 'Enter' && event.preventDefault()}
            className="full-width"
          />
        </Form.Item>
        <Form.Item name="status" label={t('rangeStatus')} extra={t('rangeStatusText')}>
          <Select options={optionsOf({ '': t('anyStatus'), ...states })} />
        </Form.Item>
        {range !== undefined && <Fitting appId={appId} range={range} />}
      </Form>
    </CountedDialog>
  )
}

interface RangeProps {
  appId: string
  range: Range
}

/** Tests are not counted, because a range sends none of them again. */
function useCount({ appId, range: { isUndelivered, ...range } }: RangeProps, refetchInterval?: number) {
  const { data } = useRead(
    pageDeliveries,
    { appId, ...range, ...(isUndelivered && { isDelivered: 'false' }), type: eventsOnly, pageSize: 1 },
    refetchInterval === undefined ? {} : { refetchInterval },
  )
  const count = data && countOf(data)
  return { count, missed: data }
}

/** Shows how many deliveries the range has now, and how many events of the callback's stops. */
function Fitting(fitting: RangeProps) {
  const t = useTexts()
  const { count, missed } = useCount(fitting)
  const { status } = fitting.range
  return (
    <div role="status">
      <div>{count === undefined ? '…' : t('rangeFits', { count })}</div>
      {(missed?.missedEvents ?? 0) > 0 && missed !== undefined && (
        <div>{t(status === null ? 'rangeMissed' : 'rangeMissedLeftOut', { count: missedCount(missed) })}</div>
      )}
    </div>
  )
}

/** How many will be sent again, and how many of the range still wait. */
function Outcome({ count, ...sent }: RangeProps & { count: number }) {
  const t = useTexts()
  const { count: waiting } = useCount({ ...sent, range: { ...sent.range, status: 1, isUndelivered: false } }, 2_000)
  return (
    <Note
      type={count > 0 ? 'success' : 'info'}
      role="status"
      words={count > 0 ? t('rangeDone', { count: grouped(count) }) : t('rangeNone')}
    >
      {count > 0 && waiting !== undefined && t('rangeWaiting', { count: waiting })}
    </Note>
  )
}
