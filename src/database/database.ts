import { setTimeout as sleep } from 'node:timers/promises'
import { SilenceWatch } from './connection-watchdog.ts'
import { type Address, Hosts, silence } from './hosts.ts'
import { addressesOf, connectionsOf, openDatabase, type Sql, type Target } from './open.ts'

export interface PoolOptions {
  /** For statements that reach rows by their keys alone, planned each time: a table has several indexes that begin alike. */
  isByKeys?: boolean
  /** For the write path's routines, whose plans are made once, on tables that may be empty then. */
  isWritePath?: boolean
  /** For pages, whose filters and tables differ in size too much for a plan that is kept. */
  isPlannedEachTime?: boolean
  /** Where a transaction raises its own statement timeout: how far. */
  longestStatementMs?: number
}

/** How long a host is waited for that is asked whether it is the primary. */
const hostAnswersWithinMs = 1_000

/** In how many steps it is waited for: while the event loop was held up, nothing was listened to either. */
const patienceSteps = 4

/** Rejects with `silence` when a host was waited for long enough. */
async function patience(signal: AbortSignal): Promise<never> {
  for (let step = 0; step < patienceSteps; step++) {
    await sleep(hostAnswersWithinMs / patienceSteps, undefined, { signal, ref: false })
  }
  throw silence
}

/** The database as a process uses it: pools that lead to the primary, and none of whose connections stays silent. */
export class Database {
  readonly isDistributed: boolean
  private readonly target: Target
  private readonly statementTimeoutMs: number
  private readonly silence = new SilenceWatch()
  private readonly hosts: Hosts | undefined
  private readonly pools: Sql[] = []
  /** With one connection to each of several hosts. */
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
      // The next question has a connection of its own, which does not wait for one that is lost.
      askers.delete(address)
      void sql.end({ timeout: 0 })
      throw error
    } finally {
      answered.abort()
    }
  }
}
