import type { Config } from '../config.ts'
import type { Sql } from '../database/open.ts'
import { lately } from '../runtime/cached.ts'
import type { Metrics } from '../runtime/metrics.ts'
import { callbacksNow, countDeliveries, countEndpoints, readBacklog } from './store.ts'

/** For all processes; the gauges are missing while the database is away. */
export function registerGauges(
  metrics: Metrics,
  sql: Sql,
  timeoutMs: number,
  { callbacks }: Pick<Config, 'callbacks'>,
): void {
  const asking = <Value>(ask: (sql: Sql) => Promise<Value>) => lately(() => ask(sql), { freshMs: 500, timeoutMs })
  const backlog = asking(readBacklog)
  metrics.gauge(
    {
      name: 'forecourt_callbacks_paused',
      help: 'Whether callbacks are paused: 1 if paused by the settings or since a restore, else 0.',
      merged: 'first',
    },
    asking(async (asked) => ((await callbacksNow(asked, callbacks)) === 'paused' ? 1 : 0)),
  )
  metrics.gaugeBy(
    'state',
    {
      name: 'forecourt_deliveries',
      help: 'Pending and failed (dead) deliveries, each counted up to 100000.',
      merged: 'first',
    },
    asking(countDeliveries),
  )
  metrics.gaugeBy(
    'state',
    {
      name: 'forecourt_callback_endpoints',
      help: 'Callback endpoints by state: on (active), held (paused after repeated failures), stopped (disabled by a 410).',
      merged: 'first',
    },
    asking(countEndpoints),
  )
  metrics.gaugeBy(
    'state',
    {
      name: 'forecourt_callback_waiting_events',
      help: 'Queued events (no delivery attempt yet) by endpoint state, each counted up to 100000.',
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
      help: 'Age of the oldest queued event.',
      merged: 'first',
    },
    async () => (await backlog())?.lagSeconds,
  )
}
