import type { Logger } from 'pino'
import type { Config } from '../../config.ts'
import { tryLock } from '../../database/advisory-lock.ts'
import type { Sql } from '../../database/open.ts'
import { OutageLog } from '../../database/outage-log.ts'
import { transaction } from '../../database/transaction.ts'
import { startRounds } from '../../runtime/actor.ts'
import { changeStates, type StateChange } from './routine.ts'
import { presenceTimes } from './rules.ts'
import { findSilentDevices, type KnownDevice, lockSilentDevices, type SilentDevice } from './store.ts'

/** The batch size of one transaction: small, so that it does not hold an application's lock for long. */
const stepDevices = 500
const actor = 'platform:presence'

interface Parts {
  sql: Sql
  log: Logger
  config: Pick<Config, 'presenceSeconds'>
}

function toOffline({ device, rowVersion, rowPlace, reportedAt }: KnownDevice): StateChange {
  const state = { ...device, onlineStatus: 2 }
  const time = { at: reportedAt, isNow: false }
  const event = { actor, state, before: { onlineStatus: 1 }, time }
  return { ...state, rowVersion, rowPlace, time, newestRead: undefined, sign: 'gone', events: [event] }
}

/** Starts the worker that marks a device offline when its last report is older than the timeout (contract §5). */
export function startPresence({ config, sql, log }: Parts): { stop(): void } {
  const { silenceMs, tickMs } = presenceTimes(config.presenceSeconds)
  const outage = new OutageLog(log, {
    failing: 'the search for silent devices failed: it will be retried',
    succeeding: 'the search for silent devices succeeds again',
  })
  let isStopped = false

  /**
   * Marks found devices offline in one transaction, under a lock that one process at a time holds. Returns how many it
   * changed, or undefined if another process holds the lock.
   */
  function step(found: SilentDevice[]): Promise<number | undefined> {
    return transaction(sql, async (tx) => {
      if (!(await tryLock(tx, 'presence'))) return undefined
      const silent = await lockSilentDevices(tx, found, silenceMs)
      if (silent.length > 0) await changeStates(tx, silent.map(toOffline), [], new Date())
      return silent.length
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
      rounds.stop()
    },
  }
}
