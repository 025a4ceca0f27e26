import type { Socket } from 'node:net'
import { hostname } from 'node:os'
import postgres from 'postgres'
import { isDistributed } from './cluster.ts'
import type { Address } from './hosts.ts'
import { readTls } from './tls.ts'
import { type DatabasePlace, isSocket, readDatabaseUrl, writeAddress } from './url.ts'

export type Sql = postgres.Sql
export type Statements = postgres.ISql

// Opens pools (decision 0014). Each is for one kind of work: statements that find rows by keys may use no other plan,
// routines keep their plans, pages are planned each time. No response may depend on defaults of a server, database or
// role, and no pool waits for ever for a silent server.

/** Names the database by URL, or by the embedded database's address. */
export type Target = string | { host: string; port: number; user: string; password: string; database: string }

export interface OpenOptions {
  target: Target
  connections: number
  statementTimeoutMs: number
  isByKeys?: boolean
  /**
   * For routines, whose plans are made once per connection, possibly on empty tables: only plans by keys are allowed.
   */
  isWritePath?: boolean
  isPlannedEachTime?: boolean
  /** Connects to this host only. */
  address?: Address
  /** Finds the host and opens the connection. */
  socket?: () => Promise<Socket>
  /** Called for each reply. Returns undefined if it can be trusted, else a promise of whether it can. */
  doubt?: () => Promise<boolean> | undefined
}

/** Distinguishes this process's connections from those of other processes. */
const applicationName = `forecourt ${hostname()} ${process.pid}`

/** Leaves only plans by keys. A prepared statement keeps a plan that was made for a small table and scans all of it. */
const byKeySettings = {
  enable_seqscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
  enable_material: 'off',
}

/** Planning the write path's statements each time would cost more than running them. */
export const writePathSettings = { plan_cache_mode: 'force_generic_plan', ...byKeySettings }

/** A server, database or role may have other defaults, which could change a response. */
export const answerSettings = {
  default_transaction_isolation: 'read committed',
  DateStyle: 'ISO, YMD',
  IntervalStyle: 'postgres',
  TimeZone: 'UTC',
  extra_float_digits: 1,
  standard_conforming_strings: 'on',
  bytea_output: 'hex',
  array_nulls: 'on',
  transform_null_equals: 'off',
  // If a server sets these, requests that only waited would fail.
  lock_timeout: '0',
  idle_session_timeout: '0',
}

/**
 * A statement takes one processor. Otherwise a count of ten million rows would take all of them from the writes, and a
 * read's share is its connection's time (decision 0014).
 */
export const oneProcessorSettings = { jit: 'off', max_parallel_workers_per_gather: '0' }

export interface DriverQuery {
  /** Asks the database to cancel the statement with the protocol's own request, which also works behind a pooler. */
  canceller(query: DriverQuery): Promise<void>
}

export interface DriverConnection {
  readonly query: DriverQuery | null
  /** Grows with every message from the database. */
  readonly heard: number
  /** Closes the connection and rejects its queries. Does nothing while the connection is being opened. */
  cut(error: Error): void
}

/** Returns a pool's connections, which the patched driver shows; none without the patch. */
export function connectionsOf(sql: Sql): readonly DriverConnection[] {
  return (sql as Sql & { connections?: DriverConnection[] }).connections ?? []
}

/** Opens a pool without the watch for silent connections. */
export function openDatabase(options: OpenOptions): Sql {
  const settings: Settings = {
    max: options.connections,
    // We cast every array in SQL, and a connection that is cut while the driver asks for types would end the process.
    fetch_types: false,
    max_lifetime: null,
    // A recovered database should be used soon; the driver's default waits up to 20 s.
    backoff: (retries) => Math.min(0.05 * 2 ** retries, 0.5),
    connect_timeout: options.socket === undefined ? Math.max(1, Math.ceil(options.statementTimeoutMs / 1000)) : 2,
    onnotice: () => {},
    types: {
      // Ids and counts stay below 2^53.
      bigint: { to: 20, from: [20], serialize: String, parse: Number },
    },
    connection: {
      ...answerSettings,
      application_name: applicationName,
      statement_timeout: options.statementTimeoutMs,
      idle_in_transaction_session_timeout: options.statementTimeoutMs * 2,
      ...oneProcessorSettings,
      ...(options.isByKeys ? { plan_cache_mode: 'force_custom_plan', ...byKeySettings } : {}),
      ...(options.isWritePath ? writePathSettings : {}),
      ...(options.isPlannedEachTime ? { plan_cache_mode: 'force_custom_plan' } : {}),
      // A cluster must see a statement's values to find its node.
      ...(isDistributed() ? { plan_cache_mode: 'auto' } : {}),
    } as Record<string, string | number>,
  }
  const { target, address, socket, doubt } = options
  const place = placeIn(target)
  // `socket` finds the primary, so the driver must not try another host.
  const addresses =
    address !== undefined ? [address] : socket === undefined ? place.addresses : place.addresses.slice(0, 1)
  // The driver takes such a function, though its types don't say so.
  const sql = openDriver(place, addresses, { ...settings, ...(socket === undefined ? {} : { socket }) })
  if (doubt !== undefined) Object.assign(sql.options, { doubt })
  return sql
}

