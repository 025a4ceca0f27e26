import { hostname } from 'node:os'
import postgres from 'postgres'
import { StartError } from './start-error.ts'

export type Sql = postgres.Sql
/** A transaction, or the pool itself: whatever runs one statement after another. */
export type Statements = postgres.ISql

/** Where the database is: a URL, or what the embedded one answered when it started. */
export type Target = string | { host: string; port: number; user: string; password: string; database: string }

export interface OpenOptions {
  target: Target
  connections: number
  statementTimeoutMs: number
  /** For the write path's routines, whose plans are made once, on tables that may be empty then. */
  isWritePath?: boolean
}

/** Tells this process's connections from those of other processes on the same database. */
const applicationName = `forecourt ${hostname()} ${process.pid}`

/**
 * Planning a routine's statements anew would cost more than running them. The one plan that is kept must be right when
 * the tables have grown, so it may only reach into them by their keys.
 */
const writePathSettings = {
  plan_cache_mode: 'force_generic_plan',
  enable_seqscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
}

/** Opens a pool. No connection is made before the first statement. */
export function openDatabase(options: OpenOptions): Sql {
  const settings: postgres.Options<Record<string, postgres.PostgresType>> = {
    max: options.connections,
    // Types of arrays are not asked for at each connection: every array that we send or read is cast in the SQL, and
    // a connection that is cut while the driver asks would end the process.
    fetch_types: false,
    max_lifetime: null,
    // Short, because a database that is back should be used at once; the driver's own default waits up to 20 s.
    backoff: (retries) => Math.min(0.05 * 2 ** retries, 0.5),
    connect_timeout: Math.max(1, Math.ceil(options.statementTimeoutMs / 1000)),
    onnotice: () => {},
    types: {
      // Ids and counts stay below 2^53.
      bigint: { to: 20, from: [20], serialize: String, parse: Number },
    },
    connection: {
      application_name: applicationName,
      statement_timeout: options.statementTimeoutMs,
      idle_in_transaction_session_timeout: options.statementTimeoutMs * 2,
      jit: 'off',
      ...(options.isWritePath ? writePathSettings : {}),
    } as Record<string, string | number>,
  }
  if (typeof options.target !== 'string') return postgres({ ...settings, ...options.target })
  const { url, ...connection } = readUrl(options.target)
  try {
    return postgres(url, { ...settings, ...connection })
  } catch {
    // The driver's own words could repeat the URL, and with it the password.
    throw new StartError('DATABASE_URL is not a URL that PostgreSQL understands.')
  }
}

interface UrlParts {
  url: string
  host?: string
  port?: number
  target_session_attrs?: 'read-write'
}

/**
 * What the driver does not read from a URL by itself: a socket folder as libpq writes it (`?host=/folder&port=5432`),
 * and that of several hosts the one that takes writes is meant.
 */
function readUrl(url: string): UrlParts {
  const [base = url, query = ''] = url.split('?')
  const parameters = new URLSearchParams(query)
  const host = parameters.get('host')
  const port = parameters.get('port')
  parameters.delete('host')
  parameters.delete('port')
  const authority = base.slice(base.indexOf('://') + 3).split('/')[0] ?? ''
  return {
    url: parameters.size === 0 ? base : `${base}?${parameters}`,
    ...(host === null ? {} : { host }),
    ...(port === null ? {} : { port: Number(port) }),
    ...(authority.includes(',') ? { target_session_attrs: 'read-write' as const } : {}),
  }
}

/** Fails with one clear sentence when the database cannot be reached or is too old. */
export async function requireDatabase(sql: Sql): Promise<void> {
  let version: number
  try {
    const [row] = await sql<[{ version: number }]>`select current_setting('server_version_num')::int as version`
    version = row.version
  } catch (error) {
    const { code, message } = error as { code?: string; message: string }
    throw new StartError(`The database cannot be reached: ${message || code}.`)
  }
  if (version < 150000) {
    throw new StartError(`Forecourt needs PostgreSQL 15 or newer, but this one is ${Math.floor(version / 10000)}.`)
  }
}

/** How many connections of this process are in which state; none when the database does not answer in time. */
export async function connectionStates(sql: Sql, timeoutMs: number): Promise<{ state: string; count: number }[]> {
  const asked = sql<{ state: string; count: number }[]>`
    select coalesce(state, 'starting') as state, count(*)::int as count from pg_stat_activity
    where application_name = left(${applicationName}, 63) group by 1`
  const late = new Promise<[]>((resolve) => setTimeout(resolve, timeoutMs, []))
  return Promise.race([asked, late]).catch(() => [])
}
