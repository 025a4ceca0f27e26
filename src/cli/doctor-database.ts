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
import { diskBounds, judgeDisk } from '../service/disk.ts'
import { judgeBackups, judgeClock, judgeConnections, judgeDurability, judgeReplication } from '../service/findings.ts'
import { readDatabaseSize } from '../service/store.ts'
import { type Finding, fail, ok, warn } from './finding.ts'
import { migrationsFolder } from './migrate.ts'

/** An event that waits longer for its first attempt means that the sender is behind. */
const longLagSeconds = 60

/** Checks a database, and what the service keeps in it. */
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
      fail('database', message, 'Check that it runs and that DATABASE_URL is right: its host, user and password.'),
    ]
  } finally {
    await database.close()
  }
}

async function lookAtAll(config: Config, target: Target, sql: Sql): Promise<Finding[]> {
  const health = await readHealth(sql)
  const found = [
    lookAtServer(health, config),
    ...lookAtDurability(health),
    lookAtConnections(health, config),
    lookAtReplication(health),
    lookAtClock(health),
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
  const isDistributed = await findDistributed(sql)
  const nodes = isDistributed ? await lookAtNodes(sql, config) : []
  found.push(...nodes)
  found.push(lookAtDisk(config, await readDatabaseSize(sql, isDistributed)))
  found.push(lookAtBackups(await findLastBackups(sql), config))
  // What is left lies on all nodes.
  if (nodes.some(({ status }) => status === 'fail')) return found
  found.push(...(await lookAtCallbacks(sql, config)), await lookAtSecrets(sql, config, target))
  return found
}

function lookAtServer({ version, encoding, roundTripMs, user, isSuperuser }: DatabaseHealth, config: Config): Finding {
  const message = `PostgreSQL ${version}, answers in ${roundTripMs} ms`
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
      `${message}; ${user} is a superuser, which the service does not need`,
      `alter role ${user} nosuperuser;`,
    )
  }
  return ok('database', message)
}

/** Reports the server's settings that keep acknowledged writes, and autovacuum if it is off. */
function lookAtDurability(health: DatabaseHealth): Finding[] {
  const { status, values } = judgeDurability(health)
  const faults = String(values.settings)
    .split(', ')
    .map((setting) => `${setting} is off`)
  const lost = 'acknowledged writes can be lost, or the database damaged, when the machine stops'
  const first =
    status === 'fail'
      ? fail('durability', `${faults.join(', ')}: ${lost}`, 'Set them to on in postgresql.conf, and reload the server.')
      : ok('durability', `fsync and full_page_writes are on, synchronous_commit is ${values.synchronousCommit}`)
  if (health.autovacuum) return [first]
  return [first, warn('vacuum', 'autovacuum is off: the tables bloat', 'Set autovacuum = on in postgresql.conf.')]
}

function lookAtConnections(health: DatabaseHealth, config: Config): Finding {
  const { status, values } = judgeConnections(health, config)
  const { inUse, limit, workers, each, needed } = values
  const message = `${inUse} of ${limit} are in use; the service needs ${workers} × ${each}`
  if (status === 'ok') return ok('connections', message)
  return warn(
    'connections',
    message,
    `Raise max_connections, or the limit of the user or database, to ${needed} or more.`,
  )
}

async function lookAtNodes(sql: Sql, { workers }: Config): Promise<Finding[]> {
  const cluster = await readCluster(sql)
  const processes = Math.max(workers, cluster.otherProcesses)
  const told = (name: string, fault: NodeFault | undefined, asked: typeof warn, otherwise: string) =>
    fault === undefined ? ok(name, otherwise) : asked(name, fault.what, `${capitalized(fault.todo)}.`)
  const needed = connectionsToNode(cluster, processes)
  return [
    told('nodes', findAway(cluster), fail, `${cluster.nodes.length} nodes answer the coordinator`),
    told(
      'node connections',
      findTooFewConnections(cluster, processes),
      warn,
      `${processes === 1 ? '1 process opens' : `${processes} processes open`} up to ${needed} connections to a node, which the nodes allow`,
    ),
    told(
      'rebalance',
      findNoRebalance(cluster),
      warn,
      'wal_level is logical, so shards can move while they are written',
    ),
  ]
}

