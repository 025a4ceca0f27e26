import { afterAll, beforeAll, expect, test } from 'bun:test'
import {
  deleteDeviceInventory,
  importDeviceInventory,
  pageDeviceInventory,
} from '../../src/devices/inventory/contract.ts'
import { deleteDeviceModel, saveDeviceModel } from '../../src/devices/models/contract.ts'
import { newApplication, newSerial } from '../harness.ts'
import { astral, client, createDeviceOf, expectFaults, expectNow, expectRefusal, expectSuccess } from './support.ts'
import { neverText, notGiven } from './texts.ts'

const unique = crypto.randomUUID()
/** Three models of this run; the name of the third, `long`, has the greatest allowed length. */
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
const long = { serialPrefix: newSerial('I'), modelName: [...unique, ...astral.repeat(64)].slice(0, 64).join('') }
const imported = new Set<string>()

beforeAll(async () => {
  for (const model of [barrier, gate, long]) expectSuccess(await client.operate(saveDeviceModel, model))
})

afterAll(async () => {
  for (const deviceNo of imported) await client.operate(deleteDeviceInventory, { deviceNo })
  for (const { serialPrefix } of [barrier, gate, long]) await client.operate(deleteDeviceModel, { serialPrefix })
})

function importEntries(...entries: { deviceNo: string; modelName: string }[]) {
  for (const { deviceNo } of entries) imported.add(deviceNo)
  return client.operate(importDeviceInventory, { entries })
}

async function entriesFrom(deviceNo: string) {
  return expectSuccess(await client.operate(pageDeviceInventory, { deviceNo, pageSize: 100 })).list
}

test('importDeviceInventory adds entries of exactly their members, and the page shows them', async () => {
  const base = newSerial()
  const entries = ['1', '2'].map((end) => ({ deviceNo: base + end, modelName: barrier.modelName }))
  expect(expectSuccess(await importEntries(...entries))).toEqual({ added: 2, changed: 0 })
  const shown = await entriesFrom(base)
  expect(shown.map(({ createTime, ...entry }) => entry)).toEqual(entries)
  for (const { createTime } of shown) expectNow(createTime)
})

