import type postgres from 'postgres'

/**
 * The cost of statements: pages of 8 kB that they read, from memory or disk, and pages that they were the first to
 * change.
 */
export interface Blocks {
  read: number
  dirtied: number
}

interface Cost extends Blocks {
  id: string
}

interface Statement extends Cost {
  text: string
}

/** Statements of callbacks, of upkeep and of the fleet's count, which run now and then, so that `learnIdle` may miss them. */
const backgroundWork =
  /claim_endpoints_|renew_leases_|read_work_|write_progress_|update import set lease_owner = \S+ where status = |fleet_count|event_head h join|failing_since is not null order by|with offline as|with ranked as|count\(\*\)::int as (devices|sites)|count\(seen_at\)|offline_since\)/

/** Counts the blocks of every statement in a database, and can leave out the service's own background work. */
export class Meter {
  private readonly sql: postgres.Sql
  private readonly idle = new Set<string>()
  private readonly texts = new Map<string, string>()

  private constructor(sql: postgres.Sql) {
    this.sql = sql
  }

  static async open(sql: postgres.Sql): Promise<Meter> {
    await sql`create extension if not exists pg_stat_statements`
    return new Meter(sql)
  }

  /**
   * The cost of every statement so far. The statements' texts are left out, because reading one reads the whole file of
   * texts.
   */
  private async costs(): Promise<Map<string, Cost>> {
    const rows = await this.sql<Cost[]>`
      select queryid::text as id, sum(shared_blks_hit + shared_blks_read)::float8 as read,
        sum(shared_blks_dirtied)::float8 as dirtied
      from pg_stat_statements(false)
      where dbid = (select oid from pg_database where datname = current_database()) group by queryid`
    return new Map(rows.map((row) => [row.id, row]))
  }

  /** Adds the text of each statement, and leaves out the meter's own statements. */
  private async withTexts(costs: readonly Cost[]): Promise<Statement[]> {
    const unknown = costs.map(({ id }) => id).filter((id) => !this.texts.has(id))
    if (unknown.length > 0) {
      const rows = await this.sql<{ id: string; text: string }[]>`
        select queryid::text as id, min(query) as text from pg_stat_statements(true)
        where queryid::text = any(${unknown}) group by queryid`
      for (const { id, text } of rows) this.texts.set(id, text)
    }
    const statements = costs.map((cost) => ({ ...cost, text: this.texts.get(cost.id) ?? '' }))
    return statements.filter(({ text }) => !text.includes('pg_stat_statements'))
  }

  /** Records which statements run while no request is sent; `blocksOf` leaves these out. */
  async learnIdle(during: () => Promise<void>): Promise<void> {
    for (const { id } of await this.difference(during)) this.idle.add(id)
  }

  private async difference(work: () => Promise<unknown>): Promise<Statement[]> {
    const before = await this.costs()
    await work()
    const changed = [...(await this.costs()).values()].flatMap(({ id, ...after }) => {
      const { read = 0, dirtied = 0 } = before.get(id) ?? {}
      const cost = { id, read: after.read - read, dirtied: after.dirtied - dirtied }
      return cost.read === 0 && cost.dirtied === 0 ? [] : [cost]
    })
    return this.withTexts(changed)
  }

  /**
   * The cost of each statement that runs during some work, the most expensive first, including the service's background
   * work.
   */
  async statementsOf(work: () => Promise<unknown>): Promise<Statement[]> {
    return (await this.difference(work)).sort((a, b) => b.read - a.read)
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
