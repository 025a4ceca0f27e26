import type { Context } from '../../context.ts'
import { onEvents } from '../../database/commits.ts'
import { OutageLog } from '../../database/outage-log.ts'
import { Loop } from '../../runtime/loop.ts'
import { eventsAfter, lastEventIds } from '../store.ts'
import { Feed } from './feed.ts'

/** Events of other processes are looked for this often. */
const lookMs = 800
/** What is committed within this pause is read together. */
const gatherMs = 40
const failedMs = 500
const pageRows = 200
/** Only a new feed ends this rest. */
const idleMs = 3_600_000

/** Reads the log once per application for all streams of this process. */
export class LogReader {
  private readonly context: Pick<Context, 'log' | 'pools'>
  private readonly feeds = new Map<string, Feed>()
  /** Feeds with new events, and up to which ID the log is complete. */
  private readonly behind = new Map<Feed, number>()
  private readonly loop = new Loop(() => this.round())
  private readonly outage: OutageLog
  private readonly unlisten: () => void
  private lookedAt = 0

  constructor(context: Pick<Context, 'log' | 'pools'>) {
    this.context = context
    this.outage = new OutageLog(context.log, {
      failing: 'streams wait: events cannot be read',
      succeeding: 'streams continue: events can be read again',
    })
    this.unlisten = onEvents((appIds) => {
      if (this.feeds.size === 0) return
      for (const appId of appIds) {
        const feed = this.feeds.get(appId)
        if (feed !== undefined) this.note(feed, 0)
      }
    })
    this.loop.start()
  }

  /** Returns the application's feed, until `close`. */
  async open(appId: string): Promise<Feed> {
    const head = this.feeds.has(appId) ? 0 : await this.newestId(appId)
    // Another stream may have opened it meanwhile.
    const feed = this.feeds.get(appId) ?? new Feed(appId, head)
    feed.users++
    this.feeds.set(appId, feed)
    this.loop.wake()
    return feed
  }

  /** Returns the ID of the application's latest event, or one between it and the next. */
  async newestId(appId: string): Promise<number> {
    return (await lastEventIds(this.context.pools.callbacks, [appId])).get(appId) ?? 0
  }

  /** Forgets a feed that nobody uses. */
  close(feed: Feed): void {
    if (--feed.users > 0) return
    this.feeds.delete(feed.appId)
    this.behind.delete(feed)
  }

  stop(): void {
    this.unlisten()
    void this.loop.stop()
  }

  private note(feed: Feed, through: number): void {
    if (feed.users === 0) return
    this.behind.set(feed, Math.max(through, this.behind.get(feed) ?? 0))
    this.loop.wake()
  }

  private async round(): Promise<number> {
    try {
      await this.readAll()
      this.outage.succeeded()
      await this.loop.rest(gatherMs, false)
    } catch (error) {
      if (!this.loop.isStopping) this.outage.failed(error)
      await this.loop.rest(failedMs, false)
    }
    return this.feeds.size === 0 ? idleMs : this.lookedAt + lookMs - performance.now()
  }

  private async readAll(): Promise<void> {
    if (this.feeds.size > 0 && performance.now() - this.lookedAt >= lookMs) await this.look()
    const reads = await Promise.allSettled([...this.behind].map(([feed, through]) => this.read(feed, through)))
    // Only once all have ended: a feed must not be read twice at once.
    for (const read of reads) if (read.status === 'rejected') throw read.reason
  }

  private async look(): Promise<void> {
    this.lookedAt = performance.now()
    const before = [...this.feeds.values()].map((feed) => [feed, feed.head] as const)
    const last = await lastEventIds(
      this.context.pools.callbacks,
      before.map(([{ appId }]) => appId),
    )
    for (const [feed, head] of before) {
      const id = last.get(feed.appId) ?? 0
      if (id > feed.head) this.note(feed, id)
      else if (id < head) feed.restartAt(id)
      feed.trim(this.lookedAt)
    }
  }

  private async read(feed: Feed, through: number): Promise<void> {
    const { callbacks: sql } = this.context.pools
    this.behind.delete(feed)
    try {
      const events = await eventsAfter(sql, feed.appId, feed.head, pageRows)
      const isAll = events.length < pageRows
      feed.add(events, isAll ? through : 0, performance.now())
      if (!isAll) this.note(feed, through)
    } catch (error) {
      this.note(feed, through)
      throw error
    }
  }
}
