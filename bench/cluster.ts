import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import postgres from 'postgres'
import type { Sql } from '../src/database/open.ts'
import { startEmbeddedDatabase } from '../src/embedded/embedded.ts'

/** One database of the cluster that all figures share. */
export interface Database {
  name: string
  sql: Sql
  /** Opens another connection, which is closed at the end. */
  open(): Sql
  /** The URL for Forecourt: with the socket's folder as libpq writes it. */
  url: string
  /** libpq's environment, for other drivers. */
  env: Record<string, string>
  /** Removes the database, and returns its disk space. */
  drop(): Promise<void>
}

export interface Cluster {
  /** The postmaster's process id. */
  pid: number
  admin: Sql
  createDatabase(name: string): Promise<Database>
  stop(): Promise<void>
}

/** Starts a fresh PostgreSQL, as Forecourt itself starts one: with fsync on. */
export async function startCluster(): Promise<Cluster> {
  const folder = mkdtempSync(join(tmpdir(), 'forecourt-bench-'))
  // Root runs PostgreSQL as another user, who must be able to enter; the cluster inside is closed to others anyway.
  chmodSync(folder, 0o755)
  const { connection, pid, stop } = await startEmbeddedDatabase(folder)
  const open = (database: string) =>
    postgres({ ...connection, database, max: 1, max_lifetime: null, onnotice: () => {} })
  const admin = open(connection.database)
  const opened = [admin]

  return {
    pid,
    admin,
    async createDatabase(name) {
      await admin`create database ${admin(name)}`
      const own: Sql[] = []
      const openOwn = () => {
        const sql = open(name)
        own.push(sql)
        opened.push(sql)
        return sql
      }
      const sql = openOwn()
      const { host, port, user, password } = connection
      const query = new URLSearchParams({ host, port: String(port) })
      return {
        name,
        sql,
        open: openOwn,
        url: `postgres://${user}:${encodeURIComponent(password)}@localhost/${name}?${query}`,
        env: { PGHOST: host, PGPORT: String(port), PGUSER: user, PGPASSWORD: password, PGDATABASE: name },
        async drop() {
          await Promise.all(own.map((one) => one.end({ timeout: 1 })))
          await admin`drop database ${admin(name)} with (force)`
        },
      }
    },
    async stop() {
      for (const sql of opened) await sql.end({ timeout: 1 })
      await stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
