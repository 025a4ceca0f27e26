import { describe, expect, test } from 'bun:test'
import { Client } from '../kit/client.ts'
import { databaseProcesses } from '../kit/database.ts'
import { ownWorkplace } from '../kit/own-workplace.ts'
import { cookieOf, newPassword } from '../kit/people.ts'
import { deviceBody, newApplication, newSerial, type TestApplication } from '../kit/records.ts'
import { atScale, longTest, randomNumbers, seed } from '../kit/scale.ts'
import type { Service } from '../kit/service.ts'
import { newSharedDatabase } from '../kit/shared-server.ts'
import { anyMoment } from '../kit/waits.ts'

const place = ownWorkplace()
const random = randomNumbers(seed)

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
        expect(databaseProcesses(dataDir), `left by a stop ${at.toFixed(0)} ms after the start`).toEqual([])
      }
    }
    const service = await place.startService({ dataDir })
    await createOne(new Client(service), await newApplication(new Client(service)))
    expect(await service.stop()).toBe(0)
    expect(databaseProcesses(dataDir)).toEqual([])
  })
})

const withoutKey = { FORECOURT_OPERATOR_KEY: '' }
const linkLine = /^Create the first admin account \(one-time link, valid for 24 hours\): (\S+)$/gm

function linksOf(service: Service): string[] {
  return [...service.stdout().matchAll(linkLine)].map(([, link = '']) => link)
}

test('a first start prints a one-time link for the first admin, and none once there is one', async () => {
  const dataDir = place.preparedFolder()
  const first = await place.startService({ dataDir, env: withoutKey })
  const [link = '', ...others] = linksOf(first)
  expect(others).toEqual([])
  expect(link).toStartWith(`${first.url}/console/set-up#`)
  expect(await first.stop()).toBe(0)

  // The link has not been used: the next start prints another link and makes the earlier one invalid.
  const second = await place.startService({ dataDir, env: withoutKey })
  const [another = ''] = linksOf(second)
  expect(another).not.toBe(link)
  const client = new Client(second)
  const [name, password] = [newSerial('first'), newPassword()]
  const setUp = (from: string) => client.call('setUpOperator', { setUpToken: from.split('#')[1], name, password })
  expect((await setUp(link)).code).toBe(10052)
  const answers = await Promise.all(Array.from({ length: 8 }, () => setUp(another)))
  expect(answers.map(({ code }) => code).sort()).toEqual([0, ...Array(7).fill(10052)])
  const session = answers.find(({ code }) => code === 0)
  expect(session?.data).toMatchObject({ name, role: 'admin' })
  expect(await second.stop()).toBe(0)

  const third = await place.startService({ dataDir, env: withoutKey })
  expect(linksOf(third)).toEqual([])
  // A session survives the restart.
  const headers = { cookie: cookieOf(session as NonNullable<typeof session>) }
  expect((await new Client(third).call('getSession', {}, { headers })).data.name).toBe(name)
  expect(await third.stop()).toBe(0)
})

longTest('a service with an operator key prints no link, and sessions by that key end with it', async () => {
  const dataDir = place.preparedFolder()
  const first = await place.startService({ dataDir })
  expect(linksOf(first)).toEqual([])
  const signedIn = await new Client(first).call('createSession', { operatorKey: first.operatorKey })
  const headers = { cookie: cookieOf(signedIn) }
  expect((await new Client(first).call('getSession', {}, { headers })).code).toBe(0)
  expect(await first.stop()).toBe(0)
  const second = await place.startService({ dataDir })
  expect((await new Client(second).call('getSession', {}, { headers })).code).toBe(10002)
  expect(await second.stop()).toBe(0)
})
