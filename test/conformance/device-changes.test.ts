import { describe, expect, test } from 'bun:test'
import { newApplication, type TestApplication } from '../kit/records.ts'
import { client, createDeviceOf, expectFaults, expectSuccess } from './support.ts'

async function newDevice(application: TestApplication, members: Record<string, unknown> = {}) {
  return expectSuccess(await createDeviceOf(application, members))
}

function update({ token }: TestApplication, body: Record<string, unknown>, headers: Record<string, string> = {}) {
  return client.call('updateDevice', body, { token, headers })
}

const owner = await newApplication(client)

describe('updateDevice', () => {
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
})
