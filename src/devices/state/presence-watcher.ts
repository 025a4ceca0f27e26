import type { Context } from '../../context.ts'
import { tryLock } from '../../database/advisory-lock.ts'
import { OutageLog } from '../../database/outage-log.ts'
import { transaction } from '../../database/transaction.ts'
import { startRounds } from '../../runtime/loop.ts'
import { applyReports, type Report } from './routine.ts'
import { presenceTimes, reportedValues } from './rules.ts'
import { findSilentDevices, hasHeardLongEnough, lockSilentDevices, type SilentDevice } from './store.ts'

/** Small, so that an application's lock isn't held for long. */
const stepDevices = 500
const actor = 'platform:presence'

/** Silence is no report, so the latest report's time stays. */
const toOffline = ({ appId, deviceNo }: SilentDevice): Report => ({
  appId,
  deviceNo,
  actor,
  time: 'unchanged',
  isCompared: false,
  values: reportedValues({ onlineStatus: 2 }),
})

/** Starts to mark devices offline after a timeout in which the service could hear them (contract §5). */
export function startPresence({ config, sql, log }: Pick<Context, 'sql' | 'log' | 'config'>): { stop(): void } {
  const times = presenceTimes(config.presenceSeconds)
  const { refreshMs, silenceMs, tickMs } = times
  const outage = new OutageLog(log, {
    failing: 'search for devices without reports failed; will retry',
    succeeding: 'search for devices without reports works again',
  })
  let isStopped = false

  /**
   * Marks devices offline, in one process at a time. Returns how many changed, or undefined if another process has the
   * lock. Changes none if the silence may be the service's own.
   */
  function step(found: SilentDevice[]): Promise<number | undefined> {
    return transaction(sql, async (tx) => {
      if (!(await tryLock(tx, 'presence'))) return undefined
      if (!(await hasHeardLongEnough(tx, times))) return 0
      const silent = await lockSilentDevices(tx, found, silenceMs)
      if (silent.length === 0) return 0
      const { changes } = await applyReports(tx, silent.map(toOffline), [], refreshMs)
      return changes
    })
  }

  async function look(): Promise<void> {
    let found: SilentDevice[]
    let taken: number | undefined
    do {
      found = await findSilentDevices(sql, silenceMs, stepDevices)
      taken = found.length === 0 ? 0 : await step(found)
    } while (found.length === stepDevices && taken && !isStopped)
  }

  async function round(): Promise<void> {
    try {
      await look()
      outage.succeeded()
    } catch (error) {
      outage.failed(error)
    }
  }

  const rounds = startRounds(round, tickMs)
  return {
    stop() {
      isStopped = true
      void rounds.stop()
    },
  }
}
