import { findLastBackups } from '../backup/store.ts'
import type { Config } from '../config.ts'
import type { Context } from '../context.ts'
import { isDistributed } from '../database/cluster.ts'
import { connectionStates, type Sql } from '../database/open.ts'
import type { InFlight } from '../http/in-flight.ts'
import { lately } from '../runtime/cached.ts'
import type { Metrics, Readings } from '../runtime/metrics.ts'
import { type DiskSpace, diskOwner, diskReader } from './disk.ts'
import { findCount } from './overview/store.ts'
import { isReady, type Readiness } from './readiness.ts'
import { countFailedImports, readDatabaseSize, secondsOfStatement } from './store.ts'

interface Sources {
  readiness: Readiness
  readsWaiting(): number
  fleetCountedAt(): Date | undefined
  inFlight: InFlight
  /** How long a scrape waits for the database before it responds without its figures. */
  timeoutMs: number
}

export function registerServiceGauges({ metrics, peers, pools, config }: Context, sources: Sources): void {
  const { timeoutMs } = sources
  showReadiness(metrics, sources.readiness)
  metrics.gauge(
    { name: 'forecourt_workers', help: 'Running workers on this machine.', merged: 'first' },
    () => peers.workers.serving,
  )
  metrics.gauge(
    { name: 'forecourt_workers_wanted', help: 'Expected workers on this machine.', merged: 'first' },
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
    sources.readsWaiting,
  )
  metrics.gaugeBy(
    'of',
    {
      name: 'forecourt_requests_under_way',
      help: 'Requests whose work has not ended: of all callers, of unknown ones, and of the caller with the most.',
      merged: 'sum',
    },
    () => sources.inFlight.taken,
  )

  const size = lately(() => readDatabaseSize(pools.background), { freshMs: 30_000, timeoutMs })
  metrics.gauge(
    { name: 'forecourt_database_size_bytes', help: 'Size of the database, over all of its nodes.', merged: 'first' },
    async () => (await size())?.bytes ?? undefined,
  )
  const growth = 'The growth of the database per day, over the last week; absent in the first hours.'
  metrics.gauge(
    { name: 'forecourt_database_growth_bytes_per_day', help: growth, merged: 'first' },
    async () => (await size())?.bytesPerDay ?? undefined,
  )
  const upkeep = 'Time of the last completed maintenance run, in Unix time.'
  metrics.gauge({ name: 'forecourt_last_upkeep_timestamp_seconds', help: upkeep, merged: 'first' }, async () =>
    inSeconds((await size())?.notedAt),
  )
  metrics.gauge(
    { name: 'forecourt_imports_failed', help: 'Imports that failed within the last day.', merged: 'first' },
    lately(() => countFailedImports(pools.background), { freshMs: 5_000, timeoutMs }),
  )
  showDisk(metrics, config)
  showBackups(metrics, pools.background, timeoutMs)
  showCounts(metrics, pools.background, timeoutMs, sources.fleetCountedAt)
}

const inSeconds = (moment: Date | null | undefined) => (moment ? moment.getTime() / 1000 : undefined)

function showReadiness(metrics: Metrics, readiness: Readiness): void {
  const look = lately(readiness, { freshMs: 500, timeoutMs: 3000 })
  const passed = async (only: string) => ((await look())?.every(({ name, ok }) => ok || name !== only) ? 1 : 0)
  metrics.gauge({ name: 'forecourt_ready', help: 'Whether /readyz reports ready.', merged: 'min' }, async () => {
    const checks = await look()
    return Number(checks !== undefined && isReady(checks))
  })
  metrics.gauge({ name: 'forecourt_database_up', help: 'Whether the database responds.', merged: 'min' }, () =>
    passed('database'),
  )
  metrics.gauge(
    { name: 'forecourt_database_writable', help: 'Whether the database takes writes.', merged: 'min' },
    () => passed('writable'),
  )
  const nodes = 'Whether all cluster nodes respond and accept the service’s connections; absent without a cluster.'
  metrics.gauge({ name: 'forecourt_nodes_ok', help: nodes, merged: 'min' }, () =>
    isDistributed() ? passed('nodes') : undefined,
  )
}

/** For a database elsewhere shows the data folder's disk; the label says so. */
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

/** Shows nothing if no backup was ever taken: not every installation uses `forecourt backup`. */
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

function showCounts(metrics: Metrics, sql: Sql, timeoutMs: number, fleetCountedAt: () => Date | undefined): void {
  const last = lately(() => findCount(sql), { freshMs: 500, timeoutMs })
  const show = (name: string, help: string, read: (counts: FleetCounts) => Readings) =>
    metrics.gaugeBy('state', { name, help, merged: 'first' }, async () => {
      const counts = (await last())?.counts
      return counts && read(counts)
    })
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
      help: 'When the fleet was counted last, in Unix time.',
      merged: 'max',
    },
    () => inSeconds(fleetCountedAt()),
  )
}

type FleetCounts = NonNullable<Awaited<ReturnType<typeof findCount>>>['counts']
