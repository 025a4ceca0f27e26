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

/** A host must say within this time whether it is the primary. */
const hostAnswersWithinMs = 1_000

/** Several short steps instead of one timer, which a blocked event loop would let expire before replies are read. */
const patienceSteps = 4

async function patience(signal: AbortSignal): Promise<never> {
  for (let step = 0; step < patienceSteps; step++) {
    await sleep(hostAnswersWithinMs / patienceSteps, undefined, { signal, ref: false })
  }
  throw silence
}

export class Database {
  private readonly target: Target
  private readonly statementTimeoutMs: number
  private readonly silence = new SilenceWatch()
  private readonly hosts: Hosts | undefined
  private readonly pools: Sql[] = []
  private readonly askers = new Map<Address, Sql>()

  constructor(target: Target, statementTimeoutMs: number) {
    this.target = target
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

  /** Tells whether the driver has our patch, without which it doesn't show its connections. */
  get isWatched(): boolean {
    return connectionsOf(openDatabase({ target: this.target, connections: 1, statementTimeoutMs: 1000 })).length > 0
  }

  /** Opens a pool. The first statement makes the first connection. */
  open(connections: number, { longestStatementMs, ...options }: PoolOptions = {}): Sql {
    const { target, statementTimeoutMs, hosts } = this
    const sql = openDatabase({
      target,
      connections,
      statementTimeoutMs,
      ...options,
      ...(hosts === undefined ? {} : { socket: () => hosts.connect(), doubt: () => hosts.doubt() }),
    })
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
      // The next question must not wait for the lost connection.
      askers.delete(address)
      void sql.end({ timeout: 0 })
      throw error
    } finally {
      answered.abort()
    }
  }
}
