import type { Config } from '../config.ts'
import { Database } from '../database/database.ts'
import { requireForecourt, requireWrites, waitForDatabase } from '../database/start.ts'
import { openBesideService } from '../embedded/command-database.ts'
import { canHoldPersonalData } from '../events/erasure/rules.ts'
import { type Erasure, eraseSites, findDeletedSite, findDeletedSites } from '../events/erasure/store.ts'
import { operations } from '../reference/operations.ts'
import { openLog } from '../runtime/log.ts'
import { UserError } from '../runtime/user-error.ts'

type What = { appId: string; siteId: number } | { appId: string | null; days: number }

/** Operations whose responses, stored for retries, can hold a site. */
const storingSites = operations.filter(({ idempotent, data }) => idempotent && canHoldPersonalData(data))

export async function eraseFromDatabase(config: Config, what: What, isDryRun: boolean): Promise<Erasure> {
  const { owner: target, close } = await openBesideService(config)
  const database = new Database(target, config.statementTimeoutMs)
  const log = openLog(config.logLevel)
  try {
    const sql = database.open(1)
    const { signal } = new AbortController()
    await waitForDatabase(sql, { target, seconds: config.databaseWaitSeconds, log, signal })
    await requireForecourt(sql, target)
    await requireWrites(sql)
    const ids = storingSites.map(({ id }) => id)
    if ('days' in what) return await eraseSites(sql, await findDeletedSites(sql, what.days, what.appId), ids, isDryRun)
    const site = await findDeletedSite(sql, what.appId, what.siteId)
    if (site === undefined) {
      throw new UserError('No record of this application deleting this site. Delete the site first, or check both IDs.')
    }
    return await eraseSites(sql, [site], ids, isDryRun)
  } finally {
    await database.close()
    await close()
    log.flush()
  }
}
