import type { Logger } from 'pino'
import { tryLock } from '../../database/advisory-lock.ts'
import { tryLockApplication } from '../../database/application-lock.ts'
import { databaseRefusal, isLockTimeout } from '../../database/failures.ts'
import type { Sql } from '../../database/open.ts'
import { OutageLog } from '../../database/outage-log.ts'
import { transaction } from '../../database/transaction.ts'
import { Rests } from '../../runtime/rests.ts'
import { writeDue } from './effect.ts'
import { findDueApplications, findMsToNext } from './store.ts'

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
/** How long one application's lock is waited for: other applications' changes wait meanwhile. */
const lockWaitMs = 500
/** How many applications one search returns at most. */
const foundAtOnce = 1_000

interface Parts {
  sql: Sql
  log: Logger
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
  private rounds = 0
  private running: Promise<unknown> = Promise.resolve()

  constructor(parts: Parts) {
    this.parts = parts
    this.outage = new OutageLog(parts.log, {
      failing: 'applied price changes couldn’t be written; will retry',
      succeeding: 'writing price changes works again',
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
    const ms = (await findMsToNext(this.parts.sql).catch(() => undefined)) ?? lookEveryMs
    return Math.min(Math.max(ms, 0), lookEveryMs)
  }

  /**
   * Writes down the due changes of every application, a portion of each in turn: no application waits for all changes of
   * another. Returns one outcome for each.
   */
  private async round({ givesWay }: { givesWay: boolean }): Promise<Outcome[]> {
    try {
      const outcomes = new Map<string, Outcome>()
      for (;;) {
        // Looked for before each portion, because changes of others become due meanwhile.
        const found = await findDueApplications(this.parts.sql, foundAtOnce)
        const due = found.filter((appId) => (outcomes.get(appId) ?? 'written') === 'written')
        if (due.length === 0 || this.isStopping) break
        for (const appId of due) outcomes.set(appId, await this.writePortion(appId, givesWay, 0))
      }
      await this.waitForOne(outcomes, givesWay)
      const all = [...outcomes.values()]
      if (!all.includes('failed')) this.outage.succeeded()
      if (all.every((outcome) => outcome === 'written')) this.isBehind = false
      return all
    } catch (error) {
      this.failed(error)
      return ['failed']
    }
  }

  /**
   * Waits for the lock of one application that was busy, another one in each round: where writes follow each other, the
   * lock is never found free.
   */
  private async waitForOne(outcomes: Map<string, Outcome>, givesWay: boolean): Promise<void> {
    const busy = [...outcomes].filter(([, outcome]) => outcome === 'busy')
    const [appId] = busy[this.rounds++ % busy.length] ?? []
    // Busy also when it is written: a portion may be left.
    if (appId !== undefined && !this.isStopping) await this.writePortion(appId, givesWay, lockWaitMs)
  }

  /** Writes down a portion of an application's due changes. A failure does not stop other applications. */
  private async writePortion(appId: string, givesWay: boolean, waitMs: number): Promise<Outcome> {
    const { sql } = this.parts
    const beganAt = performance.now()
    try {
      const isWritten = await transaction(sql, async (tx) => {
        if (!(await tryLock(tx, `prices ${appId}`))) return false
        if (!(await tryLockApplication(tx, appId, waitMs))) return false
        await writeDue(tx, appId)
        return true
      })
      if (isWritten && givesWay) {
        await this.rests.rest(Math.min((performance.now() - beganAt) * restShare, mostRestMs), false)
      }
      return isWritten ? 'written' : 'busy'
    } catch (error) {
      if (isLockTimeout(error)) return 'busy'
      this.failed(error)
      return 'failed'
    }
  }

  private failed(error: unknown): void {
    this.outage.failed(error)
    if (databaseRefusal(error) !== undefined) this.isBehind = true
  }
}
