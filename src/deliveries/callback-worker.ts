import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { Config } from '../config.ts'
import { onEvents } from '../database/commits.ts'
import { GroupCommit } from '../database/group-commit.ts'
import type { Sql } from '../database/open.ts'
import { OutageLog } from '../database/outage-log.ts'
import { Loop, type Rounds, startRounds } from '../runtime/loop.ts'
import type { Metrics } from '../runtime/metrics.ts'
import type { SecretBox } from '../secrets/box.ts'
import { limits } from '../vocabulary/limits.ts'
import type { CallbackClient } from './client.ts'
import * as leases from './leases/routine.ts'
import { ReplayWorker } from './replay/replay.ts'
import * as queue from './routine.ts'
import { Sender, type SenderTools } from './sender.ts'
import type { Throttle } from './throttle.ts'

export interface WorkerOptions {
  /** The worker's own pool, so that requests never wait for its queries. */
  pool: Sql
  client: CallbackClient
  secrets: SecretBox
  throttle: Throttle
  config: Pick<Config, 'callbacks' | 'callbackRetryScale' | 'privateCallbacks'>
  metrics: Metrics
  log: Logger
}

/** At most one look for new events in this time. */
const newEventsLookMs = 50
/** How often it looks for endpoints due for a retry, after a pause or lease, or for events of other processes. */
const dueLookMs = 1_000
/** Looks for work may take at most this share of the time. */
const lookShare = 1 / 50
const longestRestMs = 3_000
const walkRows = 100
const wholeWalkRows = 1_000
const renewEveryMs = 8_000
/** All senders store their outcomes at once, so that one statement serves many. */
const storeEveryMs = 100
/** How long attempts under way may take when the service stops. */
const lastAttemptsMs = 1_500
const stopLookMs = 25

export class CallbackWorker {
  private readonly owner = randomUUID()
  private readonly options: WorkerOptions
  private readonly replays: ReplayWorker
  private readonly senders = new Map<string, Sender>()
  private readonly running = new Set<Promise<void>>()
  private readonly tools: SenderTools
  private readonly loop = new Loop(() => this.look())
  private readonly outage: OutageLog
  private withNewEvents = new Set<string>()
  /** Their endpoints were leased or locked at the last look; the next look for due ones tries them again. */
  private busy = new Set<string>()
  private dueLookAt = Number.NEGATIVE_INFINITY
  /** The last application checked. While `isWholeWalk`, the walk goes through all endpoints without a pause. */
  private walkedTo = ''
  private isWholeWalk = true
  private forgetEvents = () => {}
  private renewing: Rounds | undefined
  private storing: Rounds | undefined
  private isStopping = false
  private isCrowded = false
  private stopped: Promise<void> | undefined

  constructor(options: WorkerOptions) {
    this.options = options
    this.outage = new OutageLog(options.log, {
      failing: 'callbacks paused: the database doesn’t respond',
      succeeding: 'callbacks resumed: the database responds again',
    })
    const { pool, client, secrets, throttle, metrics, log, config } = options
    this.replays = new ReplayWorker(pool, log)
    const reads = this.lane<queue.WorkRequest, queue.Work | undefined>((sql, items) =>
      queue.readWork(sql, this.owner, items),
    )
    const writes = this.lane<queue.Progress, queue.WriteResult>((sql, items) =>
      queue.writeProgress(sql, this.owner, items),
    )
    this.tools = {
      client,
      secrets,
      throttle,
      metrics,
      log,
      privateCallbacks: config.privateCallbacks,
      retryScale: config.callbackRetryScale,
      read: (request) => reads.submit(request),
      write: (progress) => writes.submit(progress),
      onNewEvents: (appId) => this.onNewEvents([appId]),
      mostRead: () =>
        Math.max(4, Math.min(limits.eventsHeldBySender, Math.floor(limits.eventsHeld / (this.senders.size + 1)))),
      isStopping: () => this.isStopping,
      isCrowded: () => this.isCrowded,
    }
    const help = `Callback endpoints that this process is sending to, ${limits.sendersAtOnce} at most.`
    metrics.gauge({ name: 'forecourt_callback_senders', help, merged: 'sum' }, () => this.senders.size)
  }

  /** While the settings pause callbacks, nothing is sent, but replays still make deliveries due. */
  start(): void {
    this.replays.start()
    if (this.options.config.callbacks === 'paused') return
    this.forgetEvents = onEvents((appIds) => this.onNewEvents(appIds))
    this.loop.start()
    this.renewing = startRounds(() => void this.renew(), renewEveryMs)
    this.storing = startRounds(() => {
      for (const sender of this.senders.values()) sender.storeSoon()
    }, storeEveryMs)
  }

  /** Ends the attempts under way within 2 seconds, stores their outcomes and releases the leases. */
  stop(): Promise<void> {
    this.stopped ??= this.stopNow()
    return this.stopped
  }

