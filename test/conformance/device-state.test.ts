import { describe, expect, test } from 'bun:test'
import type { DeviceState } from '../../src/devices/state/contract.ts'
import { newApplication } from '../kit/records.ts'
import { client, createDeviceOf, expectFaults, expectNow, expectSuccess, shownMoment, succeed } from './support.ts'

const owner = await newApplication(client)
const { token } = owner

async function newDevice() {
  return expectSuccess(await createDeviceOf(owner))
}

function report(deviceNo: string, state: Record<string, unknown>) {
  return client.call('reportDeviceState', { deviceNo, ...state }, { token })
}

async function stateEvents(deviceNo: string) {
  const query = { deviceNo, type: 'device.stateChanged', pageSize: '100' }
  return (await succeed('pageEvents', query, { token })).list
}

describe('reportDeviceState', () => {
  test('writes one event for a change, with the state and the members that changed, and none where nothing changes', async () => {
    const { deviceNo } = await newDevice()
    expectSuccess(await report(deviceNo, { status: 1, onlineStatus: 2, runStatus: 0 }))
    expect(await stateEvents(deviceNo)).toEqual([])
    const changed = { onlineStatus: 1, version: '2.4.1', batteryEnergy: '87%' }
    expectSuccess(await report(deviceNo, changed))
    const state = await succeed('getDeviceState', { deviceNo }, { token })
    for (let times = 0; times < 3; times++) expectSuccess(await report(deviceNo, changed))
    const before = { onlineStatus: 2, version: null, batteryEnergy: null }
    const actor = `application:${owner.appId}`
    const [event, ...others] = await stateEvents(deviceNo)
    expect({ data: event?.data, actor: event?.actor }).toEqual({ data: { ...state, before }, actor })
    expect(Object.keys(event?.data ?? {}), 'members in the order of the state').toEqual([
      ...Object.keys(state),
      'before',
    ])
    expect(others).toEqual([])
    expect(await succeed('getEvent', { id: event?.id ?? 0 }, { token })).toEqual(event as NonNullable<typeof event>)
    expectSuccess(await report(deviceNo, { version: null, statusRemark: 'E17' }))
    expect((await stateEvents(deviceNo)).at(-1)?.data).toMatchObject({
      version: null,
      statusRemark: 'E17',
      batteryEnergy: '87%',
      before: { version: '2.4.1', statusRemark: null },
    })
  })

  test('names every faulty member', async () => {
    const { deviceNo } = await newDevice()
    const faulty = {
      status: 3,
      onlineStatus: 0,
      runStatus: '1',
      statusRemark: 7,
      version: 'x'.repeat(65),
      batteryStatus: -1,
      batteryEnergy: '101%',
    }
    expectFaults(await report(deviceNo, faulty), Object.keys(faulty))
    expectFaults(await client.call('reportDeviceState', { status: 1 }, { token }), ['deviceNo'])
  })

  test('does not change the ETag, so that it stands in no editor’s way', async () => {
    const { deviceNo } = await newDevice()
    const before = (await client.call('getDevice', { deviceNo }, { token })).headers.get('etag')
    expectSuccess(await report(deviceNo, { status: 2, version: '9' }))
    const after = (await client.call('getDevice', { deviceNo }, { token })).headers.get('etag')
    expect(after).toBe(before)
  })
})

describe('getDeviceState', () => {
  const read = async (deviceNo: string) => (await succeed('getDeviceState', { deviceNo }, { token })) as DeviceState

  test('answers what was reported, and when last', async () => {
    const { deviceNo } = await newDevice()
    const fresh = { appId: owner.appId, deviceNo, status: 1, onlineStatus: 2, runStatus: 0, statusRemark: null }
    const unknown = { version: null, batteryStatus: null, batteryEnergy: null, lastReportTime: null }
    expect(await read(deviceNo)).toEqual({ ...fresh, ...unknown })
    const reported = {
      status: 2,
      runStatus: 1,
      statusRemark: 'E1',
      version: '2',
      batteryStatus: 3,
      batteryEnergy: '5%',
    }
    expectSuccess(await report(deviceNo, reported))
    const { lastReportTime, ...state } = await read(deviceNo)
    expect(state).toEqual({ appId: owner.appId, deviceNo, onlineStatus: 1, ...reported })
    expectNow(lastReportTime ?? '')
  })
})

describe('reportTime', () => {
  const secondsAhead = (seconds: number) => new Date(Date.now() + seconds * 1000).toISOString()

  test('a report that is older than what is known changes nothing, and answers the record as it is', async () => {
    const { deviceNo } = await newDevice()
    expectSuccess(await report(deviceNo, { version: '2', onlineStatus: 2, reportTime: secondsAhead(-60) }))
    const known = await succeed('getDeviceState', { deviceNo }, { token })
    const late = expectSuccess(await report(deviceNo, { version: '1', status: 2, reportTime: secondsAhead(-90) }))
    expect(late).toMatchObject({ version: '2', status: 1, onlineStatus: 2 })
    expect(await succeed('getDeviceState', { deviceNo }, { token })).toEqual(known)
    expect(await stateEvents(deviceNo)).toHaveLength(1)
    // This report is newer than the last one, although it is 30 s old and its time is written in another time zone.
    const inZone = `${new Date(Date.now() - 30_000 + 8 * 3_600_000).toISOString().slice(0, 19)}+08:00`
    expect(expectSuccess(await report(deviceNo, { version: '3', reportTime: inZone })).version).toBe('3')
  })

  test('is that of its own event, also where a later row of the batch changes nothing', async () => {
    const { deviceNo } = await newDevice()
    const reportTime = new Date(Date.now() - 60_000).toISOString()
    const reports = [{ deviceNo, status: 2, reportTime }, { deviceNo }]
    const answer = await client.call('reportDeviceStates', { reports }, { token })
    expect(expectSuccess(answer).results.map(({ code }) => code)).toEqual([0, 0])
    const events = await stateEvents(deviceNo)
    expect(events).toHaveLength(1)
    expect(events).toMatchObject([{ data: { lastReportTime: shownMoment(new Date(reportTime)) } }])
    const known = (await succeed('getDeviceState', { deviceNo }, { token })) as DeviceState
    expectNow(known.lastReportTime ?? '')
  })

  test('lies at most a minute ahead, and is written as RFC 3339 has it', async () => {
    const { deviceNo } = await newDevice()
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
