import { setTimeout as pause } from 'node:timers/promises'
import type { Logger } from 'pino'
import { databaseRefusal } from '../database/failures.ts'
import type { Metrics } from '../runtime/metrics.ts'
import type { SecretBox } from '../secrets/box.ts'
import { limits } from '../vocabulary/limits.ts'
import { callbackUrlFault } from './callback-url.ts'
import type { CallbackClient } from './client.ts'
import { type Claim, leaseSeconds } from './leases/routine.ts'
import type { Item, Outcome, Progress, Work, WorkRequest, WriteResult } from './routine.ts'
import {
  type AttemptResult,
  failuresOfVisit,
  failuresUntilHeld,
  holdMs,
  interleave,
  judge,
  logAttempt,
  retriesPerEvent,
  statuses,
  webhookIdOf,
} from './rules.ts'
import { type Callback, composeRequest } from './sign.ts'
import type { Throttle } from './throttle.ts'

export interface SenderTools {
  client: CallbackClient
  throttle: Throttle
  metrics: Metrics
  log: Logger
  secrets: SecretBox
  privateCallbacks: 'refuse' | 'allow'
  retryScale: number
  /** Undefined if another process holds the endpoint's lease. */
  read(request: WorkRequest): Promise<Work | undefined>
  write(progress: Progress): Promise<WriteResult>
  /** A lease was released while the endpoint had new events. */
  onNewEvents(appId: string): void
  /** The most events that one sender may hold in memory. */
  mostRead(): number
  isStopping(): boolean
  /** Other endpoints wait for a sender, so one that has run for long ends. */
  isCrowded(): boolean
}

/** So many are stored at once; the worker's timer stores fewer, ten times a second. */
const outcomesPerWrite = 50
/** After this the sender reads again, so that retries that became due meanwhile get their turn. */
const readAgainAfterMs = 10_000
const leaseMs = leaseSeconds * 1000
/** An attempt begins only if it ends within the lease. */
const neededLeaseMs = limits.attemptMs + 1_000
const databasePauseMs = 500
const busyPauseMs = 50
const fewestRead = 8
const crowdedMs = 5_000
/** An endpoint that fails slowly makes room for others. */
const failingMs = 300_000

/**
 * Sends one application's events while this process holds the endpoint's lease: one attempt at a time, new events in
 * the order of their IDs, due retries in turn with them. See decision 0008.
 *
 * Must never happen: two processes send to one endpoint at once, so an attempt begins only if it ends within the lease;
 * `through_event_id` passes an event whose outcome is not stored, so one transaction writes both; a lost sender writes
 * anything. A kill may send an event twice, with the same `webhook-id`, but never loses one.
 */
export class Sender {
  readonly appId: string
  readonly beganAt = performance.now()
  /** By this process's monotonic clock, from before the request: never later than in the database. */
  leaseUntil: number
  private readonly tools: SenderTools
  private through: number
  /** In a row. Once the endpoint has been paused, a whole visit counts as one failure. */
  private failures: number
  private failuresLeft: number
  /** Begins at a random turn, because a visit may be too short for a whole round. */
  private position = Math.floor(Math.random() * 1000)
  private version = ''
  /** The configuration was saved since it was read. */
  private isOutdated = false
  private outcomes: Outcome[] = []
  private isLost = false
  private readLimit = 32
  private heldMs = 0
  private failingReason: string | null = null
  private stoppedReason: string | null = null
  private storing: Promise<void> = Promise.resolve()

  constructor(claim: Claim, claimedAt: number, tools: SenderTools) {
    this.appId = claim.appId
    this.through = claim.through
    this.failures = claim.failures
    this.failuresLeft = failuresOfVisit(claim.failures)
    this.leaseUntil = claimedAt + leaseMs
    this.tools = tools
  }

  /** `askedAt`: before the renewal was requested. */
  renew(askedAt: number, isOwned: boolean): void {
    if (isOwned) this.leaseUntil = askedAt + leaseMs
    else this.isLost = true
  }

  async run(): Promise<void> {
    for (let isOver = false; !isOver && !this.isLost; ) {
      const { appId, through } = this
      const limit = Math.min(this.readLimit, this.tools.mostRead())
      const work = await this.whileLeased(() => this.tools.read({ appId, through, limit }))
      isOver = work === undefined || (await this.send(work, limit))
      await this.store(isOver)
    }
  }

