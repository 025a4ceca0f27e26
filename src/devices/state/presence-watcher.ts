import type { Logger } from 'pino'
import type { Config } from '../../config.ts'
import { tryLock } from '../../database/advisory-lock.ts'
import type { Sql } from '../../database/open.ts'
import { OutageLog } from '../../database/outage-log.ts'
import { transaction } from '../../database/transaction.ts'
import { startRounds } from '../../runtime/actor.ts'
import { applyReports, type Report } from './routine.ts'
import { presenceTimes, reportedValues } from './rules.ts'
import { findSilentDevices, hasHeardLongEnough, lockSilentDevices, type SilentDevice } from './store.ts'

/** The batch size of one transaction: small, so that it does not hold an application's lock for long. */
const stepDevices = 500
const actor = 'platform:presence'

interface Parts {
  sql: Sql
  log: Logger
  config: Pick<Config, 'presenceSeconds'>
}

/** Silence is no report: the device's newest one stays. */
const toOffline = ({ appId, deviceNo }: SilentDevice): Report => ({
  appId,
  deviceNo,
  actor,
  time: 'unchanged',
  isCompared: false,
  values: reportedValues({ onlineStatus: 2 }),
})

/**
 * Starts the worker that marks a device offline when its last report is older than the timeout, and the service could hear
 * it all that time (contract §5).
 */
export function startPresence({ config, sql, log }: Parts): { stop(): void } {
  const times = presenceTimes(config.presenceSeconds)
  const { refreshMs, silenceMs, tickMs } = times
  const outage = new OutageLog(log, {
    failing: 'the search for silent devices failed: it will be retried',
    succeeding: 'the search for silent devices succeeds again',
  })
  let isStopped = false

  /**
   * Marks found devices offline in one transaction, under a lock that one process at a time holds. Returns how many it
   * changed, or undefined if another process holds the lock. Changes none while the silence may be the service's own.
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
