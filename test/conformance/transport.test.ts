import { expect, test } from 'bun:test'
import { issueToken } from '../../src/applications/tokens/contract.ts'
import { createDevice } from '../../src/devices/contract.ts'
import { importDeviceInventory } from '../../src/devices/inventory/contract.ts'
import { deviceBody, newApplication } from '../kit/records.ts'
import { answerOn, headOf, openRaw, sendRaw } from './raw-connection.ts'
import {
  bearer,
  client,
  createDeviceOf,
  expectFaults,
  expectSuccess,
  jsonHeaders,
  oauthMembers,
  post,
  succeed,
} from './support.ts'

// Pipelines, bodies in pieces and clients that go away are in wire.test.ts and test/faults/edge-connections.test.ts.

const path = createDevice.path
const limit = 64 * 1024
const application = await newApplication(client)
const { appId, token } = application

function expectTooLarge(answer: Parameters<typeof expectFaults>[0], more: object = {}): void {
  expectFaults(answer, ['body'], 'invalidRequest', { status: 413, ...more })
}

/** One chunk of `Transfer-Encoding: chunked`. */
function chunk(text: string): string {
  return `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`
}

/** The head of a create whose body comes in chunks, or has a length. */
const createHead = (length?: number) =>
  headOf(path, {
    ...bearer(token),
    ...(length ? { 'content-length': `${length}` } : { 'transfer-encoding': 'chunked' }),
  })

test('a body has at most 64 KiB, in bytes and not in characters', async () => {
  const text = JSON.stringify(deviceBody(appId))
  const ofSize = (bytes: number) => text + ' '.repeat(bytes - Buffer.byteLength(text))
  await succeed('createDevice', ofSize(limit), { token })
  expectTooLarge(await client.call('createDevice', ofSize(limit + 1), { token }))
  const unknown = '𠮷'.repeat(limit / 4)
  expectTooLarge(await client.call('createDevice', JSON.stringify(deviceBody(appId, { unknown })), { token }))
  expectTooLarge(await post(issueToken.path, ' '.repeat(limit + 1), jsonHeaders), oauthMembers)
})

test('a large body that was refused does not disturb the next request of the same client', async () => {
  for (let round = 0; round < 5; round++) {
    expectTooLarge(await client.call('createDevice', 'x'.repeat(1024 * 1024), { token }))
    expectSuccess(await createDeviceOf(application))
  }
})

test('a body of more than 64 KiB is 413 before its end: where it is announced, and as soon as its chunks pass it', async () => {
  expectTooLarge(await sendRaw(`${createHead(1_000_000_000)}{`))
  const pieces = Array(limit / 8192 + 1).fill(chunk(' '.repeat(8192)))
  expectTooLarge(await sendRaw(createHead() + pieces.join('')))
})

test('an import is 413 only beyond its own limit, announced or chunked', async () => {
  const importLimit = importDeviceInventory.maxBodyBytes as number
  expectFaults(await client.operate('importDeviceInventory', `{${' '.repeat(limit)}}`), ['entries'])
  const head = (more: Record<string, string>) =>
    headOf(importDeviceInventory.path, { ...bearer(client.operatorKey), ...more })
  expectTooLarge(await sendRaw(head({ 'content-length': String(importLimit + 1) })))
  const chunked = await openRaw()
  chunked.send(head({ 'transfer-encoding': 'chunked' }))
  const piece = chunk(' '.repeat(1024 * 1024))
  for (let sent = 0; sent <= importLimit; sent += 1024 * 1024) chunked.send(piece)
  expectTooLarge(await answerOn(chunked))
  chunked.close()
})

test('a chunked body within the limit is taken, and what it holds is exact', async () => {
  const body = deviceBody(appId, { tag: 'x'.repeat(512), deviceName: '东门' })
  const pieces = [...JSON.stringify(body)].map(chunk)
  const answer = await sendRaw(`${createHead()}${pieces.join('')}0\r\n\r\n`)
  expect(expectSuccess(answer)).toMatchObject({ deviceNo: body.deviceNo, deviceName: '东门' })
})

test.concurrent('a body that never arrives is refused in the end, and others are answered meanwhile', async () => {
  const refused = sendRaw(`${createHead(100)}{"appId":`)
  for (let round = 0; round < 20; round++) expectSuccess(await createDeviceOf(application))
  expectFaults(await refused, ['body'], 'invalidRequest', { status: 408 })
})
