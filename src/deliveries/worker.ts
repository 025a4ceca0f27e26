import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { Config } from '../config.ts'
import { GroupCommit } from '../database/group-commit.ts'
import type { Sql } from '../database/open.ts'
import type { Metrics } from '../metrics.ts'
import type { SecretBox } from '../secrets/box.ts'
import type { CallbackClient } from './client.ts'
import { Replays } from './replay.ts'
import * as queue from './routine.ts'
import { Sender, type SenderTools } from './sender.ts'
import { newsOfEvents } from './store.ts'
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

/** Endpoints that one process sends to side by side. */
const maxSenders = 2_000
/** Events that wait in memory, over all senders, and in one. */
const maxHeldEvents = 8_000
const maxHeldBySender = 100
/** How often the queue is looked at: while there was work lately, and else. */
const busyLookMs = 50
const idleLookMs = 250
const busyForMs = 2_000
/** Looking costs more the more endpoints there are, and must not take more than this share of the time. */
const lookShare = 1 / 50
const longestRestMs = 3_000
/** How often retries are looked for while no application has news, and whether the database is back. */
const retryLookMs = 1_000
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
  private newsSeen = ''
  private lookedAt = Number.NEGATIVE_INFINITY
  private lookTookMs = 0
  private workedAt = Number.NEGATIVE_INFINITY
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
      mostRead: () => Math.max(4, Math.min(maxHeldBySender, Math.floor(maxHeldEvents / (this.senders.size + 1)))),
      isStopping: () => this.isStopping,
      isCrowded: () => this.isCrowded,
    }
    const help = `Callbacks that this process is sending to, of ${maxSenders} at most.`
    metrics.gauge({ name: 'forecourt_callback_senders', help, merged: 'sum' }, () => this.senders.size)
  }

  /** While callbacks are paused by the settings nothing is sent, but what is to be sent later is set waiting. */
  start(): void {
    this.replays.start()
    if (this.options.config.callbacks === 'paused') return
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
      maxWaiting: 2 * maxSenders,
      maxWaitMs: Number.POSITIVE_INFINITY,
      claims: ({ appId }) => [appId],
      write: (requests) => ask(this.options.pool, requests),
      onBatch: () => {},
    })
  }

  /** Looks for endpoints with something to send, for as long as the service runs. */
  private async look(): Promise<void> {
    const { log } = this.options
    let isAway = false
    while (!this.isStopping) {
      try {
        await this.lookOnce()
        if (isAway) log.info('callbacks go on')
        isAway = false
      } catch (error) {
        if (!isAway) log.warn({ err: error }, 'callbacks wait for the database')
        isAway = true
      }
      const everyMs = this.isBusy() ? busyLookMs : idleLookMs
      const restMs = isAway ? retryLookMs : Math.max(everyMs, Math.min(this.lookTookMs / lookShare, longestRestMs))
      // Else one of two processes could look just before the other for ever, and have all the work.
      await this.rest(restMs * (0.5 + Math.random()))
    }
  }

  private rest(milliseconds: number): Promise<void> {
    if (this.isStopping) return Promise.resolve()
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, milliseconds)
      this.wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }

  /** While no event is written anywhere, only retries can be due, and these are looked for more rarely. */
  private async lookOnce(): Promise<void> {
    const news = await newsOfEvents(this.options.pool)
    const startedAt = performance.now()
    if (news === this.newsSeen && !this.isBusy() && startedAt - this.lookedAt < retryLookMs) return
    this.lookedAt = startedAt
    const claimed = await this.claim()
    this.lookTookMs = performance.now() - startedAt
    if (claimed > 0 || news !== this.newsSeen) this.workedAt = startedAt
    this.newsSeen = news
  }

  private isBusy(): boolean {
    return performance.now() - this.workedAt < busyForMs
  }

  /** Starts a sender for each endpoint that is free and has something to send. Answers how many. */
  private async claim(): Promise<number> {
    const places = maxSenders - this.senders.size
    this.isCrowded = places <= 0
    if (places <= 0) return 0
    const claimedAt = performance.now()
    const claims = await queue.claimEndpoints(this.options.pool, this.owner, places)
    for (const claim of claims) this.begin(new Sender(claim, claimedAt, this.tools))
    return claims.length
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
