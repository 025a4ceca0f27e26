import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { Config } from '../config.ts'
import { onEvents } from '../database/commits.ts'
import { GroupCommit } from '../database/group-commit.ts'
import type { Sql } from '../database/open.ts'
import { OutageLog } from '../database/outage-log.ts'
import type { Metrics } from '../runtime/metrics.ts'
import type { SecretBox } from '../secrets/box.ts'
import { limits } from '../vocabulary/limits.ts'
import type { CallbackClient } from './client.ts'
import { Replays } from './replay.ts'
import * as queue from './routine.ts'
import { Sender, type SenderTools } from './sender.ts'
import type { Throttle } from './throttle.ts'

export interface WorkerOptions {
  /** Connections of the worker's own, so that requests never wait for it. */
  pool: Sql
  client: CallbackClient
  secrets: SecretBox
  throttle: Throttle
  config: Pick<Config, 'callbacks' | 'callbackRetryScale' | 'privateCallbacks'>
  metrics: Metrics
  log: Logger
}

/** New events are looked at at once, but no more often than that. */
const newsLookMs = 50
/** How often endpoints are looked at that are due: retries, ends of holds and of leases, and what another process handed over. */
const dueLookMs = 1_000
/** Looks must not take more than this share of the time. */
const lookShare = 1 / 50
const longestRestMs = 3_000
/** Endpoints of one look for those that nobody looks at: with each look at what is due, and of a whole walk. */
const walkRows = 100
const wholeWalkRows = 1_000
const renewEveryMs = 8_000
/** All senders keep their outcomes at once, so that one statement does it for many. */
const keepEveryMs = 100
/** What is under way when the service stops may end by itself for so long. */
const lastAttemptsMs = 1_500
const stopLookMs = 25

/** Delivers callbacks, beside the requests and in the same process. */
export class CallbackWorker {
  private readonly owner = randomUUID()
  private readonly options: WorkerOptions
  private readonly replays: Replays
  private readonly senders = new Map<string, Sender>()
  private readonly running = new Set<Promise<void>>()
  private readonly tools: SenderTools
  private looking: Promise<void> = Promise.resolve()
  /** Ends the rest between two looks. */
  private wake: () => void = () => {}
  /** Applications that this process has written events of since it looked last. */
  private news = new Set<string>()
  /** Those whose endpoints were leased or locked then: asked for again with what is due. */
  private busy = new Set<string>()
  private dueLookAt = Number.NEGATIVE_INFINITY
  /** Where the walk through the endpoints is; a whole one goes on to their end without a rest. */
  private walkedTo = ''
  private isWholeWalk = true
  private forgetEvents = () => {}
  private renewing: ReturnType<typeof setInterval> | undefined
  private keeping: ReturnType<typeof setInterval> | undefined
  private isStopping = false
  private isCrowded = false
  private stopped: Promise<void> | undefined

