import type { Socket } from 'node:net'
import { hostname } from 'node:os'
import postgres from 'postgres'
import type { Address } from './hosts.ts'
import { readTls } from './tls.ts'
import { type DatabasePlace, isSocket, readDatabaseUrl, writeAddress } from './url.ts'

export type Sql = postgres.Sql
/** A transaction or a pool: both run statements. */
export type Statements = postgres.ISql

// Opens a pool of connections (decision 0014).
//
// A pool is for one kind of work, and its settings are that work's: statements that reach rows by their keys may use no other
// plan, routines keep theirs, pages are planned each time. A connection connects, is checked (its settings, and that its server
// takes writes), serves, and ends; the driver opens another by itself.
//
// Never: a response that depends on defaults of a server, a database or a role; a pool that waits for ever for a silent server.

/** Where the database is: a URL, or the address that the embedded database reported when it started. */
export type Target = string | { host: string; port: number; user: string; password: string; database: string }

export interface OpenOptions {
  target: Target
  connections: number
  statementTimeoutMs: number
  /** Statements find rows by whole keys, and are planned each time: several indexes begin with the same column. */
  isByKeys?: boolean
  /**
   * The pool runs the routines of the write path. Their plans are made once for a connection, possibly while the tables are
   * empty, so only plans by keys are allowed.
   */
  isWritePath?: boolean
  /** Statements read pages. Their filters and their tables' sizes differ too much for a cached plan. */
  isPlannedEachTime?: boolean
  /** Its tables are spread over a Citus cluster, which must see a statement's values to know the node that it is for. */
  isDistributed?: boolean
  /** Connects to this host only, if the target names several. */
  address?: Address
  /** Opens the connections in place of the driver, where the host must be found first. */
  socket?: () => Promise<Socket>
  /** Called for each reply. Returns undefined if the reply can be trusted at once, else a promise of whether it can. */
  doubt?: () => Promise<boolean> | undefined
}

/** Tells this process's connections from those of other processes on the same database. */
const applicationName = `forecourt ${hostname()} ${process.pid}`

/**
 * Planner settings that leave only plans by keys. A plan that is made while a table is small or was never analyzed may
 * scan all of it, and a prepared statement keeps that plan when the table has grown.
 */
const byKeySettings = {
  enable_seqscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
  enable_material: 'off',
}

/** To plan the write path's statements each time would cost more than to run them. */
export const writePathSettings = { plan_cache_mode: 'force_generic_plan', ...byKeySettings }

/** Session settings whose defaults in a server, database or role could change an answer. */
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
  // These are off by default. If a server sets them, requests that only waited would fail.
  lock_timeout: '0',
  idle_session_timeout: '0',
}

/**
 * A statement takes no more than the processor of its own connection. Otherwise a count of ten million rows would take all
 * processors from the writes beside it, and a read's share is the time of its connection (decision 0014).
 */
export const oneProcessorSettings = { jit: 'off', max_parallel_workers_per_gather: '0' }

/** A statement as the driver keeps it. */
export interface DriverQuery {
  /** Asks the database to cancel a statement by the protocol's own request, which also works behind a pooler. */
  canceller(query: DriverQuery): Promise<void>
}

/** A connection's state, which the patched driver shows. */
export interface DriverConnection {
  /** The running query; null when there is none. */
  readonly query: DriverQuery | null
  /** Grows with every message that arrives from the database. */
  readonly heard: number
  /**
   * Closes the connection and rejects the queries that wait on it. Does nothing while the connection is still being
   * opened.
   */
  cut(error: Error): void
}

/** A pool's connections; none where the driver was installed without its patch. */
export function connectionsOf(sql: Sql): readonly DriverConnection[] {
  return (sql as Sql & { connections?: DriverConnection[] }).connections ?? []
}

/** Opens a pool without the watch for silent connections. The first statement opens the first connection. */
export function openDatabase(options: OpenOptions): Sql {
  const settings: Settings = {
    max: options.connections,
    // Types of arrays are not asked for at each connection: every array that we send or read is cast in the SQL, and
    // a connection that is cut while the driver asks would end the process.
    fetch_types: false,
    max_lifetime: null,
    // Short, because a database that is back should be used at once; the driver's own default waits up to 20 s.
    backoff: (retries) => Math.min(0.05 * 2 ** retries, 0.5),
    // With several hosts, the next one may answer.
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
      ...(options.isDistributed ? { plan_cache_mode: 'auto' } : {}),
    } as Record<string, string | number>,
  }
  const { target, address, socket, doubt } = options
  const place = placeIn(target)
  // A function finds the right one of several hosts; the driver must not try another.
  const addresses =
    address !== undefined ? [address] : socket === undefined ? place.addresses : place.addresses.slice(0, 1)
  // The driver takes a function that makes connections, though its types don't say so.
  const sql = openDriver(place, addresses, { ...settings, ...(socket === undefined ? {} : { socket }) })
  // The patched driver calls it at each reply.
  if (doubt !== undefined) Object.assign(sql.options, { doubt })
  return sql
}

type Settings = postgres.Options<Record<string, postgres.PostgresType>>

/** Opens one connection as `target` names it, for work that needs none of the service's settings. */
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
  // The driver takes lists of hosts and of ports, though its types don't say so.
  return postgres(own as unknown as Settings)
}

/**
 * Takes the variables of other programs (`PGHOST`, `PGSSL`, `PGTARGETSESSIONATTRS` …) out of this process's environment. The
 * driver makes an option of each `PG…` that it is not given, of which some end the start and others change what a connection
 * does; not all of its options can be given so that it doesn't look.
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

/** The hosts that a target names; one of several is the primary. */
export function addressesOf(target: Target): Address[] {
  return placeIn(target).addresses
}

/** The password that a target names; empty for none. */
export function passwordOf(target: Target): string {
  return placeIn(target).password
}

/** The database's address for a log line: without the password. */
export function placeOf(target: Target): string {
  const { addresses, database } = placeIn(target)
  const hosts = addresses.map((one) => (isSocket(one) ? `${one.host}/.s.PGSQL.${one.port}` : writeAddress(one)))
  return `database ${database} at ${hosts.join(', ')}`
}

/**
 * Whether the database accepts writes: not if it is a standby, nor if an operator has made it read-only, nor while
 * commits wait for a synchronous standby that does not respond. The first two are found by a write and not by a
 * question: the connection of a refused write is closed, and the next connection may lead to another host.
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

/** The number of this process's connections in each state. */
export async function connectionStates(sql: Sql): Promise<Record<string, number>> {
  const states = await sql<{ state: string; count: number }[]>`
    select coalesce(state, 'starting') as state, count(*)::int as count from pg_stat_activity
    where application_name = left(${applicationName}, 63) group by 1`
  return Object.fromEntries(states.map(({ state, count }) => [state, count]))
}
