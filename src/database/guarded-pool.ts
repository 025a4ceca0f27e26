import type { Deadlines } from '../deadlines.ts'
import { unavailable } from '../refusals.ts'
import type { Sql } from './open.ts'

/**
 * Connections for what every request waits for: the lanes' batches, token look-ups. When the database stops answering
 * without closing them (a host that vanished), nothing on them would ever settle: then they are given up and new ones
 * are opened.
 */
export class GuardedPool {
  private sql: Sql
  private readonly open: () => Sql
  private readonly deadlines: Deadlines
  private readonly timeoutMs: number

  constructor(open: () => Sql, deadlines: Deadlines, timeoutMs: number) {
    this.open = open
    this.deadlines = deadlines
    this.timeoutMs = timeoutMs
    this.sql = open()
  }

  /** Runs statements. Rejects with 50003, their outcome unknown, when the database does not answer in time. */
  run<Answer>(statements: (sql: Sql) => Promise<Answer>): Promise<Answer> {
    const used = this.sql
    return new Promise((resolve, reject) => {
      const deadline = {
        at: performance.now() + this.timeoutMs,
        expire: () => {
          if (this.sql === used) this.replace()
          reject(unavailable())
        },
      }
      this.deadlines.enter(deadline)
      statements(used)
        .then(resolve, reject)
        .finally(() => this.deadlines.leave(deadline))
    })
  }

  private replace(): void {
    const given = this.sql
    this.sql = this.open()
    void given.end({ timeout: 0 })
  }

  async close(): Promise<void> {
    await this.sql.end({ timeout: 1 })
  }
}
