import { existsSync, statfsSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { findLastBackups, type LastBackups } from '../backup/store.ts'
import type { Config } from '../config.ts'
import { Database } from '../database/database.ts'
import { findDistributed } from '../database/distribute.ts'
import { type DatabaseHealth, readHealth } from '../database/health.ts'
import { readStatus } from '../database/migrate.ts'
import {
  connectionsToNode,
  findAway,
  findNoRebalance,
  findTooFewConnections,
  type NodeFault,
  readCluster,
} from '../database/nodes.ts'
import { passwordOf, type Sql, type Target } from '../database/open.ts'
import { findMissingRight, findReadOnly, waitForDatabase } from '../database/start.ts'
import { callbacksNow, countDeliveries, countEndpoints, readBacklog } from '../deliveries/store.ts'
import { readRecord } from '../embedded/record.ts'
import { openLog } from '../runtime/log.ts'
import { UserError } from '../runtime/user-error.ts'
import { requireKeys } from '../secrets/open.ts'
import {
  judgeBackups,
  judgeCallbacks,
  judgeClock,
  judgeConnections,
  judgeDurability,
  judgeReplication,
  judgeSpace,
  warn as warned,
} from '../service/findings.ts'
import { readDatabaseSize } from '../service/store.ts'
import { type Finding, fail, inBytes, ok, told, warn } from './finding.ts'
import { migrationsFolder } from './migrate.ts'

export async function lookIntoDatabase(config: Config, target: Target): Promise<Finding[]> {
  const database = new Database(target, config.statementTimeoutMs)
  const log = openLog('silent')
  try {
    const sql = database.open(2)
    const { signal } = new AbortController()
    await waitForDatabase(sql, { target, seconds: 0, log, signal })
    return await lookAtAll(config, target, sql)
  } catch (error) {
    const { message } = error as Error
    if (!(error instanceof UserError)) throw error
    return [
      fail(
        'database',
        message,
        'Check that the database is running and that host, user and password in DATABASE_URL are correct.',
      ),
    ]
  } finally {
    await database.close()
  }
}

async function lookAtAll(config: Config, target: Target, sql: Sql): Promise<Finding[]> {
  const health = await readHealth(sql)
  const found = [
    lookAtServer(health, config),
    told(judgeDurability(health)),
    ...(health.autovacuum ? [] : [told(warned('vacuumOff'))]),
    told(judgeConnections(health, config)),
    told(judgeReplication(health)),
    told(judgeClock(health)),
  ]
  const readOnly = await findReadOnly(sql)
  if (readOnly !== undefined) found.push(fail('writes', readOnly.what, `As its owner: ${readOnly.statement}.`))
  const missing = await findMissingRight(sql)
  if (missing !== undefined) return [...found, fail('rights', missing.what, `As its owner: ${missing.statement}.`)]
  found.push(ok('rights', `the user ${health.user} may create and use the schema`))
  const schema = await lookAtSchema(sql)
  found.push(schema)
  // Without the schema there is nothing more to check.
  if (schema.status !== 'ok') return found
  const nodes = (await findDistributed(sql)) ? await lookAtNodes(sql, config) : []
  found.push(...nodes)
  found.push(lookAtDisk(config, await readDatabaseSize(sql)))
  found.push(lookAtBackups(await findLastBackups(sql), config))
  // The rest lies on all nodes.
  if (nodes.some(({ status }) => status === 'fail')) return found
  found.push(...(await lookAtCallbacks(sql, config)), await lookAtSecrets(sql, config, target))
  return found
}

function lookAtServer({ version, encoding, roundTripMs, user, isSuperuser }: DatabaseHealth, config: Config): Finding {
  const message = `PostgreSQL ${version}, responds in ${roundTripMs} ms`
  if (encoding !== 'UTF8') {
    return fail(
      'database',
      `${message}, but its encoding is ${encoding}`,
      "Create a new database with encoding 'UTF8' template template0.",
    )
  }
  if (isSuperuser && config.databaseUrl !== undefined) {
    return warn(
      'database',
      `${message}; ${user} is a superuser, which isn’t necessary`,
      `alter role ${user} nosuperuser;`,
    )
  }
  return ok('database', message)
}

async function lookAtNodes(sql: Sql, { workers }: Config): Promise<Finding[]> {
  const cluster = await readCluster(sql)
  const processes = Math.max(workers, cluster.otherProcesses)
  const judged = (name: string, fault: NodeFault | undefined, asked: typeof warn, otherwise: string) =>
    fault === undefined ? ok(name, otherwise) : asked(name, fault.what, `${capitalized(fault.todo)}.`)
  const needed = connectionsToNode(cluster, processes)
  return [
    judged('nodes', findAway(cluster), fail, `all ${cluster.nodes.length} nodes respond to the coordinator`),
    judged(
      'node connections',
      findTooFewConnections(cluster, processes),
      warn,
      `the nodes allow the ${needed} connections per node that ${processes === 1 ? '1 process opens' : `${processes} processes open`} at most`,
    ),
    judged('rebalance', findNoRebalance(cluster), warn, 'wal_level is logical, so shards can move during writes'),
  ]
}

const capitalized = (words: string) => words.charAt(0).toUpperCase() + words.slice(1)

async function lookAtSchema(sql: Sql): Promise<Finding> {
  const migrations = await readStatus(sql, migrationsFolder)
  const faulty = migrations.find(({ fault }) => fault !== null)
  if (faulty !== undefined) {
    const what = faulty.fault === 'unknown' ? 'was applied by a newer program' : 'was applied from another file'
    return fail('schema', `${faulty.file} ${what}`, 'Run the version that created this schema, or a newer one.')
  }
  const waiting = migrations.filter(({ appliedAt }) => appliedAt === null)
  if (waiting.length === 0) return ok('schema', `version ${migrations.length}, up to date`)
  const names = waiting.map(({ file }) => file).join(', ')
  return warn('schema', `pending migrations: ${names}`, 'Start the service, or run `forecourt migrate up`.')
}

/** Looks at the disk; of a database elsewhere, only at its size and growth. */
export function lookAtDisk(
  { dataDir, databaseUrl }: Config,
  size: { bytes: number | null; bytesPerDay: number | null } | null,
): Finding {
  const growth = size?.bytesPerDay ?? null
  const grows = growth === null ? 'growth unknown yet' : `growing by ${inBytes(Math.max(0, growth))} per day`
  const bytes = size?.bytes ?? null
  const more = bytes === null ? undefined : `Database size ${inBytes(bytes)}, ${grows}.`
  if (databaseUrl !== undefined) return told(judgeSpace(undefined, growth), more)
  const folder = readRecord(dataDir)?.cluster ?? dataDir
  const { bavail, bsize, blocks } = statfsSync(nearestFolder(folder))
  return told(judgeSpace({ freeBytes: bavail * bsize, sizeBytes: blocks * bsize }, growth), more)
}

function lookAtBackups(last: LastBackups | undefined, config: Config): Finding {
  const finding = judgeBackups(last, config, (moment) => moment.toISOString())
  const how = last?.isVerified ? 'verified' : 'not verified'
  const taken = last === undefined || last.takenAt === null ? undefined : `${last.path ?? 'Standard output'}, ${how}.`
  return told(finding, taken)
}

function nearestFolder(path: string): string {
  return existsSync(path) ? path : nearestFolder(dirname(path))
}

async function lookAtCallbacks(sql: Sql, config: Config): Promise<Finding[]> {
  const [now, endpoints, { dead }, { lagSeconds }] = await Promise.all([
    callbacksNow(sql, config.callbacks),
    countEndpoints(sql),
    countDeliveries(sql),
    readBacklog(sql),
  ])
  return judgeCallbacks(now, endpoints, dead, lagSeconds).map((finding) => told(finding))
}

async function lookAtSecrets(sql: Sql, { secretsKeyFile: keyFile, dataDir }: Config, target: Target): Promise<Finding> {
  try {
    const { path } = await requireKeys(sql, { keyFile, dataDir, password: passwordOf(target) })
    if (!existsSync(path)) return ok('secrets key', `the next start copies the key from the database into ${path}`)
    if ((statSync(path).mode & 0o077) !== 0) {
      return warn('secrets key', `${path} is readable by other users`, `chmod 600 ${path}`)
    }
    return ok('secrets key', `${path} has the keys that the database needs; keep a copy separate from the database`)
  } catch (error) {
    if (!(error instanceof UserError)) throw error
    return fail('secrets key', error.message, 'Restore the file. Without it, callback secrets can’t be decrypted.')
  }
}
