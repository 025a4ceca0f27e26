import { type KeyboardEvent, type PointerEvent, useMemo, useRef, useState } from 'react'
import { Link } from 'react-router'
import './chart.css'
import { paths } from '../paths.ts'
import { grouped } from '../ui/text/number.ts'
import {
  axisOf,
  barsOf,
  busyHours,
  clockAt,
  type Day,
  dayOf,
  hourAt,
  hoursOf,
  type Minute,
  minutesOfDay,
  rangeOf,
  type Sample,
  spikesOf,
  sumOf,
} from './day.ts'
import { useTexts } from './texts.ts'

const percent = (index: number) => `${(index / minutesOfDay) * 100}%`

interface ChartProps {
  minutes: readonly Minute[]
  online: readonly Sample[]
  words: string
}

/** Devices online, creates of devices and of sites, and refusals in the course of a day, each on its own axis. Each hour links to its rows. */
export function Chart({ minutes, online, words }: ChartProps) {
  const t = useTexts()
  const day = useMemo(() => dayOf(minutes, online), [minutes, online])
  const plots = useRef<HTMLDivElement>(null)
  const [pointed, setPointed] = useState<number>()

  function point({ clientX }: PointerEvent): void {
    const { left, width } = plots.current?.getBoundingClientRect() ?? { left: 0, width: 1 }
    const index = Math.floor(((clientX - left) / width) * minutesOfDay)
    setPointed(Math.min(Math.max(index, 0), minutesOfDay - 1))
  }

  return (
    <figure aria-label={words} className="chart" onPointerMove={point} onPointerLeave={() => setPointed(undefined)}>
      <Axis day={day} values={day.online} lines={2} className="chart-online" name={t('onlineDevices')} />
      <Axis
        day={day}
        values={day.devices}
        lines={4}
        className="chart-devices"
        name={t('devicesAMinute')}
        hour={(range, sum) => ({ to: paths.devices(range), words: t('devicesOfHour', { ...range, count: sum }) })}
      />
      <Axis
        day={day}
        values={day.sites}
        lines={2}
        className="chart-sites"
        name={t('sitesAMinute')}
        hour={(range, sum) => ({ to: paths.sites(range), words: t('sitesOfHour', { ...range, count: sum }) })}
      />
      <Axis
        day={day}
        values={day.refusals}
        lines={2}
        className="chart-refusals"
        name={t('refusalsAMinute')}
        hour={(range, sum) => ({ to: paths.refusals(range), words: t('refusalsOfHour', { ...range, count: sum }) })}
      />
      <div className="chart-over" ref={plots}>
        {pointed !== undefined && <Pointed day={day} index={pointed} />}
      </div>
      <div className="chart-hours number" aria-hidden="true">
        {hoursOf(day, 4).map((index) => (
          <span key={index} style={{ insetInlineStart: percent(index) }}>
            {clockAt(day, index)}
          </span>
        ))}
      </div>
    </figure>
  )
}

/** The target of an hour's link, and the link's label. */
type HourLink = (range: ReturnType<typeof rangeOf>, sum: string) => { to: string; words: string }

interface AxisProps {
  day: Day
  values: readonly number[]
  lines: number
  className: string
  name: string
  hour?: HourLink
}

/** A value beyond the axis is cut off, marked and labelled, so that the rest of the day stays legible. */
function Axis({ day, values, lines, className, name, hour }: AxisProps) {
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
        {hour && <Hours day={day} values={values} hour={hour} />}
      </div>
    </div>
  )
}

/** The hours in which something happened. The tab key reaches the last of them, and the arrow keys the others. */
function Hours({ day, values, hour }: { day: Day; values: readonly number[]; hour: HourLink }) {
  const hours = useMemo(() => busyHours(day, values), [day, values])

  function step(event: KeyboardEvent<HTMLAnchorElement>): void {
    const { previousElementSibling, nextElementSibling } = event.currentTarget
    const next = { ArrowLeft: previousElementSibling, ArrowRight: nextElementSibling }[event.key]
    if (next instanceof HTMLAnchorElement) {
      event.preventDefault()
      next.focus()
    }
  }

  return (
    <div className="chart-links">
      {hours.map(({ first, end, sum }, index) => {
        const { to, words } = hour(rangeOf(day, { first, end }), grouped(sum))
        return (
          <Link
            key={first}
            to={to}
            aria-label={words}
            tabIndex={index === hours.length - 1 ? 0 : -1}
            onKeyDown={step}
            style={{ insetInlineStart: percent(first), width: percent(end - first) }}
          />
        )
      })}
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

/** The figures of the hour under the pointer, which a click on it leads to. */
function Pointed({ day, index }: { day: Day; index: number }) {
  const t = useTexts()
  const hour = hourAt(day, index)
  const { first, end } = hour
  return (
    <span className="chart-pointed" style={{ insetInlineStart: percent(first), width: percent(end - first) }}>
      <span className={index < minutesOfDay / 2 ? 'chart-told number' : 'chart-told chart-told-late number'}>
        <strong>
          {clockAt(day, first)}–{clockAt(day, end)}
        </strong>
        <br />
        {t('onlineOfHour')} {grouped(Math.max(...day.online.slice(first, end)))}
        <br />
        {t('devicesCreated')} {grouped(sumOf(day.devices, hour))}
        <br />
        {t('sitesCreated')} {grouped(sumOf(day.sites, hour))}
        <br />
        {t('refusedRequests')} {grouped(sumOf(day.refusals, hour))}
      </span>
    </span>
  )
}
