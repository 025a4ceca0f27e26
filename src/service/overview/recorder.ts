import { setTimeout } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { Sql } from '../../database/open.ts'
import { startRounds } from '../../runtime/actor.ts'
import type { Metrics } from '../../runtime/metrics.ts'
import { addToMinute } from './store.ts'

const everyMs = 5_000
/**
 * The end of the service must not wait longer for the last seconds' figures than this, if the database does not
 * respond.
 */
const lastWriteMs = 500

/** Stores, every few seconds, how many records were created. */
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
      log.debug(
        { err: error },
        'the count of this minute’s creates could not be stored: it is added to the next minute’s write',
      )
    }
  }
  const rounds = startRounds(write, everyMs)
  return {
    async stop() {
      await Promise.race([rounds.stop().then(write), setTimeout(lastWriteMs)])
    },
  }
}
