import { expect, test } from 'bun:test'
import { createDevice, type DeviceRecord, getDevice } from '../../src/devices/contract.ts'
import { getDeviceState, reportDeviceState, reportDeviceStates } from '../../src/devices/state/contract.ts'
import { pageEvents } from '../../src/events/contract.ts'
import { randomNumbers, seed } from '../faults/support.ts'
import { deviceBody, newApplication, type TestApplication, target } from '../harness.ts'
import { expectSuccess } from './support.ts'

// Several reports of one device in a batch take effect as if each had come alone, one after the other.

const client = await target()
const random = randomNumbers(seed)
const one = <Value>(...values: Value[]) => values[Math.floor(random() * values.length)] as Value
const sometimes = <Value>(member: string, ...values: Value[]) => (random() < 0.4 ? { [member]: one(...values) } : {})

/** Any report: few values, so that many repeat the state, and few times, so that many are late or equal. */
function anyReport(began: number): Record<string, unknown> {
  const seconds = one(-9, -8, -7, -6, -5, -4, -3, -2, -1) * 600
  return {
    ...(random() < 0.8
      ? { reportTime: new Date(began + (random() < 0.2 ? 50_000 : seconds * 1000)).toISOString() }
      : {}),
    ...sometimes('status', 1, 2, null),
    ...sometimes('onlineStatus', 1, 2, 2, null),
    ...sometimes('runStatus', 0, 1, null),
    ...sometimes('statusRemark', 'a "remark"', 'another', null, ''),
    ...sometimes('version', '1', '2', null),
    ...sometimes('batteryStatus', 0, 1, null),
    ...sometimes('batteryEnergy', '87%', '12%', null),
  }
}

/** What a device has become, without what distinguishes it from another one; times of this test are `now`. */
function withoutNames(value: object, deviceNo: string, began: number): unknown {
  const text = JSON.stringify(value).replaceAll(deviceNo, 'serial')
  return JSON.parse(text, (_, member) => {
    const at =
      typeof member === 'string' && /^\d{4}-\d\d-\d\d /.test(member) ? Date.parse(`${member}+08:00`) : Number.NaN
    return Math.abs(at - began) < 20_000 ? 'now' : member
  })
}

async function outcome(
  { token }: TestApplication,
  deviceNo: string,
  began: number,
  answers: object[],
): Promise<unknown> {
  const { list } = expectSuccess(
    await client.call(pageEvents, { deviceNo, type: 'device.stateChanged', pageSize: 100 }, { token }),
  )
  return withoutNames(
    {
      answers,
      device: expectSuccess(await client.call(getDevice, { deviceNo }, { token })),
      state: expectSuccess(await client.call(getDeviceState, { deviceNo }, { token })),
      changes: list.map(({ data }) => data),
    },
    deviceNo,
    began,
  )
}

test('random reports of some devices in one batch have the effect of the same reports one by one', async () => {
  const application = await newApplication(client)
  const { token, appId } = application
  for (let story = 0; story < 12; story++) {
    const devices: { together: string; alone: string; answers: object[]; singly: object[] }[] = []
    for (let index = 0; index < 3; index++) {
      const [together, alone] = [deviceBody(appId), deviceBody(appId)]
      for (const body of [together, alone]) expectSuccess(await client.call(createDevice, body, { token }))
      devices.push({
        together: together.deviceNo,
        alone: alone.deviceNo,
        answers: [] as object[],
        singly: [] as object[],
      })
    }
    const began = Date.now()
    // Two batches, so that the second one finds what the first has stored.
    for (const length of [one(1, 5, 20), one(2, 10, 40)]) {
      const rows = Array.from({ length }, () => ({ device: one(...devices), report: anyReport(began) }))
      const reports = rows.map(({ device, report }) => ({ deviceNo: device.together, ...report }))
      const { results } = expectSuccess(await client.call(reportDeviceStates, { reports }, { token }))
      for (const [index, { device, report }] of rows.entries()) {
        device.answers.push(results[index]?.data as DeviceRecord)
        const single = await client.call(reportDeviceState, { deviceNo: device.alone, ...report }, { token })
        device.singly.push(expectSuccess(single))
      }
    }
    for (const { together, alone, answers, singly } of devices) {
      expect(await outcome(application, together, began, answers), `seed ${seed}, story ${story}`).toEqual(
        await outcome(application, alone, began, singly),
      )
    }
  }
})
