import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { chownSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import postgres from 'postgres'
import { postgresProcessesIn, signal } from '../../src/embedded/processes.ts'
import { serverUser } from '../../src/embedded/user.ts'
import { oldestPostgres } from './database.ts'
import { becomesTrue } from './waits.ts'

const user = serverUser()
const identity = user === undefined ? {} : { uid: user.uid, gid: user.gid }

function run(program: string, args: string[], cwd: string): void {
  const { status, stderr } = spawnSync(join(oldestPostgres, program), args, { ...identity, cwd, encoding: 'utf8' })
  if (status !== 0) throw new Error(`${program}: ${stderr}`)
}

export async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  await new Promise((resolve) => server.close(resolve))
  return port
}

/** One server of a pair, on a port of this machine. */
export class Host {
  readonly port: number
  readonly name: string
  private readonly home: string
  private process: ChildProcess | undefined

  private constructor(home: string, name: string, port: number) {
    this.home = home
    this.name = name
    this.port = port
  }

  static async at(home: string, name: string): Promise<Host> {
    mkdirSync(home, { recursive: true })
    if (user !== undefined) chownSync(home, user.uid, user.gid)
    return new Host(home, name, await freePort())
  }

  private get cluster(): string {
    return join(this.home, this.name)
  }

  /** Creates an empty cluster, whose commits wait for no other server. */
  initialize(): void {
    const options = ['-D', this.cluster, '-U', 'forecourt', '-A', 'trust', '-E', 'UTF8', '--no-locale', '--no-sync']
    run('initdb', options, this.home)
    this.configure()
  }

  /** Makes this host the standby of a running one; its earlier data are removed. */
  follow(primary: Host): void {
    rmSync(this.cluster, { recursive: true, force: true })
    const from = `host=127.0.0.1 port=${primary.port} user=forecourt application_name=${this.name}`
    run('pg_basebackup', ['-D', this.cluster, '-d', from, '-R', '-X', 'stream', '-c', 'fast'], this.home)
    this.configure()
  }

  private configure(): void {
    const lines = [
      `port = ${this.port}`,
      `listen_addresses = '127.0.0.1'`,
      `unix_socket_directories = '${this.home}'`,
      'max_connections = 200',
      'wal_level = replica',
      'hot_standby = on',
      // The test kills processes, not machines, so writes need not reach the disk.
      'fsync = off',
    ]
    writeFileSync(join(this.cluster, 'postgresql.auto.conf'), '', { flag: 'a' })
    writeFileSync(join(this.cluster, 'pair.conf'), `${lines.join('\n')}\n`)
    writeFileSync(join(this.cluster, 'postgresql.conf'), `include 'pair.conf'\n`)
  }

  async start(): Promise<void> {
    this.process = spawn(join(oldestPostgres, 'postgres'), ['-D', this.cluster], {
      ...identity,
      cwd: this.home,
      stdio: 'ignore',
    })
    const isUp = () =>
      this.ask((sql) => sql`select 1`).then(
        () => true,
        () => false,
      )
    if (!(await becomesTrue(isUp))) throw new Error(`${this.name} does not start`)
  }

  /** Sends a signal to the server and its helper processes. */
  signalAll(name: NodeJS.Signals): void {
    for (const one of postgresProcessesIn(this.cluster)) signal(one, name)
  }

  /** Kills the server and its helper processes, as a power cut does. */
  async kill(): Promise<void> {
    const ended = new Promise((resolve) => this.process?.once('exit', resolve))
    this.signalAll('SIGKILL')
    await ended
  }

  /** Promotes this standby; its commits wait for no other server. */
  promote(): void {
    run('pg_ctl', ['promote', '-D', this.cluster, '-s'], this.home)
  }

  /** From now on, this host's commits wait for that standby, which must follow it. */
  async waitFor(standby: Host): Promise<void> {
    writeFileSync(join(this.cluster, 'pair.conf'), `synchronous_standby_names = '${standby.name}'\n`, { flag: 'a' })
    run('pg_ctl', ['reload', '-D', this.cluster, '-s'], this.home)
    const isSynchronous = async () => {
      const [row] = await this.ask((sql) => sql`select sync_state from pg_stat_replication`)
      return row?.sync_state === 'sync'
    }
    if (!(await becomesTrue(isSynchronous))) throw new Error(`${standby.name} does not follow`)
    // Commits wait from when the checkpointer has read the setting, and within a checkpoint it may not.
    await this.ask((sql) => sql`checkpoint`)
  }

  async ask<Rows>(use: (sql: postgres.Sql) => Promise<Rows>): Promise<Rows> {
    const sql = postgres({
      host: '127.0.0.1',
      port: this.port,
      user: 'forecourt',
      database: 'postgres',
      max: 1,
      connect_timeout: 5,
      onnotice: () => {},
    })
    try {
      return await use(sql)
    } finally {
      await sql.end({ timeout: 1 })
    }
  }
}

/** Starts a primary and its synchronous standby. */
export async function startPair(home: string): Promise<{ primary: Host; standby: Host }> {
  const [primary, standby] = await Promise.all([Host.at(home, 'one'), Host.at(home, 'two')])
  primary.initialize()
  await primary.start()
  standby.follow(primary)
  await standby.start()
  await primary.waitFor(standby)
  return { primary, standby }
}
