import { expect } from 'bun:test'
import { type OwnDatabase, seed, sleep } from './support.ts'

/** How far behind the newest event one is still looked for. */
const tail = 3000

/**
 * Reads an application's events over and over while they are being written, as a poller of the feed does: an event
 * whose id is below one that was visible earlier would have been skipped.
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
        // Once more after the end, so that everything is seen.
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
        // Polls often enough to see the log between two batches now and then, without using up a processor.
        await sleep(5)
      }
    })
    // A test that has failed before does not stop its watch.
    this.watching.catch(() => {})
  }

  /** Resolves when the first look is done. */
  static async start(database: OwnDatabase, appIds: string[]): Promise<EventWatch> {
    const watch = new EventWatch(database, appIds)
    while (watch.looks === 0) await new Promise(setImmediate)
    return watch
  }

  /** Fails the test when an event became visible after a later one. */
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
