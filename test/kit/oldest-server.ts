import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import postgres from 'postgres'
import { serverUser } from '../../src/embedded/user.ts'
import { oldestPostgres } from './database.ts'
import { becomesTrue } from './waits.ts'

/**
 * A server of the oldest supported PostgreSQL, as Debian installs it, on a separate socket, with one empty database.
 */
export class OldestServer {
  readonly url: string
  private readonly process: ChildProcess

  private constructor(folder: string, process: ChildProcess) {
    this.url = `postgres://forecourt@localhost/postgres?host=${encodeURIComponent(folder)}`
    this.process = process
  }

  /**
   * `more`: settings of the server, each as `name=value`. To use another port, give it as `port` and as a setting. `env`
   * is added to the server's environment.
   */
  static async start(
    folder: string,
    more: readonly string[] = [],
    port = 5432,
    env: Record<string, string> = {},
  ): Promise<OldestServer> {
    mkdirSync(folder)
    const user = serverUser()
    const options = { cwd: folder, ...(user && { uid: user.uid, gid: user.gid }) }
    if (user !== undefined) chownSync(folder, user.uid, user.gid)
    const cluster = join(folder, 'cluster')
    const initdb = ['-D', cluster, '-U', 'forecourt', '-A', 'trust', '-E', 'UTF8', '--no-locale', '--no-sync']
    const made = spawnSync(join(oldestPostgres, 'initdb'), initdb, { ...options, encoding: 'utf8' })
    if (made.status !== 0) throw new Error(made.stderr)
    const settings = ['-D', cluster, '-k', folder, '-c', 'listen_addresses=', '-c', 'fsync=off']
    for (const setting of more) settings.push('-c', setting)
    const child = spawn(join(oldestPostgres, 'postgres'), settings, {
      ...options,
      env: { ...process.env, ...env },
      stdio: 'ignore',
    })
    const server = new OldestServer(folder, child)
    const sql = postgres({ host: folder, port, user: 'forecourt', database: 'postgres', max: 1, onnotice: () => {} })
    const answers = () => sql`select 1`.then(() => true).catch(() => false)
    if (!(await becomesTrue(answers))) throw new Error('the server does not answer')
    await sql.end()
    return server
  }

  async stop(): Promise<void> {
    this.process.kill('SIGINT')
    await once(this.process, 'exit')
  }
}
