import { afterAll, beforeAll, expect, test } from 'bun:test'
import { newApplication, newSerial } from '../kit/records.ts'
import { client, createDeviceOf, expectFaults, expectNow, expectSuccess, succeed } from './support.ts'
import { neverText, notGiven } from './texts.ts'

// That an entry decides for the next device at once, in every process, is in test/faults/two-processes.test.ts.

const unique = crypto.randomUUID()
/** Two models of this run. */
const ofBarrier = { deviceType: '17', deviceTypeName: '道闸' }
const barrier = { serialPrefix: newSerial('I'), modelName: `Barrier ${unique}`, ...ofBarrier }
const productPictureUrl = 'https://example.com/g.png'
const gate = { serialPrefix: newSerial('I'), modelName: `Gate ${unique}`, productPictureUrl }
const imported = new Set<string>()

beforeAll(async () => {
  for (const model of [barrier, gate]) await succeed('saveDeviceModel', model)
})

afterAll(async () => {
  for (const deviceNo of imported) await client.operate('deleteDeviceInventory', { deviceNo })
  for (const { serialPrefix } of [barrier, gate]) await client.operate('deleteDeviceModel', { serialPrefix })
})

function importEntries(...entries: { deviceNo: string; modelName: string }[]) {
  for (const { deviceNo } of entries) imported.add(deviceNo)
  return client.operate('importDeviceInventory', { entries })
}

async function entriesFrom(deviceNo: string) {
  return (await succeed('pageDeviceInventory', { deviceNo, pageSize: 100 })).list
}

test('importDeviceInventory adds entries of exactly their members, and the page shows them', async () => {
  const base = newSerial()
  const entries = ['1', '2'].map((end) => ({ deviceNo: base + end, modelName: barrier.modelName }))
  expect(expectSuccess(await importEntries(...entries))).toEqual({ added: 2, changed: 0 })
  const shown = await entriesFrom(base)
  expect(shown.map(({ createTime, ...entry }) => entry)).toEqual(entries)
  for (const { createTime } of shown) expectNow(createTime)
})

test('an entry that is there already counts as changed, also if its model stays', async () => {
  const { modelName } = barrier
  const known = { deviceNo: newSerial(), modelName }
  expectSuccess(await importEntries(known))
  const again = await importEntries(known, { deviceNo: newSerial(), modelName })
  expect(expectSuccess(again)).toEqual({ added: 1, changed: 1 })
})

test('an import is all of the list or nothing: unknown models, faulty serials and those that stand in it twice are named', async () => {
  const base = newSerial()
  const entry = (end: string, modelName = barrier.modelName) => ({ deviceNo: base + end, modelName })
  const faulty = async (entries: ReturnType<typeof entry>[], ...places: string[]) =>
    expectFaults(
      await importEntries(...entries),
      places.map((place) => `entries${place}`),
    )
  const unknown = [entry('1', 'unknown'), entry('2'), entry('3', barrier.modelName.toLowerCase())]
  await faulty(unknown, '[0].modelName', '[2].modelName')
  await faulty([entry('1'), entry(' 3')], '[1].deviceNo')
  await faulty([entry('1'), entry('2'), entry('1', gate.modelName), entry('1')], '[2].deviceNo', '[3].deviceNo')
  for (const entries of [undefined, null, '', [], {}, 'x', 5]) {
    expectFaults(await client.operate('importDeviceInventory', { entries }), ['entries'])
  }
  expect(await entriesFrom(base)).toEqual([])
})

test('every fault of every entry is named by its place', async () => {
  const serials = [...neverText({ max: 64, withoutWhiteSpace: true }), ...notGiven]
  const names = [...neverText({ max: 64 }), ...notGiven]
  const entries = [
    ...serials.map((deviceNo) => ({ deviceNo, modelName: barrier.modelName })),
    ...names.map((modelName) => ({ deviceNo: newSerial(), modelName })),
  ]
  const expected = [
    ...serials.map((_, index) => `entries[${index}].deviceNo`),
    ...names.map((_, index) => `entries[${serials.length + index}].modelName`),
  ]
  expectFaults(await client.operate('importDeviceInventory', { entries }), expected)
  const shapes = await client.operate('importDeviceInventory', { entries: [5, null, 'x', [], {}] })
  const places = ['[0]', '[1]', '[2]', '[3]', '[4].deviceNo', '[4].modelName']
  const fields = places.map((place) => `entries${place}`)
  expectFaults(shapes, fields)
})

test('a device whose exact serial is in the inventory takes the entry’s model, before any prefix', async () => {
  const application = await newApplication(client)
  const deviceNo = `${gate.serialPrefix}-001`
  expectSuccess(await importEntries({ deviceNo, modelName: barrier.modelName }))
  const { serialPrefix: _, ...ofBarrier } = barrier
  const created = expectSuccess(await createDeviceOf(application, { deviceNo }))
  expect(created).toMatchObject({ ...ofBarrier, productPictureUrl: null })
  const beside = expectSuccess(await createDeviceOf(application, { deviceNo: `${deviceNo}1` }))
  expect(beside).toMatchObject({ modelName: gate.modelName, productPictureUrl, deviceType: null })
})

test('pageDeviceInventory finds entries by parts of their serial and of their model’s name', async () => {
  const base = newSerial()
  const entries = [
    { deviceNo: `${base}b`, modelName: barrier.modelName },
    { deviceNo: `${base}a`, modelName: gate.modelName },
    { deviceNo: `${base}B`, modelName: barrier.modelName },
  ]
  expectSuccess(await importEntries(...entries))
  const all = entries.map(({ deviceNo }) => deviceNo).toSorted()
  const filters: [filter: object, found: string[]][] = [
    [{ deviceNo: base }, all],
    [{ deviceNo: base, modelName: `gate ${unique}` }, [`${base}a`]],
    [{ deviceNo: base.slice(1).toLowerCase() }, all],
    [{ deviceNo: `${base}_` }, []],
    [{ deviceNo: `%${base}` }, []],
  ]
  for (const [filter, found] of filters) {
    expect((await succeed('pageDeviceInventory', filter)).list.map(({ deviceNo }) => deviceNo)).toEqual(found)
  }
})

test('deleteDeviceInventory answers the entry and takes it away; one that is not there is 404 of the device band', async () => {
  const deviceNo = newSerial()
  expectSuccess(await importEntries({ deviceNo, modelName: barrier.modelName }))
  const [entry] = await entriesFrom(deviceNo)
  expect(await succeed('deleteDeviceInventory', { deviceNo })).toEqual(entry as object as never)
  expect(await entriesFrom(deviceNo)).toEqual([])
  const gone = await client.operate('deleteDeviceInventory', { deviceNo })
  expect([gone.status, gone.code, gone.data]).toEqual([404, 20022, null as never])
  for (const faulty of [undefined, '', 'a b', 5]) {
    expectFaults(await client.operate('deleteDeviceInventory', { deviceNo: faulty }), ['deviceNo'])
  }
})
