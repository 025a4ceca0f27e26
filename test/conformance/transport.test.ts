import { expect, test } from 'bun:test'
import { issueToken } from '../../src/applications/tokens/contract.ts'
import { createDevice } from '../../src/devices/contract.ts'
import { importDeviceInventory } from '../../src/devices/inventory/contract.ts'
import { deviceBody, newApplication } from '../kit/records.ts'
import { RawConnection } from './raw-connection.ts'
import { bearer, client, createDeviceOf, expectFaults, expectSuccess, post, succeed } from './support.ts'

const path = createDevice.path
const limit = 64 * 1024

/** A valid body of exactly this size, filled up with white space after the JSON. */
function bodyOfSize(appId: string, bytes: number): string {
  const text = JSON.stringify(deviceBody(appId))
  return text + ' '.repeat(bytes - Buffer.byteLength(text))
}

function expectTooLarge(answer: Parameters<typeof expectFaults>[0], beside: string[] = []): void {
  expectFaults(answer, ['body'], 'invalidRequest', { status: 413, beside })
}

/** One chunk of `Transfer-Encoding: chunked`. */
function chunk(text: string): string {
  return `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`
}

test('a body of exactly 64 KiB is taken', async () => {
  const { appId, token } = await newApplication(client)
  await succeed('createDevice', bodyOfSize(appId, limit), { token })
})

test('a body of 64 KiB and one byte is 413', async () => {
  const { appId, token } = await newApplication(client)
  expectTooLarge(await client.call('createDevice', bodyOfSize(appId, limit + 1), { token }))
})

test('the limit counts bytes, not characters', async () => {
  const { appId, token } = await newApplication(client)
  const unknown = '𠮷'.repeat(limit / 4)
  expectTooLarge(await client.call('createDevice', JSON.stringify(deviceBody(appId, { unknown })), { token }))
})

test('a large body that was refused does not disturb the next request of the same client', async () => {
  const application = await newApplication(client)
  const { token } = application
  for (let round = 0; round < 5; round++) {
    expectTooLarge(await client.call('createDevice', 'x'.repeat(1024 * 1024), { token }))
    expectSuccess(await createDeviceOf(application))
  }
})

test('the token operations take 64 KiB too', async () => {
  const answer = await post(issueToken.path, ' '.repeat(limit + 1), { 'content-type': 'application/json' })
  expectTooLarge(answer, ['error', 'error_description'])
})

test('a body that announces more than 64 KiB is 413 before it is sent', async () => {
  const { token } = await newApplication(client)
  const connection = new RawConnection()
  connection.writeHead(path, { ...bearer(token), 'content-length': '1000000000' })
  connection.write('{')
  expectTooLarge(await connection.answer())
  connection.close()
})

test('a chunked body is 413 as soon as it passes 64 KiB, before its end', async () => {
  const { token } = await newApplication(client)
  const connection = new RawConnection()
  connection.writeHead(path, { ...bearer(token), 'transfer-encoding': 'chunked' })
  for (let sent = 0; sent <= limit; sent += 8192) connection.write(chunk(' '.repeat(8192)))
  expectTooLarge(await connection.answer())
  connection.close()
})

test('an import is 413 only beyond its own limit, announced or chunked', async () => {
  const importLimit = importDeviceInventory.maxBodyBytes as number
  expectFaults(await client.operate('importDeviceInventory', `{${' '.repeat(limit)}}`), ['entries'])
  const announced = new RawConnection()
  announced.writeHead(importDeviceInventory.path, {
    ...bearer(client.operatorKey),
    'content-length': String(importLimit + 1),
  })
  expectTooLarge(await announced.answer())
  announced.close()
  const chunked = new RawConnection()
  chunked.writeHead(importDeviceInventory.path, { ...bearer(client.operatorKey), 'transfer-encoding': 'chunked' })
  const piece = chunk(' '.repeat(1024 * 1024))
  for (let sent = 0; sent <= importLimit; sent += 1024 * 1024) chunked.write(piece)
  expectTooLarge(await chunked.answer())
  chunked.close()
})

test('a chunked body within the limit is taken, and what it holds is exact', async () => {
  const { appId, token } = await newApplication(client)
  const body = deviceBody(appId, { tag: 'x'.repeat(512), deviceName: '东门' })
  const connection = new RawConnection()
  connection.writeHead(path, { ...bearer(token), 'transfer-encoding': 'chunked' })
  for (const character of JSON.stringify(body)) connection.write(chunk(character))
  connection.write('0\r\n\r\n')
  expect(expectSuccess(await connection.answer())).toMatchObject({ deviceNo: body.deviceNo, deviceName: '东门' })
  connection.close()
})

test('a body that arrives byte by byte is taken, and others are answered meanwhile', async () => {
  const application = await newApplication(client)
  const body = Buffer.from(JSON.stringify(deviceBody(application.appId, { detailAddress: '阳明路一号' })))
  const connection = new RawConnection()
  connection.writeHead(path, { ...bearer(application.token), 'content-length': String(body.byteLength) })
  for (let at = 0; at < body.byteLength; at += 8) {
    connection.write(body.subarray(at, at + 8))
    expectSuccess(await createDeviceOf(application))
    await Bun.sleep(10)
  }
  expect(expectSuccess(await connection.answer())).toMatchObject({ deviceBattery: { detailAddress: '阳明路一号' } })
  connection.close()
})

test('a client that goes away in the middle of its body leaves the serial free and the service well', async () => {
  const application = await newApplication(client)
  const body = deviceBody(application.appId)
  const text = JSON.stringify(body)
  for (let round = 0; round < 20; round++) {
    const connection = new RawConnection()
    connection.writeHead(path, { ...bearer(application.token), 'content-length': String(text.length) })
    connection.write(text.slice(0, -1))
    await Bun.sleep(5)
    connection.close()
  }
  expectSuccess(await createDeviceOf(application, body))
})

test('two requests on one connection are answered one after the other', async () => {
  const application = await newApplication(client)
  const connection = new RawConnection()
  for (const _ of [1, 2]) {
    const body = deviceBody(application.appId)
    const text = JSON.stringify(body)
    connection.writeHead(path, { ...bearer(application.token), 'content-length': String(text.length) })
    connection.write(text)
    expect(expectSuccess(await connection.answer())).toMatchObject({ deviceNo: body.deviceNo })
    connection.forget()
  }
  connection.close()
})
