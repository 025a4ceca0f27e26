import { expect } from 'bun:test'
import type { Client } from '../kit/client.ts'
import { untilAdmitted } from '../kit/client.ts'
import { deviceBody, newSerial, type TestApplication } from '../kit/records.ts'

/** Registers `count` devices at once, each by the client that `by` chooses. Returns their serials. */
export async function registerDevices(
  app: TestApplication,
  count: number,
  by: (index: number) => Client,
): Promise<string[]> {
  const serials = Array.from({ length: count }, () => newSerial())
  const create = (deviceNo: string, index: number) =>
    by(index).call('createDevice', deviceBody(app.appId, { deviceNo }), { token: app.token })
  for (const answer of await Promise.all(serials.map(create))) expect(answer.code, answer.text).toBe(0)
  return serials
}

/** Reports a state. Returns the record, and when the request was sent and its response received. */
export async function report(client: Client, { token }: TestApplication, deviceNo: string, state: object) {
  const sentAt = Date.now()
  const { status, text, data } = await client.call('reportDeviceState', { deviceNo, ...state }, { token })
  expect(status, text).toBe(200)
  return { sentAt, answeredAt: Date.now(), record: data }
}

/** The device as its application reads it. */
export async function detail(client: Client, { token }: TestApplication, deviceNo: string) {
  // The many readers here can exceed the application's share of concurrent reads.
  return (await untilAdmitted(() => client.call('getDevice', { deviceNo }, { token }))).data
}
