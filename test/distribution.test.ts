import { afterAll, beforeAll, expect, test } from 'bun:test'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { applicationTables, localTables, referenceTables, serialTables } from '../src/database/distribute.ts'
import { openDatabase } from '../src/database/open.ts'
import type { OwnDatabase } from './kit/database.ts'
import { projectFolder } from './kit/folders.ts'
import { Workplace } from './kit/workplace.ts'

// The parts of `forecourt distribute` that can be tested without Citus.

const place = new Workplace()
let database: OwnDatabase
beforeAll(async () => {
  database = await place.startDatabase()
}, 120_000)
afterAll(() => place.clear(), 120_000)

function forecourt(args: string[], env: Record<string, string>) {
  const { PATH, HOME } = process.env
  const options = { cwd: projectFolder, encoding: 'utf8', env: { PATH, HOME, ...env } } as const
  const { status, stdout, stderr } = spawnSync('bun', [join(projectFolder, 'src', 'cli', 'main.ts'), ...args], options)
  return { status, stdout, stderr }
}

test('each table of the schema has its place', async () => {
  const service = await place.startService({ env: { DATABASE_URL: database.url() } })
  await service.stop()
  const sql = openDatabase({ target: database.connection, connections: 1, statementTimeoutMs: 5000 })
  const tables = await sql`
    select relname::text as name from pg_class
    where relkind in ('r', 'p') and not relispartition and relnamespace = 'public'::regnamespace`
  await sql.end()
  const placed = [...referenceTables, ...applicationTables, ...serialTables, ...localTables]
  expect(placed.sort()).toEqual(tables.map(({ name }) => name).sort())
})

test('a database without Citus is refused in one sentence, and so is the embedded one', () => {
  const without = forecourt(['distribute'], { DATABASE_URL: database.url() })
  expect(without).toEqual({
    status: 1,
    stdout: '',
    stderr:
      'The database doesn’t have the Citus extension. Create it on the coordinator and all workers, then add the workers.\n',
  })
  const embedded = forecourt(['distribute'], {})
  expect(embedded).toEqual({
    status: 1,
    stdout: '',
    stderr: 'The embedded database can’t be distributed. Set DATABASE_URL to the database of a Citus coordinator.\n',
  })
})
