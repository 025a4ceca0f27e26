import { DatePicker } from 'antd'
import dayjs from 'dayjs'
import { serviceNow } from '../api/clock.ts'
import { shownMoment } from '../ui/filter/range-filter.tsx'
import { Button } from '../ui/page/button.tsx'
import { useServiceZone } from '../ui/text/service-zone.ts'
import { presetMoments } from './presets.ts'
import { useTexts } from './texts.ts'

const momentFormat = 'YYYY-MM-DD HH:mm:ss'

/** The service's present time in its own format; undefined until its time zone is known. */
export function useServiceNow(): { now: string; timeZone: string } | undefined {
  const timeZone = useServiceZone()
  return timeZone === undefined ? undefined : { now: shownMoment(serviceNow(), timeZone), timeZone }
}

interface MomentFieldProps {
  id?: string
  value?: string
  onChange?: (moment: string) => void
}

const presets = ['tomorrow', 'nextMonday', 'nextMonth'] as const

/** A future moment in the service's time zone, with buttons for the usual ones. */
export function MomentField({ id, value = '', onChange }: MomentFieldProps) {
  const t = useTexts()
  const clock = useServiceNow()
  const moments = clock && presetMoments(clock.now)
  return (
    <div className="in-a-row">
      <DatePicker
        {...(id === undefined ? {} : { id })}
        showTime={{ defaultValue: dayjs('00:00:00', 'HH:mm:ss') }}
        format={momentFormat}
        allowClear={false}
        // The present moment has passed when the form is sent.
        showNow={false}
        value={value === '' ? null : dayjs(value, momentFormat)}
        onChange={(chosen) => onChange?.(chosen === null ? '' : chosen.format(momentFormat))}
        // Enter in this field accepts the time; it must not submit the form.
        onKeyDown={(event) => event.key === 'Enter' && event.preventDefault()}
        style={{ width: 200 }}
      />
      {moments !== undefined &&
        presets.map((name) => (
          <Button
            key={name}
            size="small"
            type={value === moments[name] ? 'primary' : 'default'}
            aria-pressed={value === moments[name]}
            onClick={() => onChange?.(moments[name])}
          >
            {t(name)}
          </Button>
        ))}
      <span className="faint small">{clock && t('zone', { zone: clock.timeZone })}</span>
    </div>
  )
}
