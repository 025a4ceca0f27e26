import { transaction } from '../database/transaction.ts'
import { deviceText, showDevice } from '../devices/rules.ts'
import type { Platform } from '../platform.ts'
import { presenceTimes } from './rules.ts'
import {
  changeStates,
  findSilentDevices,
  type KnownDevice,
  lockSilentDevices,
  type StateChange,
  tryPresenceLock,
} from './store.ts'

/** Few enough that no step holds an application's lock for long. */
const stepDevices = 2000
const actor = 'platform:presence'

/** Takes devices offline that have reported and then stayed silent for the presence time-out (contract §5). */
export function startPresence({ config, sql, log, showMoment }: Platform): { stop(): void } {
  const { silenceMs, tickMs } = presenceTimes(config.presenceSeconds)
  let isRunning = false
  let isStopped = false

  /** One step: reads and writes in one transaction, which only one process at a time has. Answers how many it found. */
  function step(since: Date): Promise<number> {
    return transaction(sql, async (tx) => {
      if (!(await tryPresenceLock(tx))) return 0
      const found = await findSilentDevices(tx, since, stepDevices)
      const silent = found.length === 0 ? [] : await lockSilentDevices(tx, found, since)
      if (silent.length > 0) await changeStates(tx, silent.map(toOffline), new Date())
      return found.length
    })
  }

  function toOffline({ device, rowVersion }: KnownDevice): StateChange {
    const offline = { ...device, onlineStatus: 2 }
    return { ...offline, actor, rowVersion, isSilence: true, record: deviceText(showDevice(offline, showMoment)) }
  }

  async function tick(): Promise<void> {
    if (isRunning) return
    isRunning = true
    try {
      const since = new Date(Date.now() - silenceMs)
      while (!isStopped && (await step(since)) === stepDevices);
    } catch (error) {
      log.warn({ err: error }, 'the look for silent devices failed; it is tried again')
    }
    isRunning = false
  }

  const timer = setInterval(() => void tick(), tickMs)
  timer.unref()
  return {
    stop() {
      isStopped = true
      clearInterval(timer)
    },
  }
}
