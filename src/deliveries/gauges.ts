import type { Config } from '../config.ts'
import type { Sql } from '../database/open.ts'
import { lately, type Metrics } from '../runtime/metrics.ts'
import { callbacksNow, countDeliveries, countEndpoints, readBacklog } from './store.ts'

/** Shows operators what the callbacks of all processes have before them. Nothing when the database is silent. */
export function registerGauges(
  metrics: Metrics,
  sql: Sql,
  timeoutMs: number,
  { callbacks }: Pick<Config, 'callbacks'>,
): void {
  const soon = <Value>(ask: (sql: Sql) => Promise<Value>) => lately(() => ask(sql), { freshMs: 500, timeoutMs })
  const backlog = soon(readBacklog)
  metrics.gauge(
    {
      name: 'forecourt_callbacks_paused',
      help: 'Whether no callbacks are sent: by the settings, or since a restore.',
      merged: 'first',
    },
    soon(async (asked) => ((await callbacksNow(asked, callbacks)) === 'paused' ? 1 : 0)),
  )
  metrics.gaugeBy(
    'state',
    {
      name: 'forecourt_deliveries',
      help: 'Deliveries that wait for another attempt, and dead ones, each counted to 100000.',
      merged: 'first',
    },
    soon(countDeliveries),
  )
  metrics.gaugeBy(
    'state',
    {
      name: 'forecourt_callback_endpoints',
      help: 'Callbacks that are sent to, that are left alone for their failures, and that stopped with 410.',
      merged: 'first',
    },
    soon(countEndpoints),
  )
  metrics.gaugeBy(
    'state',
    {
      name: 'forecourt_callback_waiting_events',
      help: 'Events that callbacks ask for and that wait for their first attempt, by the state of the callback, each counted to 100000.',
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
      help: 'For how long the oldest event that a callback asks for has waited for its first attempt.',
      merged: 'first',
    },
    async () => (await backlog())?.lagSeconds,
  )
}
