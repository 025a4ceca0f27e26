import { Input } from 'antd'
import { useId, useState } from 'react'
import { mostPeriods, type Period } from '../../../src/billing-rules/contract.ts'
import { Button } from '../ui/page/button.tsx'
import { useServiceClock } from './clock.ts'
import { DayBar } from './day-bar.tsx'
import {
  completeTime,
  middleOf,
  periodFault,
  periodFields,
  type Span,
  showMoney,
  showTime,
  spansOf,
  splitPoint,
  totalPrice,
} from './day-periods.ts'
import { useTexts } from './texts.ts'

/** A period while it is edited. Its key stays the same when periods move. */
export interface EditedPeriod extends Period {
  key: number
}

let lastKey = 0
export const keyed = (period: Period): EditedPeriod => ({ ...period, key: ++lastKey })
export const firstPeriods = (): EditedPeriod[] => [
  keyed({ startTime: '00:00:00', electricityPrice: '', servicePrice: '' }),
]

/** The members as typed, without the key. */
export const toSend = ({ startTime, electricityPrice, servicePrice }: Period): Period => ({
  startTime,
  electricityPrice,
  servicePrice,
})

interface PeriodsEditorProps {
  value?: EditedPeriod[]
  onChange?: (periods: EditedPeriod[]) => void
  /** Shows every fault, also those of untouched fields. */
  showsAll: boolean
  /** The reasons in the service's refusal, by field path. */
  told: Record<string, string>
}

/** The periods of a day as a bar and as a table, which edit the same values. */
export function PeriodsEditor({ value = [], onChange, showsAll, told }: PeriodsEditorProps) {
  const t = useTexts()
  const clock = useServiceClock()
  const change = (periods: EditedPeriod[]) => onChange?.(periods)
  const isFull = value.length >= mostPeriods

  function split(index: number, seconds: number): void {
    const period = value[index]
    if (period === undefined || isFull) return
    change(value.toSpliced(index + 1, 0, keyed({ ...period, startTime: showTime(seconds) })))
  }

  return (
    <div className="periods-editor">
      <p className="faint flush-above">{t('periodsHelp', { zone: clock?.timeZone ?? '' })}</p>
      <DayBar periods={value} now={clock?.seconds} onChange={change} {...(!isFull && { onSplit: split })} />
      <PeriodsTable periods={value} change={change} split={split} isFull={isFull} showsAll={showsAll} told={told} />
    </div>
  )
}

interface PeriodsTableProps extends Pick<PeriodsEditorProps, 'showsAll' | 'told'> {
  periods: EditedPeriod[]
  change: (periods: EditedPeriod[]) => void
  split: (index: number, seconds: number) => void
  isFull: boolean
}

function PeriodsTable({ periods, change, split, isFull, showsAll, told }: PeriodsTableProps) {
  const t = useTexts()
  const spans = spansOf(periods)
  const splitAt = (span: Span | undefined) => (span === undefined ? undefined : splitPoint(span, middleOf(span)))
  const lastSplit = splitAt(spans?.at(-1))
  return (
    <div>
      <table className="periods" aria-label={t('periods')}>
        <thead>
          <tr>
            <th scope="col">{t('number')}</th>
            <th scope="col">{t('startTime')}</th>
            <th scope="col">
              {t('electricityPrice')} <span className="faint">({t('unit')})</span>
            </th>
            <th scope="col">
              {t('servicePrice')} <span className="faint">({t('unit')})</span>
            </th>
            <th scope="col" className="period-total">
              {t('total')}
            </th>
            <td />
          </tr>
        </thead>
        <tbody>
          {periods.map((period, index) => (
            <PeriodRow
              key={period.key}
              periods={periods}
              index={index}
              showsAll={showsAll}
              told={told}
              change={(changes) =>
                change(periods.map((other, at) => (at === index ? { ...other, ...changes } : other)))
              }
              splitAt={isFull ? undefined : splitAt(spans?.[index])}
              split={(seconds) => split(index, seconds)}
              remove={() => change(removed(periods, index))}
            />
          ))}
        </tbody>
      </table>
      <Button
        className="spaced-little-above"
        disabled={isFull || lastSplit === undefined}
        onClick={() => split(periods.length - 1, lastSplit ?? 0)}
      >
        {t('add')}
      </Button>{' '}
      {isFull && <span className="faint">{t('most', { count: mostPeriods })}</span>}
    </div>
  )
}

