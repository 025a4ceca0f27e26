import { setTimeout } from 'node:timers/promises'
import type { Logger } from 'pino'
import { databaseRefusal } from '../../database/failures.ts'
import type { Sql } from '../../database/open.ts'
import { transaction } from '../../database/transaction.ts'
import type { RefusedWrite } from '../../http/serve.ts'
import type { Metrics } from '../../runtime/metrics.ts'
import { limits } from '../../vocabulary/limits.ts'
import { applicationOf, type KeptRefusal, toKept } from './refusal-record.ts'
import { keepRefusals } from './store.ts'

const everyMs = 500
/** What one transaction writes, so that none is long. */
const batchRows = 500
const batchApplications = 50
/** A database that does not answer may not hold up the service’s end. */
const lastWriteMs = 500
const minuteMs = 60_000

/**
 * Keeps why writes were refused, best effort: beside requests, twice a second, in bounded batches. An application’s
 * refusals beyond its share of a minute are dropped here already, so that a storm of them costs a look at a map.
 */
export class RefusalRecorder {
  private readonly sql: Sql
  private readonly log: Logger
  private readonly metrics: Pick<Metrics, 'countRefusedWrite'>
  private readonly timer: ReturnType<typeof setInterval>
  private waiting: KeptRefusal[] = []
  private minute = 0
  private readonly inMinute = new Map<string, number>()
  private writing: Promise<void> | undefined

  constructor(sql: Sql, log: Logger, metrics: Pick<Metrics, 'countRefusedWrite'>) {
    this.sql = sql
    this.metrics = metrics
    this.log = log
    this.timer = setInterval(() => this.writeSoon(), everyMs)
    this.timer.unref()
  }

  /** Nobody waits for it. */
  note(refused: RefusedWrite): void {
    const appId = applicationOf(refused)
    if (appId === undefined) return
    // What the chart counts is what can be looked up here, within the log's bounds.
    this.metrics.countRefusedWrite()
    const now = new Date()
    if (this.waiting.length >= limits.refusalsWaiting || this.isOverShare(appId, now)) return
    this.waiting.push(toKept(refused, appId, now))
  }

  /** Writes what waits, as far as the database answers at once. */
  async stop(): Promise<void> {
    clearInterval(this.timer)
    await Promise.race([this.writeSoon(), setTimeout(lastWriteMs)])
  }

  private isOverShare(appId: string, now: Date): boolean {
    const minute = Math.floor(now.getTime() / minuteMs)
    if (minute !== this.minute) {
      this.minute = minute
      this.inMinute.clear()
    }
    const count = this.inMinute.get(appId) ?? 0
    this.inMinute.set(appId, count + 1)
    return count >= limits.refusalsAMinute
  }

  private writeSoon(): Promise<void> {
    this.writing ??= this.write().finally(() => {
      this.writing = undefined
    })
    return this.writing
  }

  private async write(): Promise<void> {
    while (this.waiting.length > 0) {
      const { batch, rest } = nextBatch(this.waiting)
      this.waiting = rest
      try {
        await transaction(this.sql, (tx) => keepRefusals(tx, batch))
      } catch (error) {
        // A database that is away may be back soon; what it will not take, it would not take then either.
        if (databaseRefusal(error) !== undefined)
          this.waiting = [...batch, ...this.waiting].slice(0, limits.refusalsWaiting)
        else this.log.warn({ err: error }, 'refusals could not be kept')
        return
      }
    }
  }
}

/** The refusals of a few applications, by application. */
function nextBatch(waiting: readonly KeptRefusal[]): { batch: KeptRefusal[]; rest: KeptRefusal[] } {
  const applications = new Set<string>()
  const batch: KeptRefusal[] = []
  const rest: KeptRefusal[] = []
  for (const refusal of waiting) {
    if (applications.size < batchApplications) applications.add(refusal.appId)
    if (batch.length < batchRows && applications.has(refusal.appId)) batch.push(refusal)
    else rest.push(refusal)
  }
  return { batch, rest }
}
