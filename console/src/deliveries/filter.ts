import { eventTypes } from '../../../src/vocabulary/event-types.ts'

/** The value of the state filter that selects undelivered deliveries: those to try again, and dead ones. */
export const undelivered = 'undelivered'

/** The filter's value for all types but tests, which figures of callbacks do not count. */
export const eventsOnly = [...new Set(eventTypes.map((type) => type.replace(/\..*/, '.*')))].join(',')

/** The state that a filter asks for, as the operations take it. */
export function statusAsked(value: string): { status: 1 | 2 | 3 | null; isUndelivered: boolean } {
  const isUndelivered = value === undelivered
  return { status: value === '' || isUndelivered ? null : (Number(value) as 1 | 2 | 3), isUndelivered }
}
