import { afterAll, beforeAll, expect, test } from 'bun:test'
import { newApplication, newSerial } from '../kit/records.ts'
import { client, createDeviceOf, expectFaults, expectNow, expectSuccess, succeed } from './support.ts'
import { neverText, notGiven } from './texts.ts'

const unique = crypto.randomUUID()
/** Two models of this run. */
const barrier = {
  serialPrefix: newSerial('I'),
  modelName: `Barrier ${unique}`,
  deviceType: '17',
  deviceTypeName: '道闸',
}
const gate = {
  serialPrefix: newSerial('I'),
  modelName: `Gate ${unique}`,
  productPictureUrl: 'https://example.com/g.png',
}
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
  const deviceNo = newSerial()
  expectSuccess(await importEntries({ deviceNo, modelName: barrier.modelName }))
  const again = await importEntries(
    { deviceNo, modelName: barrier.modelName },
    { deviceNo: newSerial(), modelName: barrier.modelName },
  )
  expect(expectSuccess(again)).toEqual({ added: 1, changed: 1 })
})

test('an import is all of the list or nothing: unknown models, faulty serials and those that stand in it twice are named', async () => {
  const base = newSerial()
  const entry = (end: string, modelName = barrier.modelName) => ({ deviceNo: base + end, modelName })
  const lists: [{ deviceNo: string; modelName: string }[], string[]][] = [
    [
      [entry('1', 'unknown'), entry('2'), entry('3', barrier.modelName.toLowerCase())],
      ['[0].modelName', '[2].modelName'],
    ],
    [[entry('1'), entry(' 3')], ['[1].deviceNo']],
    [
      [entry('1'), entry('2'), entry('1', gate.modelName), entry('1')],
      ['[2].deviceNo', '[3].deviceNo'],
    ],
  ]
  for (const [entries, places] of lists) {
    expectFaults(
      await importEntries(...entries),
      places.map((place) => `entries${place}`),
    )
  }
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
  expectFaults(shapes, [
    'entries[0]',
    'entries[1]',
    'entries[2]',
    'entries[3]',
    'entries[4].deviceNo',
    'entries[4].modelName',
  ])
})

test('a device whose exact serial is in the inventory takes the entry’s model, before any prefix', async () => {
  const application = await newApplication(client)
  const deviceNo = `${gate.serialPrefix}-001`
  expectSuccess(await importEntries({ deviceNo, modelName: barrier.modelName }))
  expect(expectSuccess(await createDeviceOf(application, { deviceNo }))).toMatchObject({
    modelName: barrier.modelName,
    deviceType: '17',
    deviceTypeName: '道闸',
    productPictureUrl: null,
  })
  const beside = expectSuccess(await createDeviceOf(application, { deviceNo: `${deviceNo}1` }))
  expect(beside).toMatchObject({
    modelName: gate.modelName,
    productPictureUrl: gate.productPictureUrl,
    deviceType: null,
  })
})

test('an entry that is imported, changed or deleted decides for the next device at once', async () => {
  const [one, two] = await Promise.all([newApplication(client), newApplication(client)])
  const [first, second, third] = [newSerial(), newSerial(), newSerial()]
  const both = (modelName: string) => [first, second, third].map((deviceNo) => ({ deviceNo, modelName }))
  expectSuccess(await importEntries(...both(barrier.modelName)))
  expect(expectSuccess(await createDeviceOf(one, { deviceNo: first })).modelName).toBe(barrier.modelName)
  expectSuccess(await importEntries(...both(gate.modelName)))
  expect(expectSuccess(await createDeviceOf(two, { deviceNo: second })).modelName).toBe(gate.modelName)
  await succeed('deleteDeviceInventory', { deviceNo: third })
  expect(expectSuccess(await createDeviceOf(two, { deviceNo: third })).modelName).toBeNull()
})

test('deleting an entry that does not exist is 404 with a code of the device band', async () => {
  const answer = await client.operate('deleteDeviceInventory', { deviceNo: newSerial() })
  expect(answer.status).toBe(404)
  expect(answer.code).toBe(20022)
  expect(answer.data as unknown).toBeNull()
  for (const deviceNo of [undefined, '', 'a b', 5]) {
    expectFaults(await client.operate('deleteDeviceInventory', { deviceNo }), ['deviceNo'])
  }
})

test('pageDeviceInventory finds entries by parts of their serial and of their model’s name', async () => {
  const base = newSerial()
  const entries = [
    { deviceNo: `${base}b`, modelName: barrier.modelName },
    { deviceNo: `${base}a`, modelName: gate.modelName },
    { deviceNo: `${base}B`, modelName: barrier.modelName },
  ]
  expectSuccess(await importEntries(...entries))
  const found = async (filter: Record<string, string>) =>
    (await succeed('pageDeviceInventory', filter)).list.map((entry) => entry.deviceNo)
  expect(await found({ deviceNo: base })).toEqual([`${base}B`, `${base}a`, `${base}b`])
  expect(await found({ deviceNo: base, modelName: `gate ${unique}` })).toEqual([`${base}a`])
  expect(await found({ deviceNo: base.slice(1).toLowerCase() })).toEqual([`${base}B`, `${base}a`, `${base}b`])
  expect(await found({ deviceNo: `${base}_` })).toEqual([])
  expect(await found({ deviceNo: `%${base}` })).toEqual([])
})

test('deleteDeviceInventory answers the entry and takes it away', async () => {
  const deviceNo = newSerial()
  expectSuccess(await importEntries({ deviceNo, modelName: barrier.modelName }))
  const [entry] = await entriesFrom(deviceNo)
  expect(await succeed('deleteDeviceInventory', { deviceNo })).toEqual(entry as object as never)
  expect(await entriesFrom(deviceNo)).toEqual([])
})