  /** Returns true if the sender ends, false if it reads again. */
  private async send(work: Work, limit: number): Promise<boolean> {
    const { retries, events, version } = work
    const readAgainAt = performance.now() + readAgainAfterMs
    const target = this.targetOf(work)
    this.version = version
    // Failures of the previous configuration do not count.
    if (this.isOutdated) this.forgetFailures()
    this.isOutdated = false
    let sent = 0
    const order = { retriesPerEvent: retriesPerEvent(this.failures), position: this.position, limit }
    for (const item of interleave(retries, events, order)) {
      if (this.mustEnd()) return true
      if (this.isOutdated || performance.now() > readAgainAt) {
        this.readLimit = Math.max(fewestRead, sent)
        return false
      }
      if (!(await this.process(item, target))) return true
      if (this.outcomes.length >= outcomesPerWrite) await this.store()
      sent++
    }
    this.readLimit = limit * 2
    return retries.length < limit && events.length < limit
  }

  /** A text says why nothing may be sent: the setting may have changed since the URL was saved. */
  private targetOf({ callbackUrl, sealedQuery, secrets }: Work): Callback | string {
    const fault = callbackUrlFault(callbackUrl, this.tools.privateCallbacks)
    if (fault !== undefined) return `the URL ${fault.en}`
    try {
      const open = (sealed: string) => this.tools.secrets.open(this.appId, sealed)
      const query = sealedQuery === null ? '' : open(sealedQuery)
      return { url: new URL(callbackUrl + query), secrets: secrets.map(open) }
    } catch (error) {
      this.tools.log.error(
        { err: error, appId: this.appId },
        'callback secret can’t be decrypted; check that FORECOURT_SECRETS_KEY_FILE still has the key that encrypted it',
      )
      return 'the callback secret can’t be decrypted'
    }
  }

  private async process(item: Item, target: Callback | string): Promise<boolean> {
    if (item.data === null) this.skip(item)
    else if (!(await this.attempt(item, item.data, target))) return false
    return this.failuresLeft > 0 && this.stoppedReason === null
  }

  /** A new event that the callback does not subscribe to is passed over; a retry whose event was deleted has failed. */
  private skip(item: Item): void {
    if (item.dueAt === null) this.through = item.id
    else {
      const { id, type, time, attempts, attemptLog } = item
      const error = 'the event is no longer stored'
      const nothing = { delayMs: null, responseStatus: null, response: null, durationMs: null }
      this.outcomes.push({ id, type, time, attempts, attemptLog, status: statuses.dead, error, ...nothing })
    }
  }

  /** False if the lease or the service ended first. */
  private async attempt(item: Item, data: string, target: Callback | string): Promise<boolean> {
    const { client, throttle } = this.tools
    await throttle.take()
    if (!(await this.hasLease()) || this.tools.isStopping()) return false
    const { id, type, time } = item
    const webhookId = webhookIdOf(type, id)
    const startedAt = new Date()
    const result =
      typeof target === 'string'
        ? { responseStatus: null, error: target, response: null, retryAfterMs: null, durationMs: 0 }
        : await client.send(composeRequest(target, { webhookId, type, appId: this.appId, time, data }))
    if (result === undefined) return false
    this.recordAttempt(item, result, startedAt)
    return true
  }

  private recordAttempt(item: Item, result: AttemptResult, startedAt: Date): void {
    const { metrics, log, retryScale } = this.tools
    const { id, type, time } = item
    const { retryAfterMs, ...recorded } = result
    const attempts = item.attempts + 1
    const { status, delayMs } = judge(result, { type, attempts }, retryScale)
    this.outcomes.push({
      id,
      type,
      time,
      status,
      attempts,
      delayMs,
      ...recorded,
      attemptLog: logAttempt(item.attemptLog, startedAt, result),
    })
    if (item.dueAt === null) this.through = id
    metrics.observeAttempt(status, result.durationMs / 1000)
    const fields = { appId: this.appId, delivery: id, attempts, status: result.responseStatus, error: result.error }
    this.position++
    if (status === statuses.delivered) {
      if (this.failures >= failuresUntilHeld) log.info({ appId: this.appId }, 'callback endpoint recovered')
      this.forgetFailures()
      return
    }
    this.countFailure(result)
    if (status === statuses.dead) log.warn(fields, 'delivery failed; no more retries')
    else log.debug(fields, 'delivery attempt failed; will retry')
    if (result.responseStatus === 410) {
      this.stoppedReason = 'answered 410'
      log.warn(fields, 'callback endpoint disabled: it responded with 410; to enable it, save its configuration again')
    }
  }

