import type { Logger } from 'pino'
import { tryLock } from '../../database/advisory-lock.ts'
import { lockApplication } from '../../database/application-lock.ts'
import { databaseRefusal } from '../../database/failures.ts'
import type { Sql } from '../../database/open.ts'
import { OutageLog } from '../../database/outage-log.ts'
import { transaction } from '../../database/transaction.ts'
import { Rests } from '../../runtime/rests.ts'
import type { ShowMoment } from '../../vocabulary/moments.ts'
import { writeDue } from './effect.ts'
import { findNextWaiting } from './store.ts'

/** A change that another process has scheduled is found by the next look, so none is written down more than 2 s late. */
const lookEveryMs = 1_000
/** How soon what another process is writing, or what could not be written, is looked at again. */
const againAfterMs = 100
/** How long the applier rests after a portion, as a share of what that took: writes beside it keep over half of their rate. */
const restShare = 0.5
const mostRestMs = 500
/** How many of the next changes one look finds. */
const foundAtOnce = 200

interface Parts {
  sql: Sql
  log: Logger
  showMoment: ShowMoment
}

/** What became of an application's due changes in one round. */
type Outcome = 'written' | 'busy' | 'failed'

/**
 * Writes down, in the order of their moments, the price changes whose moment has come. Processes share the work by
 * application; one that is killed leaves a whole portion or nothing of it, and another goes on.
 */
export class PriceApplier {
  private readonly parts: Parts
  private readonly rests = new Rests()
  private readonly outage: OutageLog
  private isStopping = false
  private isBehind = false
  private running: Promise<unknown> = Promise.resolve()

  constructor(parts: Parts) {
    this.parts = parts
    this.outage = new OutageLog(parts.log, {
      failing: 'prices that have changed could not be written down: it will be retried',
      succeeding: 'prices that have changed are written down again',
    })
  }

  /** Whether all that came due while the database was away is written down. */
  get isCaughtUp(): boolean {
    return !this.isBehind
  }

  /** Writes down what came due while no process ran. */
  async catchUp(): Promise<void> {
    for (;;) {
      const outcomes = await this.round({ givesWay: false })
      if (this.isStopping || !outcomes.includes('busy')) return
      await this.rests.rest(againAfterMs)
    }
  }

  start(): void {
    this.running = this.run()
  }

  async stop(): Promise<void> {
    this.isStopping = true
    this.rests.stop()
    await this.running
  }

  /** Looks for work at once. */
  wake(): void {
    this.rests.wake()
  }

  private async run(): Promise<void> {
    let restMs = 0
    while (!this.isStopping) {
      await this.rests.rest(restMs)
      // A database that does not answer would hold up the stop for as long as a round.
      if (this.isStopping) return
      const outcomes = await this.round({ givesWay: true })
      restMs = outcomes.some((outcome) => outcome !== 'written') ? againAfterMs : await this.untilNext()
    }
  }

  /** How long to rest until the next change that is known of. */
  private async untilNext(): Promise<number> {
    const [next] = await findNextWaiting(this.parts.sql, 1).catch(() => [])
    return next === undefined ? lookEveryMs : Math.min(Math.max(next.inMs, 0), lookEveryMs)
  }

  /** Writes down what is due of every application. Returns one outcome for each. */
  private async round({ givesWay }: { givesWay: boolean }): Promise<Outcome[]> {
    try {
      const outcomes: Outcome[] = []
      let found: string[]
      do {
        found = await this.findDue()
        for (const appId of found) outcomes.push(await this.writeOf(appId, givesWay))
        // Those that another process writes would be found again.
      } while (found.length === foundAtOnce && outcomes.every((outcome) => outcome === 'written') && !this.isStopping)
      if (!outcomes.includes('failed')) this.outage.succeeded()
      if (outcomes.every((outcome) => outcome === 'written')) this.isBehind = false
      return outcomes
    } catch (error) {
      this.failed(error)
      return ['failed']
    }
  }

  private async findDue(): Promise<string[]> {
    const waiting = await findNextWaiting(this.parts.sql, foundAtOnce)
    return [...new Set(waiting.filter(({ inMs }) => inMs <= 0).map(({ appId }) => appId))]
  }

  /** Writes down what is due of an application, a portion in each transaction. A failure is that application's alone. */
  private async writeOf(appId: string, givesWay: boolean): Promise<Outcome> {
    const { sql, showMoment } = this.parts
    try {
      let isLeft: boolean | undefined = true
      while (isLeft && !this.isStopping) {
        const beganAt = performance.now()
        isLeft = await transaction(sql, async (tx) => {
          if (!(await tryLock(tx, `prices ${appId}`))) return undefined
          await lockApplication(tx, appId)
          return (await writeDue(tx, appId, showMoment)).isLeft
        })
        if (givesWay) await this.rests.rest(Math.min((performance.now() - beganAt) * restShare, mostRestMs), false)
      }
      return isLeft === undefined ? 'busy' : 'written'
    } catch (error) {
      this.failed(error)
      return 'failed'
    }
  }

  private failed(error: unknown): void {
    this.outage.failed(error)
    if (databaseRefusal(error) !== undefined) this.isBehind = true
  }
}
