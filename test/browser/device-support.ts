import { expect } from 'bun:test'
import { createDevice, getDevice } from '../../src/devices/contract.ts'
import { deviceBody, type TestApplication } from '../harness.ts'
import { client } from './support.ts'

/** Creates a device of an application through the API. */
export async function newDevice(app: TestApplication, members: Record<string, unknown> = {}) {
  const device = deviceBody(app.appId, members)
  const made = await client.call(createDevice, device, { token: app.token })
  expect(made.code).toBe(0)
  return made.data
}

/** Reads a device through the API, as an operator. */
export const look = (appId: string, deviceNo: string) => client.operate(getDevice, { appId, deviceNo })
