import { describe, expect, test } from 'bun:test'
import { reportDeviceState } from '../../src/device-state/contract.ts'
import { getDevice } from '../../src/devices/contract.ts'
import { pageEvents } from '../../src/events/contract.ts'
import { newApplication, newSerial } from '../harness.ts'
import { client, createDeviceOf, expectFaults, expectRefusal, expectSuccess } from './support.ts'

const owner = await newApplication(client)
const { token } = owner

async function newDevice() {
  return expectSuccess(await createDeviceOf(owner))
}

function report(deviceNo: string, state: Record<string, unknown>) {
  return client.call(reportDeviceState, { deviceNo, ...state }, { token })
}

async function stateEvents(deviceNo: string) {
  const query = { deviceNo, type: 'device.stateChanged', pageSize: '100' }
  return expectSuccess(await client.call(pageEvents, query, { token })).list
}

describe('reportDeviceState', () => {
  test('shows what was reported from then on, and changes nothing else', async () => {
    const created = await newDevice()
    const { deviceNo } = created
    const reported = {
      status: 2,
      onlineStatus: 1,
      runStatus: 1,
      statusRemark: 'E17',
      version: '2.4.1',
      batteryStatus: 3,
      batteryEnergy: '87%',
    }
    const { batteryStatus, batteryEnergy, ...members } = reported
    const expected = { ...created, ...members, DeviceBatteryOutput: { batteryStatus, batteryEnergy } }
    expect(expectSuccess(await report(deviceNo, reported))).toEqual(expected)
    expect(expectSuccess(await client.call(getDevice, { deviceNo }, { token }))).toEqual(expected)
  })

  test('takes any of the members alone and keeps those that were reported before', async () => {
    const { deviceNo } = await newDevice()
    expectSuccess(await report(deviceNo, { runStatus: 2 }))
    expectSuccess(await report(deviceNo, { statusRemark: 'E1', version: '1' }))
    const record = expectSuccess(await report(deviceNo, { batteryEnergy: '5.5%', statusRemark: null, status: null }))
    expect(record).toMatchObject({ runStatus: 2, statusRemark: null, version: '1', status: 1, onlineStatus: 1 })
    expect(record.DeviceBatteryOutput).toEqual({ batteryStatus: null, batteryEnergy: '5.5%' })
  })

  test('writes one event for a change, with the record, and none where nothing changes', async () => {
    const { deviceNo } = await newDevice()
    expectSuccess(await report(deviceNo, { status: 1, onlineStatus: 2, runStatus: 0 }))
    expect(await stateEvents(deviceNo)).toEqual([])
    const record = expectSuccess(await report(deviceNo, { onlineStatus: 1 }))
    for (let times = 0; times < 3; times++) expectSuccess(await report(deviceNo, { onlineStatus: 1 }))
    const events = await stateEvents(deviceNo)
    expect(events.map(({ data, actor }) => ({ data, actor }))).toEqual([
      { data: record, actor: `application:${owner.appId}` },
    ])
  })

  test('takes any report as a sign of life: the device is online unless it says that it is not', async () => {
    for (const sign of [{}, { version: '1' }, { onlineStatus: null }, { onlineStatus: '' }, { onlineStatus: 1 }]) {
      const { deviceNo, onlineStatus } = await newDevice()
      expect(onlineStatus).toBe(2)
      expect(expectSuccess(await report(deviceNo, sign)).onlineStatus).toBe(1)
      expect(expectSuccess(await report(deviceNo, { ...sign, onlineStatus: 2 })).onlineStatus).toBe(2)
      expect(expectSuccess(await report(deviceNo, sign)).onlineStatus).toBe(1)
      expect(expectSuccess(await client.call(getDevice, { deviceNo }, { token })).onlineStatus).toBe(1)
    }
  })

  test('many reports of many devices at once each find their own', async () => {
    const devices = await Promise.all(Array.from({ length: 50 }, newDevice))
    const answers = await Promise.all(
      devices.flatMap(({ deviceNo }, index) => [
        report(deviceNo, { version: `v${index}` }),
        report(deviceNo, { batteryStatus: index }),
      ]),
    )
    for (const answer of answers) expectSuccess(answer)
    for (const [index, { deviceNo }] of devices.entries()) {
      const record = expectSuccess(await client.call(getDevice, { deviceNo }, { token }))
      expect([record.version, record.DeviceBatteryOutput.batteryStatus]).toEqual([`v${index}`, index])
      expect(await stateEvents(deviceNo)).toHaveLength(2)
    }
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
    expectFaults(await client.call(reportDeviceState, { status: 1 }, { token }), ['deviceNo'])
  })

  test('is refused for an unknown device and for another application’s, which stays as it is', async () => {
    const { deviceNo } = await newDevice()
    const stranger = await newApplication(client)
    const refused = await client.call(reportDeviceState, { deviceNo, status: 2 }, { token: stranger.token })
    expectRefusal(refused, 'deviceNotFound')
    expectRefusal(await report(newSerial(), { status: 2 }), 'deviceNotFound')
    expectFaults(await client.operate(reportDeviceState, { deviceNo, status: 2 }), ['appId'])
    expect(expectSuccess(await client.call(getDevice, { deviceNo }, { token })).status).toBe(1)
    const operated = await client.operate(reportDeviceState, { appId: owner.appId, deviceNo, status: 2 })
    expect(expectSuccess(operated).status).toBe(2)
  })

  test('does not change the ETag, so that it stands in no editor’s way', async () => {
    const { deviceNo } = await newDevice()
    const before = (await client.call(getDevice, { deviceNo }, { token })).headers.get('etag')
    expectSuccess(await report(deviceNo, { status: 2, version: '9' }))
    const after = (await client.call(getDevice, { deviceNo }, { token })).headers.get('etag')
    expect(after).toBe(before)
  })
})
