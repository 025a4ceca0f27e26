import { describe, expect, test } from 'bun:test'
import { createDevice } from '../../src/devices/contract.ts'
import { saveSite } from '../../src/sites/contract.ts'
import { deviceBody, newApplication, siteBody, takeOffline } from '../kit/records.ts'
import { sendRaw } from './raw-connection.ts'
import { bearer, client, expectFaults, expectRefusal, expectSuccess, post } from './support.ts'

// Idempotency keys (contract §4.3) of the two documented creates. What holds for every operation with a key is in
// idempotent-operations.test.ts.

function send({ path }: { path: string }, token: string, key: string, body: unknown) {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  return post(path, text, { ...bearer(token), 'idempotency-key': key })
}

describe.each([
  { id: 'createDevice', operation: createDevice, body: deviceBody },
  { id: 'saveSite', operation: saveSite, body: siteBody },
])('a key of $id', ({ operation, body }) => {
  test('belongs to its application, whose operators share it, and tells a stranger nothing', async () => {
    const [one, two] = await Promise.all([newApplication(client), newApplication(client)])
    const sent = body(one.appId)
    const first = await send(operation, one.token, 'key', sent)
    expect(expectSuccess(first)).toMatchObject({ appId: one.appId })
    expect((await send(operation, client.operatorKey, 'key', sent)).text).toBe(first.text)
    expectRefusal(await send(operation, two.token, 'key', sent), 'notPermitted')
    const second = await send(operation, two.token, 'key', body(two.appId))
    expect(expectSuccess(second)).toMatchObject({ appId: two.appId })
    expectSuccess(await send(operation, one.token, 'Key', body(one.appId)))
  })

  test('is kept with a success only: one whose request was refused is free, also for another body', async () => {
    const { appId, token } = await newApplication(client)
    expectFaults(await send(operation, token, 'key', body(appId, { districtCode: '' })), ['districtCode'])
    expectFaults(await send(operation, token, 'key', '{'), ['body'])
    expectRefusal(await send(operation, 'wrong', 'key', body(appId)), 'tokenInvalid')
    expectSuccess(await send(operation, token, 'key', body(appId)))
  })

  test('has 1 to 255 visible ASCII characters; another is the fault of Idempotency-Key, and nothing is done', async () => {
    const { appId, token } = await newApplication(client)
    const visible = Array.from({ length: 94 }, (_, index) => String.fromCharCode(33 + index)).join('')
    for (const key of ['!', '~', 'k'.repeat(255), visible, crypto.randomUUID(), "';--", '__proto__']) {
      const sent = body(appId)
      const first = await send(operation, token, key, sent)
      expectSuccess(first)
      expect((await send(operation, token, key, sent)).text).toBe(first.text)
    }
    const text = JSON.stringify(body(appId))
    const lines = Object.entries({ ...bearer(token), 'content-length': Buffer.byteLength(text) })
    const head = [`POST ${operation.path} HTTP/1.1`, 'host: x', ...lines.map(([name, value]) => `${name}: ${value}`)]
    for (const key of ['k'.repeat(256), 'two words', 'tab\tbed', 'caf\u00e9', 'k'.repeat(5000), '']) {
      const refused = await sendRaw(`${head.join('\r\n')}\r\nidempotency-key: ${key}\r\n\r\n${text}`)
      expectFaults(refused, ['Idempotency-Key'])
    }
    expectSuccess(await post(operation.path, text, bearer(token)))
  })
})

test('a key is scoped to its operation: a device and a site of one application may share it', async () => {
  const { appId, token } = await newApplication(client)
  expect(expectSuccess(await send(createDevice, token, 'key', deviceBody(appId)))).toHaveProperty('deviceNo')
  expect(expectSuccess(await send(saveSite, token, 'key', siteBody(appId)))).toHaveProperty('siteName')
})

test('createDevice answers the first answer again also after the application went offline', async () => {
  const { appId, token } = await newApplication(client)
  const sent = deviceBody(appId)
  const first = await send(createDevice, token, 'key', sent)
  await takeOffline(client, appId)
  const again = await send(createDevice, token, 'key', sent)
  expectSuccess(again)
  expect(again.text).toBe(first.text)
  expectRefusal(await send(createDevice, token, 'key', deviceBody(appId)), 'idempotencyKeyReused')
  expectRefusal(await send(createDevice, token, 'fresh', deviceBody(appId)), 'applicationOffline')
})

test('replayed answers hold text of every kind exactly', async () => {
  const { appId, token } = await newApplication(client)
  const tag = `"\\/\u2028<𠮷>e\u0301 'x' $1 {a,b} NULL`
  const detailAddress = 'a\\nb,"c"'
  for (const [operation, sent] of [
    [createDevice, deviceBody(appId, { tag, deviceName: ' 东 ', detailAddress })],
    [saveSite, siteBody(appId, { siteName: tag.slice(0, 20), coordinates: '0.1,0.2', detailAddress })],
  ] as const) {
    const first = await send(operation, token, 'key', sent)
    expectSuccess(first)
    expect((await send(operation, token, 'key', sent)).text).toBe(first.text)
  }
})
