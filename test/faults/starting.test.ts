import { describe, expect, test } from 'bun:test'
import { Client } from '../kit/client.ts'
import { databaseProcesses } from '../kit/database.ts'
import { ownWorkplace } from '../kit/own-workplace.ts'
import { deviceBody, newApplication, type TestApplication } from '../kit/records.ts'
import { atScale, longTest, randomNumbers, seed } from '../kit/scale.ts'
import { newSharedDatabase } from '../kit/shared-server.ts'
import { anyMoment } from '../kit/waits.ts'

const place = ownWorkplace()
const random = randomNumbers(seed)
const said = `seed ${seed}`

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
