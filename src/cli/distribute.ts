import { join } from 'node:path'
import type { Config } from '../config.ts'
import { Database } from '../database/database.ts'
import { distribute, requireDistributable } from '../database/distribute.ts'
import { findNoRebalance, readCluster } from '../database/nodes.ts'
import { prepareSchema, waitForDatabase } from '../database/start.ts'
import { openLog } from '../runtime/log.ts'
import { UserError } from '../runtime/user-error.ts'

const migrationsFolder = join(import.meta.dirname, '..', '..', 'migrations')

/** Returns warnings: faults that do not stop it and should be mended soon. */
export async function distributeDatabase({ databaseUrl: target, workers, ...config }: Config): Promise<string[]> {
  if (target === undefined) {
    throw new UserError(
      'The embedded database can’t be distributed. Set DATABASE_URL to the database of a Citus coordinator.',
    )
  }
  const log = openLog(config.logLevel)
  const database = new Database(target, config.statementTimeoutMs)
  const open = (connections: number) => database.open(connections, { longestStatementMs: Number.POSITIVE_INFINITY })
  const sql = open(2)
  try {
    const { signal } = new AbortController()
    await waitForDatabase(sql, { target, seconds: config.databaseWaitSeconds, log, signal })
    await requireDistributable(sql, workers)
    await prepareSchema(sql, { target, openAlone: () => open(1), migrationsFolder, install: async () => {}, log })
    await distribute(sql)
    const fault = findNoRebalance(await readCluster(sql))
    return fault === undefined ? [] : [`Fix before you add a node: ${fault.what}; ${fault.todo}.`]
  } finally {
    await database.close()
    log.flush()
  }
}
