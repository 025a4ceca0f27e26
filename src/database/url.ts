import { isIP } from 'node:net'
import { userInfo } from 'node:os'
import { withoutQuotes } from '../runtime/setting-values.ts'
import type { Address } from './hosts.ts'
import { decode, readParameters, refuse, type UrlOptions } from './url-parameters.ts'

// Reads DATABASE_URL as libpq and other clients write it. The driver must not get it unread: it would leave names
// encoded, send unknown parameters to the server, and repeat the password in errors. No message may show a part that
// could be the password's.

export interface DatabasePlace extends UrlOptions {
  /** A socket's address is its folder. */
  addresses: Address[]
  user: string
  password: string
  database: string
}

const example = 'postgres://user:password@host:5432/database'

/** Reads a database URL. Throws `UserError` with one sentence, without a secret. */
export function readDatabaseUrl(text: string): DatabasePlace {
  const url = withoutQuotes(text.trim())
  // As SQLAlchemy (postgresql+psycopg) and JDBC write it.
  const scheme = /^(jdbc:)?postgres(ql)?(\+\w+)?:\/\//i.exec(url)?.[0]
  if (scheme === undefined) refuse(`must begin with postgres:// or postgresql://, as ${example} does`)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused.
  if (/[\s\u0000-\u001f\u007f]/.test(url)) refuse('holds a blank or a line break, which must be written as %20 or %0A')
  const { authority, path, query } = split(url.slice(scheme.length))
  const { credentials, hosts } = splitAuthority(authority)
  const parameters = readParameters(query)
  const place = parameters.place
  const user = place.user ?? credentials?.user ?? ''
  const name = user === '' ? systemUser() : user
  const database = place.dbname ?? decode(path)
  return {
    addresses: readAddresses(hosts, place.host, place.port),
    user: name,
    password: place.password ?? credentials?.password ?? '',
    // As in libpq, the database is by default named like its user.
    database: database === '' ? name : database,
    ...parameters.options,
  }
}

/** Writes an address; IPv6 in brackets. */
export function writeAddress({ host, port }: Address): string {
  return isIP(host) === 6 ? `[${host}]:${port}` : `${host}:${port}`
}

function split(rest: string): { authority: string; path: string; query: string } {
  const [, authority = '', path = '', query = ''] = /^([^/?]*)(?:\/([^?]*))?(?:\?(.*))?$/s.exec(rest) ?? []
  const beyond = path + query
  // This @ comes from a password with a / or ?, so what stands before it is no host.
  if (beyond.includes('@'))
    refuse('must have each "/", "?", "#" and "@" of its password and names written as %2F, %3F, %23 and %40')
  if (beyond.includes('#')) refuse('holds a "#", which must be written as %23')
  if (path.includes('/')) refuse('names a database with a "/", which must be written as %2F')
  return { authority, path, query }
}

function splitAuthority(authority: string): {
  credentials: { user: string; password: string } | undefined
  hosts: string
} {
  // A host holds no @: all but the last belong to the password.
  const at = authority.lastIndexOf('@')
  if (at === -1) return { credentials: undefined, hosts: authority }
  const credentials = authority.slice(0, at)
  const colon = credentials.indexOf(':')
  const user = colon === -1 ? credentials : credentials.slice(0, colon)
  const password = colon === -1 ? '' : credentials.slice(colon + 1)
  return { credentials: { user: decode(user), password: decode(password) }, hosts: authority.slice(at + 1) }
}

/** Reads the hosts; the parameters `host` and `port` take precedence. */
function readAddresses(hosts: string, host: string | undefined, port: string | undefined): Address[] {
  const written = hosts === '' ? [] : hosts.split(',').map(readHost)
  const named =
    host === undefined || host === '' ? written : host.split(',').map((one) => ({ host: one, port: undefined }))
  const places = named.length === 0 ? [{ host: 'localhost', port: undefined }] : named
  const ports = port === undefined ? [] : port.split(',').map(readPort)
  if (ports.length > 1 && ports.length !== places.length) refuse('must name one port for all hosts, or one for each')
  const addresses = places.map((place, index) => ({
    host: requireHost(place.host),
    port: ports[index] ?? ports[0] ?? place.port ?? 5432,
  }))
  if (addresses.length > 1 && addresses.some(isSocket))
    refuse('names several hosts and a folder of a socket: only one socket can be used')
  return addresses
}

export const isSocket = ({ host }: Pick<Address, 'host'>) => host.startsWith('/')

function readHost(written: string): { host: string; port: number | undefined } {
  const [, bracketed, plain, port] = /^(?:\[([^\]]*)\]|([^:[\]]*))(?::([^:]*))?$/.exec(written) ?? []
  if (bracketed !== undefined && isIP(decode(bracketed)) !== 6)
    refuse('has something else than an IPv6 address in brackets')
  const host = bracketed ?? plain
  if (host === undefined) {
    refuse(
      'must have an IPv6 address in brackets, as [::1]:5432, and each ":" and "/" of its password written as %3A and %2F',
    )
  }
  return { host: decode(host), port: port === undefined || port === '' ? undefined : readPort(port) }
}

function readPort(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0
  if (port < 1 || port > 65_535) refuse(`has a port that is no number from 1 to 65535; it is written as ${example}`)
  return port
}

function requireHost(host: string): string {
  const isName = /^[^\s,:;/?#@%[\]<>"'`\\|(){}=&]+$/.test(host)
  if (!isName && isIP(host) !== 6 && !isSocket({ host })) refuse(`has no valid host; it is written as ${example}`)
  return host
}

function systemUser(): string {
  try {
    return userInfo().username
  } catch {
    return refuse(`names no user; it is written as ${example}`)
  }
}
