import { editsBetween, nearestOf } from '../runtime/nearest.ts'
import { UserError } from '../runtime/user-error.ts'

// Parameters of DATABASE_URL that libpq, drivers and poolers know. None is sent to the server, because session settings
// decide what is stored and returned.

export interface UrlOptions {
  sslmode: string | undefined
  sslrootcert: string | undefined
  /** Set by `sslnegotiation=direct`: TLS begins without asking the server first. */
  isDirectTls: boolean
  /** Some poolers don't forward prepared statements. */
  mayPrepare: boolean
}

type PlaceParameter = 'host' | 'port' | 'user' | 'password' | 'dbname'

interface Parameters {
  place: Partial<Record<PlaceParameter, string>>
  options: UrlOptions
}

const sslmodes = ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full']

const onlyThese: Record<string, { values: RegExp; instead: string }> = {
  sslmode: { values: new RegExp(`^(${sslmodes.join('|')})$`), instead: `must be one of ${sslmodes.join(', ')}` },
  ssl: { values: /^(true|false|1|0)$/i, instead: 'must be true or false; sslmode says more' },
  sslnegotiation: { values: /^(postgres|direct)$/, instead: 'must be postgres or direct' },
  prepare: { values: /^(true|false)$/i, instead: 'must be true or false' },
  prepared_statements: { values: /^(true|false)$/i, instead: 'must be true or false' },
  pgbouncer: { values: /^(true|false)$/i, instead: 'must be true or false' },
  target_session_attrs: {
    values: /^(any|read-write|primary)$/,
    instead: 'must be any, read-write or primary: Forecourt writes to the primary',
  },
  target_server_type: {
    values: /^(any|primary|master)$/i,
    instead: 'must be any or primary: Forecourt writes to the primary',
  },
  channel_binding: { values: /^(disable|prefer|require)$/, instead: 'must be disable, prefer or require' },
  gssencmode: { values: /^(disable|prefer)$/, instead: 'must be disable or prefer: Forecourt encrypts by TLS' },
  gss_enc_mode: {
    values: /^(disable|allow|prefer)$/i,
    instead: 'must be disable, allow or prefer: Forecourt encrypts by TLS',
  },
  ssl_min_protocol_version: {
    values: /^(TLSv1(\.[12])?)?$/,
    instead: 'must be TLSv1.2 or lower: TLS 1.2 is the oldest that is used',
  },
  client_encoding: { values: /^(utf-?8|unicode|auto)$/i, instead: 'must be utf8: Forecourt uses no other encoding' },
  charset: { values: /^utf-?8$/i, instead: 'must be utf8: Forecourt uses no other encoding' },
  ...Object.fromEntries(
    ['schema', 'current_schema', 'search_path'].map((name) => [
      name,
      {
        values: /^("?public"?)?$/,
        instead: 'must be public: for another schema, set search_path for the role in the database',
      },
    ]),
  ),
  options: { values: /^\s*$/, instead: 'must be empty: settings of the session are set for the role in the database' },
}

/** Forecourt decides these itself: waits, numbers of connections and their names. */
const withoutEffect = [
  ...['application_name', 'fallback_application_name', 'connect_timeout', 'login_timeout', 'socket_timeout'],
  ...['keepalives', 'keepalives_idle', 'keepalives_interval', 'keepalives_count', 'tcp_keep_alive', 'tcp_user_timeout'],
  ...['connection_limit', 'pool_timeout', 'pool', 'pool_size', 'max_pool_size', 'min_pool_size', 'max_overflow'],
  ...[
    'max',
    'idle_timeout',
    'max_lifetime',
    'max_pipeline',
    'max_idle_connection_lifetime',
    'keep_alive',
    'fetch_types',
  ],
  ...['pool_max_conns', 'pool_min_conns', 'connect_retries', 'load_balance_hosts', 'host_recheck_seconds'],
  ...['sslcompression', 'sslsni', 'gssdelegation', 'gsslib', 'krbsrvname', 'uselibpqcompat', 'single_use_connections'],
  ...['statement_cache_size', 'statement_cache_capacity', 'prepare_threshold', 're_write_batched_inserts'],
  ...['binary_transfer', 'default_query_exec_mode', 'encoding'],
]
const ofPlace: readonly string[] = ['host', 'port', 'user', 'password', 'dbname'] satisfies PlaceParameter[]
const known = [...ofPlace, 'sslrootcert', ...Object.keys(onlyThese), ...withoutEffect]
/** JDBC and .NET write `connectTimeout`, people also `SSLMode`. */
const canonical = (name: string) => name.toLowerCase().replaceAll(/[_ -]/g, '')
const byCanonical = new Map(known.map((name) => [canonical(name), name]))
const other: Record<string, string> = { username: 'user', database: 'dbname' }