test('importing a serial again changes its model', async () => {
  const deviceNo = newSerial()
  expectSuccess(await importEntries({ deviceNo, modelName: barrier.modelName }))
  const fresh = newSerial()
  const again = await importEntries(
    { deviceNo, modelName: gate.modelName },
    { deviceNo: fresh, modelName: gate.modelName },
  )
  expect(expectSuccess(again)).toEqual({ added: 1, changed: 1 })
  expect(await entriesFrom(deviceNo)).toMatchObject([{ deviceNo, modelName: gate.modelName }])
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

test('the model name of an entry is a device model’s, and every unknown one is named', async () => {
  const [one, two, three] = [newSerial(), newSerial(), newSerial()]
  const answer = await importEntries(
    { deviceNo: one, modelName: `no such model ${unique}` },
    { deviceNo: two, modelName: barrier.modelName },
    { deviceNo: three, modelName: barrier.modelName.toLowerCase() },
  )
  expectFaults(answer, ['entries[0].modelName', 'entries[2].modelName'])
})

test('an import is all of the list or nothing', async () => {
  const base = newSerial()
  const good = { deviceNo: `${base}1`, modelName: barrier.modelName }
  expectFaults(await importEntries(good, { deviceNo: `${base}2`, modelName: 'unknown' }), ['entries[1].modelName'])
  expectFaults(await importEntries(good, { deviceNo: `${base} 3`, modelName: barrier.modelName }), [
    'entries[1].deviceNo',
  ])
  expect(await entriesFrom(base)).toEqual([])
})

test('a serial that stands in the list twice is named', async () => {
  const deviceNo = newSerial()
  const entry = { deviceNo, modelName: barrier.modelName }
  const other = { deviceNo: newSerial(), modelName: barrier.modelName }
  const answer = await importEntries(entry, other, { ...entry, modelName: gate.modelName }, entry)
  expectFaults(answer, ['entries[2].deviceNo', 'entries[3].deviceNo'])
  expect(await entriesFrom(deviceNo)).toEqual([])
})

test('entries is a list of at least one entry', async () => {
  for (const entries of [undefined, null, '', [], {}, 'x', 5]) {
    expectFaults(await client.operate(importDeviceInventory, { entries }), ['entries'])
  }
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
  expectFaults(await client.operate(importDeviceInventory, { entries }), expected)
  const shapes = await client.operate(importDeviceInventory, { entries: [5, null, 'x', [], {}] })
  expectFaults(shapes, [
    'entries[0]',
    'entries[1]',
    'entries[2]',
    'entries[3]',
    'entries[4].deviceNo',
    'entries[4].modelName',
  ])
})

test('an import may be larger than 64 KiB', async () => {
  const base = newSerial()
  const entries = Array.from({ length: 200 }, (_, index) => ({
    deviceNo: [...`${base}-${index}-`, ...astral.repeat(64)].slice(0, 64).join(''),
    modelName: long.modelName,
  }))
  expect(Buffer.byteLength(JSON.stringify({ entries }))).toBeGreaterThan(64 * 1024)
  expect(expectSuccess(await importEntries(...entries))).toEqual({ added: 200, changed: 0 })
  expect(expectSuccess(await client.operate(pageDeviceInventory, { deviceNo: base })).total).toBe(200)
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
  expectSuccess(await client.operate(deleteDeviceInventory, { deviceNo: third }))
  expect(expectSuccess(await createDeviceOf(two, { deviceNo: third })).modelName).toBeNull()
})

test('deleteDeviceInventory answers the entry and takes it away', async () => {
  const deviceNo = newSerial()
  expectSuccess(await importEntries({ deviceNo, modelName: barrier.modelName }))
  const [entry] = await entriesFrom(deviceNo)
  expect(expectSuccess(await client.operate(deleteDeviceInventory, { deviceNo }))).toEqual(entry as object as never)
  expect(await entriesFrom(deviceNo)).toEqual([])
})

test('an entry that is deleted leaves a device of its serial bound', async () => {
  const application = await newApplication(client)
  const deviceNo = newSerial()
  expectSuccess(await importEntries({ deviceNo, modelName: barrier.modelName }))
  expectSuccess(await createDeviceOf(application, { deviceNo }))
  expectSuccess(await client.operate(deleteDeviceInventory, { deviceNo }))
  expectRefusal(await createDeviceOf(application, { deviceNo }), 'deviceAlreadyYours')
})

test('deleting an entry that does not exist is 404 with a code of the device band', async () => {
  const answer = await client.operate(deleteDeviceInventory, { deviceNo: newSerial() })
  expect(answer.status).toBe(404)
  expect(answer.code).toBe(20022)
  expect(answer.data as unknown).toBeNull()
  for (const deviceNo of [undefined, '', 'a b', 5]) {
    expectFaults(await client.operate(deleteDeviceInventory, { deviceNo }), ['deviceNo'])
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
    expectSuccess(await client.operate(pageDeviceInventory, filter)).list.map((entry) => entry.deviceNo)
  expect(await found({ deviceNo: base })).toEqual([`${base}B`, `${base}a`, `${base}b`])
  expect(await found({ deviceNo: base, modelName: `gate ${unique}` })).toEqual([`${base}a`])
  expect(await found({ deviceNo: base.slice(1).toLowerCase() })).toEqual([`${base}B`, `${base}a`, `${base}b`])
  expect(await found({ deviceNo: `${base}_` })).toEqual([])
  expect(await found({ deviceNo: `%${base}` })).toEqual([])
})

test('applications have no business with the inventory', async () => {
  const { token } = await newApplication(client)
  const entries = [{ deviceNo: newSerial(), modelName: barrier.modelName }]
  expectRefusal(await client.call(importDeviceInventory, { entries }, { token }), 'notPermitted')
  expectRefusal(await client.call(deleteDeviceInventory, { deviceNo: 'x' }, { token }), 'notPermitted')
  expectRefusal(await client.call(pageDeviceInventory, {}, { token }), 'notPermitted')
})
