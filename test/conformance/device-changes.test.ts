import { describe, expect, test } from 'bun:test'
import { getDevice, updateDevice } from '../../src/devices/contract.ts'
import { pageEvents } from '../../src/events/contract.ts'
import { newApplication, newSerial, type TestApplication } from '../harness.ts'
import { client, createDeviceOf, expectFaults, expectRefusal, expectSuccess } from './support.ts'

async function newDevice(application: TestApplication, members: Record<string, unknown> = {}) {
  return expectSuccess(await createDeviceOf(application, members))
}

function update({ token }: TestApplication, body: Record<string, unknown>, headers: Record<string, string> = {}) {
  return client.call(updateDevice, body, { token, headers })
}

function detail({ token }: TestApplication, deviceNo: string) {
  return client.call(getDevice, { deviceNo }, { token })
}

async function eventTypes({ token }: TestApplication, deviceNo: string): Promise<string[]> {
  const page = expectSuccess(await client.call(pageEvents, { deviceNo, pageSize: '100' }, { token }))
  return page.list.map(({ type }) => type)
}

const owner = await newApplication(client)

describe('getDevice', () => {
  test('answers the record that createDevice answered, whether the application names itself or not', async () => {
    const created = await newDevice(owner)
    for (const appId of [{}, { appId: owner.appId }, { appId: '' }]) {
      const answer = await client.call(getDevice, { ...appId, deviceNo: created.deviceNo }, { token: owner.token })
      expect(expectSuccess(answer)).toEqual(created)
      expect(answer.headers.get('etag')).toMatch(/^"[\w-]{22}"$/)
    }
    const operated = await client.operate(getDevice, { appId: owner.appId, deviceNo: created.deviceNo })
    expect(expectSuccess(operated)).toEqual(created)
  })

  test('answers one refusal for an unknown serial and for another application’s', async () => {
    const stranger = await newApplication(client)
    const { deviceNo } = await newDevice(owner)
    const theirs = await detail(stranger, deviceNo)
    expectRefusal(theirs, 'deviceNotFound')
    expect((await detail(stranger, newSerial())).text).toBe(theirs.text)
    const operated = await client.operate(getDevice, { appId: stranger.appId, deviceNo })
    expectRefusal(operated, 'deviceNotFound')
  })

  test('asks an operator for the application, and names every faulty member', async () => {
    expectRefusal(await client.operate(getDevice, { deviceNo: newSerial() }), 'deviceNotFound')
    expectFaults(await client.call(getDevice, { appId: 'x'.repeat(65) }, { token: owner.token }), ['appId', 'deviceNo'])
  })
})

describe('updateDevice', () => {
  test('changes the members that are given and leaves the others', async () => {
    const created = await newDevice(owner, { tag: 'old' })
    const { deviceNo } = created
    const updated = expectSuccess(await update(owner, { deviceNo, deviceName: '东门道闸' }))
    expect(updated).toEqual({ ...created, deviceName: '东门道闸' })
    const moved = { provinceCode: '110000', cityCode: '110100', districtCode: '110101', coordinates: '116.4,39.9' }
    const after = expectSuccess(await update(owner, { deviceNo, ...moved, detailAddress: 'No. 2' }))
    expect(after).toEqual({
      ...updated,
      deviceBattery: {
        ...moved,
        provinceName: '北京市',
        cityName: after.deviceBattery.cityName,
        districtName: '东城区',
        detailAddress: 'No. 2',
      },
    })
    expect(expectSuccess(await detail(owner, deviceNo))).toEqual(after)
  })

  test('clears an optional member with null or "", and sets the documented defaults again', async () => {
    for (const nothing of [null, '']) {
      const { deviceNo } = await newDevice(owner, { tag: 't', provinceCode: '110000', cityCode: '110100' })
      const body = { deviceNo, tag: nothing, detailAddress: nothing, provinceCode: nothing, cityCode: nothing }
      const { tag, deviceBattery } = expectSuccess(await update(owner, body))
      expect([tag, deviceBattery.detailAddress]).toEqual([null, null])
      expect([deviceBattery.provinceCode, deviceBattery.cityCode]).toEqual(['360000', '360100'])
    }
  })

  test('refuses null and "" for a required member, and names every fault', async () => {
    const { deviceNo } = await newDevice(owner)
    for (const nothing of [null, '', ' ']) {
      const body = { deviceNo, deviceName: nothing, districtCode: nothing, coordinates: nothing, tag: 'x'.repeat(513) }
      expectFaults(await update(owner, body), ['deviceName', 'districtCode', 'coordinates', 'tag'])
    }
  })

  test('cannot change what belongs to the device itself', async () => {
    const created = await newDevice(owner)
    const body = { deviceNo: created.deviceNo, modelName: 'mine', status: 2, onlineStatus: 1, createTime: 'now' }
    expect(expectSuccess(await update(owner, body))).toEqual(created)
  })

  test('writes one event for a change, and none where nothing changes', async () => {
    const { deviceNo, deviceName } = await newDevice(owner)
    expectSuccess(await update(owner, { deviceNo, deviceName }))
    expectSuccess(await update(owner, { deviceNo }))
    expect(await eventTypes(owner, deviceNo)).toEqual(['device.bound'])
    expectSuccess(await update(owner, { deviceNo, tag: 'new' }))
    expect(await eventTypes(owner, deviceNo)).toEqual(['device.bound', 'device.updated'])
  })

  test('is refused for another application’s device and for an unknown one', async () => {
    const stranger = await newApplication(client)
    const { deviceNo, deviceName } = await newDevice(owner)
    expectRefusal(await update(stranger, { deviceNo, deviceName: 'taken over' }), 'deviceNotFound')
    expectRefusal(await update(stranger, { appId: owner.appId, deviceNo, deviceName: 'x' }), 'notPermitted')
    expectRefusal(await update(owner, { deviceNo: newSerial(), deviceName: 'x' }), 'deviceNotFound')
    expect(expectSuccess(await detail(owner, deviceNo)).deviceName).toBe(deviceName)
  })
})

describe('If-Match', () => {
  test('lets an update through while the record is the one that was read, and refuses it afterwards', async () => {
    const { deviceNo } = await newDevice(owner)
    const read = (await detail(owner, deviceNo)).headers.get('etag') ?? ''
    const first = await update(owner, { deviceNo, deviceName: 'first' }, { 'if-match': read })
    expectSuccess(first)
    const second = await update(owner, { deviceNo, deviceName: 'second' }, { 'if-match': read })
    expectRefusal(second, 'preconditionFailed')
    expect(expectSuccess(await detail(owner, deviceNo)).deviceName).toBe('first')
    // The ETag of an update's response is valid for the next update.
    const next = first.headers.get('etag') ?? ''
    expect(next).not.toBe(read)
    expectSuccess(await update(owner, { deviceNo, deviceName: 'second' }, { 'if-match': next }))
  })

  test('takes * and lists, and the weak form that a compressing proxy makes of the tag', async () => {
    const { deviceNo } = await newDevice(owner)
    const tag = (await detail(owner, deviceNo)).headers.get('etag') ?? ''
    for (const fitting of ['*', tag, `"other", ${tag}`, `W/${tag}`, `"other", W/${tag}`]) {
      expectSuccess(await update(owner, { deviceNo }, { 'if-match': fitting }))
    }
    for (const other of ['W/"other"', '"other"', 'other']) {
      expectRefusal(await update(owner, { deviceNo }, { 'if-match': other }), 'preconditionFailed')
    }
  })
})
