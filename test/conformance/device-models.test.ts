import { expect, test } from 'bun:test'
import { newApplication, newSerial } from '../kit/records.ts'
import { client, createDeviceOf, expectNow, expectSuccess, succeed } from './support.ts'

// That a model decides for the next device at once, in every process, is in test/faults/two-processes.test.ts.

const full = { productPictureUrl: 'https://example.com/barrier.png', deviceType: '17', deviceTypeName: '道闸' }

function save(members: Record<string, unknown>) {
  return client.operate('saveDeviceModel', { serialPrefix: newSerial('M'), modelName: 'Barrier', ...members })
}

async function remove(serialPrefix: string): Promise<void> {
  await succeed('deleteDeviceModel', { serialPrefix })
}

/** The models whose serial prefix begins with this text, as the page shows them. */
async function modelsFrom(serialPrefix: string) {
  return (await succeed('pageDeviceModels', { serialPrefix, pageSize: 100 })).list
}

test('saveDeviceModel makes a model of exactly its members, and replaces it: what is not given is cleared', async () => {
  const serialPrefix = newSerial('M')
  const model = expectSuccess(await save({ serialPrefix, ...full }))
  const { createTime, ...rest } = model
  expect(rest).toEqual({ serialPrefix, modelName: 'Barrier', ...full })
  expectNow(createTime)
  expect(await modelsFrom(serialPrefix)).toEqual([model])
  // A device takes its model from the prefix that its serial begins with.
  const device = await createDeviceOf(await newApplication(client), { deviceNo: `${serialPrefix}-001` })
  expect(expectSuccess(device)).toMatchObject({ modelName: 'Barrier', ...full })
  const replaced = expectSuccess(await save({ serialPrefix, modelName: 'Gate' }))
  expect(replaced).toMatchObject({ modelName: 'Gate', productPictureUrl: null, deviceType: null, deviceTypeName: null })
  expect(await modelsFrom(serialPrefix)).toEqual([replaced])
  await remove(serialPrefix)
  const gone = await client.operate('deleteDeviceModel', { serialPrefix })
  expect([gone.status, gone.code, gone.data]).toEqual([404, 20021, null as never])
})

test('the longest matching prefix decides, whatever the order in which the models were made', async () => {
  const application = await newApplication(client)
  const base = newSerial('M')
  const prefixes = [`${base}A`, base, `${base}ABC`, `${base}AB`]
  for (const serialPrefix of prefixes) expectSuccess(await save({ serialPrefix, modelName: `model ${serialPrefix}` }))
  const modelOf = async (deviceNo: string) => expectSuccess(await createDeviceOf(application, { deviceNo })).modelName
  for (const [end, prefix] of Object.entries({ ABCD: 'ABC', ABC: 'ABC', ABX: 'AB', AX: 'A', X: '', '': '' })) {
    expect([end, await modelOf(base + end)]).toEqual([end, `model ${base}${prefix}`])
  }
  for (const none of [base.slice(0, -1), `x${base}`]) expect(await modelOf(none)).toBeNull()
  for (const serialPrefix of prefixes) await remove(serialPrefix)
})

test('a prefix is text, not a pattern', async () => {
  const application = await newApplication(client)
  const base = newSerial('M')
  const patterns = [`${base}%`, `${base}_`, `${base}.*`]
  for (const serialPrefix of patterns) expectSuccess(await save({ serialPrefix }))
  expect(expectSuccess(await createDeviceOf(application, { deviceNo: `${base}x1` })).modelName).toBeNull()
  expect(expectSuccess(await createDeviceOf(application, { deviceNo: `${base}%1` })).modelName).toBe('Barrier')
  for (const serialPrefix of patterns) await remove(serialPrefix)
})

test('pageDeviceModels finds models by their prefix’s beginning and by a part of their name, in order of prefix', async () => {
  const base = newSerial('M')
  const unique = crypto.randomUUID()
  const prefixes = [`${base}b`, `${base}a`, `${base}B`]
  for (const serialPrefix of prefixes) expectSuccess(await save({ serialPrefix, modelName: `Gate ${unique}` }))
  const shown = (models: { serialPrefix: string }[]) => models.map((model) => model.serialPrefix)
  expect(shown(await modelsFrom(base))).toEqual(prefixes.toSorted())
  expect(shown(await modelsFrom(`${base}b`))).toEqual([`${base}b`])
  expect(await modelsFrom(`${base}%`)).toEqual([])
  const byName = await succeed('pageDeviceModels', { modelName: unique.slice(2) })
  expect(shown(byName.list)).toEqual(prefixes.toSorted())
  for (const serialPrefix of prefixes) await remove(serialPrefix)
})
