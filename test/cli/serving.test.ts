import { afterAll, expect, test } from 'bun:test'
import { existsSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { openDatabase } from '../../src/database/open.ts'
import { openBesideService } from '../../src/embedded/command-database.ts'
import { prepareDatabase } from '../kit/database.ts'
import { newDataDir, projectFolder } from '../kit/folders.ts'
import { failed, forecourt, startForecourt, told } from './support.ts'

// The command `serve`, and the commands for the schema.

const dataDir = newDataDir()
const settings = { FORECOURT_DATA_DIR: dataDir, FORECOURT_PORT: '0', FORECOURT_LOG_LEVEL: 'warn' }
afterAll(() => rmSync(dataDir, { recursive: true, force: true }))

const files = readdirSync(join(projectFolder, 'migrations'))
  .filter((file) => /^\d{4}-/.test(file))
  .sort()
const waiting = files.map((file, index) => ({ version: index + 1, file, appliedAt: null, fault: null }))
const later = files.length + 1

test('serve is the service, until its signal; migrate looks at its database while it runs', async () => {
  const before = await forecourt(['migrate', 'status', '--json'], settings)
  expect(before.stderr).toBe('')
  expect(told(before)).toMatchObject({ code: 0, upToDate: false, migrations: waiting })
  expect(existsSync(join(dataDir, 'embedded.json'))).toBe(false)

  prepareDatabase(dataDir)
  const { child, ended } = startForecourt(['serve'], settings)
  const url = await new Promise<string>((resolve, reject) => {
    let said = ''
    child.stdout?.on('data', (piece) => {
      said += piece
      const [, ready] = /^Forecourt is ready at (\S+)$/m.exec(said) ?? []
      if (ready !== undefined) resolve(ready)
    })
    void ended.then(({ stderr }) => reject(new Error(stderr)))
  })
  const readiness = await fetch(`${url}/readyz`)
  expect(readiness.status).toBe(200)
  await readiness.text()

  const up = await forecourt(['migrate', 'up'], settings)
  expect(up).toMatchObject({ code: 0, stdout: expect.stringContaining('The schema is up to date.') })

  const { owner: target } = await openBesideService({ databaseUrl: undefined, dataDir })
  const sql = openDatabase({ target, connections: 1, statementTimeoutMs: 5000 })
  await sql`update schema_migration set checksum = 'of another file'`
  await sql`insert into schema_migration (version, file, checksum) values (${later}, 'later.sql', 'unknown')`
  await sql.end()
  const migrations = [...files.map(() => ({ fault: 'altered' })), { version: later, fault: 'unknown' }]
  const status = await forecourt(['migrate', 'status', '--json'], settings)
  expect(told(status)).toMatchObject({ code: 1, upToDate: false, migrations })
  const refused = await forecourt(['migrate', 'up'], settings)
  expect(refused).toEqual(failed(1, /^The database was created by a version before 1\.0\.0.+\n$/))

  // The service keeps running after the process that started it has closed its output.
  child.stdout?.destroy()
  expect((await fetch(`${url}/healthz`)).status).toBe(200)
  child.kill('SIGTERM')
  expect(await ended).toMatchObject({ code: 0 })
})
