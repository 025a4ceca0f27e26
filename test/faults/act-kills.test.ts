import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type ActRecord, createAct, getAct, getActResult } from '../../src/bulk/acts/contract.ts'
import { createImport, getImport } from '../../src/bulk/contract.ts'
import { updateDevice } from '../../src/devices/contract.ts'
import { Client, deviceBody, newApplication, newSerial, type TestApplication } from '../harness.ts'
import { longTest } from '../long.ts'
import { Striker } from './strikes.ts'
import {
  anyMoment,
  atScale,
  becomesTrue,
  type OwnDatabase,
  onDisk,
  randomNumbers,
  seed,
  tell,
  Workplace,
} from './support.ts'

// A process that runs an act is killed or stopped at any moment. Another process continues the act, and every row is done
// once, has one event, and is counted once.

const rounds = atScale(1, 20)
const rows = atScale(3_000, 6_000)
const place = new Workplace(onDisk)
const said = `seed ${seed}`
const random = randomNumbers(seed)
let striker: Striker
let database: OwnDatabase
let survivor: Client

beforeAll(async () => {
  striker = new Striker()
  database = await place.findDatabase()
  survivor = new Client(await place.startService({ env: { DATABASE_URL: database.url() } }))
}, 120_000)
afterAll(async () => {
  await striker.end()
  await place.clear()
}, 120_000)

/** Fills an application with devices. Returns their serial numbers. */
async function fill({ token }: TestApplication, count: number): Promise<string[]> {
  const serials = Array.from({ length: count }, () => newSerial('KILL'))
  const file = serials.map((deviceNo) => JSON.stringify({ ...deviceBody(''), appId: undefined, deviceNo })).join('\n')
  const headers = { 'content-type': 'application/x-ndjson' }
  const { id } = (await survivor.call(createImport, { kind: 'devices', file }, { token, headers })).data
  await becomesTrue(async () => (await survivor.operate(getImport, { id })).data.status === 3, 120_000)
  return serials
}

const told = async (id: number): Promise<ActRecord> => (await survivor.operate(getAct, { id })).data

/** How often each device is in the application's events of a type. */
function eventsOf(appId: string, type: string): Promise<string[]> {
  return database.run(async (sql) => {
    const found = await sql`select subject from event where app_id = ${appId} and type = ${type} order by subject`
    return found.map((row) => row.subject)
  })
}

const resultOf = async (id: number): Promise<string[]> =>
  (await survivor.operate(getActResult, { id })).text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line).deviceNo)
    .sort()

longTest(
  `acts whose process is killed or stands still, ${rounds} times, do each row once and leave none out`,
  async () => {
    let inMiddle = 0
    for (let round = 0; round < rounds || (inMiddle === 0 && round < rounds + 5); round++) {
      const isStill = round % 4 === 3
      const victim = await place.startService({ env: { DATABASE_URL: database.url() } })
      const client = new Client(victim)
      const [updated, from, to] = [
        await newApplication(survivor),
        await newApplication(survivor),
        await newApplication(survivor),
      ]
      const [ofUpdate, ofTransfer] = [await fill(updated, rows), await fill(from, rows)]
      const all = { kind: 'devices', filter: { all: true }, expectedRows: rows }
      const begun = await Promise.all([
        client.call(createAct, { ...all, act: 'update', set: { tag: 'struck' } }, updated),
        client.operate(createAct, {
          ...all,
          appId: from.appId,
          act: 'transfer',
          targetAppId: to.appId,
          reason: 'struck',
        }),
      ])
      const ids = begun.map(({ data }) => data.id as number)
      if (round % 2 === 0)
        await becomesTrue(async () => (await Promise.all(ids.map(told))).some(({ done }) => done > 0))
      else await anyMoment(random, 200)
      await striker.strike(victim, isStill)
      const struck = await Promise.all(ids.map(told))
      inMiddle += struck.filter(({ status, done }) => status === 2 && done > 0).length
      await becomesTrue(async () => (await Promise.all(ids.map(told))).every(({ status }) => status === 3), 180_000)
      if (isStill) await victim.stop()
      for (const id of ids)
        expect(await told(id), said).toMatchObject({ rows, done: rows, unchanged: 0, refused: 0, error: null })
      expect(await eventsOf(updated.appId, 'device.updated'), said).toEqual(ofUpdate.toSorted())
      expect(await eventsOf(from.appId, 'device.transferred'), said).toEqual(ofTransfer.toSorted())
      expect(await eventsOf(to.appId, 'device.transferred'), said).toEqual(ofTransfer.toSorted())
      expect(await resultOf(ids[0] as number), said).toEqual(ofUpdate.toSorted())
      expect(await resultOf(ids[1] as number), said).toEqual(ofTransfer.toSorted())
    }
    expect(inMiddle, said).toBeGreaterThan(0)
    tell(`${inMiddle} of ${2 * rounds} acts were struck in the middle`)
  },
  900_000,
)

test('a row that no longer matches when an act comes to it is in no count', async () => {
  const app = await newApplication(survivor)
  const serials = await fill(app, 1_200)
  const filter = { tag: deviceBody('').tag }
  const { data: begun } = await survivor.call(createAct, { kind: 'devices', act: 'unbind', filter }, app)
  const id = begun.id as number
  // The device that the act reaches last: the oldest one.
  const changed = await survivor.call(updateDevice, { deviceNo: serials[0], tag: 'kept' }, app)
  await becomesTrue(async () => (await told(id)).status === 3, 120_000)
  const { rows: matched, done } = await told(id)
  expect(matched).toBe(1_200)
  expect(done).toBe(changed.code === 0 ? matched - 1 : matched)
}, 180_000)
