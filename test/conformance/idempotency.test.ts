import { expect, test } from 'bun:test'
import { createDevice } from '../../src/devices/contract.ts'
import { saveSite } from '../../src/sites/contract.ts'
import { deviceBody, newApplication, siteBody, takeOffline } from '../kit/records.ts'
import { bearer, client, expectFaults, expectRefusal, expectSuccess, post, RawConnection } from './support.ts'

const creates = [
  { operation: createDevice, body: deviceBody },
  { operation: saveSite, body: siteBody },
]

function send(operation: { path: string }, token: string, key: string, body: unknown) {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  return post(operation.path, text, { ...bearer(token), 'idempotency-key': key })
}

for (const { operation, body } of creates) {
  const { id } = operation

  test(`${id} with the same key and another body has no effect, and the first answer stays`, async () => {
    const { appId, token } = await newApplication(client)
    const sent = body(appId)
    const first = await send(operation, token, 'key', sent)
    const other = body(appId)
    expectRefusal(await send(operation, token, 'key', { ...other, districtCode: '360103' }), 'idempotencyKeyReused')
    expect((await send(operation, token, 'key', sent)).text).toBe(first.text)
    if (operation === createDevice) expectSuccess(await client.call(operation, other, { token }))
  })

  test(`${id} with different keys is done for each`, async () => {
    const { appId, token } = await newApplication(client)
    const answers = [
      await send(operation, token, 'key', body(appId)),
      await send(operation, token, 'Key', body(appId)),
      await send(operation, token, 'key2', body(appId)),
    ]
    for (const answer of answers) expectSuccess(answer)
    expect(new Set(answers.map((answer) => answer.text)).size).toBe(3)
  })

  test(`${id}: a key is scoped to its application`, async () => {
    const [one, two] = await Promise.all([newApplication(client), newApplication(client)])
    const first = expectSuccess(await send(operation, one.token, 'key', body(one.appId)))
    const second = expectSuccess(await send(operation, two.token, 'key', body(two.appId)))
    expect(first).toMatchObject({ appId: one.appId })
    expect(second).toMatchObject({ appId: two.appId })
  })

  test(`${id}: a key tells a stranger nothing`, async () => {
    const [owner, stranger] = await Promise.all([newApplication(client), newApplication(client)])
    const sent = body(owner.appId)
    expectSuccess(await send(operation, owner.token, 'key', sent))
    expectRefusal(await send(operation, stranger.token, 'key', sent), 'notPermitted')
  })

  test(`${id}: an operator that acts for the application shares its keys`, async () => {
    const { appId, token } = await newApplication(client)
    const sent = body(appId)
    const first = await send(operation, token, 'key', sent)
    expectSuccess(first)
    expect((await send(operation, client.operatorKey, 'key', sent)).text).toBe(first.text)
  })

  test(`${id}: only successes are kept, so a key whose request was refused is free, also for another body`, async () => {
    const { appId, token } = await newApplication(client)
    expectFaults(await send(operation, token, 'key', body(appId, { districtCode: '' })), ['districtCode'])
    expectFaults(await send(operation, token, 'key', '{'), ['body'])
    expectRefusal(await send(operation, 'wrong', 'key', body(appId)), 'tokenInvalid')
    expectSuccess(await send(operation, token, 'key', body(appId)))
  })

  test(`${id} takes keys of 1 to 255 visible ASCII characters`, async () => {
    const { appId, token } = await newApplication(client)
    const visible = Array.from({ length: 94 }, (_, index) => String.fromCharCode(33 + index)).join('')
    for (const key of ['!', '~', 'k'.repeat(255), visible, crypto.randomUUID(), "';--", '__proto__']) {
      const sent = body(appId)
      const first = await send(operation, token, key, sent)
      expectSuccess(first)
      expect((await send(operation, token, key, sent)).text).toBe(first.text)
    }
  })

  test(`${id} refuses other keys as the fault of Idempotency-Key, and does nothing`, async () => {
    const { appId, token } = await newApplication(client)
    const sent = body(appId)
    const text = JSON.stringify(sent)
    for (const key of ['k'.repeat(256), 'two words', 'tab\tbed', 'caf\u00e9', 'k'.repeat(5000), '']) {
      const connection = new RawConnection()
      const length = String(Buffer.byteLength(text))
      connection.writeHead(operation.path, { ...bearer(token), 'idempotency-key': key, 'content-length': length })
      connection.write(text)
      expectFaults(await connection.answer(), ['Idempotency-Key'])
      connection.close()
    }
    expectSuccess(await post(operation.path, text, bearer(token)))
  })
}

test('a key is scoped to its operation: a device and a site of one application may share it', async () => {
  const { appId, token } = await newApplication(client)
  const device = await send(createDevice, token, 'key', deviceBody(appId))
  const site = await send(saveSite, token, 'key', siteBody(appId))
  expect(expectSuccess(device)).toHaveProperty('deviceNo')
  expect(expectSuccess(site)).toHaveProperty('siteName')
})

test('createDevice answers the first answer again also after the application went offline', async () => {
  const application = await newApplication(client)
  const { appId, token } = application
  const sent = deviceBody(appId)
  const first = await send(createDevice, token, 'key', sent)
  expectSuccess(first)
  await takeOffline(client, appId)
  const again = await send(createDevice, token, 'key', sent)
  expectSuccess(again)
  expect(again.text).toBe(first.text)
  expectRefusal(await send(createDevice, token, 'key', deviceBody(appId)), 'idempotencyKeyReused')
  expectRefusal(await send(createDevice, token, 'fresh', deviceBody(appId)), 'applicationOffline')
})

test('replayed answers hold text of every kind exactly', async () => {
  const { appId, token } = await newApplication(client)
  const texts = { tag: `"\\/\u2028<𠮷>e\u0301 'x' $1 {a,b} NULL`, deviceName: ' 东 ', detailAddress: 'a\\nb,"c"' }
  const sent = deviceBody(appId, texts)
  const first = await send(createDevice, token, 'key', sent)
  expect(expectSuccess(first)).toMatchObject({ tag: texts.tag, deviceName: texts.deviceName })
  expect((await send(createDevice, token, 'key', sent)).text).toBe(first.text)
  const site = siteBody(appId, { siteName: texts.tag.slice(0, 20), coordinates: '0.1,0.2', detailAddress: 'a\\nb,"c"' })
  const firstSite = await send(saveSite, token, 'key', site)
  expectSuccess(firstSite)
  expect((await send(saveSite, token, 'key', site)).text).toBe(firstSite.text)
})
