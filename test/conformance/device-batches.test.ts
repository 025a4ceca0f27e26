import { expect, test } from 'bun:test'
import { createDevice, createDevices, type DeviceRecord, getDevice } from '../../src/devices/contract.ts'
import { unbindDevice } from '../../src/devices/ownership/contract.ts'
import { type Answer, type Faults, newApplication, newSerial, type TestApplication, takeOffline } from '../harness.ts'
import { client, createDeviceOf, expectFaults, expectRefusal, expectSuccess } from './support.ts'

type Results = { deviceNo: string | null; code: number; msg: string; data: unknown }[]

function row(members: Record<string, unknown> = {}) {
  return {
    deviceNo: newSerial('B'),
    deviceName: 'Gate',
    districtCode: '360102',
    coordinates: '115.899918,28.676493',
    ...members,
  }
}

async function createBatch(
  { token }: TestApplication,
  devices: unknown[],
  headers: Record<string, string> = {},
): Promise<Answer<{ results: Results }>> {
  const answer = await client.call(createDevices, { devices }, { token, headers })
  return answer as Answer<{ results: Results }>
}

function faultyFields(data: unknown): string[] {
  return (data as Faults).errors.map(({ field }) => field).sort()
}

const owner = await newApplication(client)

test('createBatch answers one outcome a row, in order, each with its record', async () => {
  const rows = Array.from({ length: 20 }, (_, index) => row({ deviceName: `Gate ${index}`, tag: null }))
  const { results } = expectSuccess(await createBatch(owner, rows))
  expect(results.map(({ deviceNo, code, msg }) => ({ deviceNo, code, msg }))).toEqual(
    rows.map(({ deviceNo }) => ({ deviceNo, code: 0, msg: 'success' })),
  )
  for (const [index, { deviceNo, deviceName }] of rows.entries()) {
    const record = expectSuccess(await client.call(getDevice, { deviceNo }, { token: owner.token }))
    expect(results[index]?.data).toEqual(record)
    expect(record.deviceName).toBe(deviceName)
  }
})

test('a row of createBatch answers exactly what createDevice answers', async () => {
  const single = expectSuccess(await createDeviceOf(owner, { tag: 'x' }))
  const members = {
    tag: 'x',
    deviceName: single.deviceName,
    provinceCode: single.deviceBattery.provinceCode,
    cityCode: single.deviceBattery.cityCode,
    detailAddress: single.deviceBattery.detailAddress,
  }
  const { results } = expectSuccess(await createBatch(owner, [row(members)]))
  const record = results[0]?.data as DeviceRecord
  expect({ ...record, deviceNo: '', createTime: '' }).toEqual({ ...single, deviceNo: '', createTime: '' })
  expect(Object.keys(record)).toEqual(Object.keys(single))
})

test('a row that is refused or faulty is its own outcome and stops no other', async () => {
  const other = await newApplication(client)
  const mine = expectSuccess(await createDeviceOf(owner)).deviceNo
  const theirs = expectSuccess(await createDeviceOf(other)).deviceNo
  const good = row()
  const rows = [
    row({ deviceNo: mine }),
    row({ deviceNo: theirs }),
    good,
    { ...good },
    row({ coordinates: '28.6,115.9', districtCode: '' }),
    'no device',
    null,
    row(),
  ]
  const { results } = expectSuccess(await createBatch(owner, rows))
  expect(results.map(({ code }) => code)).toEqual([20017, 20013, 0, 20017, 10001, 10001, 10001, 0])
  expect(results.map(({ deviceNo }) => deviceNo === null)).toEqual([...Array(5).fill(false), true, true, false])
  expect(results[0]?.data).toBeNull()
  expect(faultyFields(results[4]?.data)).toEqual(['coordinates', 'districtCode'])
  expect(JSON.stringify(results[1])).not.toContain(other.appId)
})

test('createBatch tells its rows’ refusals in the language that is preferred', async () => {
  const { results } = expectSuccess(await createBatch(owner, [{}], { 'accept-language': 'zh-CN' }))
  expect(results[0]?.msg).toMatch(/\p{Script=Han}/u)
  expect(JSON.stringify(results[0]?.data)).toMatch(/"reason":"[^"]*\p{Script=Han}/u)
})