type Settings = postgres.Options<Record<string, postgres.PostgresType>>

/** Opens one connection without the service's settings. */
export function openPlainly(target: Target): Sql {
  const place = placeIn(target)
  return openDriver(place, place.addresses, { max: 1, fetch_types: false, onnotice: () => {} })
}

function openDriver(place: DatabasePlace, addresses: readonly Address[], settings: Settings): Sql {
  forgetVariables()
  const [first] = addresses
  const isOnSocket = first !== undefined && isSocket(first)
  const ssl = isOnSocket ? undefined : readTls(place.sslmode, place.sslrootcert)
  const own = {
    ...settings,
    host: addresses.map(({ host }) => host),
    port: addresses.map(({ port }) => port),
    ...(isOnSocket ? { path: `${first.host}/.s.PGSQL.${first.port}` } : {}),
    user: place.user,
    password: place.password,
    database: place.database,
    ssl: ssl ?? false,
    sslnegotiation: place.isDirectTls ? 'direct' : null,
    prepare: place.mayPrepare,
  }
  // The driver takes lists of hosts and ports, though its types don't say so.
  return postgres(own as unknown as Settings)
}

/**
 * Removes `PGHOST`, `PGSSL` and the like from the environment. The driver makes an option of each `PG…` that it isn't
 * given; some end the start, others change what a connection does.
 */
function forgetVariables(): void {
  // biome-ignore lint/style/noProcessEnv: the driver reads it too.
  const environment = process.env
  for (const name of Object.keys(environment)) if (/^PG[A-Z_]+$/i.test(name)) delete environment[name]
}

function placeIn(target: Target): DatabasePlace {
  if (typeof target === 'string') return readDatabaseUrl(target)
  const { host, port, ...rest } = target
  const plain = { sslmode: undefined, sslrootcert: undefined, isDirectTls: false, mayPrepare: true }
  return { addresses: [{ host, port }], ...rest, ...plain }
}

export function addressesOf(target: Target): Address[] {
  return placeIn(target).addresses
}

export function passwordOf(target: Target): string {
  return placeIn(target).password
}

/** Returns the address without the password, for a log line. */
export function placeOf(target: Target): string {
  const { addresses, database } = placeIn(target)
  const hosts = addresses.map((one) => (isSocket(one) ? `${one.host}/.s.PGSQL.${one.port}` : writeAddress(one)))
  return `database ${database} at ${hosts.join(', ')}`
}

/**
 * Tells whether the database accepts writes: not as a standby, not when read-only, not while commits wait for a silent
 * standby. It tries a write because a refused one closes the connection, and the next may lead to another host.
 */
export async function isWritable(sql: Sql): Promise<boolean> {
  try {
    await sql`update routine set seen_at = seen_at where false`
    const waiting = await sql`
      select 1 from pg_stat_activity
      where usename = current_user and wait_event = 'SyncRep' and query_start < now() - interval '2 seconds' limit 1`
    return waiting.length === 0
  } catch (error) {
    if ((error as { code?: string }).code === '25006') return false
    throw error
  }
}

export async function connectionStates(sql: Sql): Promise<Record<string, number>> {
  const states = await sql<{ state: string; count: number }[]>`
    select coalesce(state, 'starting') as state, count(*)::int as count from pg_stat_activity
    where application_name = left(${applicationName}, 63) group by 1`
  return Object.fromEntries(states.map(({ state, count }) => [state, count]))
}
