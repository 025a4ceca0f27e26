import { type ChildProcess, spawn } from 'node:child_process'
import { chmodSync, mkdtempSync, realpathSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { makeSchema, OwnDatabase, withSql } from './database.ts'

// A database server for all files of a test process, started by the first that needs it: a database on it costs a third
// of a server.

let home: string | undefined
let guard: ChildProcess | undefined
let server: Promise<OwnDatabase> | undefined
let databases = 0

/**
 * A folder for what the files of this test process share: beside the folder of scripts/test.ts, which removes that one at
 * its end, when what is here may still be ending.
 */
export function sharedHome(): string {
  if (home === undefined) {
    const hasRunner = process.env.FORECOURT_TEST_DATABASE !== undefined
    home = realpathSync(mkdtempSync(join(hasRunner ? dirname(tmpdir()) : tmpdir(), 'fc-')))
    chmodSync(home, 0o755)
  }
  return home
}

/**
 * Ends a process when this test process has ended: nothing tells it which file is its last. A shell waits for the end of
 * its input, ends the processes then, and removes the folder.
 */
export function endsWithUs(pid: number, signal: 'KILL' | 'QUIT' = 'KILL'): void {
  const script =
    'ends=; while read -r end; do ends="$ends kill $end;"; done; eval "$ends"; sleep 1; rm -rf "$0" || (sleep 9; rm -rf "$0")'
  guard ??= spawn('sh', ['-c', script, sharedHome()], { stdio: ['pipe', 'ignore', 'ignore'], detached: true })
  guard.unref()
  guard.stdin?.write(`-${signal} ${pid}\n`)
}

/** The server, whose database `forecourt` has the schema and no rows. No test may stop it or change its settings. */
export function sharedServer(): Promise<OwnDatabase> {
  server ??= startServer()
  return server
}

async function startServer(): Promise<OwnDatabase> {
  const started = await new OwnDatabase(join(sharedHome(), 'server')).start(10)
  endsWithUs(started.pid, 'QUIT')
  if (process.env.FORECOURT_TEST_DATABASE === undefined) await makeSchema(started.connection)
  return started
}

/** A new database on it: a copy with the schema, or an empty one. */
export async function newSharedDatabase(template: 'forecourt' | 'template1' = 'forecourt'): Promise<OwnDatabase> {
  const { connection } = await sharedServer()
  const database = `shared_${++databases}`
  // Over a connection to another database: nobody may use the template meanwhile.
  await withSql({ ...connection, database: 'postgres' }, (sql) =>
    sql.unsafe(`create database ${database} template ${template}`),
  )
  return new OwnDatabase(join(sharedHome(), database), { ...connection, database })
}
