import { setTimeout } from 'node:timers/promises'
import type { Logger } from 'pino'
import { databaseRefusal } from '../../database/failures.ts'
import type { Sql } from '../../database/open.ts'
import { transaction } from '../../database/transaction.ts'
import type { RefusedWrite } from '../../http/serve-options.ts'
import { type Rounds, startRounds } from '../../runtime/loop.ts'
import { limits } from '../../vocabulary/limits.ts'
import { applicationOf, type LoggedRefusal, toLoggedRefusal } from './refusal-record.ts'
import { storeRefusals } from './store.ts'

const everyMs = 500
/** Limits one transaction, to keep it short. */
const batchRows = 500
const batchApplications = 50
/** Limits the last write, so that a silent database doesn't delay the stop. */
const lastWriteMs = 500
const minuteMs = 60_000

/**
 * Stores refused writes in the background; some may be lost. Each application has a limit per minute, checked before
 * queueing, so that a flood costs one look-up each.
 */
export class RefusalRecorder {
  private readonly sql: Sql
  private readonly log: Logger
  private readonly rounds: Rounds
  private waiting: LoggedRefusal[] = []
  private minute = 0
  private readonly inMinute = new Map<string, number>()

  constructor(sql: Sql, log: Logger) {
    this.sql = sql
    this.log = log
    this.rounds = startRounds(() => this.write(), everyMs)
  }

  note(refused: RefusedWrite): void {
    const appId = applicationOf(refused)
    if (appId === undefined) return
    const now = new Date()
    if (this.waiting.length >= limits.refusalsWaiting || this.isOverLimit(appId, now)) return
    this.waiting.push(toLoggedRefusal(refused, appId, now))
  }

  /** Writes the queued refusals, if the database responds in time. */
  async stop(): Promise<void> {
    await Promise.race([this.rounds.stop().then(() => this.write()), setTimeout(lastWriteMs)])
  }

  private isOverLimit(appId: string, now: Date): boolean {
    const minute = Math.floor(now.getTime() / minuteMs)
    if (minute !== this.minute) {
      this.minute = minute
      this.inMinute.clear()
    }
    const count = this.inMinute.get(appId) ?? 0
    this.inMinute.set(appId, count + 1)
    return count >= limits.refusalsAMinute
  }

  private async write(): Promise<void> {
    while (this.waiting.length > 0) {
      const { batch, rest } = nextBatch(this.waiting)
      this.waiting = rest
      try {
        await transaction(this.sql, (tx) => storeRefusals(tx, batch))
      } catch (error) {
        // Keeps a batch while the database is unavailable; one that it refuses would be refused again.
        if (databaseRefusal(error) !== undefined)
          this.waiting = [...batch, ...this.waiting].slice(0, limits.refusalsWaiting)
        else this.log.warn({ err: error }, 'refused requests couldn’t be stored; these log entries are lost')
        return
      }
    }
  }
}

function nextBatch(waiting: readonly LoggedRefusal[]): { batch: LoggedRefusal[]; rest: LoggedRefusal[] } {
  const applications = new Set<string>()
  const batch: LoggedRefusal[] = []
  const rest: LoggedRefusal[] = []
  for (const refusal of waiting) {
    if (applications.size < batchApplications) applications.add(refusal.appId)
    if (batch.length < batchRows && applications.has(refusal.appId)) batch.push(refusal)
    else rest.push(refusal)
  }
  return { batch, rest }
}
