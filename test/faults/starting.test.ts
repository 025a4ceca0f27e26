import { afterAll, describe, expect, test } from 'bun:test'
import { spawn, spawnSync } from 'node:child_process'
import { chownSync, existsSync, mkdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { Client } from '../kit/client.ts'
import { databaseProcesses } from '../kit/database.ts'
import { projectFolder } from '../kit/folders.ts'
import { deviceBody, newApplication, newSerial, type TestApplication } from '../kit/records.ts'
import { atScale, isLong, longTest, randomNumbers, seed } from '../kit/scale.ts'
import { newSharedDatabase } from '../kit/shared-server.ts'
import { anyMoment, becomesTrue } from '../kit/waits.ts'
import { Workplace } from '../kit/workplace.ts'

const place = new Workplace()
const random = randomNumbers(seed)
const said = `seed ${seed}`
afterAll(() => place.clear(), 120_000)

async function createOne(client: Client, app: TestApplication): Promise<string> {
  const body = deviceBody(app.appId)
  const answer = await client.call('createDevice', body, { token: app.token })
  expect(answer.status, answer.text).toBe(200)
  return body.deviceNo
}

test('two servers that start at once on one empty database both become ready', async () => {
  for (let time = 0; time < atScale(1, 3); time++) {
    const database = await newSharedDatabase('template1')
    const env = { DATABASE_URL: database.url() }
    const both = await Promise.all([place.startService({ env }), place.startService({ env })])
    const [one, two] = both.map((service) => new Client(service)) as [Client, Client]
    const app = await newApplication(one)
    for (const client of [one, two]) {
      expect((await client.call('getReadiness', {})).status).toBe(200)
      await createOne(client, app)
    }
    const versions = await database.run((sql) =>
      sql`select version from schema_migration order by version`.then((rows) => rows.map((row) => row.version)),
    )
    expect(versions).toEqual(versions.map((_, index) => index + 1))
    expect(await Promise.all(both.map((service) => service.stop()))).toEqual([0, 0])
  }
})

// Short of the whole service, src/embedded/embedded.test.ts and embedded-root.test.ts have the starts below in the gate.

describe.each(['SIGKILL', 'SIGTERM'] as const)('a first start that %s ends', (name) => {
  longTest('at any moment is followed by one that works', async () => {
    const dataDir = place.newFolder()
    for (let attempt = 0; attempt < 6; attempt++) {
      const starting = place.startService({ dataDir }).catch((error: Error) => error)
      const at = await anyMoment(random, 1200)
      const victims = place.services()
      for (const { pid } of victims) process.kill(pid, name)
      const outcome = await starting
      if (!(outcome instanceof Error) && outcome.process.exitCode === null && outcome.process.signalCode === null) {
        await new Promise((resolve) => outcome.process.once('exit', resolve))
      }
      if (name === 'SIGTERM') {
        expect(databaseProcesses(dataDir), `${said}: left by a stop ${at.toFixed(0)} ms after the start`).toEqual([])
      }
    }
    const service = await place.startService({ dataDir })
    await createOne(new Client(service), await newApplication(new Client(service)))
    expect(await service.stop()).toBe(0)
    expect(databaseProcesses(dataDir)).toEqual([])
  })
})

test.skipIf(!isLong || process.getuid?.() !== 0)(
  'it works as root on a data folder that only root can enter',
  async () => {
    const dataDir = join(place.home, 'closed')
    mkdirSync(dataDir, { mode: 0o700 })
    let app: TestApplication | undefined
    for (let start = 0; start < 2; start++) {
      const service = await place.startService({ dataDir, isFromSource: true })
      app ??= await newApplication(new Client(service))
      await createOne(new Client(service), app)
      expect(databaseProcesses(dataDir).length).toBeGreaterThan(0)
      expect(await service.stop()).toBe(0)
      expect(databaseProcesses(dataDir)).toEqual([])
    }
  },
)

const setpriv = '/usr/bin/setpriv'
const nobody = 65534
const asNobody = [`--reuid=${nobody}`, `--regid=${nobody}`, '--clear-groups']
const main = join(projectFolder, 'src', 'main.ts')
/** Whether this test may run a program as another user, and that user can read the project. */
const canBeNobody =
  process.getuid?.() === 0 &&
  existsSync(setpriv) &&
  spawnSync(setpriv, [...asNobody, 'test', '-r', main, '-a', '-x', process.execPath]).status === 0

test.skipIf(!isLong || !canBeNobody)('it works as an ordinary user, who also runs the database', async () => {
  const dataDir = join(place.home, 'ordinary')
  mkdirSync(dataDir, { mode: 0o700 })
  chownSync(dataDir, nobody, nobody)
  const operatorKey = newSerial('a-key-of-an-ordinary-user')
  const child = spawn(setpriv, [...asNobody, process.execPath, main], {
    cwd: '/',
    env: {
      PATH: '/usr/bin:/bin',
      FORECOURT_PORT: '0',
      FORECOURT_DATA_DIR: dataDir,
      FORECOURT_OPERATOR_KEY: operatorKey,
      FORECOURT_LOG_LEVEL: 'warn',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let told = ''
  child.stdout.on('data', (piece) => {
    told += piece
  })
  const isReady = /^Forecourt is ready at (\S+)$/m
  expect(await becomesTrue(() => isReady.test(told)), told).toBe(true)
  const url = isReady.exec(told)?.[1] ?? ''
  const client = new Client({ url, operatorKey })
  await createOne(client, await newApplication(client))
  for (const { pid } of databaseProcesses(dataDir)) expect(statSync(`/proc/${pid}`).uid).toBe(nobody)
  expect(databaseProcesses(dataDir).length).toBeGreaterThan(0)
  const code = new Promise((resolve) => child.once('exit', resolve))
  child.kill('SIGTERM')
  expect(await code).toBe(0)
  expect(databaseProcesses(dataDir)).toEqual([])
})
