import { expect, test } from 'bun:test'
import { createDevice } from '../../src/devices/contract.ts'
import { deviceBody, newApplication, target } from '../harness.ts'

const client = await target()

test('createDevice answers exactly the documented success envelope', async () => {
  const { appId, token } = await newApplication(client)
  const answer = await client.call(createDevice, deviceBody(appId), { token })
  expect(answer.status).toBe(200)
  expect(answer.code).toBe(0)
})
