import { type KeyboardEvent, type MouseEvent, type PointerEvent, useRef } from 'react'
import type { Period } from '../../../src/billing-rules/contract.ts'
import './day-bar.css'
import {
  borderRange,
  daySeconds,
  keyTarget,
  middleOf,
  moveBorder,
  type Span,
  showMoney,
  showTime,
  spansOf,
  splitPoint,
} from './day-periods.ts'
import { useTexts } from './texts.ts'

const percent = (seconds: number) => `${(seconds / daySeconds) * 100}%`
const place = ({ start, end }: Span) => ({ insetInlineStart: percent(start), width: percent(end - start) })

/** Height and shade by price: the dearest period fills the bar; one without a price is a line at the bottom. */
function Fill({ total, dearest }: { total: number | undefined; dearest: number }) {
  const share = total === undefined || dearest === 0 ? 0 : total / dearest
  const shade = Math.round(10 + share * 30)
  return (
    <span
      className="day-bar-fill"
      style={{
        // Less than the whole height, so that the top of the dearest period is visible.
        height: `${Math.max(share * 94, 4)}%`,
        background: `color-mix(in srgb, var(--accent) ${shade}%, var(--surface))`,
      }}
    />
  )
}

const dearestOf = (spans: readonly Span[]) => Math.max(...spans.map(({ total }) => total ?? 0))

function useWordsOfSpan() {
  const t = useTexts()
  return ({ start, end, total }: Span) => {
    const ends = { from: showTime(start), to: showTime(end) }
    return total === undefined ? t('spanNoPrice', ends) : t('span', { ...ends, price: showMoney(total) })
  }
}

/** The prices of a day as a small bar, for a row of a table. */
export function SmallDayBar({ periods, now }: { periods: readonly Period[]; now: number | undefined }) {
  const wordsOf = useWordsOfSpan()
  const spans = spansOf(periods) ?? []
  const dearest = dearestOf(spans)
  const words = spans.map(wordsOf).join('\n')
  return (
    <div className="day-bar-small" role="img" aria-label={words} title={words}>
      {spans.map((span) => (
        <span key={span.start} className="day-bar-span" style={place(span)}>
          <Fill total={span.total} dearest={dearest} />
        </span>
      ))}
      {now !== undefined && <span className="day-bar-now" style={{ insetInlineStart: percent(now) }} />}
    </div>
  )
}

interface DayBarProps<Item extends Period> {
  periods: readonly Item[]
  /** The service's time of day, in seconds since midnight. */
  now: number | undefined
  /** Called with the periods after a border was moved. Without it, the bar is read-only. */
  onChange?: (periods: Item[]) => void
  /** Called with the index of the period to split, and the time of the split. */
  onSplit?: (index: number, seconds: number) => void
}

/** A day as a bar: its periods from left to right, their height by price, and a mark at the current time. */
export function DayBar<Item extends Period>({ periods, now, onChange, onSplit }: DayBarProps<Item>) {
  const t = useTexts()
  const plot = useRef<HTMLDivElement>(null)
  const spans = spansOf(periods)
  if (spans === undefined) return <p className="faint">{t('noBar')}</p>
  const dearest = dearestOf(spans)

  /** The time of day, in seconds, at a horizontal position of the screen. */
  function momentAt(clientX: number): number {
    const { left, width } = plot.current?.getBoundingClientRect() ?? { left: 0, width: 1 }
    return ((clientX - left) / width) * daySeconds
  }

  return (
    <fieldset className="day-bar plain-fieldset" aria-label={t('bar')}>
      <div className="day-bar-plot" ref={plot}>
        {spans.map((span, index) => (
          <SpanOfDay
            key={span.start}
            span={span}
            dearest={dearest}
            {...(onSplit && {
              split: (clientX: number | undefined) => {
                const at = splitPoint(span, clientX === undefined ? middleOf(span) : momentAt(clientX))
                if (at !== undefined) onSplit(index, at)
              },
            })}
          />
        ))}
        {onChange !== undefined &&
          spans.slice(1).map((_, index) => (
            <Border
              // biome-ignore lint/suspicious/noArrayIndexKey: a border that is moved must stay the one that is held
              key={index + 1}
              index={index + 1}
              spans={spans}
              momentAt={momentAt}
              move={(seconds) => onChange(moveBorder(periods, index + 1, seconds))}
            />
          ))}
      </div>
      <div aria-hidden style={{ position: 'relative' }}>
        {[0, 4, 8, 12, 16, 20, 24].map((hour) => (
          <span
            key={hour}
            className="day-bar-hour number"
            style={{ insetInlineStart: percent(hour * 3600) }}
          >{`${String(hour).padStart(2, '0')}`}</span>
        ))}
      </div>
      {now !== undefined && <NowMark now={now} />}
    </fieldset>
  )
}

function NowMark({ now }: { now: number }) {
  const t = useTexts()
  // The label is on the side of the mark that has room.
  const side = now < daySeconds / 2 ? { insetInlineStart: 0 } : { insetInlineEnd: 2 }
  return (
    <span className="day-bar-now" style={{ insetInlineStart: percent(now) }}>
      <span className="day-bar-now-word number" style={side}>
        {t('now', { time: showTime(now).slice(0, 5) })}
      </span>
    </span>
  )
}

interface SpanOfDayProps {
  span: Span
  dearest: number
  /** Splits at a position of the screen or, by the keyboard, in the middle. */
  split?: (clientX: number | undefined) => void
}

function SpanOfDay({ span, dearest, split }: SpanOfDayProps) {
  const t = useTexts()
  const words = useWordsOfSpan()(span)
  const inside = (
    <>
      <Fill total={span.total} dearest={dearest} />
      <span className="day-bar-price number" aria-hidden>
        {span.total === undefined ? '' : showMoney(span.total)}
      </span>
    </>
  )
  if (split === undefined) {
    return (
      <div className="day-bar-span" style={place(span)} role="img" aria-label={words} title={words}>
        {inside}
      </div>
    )
  }
  return (
    <button
      type="button"
      className="day-bar-span"
      style={place(span)}
      aria-label={t('splitAt', { span: words })}
      title={words}
      // A click made by a key has no position.
      onClick={(event: MouseEvent) => split(event.detail === 0 ? undefined : event.clientX)}
    >
      {inside}
    </button>
  )
}

interface BorderProps {
  index: number
  spans: readonly Span[]
  momentAt: (clientX: number) => number
  move: (seconds: number) => void
}

function Border({ index, spans, momentAt, move }: BorderProps) {
  const t = useTexts()
  const start = spans[index]?.start ?? 0
  const range = borderRange(spans, index) ?? { least: start, most: start }

  function onKeyDown(event: KeyboardEvent): void {
    const target = keyTarget(event.key, start, range)
    if (target === undefined) return
    event.preventDefault()
    move(target)
  }

  function onPointerMove(event: PointerEvent): void {
    if (event.currentTarget.hasPointerCapture(event.pointerId)) move(momentAt(event.clientX))
  }

  return (
    <div
      role="slider"
      tabIndex={0}
      className="day-bar-border"
      style={{ insetInlineStart: percent(start) }}
      aria-label={t('border', { number: index + 1 })}
      aria-orientation="horizontal"
      aria-valuemin={Math.min(range.least, start)}
      aria-valuemax={Math.max(range.most, start)}
      aria-valuenow={start}
      aria-valuetext={showTime(start)}
      title={showTime(start)}
      onKeyDown={onKeyDown}
      onPointerDown={(event) => event.currentTarget.setPointerCapture(event.pointerId)}
      onPointerMove={onPointerMove}
    />
  )
}
