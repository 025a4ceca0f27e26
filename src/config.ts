import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { resolve } from 'node:path'
import { ExplainedError } from './explained-error.ts'

/** Addresses that begin with the same bits. */
export interface Network {
  address: string
  bits: number
  family: 'ipv4' | 'ipv6'
}

/**
 * Every setting of the service. The names, defaults and meanings are contract §7's; docs/settings.md lists them. Plain
 * data, because the parent of several servers sends it to them.
 */
export interface Config {
  host: string
  port: number
  /** Processes that serve on this machine, on one port. */
  workers: number
  /** A PostgreSQL to use; undefined means the embedded one in `dataDir`. */
  databaseUrl: string | undefined
  dataDir: string
  operatorKey: string | undefined
  timeZone: string
  /** Where the console's map has its tiles from: an address with {z}, {x} and {y}; none for a neutral ground. */
  mapTileUrl: string | undefined
  inventoryPolicy: 'open' | 'required'
  /** The coordinate system that callers use. */
  coordinates: 'gcj02' | 'wgs84' | 'bd09'
  privateCallbacks: 'refuse' | 'allow'
  /** `paused`: no callback is sent, as a restored copy or a drill needs it. */
  callbacks: 'on' | 'paused'
  /** How much of the callbacks' retry schedule and of their pauses is waited; less than 1 hurries tests. */
  callbackRetryScale: number
  /** How long deliveries and events are kept. */
  deliveryDays: number
  eventDays: number
  stateEventDays: number
  /** How long refused writes are told. */
  refusalDays: number
  presenceSeconds: number
  /** Whose `X-Forwarded-For` is believed; undefined for nobody's. */
  trustedProxies: Network[] | undefined
  /** The file with the key that encrypts callback secrets at rest; undefined for one that is made in `dataDir`. */
  secretsKeyFile: string | undefined
  /** For how long a start waits for a database that is not up yet. */
  databaseWaitSeconds: number
  logLevel: string
  /** No statement runs longer; a database that does not answer is told as 50003 a second after it. */
  statementTimeoutMs: number
  /** Creates that may wait for their batch in one lane; past it they are refused with 50003. */
  maxWaitingCreates: number
}

/** A setting that cannot be used: one clear sentence, for the person who starts the service. */
export class ConfigError extends ExplainedError {}

