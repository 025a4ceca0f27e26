import { setTimeout as sleep } from 'node:timers/promises'
import { SilenceWatch } from './connection-watchdog.ts'
import { type Address, Hosts, silence } from './hosts.ts'
import { addressesOf, connectionsOf, openDatabase, type Sql, type Target } from './open.ts'

export interface PoolOptions {
  /** Statements find rows by whole keys, and are planned each time: several indexes begin with the same column. */
  isByKeys?: boolean
  /** The pool runs the write path's routines, whose plans are made once, possibly on empty tables. */
  isWritePath?: boolean
  /** Statements read pages. Their filters and their tables' sizes differ too much for a cached plan. */
  isPlannedEachTime?: boolean
  /** The longest statement timeout that a transaction of this pool sets for itself. */
  longestStatementMs?: number
}

/** How long a host may take to answer whether it is the primary. */
const hostAnswersWithinMs = 1_000

/**
 * The wait consists of several steps. While the event loop is blocked no reply can be read, so a single long timer
 * would expire too early.
 */
const patienceSteps = 4

/** Rejects with `silence` when a host was waited for long enough. */
async function patience(signal: AbortSignal): Promise<never> {
  for (let step = 0; step < patienceSteps; step++) {
    await sleep(hostAnswersWithinMs / patienceSteps, undefined, { signal, ref: false })
  }
  throw silence
}

/** The database of a process: pools that lead to the primary, and whose silent connections are closed. */
export class Database {
  readonly isDistributed: boolean
  private readonly target: Target
  private readonly statementTimeoutMs: number
  private readonly silence = new SilenceWatch()
  private readonly hosts: Hosts | undefined
  private readonly pools: Sql[] = []
  /** The pools that ask each of several hosts, of one connection each. */
  private readonly askers = new Map<Address, Sql>()

  /** `isDistributed`: over the nodes of a Citus cluster. */
  constructor(target: Target, statementTimeoutMs: number, isDistributed = false) {
    this.target = target
    this.isDistributed = isDistributed
    this.statementTimeoutMs = statementTimeoutMs
    const addresses = addressesOf(target)
    if (addresses.length > 1) {
      this.hosts = new Hosts({
        addresses,
        askTimeline: (address) => this.askTimeline(address),
        onMove: () => this.silence.cutAll(),
      })
    }
  }

  /** Whether the driver shows its connections, which it does with our patch alone. */
  get isWatched(): boolean {
    return connectionsOf(openDatabase({ target: this.target, connections: 1, statementTimeoutMs: 1000 })).length > 0
  }

  /** Opens a pool. No connection is made before the first statement. */
  open(connections: number, { longestStatementMs, ...options }: PoolOptions = {}): Sql {
    const { target, statementTimeoutMs, isDistributed, hosts } = this
    const sql = openDatabase({
      target,
      connections,
      statementTimeoutMs,
      isDistributed,
      ...options,
      ...(hosts === undefined ? {} : { socket: () => hosts.connect(), doubt: () => hosts.doubt() }),
    })
    // The database ends a statement by itself; a second later it must have said so.
    this.silence.watch(sql, (longestStatementMs ?? statementTimeoutMs) + 1000)
    this.pools.push(sql)
    return sql
  }

  async close(): Promise<void> {
    this.silence.stop()
    this.hosts?.stop()
    await Promise.all([...this.pools, ...this.askers.values()].map((sql) => sql.end({ timeout: 1 })))
  }

  private async askTimeline(address: Address): Promise<string | null> {
    const { askers, target } = this
    const statementTimeoutMs = hostAnswersWithinMs
    const sql = askers.get(address) ?? openDatabase({ target, address, connections: 1, statementTimeoutMs })
    askers.set(address, sql)
    const answered = new AbortController()
    try {
      const asked = sql<[{ timeline: string | null }]>`
        select case when not pg_is_in_recovery() then left(pg_walfile_name(pg_current_wal_lsn()), 8) end as timeline`
      const [{ timeline }] = await Promise.race([asked, patience(answered.signal)])
      return timeline
    } catch (error) {
      // The next question uses a new connection, and does not wait for the lost one.
      askers.delete(address)
      void sql.end({ timeout: 0 })
      throw error
    } finally {
      answered.abort()
    }
  }
}
