import type postgres from 'postgres'

/**
 * The cost of statements: pages of 8 kB that they read, from memory or disk, and pages that they were the first to
 * change.
 */
export interface Blocks {
  read: number
  dirtied: number
}

interface Statement extends Blocks {
  id: string
  text: string
}

/** Statements of callbacks, and of upkeep, which has its turn once a minute: `learnIdle` may not see them. */
const backgroundWork =
  /claim_endpoints_|renew_leases_|read_work_|write_progress_|update import set lease_owner = \S+ where status = /

/** Counts the blocks of every statement in a database, and can leave out the service's own background work. */
export class Meter {
  private readonly sql: postgres.Sql
  private readonly idle = new Set<string>()

  private constructor(sql: postgres.Sql) {
    this.sql = sql
  }

  static async open(sql: postgres.Sql): Promise<Meter> {
    await sql`create extension if not exists pg_stat_statements`
    return new Meter(sql)
  }

  private async statements(): Promise<Map<string, Statement>> {
    const rows = await this.sql<{ id: string; text: string; read: number; dirtied: number }[]>`
      select queryid::text as id, min(query) as text, sum(shared_blks_hit + shared_blks_read)::float8 as read,
        sum(shared_blks_dirtied)::float8 as dirtied
      from pg_stat_statements s join pg_database d on d.oid = s.dbid
      where d.datname = current_database() and query not like '%pg_stat_statements%' group by queryid`
    return new Map(rows.map((row) => [row.id, row]))
  }

  /** Records which statements run while no request is sent; `blocksOf` leaves these out. */
  async learnIdle(during: () => Promise<void>): Promise<void> {
    const { changed } = await this.difference(during)
    for (const { id } of changed) this.idle.add(id)
  }

  private async difference(work: () => Promise<unknown>): Promise<{ changed: Statement[] }> {
    const before = await this.statements()
    await work()
    const after = await this.statements()
    const changed = [...after.values()].flatMap((statement) => {
      const { read = 0, dirtied = 0 } = before.get(statement.id) ?? {}
      const cost = { ...statement, read: statement.read - read, dirtied: statement.dirtied - dirtied }
      return cost.read === 0 && cost.dirtied === 0 ? [] : [cost]
    })
    return { changed }
  }

  /**
   * The cost of each statement that runs during some work, the most expensive first, including the service's background
   * work.
   */
  async statementsOf(work: () => Promise<unknown>): Promise<Statement[]> {
    const { changed } = await this.difference(work)
    return changed.sort((a, b) => b.read - a.read)
  }

  /** The cost of some work, without the service's background work. */
  async blocksOf(work: () => Promise<unknown>): Promise<Blocks & { dearest: string }> {
    const own = (await this.statementsOf(work)).filter(
      ({ id, text }) => !this.idle.has(id) && !backgroundWork.test(text),
    )
    const sum = (of: (statement: Statement) => number) => own.reduce((total, statement) => total + of(statement), 0)
    return {
      read: sum(({ read }) => read),
      dirtied: sum(({ dirtied }) => dirtied),
      dearest: own[0] === undefined ? '' : `${own[0].read}: ${own[0].text.replace(/\s+/g, ' ').trim().slice(0, 160)}`,
    }
  }
}
