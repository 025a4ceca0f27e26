import { spawn, spawnSync } from 'node:child_process'
import { chownSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { serverUser } from '../src/database/embedded/user.ts'
import { newDataDir, oldestPostgres, startService } from '../test/harness.ts'
import { bunTest } from './bun-test.ts'

// Runs the conformance suite against a service whose database is the oldest PostgreSQL that is supported, reached by
// DATABASE_URL as an operator would give it. On the runtime that FORECOURT_TEST_RUNTIME names.

const folder = newDataDir()
const user = serverUser()
const identity = user === undefined ? {} : { uid: user.uid, gid: user.gid }
if (user !== undefined) chownSync(folder, user.uid, user.gid)
const cluster = join(folder, 'cluster')
const initdb = ['-D', cluster, '-U', 'forecourt', '-A', 'trust', '-E', 'UTF8', '--no-locale', '--no-sync']
const made = spawnSync(join(oldestPostgres, 'initdb'), initdb, { ...identity, cwd: folder, encoding: 'utf8' })
if (made.status !== 0) throw new Error(made.stderr)
const settings = ['-D', cluster, '-k', folder, '-c', 'listen_addresses=']
const database = spawn(join(oldestPostgres, 'postgres'), settings, { ...identity, cwd: folder, stdio: 'ignore' })
const ended = new Promise((resolve) => database.once('exit', resolve))

const url = `postgres://forecourt@localhost/postgres?host=${encodeURIComponent(folder)}`
const service = await whenReachable(() => startService({ env: { DATABASE_URL: url } }))
const status = bunTest(['test/conformance'], {
  FORECOURT_BASE_URL: service.url,
  FORECOURT_OPERATOR_KEY: service.operatorKey,
})
await service.stop()
database.kill('SIGINT')
await ended
rmSync(folder, { recursive: true, force: true })
process.exit(status)

/** The cluster takes a moment to accept connections; the service says so and ends, and is tried again. */
async function whenReachable<Value>(start: () => Promise<Value>): Promise<Value> {
  for (let tries = 1; ; tries++) {
    try {
      return await start()
    } catch (error) {
      if (tries === 20) throw error
      await new Promise((resolve) => setTimeout(resolve, 250))
    }
  }
}
