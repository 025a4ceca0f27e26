import { setTimeout as pause } from 'node:timers/promises'
import type { Logger } from 'pino'
import { databaseRefusal } from '../database/failures.ts'
import type { Metrics } from '../runtime/metrics.ts'
import type { SecretBox } from '../secrets/box.ts'
import { limits } from '../vocabulary/limits.ts'
import { callbackUrlFault } from './callback-url.ts'
import type { CallbackClient } from './client.ts'
import {
  type Claim,
  type Item,
  type Kept,
  leaseSeconds,
  type Outcome,
  type Progress,
  type Work,
  type WorkRequest,
} from './routine.ts'
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

/** What every sender works with. */
export interface SenderTools {
  client: CallbackClient
  throttle: Throttle
  metrics: Metrics
  log: Logger
  /** Opens the secrets that the database holds. */
  secrets: SecretBox
  privateCallbacks: 'refuse' | 'allow'
  retryScale: number
  /** Reads what there is to send; undefined when the endpoint is no longer this process's. */
  read(request: WorkRequest): Promise<Work | undefined>
  /** Keeps what was done. */
  write(progress: Progress): Promise<Kept>
  /** Hears of an endpoint that was given back while it had new events. */
  onNews(appId: string): void
  /** The most events that one sender may hold. */
  mostRead(): number
  isStopping(): boolean
  /** Whether others wait for a place, so that a sender that has lasted long makes room. */
  isCrowded(): boolean
}

/** So many outcomes are kept at once; fewer when the worker's clock says so. */
const keptTogether = 50
/** After this what there is to send is read anew, with the retries that have become due. */
const readAgainAfterMs = 10_000
const leaseMs = leaseSeconds * 1000
/** An attempt begins only when it ends within the lease, whatever happens to renewals. */
const neededLeaseMs = limits.attemptMs + 1_000
const databasePauseMs = 500
const busyPauseMs = 50
const fewestRead = 8
const crowdedMs = 5_000
/** An endpoint that takes its time to fail has a place for so long, and then others have it. */
const failingMs = 300_000

/** One endpoint while this process sends to it: one attempt at a time, events in order. */
export class Sender {
  readonly appId: string
  readonly beganAt = performance.now()
  /** By this process's monotonic clock; counted from before the database was asked, so it is never too late. */
  leaseUntil: number
  private readonly tools: SenderTools
  private through: number
  /** In a row; of an endpoint that was left alone already, a whole visit counts once. */
  private failures: number
  private failuresLeft: number
  /** Counts the turns of retries and new events. Visits may be short, so each begins anywhere in their order. */
  private position = Math.floor(Math.random() * 1000)
  private version = ''
  /** The configuration was saved since it was read. */
  private isOutdated = false
  private outcomes: Outcome[] = []
  private isLost = false
  /** How many events to read at once: what can be sent before the next reading. */
  private wanted = 32
  private heldMs = 0
  private failingReason: string | null = null
  private stoppedReason: string | null = null
  private keeping: Promise<void> = Promise.resolve()

  constructor(claim: Claim, claimedAt: number, tools: SenderTools) {
    this.appId = claim.appId
    this.through = claim.through
    this.failures = claim.failures
    this.failuresLeft = failuresOfVisit(claim.failures)
    this.leaseUntil = claimedAt + leaseMs
    this.tools = tools
  }

  /** Told by the renewal of leases. */
  renew(askedAt: number, isOwned: boolean): void {
    if (isOwned) this.leaseUntil = askedAt + leaseMs
    else this.isLost = true
  }

  /** Sends until there is nothing to send, and gives the lease back. */
  async run(): Promise<void> {
    for (let isOver = false; !isOver && !this.isLost; ) {
      const { appId, through } = this
      const limit = Math.min(this.wanted, this.tools.mostRead())
      const work = await this.whileLeased(() => this.tools.read({ appId, through, limit }))
      isOver = work === undefined || (await this.send(work, limit))
      await this.keep(isOver)
    }
  }

  /** Sends what was read; true when the sender has ended with it. */
  private async send(work: Work, limit: number): Promise<boolean> {
    const { retries, events, version } = work
    const readAgainAt = performance.now() + readAgainAfterMs
    const target = this.targetOf(work)
    this.version = version
    // A configuration that was saved anew begins anew.
    if (this.isOutdated) this.forgetFailures()
    this.isOutdated = false
    let sent = 0
    const order = { retriesPerEvent: retriesPerEvent(this.failures), position: this.position, limit }
    for (const item of interleave(retries, events, order)) {
      if (this.mustEnd()) return true
      if (this.isOutdated || performance.now() > readAgainAt) {
        this.wanted = Math.max(fewestRead, sent)
        return false
      }
      if (!(await this.take(item, target))) return true
      if (this.outcomes.length >= keptTogether) await this.keep()
      sent++
    }
    this.wanted = limit * 2
    return retries.length < limit && events.length < limit
  }

  /** The callback, or why it may not be sent to: the setting can be another one than when it was saved. */
  private targetOf({ callbackUrl, sealedQuery, secrets }: Work): Callback | string {
    const fault = callbackUrlFault(callbackUrl, this.tools.privateCallbacks)
    if (fault !== undefined) return `the URL ${fault.en}`
    try {
      const open = (sealed: string) => this.tools.secrets.open(this.appId, sealed)
      const query = sealedQuery === null ? '' : open(sealedQuery)
      return { url: new URL(callbackUrl + query), secrets: secrets.map(open) }
    } catch (error) {
      this.tools.log.error({ err: error, appId: this.appId }, 'a callback secret cannot be opened')
      return 'the callback secret cannot be opened'
    }
  }

