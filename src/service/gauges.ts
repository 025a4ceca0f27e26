import { findLastBackups } from '../backup/store.ts'
import type { Config } from '../config.ts'
import { connectionStates, type Sql } from '../database/open.ts'
import type { InFlight } from '../http/in-flight.ts'
import { lately, type Metrics, type Readings } from '../runtime/metrics.ts'
import type { Peers } from '../runtime/peer-processes.ts'
import { type DiskSpace, diskOwner, diskReader } from './disk.ts'
import { findCount } from './overview/store.ts'
import { isReady, type Readiness } from './readiness.ts'
import { countFailedImports, readDatabaseSize, secondsOfStatement } from './store.ts'

interface Parts {
  metrics: Metrics
  readiness: Readiness
  peers: Peers
  config: Pick<Config, 'databaseUrl' | 'dataDir'>
  /** The pools by name; `background` runs the queries of a scrape. */
  pools: Record<string, Sql> & { background: Sql }
  isDistributed: boolean
  readsWaiting(): number
  inFlight: InFlight
  /** How long a scrape waits for the database's figures before it responds without them. */
  timeoutMs: number
}

/** Shows operators the state of the service, of its database and of its disk. */
export function registerServiceGauges(parts: Parts): void {
  const { metrics, peers, pools, isDistributed, timeoutMs } = parts
  showReadiness(metrics, parts.readiness, isDistributed)
  metrics.gauge(
    { name: 'forecourt_workers', help: 'Processes that serve on this machine.', merged: 'first' },
    () => peers.workers.serving,
  )
  metrics.gauge(
    { name: 'forecourt_workers_wanted', help: 'Processes that should serve on this machine.', merged: 'first' },
    () => peers.workers.wanted,
  )

  metrics.gaugeBy(
    'state',
    {
      name: 'forecourt_database_connections',
      help: 'Connections of this process’s pools to the database, by state.',
      merged: 'sum',
    },
    lately(() => connectionStates(pools.background), { freshMs: 500, timeoutMs }),
  )
  const probes = Object.entries(pools).map(([name, sql]) => {
    const probe = lately(() => secondsOfStatement(sql), { freshMs: 500, timeoutMs })
    return async () => [name, (await probe()) ?? timeoutMs / 1000] as const
  })
  metrics.gaugeBy(
    'pool',
    {
      name: 'forecourt_database_wait_seconds',
      help: 'How long an empty statement takes, including the wait for a free connection, by the purpose of the pool.',
      merged: 'max',
    },
    async () => Object.fromEntries(await Promise.all(probes.map((probe) => probe()))),
  )
  metrics.gauge(
    { name: 'forecourt_reads_waiting', help: 'Reads that wait for a connection.', merged: 'sum' },
    parts.readsWaiting,
  )
  metrics.gaugeBy(
    'of',
    {
      name: 'forecourt_requests_under_way',
      help: 'Requests whose work has not ended: of all callers, of unknown ones, and of the caller with the most.',
      merged: 'sum',
    },
    () => parts.inFlight.taken,
  )

  const size = lately(() => readDatabaseSize(pools.background, isDistributed), { freshMs: 30_000, timeoutMs })
  metrics.gauge(
    { name: 'forecourt_database_size_bytes', help: 'Size of the database, over all of its nodes.', merged: 'first' },
    async () => (await size())?.bytes ?? undefined,
  )
  const growth = 'The growth of the database per day, over the last week; absent in the first hours.'
  metrics.gauge(
    { name: 'forecourt_database_growth_bytes_per_day', help: growth, merged: 'first' },
    async () => (await size())?.bytesPerDay ?? undefined,
  )
  const upkeep = 'When a process last completed a round of upkeep, in Unix time.'
  metrics.gauge({ name: 'forecourt_last_upkeep_timestamp_seconds', help: upkeep, merged: 'first' }, async () =>
    inSeconds((await size())?.notedAt),
  )
  metrics.gauge(
    { name: 'forecourt_imports_failed', help: 'Imports that failed within the last day.', merged: 'first' },
    lately(() => countFailedImports(pools.background), { freshMs: 5_000, timeoutMs }),
  )
  showDisk(metrics, parts.config)
  showBackups(metrics, pools.background, timeoutMs)
  showFleet(metrics, pools.background, timeoutMs)
}

const inSeconds = (moment: Date | null | undefined) => (moment ? moment.getTime() / 1000 : undefined)

