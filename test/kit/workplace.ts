import { chmodSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findProcess, goneWithin, type ProcessId, signal } from '../../src/embedded/processes.ts'
import { Cluster, coordinatorUrl } from '../citus/cluster.ts'
import { Client } from './client.ts'
import { databaseProcesses, embeddedConnection, OwnDatabase, prepareDatabase } from './database.ts'
import { onDisk } from './folders.ts'
import { type Service, type ServiceOptions, startService } from './service.ts'
import { newSharedDatabase } from './shared-server.ts'

/**
 * The folder of a test file's processes. All data folders are below `home`, by which the processes are found and ended,
 * even after a failure. Its path is short because the path of a socket must be, and readable for all because PostgreSQL
 * runs as another user.
 */
export class Workplace {
  readonly home: string
  private readonly isOnDisk: boolean
  private folders = 0
  private cluster: Cluster | undefined

  constructor(parent = tmpdir()) {
    this.home = realpathSync(mkdtempSync(join(parent, 'fc-')))
    chmodSync(this.home, 0o755)
    this.isOnDisk = parent === onDisk
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

  /** Starts a service, and returns it with a client. */
  async start(options: ServiceOptions = {}): Promise<{ service: Service; client: Client }> {
    const service = await this.startService(options)
    return { service, client: new Client(service) }
  }

  /**
   * A database for tests that do not stop it: distributed if a Citus coordinator is given; otherwise on the server that
   * the files share, unless it is to be on a disk.
   */
  async findDatabase(): Promise<OwnDatabase> {
    if (coordinatorUrl === undefined) return this.isOnDisk ? this.startDatabase() : newSharedDatabase()
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
