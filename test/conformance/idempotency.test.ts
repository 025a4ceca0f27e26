import { describe, expect, test } from 'bun:test'
import { createDevice } from '../../src/devices/contract.ts'
import { saveSite } from '../../src/sites/contract.ts'
import { deviceBody, newApplication, siteBody, takeOffline } from '../kit/records.ts'
import { sendRaw } from './raw-connection.ts'
import { bearer, client, expectFaults, expectRefusal, expectSuccess, post } from './support.ts'

// Idempotency keys (contract §4.3) of the two documented creates. What holds for every operation with a key is in
// idempotent-operations.test.ts; whose a key is and what is kept with it, after any calls, in test/model.

function send({ path }: { path: string }, token: string, key: string, body: unknown) {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  return post(path, text, { ...bearer(token), 'idempotency-key': key })
}

describe.each([
  { id: 'createDevice', operation: createDevice, body: deviceBody },
  { id: 'saveSite', operation: saveSite, body: siteBody },
])('a key of $id', ({ operation, body }) => {
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

test('replayed answers hold text of every kind exactly, also after the application went offline', async () => {
  const { appId, token } = await newApplication(client)
  const tag = `"\\/\u2028<𠮷>e\u0301 'x' $1 {a,b} NULL`
  const detailAddress = 'a\\nb,"c"'
  // A key is scoped to its operation.
  const sent = [
    [createDevice, deviceBody(appId, { tag, deviceName: ' 东 ', detailAddress })],
    [saveSite, siteBody(appId, { siteName: tag.slice(0, 20), coordinates: '0.1,0.2', detailAddress })],
  ] as const
  const answers = await Promise.all(sent.map(([operation, body]) => send(operation, token, 'key', body)))
  for (const answer of answers) expectSuccess(answer)
  await takeOffline(client, appId)
  for (const [at, [operation, body]] of sent.entries()) {
    expect((await send(operation, token, 'key', body)).text).toBe(answers[at]?.text ?? '')
  }
  expectRefusal(await send(createDevice, token, 'key', deviceBody(appId)), 'idempotencyKeyReused')
  expectRefusal(await send(createDevice, token, 'fresh', deviceBody(appId)), 'applicationOffline')
})
