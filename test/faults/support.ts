import { randomInt } from 'node:crypto'
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import postgres from 'postgres'
import { type EmbeddedDatabase, startEmbeddedDatabase } from '../../src/embedded/embedded.ts'
import { findProcess, goneWithin, type ProcessId, postgresProcessesIn, signal } from '../../src/embedded/processes.ts'
import { Cluster, coordinatorUrl } from '../citus/cluster.ts'
import { prepareDatabase, type Service, type ServiceOptions, startService } from '../harness.ts'

/** FORECOURT_TEST_SEED repeats a run's choices, though not the machine's timing. */
export const seed = Number(process.env.FORECOURT_TEST_SEED ?? randomInt(2 ** 31))

/** Whether this is `npm run test:long`, where time is no matter. */
export const isLong = process.env.FORECOURT_TEST_LONG !== undefined

/** What a test does, or how often: in the gate, and in the long run. */
export function atScale<T>(inGate: T, full: T): T {
  return isLong ? full : inGate
}

/** Numbers from 0 to 1 that the seed decides (mulberry32). */
export function randomNumbers(start: number): () => number {
  let state = start | 0
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

export function sleep(milliseconds: number): Promise<void> {
  return new Promise((done) => setTimeout(done, milliseconds))
}

/** Prints what a test has measured. */
export function tell(line: string): void {
  process.stdout.write(`    ${line}\n`)
}

/** Median, p99 and maximum of some durations, for people. */
export function distribution(milliseconds: number[]): string {
  const sorted = milliseconds.toSorted((a, b) => a - b)
  const at = (share: number) => (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0).toFixed(1)
  return `median ${at(0.5)} ms, p99 ${at(0.99)} ms, max ${at(1)} ms`
}

/** Always a disk: there a commit takes its time, and a kill falls into it. */
export const onDisk = '/var/tmp'

/**
 * Polls until it is true, the more seldom the longer it lasts; false when it has not become so in time, which is long
 * where no promise names one.
 */
export async function becomesTrue(look: () => boolean | Promise<boolean>, withinMs = 60_000): Promise<boolean> {
  const began = performance.now()
  while (!(await look())) {
    const waited = performance.now() - began
    if (waited > withinMs) return false
    await sleep(Math.min(200, 10 + waited / 20))
  }
  return true
}

/** Whether a condition holds and goes on to hold for this long: for what must not happen, where no later signal tells. */
export async function staysTrue(look: () => boolean | Promise<boolean>, forMs: number): Promise<boolean> {
  const end = performance.now() + forMs
  while (await look()) {
    if (performance.now() > end) return true
    await sleep(20)
  }
  return false
}

/** Repeats a call that is refused for its rate (10007) until it is not. */
export async function untilAdmitted<Answered extends { code: number }>(
  call: () => Promise<Answered>,
  pauseMs = 5,
): Promise<Answered> {
  let answer = await call()
  for (; answer.code === 10007; answer = await call()) await sleep(pauseMs)
  return answer
}

export type Connection = EmbeddedDatabase['connection']

/** Runs statements on a connection of their own, around the service. */
export async function withSql<T>(connection: Connection, use: (sql: postgres.Sql) => Promise<T>): Promise<T> {
  const sql = postgres({ ...connection, max: 1, onnotice: () => {}, types: { bigint: idsAsNumbers } })
  try {
    return await use(sql)
  } finally {
    await sql.end({ timeout: 1 })
  }
}

const idsAsNumbers = { to: 20, from: [20], serialize: String, parse: Number }

/** What the service wrote down of its embedded database. */
export function embeddedConnection(dataDir: string): Connection & { cluster: string } {
  const { cluster, socketDir, port, user, password } = JSON.parse(readFileSync(join(dataDir, 'embedded.json'), 'utf8'))
  return { host: socketDir, port, user, password, database: 'forecourt', cluster: resolve(dataDir, cluster) }
}

/** The processes of a data folder's embedded database, the server first. */
export function databaseProcesses(dataDir: string): ProcessId[] {
  if (!existsSync(join(dataDir, 'embedded.json'))) return []
  return postgresProcessesIn(embeddedConnection(dataDir).cluster).toSorted((a, b) => a.pid - b.pid)
}

/** The server of a data folder's embedded database. */
export function postmasterPid(dataDir: string): number {
  return Number.parseInt(readFileSync(join(embeddedConnection(dataDir).cluster, 'postmaster.pid'), 'utf8'), 10)
}

/** A database that the test starts, kills and starts again, with the service outside. */
export class OwnDatabase {
  readonly dataDir: string
  /** The URL of a database that the tests were given and must not stop. */
  private readonly given: string | undefined
  private handle: EmbeddedDatabase | undefined

  constructor(dataDir: string, given?: string) {
    this.dataDir = dataDir
    this.given = given
  }

  async start(): Promise<this> {
    prepareDatabase(this.dataDir)
    // For several services, each of which may be several processes.
    const processes = 3 * Number(process.env.FORECOURT_TEST_WORKERS ?? 1)
    this.handle = await startEmbeddedDatabase(this.dataDir, () => {}, { processes })
    return this
  }

  async stop(): Promise<void> {
    await this.handle?.stop()
  }

  get connection(): Connection {
    if (this.given !== undefined) {
      const { hostname: host, port, username: user, password, pathname } = new URL(this.given)
      return { host, port: Number(port), user, password, database: pathname.slice(1) }
    }
    if (this.handle === undefined) throw new Error('the database was never started')
    return this.handle.connection
  }

  get pid(): number {
    return this.handle?.pid ?? 0
  }

  get isRunning(): boolean {
    return this.handle?.isRunning() ?? false
  }

  /** A DATABASE_URL. */
  url(database = this.connection.database): string {
    if (this.given !== undefined) return this.given
    const { host, port, user, password } = this.connection
    return `postgres://${user}:${password}@localhost/${database}?host=${encodeURIComponent(host)}&port=${port}`
  }

  /** The server and all that work for it. */
  processes(): ProcessId[] {
    return databaseProcesses(this.dataDir)
  }

  signalAll(name: NodeJS.Signals): void {
    for (const one of this.processes()) signal(one, name)
  }

  run<T>(use: (sql: postgres.Sql) => Promise<T>): Promise<T> {
    return withSql(this.connection, use)
  }
}

/**
 * The folder of a test file's processes: everything that it starts lies below `home`, by which all of it is found and
 * ended, even after a failure. Its path is short because a socket's must be, and open because PostgreSQL runs as
 * another user.
 */
export class Workplace {
  readonly home: string
  private folders = 0
  private cluster: Cluster | undefined

  constructor(parent = tmpdir()) {
    this.home = realpathSync(mkdtempSync(join(parent, 'fc-')))
    chmodSync(this.home, 0o755)
  }

  /** The path of a data folder that is not there yet. */
  newFolder(): string {
    this.folders++
    return join(this.home, `d${this.folders}`)
  }

  /** The path of a data folder whose database has been made: where making it is not what matters. */
  preparedFolder(): string {
    const dataDir = this.newFolder()
    prepareDatabase(dataDir)
    return dataDir
  }

  startService(options: ServiceOptions = {}): Promise<Service> {
    const isOnUrl = options.env?.DATABASE_URL !== undefined
    const dataDir = options.dataDir ?? (isOnUrl ? this.newFolder() : this.preparedFolder())
    return startService({ ...options, dataDir })
  }

  /** A database for tests that neither stop nor kill it: distributed where a Citus coordinator is named, else new. */
  async findDatabase(): Promise<OwnDatabase> {
    if (coordinatorUrl === undefined) return this.startDatabase()
    this.cluster ??= await Cluster.find()
    return new OwnDatabase(this.newFolder(), await this.cluster.newDistributed())
  }

  startDatabase(): Promise<OwnDatabase> {
    return new OwnDatabase(this.newFolder()).start()
  }

  /** Services that run with a data folder below `home`. */
  services(): ProcessId[] {
    return readdirSync('/proc')
      .map(Number)
      .filter(
        (pid) => pid > 0 && pid !== process.pid && environmentOf(pid).includes(`FORECOURT_DATA_DIR=${this.home}/`),
      )
      .flatMap((pid) => findProcess(pid) ?? [])
  }

  /** Ends everything and removes it. */
  async clear(): Promise<void> {
    await end(this.services())
    await this.cluster?.clear()
    const records = readdirSync(this.home, { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('embedded.json'))
      .map((path) => join(this.home, path, '..'))
    for (const dataDir of records) {
      await end(databaseProcesses(dataDir))
      rmSync(embeddedConnection(dataDir).cluster, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 })
    }
    rmSync(this.home, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 })
  }
}

/** Kills processes that this test run started. */
async function end(processes: ProcessId[]): Promise<void> {
  for (const one of processes) signal(one, 'SIGKILL')
  await Promise.all(processes.map((one) => goneWithin(one, 5000)))
}

function environmentOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'utf8')
  } catch {
    return ''
  }
}
