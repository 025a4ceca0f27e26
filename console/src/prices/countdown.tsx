import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { readAnew } from '../api.ts'
import { lengthOf } from './presets.ts'
import { useTexts } from './texts.ts'

/** How long it is until an instant; when the instant has come, whatever the page shows is read again. */
export function Countdown({ at }: { at: string }) {
  const t = useTexts()
  const queries = useQueryClient()
  const instant = new Date(at).getTime()
  const [now, setNow] = useState(() => Date.now())
  const left = instant - now
  const isOver = left <= 0
  // Seconds are shown in the last hour alone.
  const everyMs = left > 3_600_000 ? 15_000 : 1_000
  useEffect(() => {
    if (isOver) {
      // The database's clock decides, and it may be a little behind the browser's.
      const timer = setTimeout(() => void readAnew(queries), 2_500)
      return () => clearTimeout(timer)
    }
    const timer = setInterval(() => setNow(Date.now()), everyMs)
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
