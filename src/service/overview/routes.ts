import type { Logger } from 'pino'
import type { Config } from '../../config.ts'
import type { Sql } from '../../database/open.ts'
import { transaction } from '../../database/transaction.ts'
import { callbacksNow } from '../../deliveries/store.ts'
import { newestEvents } from '../../events/store.ts'
import { type Handler, read } from '../../http/handler.ts'
import type { ShowMoment } from '../../vocabulary/moments.ts'
import { getOverview } from './contract.ts'
import { findCount, lastDay, refreshCount } from './store.ts'

/** Counting may take 1 part in 100 of a connection's time, but none is older than a minute. */
const countShare = 100
const [youngestMs, oldestMs] = [5_000, 60_000]
/** A count of a small platform is there by then. */
const countWaitMs = 1_000
const shownEvents = 12

interface Parts {
  /** The pool for counting, which may take long. */
  sql: Sql
  log: Logger
  config: Pick<Config, 'callbacks'>
  showMoment: ShowMoment
}

/** The platform at a glance. */
export function overviewRoutes({ sql: counter, log, config, showMoment }: Parts): Handler[] {
  let counting: Promise<void> | undefined
  let tookMs = 0

  function count(): Promise<void> {
    const beganAt = performance.now()
    counting ??= transaction(counter, (tx) => refreshCount(tx))
      .catch((error) => log.warn({ err: error }, 'the overview could not be counted: the next request tries again'))
      .finally(() => {
        counting = undefined
        tookMs = performance.now() - beganAt
      })
    return counting
  }

  /** The last count. An old one is replaced first, and shown only where a new one takes longer than a look may. */
  async function lastCount(sql: Sql) {
    const last = await findCount(sql)
    const everyMs = Math.min(oldestMs, Math.max(youngestMs, tookMs * countShare))
    if (last !== undefined && Date.now() - last.countedAt.getTime() < everyMs) return last
    await Promise.race([count(), new Promise((resolve) => setTimeout(resolve, countWaitMs))])
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
        troubles: (last?.troubles ?? []).map(({ callbackFailingSince: since, ...trouble }) => ({
          ...trouble,
          callbackFailingSince: since && showMoment(new Date(since)),
        })),
        minutes,
        events,
      }
    }),
  ]
}
