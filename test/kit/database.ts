import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import postgres from 'postgres'
import { Database } from '../../src/database/database.ts'
import { prepareSchema } from '../../src/database/start.ts'
import { type EmbeddedDatabase, startEmbeddedDatabase } from '../../src/embedded/embedded.ts'
import { type ProcessId, postgresProcessesIn, signal } from '../../src/embedded/processes.ts'
import { newDataDir, projectFolder } from './folders.ts'
import { sleep } from './waits.ts'

/** Creates a data folder whose database has the schema and no rows, for `prepareDatabase` to copy. */
export async function makeTemplate(): Promise<string> {
  const dataDir = join(newDataDir(), 'database')
  const embedded = await startEmbeddedDatabase(dataDir)
  await makeSchema(embedded.connection)
  await embedded.stop()
  return dataDir
}

/** Migrates a database, as the start of a service does. */
export async function makeSchema(target: Connection): Promise<void> {
  const database = new Database(target, 60_000)
  await prepareSchema(database.open(2), {
    target,
    openAlone: () => database.open(1),
    migrationsFolder: join(projectFolder, 'migrations'),
    install: async () => {},
    log: { info() {} },
  })
  await database.close()
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

/** The programs of PostgreSQL 15, the oldest supported version, as Debian installs them. */
export const oldestPostgres = '/usr/lib/postgresql/15/bin'

export const hasOldestPostgres = existsSync(join(oldestPostgres, 'initdb'))

/** Waits until PostgreSQL shows what its sessions have done: each reports its statistics a second later. */
export function statisticsAreIn(): Promise<void> {
  return sleep(1500)
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
  /** The URL of a database of a cluster, or the place of one that files share; the test must not stop them. */
  private readonly given: string | Connection | undefined
  private handle: EmbeddedDatabase | undefined

  constructor(dataDir: string, given?: string | Connection) {
    this.dataDir = dataDir
    this.given = given
  }

  /** With enough connections for so many services, each of which may be several processes. */
  async start(services = 3): Promise<this> {
    prepareDatabase(this.dataDir)
    const processes = services * Number(process.env.FORECOURT_TEST_WORKERS ?? 1)
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
    if (typeof this.given === 'object') return this.given
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
    if (typeof this.given === 'string') return this.given
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

  /** Runs one statement. */
  sql<Rows extends readonly (object | undefined)[] = postgres.Row[]>(
    statement: TemplateStringsArray,
    ...values: readonly postgres.ParameterOrFragment<number>[]
  ): Promise<postgres.RowList<Rows>> {
    return this.run(async (sql) => await sql<Rows>(statement, ...(values as never[])))
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

  /** How many deadlocks the database has resolved, as far as its sessions have reported them. */
  countDeadlocks(): Promise<number> {
    return this.run(async (sql) => {
      const [row] = await sql<[{ deadlocks: number }]>`
        select deadlocks::int as deadlocks from pg_stat_database where datname = current_database()`
      return row.deadlocks
    })
  }
}

/** The embedded database of a service, by its data folder. */
export const databaseIn = (dataDir: string) => new OwnDatabase(dataDir, embeddedConnection(dataDir))