  private async stopNow(): Promise<void> {
    this.isStopping = true
    this.forgetEvents()
    void this.renewing?.stop()
    void this.storing?.stop()
    const looked = this.loop.stop()
    const { client, throttle } = this.options
    throttle.stop()
    for (let waited = 0; client.isBusy() && waited < lastAttemptsMs; waited += stopLookMs) await pause(stopLookMs)
    client.close()
    await this.replays.stop()
    await looked
    await Promise.all(this.running)
  }

  /** Statements that arrive while the database is busy form the next batch. */
  private lane<Request extends { appId: string }, Answer>(
    ask: (sql: Sql, requests: Request[]) => Promise<Answer[]>,
  ): GroupCommit<Request, Answer> {
    return new GroupCommit<Request, Answer>({
      maxBatch: 64,
      maxWaiting: 2 * limits.sendersAtOnce,
      maxWaitMs: Number.POSITIVE_INFINITY,
      claims: ({ appId }) => [appId],
      write: (requests) => ask(this.options.pool, requests),
      onBatch: () => {},
    })
  }

  private onNewEvents(appIds: Iterable<string>): void {
    for (const appId of appIds) this.withNewEvents.add(appId)
    this.loop.wake()
  }

  private async look(): Promise<number> {
    let leastRestMs = dueLookMs
    try {
      leastRestMs = await this.lookOnce()
      this.outage.succeeded()
    } catch (error) {
      this.outage.failed(error)
    }
    await this.loop.rest(leastRestMs, false)
    // A failed look has put them back.
    return this.withNewEvents.size > 0 ? 0 : this.dueLookAt - performance.now()
  }

  /** Returns the pause before the next look, in ms. */
  private async lookOnce(): Promise<number> {
    const startedAt = performance.now()
    const isDueLook = startedAt >= this.dueLookAt
    if (isDueLook) await this.walk()
    const fresh = this.withNewEvents
    const asked = isDueLook ? [...new Set([...fresh, ...this.busy])] : [...fresh]
    if (asked.length === 0 && !isDueLook) return 0
    this.withNewEvents = new Set()
    try {
      await this.claim(asked, isDueLook)
    } catch (error) {
      for (const appId of fresh) this.withNewEvents.add(appId)
      throw error
    }
    const restMs = Math.min((performance.now() - startedAt) / lookShare, longestRestMs)
    if (!isDueLook) return Math.max(newEventsLookMs, restMs)
    // A random time, or one process could always look just before another one and claim every released endpoint.
    this.dueLookAt = startedAt + Math.max(dueLookMs * (0.5 + Math.random()), restMs)
    return newEventsLookMs
  }

  private async claim(withNewEvents: string[], isDueLook: boolean): Promise<void> {
    const places = Math.max(0, limits.sendersAtOnce - this.senders.size)
    this.isCrowded = places === 0
    const claimedAt = performance.now()
    const found = await leases.claimEndpoints(this.options.pool, this.owner, places, withNewEvents, isDueLook)
    if (isDueLook) this.busy = new Set()
    for (const appId of found.busy) this.busy.add(appId)
    // Events written during a pause are found by a whole walk when it ends.
    if (found.isPaused) this.isWholeWalk = true
    for (const claim of found.claims) this.begin(new Sender(claim, claimedAt, this.tools))
  }

  /** Finds events that no process knows of. After a start or a pause checks all endpoints, else a fixed number. */
  private async walk(): Promise<void> {
    if (this.isWholeWalk) this.walkedTo = ''
    do {
      const rows = this.isWholeWalk ? wholeWalkRows : walkRows
      const { forgotten, next } = await leases.findForgotten(this.options.pool, this.walkedTo, rows)
      for (const appId of forgotten) this.withNewEvents.add(appId)
      this.walkedTo = next
    } while (this.isWholeWalk && this.walkedTo !== '' && !this.isStopping)
    this.isWholeWalk = false
  }

  private lookForDueNow(): void {
    this.dueLookAt = Number.NEGATIVE_INFINITY
    this.loop.wake()
  }

  private begin(sender: Sender): void {
    const { appId } = sender
    // An earlier sender for this endpoint has outlived its lease: it must write nothing more.
    this.senders.get(appId)?.renew(0, false)
    this.senders.set(appId, sender)
    const run = sender
      .run()
      .catch((error: unknown) =>
        this.options.log.error(
          { err: error, appId },
          'callback sender failed; the endpoint resumes when its lease expires',
        ),
      )
      .finally(() => {
        this.running.delete(run)
        if (this.senders.get(appId) === sender) this.senders.delete(appId)
        if (this.isCrowded) this.lookForDueNow()
      })
    this.running.add(run)
  }

  private async renew(): Promise<void> {
    const senders = [...this.senders.values()]
    if (senders.length === 0) return
    const askedAt = performance.now()
    try {
      const appIds = senders.map(({ appId }) => appId)
      const owned = await leases.renewLeases(this.options.pool, this.owner, appIds)
      for (const sender of senders)
        if (owned.get(sender.appId) !== false) sender.renew(askedAt, owned.has(sender.appId))
    } catch {
      // A lease outlasts several failed renewals.
    }
  }
}
