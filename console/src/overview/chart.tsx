import { type PointerEvent, useMemo, useState } from 'react'
import './chart.css'
import { grouped } from '../ui/number.ts'
import { axisOf, barsOf, clockAt, type Day, dayOf, hoursOf, type Minute, minutesOfDay, spikesOf } from './day.ts'
import { useTexts } from './texts.ts'

const percent = (index: number) => `${(index / minutesOfDay) * 100}%`

/** Creates and refusals by the minute, each on its own axis. */
export function Chart({ minutes, words }: { minutes: readonly Minute[]; words: string }) {
  const t = useTexts()
  const day = useMemo(() => dayOf(minutes), [minutes])
  const [pointed, setPointed] = useState<number>()

  function point({ currentTarget, clientX }: PointerEvent): void {
    const { left, width } = currentTarget.getBoundingClientRect()
    const index = Math.floor(((clientX - left) / width) * minutesOfDay)
    setPointed(Math.min(Math.max(index, 0), minutesOfDay - 1))
  }

  return (
    <div role="img" aria-label={words} className="chart">
      <Axis values={day.creates} lines={4} className="chart-creates" name={t('creates')} />
      <Axis values={day.refusals} lines={2} className="chart-refusals" name={t('refusals')} />
      <div className="chart-over" onPointerMove={point} onPointerLeave={() => setPointed(undefined)}>
        {pointed !== undefined && <Pointed day={day} index={pointed} />}
      </div>
      <div className="chart-hours number">
        {hoursOf(day, 4).map((index) => (
          <span key={index} style={{ insetInlineStart: percent(index) }}>
            {clockAt(day, index)}
          </span>
        ))}
      </div>
    </div>
  )
}

interface AxisProps {
  values: readonly number[]
  lines: number
  className: string
  name: string
}

/** A value beyond the axis is cut off, marked and labelled, so that the rest of the day stays legible. */
function Axis({ values, lines, className, name }: AxisProps) {
  const { axis, top, bars, spikes } = useMemo(() => {
    const marks = axisOf(values, lines)
    const end = marks.at(-1) ?? 1
    return { axis: marks, top: end, bars: barsOf(values, end), spikes: spikesOf(values, end) }
  }, [values, lines])
  return (
    <div className={`chart-axis ${className}`}>
      <div className="chart-name">{name}</div>
      <div className="chart-plot">
        {axis.map((value) => (
          <span key={value} className="chart-line number" style={{ insetBlockEnd: `${(value / top) * 100}%` }}>
            <span>{grouped(value)}</span>
          </span>
        ))}
        <svg viewBox={`0 0 ${minutesOfDay} 100`} preserveAspectRatio="none" aria-hidden="true">
          <path d={bars} />
        </svg>
        {spikes.map(({ index, value }) => (
          <Spike key={index} index={index} value={value} />
        ))}
      </div>
    </div>
  )
}

/** The label is on the side that has room. */
function Spike({ index, value }: { index: number; value: number }) {
  const isLate = index > minutesOfDay / 2
  return (
    <span
      className={isLate ? 'chart-spike chart-spike-late number' : 'chart-spike number'}
      style={{ insetInlineStart: percent(index) }}
    >
      {isLate ? `${grouped(value)} ▲` : `▲ ${grouped(value)}`}
    </span>
  )
}

/** The values of the minute under the pointer. */
function Pointed({ day, index }: { day: Day; index: number }) {
  const t = useTexts()
  return (
    <span className="chart-pointed" style={{ insetInlineStart: percent(index + 0.5) }}>
      <span className={index < minutesOfDay / 2 ? 'chart-told number' : 'chart-told chart-told-late number'}>
        <strong>{clockAt(day, index)}</strong>
        <br />
        {t('creates')} {grouped(day.creates[index] ?? 0)}
        <br />
        {t('refusals')} {grouped(day.refusals[index] ?? 0)}
      </span>
    </span>
  )
}
