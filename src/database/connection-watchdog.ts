import { type Rounds, startRounds } from '../runtime/actor.ts'
import { connectionsOf, type DriverConnection, type DriverQuery, type Sql } from './open.ts'

/** A connection's state at the watch's last round. Times are counted in rounds. */
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
 * nothing else would ever settle the queries that wait on them. The pools open new connections by themselves.
 *
 * The watch counts its own rounds instead of time: while the event loop was blocked, no reply could be read either.
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

  /** Closes every open connection of every pool: the primary is now another host. */
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
    // Other connections that are silent too were lost in the same way; if they were kept, each request would have to
    // find that out itself.
    for (const { connection, heardAt } of this.watched) if (heardAt <= lostSince) connection.cut(silent())
  }
}

function silent(): Error {
  return Object.assign(new Error('the database has stopped responding on this connection'), { code: 'ETIMEDOUT' })
}
