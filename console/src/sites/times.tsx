import { Checkbox, TimePicker } from 'antd'
import dayjs from 'dayjs'
import { useTexts } from './texts.ts'

const format = 'HH:mm:ss'
const endOfDay = '24:00:00'

interface TimeProps {
  id?: string
  value?: string
  onChange?: (value: string) => void
}

export function TimeOfDay({ id, value = '', onChange, isDisabled = false }: TimeProps & { isDisabled?: boolean }) {
  return (
    <TimePicker
      {...(id === undefined ? {} : { id })}
      className="full-width"
      format={[format, 'HH:mm', 'HHmm']}
      placeholder={isDisabled ? endOfDay : format}
      needConfirm={false}
      disabled={isDisabled}
      value={value === '' || value === endOfDay ? null : dayjs(value, format)}
      onChange={(time) => onChange?.(time?.format(format) ?? '')}
    />
  )
}

/** A closing time: a time of day, or 24:00:00, the end of the day, which no time picker offers. */
export function ClosingTime({ id, value = '', onChange }: TimeProps) {
  const t = useTexts()
  const isEnd = value === endOfDay
  return (
    <>
      <TimeOfDay id={id} value={value} onChange={onChange} isDisabled={isEnd} />
      <Checkbox checked={isEnd} onChange={(event) => onChange?.(event.target.checked ? endOfDay : '')}>
        {t('endOfDay')}
      </Checkbox>
    </>
  )
}
