import { spawn, spawnSync } from 'node:child_process'
import { chownSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { serverUser } from '../src/embedded/user.ts'
import { oldestPostgres } from '../test/kit/database.ts'
import { newDataDir } from '../test/kit/folders.ts'
import { startService } from '../test/kit/service.ts'
import { bunTest } from './bun-test.ts'

// Runs the conformance suite against a service whose database is the oldest PostgreSQL that is supported, reached by
// DATABASE_URL as an operator would give it. On the runtime that FORECOURT_TEST_RUNTIME names. The server's defaults are
// unlike PostgreSQL's own wherever that could change an answer.

const folder = newDataDir()
const user = serverUser()
const identity = user === undefined ? {} : { uid: user.uid, gid: user.gid }
if (user !== undefined) chownSync(folder, user.uid, user.gid)
const cluster = join(folder, 'cluster')
const initdb = ['-D', cluster, '-U', 'forecourt', '-A', 'trust', '-E', 'UTF8', '--no-sync']
// A collation that no other test has: digits sort by their number, capitals with small letters.
const locale = ['--locale=C.UTF-8', '--locale-provider=icu', '--icu-locale=en-u-kn-true-ks-level2']
const made = spawnSync(join(oldestPostgres, 'initdb'), [...initdb, ...locale], {
  ...identity,
  cwd: folder,
  encoding: 'utf8',
})
if (made.status !== 0) throw new Error(made.stderr)
const hostile: Record<string, string> = {
  default_transaction_isolation: 'serializable',
  DateStyle: 'German, DMY',
  IntervalStyle: 'sql_standard',
  TimeZone: 'America/St_Johns',
  extra_float_digits: '-10',
  standard_conforming_strings: 'off',
  bytea_output: 'escape',
  array_nulls: 'off',
  transform_null_equals: 'on',
  lock_timeout: '1ms',
  idle_session_timeout: '300ms',
  statement_timeout: '20ms',
  idle_in_transaction_session_timeout: '1ms',
  jit: 'on',
  jit_above_cost: '0',
  quote_all_identifiers: 'on',
  escape_string_warning: 'on',
  client_min_messages: 'debug1',
  xmloption: 'document',
  synchronize_seqscans: 'on',
  enable_indexscan: 'off',
}
const defaults = Object.entries(hostile).flatMap(([name, value]) => ['-c', `${name}=${value}`])
const settings = ['-D', cluster, '-k', folder, '-c', 'listen_addresses=', ...defaults]
const database = spawn(join(oldestPostgres, 'postgres'), settings, { ...identity, cwd: folder, stdio: 'ignore' })
const ended = new Promise((resolve) => database.once('exit', resolve))

const url = `postgres://forecourt@localhost/postgres?host=${encodeURIComponent(folder)}`
const service = await whenReachable(() => startService({ env: { DATABASE_URL: url } }))
const status = await bunTest(['test/conformance'], {
  FORECOURT_BASE_URL: service.url,
  FORECOURT_OPERATOR_KEY: service.operatorKey,
})
await service.stop()
database.kill('SIGINT')
await ended
rmSync(folder, { recursive: true, force: true })
process.exit(status)

/** Starts the service again and again while it ends with a clear sentence, until the cluster accepts connections. */
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
