import { describe, expect, test } from 'bun:test'
import type { DeviceState } from '../../src/devices/state/contract.ts'
import { newApplication } from '../kit/records.ts'
import { client, expectFaults, expectNow, expectSuccess, feedOf, newDevice, shownMoment, succeed } from './support.ts'

// What test/model/states.ts expects after any sequence of reports is not told here again.

const owner = await newApplication(client)

const report = (deviceNo: string, state: object) => client.call('reportDeviceState', { deviceNo, ...state }, owner)
const stateOf = async (deviceNo: string) => (await succeed('getDeviceState', { deviceNo }, owner)) as DeviceState
const eventsOf = (deviceNo: string) => feedOf(owner, { deviceNo, type: 'device.stateChanged' })

test('a change writes one event, with the state as it is read and the members that changed; what changes nothing writes none', async () => {
  const deviceNo = await newDevice(owner)
  const fresh = { appId: owner.appId, deviceNo, status: 1, onlineStatus: 2, runStatus: 0, statusRemark: null }
  const unknown = { version: null, batteryStatus: null, batteryEnergy: null, lastReportTime: null }
  expect(await stateOf(deviceNo)).toEqual({ ...fresh, ...unknown })
  expectSuccess(await report(deviceNo, { status: 1, onlineStatus: 2, runStatus: 0 }))
  expect(await eventsOf(deviceNo)).toEqual([])
  const changed = { onlineStatus: 1, version: '2.4.1', batteryEnergy: '87%' }
  expectSuccess(await report(deviceNo, changed))
  const state = await stateOf(deviceNo)
  const { lastReportTime } = state
  expect(state).toEqual({ ...fresh, ...unknown, ...changed, lastReportTime } as DeviceState)
  expectNow(lastReportTime ?? '')
  for (let times = 0; times < 3; times++) expectSuccess(await report(deviceNo, changed))
  const before = { onlineStatus: 2, version: null, batteryEnergy: null }
  const [event, ...others] = await eventsOf(deviceNo)
  expect(event).toMatchObject({ data: { ...state, before }, actor: `application:${owner.appId}` })
  const members = [...Object.keys(state), 'before']
  expect(Object.keys(event?.data ?? {}), 'members in the order of the state').toEqual(members)
  expect(others).toEqual([])
})

test('a report with faulty members names every one', async () => {
  const deviceNo = await newDevice(owner)
  const faulty = {
    ...{ status: 3, onlineStatus: 0, runStatus: '1', statusRemark: 7, version: 'x'.repeat(65), batteryStatus: -1 },
    batteryEnergy: '101%',
  }
  expectFaults(await report(deviceNo, faulty), Object.keys(faulty))
  expectFaults(await client.call('reportDeviceState', { status: 1 }, owner), ['deviceNo'])
})

describe('reportTime', () => {
  const secondsAhead = (seconds: number) => new Date(Date.now() + seconds * 1000).toISOString()

  test('a report that is older than what is known changes nothing, and answers the record as it is', async () => {
    const deviceNo = await newDevice(owner)
    expectSuccess(await report(deviceNo, { version: '2', onlineStatus: 2, reportTime: secondsAhead(-60) }))
    const known = await stateOf(deviceNo)
    const late = expectSuccess(await report(deviceNo, { version: '1', status: 2, reportTime: secondsAhead(-90) }))
    expect(late).toMatchObject({ version: '2', status: 1, onlineStatus: 2 })
    expect(await stateOf(deviceNo)).toEqual(known)
    // This report is newer than the last one, although it is 30 s old and its time is written in another time zone.
    const inZone = `${new Date(Date.now() - 30_000 + 8 * 3_600_000).toISOString().slice(0, 19)}+08:00`
    expect(expectSuccess(await report(deviceNo, { version: '3', reportTime: inZone })).version).toBe('3')
  })

  test('is that of its own event, also where a later row of the batch changes nothing', async () => {
    const deviceNo = await newDevice(owner)
    const reportTime = secondsAhead(-60)
    const reports = [{ deviceNo, status: 2, reportTime }, { deviceNo }]
    const { results } = await succeed('reportDeviceStates', { reports }, owner)
    expect(results.map(({ code }) => code)).toEqual([0, 0])
    const [event, ...others] = await eventsOf(deviceNo)
    expect(event).toMatchObject({ data: { lastReportTime: shownMoment(new Date(reportTime)) } })
    expect(others).toEqual([])
    expectNow((await stateOf(deviceNo)).lastReportTime ?? '')
  })

  test('lies at most a minute ahead, and is written as RFC 3339 has it', async () => {
    const deviceNo = await newDevice(owner)
    const wrong = ['2026-01-01 08:00:00', '2026-01-01T08:00:00', '2026-02-29T08:00:00Z', 'yesterday', 1_767_225_600]
    for (const reportTime of [secondsAhead(75), '2999-01-01T00:00:00Z', ...wrong]) {
      expectFaults(await report(deviceNo, { version: '1', reportTime }), ['reportTime'])
    }
    expectFaults(await report(deviceNo, { status: 3, reportTime: secondsAhead(75) }), ['reportTime', 'status'])
    for (const reportTime of ['2026-01-01t08:00:00.123456789z', secondsAhead(45), '']) {
      expectSuccess(await report(deviceNo, { reportTime }))
    }
  })
})