const capitalized = (words: string) => words.charAt(0).toUpperCase() + words.slice(1)

function lookAtReplication(health: DatabaseHealth): Finding {
  const { synchronousStandbys, standbys, synchronousNow } = health
  switch (judgeReplication(health).code) {
    case 'replicationLost':
      return fail(
        'replication',
        `commits wait for a standby of "${synchronousStandbys}", but none is connected`,
        'Start a standby, or remove it from synchronous_standby_names.',
      )
    case 'replicationNone':
      return ok('replication', 'no standby: backups are the only other copy')
  }
  const count = standbys === 1 ? '1 standby' : `${standbys} standbys`
  if (synchronousNow === null) {
    const rest =
      synchronousStandbys === null ? 'commits wait for no standby' : `commits wait for "${synchronousStandbys}"`
    return ok('replication', `${count}; ${rest}, and this user may not see whether it is connected`)
  }
  return ok('replication', `${count}, ${synchronousNow} of which commits wait for`)
}

function lookAtClock(health: DatabaseHealth): Finding {
  const { code, values } = judgeClock(health)
  if (code === 'clock') return ok('clock', 'the clocks of this machine and of the database agree')
  return warn(
    'clock',
    `the clock of the database is ${values.seconds} s ${code === 'clockAhead' ? 'ahead of' : 'behind'} the clock of this machine`,
    'Synchronize both clocks (NTP).',
  )
}

async function lookAtSchema(sql: Sql): Promise<Finding> {
  const migrations = await readStatus(sql, migrationsFolder)
  const faulty = migrations.find(({ fault }) => fault !== null)
  if (faulty !== undefined) {
    const what = faulty.fault === 'unknown' ? 'was applied by a newer program' : 'was applied from another file'
    return fail(
      'schema',
      `${faulty.file} ${what}`,
      'Run the version that created the schema of this database, or a newer one.',
    )
  }
  const waiting = migrations.filter(({ appliedAt }) => appliedAt === null)
  if (waiting.length === 0) return ok('schema', `version ${migrations.length}, up to date`)
  const names = waiting.map(({ file }) => file).join(', ')
  return warn('schema', `not applied yet: ${names}`, 'Start the service, or run `forecourt migrate up`.')
}

/** Reports the disk of the embedded database; of a database elsewhere, only its size and growth. */
export function lookAtDisk(
  { dataDir, databaseUrl }: Config,
  size: { bytes: number | null; bytesPerDay: number | null } | null,
): Finding {
  const growth = size?.bytesPerDay ?? null
  const grows = growth === null ? 'growth not known yet' : `grows by ${inBytes(Math.max(0, growth))} a day`
  const bytes = size?.bytes ?? null
  const holds = bytes === null ? undefined : `the database takes ${inBytes(bytes)}, ${grows}`
  if (databaseUrl !== undefined) return ok('disk', `${holds ?? 'not known'}; watch its disk on its own machine`)
  const folder = readRecord(dataDir)?.cluster ?? dataDir
  const { bavail, bsize, blocks } = statfsSync(nearestFolder(folder))
  const space = { freeBytes: bavail * bsize, sizeBytes: blocks * bsize }
  const { code, days } = judgeDisk(space, growth)
  const free = `${inBytes(space.freeBytes)} of ${inBytes(space.sizeBytes)} free`
  const message = [free, ...(holds === undefined ? [] : [holds])].join('; ')
  const todo = 'Make room, move the database to a larger disk, or keep events for fewer days (FORECOURT_EVENT_DAYS).'
  switch (code) {
    case 'diskFull':
      return fail('disk', `${message}, under ${inBytes(diskBounds.leastFreeBytes)}`, todo)
    case 'diskFullSoon':
      return warn('disk', `${message}; full in ${days} days`, todo)
    case 'diskLittle':
      return warn('disk', `${message}, under ${inBytes(diskBounds.littleFreeBytes)}`, todo)
    default:
      return ok('disk', message)
  }
}

