import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createApplication, takeApplicationOffline } from '../src/applications/contract.ts'
import { issueToken } from '../src/applications/tokens/contract.ts'
import { Database } from '../src/database/database.ts'
import { prepareSchema } from '../src/database/start.ts'
import type { DeviceRegistration } from '../src/devices/contract.ts'
import { startEmbeddedDatabase } from '../src/embedded/embedded.ts'
import type { SiteRegistration } from '../src/sites/contract.ts'
import type { Operation } from '../src/vocabulary/operation.ts'
import { contractOf, type DataOf, type OperationId } from './contracts.ts'
import { expectPublished } from './published.ts'

export const projectFolder = join(import.meta.dirname, '..')
const bun = join(projectFolder, 'node_modules', '.bin', 'bun')

export interface ServiceOptions {
  /**
   * `bun` runs the source, or the bundle that scripts/test.ts has built of it (FORECOURT_TEST_BUNDLE); `node` runs
   * dist/. Default: FORECOURT_TEST_RUNTIME, else bun.
   */
  runtime?: 'bun' | 'node'
  /** How many files the service may open. Default: the limit of this process. */
  openFiles?: number
  /** Environment variables besides the port, the data folder and the operator key. */
  env?: Record<string, string>
  /** Runs the source on Bun, even where a build exists. */
  isFromSource?: boolean
  /** Path of another checkout, to compare with this one. */
  checkout?: string
  /** An existing data folder. Default: a new folder that is removed at the end. */
  dataDir?: string
  /** Called with everything that the service writes to standard error, also before it is ready. */
  onStderr?: (words: string) => void
}

export interface Service {
  url: string
  operatorKey: string
  dataDir: string
  process: ChildProcess
  /** Everything written to standard output so far. */
  stdout(): string
  stderr(): string
  /** Sends SIGTERM; resolves with the exit code. */
  stop(): Promise<number | null>
  /** Sends a signal to the service's own process and waits for its end. */
  kill(signal: NodeJS.Signals): Promise<void>
}

export interface Ended {
  code: number | null
  stdout: string
  stderr: string
}

/** Starts a real service on a free port; rejects with its output when it ends before it is ready. */
export async function startService(options: ServiceOptions = {}): Promise<Service> {
  const started = spawnService(options)
  const { child, dataDir, operatorKey, output } = started
  const url = await new Promise<string>((resolve, reject) => {
    const look = () => {
      const ready = /^Forecourt is ready at (\S+)$/m.exec(output.stdout)
      if (ready?.[1] !== undefined) resolve(ready[1])
    }
    child.stdout?.on('data', look)
    child.once('exit', (code) => reject(new Error(`the service ended with ${code}: ${output.stderr}`)))
    setTimeout(() => reject(new Error(`the service is not ready: ${output.stderr}`)), 60_000).unref()
  })
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve))
  const removeFolder = () => {
    if (options.dataDir === undefined) rmSync(dataDir, { recursive: true, force: true })
  }
  return {
    url,
    operatorKey,
    dataDir,
    process: child,
    stdout: () => output.stdout,
    stderr: () => output.stderr,
    async stop() {
      child.kill('SIGTERM')
      const code = await ended
      removeFolder()
      return code
    },
    async kill(signal) {
      child.kill(signal)
      await ended
    },
  }
}

/** Runs a service that is expected to end by itself. */
export async function runServiceToItsEnd(options: ServiceOptions = {}): Promise<Ended> {
  const { child, output } = spawnService(options)
  const code = await new Promise<number | null>((resolve) => child.once('exit', resolve))
  return { code, ...output }
}

