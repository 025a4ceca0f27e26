import type { Logger } from 'pino'
import type { Config } from '../config.ts'
import type { Sql } from '../database/open.ts'
import { transaction } from '../database/transaction.ts'
import { callbacksNow } from '../deliveries/store.ts'
import { newestEvents } from '../events/store.ts'
import { type Handler, read } from '../http/serve.ts'
import type { ShowMoment } from '../moments.ts'
import { getOverview } from './contract.ts'
import { findCount, lastDay, refreshCount } from './store.ts'

const countEveryMs = 60_000
/** A first count of a small platform is there by then. */
const firstCountMs = 1_000
const shownEvents = 12

interface Parts {
  /** For counting, which may take long. */
  sql: Sql
  log: Logger
  config: Pick<Config, 'callbacks'>
  showMoment: ShowMoment
}

/** The platform at a glance. */
export function overviewRoutes({ sql: counter, log, config, showMoment }: Parts): Handler[] {
  let counting: Promise<void> | undefined

  function count(): Promise<void> {
    counting ??= transaction(counter, (tx) => refreshCount(tx))
      .catch((error) => log.warn({ err: error }, 'the overview could not be counted; the next look tries again'))
      .finally(() => {
        counting = undefined
      })
    return counting
  }

  /** The last count. An old one is shown while a new one is made; nothing is counted while nobody looks. */
  async function lastCount(sql: Sql) {
    const last = await findCount(sql)
    if (last !== undefined && Date.now() - last.countedAt.getTime() < countEveryMs) return last
    const counted = count()
    if (last !== undefined) return last
    await Promise.race([counted, new Promise((resolve) => setTimeout(resolve, firstCountMs))])
    return findCount(sql)
  }

  return [
    read(getOverview, async ({ sql }) => {
      const [last, callbacks, minutes, events] = await Promise.all([
        lastCount(sql),
        callbacksNow(sql, config.callbacks),
        lastDay(sql, showMoment),
        newestEvents(sql, shownEvents, showMoment),
      ])
      return {
        counts: last?.counts ?? null,
        callbacks,
        countTime: last === undefined ? null : showMoment(last.countedAt),
        troubles: last?.troubles ?? [],
        minutes,
        events,
      }
    }),
  ]
}
