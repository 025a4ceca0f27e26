import { LineChart } from 'echarts/charts'
import { AriaComponent, GridComponent, LegendComponent, TooltipComponent } from 'echarts/components'
import { init, use } from 'echarts/core'
import { CanvasRenderer } from 'echarts/renderers'
import { useEffect, useRef } from 'react'
import { useShade } from '../theme.tsx'
import { useTexts } from './texts.ts'

use([LineChart, GridComponent, LegendComponent, TooltipComponent, AriaComponent, CanvasRenderer])

export interface Minute {
  time: string
  creates: number
  refusals: number
}

/** Creates and refusals by the minute; minutes that are not listed had none. */
export default function Chart({ minutes, words }: { minutes: Minute[]; words: string }) {
  const t = useTexts()
  const { isDark } = useShade()
  const place = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (place.current === null) return
    const chart = init(place.current, isDark ? 'dark' : undefined)
    const series = (name: string, color: string, read: (minute: Minute) => number) => ({
      name,
      type: 'line' as const,
      color,
      showSymbol: false,
      lineStyle: { width: 1.5 },
      areaStyle: { opacity: 0.08 },
      data: filled(minutes).map((minute) => [minute.time.replace(' ', 'T'), read(minute)]),
    })
    chart.setOption({
      backgroundColor: 'transparent',
      aria: { enabled: true, label: { description: words } },
      animation: false,
      grid: { left: 8, right: 12, top: 36, bottom: 8, containLabel: true },
      legend: { top: 0, left: 0, icon: 'roundRect' },
      tooltip: { trigger: 'axis' },
      xAxis: { type: 'time', axisLabel: { hideOverlap: true }, ...lastDay(minutes) },
      yAxis: { type: 'value', minInterval: 1 },
      series: [
        series(t('creates'), isDark ? '#4fc4bc' : '#0b6e6e', ({ creates }) => creates),
        series(t('refusals'), '#d4380d', ({ refusals }) => refusals),
      ],
    })
    const watch = new ResizeObserver(() => chart.resize())
    watch.observe(place.current)
    return () => {
      watch.disconnect()
      chart.dispose()
    }
  }, [minutes, words, isDark, t])
  return <div ref={place} role="img" aria-label={words} style={{ height: 260 }} />
}

const minuteMs = 60_000

/** The day that ends with the last minute. */
function lastDay(minutes: Minute[]): { min: string; max: string } {
  const last = Date.parse(`${minutes.at(-1)?.time.replace(' ', 'T')}Z`) + minuteMs
  const show = (ms: number) => new Date(ms).toISOString().slice(0, 19)
  return { min: show(last - 24 * 60 * minuteMs), max: show(last) }
}

/** A zero beside each gap, so that the line falls where nothing happened instead of leaning over it. */
function filled(minutes: Minute[]): Minute[] {
  const at = (time: string) => Date.parse(`${time.replace(' ', 'T')}Z`)
  const show = (ms: number) => new Date(ms).toISOString().slice(0, 19).replace('T', ' ')
  const none = (ms: number): Minute => ({ time: show(ms), creates: 0, refusals: 0 })
  return minutes.flatMap((minute, index) => {
    const now = at(minute.time)
    const [before, after] = [minutes[index - 1], minutes[index + 1]]
    const isLonely = (other: Minute | undefined) => other === undefined || Math.abs(at(other.time) - now) > minuteMs
    return [
      ...(isLonely(before) ? [none(now - minuteMs)] : []),
      minute,
      ...(isLonely(after) ? [none(now + minuteMs)] : []),
    ]
  })
}
