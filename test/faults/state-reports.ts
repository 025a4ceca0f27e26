import { expect } from 'bun:test'
import { reportDeviceState } from '../../src/device-state/contract.ts'
import { getDevice } from '../../src/devices/contract.ts'
import type { Client, TestApplication } from '../harness.ts'
import { sleep } from './support.ts'

/** Reports a state, and answers the record with when it was sent and answered. */
export async function report(client: Client, { token }: TestApplication, deviceNo: string, state: object) {
  const sentAt = Date.now()
  const { status, text, data } = await client.call(reportDeviceState, { deviceNo, ...state }, { token })
  expect(status, text).toBe(200)
  return { sentAt, answeredAt: Date.now(), record: data }
}

/** The device as its application reads it. */
export async function detail(client: Client, { token }: TestApplication, deviceNo: string) {
  let answer = await client.call(getDevice, { deviceNo }, { token })
  // An application has its share of reads at once, and here are many readers.
  for (; answer.code === 10007; answer = await client.call(getDevice, { deviceNo }, { token })) await sleep(5)
  return answer.data
}
