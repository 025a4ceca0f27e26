import type { Logger } from 'pino'
import type { Sql } from '../../database/open.ts'
import { OutageLog } from '../../database/outage-log.ts'
import { transaction } from '../../database/transaction.ts'
import { type Rounds, startRounds } from '../../runtime/loop.ts'
import type { KnownFleet } from './gauges.ts'
import { countFleet, readFleet } from './store.ts'

/** How soon a process learns of a count that another one made. */
const lookEveryMs = 2_000

/** Counts the fleet if no process has lately. */
export function startFleetCounter(sql: Sql, log: Logger, fleet: KnownFleet): Rounds {
  const outage = new OutageLog(log, {
    failing: 'the fleet could not be counted: its metrics stay as they are until it can',
    succeeding: 'the fleet is counted again',
  })
  async function read(): Promise<void> {
    const news = await readFleet(sql, fleet.round)
    if (news !== undefined) fleet.take(news)
  }
  let isStopped = false
  async function look(): Promise<void> {
    try {
      await read()
      if (fleet.isOld) {
        await transaction(sql, countFleet)
        await read()
      }
      outage.succeeded()
    } catch (error) {
      if (!isStopped) outage.failed(error)
    }
  }
  // What was known before the start is shown at the first scrape.
  const first = look()
  const rounds = startRounds(() => first.then(look), lookEveryMs)
  return {
    async stop() {
      isStopped = true
      await Promise.all([first, rounds.stop()])
    },
  }
}
