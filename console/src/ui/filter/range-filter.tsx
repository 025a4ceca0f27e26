import { DatePicker } from 'antd'
import dayjs, { type Dayjs } from 'dayjs'
import { useId, useState } from 'react'
import { serviceNow } from '../../api/clock.ts'
import { useCommon } from '../../language/index.ts'
import { useServiceZone } from '../text/service-zone.ts'
import type { RangeFilterProps } from './filters.tsx'

const momentFormat = 'YYYY-MM-DD HH:mm:ss'

/** A moment as the service writes it in its time zone. */
export const shownMoment = (instant: Date, timeZone: string) =>
  new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' }).format(instant)

/**
 * The most common ranges, in the service's time zone; none until the zone is known. They are days, or lengths of
 * silence: ranges without a beginning that end some time ago.
 */
export function useRangePresets(
  isOpen: boolean,
  isOfSilence = false,
): { label: string; value: [Dayjs | null, Dayjs] }[] {
  const t = useCommon()
  const timeZone = useServiceZone(isOpen)
  if (timeZone === undefined) return []
  const now = dayjs(shownMoment(serviceNow(), timeZone), momentFormat)
  if (isOfSilence) {
    return [
      { label: t('silentHour'), value: [null, now.subtract(1, 'hour')] },
      { label: t('silentDay'), value: [null, now.subtract(1, 'day')] },
      { label: t('silentWeek'), value: [null, now.subtract(7, 'day')] },
    ]
  }
  const days = (first: number, last: number): [Dayjs, Dayjs] => [
    now.subtract(first, 'day').startOf('day'),
    now.subtract(last, 'day').endOf('day'),
  ]
  return [
    { label: t('today'), value: days(0, 0) },
    { label: t('yesterday'), value: days(1, 1) },
    { label: t('lastWeek'), value: days(6, 0) },
  ]
}

/** A time range in the service's time zone, which may differ from the user's. */
export function RangeFilter({ label, from, to, isOfSilence = false, onChange }: RangeFilterProps) {
  const t = useCommon()
  const id = useId()
  const [isOpen, setOpen] = useState(false)
  const presets = useRangePresets(isOpen, isOfSilence)
  const read = (text: string): Dayjs | null => (text === '' ? null : dayjs(text, momentFormat))
  return (
    <label htmlFor={id} className="range-filter">
      {label}
      <DatePicker.RangePicker
        id={{ start: id, end: `${id}-end` }}
        showTime={{ defaultValue: [dayjs('00:00:00', 'HH:mm:ss'), dayjs('23:59:59', 'HH:mm:ss')] }}
        allowEmpty={[true, true]}
        presets={presets}
        onOpenChange={setOpen}
        format={momentFormat}
        placeholder={[t('from'), t('to')]}
        value={[read(from), read(to)]}
        onChange={(range) => onChange(range?.[0]?.format(momentFormat) ?? '', range?.[1]?.format(momentFormat) ?? '')}
      />
    </label>
  )
}