  constructor(options: WorkerOptions) {
    this.options = options
    const { pool, client, secrets, throttle, metrics, log, config } = options
    this.replays = new Replays(pool, log)
    const reads = this.lane<queue.WorkRequest, queue.Work | undefined>((sql, items) =>
      queue.readWork(sql, this.owner, items),
    )
    const writes = this.lane<queue.Progress, queue.Kept>((sql, items) => queue.writeProgress(sql, this.owner, items))
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
      onNews: (appId) => this.onNews([appId]),
      mostRead: () =>
        Math.max(4, Math.min(limits.eventsHeldBySender, Math.floor(limits.eventsHeld / (this.senders.size + 1)))),
      isStopping: () => this.isStopping,
      isCrowded: () => this.isCrowded,
    }
    const help = `Callbacks that this process is sending to, of ${limits.sendersAtOnce} at most.`
    metrics.gauge({ name: 'forecourt_callback_senders', help, merged: 'sum' }, () => this.senders.size)
  }

  /** While callbacks are paused by the settings nothing is sent, but what is to be sent later is set waiting. */
  start(): void {
    this.replays.start()
    if (this.options.config.callbacks === 'paused') return
    this.forgetEvents = onEvents((appIds) => this.onNews(appIds))
    this.looking = this.look()
    this.renewing = setInterval(() => void this.renew(), renewEveryMs)
    this.keeping = setInterval(() => {
      for (const sender of this.senders.values()) sender.keepSoon()
    }, keepEveryMs)
  }

  /** Ends what is under way within 2 seconds, keeps its outcomes and gives the leases back. */
  stop(): Promise<void> {
    this.stopped ??= this.stopNow()
    return this.stopped
  }

  private async stopNow(): Promise<void> {
    this.isStopping = true
    this.forgetEvents()
    clearInterval(this.renewing)
    clearInterval(this.keeping)
    this.wake()
    const { client, throttle } = this.options
    throttle.stop()
    for (let waited = 0; client.isBusy() && waited < lastAttemptsMs; waited += stopLookMs) await pause(stopLookMs)
    client.close()
    await this.replays.stop()
    await this.looking
    await Promise.all(this.running)
  }

  /** Statements of many senders go to the database together: whatever waits while it is busy forms the next batch. */
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

  /** Hears of events that can be read now, of whatever applications. */
  private onNews(appIds: Iterable<string>): void {
    for (const appId of appIds) this.news.add(appId)
    this.wake()
  }

  /** Looks for endpoints with something to send, for as long as the service runs. */
  private async look(): Promise<void> {
    const outage = new OutageLog(this.options.log, {
      failing: 'callbacks wait for the database',
      succeeding: 'callbacks go on',
    })
    while (!this.isStopping) {
      let restMs = dueLookMs
      try {
        restMs = await this.lookOnce()
        outage.succeeded()
      } catch (error) {
        outage.failed(error)
      }
      await this.rest(restMs)
    }
  }

  /** Until there are news, but at least for so long; or until endpoints may be due. */
  private async rest(leastMs: number): Promise<void> {
    await this.sleep(leastMs)
    const dueInMs = this.dueLookAt - performance.now()
    if (this.news.size === 0 && dueInMs > 0) await this.sleep(dueInMs, true)
  }

  private sleep(milliseconds: number, untilNews = false): Promise<void> {
    if (this.isStopping) return Promise.resolve()
    return new Promise((resolve) => {
      const end = () => {
        clearTimeout(timer)
        resolve()
      }
      const timer = setTimeout(end, milliseconds)
      this.wake = () => {
        if (untilNews || this.isStopping) end()
      }
    })
  }

  /** Claims what has news, and with the clock what is due, and walks on. Returns how long the next look has to wait. */
  private async lookOnce(): Promise<number> {
    const startedAt = performance.now()
    const isDueLook = startedAt >= this.dueLookAt
    if (isDueLook) await this.walk()
    const news = this.news
    const asked = isDueLook ? [...new Set([...news, ...this.busy])] : [...news]
    if (asked.length === 0 && !isDueLook) return 0
    this.news = new Set()
    try {
      await this.claim(asked, isDueLook)
    } catch (error) {
      // What could not be asked for stays.
      for (const appId of news) this.news.add(appId)
      throw error
    }
    const restMs = Math.min((performance.now() - startedAt) / lookShare, longestRestMs)
    if (!isDueLook) return Math.max(newsLookMs, restMs)
    // Else one of two processes could look just before the other for ever, and have all that is handed over.
    this.dueLookAt = startedAt + Math.max(dueLookMs * (0.5 + Math.random()), restMs)
    return newsLookMs
  }

  /** Starts a sender for each endpoint that is free and has something to send. */
  private async claim(news: string[], isDueLook: boolean): Promise<void> {
    const places = Math.max(0, limits.sendersAtOnce - this.senders.size)
    this.isCrowded = places === 0
    const claimedAt = performance.now()
    const found = await queue.claimEndpoints(this.options.pool, this.owner, places, news, isDueLook)
    if (isDueLook) this.busy = new Set()
    for (const appId of found.busy) this.busy.add(appId)
    // What is written while nothing is sent is found afterwards.
    if (found.isPaused) this.isWholeWalk = true
    for (const claim of found.claims) this.begin(new Sender(claim, claimedAt, this.tools))
  }

  /**
   * Looks for endpoints with news of which no process knows: from the first to the last after a start and a pause, and else
   * so few with each look that it costs the same however many there are.
   */
  private async walk(): Promise<void> {
    if (this.isWholeWalk) this.walkedTo = ''
    do {
      const rows = this.isWholeWalk ? wholeWalkRows : walkRows
      const { forgotten, next } = await queue.findForgotten(this.options.pool, this.walkedTo, rows)
      for (const appId of forgotten) this.news.add(appId)
      this.walkedTo = next
    } while (this.isWholeWalk && this.walkedTo !== '' && !this.isStopping)
    this.isWholeWalk = false
  }

  /** There is room again. */
  private lookAtDue(): void {
    this.dueLookAt = Number.NEGATIVE_INFINITY
    this.wake()
  }

  private begin(sender: Sender): void {
    const { appId } = sender
    // A sender that outlived its lease.
    this.senders.get(appId)?.renew(0, false)
    this.senders.set(appId, sender)
    const run = sender
      .run()
      .catch((error: unknown) => this.options.log.error({ err: error, appId }, 'a sender of callbacks broke off'))
      .finally(() => {
        this.running.delete(run)
        if (this.senders.get(appId) === sender) this.senders.delete(appId)
        if (this.isCrowded) this.lookAtDue()
      })
    this.running.add(run)
  }

  private async renew(): Promise<void> {
    const senders = [...this.senders.values()]
    if (senders.length === 0) return
    const askedAt = performance.now()
    try {
      const appIds = senders.map(({ appId }) => appId)
      const owned = await queue.renewLeases(this.options.pool, this.owner, appIds)
      for (const sender of senders)
        if (owned.get(sender.appId) !== false) sender.renew(askedAt, owned.has(sender.appId))
    } catch {
      // The next one may succeed; until then the leases run on.
    }
  }
}