/** Removes a period: the one before it lasts longer; if it was the first, the next begins the day. */
function removed(periods: EditedPeriod[], index: number): EditedPeriod[] {
  const left = periods.toSpliced(index, 1)
  return left.map((period, at) => (at === 0 ? { ...period, startTime: '00:00:00' } : period))
}

interface PeriodRowProps extends Pick<PeriodsEditorProps, 'showsAll' | 'told'> {
  periods: EditedPeriod[]
  index: number
  change: (changes: Partial<Period>) => void
  /** The time at which it would be split; undefined if it cannot be. */
  splitAt: number | undefined
  split: (seconds: number) => void
  remove: () => void
}

function PeriodRow({ periods, index, showsAll, told, change, splitAt, split, remove }: PeriodRowProps) {
  const t = useTexts()
  const number = index + 1
  const total = totalPrice(periods[index] as Period)
  return (
    <tr>
      <td className="number">{number}</td>
      {periodFields.map((field) => {
        const fault = periodFault(periods, index, field)
        return (
          <td key={field} data-label={t(field)}>
            <PeriodInput
              label={t('inputOf', { what: t(field), number })}
              value={periods[index]?.[field] ?? ''}
              isFixed={field === 'startTime' && index === 0}
              isTime={field === 'startTime'}
              fault={fault === undefined ? told[`periods[${index}].${field}`] : t(`fault_${fault}`)}
              showsFault={showsAll}
              onChange={(text) => change({ [field]: text })}
            />
          </td>
        )
      })}
      <td className="period-total number" data-label={t('total')}>
        {total === undefined ? '–' : showMoney(total)}
      </td>
      <td className="nowrap">
        <Button
          size="small"
          type="text"
          aria-label={t('splitOf', { number })}
          disabled={splitAt === undefined}
          onClick={() => splitAt !== undefined && split(splitAt)}
        >
          {t('split')}
        </Button>
        <Button
          size="small"
          type="text"
          danger
          aria-label={t('removeOf', { number })}
          disabled={periods.length === 1}
          onClick={remove}
        >
          {t('remove')}
        </Button>
      </td>
    </tr>
  )
}

interface PeriodInputProps {
  label: string
  value: string
  isFixed: boolean
  isTime: boolean
  fault: string | undefined
  showsFault: boolean
  onChange: (text: string) => void
}

/** One member as text, sent exactly as typed. Its fault shows when the field loses the focus. */
function PeriodInput({ label, value, isFixed, isTime, fault, showsFault, onChange }: PeriodInputProps) {
  const id = useId()
  const [wasLeft, setLeft] = useState(false)
  const isFaulty = fault !== undefined && (showsFault || wasLeft)
  return (
    <>
      <Input
        aria-label={label}
        aria-invalid={isFaulty}
        {...(isFaulty && { 'aria-describedby': id, status: 'error' as const })}
        className="period-input number"
        inputMode={isTime ? 'text' : 'decimal'}
        autoComplete="off"
        readOnly={isFixed}
        variant={isFixed ? 'borderless' : 'outlined'}
        value={value}
        onChange={(event) => onChange(event.target.value)}
        onBlur={() => {
          setLeft(true)
          if (isTime && completeTime(value) !== value) onChange(completeTime(value))
        }}
      />
      {isFaulty && (
        <div id={id} style={{ color: 'var(--bad)', fontSize: 12, maxWidth: 150 }}>
          {fault}
        </div>
      )}
    </>
  )
}
