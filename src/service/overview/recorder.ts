import { setTimeout } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { Sql } from '../../database/open.ts'
import { startRounds } from '../../runtime/loop.ts'
import type { Metrics } from '../../runtime/metrics.ts'
import { addToMinute } from './store.ts'

const everyMs = 5_000
/** If the database is away, the stop waits no longer for the last seconds' figures. */
const lastWriteMs = 500

export function startRecorder(sql: Sql, log: Logger, { totals }: Metrics): { stop(): Promise<void> } {
  let written = { creates: 0, siteCreates: 0 }
  async function write(): Promise<void> {
    const counted = { ...totals }
    const creates = counted.creates - written.creates
    if (creates === 0) return
    try {
      await addToMinute(sql, creates, counted.siteCreates - written.siteCreates)
      written = counted
    } catch (error) {
      log.debug({ err: error }, 'this minute’s create count couldn’t be stored; it is added to the next minute')
    }
  }
  const rounds = startRounds(write, everyMs)
  return {
    async stop() {
      await Promise.race([rounds.stop().then(write), setTimeout(lastWriteMs)])
    },
  }
}
