import { spawnSync } from 'node:child_process'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import postgres from 'postgres'
import { forecourt } from '../cli/support.ts'

/** The URL of a database on a Citus coordinator, if there is one for tests. Its user is a superuser on every node. */
export const coordinatorUrl = process.env.FORECOURT_TEST_DATABASE_URL

/** A node of the cluster. */
export interface Node {
  url: string
  /** The data folder of the node's PostgreSQL server. */
  dataDir: string
  programs: string
}

/** Settings of the workers that differ from the coordinator's wherever a difference could change a result. */
const ofWorkers = { TimeZone: 'Asia/Shanghai', DateStyle: 'German, DMY', extra_float_digits: '-3' }

/** The cluster at `coordinatorUrl`, and test databases on it. */
export class Cluster {
  /** All nodes, the coordinator first. */
  readonly nodes: readonly Node[]
  private readonly made: string[] = []

  private constructor(nodes: readonly Node[]) {
    this.nodes = nodes
  }

  static async find(url = coordinatorUrl): Promise<Cluster> {
    const places = url && (await withNode(url, findNodes))
    if (!places) throw new Error('FORECOURT_TEST_DATABASE_URL names no database of a Citus coordinator')
    const nodes = places.map(async ({ nodename, nodeport }) => {
      const node = new URL(url)
      node.hostname = nodename
      node.port = String(nodeport)
      const [row] = await withNode(
        node.href,
        (sql) => sql<[{ data_dir: string; programs: string }]>`
          select current_setting('data_directory') as data_dir,
            (select setting from pg_config where name = 'BINDIR') as programs`,
      )
      return { url: node.href, dataDir: row.data_dir, programs: row.programs }
    })
    return new Cluster(await Promise.all(nodes))
  }

  /** Creates a database on every node. Returns its URL at the coordinator. */
  async newDatabase(): Promise<string> {
    const name = `forecourt_${process.pid}_${Date.now()}_${this.made.length}`
    this.made.push(name)
    for (const [index, { url }] of this.nodes.entries()) {
      await withNode(url, async (sql) => {
        await sql`create database ${sql(name)}`
        for (const [setting, value] of Object.entries(index === 0 ? {} : ofWorkers)) {
          await sql.unsafe(`alter database "${name}" set ${setting} = '${value}'`)
        }
      })
      await withNode(named(url, name), (sql) => sql`create extension citus`)
    }
    const [coordinator, ...workers] = this.nodes.map(({ url }) => new URL(named(url, name)))
    if (coordinator === undefined) throw new Error('the cluster has no nodes')
    await withNode(coordinator.href, async (sql) => {
      await sql`select citus_set_coordinator_host(${coordinator.hostname}, ${coordinator.port}::text::int)`
      for (const { hostname, port } of workers) await sql`select citus_add_node(${hostname}, ${port}::text::int)`
    })
    return coordinator.href
  }

  /** Creates a database and distributes it with the command, as an operator would. */
  async newDistributed(): Promise<string> {
    const url = await this.newDatabase()
    const { code, stderr } = await forecourt(['distribute'], { DATABASE_URL: url, FORECOURT_LOG_LEVEL: 'fatal' })
    if (code !== 0) throw new Error(stderr)
    return url
  }

  /** Drops the databases that were created here. */
  async clear(): Promise<void> {
    for (const name of this.made.splice(0)) {
      for (const { url } of this.nodes) {
        await withNode(url, (sql) => sql.unsafe(`drop database if exists "${name}" with (force)`))
      }
    }
  }
}

/** The nodes of the cluster; undefined for a database without Citus. */
async function findNodes(sql: postgres.Sql) {
  const [row] = await sql`select to_regclass('pg_dist_node') is not null as is_there`
  if (!row?.is_there) return undefined
  return sql<{ nodename: string; nodeport: number }[]>`select nodename, nodeport from pg_dist_node order by groupid`
}

function named(url: string, database: string): string {
  const other = new URL(url)
  other.pathname = database
  return other.href
}

/** Runs statements on a node, over a separate connection. */
export async function withNode<T>(url: string, use: (sql: postgres.Sql) => Promise<T>): Promise<T> {
  const sql = postgres(url, { max: 1, onnotice: () => {} })
  try {
    return await use(sql)
  } finally {
    await sql.end({ timeout: 1 })
  }
}

/** Starts the server of a node again; the node must run on this machine. */
export function startNode({ dataDir, programs }: Node): void {
  const { uid, gid } = statSync(dataDir)
  const args = ['-D', dataDir, '-l', join(dataDir, 'again.log'), '-w', '-t', '60', 'start']
  // The server's user has another home folder than this process.
  const options = { uid, gid, cwd: dataDir, encoding: 'utf8', env: {} } as const
  const { status, stderr } = spawnSync(join(programs, 'pg_ctl'), args, options)
  if (status !== 0) throw new Error(stderr)
}