test('createBatch takes 1 to 1000 rows', async () => {
  expectFaults(await createBatch(owner, []), ['devices'])
  expectFaults(
    await createBatch(
      owner,
      Array.from({ length: 1001 }, () => ({})),
    ),
    ['devices'],
  )
  const missing = await client.call(createDevices, {}, { token: owner.token })
  expectFaults(missing, ['devices'])
  const rows = Array.from({ length: 1000 }, () => row({ tag: 'x'.repeat(512), detailAddress: '路'.repeat(255) }))
  const { results } = expectSuccess(await createBatch(owner, rows))
  expect(results.filter(({ code }) => code === 0)).toHaveLength(1000)
})

test('every row of an offline application is refused with 10006, and none is created', async () => {
  const application = await newApplication(client)
  await takeOffline(client, application.appId)
  const rows = [row(), row()]
  const { results } = expectSuccess(await createBatch(application, rows))
  expect(results.map(({ code }) => code)).toEqual([10006, 10006])
  const answer = await client.call(getDevice, { deviceNo: rows[0]?.deviceNo }, { token: application.token })
  expectRefusal(answer, 'deviceNotFound')
})

test('createBatch is refused for another application, and asks an operator for one', async () => {
  const other = await newApplication(client)
  const body = { appId: other.appId, devices: [row()] }
  expectRefusal(await client.call(createDevices, body, { token: owner.token }), 'notPermitted')
  expectFaults(await client.operate(createDevices, { devices: [row()] }), ['appId'])
  expectRefusal(await client.operate(createDevices, { appId: 'no-such', devices: [row()] }), 'applicationNotFound')
  const { results } = expectSuccess(await client.operate(createDevices, body)) as { results: Results }
  expect(results[0]?.data).toMatchObject({ appId: other.appId })
})

test('a batch that is sent again with its key has one effect and the first answers', async () => {
  const rows = [row(), row(), row()]
  const headers = { 'idempotency-key': crypto.randomUUID() }
  const [first, second] = [await createBatch(owner, rows, headers), await createBatch(owner, rows, headers)]
  expectSuccess(first)
  expect(second.text).toBe(first.text)
  // Sent without the key, each row is refused because its serial number is in use.
  const { results } = expectSuccess(await createBatch(owner, rows))
  expect(results.map(({ code }) => code)).toEqual([20017, 20017, 20017])
})

test('a batch’s key with another body is refused, and touches no key of createDevice', async () => {
  const key = crypto.randomUUID()
  const headers = { 'idempotency-key': key }
  expectSuccess(await createBatch(owner, [row()], headers))
  const fresh = row()
  expectRefusal(await createBatch(owner, [fresh], headers), 'idempotencyKeyReused')
  expectRefusal(await client.call(getDevice, { deviceNo: fresh.deviceNo }, { token: owner.token }), 'deviceNotFound')
  const body = { appId: owner.appId, ...row() }
  expectSuccess(await client.call(createDevice, body, { token: owner.token, headers }))
})

test('the first answer is answered again whole, also where a row was refused', async () => {
  const other = await newApplication(client)
  const taken = expectSuccess(await createDeviceOf(other)).deviceNo
  const rows = [row(), row({ deviceNo: taken }), {}]
  const headers = { 'idempotency-key': crypto.randomUUID() }
  const first = await createBatch(owner, rows, headers)
  expect(expectSuccess(first).results.map(({ code }) => code)).toEqual([0, 20013, 10001])
  expectSuccess(await client.call(unbindDevice, { deviceNo: taken }, { token: other.token }))
  const second = await createBatch(owner, rows, { ...headers, 'accept-language': 'zh' })
  expect(second.text).toBe(first.text)
  expectRefusal(await client.call(getDevice, { deviceNo: taken }, { token: owner.token }), 'deviceNotFound')
})

test('of two batches with one key and different bodies at once, one has no effect at all', async () => {
  for (let round = 0; round < 5; round++) {
    const headers = { 'idempotency-key': crypto.randomUUID() }
    const batches = [Array.from({ length: 3 }, () => row()), Array.from({ length: 5 }, () => row())]
    const answers = await Promise.all(batches.map((rows) => createBatch(owner, rows, headers)))
    expect(answers.map(({ code }) => code).sort()).toEqual([0, 10008])
    const refused = batches[answers.findIndex(({ code }) => code === 10008)] ?? []
    for (const { deviceNo } of refused) {
      expectRefusal(await client.call(getDevice, { deviceNo }, { token: owner.token }), 'deviceNotFound')
    }
  }
})