function showReadiness(metrics: Metrics, readiness: Readiness, isDistributed: boolean): void {
  const look = lately(readiness, { freshMs: 500, timeoutMs: 3000 })
  const passed = async (only: string) => ((await look())?.every(({ name, ok }) => ok || name !== only) ? 1 : 0)
  metrics.gauge(
    { name: 'forecourt_ready', help: 'Whether /readyz says that requests can be served.', merged: 'min' },
    async () => {
      const checks = await look()
      return Number(checks !== undefined && isReady(checks))
    },
  )
  metrics.gauge({ name: 'forecourt_database_up', help: 'Whether the database answers.', merged: 'min' }, () =>
    passed('database'),
  )
  metrics.gauge(
    { name: 'forecourt_database_writable', help: 'Whether the database takes writes.', merged: 'min' },
    () => passed('writable'),
  )
  const nodes =
    'Whether every node of the cluster answers and accepts the service’s connections; absent without a cluster.'
  metrics.gauge({ name: 'forecourt_nodes_ok', help: nodes, merged: 'min' }, () =>
    isDistributed ? passed('nodes') : undefined,
  )
}

/**
 * Shows the disk of the embedded database. A database elsewhere has its disk on another machine: then the gauge shows
 * the data folder's disk, and its label says so.
 */
function showDisk(metrics: Metrics, config: Pick<Config, 'databaseUrl' | 'dataDir'>): void {
  const disk = lately(diskReader(config), { freshMs: 500, timeoutMs: 500 })
  const show = (name: string, help: string, read: (space: DiskSpace) => number) =>
    metrics.gaugeBy('of', { name, help, merged: 'first' }, async () => {
      const found = await disk()
      return found && { [diskOwner(config)]: read(found) }
    })
  const of = 'the disk of the embedded database, or of the data folder.'
  show('forecourt_disk_free_bytes', `Free bytes on ${of}`, ({ freeBytes }) => freeBytes)
  show('forecourt_disk_size_bytes', `Size of ${of}`, ({ sizeBytes }) => sizeBytes)
}

/** Shows nothing when no backup was ever taken: not every installation uses `forecourt backup`. */
function showBackups(metrics: Metrics, sql: Sql, timeoutMs: number): void {
  const last = lately(() => findLastBackups(sql), { freshMs: 500, timeoutMs })
  const taken = 'The time of the last backup, in Unix time; absent if no backup was taken.'
  metrics.gauge({ name: 'forecourt_backup_last_success_timestamp_seconds', help: taken, merged: 'first' }, async () =>
    inSeconds((await last())?.takenAt),
  )
  metrics.gauge(
    { name: 'forecourt_backup_last_size_bytes', help: 'Size of the last backup that was taken.', merged: 'first' },
    async () => (await last())?.bytes ?? undefined,
  )
  const failed = 'Whether the last backup failed; absent if none was tried.'
  metrics.gauge({ name: 'forecourt_backup_failed', help: failed, merged: 'first' }, async () => {
    const found = await last()
    return found && Number(found.failedAt !== null)
  })
}

/** Shows the counts of the overview, which upkeep keeps at most some minutes old. */
function showFleet(metrics: Metrics, sql: Sql, timeoutMs: number): void {
  const last = lately(() => findCount(sql), { freshMs: 500, timeoutMs })
  const show = (name: string, help: string, read: (counts: FleetCounts) => Readings) =>
    metrics.gaugeBy('state', { name, help, merged: 'first' }, async () => {
      const counts = (await last())?.counts
      return counts && read(counts)
    })
  show(
    'forecourt_devices',
    'Devices by state; a faulty one is online or offline too.',
    ({ devices, devicesOnline, devicesFaulty }) => ({
      online: devicesOnline,
      offline: devices - devicesOnline,
      faulty: devicesFaulty,
    }),
  )
  show(
    'forecourt_applications',
    'Applications by state; a frozen one is online or offline too.',
    ({ applications, applicationsOffline, applicationsFrozen }) => ({
      online: applications - applicationsOffline,
      offline: applicationsOffline,
      frozen: applicationsFrozen,
    }),
  )
  metrics.gauge(
    {
      name: 'forecourt_counted_timestamp_seconds',
      help: 'When devices and applications were counted last, in Unix time.',
      merged: 'first',
    },
    async () => inSeconds((await last())?.countedAt),
  )
}

type FleetCounts = NonNullable<Awaited<ReturnType<typeof findCount>>>['counts']
