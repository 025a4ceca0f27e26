import { randomInt } from 'node:crypto'
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import postgres from 'postgres'
import { type EmbeddedDatabase, startEmbeddedDatabase } from '../../src/embedded/embedded.ts'
import { findProcess, goneWithin, type ProcessId, postgresProcessesIn, signal } from '../../src/embedded/processes.ts'
import { Cluster, coordinatorUrl } from '../citus/cluster.ts'
import { prepareDatabase, type Service, type ServiceOptions, startService } from '../harness.ts'

/** FORECOURT_TEST_SEED repeats a run's random choices, though not the machine's timing. */
export const seed = Number(process.env.FORECOURT_TEST_SEED ?? randomInt(2 ** 31))

/** Whether this is the long run, `npm run test:long`, where tests may take any time. */
export const isLong = process.env.FORECOURT_TEST_LONG !== undefined

/** Chooses between a value for the short run, which checks every change, and one for the long run. */
export function atScale<T>(inGate: T, full: T): T {
  return isLong ? full : inGate
}

/** Random numbers from 0 to 1 that the seed determines (mulberry32). */
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

/** Waits until a moment of the machine's clock, if that is not past. */
export function sleepUntil(moment: number): Promise<void> {
  return sleep(Math.max(0, moment - Date.now()))
}

/**
 * Waits for a random time, because what follows may happen at any moment. Returns how many milliseconds it has waited.
 */
export async function anyMoment(random: () => number, withinMs: number, notBeforeMs = 0): Promise<number> {
  const waitedMs = notBeforeMs + random() * withinMs
  await sleep(waitedMs)
  return waitedMs
}

/** Stops a process for some time, as a machine does that has no time for it; `send` sends it a signal. */
export async function standStill(send: (name: 'SIGSTOP' | 'SIGCONT') => unknown, milliseconds: number): Promise<void> {
  send('SIGSTOP')
  await sleep(milliseconds)
  send('SIGCONT')
}

/**
 * Does something again and again until it is stopped, in several loops at once. The pause leaves processor time to what
 * is tested.
 */
export function load(
  act: (loop: number) => Promise<unknown>,
  { loops = 1, pauseMs = 0 } = {},
): { stop(): Promise<void> } {
  let isRunning = true
  const all = Array.from({ length: loops }, async (_, loop) => {
    while (isRunning) {
      await act(loop)
      if (pauseMs > 0) await sleep(pauseMs)
    }
  })
  return {
    async stop() {
      isRunning = false
      await Promise.all(all)
    },
  }
}

/** Waits until PostgreSQL shows what its sessions have done: each reports its statistics a second later. */
export function statisticsAreIn(): Promise<void> {
  return sleep(1500)
}

/** Prints a measured result. */
export function tell(line: string): void {
  process.stdout.write(`    ${line}\n`)
}

/** The median, p99 and maximum of some durations, as text. */
export function distribution(milliseconds: number[]): string {
  const sorted = milliseconds.toSorted((a, b) => a - b)
  const at = (share: number) => (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0).toFixed(1)
  return `median ${at(0.5)} ms, p99 ${at(0.99)} ms, max ${at(1)} ms`
}

/** A folder on a real disk, where a commit takes time, so that a kill can interrupt it. */
export const onDisk = '/var/tmp'

/**
 * Calls `look` until it returns true, with growing pauses. Returns false if that takes longer than `withinMs`; the
 * default is long, for conditions without a promised time.
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

/** As `becomesTrue`, for a value that becomes the wanted one. Returns the last value, for the test to compare. */
export async function becomes<Value>(
  wanted: Value,
  read: () => Value | Promise<Value>,
  withinMs?: number,
): Promise<Value | undefined> {
  let last: Value | undefined
  await becomesTrue(async () => {
    last = await read()
    return isDeepStrictEqual(last, wanted)
  }, withinMs)
  return last
}

/** How long a process remembers what a caller may do: what another process changes is in force by then. */
export const rememberedMs = 1000

/**
 * Whether a condition holds for the whole time. For an event that must not happen, when no later signal shows that it
 * can no longer happen.
 */
export async function staysTrue(look: () => boolean | Promise<boolean>, forMs: number): Promise<boolean> {
  const end = performance.now() + forMs
  while (await look()) {
    if (performance.now() > end) return true
    await sleep(20)
  }
  return false
}

/** Repeats a call while the rate limit refuses it (10007). */
export async function untilAdmitted<Answered extends { code: number }>(
  call: () => Promise<Answered>,
  pauseMs = 5,
): Promise<Answered> {
  let answer = await call()
  for (; answer.code === 10007; answer = await call()) await sleep(pauseMs)
  return answer
}

export type Connection = EmbeddedDatabase['connection']

/** Runs statements over a separate connection, past the service. */
export async function withSql<T>(connection: Connection, use: (sql: postgres.Sql) => Promise<T>): Promise<T> {
  const sql = postgres({ ...connection, max: 1, onnotice: () => {}, types: { bigint: idsAsNumbers } })
  try {
    return await use(sql)
  } finally {
    await sql.end({ timeout: 1 })
  }
}

const idsAsNumbers = { to: 20, from: [20], serialize: String, parse: Number }

