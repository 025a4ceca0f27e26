import { connectionsOf, type DriverConnection, type DriverQuery, type Sql } from './open.ts'

/** What was seen of a connection when it was last looked at. Times are counted in looks. */
interface Watched {
  connection: DriverConnection
  query: DriverQuery | null
  askedAt: number
  heard: number
  heardAt: number
  looksAllowed: number
}

const lookEveryMs = 250

/**
 * Cuts connections on which the database has fallen silent (a host that vanished, a link that forgot them): nothing
 * else would ever settle what waits on them. The pools open new ones by themselves.
 *
 * Looks are counted, and not the time between them: while the event loop was held up, nobody listened either.
 */
export class SilenceWatch {
  private readonly watched = new Set<Watched>()
  private readonly timer: ReturnType<typeof setInterval>
  private looks = 0

  constructor() {
    this.timer = setInterval(() => this.look(), lookEveryMs)
    this.timer.unref()
  }

  /** Watches a pool, none of whose statements lets the database say nothing for longer. */
  watch(sql: Sql, longestSilenceMs: number): void {
    const looksAllowed = Math.ceil(longestSilenceMs / lookEveryMs)
    for (const connection of connectionsOf(sql)) {
      const { query, heard } = connection
      this.watched.add({ connection, query, askedAt: this.looks, heard, heardAt: this.looks, looksAllowed })
    }
  }

  /** Cuts every open connection of every pool: they lead where the database is no more. */
  cutAll(): void {
    for (const { connection } of this.watched) connection.cut(silent())
  }

  stop(): void {
    clearInterval(this.timer)
  }

  private look(): void {
    this.looks++
    let lostSince: number | undefined
    for (const one of this.watched) {
      const { query, heard } = one.connection
      if (query !== one.query) one.askedAt = this.looks
      if (heard !== one.heard) one.heardAt = this.looks
      one.query = query
      one.heard = heard
      const since = Math.max(one.askedAt, one.heardAt)
      if (query !== null && this.looks - since >= one.looksAllowed) lostSince = Math.max(lostSince ?? 0, since)
    }
    if (lostSince === undefined) return
    // Whatever took one connection has taken the others that are quiet; each request would find that out anew.
    for (const { connection, heardAt } of this.watched) if (heardAt <= lostSince) connection.cut(silent())
  }
}

function silent(): Error {
  return Object.assign(new Error('the database has fallen silent on this connection'), { code: 'ETIMEDOUT' })
}
