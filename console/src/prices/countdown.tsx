import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { readAnew } from '../api/api.ts'
import { serviceTime } from '../api/clock.ts'
import { lengthOf } from './presets.ts'
import { useTexts } from './texts.ts'

/** Shows the time that is left until a moment. At that moment, the page's data is read again. */
export function Countdown({ at }: { at: string }) {
  const t = useTexts()
  const queries = useQueryClient()
  const instant = new Date(at).getTime()
  const [now, setNow] = useState(() => serviceTime())
  const left = instant - now
  const isOver = left <= 0
  // Seconds are shown only in the last hour.
  const everyMs = left > 3_600_000 ? 15_000 : 1_000
  useEffect(() => {
    if (isOver) {
      // Reads a little later, because the database's clock decides, which may be behind this one.
      const timer = setTimeout(() => void readAnew(queries), 2_500)
      return () => clearTimeout(timer)
    }
    const timer = setInterval(() => setNow(serviceTime()), everyMs)
    return () => clearInterval(timer)
  }, [isOver, everyMs, queries])
  const { days, hours, minutes, seconds } = lengthOf(left)
  if (isOver) return <span className="faint">{t('nowDue')}</span>
  return (
    <span className="faint number" role="timer">
      {days > 0
        ? t('inDays', { days, hours })
        : hours > 0
          ? t('inHours', { hours, minutes })
          : t('inMinutes', { minutes, seconds })}
    </span>
  )
}
