import { expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readConfig } from '../../src/config.ts'
import { Client } from '../kit/client.ts'
import { ownWorkplace } from '../kit/own-workplace.ts'
import { newSharedDatabase } from '../kit/shared-server.ts'
import { becomesTrue } from '../kit/waits.ts'

// Settings with secrets, read from files.

const place = ownWorkplace()

function fileOf(text: string): string {
  const path = join(place.home, randomBytes(6).toString('hex'))
  writeFileSync(path, text, { mode: 0o600 })
  return path
}

const isRoot = process.getuid?.() === 0

test('the operator key and the database’s URL are read from files, whatever white space they end in', async () => {
  const operatorKey = randomBytes(24).toString('hex')
  for (const end of ['', '\n', '\r\n', ' \n\n', ' \r\n\n'])
    expect(readConfig({ FORECOURT_OPERATOR_KEY_FILE: fileOf(`${operatorKey}${end}`) }).operatorKey).toBe(operatorKey)
  const database = await newSharedDatabase()
  const service = await place.startService({
    env: {
      FORECOURT_OPERATOR_KEY: '',
      FORECOURT_OPERATOR_KEY_FILE: fileOf(`${operatorKey} \r\n\n`),
      DATABASE_URL: '',
      DATABASE_URL_FILE: fileOf(`${database.url()}\n`),
      ...(isRoot && { FORECOURT_HOST: '0.0.0.0' }),
    },
  })
  const client = new Client({ url: service.url, operatorKey })
  expect((await client.operate('pageApplications', {})).code).toBe(0)
  expect((await client.operate('pageApplications', {}, { token: `${operatorKey}x` })).code).toBe(10002)
  expect((await database.sql`select version from schema_migration`).length).toBeGreaterThan(0)
  // With an operator key, no set-up link is printed.
  expect(service.stdout()).not.toContain('Create the first admin account')
  for (const secret of [operatorKey, database.connection.password]) expect(service.stderr()).not.toContain(secret)
  if (!isRoot) return
  // As root, and beyond this machine without a trusted proxy, it says so once, and names the remedy.
  await becomesTrue(() => service.stderr().includes('runs as root'))
  const said = service.stderr().split('\n')
  const ofRoot = said.filter((line) => line.includes('runs as root'))
  expect(ofRoot).toHaveLength(1)
  expect(JSON.parse(ofRoot[0] ?? '')).toMatchObject({ level: 40, msg: expect.stringContaining('a dedicated user') })
  expect(service.stderr()).toContain('FORECOURT_TRUSTED_PROXIES')
})

test.each(['FORECOURT_OPERATOR_KEY', 'DATABASE_URL'])(
  '%s_FILE that is missing, no file, empty, or given beside the setting is refused with one sentence',
  (name) => {
    const folder = join(place.home, `${name}-folder`)
    mkdirSync(folder)
    const missing = join(place.home, 'nowhere')
    const [empty, blank, given] = [fileOf(''), fileOf(' \n'), fileOf('x'.repeat(40))]
    const cases: [file: string, beside: string, words: string][] = [
      [missing, '', `Can’t read ${missing} from ${name}_FILE (ENOENT).`],
      [folder, '', `Can’t read ${folder} from ${name}_FILE (EISDIR).`],
      [empty, '', `${empty} from ${name}_FILE is empty.`],
      [blank, '', `${blank} from ${name}_FILE is empty.`],
      [given, 'y'.repeat(40), `${name} and ${name}_FILE are both set. Remove one of them.`],
    ]
    const envOf = (beside: string, file: string) => ({ [name]: beside, [`${name}_FILE`]: file })
    for (const [file, beside, words] of cases) expect(() => readConfig(envOf(beside, file))).toThrow(words)
  },
)

test('what a file holds is held to the same rules, and is never repeated', () => {
  const cases = { FORECOURT_OPERATOR_KEY: 'short and secret', DATABASE_URL: 'mysql://user:secret@host/database' }
  for (const [name, text] of Object.entries(cases)) {
    const words = new RegExp(`^${name} must (?!.*secret)[^\\n]+$`)
    expect(() => readConfig({ [`${name}_FILE`]: fileOf(text) })).toThrow(words)
  }
})