  /** Takes one item; false when the sender has ended with it. */
  private async take(item: Item, target: Callback | string): Promise<boolean> {
    if (item.data === null) this.pass(item)
    else if (!(await this.attempt(item, item.data, target))) return false
    return this.failuresLeft > 0 && this.stoppedReason === null
  }

  /** An event that the callback does not ask for is taken without a word; one that is gone cannot be sent again. */
  private pass(item: Item): void {
    if (!item.isRetry) this.through = item.id
    else {
      const { id, type, time, attempts, attemptLog } = item
      const error = 'the event is kept no longer'
      const nothing = { delayMs: null, responseStatus: null, response: null, durationMs: null }
      this.outcomes.push({ id, type, time, attempts, attemptLog, status: statuses.dead, error, ...nothing })
    }
  }

  /** One attempt; false when it was not made. */
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
    this.settle(item, result, startedAt)
    return true
  }

  private settle(item: Item, result: AttemptResult, startedAt: Date): void {
    const { metrics, log, retryScale } = this.tools
    const { id, type, time } = item
    const { retryAfterMs, ...told } = result
    const attempts = item.attempts + 1
    const { status, delayMs } = judge(result, { type, attempts }, retryScale)
    this.outcomes.push({
      id,
      type,
      time,
      status,
      attempts,
      delayMs,
      ...told,
      attemptLog: logAttempt(item.attemptLog, startedAt, result),
    })
    if (!item.isRetry) this.through = id
    metrics.observeAttempt(status, result.durationMs / 1000)
    const named = { appId: this.appId, delivery: id, attempts, status: result.responseStatus, error: result.error }
    this.position++
    if (status === statuses.delivered) {
      if (this.failures >= failuresUntilHeld) log.info({ appId: this.appId }, 'a callback answers again')
      this.forgetFailures()
      return
    }
    this.countFailure(result)
    if (status === statuses.dead) log.warn(named, 'a delivery is dead')
    else log.debug(named, 'a delivery failed and is tried again')
    if (result.responseStatus === 410) {
      this.stoppedReason = 'answered 410'
      log.warn(named, 'a callback is stopped until its configuration is saved again')
    }
  }

  private countFailure(result: AttemptResult): void {
    const { log, retryScale } = this.tools
    const wasHeld = this.failures >= failuresUntilHeld
    if (!wasHeld || this.heldMs === 0) this.failures++
    this.heldMs = holdMs(this.failures, result, retryScale)
    this.failingReason = result.error ?? `answered ${result.responseStatus}`
    // Whoever asks to be left alone is.
    this.failuresLeft = this.heldMs > 0 && result.retryAfterMs !== null ? 0 : this.failuresLeft - 1
    if (!wasHeld && this.heldMs > 0) {
      const { responseStatus, error } = result
      log.info({ appId: this.appId, status: responseStatus, error }, 'a callback fails and is left alone for a while')
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

  /** Told by the worker's clock, to all senders at once. */
  keepSoon(): void {
    if (this.outcomes.length > 0) void this.keep()
  }

  /** Keeps what was done so far, one after the other. */
  private keep(isReleased = false): Promise<void> {
    this.keeping = this.keeping.then(() => this.keepNow(isReleased))
    return this.keeping
  }

  private async keepNow(isReleased: boolean): Promise<void> {
    if (this.isLost || (this.outcomes.length === 0 && !isReleased)) return
    const { appId, through, failures, heldMs, failingReason, stoppedReason, version } = this
    const outcomes = this.outcomes
    this.outcomes = []
    const progress = { appId, through, failures, heldMs, failingReason, stoppedReason, version, isReleased, outcomes }
    try {
      const kept = await this.write(progress)
      this.isOutdated = kept !== version
    } catch (error) {
      // Nothing of it is kept, so it is all done again by whoever has the lease next.
      this.isLost = true
      this.tools.log.error({ err: error, appId }, 'the outcomes of deliveries could not be kept')
    }
  }

  /** Writes until it is written, and answers the configuration's state; undefined when the lease is lost. */
  private async write(progress: Progress): Promise<string | undefined> {
    for (;;) {
      const askedAt = performance.now()
      const kept = (await this.whileLeased(() => this.tools.write(progress))) ?? 'lost'
      if (typeof kept === 'object') {
        this.renew(askedAt, true)
        if (kept.hasNews) this.tools.onNews(this.appId)
        return kept.version
      }
      this.isLost = kept === 'lost' || performance.now() > this.leaseUntil
      if (this.isLost) return undefined
      await pause(busyPauseMs)
    }
  }

  /** Waits for a renewal when the lease is about to end; false when it does. */
  private async hasLease(): Promise<boolean> {
    while (!this.isLost && this.leaseUntil - performance.now() < neededLeaseMs) {
      if (performance.now() > this.leaseUntil || this.tools.isStopping()) return false
      await pause(databasePauseMs)
    }
    return !this.isLost
  }

  /** Asks the database, again and again while it is away and the lease lasts; undefined when the lease ends first. */
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
