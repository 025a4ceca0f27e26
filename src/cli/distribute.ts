import { join } from 'node:path'
import type { Config } from '../config.ts'
import { Database } from '../database/database.ts'
import { distribute, requireDistributable } from '../database/distribute.ts'
import { prepareSchema, waitForDatabase } from '../database/start.ts'
import { openLog } from '../runtime/log.ts'
import { UserError } from '../runtime/user-error.ts'

const migrationsFolder = join(import.meta.dirname, '..', '..', 'migrations')

/** Makes the empty database of the settings, a Citus coordinator's, a distributed one. */
export async function distributeDatabase(config: Config): Promise<void> {
  const { databaseUrl: target } = config
  if (target === undefined) {
    throw new UserError(
      'The embedded database is one machine: name the database of a Citus coordinator in DATABASE_URL.',
    )
  }
  const log = openLog(config.logLevel)
  const database = new Database(target, config.statementTimeoutMs)
  const open = (connections: number) => database.open(connections, { longestStatementMs: Number.POSITIVE_INFINITY })
  const sql = open(2)
  try {
    const { signal } = new AbortController()
    await waitForDatabase(sql, { target, seconds: config.databaseWaitSeconds, log, signal })
    await requireDistributable(sql)
    await prepareSchema(sql, { target, openAlone: () => open(1), migrationsFolder, install: async () => {}, log })
    await distribute(sql)
  } finally {
    await database.close()
    log.flush()
  }
}
