import { Worker } from 'node:worker_threads'
import type { Logger } from 'pino'
import type { Sql } from '../database/open.ts'
import type { Metrics } from '../http/metrics.ts'
import { unavailable } from '../refusals.ts'
import type { FoundInCopy } from './copies.ts'
import type { Search } from './scan.ts'
import { findLargeApplications } from './store.ts'
import type { ThreadFigures, ThreadMessage, ThreadRequest, ThreadSettings } from './thread.ts'

export interface SearcherOptions extends ThreadSettings {
  sql: Sql
  log: Logger
  metrics: Metrics
}

interface Pending {
  resolve(found: FoundInCopy | undefined): void
  reject(error: unknown): void
}

/** Applications of this size are copied before anybody asks: loading them takes more than a moment. */
const preparedFrom = 50_000
const firstLookMs = 1_000
const lookEveryMs = 60_000
/** Searches that may wait for the thread: more would be told 50003 before their turn came. */
const maxWaiting = 200
/** How long nothing is asked of the thread after it has ended by itself. */
const restMs = 10_000

const noFigures: ThreadFigures = { appIds: [], devices: 0, bytes: 0, lagSeconds: 0 }

/** The way to the copies of applications' devices. Their thread starts when the first copy is wanted. */
export class Searcher {
  private readonly options: SearcherOptions
  private thread: Worker | undefined
  private restsUntil = 0
  private isStopped = false
  private timer: ReturnType<typeof setTimeout> | undefined
  private requests = 0
  private readonly pending = new Map<number, Pending>()
  private figures = noFigures
  private held = new Set<string>()

  constructor(options: SearcherOptions) {
    this.options = options
    const { metrics } = options
    const gauge = (name: keyof ThreadFigures & string, unit: string, help: string) =>
      metrics.gauge(`forecourt_device_search_${unit}`, help, () => Number(this.figures[name]))
    gauge('devices', 'devices', 'Devices that are copied into memory, so that they can be searched.')
    gauge('bytes', 'bytes', 'Memory that the copies of devices take.')
    gauge('lagSeconds', 'lag_seconds', 'How long the copy that was brought up to date longest ago has not been.')
  }

  /** Looks for large applications from time to time, and copies them beforehand. */
  start(): void {
    this.timer = setTimeout(() => void this.prepareLarge(), firstLookMs)
  }

  /** Whether the application is copied, so that the copy answers sooner than the database. */
  holds(appId: string): boolean {
    return this.held.has(appId)
  }

  /**
   * Searches an application's copy as it is now or later. Without one, it is loaded; `canWait` says whether to wait for
   * that, and for one that was left behind. Answers nothing when there is no copy to be had. Throws 50003, also when too
   * many wait already.
   */
  search(appId: string, search: Search, canWait: boolean): Promise<FoundInCopy | undefined> {
    const thread = this.use()
    const isCrowded = this.pending.size >= maxWaiting
    if (isCrowded && canWait) return Promise.reject(unavailable())
    if (isCrowded || thread === undefined) return Promise.resolve(undefined)
    const id = ++this.requests
    return new Promise((resolve, reject) => {
      this.pending.set(id, { resolve, reject })
      thread.postMessage({ kind: 'search', id, appId, search, canWait } satisfies ThreadRequest)
    })
  }

  async stop(): Promise<void> {
    this.isStopped = true
    clearTimeout(this.timer)
    await this.thread?.terminate()
  }

  private async prepareLarge(): Promise<void> {
    const { sql, log } = this.options
    try {
      const appIds = (await findLargeApplications(sql, preparedFrom)).filter((appId) => !this.held.has(appId))
      if (appIds.length > 0) this.use()?.postMessage({ kind: 'prepare', appIds } satisfies ThreadRequest)
    } catch (error) {
      log.warn({ err: error }, 'large applications could not be looked for; it is tried again')
    }
    if (!this.isStopped) this.timer = setTimeout(() => void this.prepareLarge(), lookEveryMs)
  }

  private use(): Worker | undefined {
    if (this.isStopped || this.options.maxBytes === 0 || performance.now() < this.restsUntil) return undefined
    this.thread ??= this.open()
    return this.thread
  }

  private open(): Worker {
    const { target, statementTimeoutMs, maxBytes, log } = this.options
    const workerData: ThreadSettings = { target, statementTimeoutMs, maxBytes }
    // The thread's file beside this one: TypeScript from the source, JavaScript from dist/.
    const file = import.meta.url.replace(/[^/]+(\.\w+)$/, 'thread$1')
    const thread = new Worker(new URL(file), { workerData })
    thread.on('message', (message: ThreadMessage) => this.hear(message))
    thread.on('error', (error) => log.error({ err: error }, 'the thread that searches devices failed'))
    thread.on('exit', () => this.lose())
    return thread
  }

  private hear(message: ThreadMessage): void {
    if (message.kind === 'figures') {
      this.figures = message.figures
      this.held = new Set(message.figures.appIds)
    } else if (message.kind === 'trouble') {
      this.options.log.warn({ err: message.error }, 'the copies of devices are not kept up to date; it is tried again')
    } else {
      const pending = this.pending.get(message.id)
      this.pending.delete(message.id)
      if (message.kind === 'found') pending?.resolve(message.found)
      else pending?.reject(message.isAway ? unavailable() : Object.assign(new Error(), message.error))
    }
  }

  private lose(): void {
    this.thread = undefined
    this.restsUntil = performance.now() + restMs
    this.figures = noFigures
    this.held = new Set()
    for (const { reject } of this.pending.values()) reject(unavailable())
    this.pending.clear()
  }
}
