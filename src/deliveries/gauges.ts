import type { Config } from '../config.ts'
import type { Sql } from '../database/open.ts'
import { lately, type Metrics } from '../runtime/metrics.ts'
import { callbacksNow, countDeliveries, countEndpoints, readBacklog } from './store.ts'

/** Registers the gauges of the callback backlog of all processes; they are missing while the database is away. */
export function registerGauges(
  metrics: Metrics,
  sql: Sql,
  timeoutMs: number,
  { callbacks }: Pick<Config, 'callbacks'>,
): void {
  const cached = <Value>(ask: (sql: Sql) => Promise<Value>) => lately(() => ask(sql), { freshMs: 500, timeoutMs })
  const backlog = cached(readBacklog)
  metrics.gauge(
    {
      name: 'forecourt_callbacks_paused',
      help: 'Whether callbacks are paused: 1 if paused by the settings or since a restore, else 0.',
      merged: 'first',
    },
    cached(async (asked) => ((await callbacksNow(asked, callbacks)) === 'paused' ? 1 : 0)),
  )
  metrics.gaugeBy(
    'state',
    {
      name: 'forecourt_deliveries',
      help: 'Deliveries that wait for another attempt, and dead ones, each counted up to 100000.',
      merged: 'first',
    },
    cached(countDeliveries),
  )
  metrics.gaugeBy(
    'state',
    {
      name: 'forecourt_callback_endpoints',
      help: 'Callback endpoints by state: on (sent to), held (after failures in a row), stopped (by a 410).',
      merged: 'first',
    },
    cached(countEndpoints),
  )
  metrics.gaugeBy(
    'state',
    {
      name: 'forecourt_callback_waiting_events',
      help: 'Events that callbacks ask for and that wait for their first attempt, by the state of the endpoint, each counted up to 100000.',
      merged: 'first',
    },
    async () => {
      const found = await backlog()
      return found && { on: found.on, held: found.held }
    },
  )
  metrics.gauge(
    {
      name: 'forecourt_callback_lag_seconds',
      help: 'How long the oldest event that a callback asks for has waited for its first attempt.',
      merged: 'first',
    },
    async () => (await backlog())?.lagSeconds,
  )
}
