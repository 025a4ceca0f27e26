import type { ISql } from 'postgres'
import type { OwnDatabase } from './database.ts'
import { becomesTrue } from './waits.ts'

/** Runs something while a table is locked, also for readers. To let go before an answer comes, return it in an object. */
export function whileTableLocked<Value>(
  database: OwnDatabase,
  table: string,
  run: () => Promise<Value>,
): Promise<Value> {
  return database.run((sql) =>
    sql.begin(async (tx) => {
      await tx`lock table ${tx(table)} in access exclusive mode`
      return run()
    }),
  ) as Promise<Value>
}

/** Runs something while an application's lock is held, as a writer in another process holds it. */
export function whileApplicationLocked<Value>(
  database: OwnDatabase,
  appId: string,
  run: () => Promise<Value>,
): Promise<Value> {
  return database.run((sql) =>
    sql.begin(async (tx) => {
      await tx`select 1 from application_lock where app_id = ${appId} for update`
      return run()
    }),
  ) as Promise<Value>
}

/** Holds locks until a request waits for one of them, does what is to happen meanwhile, and commits. */
export async function askWhileLocked<Answered>(
  database: OwnDatabase,
  lock: (tx: ISql) => Promise<unknown>,
  ask: () => Promise<Answered>,
  meanwhile: (tx: ISql) => Promise<unknown>,
): Promise<Answered> {
  const { asked } = await database.run((sql) =>
    sql.begin(async (tx) => {
      await lock(tx)
      const asked = ask()
      const [self] = await tx`select pg_backend_pid() as pid`
      const waits = () =>
        database.run(async (other) => {
          const waiting = await other`select 1 from pg_stat_activity where ${self?.pid} = any(pg_blocking_pids(pid))`
          return waiting.length > 0
        })
      if (!(await becomesTrue(waits))) throw new Error('the request never waited')
      await meanwhile(tx)
      return { asked }
    }),
  )
  return asked
}
