import { setTimeout as pause } from 'node:timers/promises'
import type { Context } from '../../context.ts'
import { OutageLog } from '../../database/outage-log.ts'
import { startRounds } from '../../runtime/loop.ts'
import { presenceTimes } from './rules.ts'
import { noteHearing } from './store.ts'

/** Notes that this process hears devices. A gap means that no worker ran, or the database was unavailable. */
export function startHearing({ sql, log, config }: Pick<Context, 'sql' | 'log' | 'config'>): {
  stop(lastMs: number): Promise<void>
} {
  const times = presenceTimes(config.presenceSeconds)
  const outage = new OutageLog(log, {
    failing: 'the service could not note that it serves: devices are not taken offline until it can',
    succeeding: 'the service notes again that it serves',
  })
  let last = Promise.resolve()
  const note = () => {
    last = noteHearing(sql, times).then(
      () => outage.succeeded(),
      (error: unknown) => outage.failed(error),
    )
    return last
  }
  const rounds = startRounds(note, times.noteMs)
  void note()
  return {
    /** A process that stops still takes requests for `lastMs`. */
    async stop(lastMs) {
      await pause(lastMs)
      await rounds.stop()
      await last
      await note()
    },
  }
}