export function refuse(fault: string): never {
  throw new UserError(`DATABASE_URL ${fault}.`)
}

/** Decodes `%20` and the like. A `+` stays, as in libpq. */
export function decode(text: string): string {
  let decoded: string
  try {
    decoded = decodeURIComponent(text)
  } catch {
    refuse('holds a "%" that begins no character in UTF-8: a "%" itself must be written as %25')
  }
  if (decoded.includes('\0')) refuse('holds %00, which PostgreSQL allows nowhere')
  return decoded
}

/** Reads the URL's query. Throws `UserError` for an unknown parameter or one that asks for something not done. */
export function readParameters(query: string): Parameters {
  const given = new Map<string, string>()
  for (const part of query.split('&')) {
    if (part === '') continue
    const equals = part.indexOf('=')
    const written = decode(equals === -1 ? part : part.slice(0, equals))
    const name = byCanonical.get(canonical(written)) ?? other[canonical(written)] ?? refuseUnknown(written)
    const value = equals === -1 ? refuse(`has no value for ${name}`) : decode(part.slice(equals + 1))
    if (given.has(name) && given.get(name) !== value) refuse(`gives ${name} twice`)
    const rule = onlyThese[name]
    if (rule !== undefined && !rule.values.test(value)) throwRule(name, rule.instead)
    given.set(name, value)
  }
  const place = Object.fromEntries([...given].filter(([name]) => ofPlace.includes(name)))
  return { place, options: readOptions(given) }
}

function throwRule(name: string, instead: string): never {
  throw new UserError(`The ${name} of DATABASE_URL ${instead}.`)
}

function readOptions(given: ReadonlyMap<string, string>): UrlOptions {
  const says = (name: string, values: RegExp) => values.test(given.get(name) ?? '')
  const ssl = says('ssl', /^(true|1)$/i) ? 'verify-full' : given.has('ssl') ? 'disable' : undefined
  const sslrootcert = given.get('sslrootcert')
  const sslmode = given.get('sslmode') ?? (sslrootcert === undefined ? ssl : undefined)
  const isDirectTls = says('sslnegotiation', /^direct$/)
  if (
    isDirectTls &&
    !/^(require|verify-ca|verify-full)$/.test(sslmode ?? (sslrootcert === undefined ? '' : 'verify-full'))
  ) {
    throwRule('sslnegotiation', 'can be direct only with sslmode require, verify-ca or verify-full')
  }
  const isUnprepared =
    says('prepare', /^false$/i) ||
    says('prepared_statements', /^false$/i) ||
    says('pgbouncer', /^true$/i) ||
    ['statement_cache_size', 'statement_cache_capacity', 'prepare_threshold'].some((name) => says(name, /^0$/))
  return { sslmode, sslrootcert, isDirectTls, mayPrepare: !isUnprepared }
}

/** Names the parameter only if it looks like one: it could be a piece of a password with a `?`. */
function refuseUnknown(written: string): never {
  if (!/^[a-z][\w.]{1,39}$/i.test(written))
    refuse('holds a parameter whose name is no word: a "?" of a name or password must be written as %3F')
  const nearest = nearestOf(written.toLowerCase(), known)
  const hint = editsBetween(written.toLowerCase(), nearest) <= 2 ? `; the nearest that it knows is ${nearest}` : ''
  return refuse(`has the parameter ${written}, which Forecourt does not know${hint}`)
}
