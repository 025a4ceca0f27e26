import type { Sql } from '../database/open.ts'
import { inTime } from '../event-loop.ts'
import type { Metrics } from '../metrics.ts'
import { countDeliveries, countEndpoints, countWaiting, lagSeconds } from './store.ts'

/** Shows operators what the callbacks of all processes have before them. Nothing when the database is silent. */
export function registerGauges(metrics: Metrics, sql: Sql, timeoutMs: number): void {
  metrics.gaugeByState(
    'forecourt_deliveries',
    'Deliveries that wait for another attempt, and dead ones, each counted to 100000.',
    () => inTime(countDeliveries(sql), [], timeoutMs),
    'service',
  )
  metrics.gaugeByState(
    'forecourt_callback_endpoints',
    'Callbacks that are sent to, that are left alone for their failures, and that stopped with 410.',
    () => inTime(countEndpoints(sql), [], timeoutMs),
    'service',
  )
  metrics.gauge(
    'forecourt_callback_waiting_events',
    'Events that wait for their first attempt, counted to 100000.',
    () => inTime(countWaiting(sql), Number.NaN, timeoutMs),
    'service',
  )
  metrics.gauge(
    'forecourt_callback_lag_seconds',
    'For how long the oldest event has waited for its first attempt.',
    () => inTime(lagSeconds(sql), Number.NaN, timeoutMs),
    'service',
  )
}