/** Reads the settings. Throws `ConfigError` at the first one that cannot be used. */
export function readConfig(environment: Record<string, string | undefined>): Config {
  const read = (name: string) => environment[name]?.trim() || undefined
  const integer = (name: string, fallback: number, minimum: number, maximum: number) => {
    const text = read(name)
    if (text === undefined) return fallback
    const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN
    if (value >= minimum && value <= maximum) return value
    throw new ConfigError(`${name} must be a whole number from ${minimum} to ${maximum}, but it is "${text}".`)
  }
  const share = (name: string, fallback: number) => {
    const text = read(name)
    if (text === undefined) return fallback
    const value = /^\d(\.\d{1,6})?$/.test(text) ? Number(text) : Number.NaN
    if (value > 0 && value <= 1) return value
    throw new ConfigError(`${name} must be a decimal number above 0 and at most 1, but it is "${text}".`)
  }
  const oneOf = <const Choice extends string>(name: string, fallback: Choice, choices: readonly Choice[]) => {
    const text = read(name) ?? fallback
    const choice = choices.find((known) => known === text)
    if (choice !== undefined) return choice
    throw new ConfigError(`${name} must be one of ${choices.join(', ')}, but it is "${text}".`)
  }

  const operatorKey = readSecret(environment, 'FORECOURT_OPERATOR_KEY')
  if (operatorKey !== undefined && !/^[\x21-\x7e]{32,512}$/.test(operatorKey)) {
    throw new ConfigError('FORECOURT_OPERATOR_KEY must be 32 to 512 visible ASCII characters without spaces.')
  }
  const timeZone = read('FORECOURT_TIME_ZONE') ?? 'Asia/Shanghai'
  if (!isTimeZone(timeZone)) throw new ConfigError(`FORECOURT_TIME_ZONE "${timeZone}" is not a known time zone.`)
  const databaseUrl = readSecret(environment, 'DATABASE_URL')
  if (databaseUrl !== undefined && !/^postgres(ql)?:\/\//.test(databaseUrl)) {
    throw new ConfigError('DATABASE_URL must begin with postgres:// or postgresql://.')
  }

  const mapTileUrl = read('FORECOURT_MAP_TILES')
  if (mapTileUrl !== undefined && !/^https?:\/\/[^\s/]+\/(?=.*\{z\})(?=.*\{x\})(?=.*\{y\})\S*$/.test(mapTileUrl)) {
    throw new ConfigError('FORECOURT_MAP_TILES must be an http or https address that holds {z}, {x} and {y}.')
  }

  return {
    host: read('FORECOURT_HOST') ?? '127.0.0.1',
    port: integer('FORECOURT_PORT', 8080, 0, 65535),
    workers: integer('FORECOURT_WORKERS', 1, 1, 64),
    databaseUrl,
    dataDir: resolve(read('FORECOURT_DATA_DIR') ?? './data'),
    operatorKey,
    timeZone,
    mapTileUrl,
    inventoryPolicy: oneOf('FORECOURT_INVENTORY_POLICY', 'open', ['open', 'required']),
    coordinates: oneOf('FORECOURT_COORDINATES', 'gcj02', ['gcj02', 'wgs84', 'bd09']),
    privateCallbacks: oneOf('FORECOURT_PRIVATE_CALLBACKS', 'refuse', ['refuse', 'allow']),
    callbacks: oneOf('FORECOURT_CALLBACKS', 'on', ['on', 'paused']),
    callbackRetryScale: share('FORECOURT_CALLBACK_RETRY_SCALE', 1),
    deliveryDays: integer('FORECOURT_DELIVERY_DAYS', 30, 1, 36_500),
    eventDays: integer('FORECOURT_EVENT_DAYS', 400, 1, 36_500),
    stateEventDays: integer('FORECOURT_STATE_EVENT_DAYS', 30, 1, 36_500),
    refusalDays: integer('FORECOURT_REFUSAL_DAYS', 7, 1, 36_500),
    presenceSeconds: integer('FORECOURT_PRESENCE_SECONDS', 300, 1, 86_400),
    trustedProxies: readProxies(read('FORECOURT_TRUSTED_PROXIES')),
    secretsKeyFile: read('FORECOURT_SECRETS_KEY_FILE'),
    databaseWaitSeconds: integer('FORECOURT_DATABASE_WAIT_SECONDS', 30, 0, 3600),
    logLevel: oneOf('FORECOURT_LOG_LEVEL', 'info', ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']),
    statementTimeoutMs: integer('FORECOURT_STATEMENT_TIMEOUT_MS', 5000, 100, 60_000),
    maxWaitingCreates: integer('FORECOURT_MAX_WAITING_CREATES', 10_000, 1, 1_000_000),
  }
}

/** A setting itself, or what its file holds; files keep secrets out of the environment. */
export function readSecret(environment: Record<string, string | undefined>, name: string): string | undefined {
  const value = environment[name]?.trim() || undefined
  const file = environment[`${name}_FILE`]?.trim() || undefined
  if (file === undefined) return value
  if (value !== undefined) throw new ConfigError(`${name} and ${name}_FILE are both set; one must go.`)
  return readSecretFile(`${name}_FILE`, file)
}

/** One line of text, without the line end that editors add. */
function readSecretFile(name: string, file: string): string {
  let text: string
  try {
    text = readFileSync(file, 'utf8').trim()
  } catch (error) {
    throw new ConfigError(`${name} names ${file}, which cannot be read (${(error as { code?: string }).code}).`)
  }
  if (text === '') throw new ConfigError(`${name} names ${file}, which is empty.`)
  return text
}

/** Addresses and networks (10.0.0.0/8), separated by commas or spaces. */
function readProxies(text: string | undefined): Network[] | undefined {
  if (text === undefined) return undefined
  const parts = text.split(/[\s,]+/).filter((part) => part !== '')
  return parts.map((written) => {
    const [address = '', prefix, ...rest] = written.split('/')
    const version = isIP(address)
    const longest = version === 4 ? 32 : 128
    const bits = prefix === undefined ? longest : /^\d{1,3}$/.test(prefix) ? Number(prefix) : Number.NaN
    if (version === 0 || rest.length > 0 || !(bits <= longest)) {
      throw new ConfigError(`FORECOURT_TRUSTED_PROXIES holds "${written}", which is neither an address nor a network.`)
    }
    return { address, bits, family: version === 4 ? 'ipv4' : 'ipv6' }
  })
}

function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name })
    return true
  } catch {
    return false
  }
}
