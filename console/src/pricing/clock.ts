import { useEffect, useState } from 'react'
import { getSettings } from '../../../src/people/sessions/contract.ts'
import { useRead } from '../api/api.ts'
import { serviceNow } from '../api/clock.ts'
import { secondsOfDay } from './day-periods.ts'

/** The service's time of day, in seconds since midnight, and its zone; undefined until the zone is known. */
export function useServiceClock(): { seconds: number; timeZone: string } | undefined {
  const { data } = useRead(getSettings, {})
  const [now, setNow] = useState(serviceNow)
  useEffect(() => {
    const timer = setInterval(() => setNow(serviceNow()), 15_000)
    return () => clearInterval(timer)
  }, [])
  return data === undefined ? undefined : { seconds: secondsOfDay(now, data.timeZone), timeZone: data.timeZone }
}