function lookAtBackups(last: LastBackups | undefined, config: Config): Finding {
  const { code, values } = judgeBackups(last, config, (moment) => moment.toISOString())
  const { takenAt, failedAt, failure, bytes } = values
  const how = last?.isVerified ? 'verified' : 'not verified'
  const taken =
    last === undefined || last.takenAt === null
      ? 'no backup was ever taken'
      : `the last backup is of ${takenAt}, ${last.path ?? 'through a pipe'}, ${inBytes(Number(bytes ?? 0))}, ${how}`
  switch (code) {
    case 'backupNone':
      return ok('backup', 'no backup was taken by `forecourt backup`; make sure that another program takes backups')
    case 'backupFailed': {
      const todo = 'Correct the cause, and take a backup: forecourt backup --to FOLDER --keep 14.'
      return fail('backup', `the backup of ${failedAt} failed (${failure}); ${taken}`, todo)
    }
    case 'backupLate':
    case 'backupMissing':
      return warn('backup', taken, 'Take a backup each night: forecourt backup --to FOLDER --keep 14, by a timer.')
    default:
      return ok('backup', taken)
  }
}

function nearestFolder(path: string): string {
  return existsSync(path) ? path : nearestFolder(dirname(path))
}

async function lookAtCallbacks(sql: Sql, config: Config): Promise<Finding[]> {
  const [endpoints, deliveries, { lagSeconds, ...waiting }] = await Promise.all([
    countEndpoints(sql),
    countDeliveries(sql),
    readBacklog(sql),
  ])
  const { on, held, stopped } = endpoints
  const { dead } = deliveries
  const seconds = Math.round(lagSeconds)
  const message = `${on} endpoints get callbacks, ${waiting.on + waiting.held} events wait, the oldest for ${seconds} s, ${dead} deliveries are dead`
  if (config.callbacks === 'paused') {
    return [
      warn(
        'callbacks',
        `${message}; paused by FORECOURT_CALLBACKS`,
        'Remove this setting when callbacks may be sent again.',
      ),
    ]
  }
  if ((await callbacksNow(sql, config.callbacks)) === 'paused') {
    const todo =
      'Run `forecourt callbacks resume`, unless this database is a copy of one whose service still sends the callbacks.'
    return [warn('callbacks', `${message}; paused since a restore`, todo)]
  }
  const findings: Finding[] = []
  if (stopped > 0 || held > 0) {
    const told = `${stopped} endpoints have stopped with 410, ${held} are paused after failures`
    findings.push(
      warn(
        'callbacks',
        told,
        'Look at the failed deliveries in the console, and ask the applications to repair their receivers.',
      ),
    )
  }
  if (seconds > longLagSeconds) {
    findings.push(warn('callbacks', message, 'Check that the service runs; its log says why it does not send.'))
  } else if (dead > 0) {
    findings.push(
      warn('callbacks', message, 'Replay them when their endpoints answer again (console, or delivery/replay).'),
    )
  }
  return findings.length > 0 ? findings : [ok('callbacks', message)]
}

async function lookAtSecrets(sql: Sql, { secretsKeyFile: keyFile, dataDir }: Config, target: Target): Promise<Finding> {
  try {
    const { path } = await requireKeys(sql, { keyFile, dataDir, password: passwordOf(target) })
    if (!existsSync(path)) return ok('secrets key', `the next start copies the key from the database into ${path}`)
    if ((statSync(path).mode & 0o077) !== 0) {
      return warn('secrets key', `${path} can be read by others`, `chmod 600 ${path}`)
    }
    return ok('secrets key', `${path} holds the keys that the database needs; keep a copy apart from the database`)
  } catch (error) {
    if (!(error instanceof UserError)) throw error
    return fail('secrets key', error.message, 'Put the file back: without it callback secrets cannot be read.')
  }
}

function inBytes(bytes: number): string {
  const units = ['kB', 'MB', 'GB', 'TB']
  let value = bytes / 1000
  while (value >= 1000 && units.length > 1) {
    value /= 1000
    units.shift()
  }
  return `${value.toFixed(value < 10 ? 1 : 0)} ${units[0]}`
}
