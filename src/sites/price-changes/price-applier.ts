import type { Context } from '../../context.ts'
import { tryLock } from '../../database/advisory-lock.ts'
import { tryLockApplication } from '../../database/application-lock.ts'
import { databaseRefusal, isLockTimeout } from '../../database/failures.ts'
import { OutageLog } from '../../database/outage-log.ts'
import { transaction } from '../../database/transaction.ts'
import { Loop } from '../../runtime/loop.ts'
import { writeDue } from './effect.ts'
import { findDueApplications, findMsToNext } from './store.ts'

/** Finds what other processes have scheduled, so no change is written down more than 2 s late. */
const lookEveryMs = 1_000
const againAfterMs = 100
/** Rests for this share of a portion's time, so that other writes keep over half of their rate. */
const restShare = 0.5
const mostRestMs = 500
/** Other applications' changes wait while this one waits for a lock. */
const lockWaitMs = 500
const foundAtOnce = 1_000

type Outcome = 'written' | 'busy' | 'failed'

/** Writes down due changes in order of time. A killed process leaves a whole portion or none. */
export class PriceApplier {
  private readonly context: Pick<Context, 'sql' | 'log'>
  private readonly loop = new Loop(() => this.runOnce())
  private readonly outage: OutageLog
  private isBehind = false
  private rounds = 0

  constructor(context: Pick<Context, 'sql' | 'log'>) {
    this.context = context
    this.outage = new OutageLog(context.log, {
      failing: 'applied price changes couldn’t be written; will retry',
      succeeding: 'writing price changes works again',
    })
  }

  get isCaughtUp(): boolean {
    return !this.isBehind
  }

  /** Writes down changes that became due while no process ran. */
  async catchUp(): Promise<void> {
    for (;;) {
      const outcomes = await this.round({ givesWay: false })
      if (this.loop.isStopping || !outcomes.includes('busy')) return
      await this.loop.rest(againAfterMs, false)
    }
  }

  start(): void {
    this.loop.start()
  }

  stop(): Promise<void> {
    return this.loop.stop()
  }

  wake(): void {
    this.loop.wake()
  }

  private async runOnce(): Promise<number> {
    const outcomes = await this.round({ givesWay: true })
    return outcomes.some((outcome) => outcome !== 'written') ? againAfterMs : this.untilNext()
  }

  private async untilNext(): Promise<number> {
    const ms = (await findMsToNext(this.context.sql).catch(() => undefined)) ?? lookEveryMs
    return Math.min(Math.max(ms, 0), lookEveryMs)
  }

  /** Writes down every application's due changes, one portion each in turn. Returns one outcome each. */
  private async round({ givesWay }: { givesWay: boolean }): Promise<Outcome[]> {
    try {
      const outcomes = new Map<string, Outcome>()
      for (;;) {
        // Before each portion, because others' changes become due meanwhile.
        const found = await findDueApplications(this.context.sql, foundAtOnce)
        const due = found.filter((appId) => (outcomes.get(appId) ?? 'written') === 'written')
        if (due.length === 0 || this.loop.isStopping) break
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

  /** Waits for one busy application, another in each round: under constant writes its lock is never found free. */
  private async waitForOne(outcomes: Map<string, Outcome>, givesWay: boolean): Promise<void> {
    const busy = [...outcomes].filter(([, outcome]) => outcome === 'busy')
    const [appId] = busy[this.rounds++ % busy.length] ?? []
    // It still counts as busy, because a portion may be left.
    if (appId !== undefined && !this.loop.isStopping) await this.writePortion(appId, givesWay, lockWaitMs)
  }

  /** Writes down one portion of an application's due changes. A failure doesn't stop other applications. */
  private async writePortion(appId: string, givesWay: boolean, waitMs: number): Promise<Outcome> {
    const { sql } = this.context
    const beganAt = performance.now()
    try {
      const isWritten = await transaction(sql, async (tx) => {
        if (!(await tryLock(tx, `prices ${appId}`))) return false
        if (!(await tryLockApplication(tx, appId, waitMs))) return false
        await writeDue(tx, appId)
        return true
      })
      if (isWritten && givesWay) {
        await this.loop.rest(Math.min((performance.now() - beganAt) * restShare, mostRestMs), false)
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
