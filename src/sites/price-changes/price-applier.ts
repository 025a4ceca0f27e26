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
/** How soon the applier tries again to write changes that another process is writing, or that could not be written. */
const againAfterMs = 100
/**
 * How long the applier rests after a portion, as a share of the time that the portion took: other writes keep over half
 * of their rate.
 */
const restShare = 0.5
const mostRestMs = 500
/** How many waiting price changes one search returns at most. */
const foundAtOnce = 200

interface Parts {
  sql: Sql
  log: Logger
  showMoment: ShowMoment
}

/** The outcome of an application's due changes in one round. */
type Outcome = 'written' | 'busy' | 'failed'

/**
 * Writes down, in the order of their moments, the price changes whose moment has come. Processes share the work by
 * application; a killed process leaves a whole portion or none, and another process continues.
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
      failing: 'price changes that took effect could not be written: it will be retried',
      succeeding: 'writing price changes succeeds again',
    })
  }

  /** Whether the changes that became due while the database was away are written down. */
  get isCaughtUp(): boolean {
    return !this.isBehind
  }

  /** Writes down the changes that became due while no process ran. */
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

  /** How long to rest until the next known change is due. */
  private async untilNext(): Promise<number> {
    const [next] = await findNextWaiting(this.parts.sql, 1).catch(() => [])
    return next === undefined ? lookEveryMs : Math.min(Math.max(next.inMs, 0), lookEveryMs)
  }

  /** Writes down the due changes of every application. Returns one outcome for each. */
  private async round({ givesWay }: { givesWay: boolean }): Promise<Outcome[]> {
    try {
      const outcomes: Outcome[] = []
      let found: string[]
      do {
        found = await this.findDue()
        for (const appId of found) outcomes.push(await this.writeOf(appId, givesWay))
        // The loop ends when changes that another process writes are all that is left: it would find them again.
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

  /**
   * Writes down the due changes of an application, a portion in each transaction. A failure does not stop other
   * applications.
   */
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
