import { describe, expect, test } from 'bun:test'
import type { EventRecord } from '../../src/events/contract.ts'
import { newApplication, newSerial, type TestApplication, takeOffline } from '../kit/records.ts'
import { newPlaced } from './placement-support.ts'
import {
  client,
  createDeviceOf,
  expectFaults,
  expectNow,
  expectRefusal,
  expectSuccess,
  newSite,
  succeed,
} from './support.ts'

const first = await newApplication(client)
const second = await newApplication(client)

function unbind({ token }: TestApplication, deviceNo: string, members: Record<string, unknown> = {}) {
  return client.call('unbindDevice', { deviceNo, ...members }, { token })
}

function detail({ token }: TestApplication, deviceNo: string) {
  return client.call('getDevice', { deviceNo }, { token })
}

function history({ token }: TestApplication, deviceNo: string) {
  return client.call('getDeviceHistory', { deviceNo }, { token })
}

async function events({ token }: TestApplication, deviceNo: string) {
  return (await succeed('pageEvents', { deviceNo, pageSize: '100' }, { token })).list
}

async function newDevice(application: TestApplication, members: Record<string, unknown> = {}) {
  return expectSuccess(await createDeviceOf(application, members))
}

const everything = {
  status: 2,
  onlineStatus: 1,
  runStatus: 1,
  statusRemark: 'E17',
  version: '1',
  batteryStatus: 1,
  batteryEnergy: '50%',
}

describe('unbindDevice', () => {
  test('leaves nothing of the former owner to the next: no state, tag, name or address', async () => {
    const created = await newDevice(first, { tag: 'secret tag', deviceName: 'secret name', detailAddress: 'secret' })
    const { deviceNo } = created
    await succeed('reportDeviceState', { deviceNo, ...everything }, first)
    expectSuccess(await unbind(first, deviceNo))
    const next = await createDeviceOf(second, { deviceNo, deviceName: 'mine', tag: null, detailAddress: null })
    expectSuccess(next)
    expect(next.text).not.toContain('secret')
    expect(next.data).toMatchObject({ status: 1, onlineStatus: 2, runStatus: 0, statusRemark: null, version: null })
    expect(next.data.DeviceBatteryOutput).toEqual({ batteryStatus: null, batteryEnergy: null })
    const shown = await detail(second, deviceNo)
    expect(shown.data).toEqual(next.data)
    expect((await events(second, deviceNo)).map(({ type }) => type)).toEqual(['device.bound'])
    const theirs = await history(second, deviceNo)
    expect(theirs.text).not.toContain(first.appId)
    expect(theirs.text).not.toContain('secret')
  })

  test('does not take a tag of an earlier binding, however soon the device came back as it was', async () => {
    const made = await createDeviceOf(first)
    const { deviceNo } = expectSuccess(made)
    const etag = made.headers.get('etag') ?? ''
    // Repeated, because the clock may reach its next second during a round.
    for (const _ of [1, 2, 3]) {
      for (const { appId } of [second, first]) {
        await succeed('transferDevice', { deviceNo, targetAppId: appId, reason: 'sold' })
      }
      const outdated = { token: first.token, headers: { 'if-match': etag } }
      expectRefusal(await client.call('unbindDevice', { deviceNo }, outdated), 'preconditionFailed')
    }
  })
})

describe('getDeviceHistory', () => {
  test('tells every binding, newest first; an application sees its own only, an operator all or those of the one that is named', async () => {
    const deviceNo = newSerial()
    await newDevice(first, { deviceNo })
    expectSuccess(await unbind(first, deviceNo, { reason: 'sold' }))
    await newDevice(second, { deviceNo })
    expectSuccess(await unbind(second, deviceNo))
    await newDevice(first, { deviceNo })

    const { list } = await succeed('getDeviceHistory', { deviceNo })
    expect(list.map(({ appId, unboundBy, reason }) => [appId, unboundBy, reason])).toEqual([
      [first.appId, null, null],
      [second.appId, `application:${second.appId}`, null],
      [first.appId, `application:${first.appId}`, 'sold'],
    ])
    expect(list[0]?.unboundAt).toBeNull()
    for (const binding of list) {
      expect(Object.keys(binding)).toEqual(['appId', 'boundAt', 'unboundAt', 'unboundBy', 'reason'])
      expectNow(binding.boundAt)
      if (binding.unboundAt !== null) expect(binding.unboundAt >= binding.boundAt).toBe(true)
    }
    const named = await client.operate('getDeviceHistory', { appId: first.appId, deviceNo })
    expect(expectSuccess(named).list).toEqual([list[0], list[2]] as typeof list)
    const stranger = await newApplication(client)
    expectRefusal(await client.operate('getDeviceHistory', { appId: stranger.appId, deviceNo }), 'deviceNotFound')
    expect(expectSuccess(await history(first, deviceNo)).list).toEqual([list[0], list[2]] as typeof list)
    expect(expectSuccess(await history(second, deviceNo)).list).toEqual([list[1]] as typeof list)
  })
})

describe('forceUnbindDevice', () => {
  test('wants a reason and a serial that somebody holds', async () => {
    const { deviceNo } = await newDevice(first)
    for (const reason of [undefined, null, '', ' ']) {
      expectFaults(await client.operate('forceUnbindDevice', { deviceNo, reason }), ['reason'])
    }
    expectRefusal(await client.operate('forceUnbindDevice', { deviceNo: newSerial(), reason: 'x' }), 'deviceNotFound')
    expectSuccess(await detail(first, deviceNo))
  })
})

describe('transferDevice', () => {
  function transfer(deviceNo: string, targetAppId: string, reason: unknown = 'the site was sold') {
    return client.operate('transferDevice', { deviceNo, targetAppId, reason })
  }

  test('happens at one moment, in the order of its events: placement, old binding, new binding', async () => {
    const deviceNo = await newPlaced(first, await newSite(first))
    const after = expectSuccess(await transfer(deviceNo, second.appId))
    const [[placed, ended, left], [came]] = [await events(first, deviceNo), await events(second, deviceNo)].map(
      (list) => list.filter(({ type }) => type !== 'device.bound'),
    ) as [EventRecord[], EventRecord[]]
    expect([placed?.type, ended?.type, left?.type, came?.type]).toEqual([
      ...['device.placed', 'device.unplaced', 'device.transferred', 'device.transferred'],
    ])
    expect(left?.id).toBe((ended?.id ?? 0) + 1)
    expect(new Set([ended?.occurredAt, left?.occurredAt, came?.occurredAt]).size).toBe(1)
    const { list } = await succeed('getDeviceHistory', { deviceNo })
    const moments = [list[0]?.boundAt, list[1]?.unboundAt, after.createTime, ended?.time]
    expect(moments).toEqual(moments.map(() => came?.time))
  })

  test('is refused for an unknown target, an offline one, the owner itself and a free serial', async () => {
    const { deviceNo } = await newDevice(first)
    const offline = await newApplication(client)
    await takeOffline(client, offline.appId)
    expectRefusal(await transfer(deviceNo, 'no-such-application'), 'applicationNotFound')
    expectRefusal(await transfer(deviceNo, offline.appId), 'applicationOffline')
    expectRefusal(await transfer(deviceNo, first.appId), 'deviceAlreadyYours')
    expectRefusal(await transfer(newSerial(), second.appId), 'deviceNotFound')
    expectFaults(await transfer(deviceNo, second.appId, ''), ['reason'])
    expectSuccess(await detail(first, deviceNo))
    expect(expectSuccess(await history(first, deviceNo)).list).toHaveLength(1)
  })
})