  private countFailure(result: AttemptResult): void {
    const { log, retryScale } = this.tools
    const wasHeld = this.failures >= failuresUntilHeld
    if (!wasHeld || this.heldMs === 0) this.failures++
    this.heldMs = holdMs(this.failures, result, retryScale)
    this.failingReason = result.error ?? `answered ${result.responseStatus}`
    // A `Retry-After` of a paused endpoint ends the visit.
    this.failuresLeft = this.heldMs > 0 && result.retryAfterMs !== null ? 0 : this.failuresLeft - 1
    if (!wasHeld && this.heldMs > 0) {
      const { responseStatus, error } = result
      log.info({ appId: this.appId, status: responseStatus, error }, 'callback endpoint paused after repeated failures')
    }
  }

  private forgetFailures(): void {
    this.failures = 0
    this.failuresLeft = failuresOfVisit(0)
    this.heldMs = 0
    this.failingReason = null
  }

  private mustEnd(): boolean {
    const { isStopping, isCrowded } = this.tools
    const lastedMs = performance.now() - this.beganAt
    const isLong = (isCrowded() && lastedMs > crowdedMs) || (this.heldMs > 0 && lastedMs > failingMs)
    return this.isLost || isStopping() || isLong
  }

  /** Called for all senders at once, so that their writes share a batch. */
  storeSoon(): void {
    if (this.outcomes.length > 0) void this.store()
  }

  private store(isReleased = false): Promise<void> {
    this.storing = this.storing.then(() => this.storeNow(isReleased))
    return this.storing
  }

  private async storeNow(isReleased: boolean): Promise<void> {
    if (this.isLost || (this.outcomes.length === 0 && !isReleased)) return
    const { appId, through, failures, heldMs, failingReason, stoppedReason, version } = this
    const outcomes = this.outcomes
    this.outcomes = []
    const progress = { appId, through, failures, heldMs, failingReason, stoppedReason, version, isReleased, outcomes }
    try {
      this.isOutdated = (await this.write(progress)) !== version
    } catch (error) {
      // Nothing was stored, so the process that has the lease next sends all of it again.
      this.isLost = true
      this.tools.log.error({ err: error, appId }, 'delivery results couldn’t be stored; the events will be sent again')
    }
  }

  private async write(progress: Progress): Promise<string | undefined> {
    for (;;) {
      const askedAt = performance.now()
      const result = (await this.whileLeased(() => this.tools.write(progress))) ?? 'lost'
      if (typeof result === 'object') {
        this.renew(askedAt, true)
        if (result.hasNewEvents) this.tools.onNewEvents(this.appId)
        return result.version
      }
      this.isLost = result === 'lost' || performance.now() > this.leaseUntil
      if (this.isLost) return undefined
      await pause(busyPauseMs)
    }
  }

  /** Waits for a renewal if too little of the lease is left; false if the lease ends first. */
  private async hasLease(): Promise<boolean> {
    while (!this.isLost && this.leaseUntil - performance.now() < neededLeaseMs) {
      if (performance.now() > this.leaseUntil || this.tools.isStopping()) return false
      await pause(databasePauseMs)
    }
    return !this.isLost
  }

  /** Repeats a query while the database is away; undefined if the lease or the service ends first. */
  private async whileLeased<Answer>(ask: () => Promise<Answer>): Promise<Answer | undefined> {
    for (;;) {
      try {
        return await ask()
      } catch (error) {
        if (databaseRefusal(error) === undefined) throw error
        if (performance.now() + databasePauseMs > this.leaseUntil || this.tools.isStopping()) return undefined
      }
      await pause(databasePauseMs)
    }
  }
}
