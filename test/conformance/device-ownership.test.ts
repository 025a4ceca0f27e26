import { expect, test } from 'bun:test'
import type { EventRecord } from '../../src/events/contract.ts'
import { newApplication, newSerial, type TestApplication } from '../kit/records.ts'
import { newPlaced } from './placement-support.ts'
import {
  client,
  createDeviceOf,
  expectFaults,
  expectNow,
  expectRefusal,
  expectSuccess,
  feedOf,
  newDevice,
  newSite,
  succeed,
} from './support.ts'

// What test/model/ownership.ts expects after any sequence of calls is not told here again.

const first = await newApplication(client)
const second = await newApplication(client)

const unbind = async ({ token }: TestApplication, deviceNo: string, members: object = {}) =>
  await succeed('unbindDevice', { deviceNo, ...members }, { token })
const history = async (deviceNo: string, as?: TestApplication) =>
  (await succeed('getDeviceHistory', { deviceNo }, as)).list
const transfer = (deviceNo: string, targetAppId: string, reason: unknown = 'sold') =>
  client.operate('transferDevice', { deviceNo, targetAppId, reason })

test('unbinding leaves nothing of the former owner to the next: no state, tag, name or address', async () => {
  const deviceNo = await newDevice(first, { tag: 'secret', deviceName: 'secret', detailAddress: 'secret' })
  const state = { status: 2, onlineStatus: 1, runStatus: 1, statusRemark: 'secret', version: '1' }
  await succeed('reportDeviceState', { deviceNo, ...state, batteryStatus: 1, batteryEnergy: '50%' }, first)
  await unbind(first, deviceNo, { reason: 'secret' })
  const next = await createDeviceOf(second, { deviceNo, deviceName: 'mine', tag: null, detailAddress: null })
  expect(expectSuccess(next)).toMatchObject({
    ...{ status: 1, onlineStatus: 2, runStatus: 0, statusRemark: null, version: null },
    DeviceBatteryOutput: { batteryStatus: null, batteryEnergy: null },
  })
  for (const { text } of [
    next,
    await client.call('getDevice', { deviceNo }, second),
    await client.call('getDeviceHistory', { deviceNo }, second),
    await client.call('pageEvents', { deviceNo }, second),
  ]) {
    expect(text).not.toContain('secret')
    expect(text).not.toContain(first.appId)
  }
})

test('an unbinding does not take a tag of an earlier binding, however soon the device came back as it was', async () => {
  const made = await createDeviceOf(first)
  const { deviceNo } = expectSuccess(made)
  const outdated = { token: first.token, headers: { 'if-match': made.headers.get('etag') ?? '' } }
  // Repeated, because the clock may reach its next second during a round.
  for (const _ of [1, 2, 3]) {
    for (const { appId } of [second, first]) expectSuccess(await transfer(deviceNo, appId))
    expectRefusal(await client.call('unbindDevice', { deviceNo }, outdated), 'preconditionFailed')
  }
})

test('getDeviceHistory tells every binding, newest first; an application sees its own only, an operator all or those of the one that is named', async () => {
  const deviceNo = await newDevice(first)
  await unbind(first, deviceNo, { reason: 'sold' })
  await newDevice(second, { deviceNo })
  await unbind(second, deviceNo)
  await newDevice(first, { deviceNo })
  const list = await history(deviceNo)
  expect(list.map(({ appId, unboundBy, reason }) => [appId, unboundBy, reason])).toEqual([
    [first.appId, null, null],
    [second.appId, `application:${second.appId}`, null],
    [first.appId, `application:${first.appId}`, 'sold'],
  ])
  for (const [index, binding] of list.entries()) {
    expect(Object.keys(binding)).toEqual(['appId', 'boundAt', 'unboundAt', 'unboundBy', 'reason'])
    expectNow(binding.boundAt)
    expect([index, binding.unboundAt === null]).toEqual([index, index === 0])
  }
  const [newest, theirs, oldest] = list as [(typeof list)[0], (typeof list)[0], (typeof list)[0]]
  const named = await succeed('getDeviceHistory', { appId: first.appId, deviceNo })
  for (const own of [named.list, await history(deviceNo, first)]) expect(own).toEqual([newest, oldest])
  expect(await history(deviceNo, second)).toEqual([theirs])
})

test('a transfer happens at one moment, in the order of its events: placement, old binding, new binding', async () => {
  const deviceNo = await newPlaced(first, await newSite(first))
  const after = expectSuccess(await transfer(deviceNo, second.appId))
  const [[placed, ended, left], [came]] = [await feedOf(first, { deviceNo }), await feedOf(second, { deviceNo })].map(
    (list) => list.filter(({ type }) => type !== 'device.bound'),
  ) as [EventRecord[], EventRecord[]]
  expect([placed?.type, ended?.type, left?.type, came?.type]).toEqual([
    ...['device.placed', 'device.unplaced', 'device.transferred', 'device.transferred'],
  ])
  expect(left?.id).toBe((ended?.id ?? 0) + 1)
  expect(new Set([ended?.occurredAt, left?.occurredAt, came?.occurredAt]).size).toBe(1)
  const list = await history(deviceNo)
  const moments = [list[0]?.boundAt, list[1]?.unboundAt, after.createTime, ended?.time]
  expect(moments).toEqual(moments.map(() => came?.time))
})

test('a transfer needs a target that there is, and like an enforced unbinding a reason', async () => {
  const deviceNo = await newDevice(first)
  expectRefusal(await transfer(deviceNo, 'no-such-application'), 'applicationNotFound')
  expectRefusal(await transfer(newSerial(), second.appId), 'deviceNotFound')
  for (const reason of [undefined, null, '', ' ']) {
    expectFaults(await client.operate('forceUnbindDevice', { deviceNo, reason }), ['reason'])
    if (reason !== undefined) expectFaults(await transfer(deviceNo, second.appId, reason), ['reason'])
  }
  expect(await history(deviceNo, first)).toHaveLength(1)
})
