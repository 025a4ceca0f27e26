import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { Client } from '../kit/client.ts'
import type { OwnDatabase } from '../kit/database.ts'
import { deviceBody, newApplication, type TestApplication } from '../kit/records.ts'
import { atScale, longTest, randomNumbers, seed, tell } from '../kit/scale.ts'
import { anyMoment, becomesTrue } from '../kit/waits.ts'
import { Workplace } from '../kit/workplace.ts'

// Updates of many rows, by batches and imports, on two processes, while the devices are also removed: a row
// with code 0 existed, a refused row left nothing behind, and no event of an update comes after the removal.

const place = new Workplace()
const random = randomNumbers(seed)
const said = `seed ${seed}`
let database: OwnDatabase
let both: Client[]

beforeAll(async () => {
  database = await place.findDatabase()
  const env = { DATABASE_URL: database.url() }
  both = await Promise.all([1, 2].map(async () => new Client(await place.startService({ env }))))
}, 120_000)
afterAll(() => place.clear(), 60_000)
afterEach(async () => {
  const [row] = await database.run(
    (sql) => sql`select deadlocks::int as deadlocks from pg_stat_database where datname = current_database()`,
  )
  expect(row?.deadlocks, `${said}: deadlocks`).toBe(0)
})

const each = (index: number) => both[index % both.length] as Client
const count = atScale(200, 2_000)

/** The types of events of each record of an application, oldest first. */
async function typesBySubject({ appId }: TestApplication): Promise<Map<string, string[]>> {
  const rows = await database.run(
    (sql) => sql`
      select subject, string_agg(type, ' ' order by id) as types from event
      where app_id = ${appId} and subject is not null group by subject`,
  )
  return new Map(rows.map((row) => [row.subject, row.types.split(' ')]))
}

async function newDevices(app: TestApplication, many: number): Promise<string[]> {
  const devices = Array.from({ length: many }, () => ({ ...deviceBody('', { tag: 'old' }), appId: undefined }))
  for (let from = 0; from < many; from += 1000) {
    const answer = await each(0).call('createDevices', { devices: devices.slice(from, from + 1000) }, app)
    expect(answer.code, answer.text).toBe(0)
  }
  return devices.map(({ deviceNo }) => deviceNo)
}

test('rows of updateBatch beside unbinds: each was there or is not found, and none is told after its end', async () => {
  const app = await newApplication(each(0))
  const serials = await newDevices(app, count)
  const unbinding = (async () => {
    for (const [index, deviceNo] of serials.entries()) {
      if (index % 2 === 0) expect((await each(1).call('unbindDevice', { deviceNo }, app)).code).toBe(0)
    }
  })()
  const outcomes = new Map<string, number[]>()
  for (let round = 0; round < 4; round++) {
    const devices = serials.map((deviceNo) => ({ deviceNo, tag: `round ${round}` }))
    for (let from = 0; from < devices.length; from += 100) {
      const { data } = await each(round).call('updateDevices', { devices: devices.slice(from, from + 100) }, app)
      for (const { deviceNo, code } of data.results) {
        outcomes.set(deviceNo ?? '', [...(outcomes.get(deviceNo ?? '') ?? []), code])
      }
    }
  }
  await unbinding
  const events = await typesBySubject(app)
  let refused = 0
  for (const [deviceNo, codes] of outcomes) {
    const types = events.get(deviceNo) ?? []
    const done = codes.filter((code) => code === 0).length
    expect(
      codes.every((code) => code === 0 || code === 20002),
      said,
    ).toBe(true)
    // Once gone, always gone.
    expect(codes, said).toEqual([...Array(done).fill(0), ...Array(codes.length - done).fill(20002)])
    expect(
      types.filter((type) => type === 'device.updated'),
      said,
    ).toHaveLength(done)
    expect(types.slice(0, -1), said).not.toContain('device.unbound')
    refused += codes.length - done
  }
  expect(refused, said).toBeGreaterThan(0)
  tell(`${refused} of ${4 * serials.length} rows came after their device’s end`)
})

longTest(
  'an import that updates beside unbinds and updates: what it says of a row is what the row’s events tell',
  async () => {
    const app = await newApplication(each(0))
    const serials = await newDevices(app, count)
    const cell = (deviceNo: string) => `${deviceNo},Imported,360102,"115.899918,28.676493"`
    const file = ['deviceNo,deviceName,districtCode,coordinates', ...serials.map(cell)].join('\n')
    const sending = each(0).call(
      'createImport',
      { kind: 'devices', mode: 'upsert', file },
      { ...app, headers: { 'content-type': 'text/csv' } },
    )
    const unbound = new Set<string>()
    for (const [index, deviceNo] of serials.toReversed().entries()) {
      if (index % 3 === 0) {
        await anyMoment(random, 2)
        expect((await each(1).call('unbindDevice', { deviceNo }, app)).code).toBe(0)
        unbound.add(deviceNo)
      }
      if (index % 3 === 1) await each(index).call('updateDevice', { deviceNo, tag: 'beside' }, app)
    }
    const { id } = (await sending).data
    await becomesTrue(async () => (await each(0).call('getImport', { id }, app)).data.status > 2)
    const { text } = await each(0).call('getImportResult', { id }, app)
    const lines: { deviceNo: string; outcome: string; code: number }[] = text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(
      lines.map(({ deviceNo }) => deviceNo),
      said,
    ).toEqual(serials)
    const events = await typesBySubject(app)
    for (const { deviceNo, outcome, code } of lines) {
      const types = events.get(deviceNo) ?? []
      expect(code, said).toBe(0)
      // A device that was unbound before its row is created again.
      expect(types.filter((type) => type === 'device.bound').length, said).toBe(outcome === 'created' ? 2 : 1)
      if (outcome === 'updated') expect(types, said).toContain('device.updated')
      if (outcome === 'created') expect(unbound.has(deviceNo), said).toBe(true)
    }
  },
)