function spawnService(options: ServiceOptions) {
  const runtime = options.runtime ?? (process.env.FORECOURT_TEST_RUNTIME === 'node' ? 'node' : 'bun')
  const dataDir = options.dataDir ?? newDataDir()
  const checkout = options.checkout ?? projectFolder
  if (options.dataDir === undefined && options.env?.DATABASE_URL === undefined) prepareDatabase(dataDir)
  const operatorKey = options.env?.FORECOURT_OPERATOR_KEY ?? randomBytes(24).toString('hex')
  const source = join(checkout, 'src', 'main.ts')
  const bundle = checkout === projectFolder && options.isFromSource !== true && process.env.FORECOURT_TEST_BUNDLE
  const [command, ...args] = runtime === 'node' ? ['node', join(checkout, 'dist', 'main.js')] : [bun, bundle || source]
  const environment: Record<string, string | undefined> = {
    ...process.env,
    // The same value as `npm start` sets.
    BUN_JSC_forceRAMSize: '536870912',
    FORECOURT_HOST: '127.0.0.1',
    FORECOURT_PORT: '0',
    FORECOURT_DATA_DIR: dataDir,
    FORECOURT_OPERATOR_KEY: operatorKey,
    FORECOURT_LOG_LEVEL: 'warn',
    FORECOURT_WORKERS: process.env.FORECOURT_TEST_WORKERS,
    DATABASE_URL: undefined,
    // Services that share a database need the same key for its secrets: the caller passes it in `env`.
    ...options.env,
  }
  const limited = ['-c', `ulimit -n ${options.openFiles} && exec "$@"`, 'sh', command as string, ...args]
  const [program, rest] = options.openFiles === undefined ? [command as string, args] : ['sh', limited]
  const child = spawn(program, rest, {
    env: environment as NodeJS.ProcessEnv,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const output = { stdout: '', stderr: '' }
  child.stdout?.on('data', (piece) => {
    output.stdout += piece
  })
  child.stderr?.on('data', (piece) => {
    output.stderr += piece
    options.onStderr?.(output.stderr)
  })
  return { child, dataDir, operatorKey, output }
}

/** Creates a data folder whose database has the schema and no rows, for `prepareDatabase` to copy. */
export async function makeTemplate(): Promise<string> {
  const dataDir = join(newDataDir(), 'database')
  const embedded = await startEmbeddedDatabase(dataDir)
  const target = embedded.connection
  const database = new Database(target, 60_000)
  await prepareSchema(database.open(2), {
    target,
    openAlone: () => database.open(1),
    migrationsFolder: join(projectFolder, 'migrations'),
    install: async () => {},
    log: { info() {} },
  })
  await database.close()
  await embedded.stop()
  return dataDir
}

/**
 * Copies the database that scripts/test.ts has created into a new data folder: creating a database takes more processor
 * time than the rest of a start. Nothing is copied for a test file that is run by itself, and tests of the first start
 * do without it.
 */
export function prepareDatabase(dataDir: string): void {
  const template = process.env.FORECOURT_TEST_DATABASE
  if (template === undefined || existsSync(join(dataDir, 'embedded.json'))) return
  mkdirSync(dataDir, { recursive: true })
  const { status, stderr } = spawnSync('cp', ['-a', '--reflink=auto', `${template}/.`, dataDir], { encoding: 'utf8' })
  if (status !== 0) throw new Error(stderr)
  const path = join(dataDir, 'embedded.json')
  const record = JSON.parse(readFileSync(path, 'utf8'))
  writeFileSync(path, JSON.stringify({ ...record, socketDir: join(dataDir, record.cluster) }))
}

/** A new data folder that the user who runs the embedded database can reach. */
export function newDataDir(): string {
  const folder = mkdtempSync(join(tmpdir(), 'forecourt-test-'))
  chmodSync(folder, 0o755)
  return folder
}

export interface Answer<Data> {
  status: number
  headers: Headers
  code: number
  msg: string
  data: Data
  /** The whole body as text. */
  text: string
}

export interface CallOptions {
  token?: string | undefined
  headers?: Record<string, string>
}

/** The data of a refusal, for tests that check it. */
export interface Faults {
  errors: { field: string; reason: string }[]
}

/** Calls operations over HTTP, by their IDs or contracts. */
export class Client {
  readonly url: string
  readonly operatorKey: string

  constructor(service: { url: string; operatorKey: string }) {
    this.url = service.url
    this.operatorKey = service.operatorKey
  }

  /**
   * Sends `input` as the body of a POST or as the query of a GET; for an operation that uploads a file, sends
   * `input.file` as the body. Returns the response, whatever its status.
   */
  async call<Called extends OperationId | Operation>(
    called: Called,
    input: unknown,
    options: CallOptions = {},
  ): Promise<Answer<DataOf<Called>>> {
    const operation = contractOf(called)
    const { method, path } = operation
    const headers: Record<string, string> = { ...options.headers }
    if (options.token !== undefined) headers.authorization = `Bearer ${options.token}`
    if (method === 'GET') {
      const query = new URLSearchParams(input as Record<string, string>).toString()
      return this.send(query === '' ? path : `${path}?${query}`, { method, headers })
    }
    if (operation.takes !== undefined) {
      const { file = '', ...asked } = input as { file?: RequestInit['body'] }
      headers['content-type'] ??= operation.takes[0] as string
      const query = new URLSearchParams(asked as Record<string, string>)
      return this.send(`${path}?${query}`, { method, headers, body: file })
    }
    headers['content-type'] ??= 'application/json'
    return this.send(path, { method, headers, body: typeof input === 'string' ? input : JSON.stringify(input) })
  }

  /** As `call`, with the operator key. */
  operate<Called extends OperationId | Operation>(
    called: Called,
    input: unknown,
    options: CallOptions = {},
  ): Promise<Answer<DataOf<Called>>> {
    return this.call(called, input, { token: this.operatorKey, ...options })
  }

  /**
   * Sends any request and parses the response's envelope, if it has one. Throws when openapi.json describes the request
   * or response differently.
   */
  async send<Data>(path: string, request: RequestInit): Promise<Answer<Data>> {
    const response = await fetch(this.url + path, { redirect: 'manual', ...request })
    const text = await textOf(response)
    const { status, headers } = response
    const { method = 'GET', body } = request
    // Only in tests: the benchmarks use this client too, and the checks would distort their times.
    if (process.env.NODE_ENV === 'test')
      expectPublished({
        method,
        path,
        requestHeaders: new Headers(request.headers),
        requestBody: body,
        status,
        headers,
        text,
      })
    const envelope = headers.get('content-type')?.startsWith('application/json') ? JSON.parse(text) : {}
    return { status, headers, text, ...envelope }
  }
}

/** The body as text; of a stream, which has no end, its first blocks. */
async function textOf(response: Response): Promise<string> {
  if (!response.headers.get('content-type')?.startsWith('text/event-stream')) return response.text()
  for await (const piece of response.body ?? []) return new TextDecoder().decode(piece)
  return ''
}

export interface TestApplication {
  appId: string
  appSecret: string
  token: string
}

/** Creates an application for one test: configured, without a rate limit, with a token. */
export async function newApplication(client: Client, members: Record<string, unknown> = {}): Promise<TestApplication> {
  const body = {
    appName: 'test',
    rateLimitPerSecond: null,
    thirdPartyConfig: { operatorName: 'Test operator' },
    ...members,
  }
  const created = await despiteLoad(() => client.operate(createApplication, body))
  if (created.code !== 0) throw new Error(`no application: ${created.text}`)
  const { appId } = created.data
  const appSecret = shownSecret(created.data.appSecret)
  return { appId, appSecret, token: await newToken(client, appId, appSecret) }
}

/** The secret in the response that created the application; throws when it is null. */
export function shownSecret(appSecret: string | null): string {
  if (appSecret === null) throw new Error('the secret is not shown')
  return appSecret
}

export async function newToken(client: Client, appId: string, appSecret: string): Promise<string> {
  const body = { grant_type: 'client_credentials', client_id: appId, client_secret: appSecret }
  const issued = await despiteLoad(() => client.call(issueToken, body))
  if (issued.code !== 0) throw new Error(`no token: ${issued.text}`)
  return issued.data.accessToken
}

/** Repeats a call that an overloaded service refused with 50003, so that a busy machine fails no test in its setup. */
export async function despiteLoad<Data>(ask: () => Promise<Answer<Data>>): Promise<Answer<Data>> {
  for (let tries = 1; ; tries++) {
    const answer = await ask()
    if (answer.code !== 50003 || tries === 30) return answer
    await new Promise((resolve) => setTimeout(resolve, 500))
  }
}

export async function takeOffline(client: Client, appId: string): Promise<void> {
  const answer = await client.operate(takeApplicationOffline, { appId })
  if (answer.code !== 0) throw new Error(`not offline: ${answer.text}`)
}

/** A serial number that no other test uses. */
export function newSerial(prefix = 'SN'): string {
  return `${prefix}-${randomBytes(9).toString('hex')}`
}

/** A body with every member of createDevice. */
export function deviceBody(appId: string, members: Record<string, unknown> = {}): DeviceRegistration {
  return {
    appId,
    deviceNo: newSerial(),
    deviceName: 'East gate barrier',
    tag: 'lane=1',
    provinceCode: '360000',
    cityCode: '360100',
    districtCode: '360102',
    detailAddress: 'No. 1 Yangming Road',
    coordinates: '115.899918,28.676493',
    ...members,
  }
}

/** A body with every member that createSite requires, and some more. */
export function siteBody(appId: string, members: Record<string, unknown> = {}): SiteRegistration {
  return {
    appId,
    siteName: 'Riverside charging park',
    contacts: 'Wang Fang',
    contactsPhone: '13800000000',
    customerServicePhone: '4000000000',
    businessWeekDay: 'Monday to Sunday',
    businessStartTime: '08:00:00',
    businessClosingTime: '22:00:00',
    provinceCode: '360000',
    provinceName: '江西省',
    cityCode: '360100',
    cityName: '南昌市',
    districtCode: '360102',
    districtName: '东湖区',
    ...members,
  }
}

/** The programs of PostgreSQL 15, the oldest supported version, as Debian installs them. */
export const oldestPostgres = '/usr/lib/postgresql/15/bin'
export const hasOldestPostgres = existsSync(join(oldestPostgres, 'initdb'))

let shared: Promise<Service> | undefined

/**
 * The service that a test file calls. It is the deployment at FORECOURT_BASE_URL with FORECOURT_OPERATOR_KEY, when both
 * are set, so that these tests can check any deployment; else the service that scripts/test.ts started for all files;
 * else, when a file is run by itself, one that this process starts.
 */
export async function target(): Promise<Client> {
  const url = process.env.FORECOURT_BASE_URL
  const operatorKey = process.env.FORECOURT_OPERATOR_KEY
  if (url !== undefined && operatorKey !== undefined) return new Client({ url, operatorKey })
  const given = process.env.FORECOURT_TEST_TARGET
  if (given !== undefined) return new Client(JSON.parse(given))
  shared ??= startService()
  return new Client(await shared)
}

/** Stops the service that `target` started; the test runner's preload calls this after the last file. */
export async function stopTarget(): Promise<void> {
  if (shared !== undefined) await (await shared).stop()
}
