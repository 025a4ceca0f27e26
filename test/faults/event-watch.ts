import { expect } from 'bun:test'
import type { OwnDatabase } from '../kit/database.ts'
import { seed } from '../kit/scale.ts'
import { sleep } from '../kit/waits.ts'

/** How far below the newest id the watch still searches for late events. */
const tail = 3000

/**
 * Reads an application's events repeatedly while they are written, as a client that polls the feed does. An event that
 * becomes visible after one with a higher id would be skipped by such a client.
 */
export class EventWatch {
  private readonly seen = new Map<string, number[]>()
  private readonly late: string[] = []
  private readonly watching: Promise<void>
  private running = true
  private looks = 0

  private constructor(database: OwnDatabase, appIds: string[]) {
    for (const appId of appIds) this.seen.set(appId, [])
    this.watching = database.run(async (sql) => {
      for (let last = false; !last; ) {
        // Reads once more after the end, so that no event is missed.
        last = !this.running
        for (const appId of appIds) {
          const from = this.newest(appId) - tail
          const rows = await sql`
            select id from event where app_id = ${appId} and id > ${from}
            union all select id from state_change where app_id = ${appId} and id > ${from} order by id`
          this.compare(
            appId,
            rows.map((row) => row.id as number),
          )
        }
        this.looks++
        // Often enough to read between two batches now and then, without using up a processor.
        await sleep(5)
      }
    })
    // A test that has failed earlier does not wait for its watch.
    this.watching.catch(() => {})
  }

  /** Resolves after the first read. */
  static async start(database: OwnDatabase, appIds: string[]): Promise<EventWatch> {
    const watch = new EventWatch(database, appIds)
    while (watch.looks === 0) await new Promise(setImmediate)
    return watch
  }

  /** Fails the test if an event became visible after one with a higher id. */
  async stop(): Promise<void> {
    this.running = false
    await this.watching
    expect(this.late, `seed ${seed}: events that became visible behind later ones`).toEqual([])
    expect(this.looks).toBeGreaterThan(2)
  }

  get summary(): string {
    return `events read ${this.looks} times, none out of order`
  }

  private newest(appId: string): number {
    return this.seen.get(appId)?.at(-1) ?? 0
  }

  private compare(appId: string, ids: number[]): void {
    const newest = this.newest(appId)
    const seen = this.seen.get(appId) as number[]
    const known = new Set(seen.slice(-tail))
    for (const id of ids) {
      if (id > newest) seen.push(id)
      else if (!known.has(id)) {
        this.late.push(`${appId}: event ${id} after ${newest}`)
        known.add(id)
      }
    }
  }
}