/** The connection of a service's embedded database, as its data folder records it. */
export function embeddedConnection(dataDir: string): Connection & { cluster: string } {
  const { cluster, socketDir, port, user, password } = JSON.parse(readFileSync(join(dataDir, 'embedded.json'), 'utf8'))
  return { host: socketDir, port, user, password, database: 'forecourt', cluster: resolve(dataDir, cluster) }
}

/** The processes of a data folder's embedded database, the server first. */
export function databaseProcesses(dataDir: string): ProcessId[] {
  if (!existsSync(join(dataDir, 'embedded.json'))) return []
  return postgresProcessesIn(embeddedConnection(dataDir).cluster).toSorted((a, b) => a.pid - b.pid)
}

/** The process id of the server of a data folder's embedded database. */
export function postmasterPid(dataDir: string): number {
  return Number.parseInt(readFileSync(join(embeddedConnection(dataDir).cluster, 'postmaster.pid'), 'utf8'), 10)
}

/** A database that a test starts, kills and starts again, apart from the service. */
export class OwnDatabase {
  readonly dataDir: string
  /** The URL of a database that the test must not stop, if it was given one. */
  private readonly given: string | undefined
  private handle: EmbeddedDatabase | undefined

  constructor(dataDir: string, given?: string) {
    this.dataDir = dataDir
    this.given = given
  }

  async start(): Promise<this> {
    prepareDatabase(this.dataDir)
    // Enough connections for several services, each of which may be several processes.
    const processes = 3 * Number(process.env.FORECOURT_TEST_WORKERS ?? 1)
    const { constrainedMemory } = process
    // As in the bundle: before its start, PostgreSQL prepares all the shared buffers that the memory allows.
    if (process.env.FORECOURT_TEST_BUNDLE !== undefined) process.constrainedMemory = () => 512 * 1024 ** 2
    try {
      this.handle = await startEmbeddedDatabase(this.dataDir, () => {}, { processes })
    } finally {
      process.constrainedMemory = constrainedMemory
    }
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

  /** A DATABASE_URL for one of the server's databases. */
  url(database = this.connection.database): string {
    if (this.given !== undefined) return this.given
    const { host, port, user, password } = this.connection
    return `postgres://${user}:${password}@localhost/${database}?host=${encodeURIComponent(host)}&port=${port}`
  }

  /** The server and its helper processes. */
  processes(): ProcessId[] {
    return databaseProcesses(this.dataDir)
  }

  signalAll(name: NodeJS.Signals): void {
    for (const one of this.processes()) signal(one, name)
  }

  run<T>(use: (sql: postgres.Sql) => Promise<T>): Promise<T> {
    return withSql(this.connection, use)
  }

  /** How many sessions wait for a lock. On a cluster a node waits, which this does not show. */
  countWaiting(): Promise<number> {
    return this.run(async (sql) => {
      const [row] = await sql<[{ waiting: number }]>`
        select count(*)::int as waiting from pg_stat_activity
        where wait_event_type = 'Lock' and datname = current_database()`
      return row.waiting
    })
  }
}

/**
 * The folder of a test file's processes. All data folders are below `home`, by which the processes are found and ended,
 * even after a failure. Its path is short because the path of a socket must be, and readable for all because PostgreSQL
 * runs as another user.
 */
export class Workplace {
  readonly home: string
  private folders = 0
  private cluster: Cluster | undefined

  constructor(parent = tmpdir()) {
    this.home = realpathSync(mkdtempSync(join(parent, 'fc-')))
    chmodSync(this.home, 0o755)
  }

  /** The path of a data folder that does not exist yet. */
  newFolder(): string {
    this.folders++
    return join(this.home, `d${this.folders}`)
  }

  /** The path of a data folder with a prepared database, for tests that do not test its creation. */
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

  /** A database for tests that do not stop it: distributed if a Citus coordinator is given, otherwise embedded. */
  async findDatabase(): Promise<OwnDatabase> {
    if (coordinatorUrl === undefined) return this.startDatabase()
    this.cluster ??= await Cluster.find()
    return new OwnDatabase(this.newFolder(), await this.cluster.newDistributed())
  }

  startDatabase(): Promise<OwnDatabase> {
    return new OwnDatabase(this.newFolder()).start()
  }

  /** The running services with a data folder below `home`. */
  services(): ProcessId[] {
    return readdirSync('/proc')
      .map(Number)
      .filter(
        (pid) => pid > 0 && pid !== process.pid && told(pid, 'environ').includes(`FORECOURT_DATA_DIR=${this.home}/`),
      )
      .flatMap((pid) => findProcess(pid) ?? [])
  }

  /** The workers of a service: its child processes that serve. */
  workersOf(service: Service): number[] {
    const isWorker = (pid: number) =>
      told(pid, 'cmdline').includes('worker.') && told(pid, 'status').includes(`PPid:\t${service.process.pid}\n`)
    return this.services()
      .map(({ pid }) => pid)
      .filter(isWorker)
  }

  /** Ends all processes and removes the folder. */
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

/** What the system tells of a process; nothing of one that has ended. */
function told(pid: number, what: 'environ' | 'cmdline' | 'status'): string {
  try {
    return readFileSync(`/proc/${pid}/${what}`, 'utf8')
  } catch {
    return ''
  }
}
