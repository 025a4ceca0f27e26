import { setTimeout as pause } from 'node:timers/promises'
import type { Context } from '../../context.ts'
import { transaction } from '../../database/transaction.ts'
import { callbacksNow } from '../../deliveries/store.ts'
import { newestEvents } from '../../events/store.ts'
import { type Handler, readAfter } from '../../http/handler.ts'
import { inTime } from '../../runtime/event-loop.ts'
import { showMoment } from '../../vocabulary/moments.ts'
import type { Surroundings } from '../surroundings.ts'
import { attentionOf } from './attention.ts'
import { getOverview } from './contract.ts'
import { findCount, lastDay, refreshCount } from './store.ts'

/** In durations of a count: an older count is made again, after 5 s at least and a minute at most. */
const countShare = 100
const [youngestMs, oldestMs] = [5_000, 60_000]
/** After this, a request gets the last count. */
const countWaitMs = 3_000
const lookAgainMs = 200
const shownEvents = 12

export function overviewRoutes({ sql: counter, log, config }: Context, surroundings: Surroundings): Handler[] {
  let counting: Promise<void> | undefined
  let tookMs = 0
  // Less than the time in which a request is answered.
  const waitMs = Math.min(countWaitMs, config.statementTimeoutMs / 2)

  /** Once for all who ask meanwhile. */
  function count(youngerMs: number): Promise<void> {
    const beganAt = performance.now()
    const run = async () => {
      const untilAt = beganAt + waitMs
      while (!(await transaction(counter, (tx) => refreshCount(tx, youngerMs)))) {
        // Another process counts.
        if (performance.now() > untilAt) return
        await pause(lookAgainMs)
      }
    }
    counting ??= run()
      .catch((error) => log.warn({ err: error }, 'overview counts failed; the next request retries'))
      .finally(() => {
        counting = undefined
        tookMs = performance.now() - beganAt
      })
    return counting
  }

  async function refresh(): Promise<void> {
    const youngerMs = Math.min(oldestMs, Math.max(youngestMs, tookMs * countShare))
    const last = await findCount(counter)
    if (last === undefined || Date.now() - last.countedAt.getTime() >= youngerMs) await count(youngerMs)
  }

  return [
    readAfter(
      getOverview,
      () => inTime(refresh(), undefined, waitMs),
      async ({ sql, caller }) => {
        const [last, callbacks, minutes, events, around] = await Promise.all([
          findCount(sql),
          callbacksNow(sql, config.callbacks),
          lastDay(sql),
          newestEvents(sql, shownEvents),
          surroundings.findings(),
        ])
        const isAdmin = caller.kind === 'operator' && caller.role === 'admin'
        const { troubles = [], unreachable = [], failedJobs = [], online = [] } = last ?? {}
        return {
          counts: last?.counts ?? null,
          callbacks,
          countTime: last === undefined ? null : showMoment(last.countedAt),
          troubles: troubles.map(({ callbackStoppedSince: _, callbackStoppedReason: __, ...trouble }) => ({
            ...trouble,
            callbackFailingSince: trouble.callbackFailingSince && showMoment(new Date(trouble.callbackFailingSince)),
          })),
          attention: attentionOf({ troubles, unreachable, failedJobs }, around, { isAdmin }),
          minutes,
          online: online.map(([time, devicesOnline]) => ({ time: showMoment(new Date(time * 1000)), devicesOnline })),
          events,
        }
      },
    ),
  ]
}
