import { type Rounds, startRounds } from '../runtime/loop.ts'
import { connectionsOf, type DriverConnection, type DriverQuery, type Sql } from './open.ts'

/** Times are counted in rounds of the watch. */
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
 * Closes connections on which the database has sent nothing for too long (a host vanished, a firewall forgot them):
 * nothing else would settle their queries. It counts rounds instead of time, because a blocked event loop reads no
 * replies.
 */
export class SilenceWatch {
  private readonly watched = new Set<Watched>()
  private readonly rounds: Rounds
  private looks = 0

  constructor() {
    this.rounds = startRounds(() => this.look(), lookEveryMs)
  }

  /** Watches a pool whose statements make the database send something within `longestSilenceMs`. */
  watch(sql: Sql, longestSilenceMs: number): void {
    const looksAllowed = Math.ceil(longestSilenceMs / lookEveryMs)
    for (const connection of connectionsOf(sql)) {
      const { query, heard } = connection
      this.watched.add({ connection, query, askedAt: this.looks, heard, heardAt: this.looks, looksAllowed })
    }
  }

  /** Closes every connection of every pool, because another host is now the primary. */
  cutAll(): void {
    for (const { connection } of this.watched) connection.cut(silent())
  }

  stop(): void {
    void this.rounds.stop()
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
    // Other silent connections were lost in the same way; without this, each request would have to find that out.
    for (const { connection, heardAt } of this.watched) if (heardAt <= lostSince) connection.cut(silent())
  }
}

function silent(): Error {
  return Object.assign(new Error('the database has stopped responding on this connection'), { code: 'ETIMEDOUT' })
}
