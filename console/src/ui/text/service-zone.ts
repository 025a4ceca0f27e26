import dayjs from 'dayjs'
import timezone from 'dayjs/plugin/timezone'
import utc from 'dayjs/plugin/utc'
import { getSettings } from '../../../../src/people/sessions/contract.ts'
import { useRead } from '../../api/api.ts'
import { serviceNow } from '../../api/clock.ts'

interface Given {
  date?: unknown
}
interface Parsing {
  parse: (given: Given) => void
}

dayjs.extend(utc)
dayjs.extend(timezone)
// Without a date, this library takes the present one: the service's, as everywhere.
dayjs.extend((_, { prototype }) => {
  const { parse } = prototype as unknown as Parsing
  Object.assign(prototype, {
    parse(this: unknown, given: Given) {
      parse.call(this, given.date === undefined ? { ...given, date: serviceNow() } : given)
    },
  })
})

/**
 * The service's time zone; undefined until it is known. From then on, “now” and “today” are the service's in every date
 * picker, which asks for the present moment in this library's own zone; the user's may be another.
 */
export function useServiceZone(enabled = true): string | undefined {
  const { data } = useRead(getSettings, {}, { enabled })
  if (data !== undefined) dayjs.tz.setDefault(data.timeZone)
  return data?.timeZone
}
