import { expect, test } from 'bun:test'
import type { Static, TObject, TSchema } from 'typebox'
import { createApplication, getApplication } from '../../src/applications/contract.ts'
import { getThirdPartyConfig, saveThirdPartyConfig } from '../../src/applications/third-party-config/contract.ts'
import { getBillingRule, saveBillingRule } from '../../src/billing-rules/contract.ts'
import { createDevice, getDevice } from '../../src/devices/contract.ts'
import { createOperator, getOperator } from '../../src/people/operators/contract.ts'
import { getRegionTree } from '../../src/regions/contract.ts'
import { getOpenApi } from '../../src/service/contract.ts'
import { getSite, saveSite } from '../../src/sites/contract.ts'
import type { Operation } from '../../src/vocabulary/operation.ts'
import { deviceBody, newApplication, newSerial, siteBody } from '../kit/records.ts'
import { RawConnection } from './raw-connection.ts'
import { bearer, client, expectFaults, expectRefusal, expectSuccess, onePeriod } from './support.ts'

const application = await newApplication(client)
const { appId, token } = application

/** The response with its headers as they were sent: `fetch` would decompress a body but keep the headers. */
function get(path: string, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(client.url + path, { headers: { 'accept-encoding': 'identity', ...headers } })
}

const everywhere = ['/', '/console', '/docs', '/healthz', '/openapi.json', '/nowhere', createDevice.path]

test('every answer says that its type is not to be guessed, and has a request id', async () => {
  for (const path of everywhere) {
    const answer = await fetch(client.url + path, { redirect: 'manual' })
    expect([path, answer.headers.get('x-content-type-options')]).toEqual([path, 'nosniff'])
    expect(answer.headers.get('x-request-id')).toMatch(/^\S+$/)
  }
})

test('an answer of the API, refused or not, lets a browser load nothing for it', async () => {
  for (const path of ['/healthz', '/openapi.json', '/nowhere', createDevice.path]) {
    const answer = await get(path)
    expect([path, answer.headers.get('content-security-policy')]).toEqual([
      path,
      "default-src 'none'; frame-ancestors 'none'",
    ])
  }
  // An HTML page has another policy.
  expect((await get('/docs')).headers.get('content-security-policy') ?? '').not.toContain("default-src 'none'; frame")
})

test('bytes that are no HTTP have an answer of that kind too', async () => {
  const connection = new RawConnection()
  connection.write('FOO / HTTP/1.1\r\n\r\n')
  const answer = await connection.answer()
  expectFaults(answer, ['request'])
  expect(answer.headers.get('x-content-type-options')).toBe('nosniff')
  expect(answer.headers.get('cache-control')).toBe('no-store')
  connection.close()
})

test('the faults of the body and of the key are named in one answer', async () => {
  const headers = { ...bearer(token), 'content-type': 'application/json', 'idempotency-key': 'two words' }
  const send = (body: string) => client.send(createDevice.path, { method: 'POST', headers, body })
  const wrong = deviceBody(appId, { deviceName: '', districtCode: 5 })
  expectFaults(await send(JSON.stringify(wrong)), ['deviceName', 'districtCode', 'Idempotency-Key'])
  expectFaults(await send('{'), ['body', 'Idempotency-Key'])
  // A large body is checked in slices.
  const large = JSON.stringify({ ...deviceBody(appId, { deviceName: '' }), beside: 'x'.repeat(40_000) })
  expectFaults(await send(large), ['deviceName', 'Idempotency-Key'])
})

test('an answer keeps no browser to https by the word of a peer that is no trusted proxy', async () => {
  for (const path of everywhere) {
    for (const headers of [{ 'x-forwarded-proto': 'https' }, {}]) {
      const answer = await fetch(client.url + path, { redirect: 'manual', headers })
      expect([path, answer.headers.get('strict-transport-security')]).toEqual([path, null])
    }
  }
})

test.each([
  ['two hosts', ['a.example', 'b.example']],
  ['one host twice', ['a.example', 'a.example']],
])('a request with %s is refused in the envelope', async (_, hosts) => {
  for (const path of ['/', '/console', '/healthz', createDevice.path]) {
    const connection = new RawConnection()
    connection.write(`GET ${path} HTTP/1.1\r\n${hosts.map((host) => `Host: ${host}\r\n`).join('')}\r\n`)
    expectFaults(await connection.answer(), ['Host'])
    connection.close()
  }
})

test.each(['a/b', 'a?b', 'u@b', '%65xample.com', 'a b'])('the host %s makes no issuer', async (host) => {
  const connection = new RawConnection()
  connection.write(`GET /.well-known/oauth-authorization-server HTTP/1.1\r\nHost: ${host}\r\n\r\n`)
  expectFaults(await connection.answer(), ['Host'])
  connection.close()
})

test('a length that is given twice is refused, also with equal values, however long the body is', async () => {
  for (const length of [2, 200_000]) {
    const connection = new RawConnection()
    const lines = [`Content-Length: ${length}`, `Content-Length: ${length}`, 'Content-Type: application/json']
    const head = `POST ${createDevice.path} HTTP/1.1\r\nHost: forecourt\r\nAuthorization: Bearer ${token}\r\n`
    connection.write(`${head}${lines.join('\r\n')}\r\n\r\n${' '.repeat(length)}`)
    const answer = await connection.answer()
    // Node does not report which part of a request is malformed.
    const field = answer.text.includes('"field":"request"') ? 'request' : 'Content-Length'
    expectFaults(answer, [field])
    connection.close()
  }
})

test('two Authorization headers are no token', async () => {
  const connection = new RawConnection()
  const lines = [token, token].map((each) => `Authorization: Bearer ${each}\r\n`).join('')
  connection.write(`GET ${getRegionTree.path} HTTP/1.1\r\nHost: forecourt\r\n${lines}\r\n`)
  expectRefusal(await connection.answer(), 'tokenInvalid')
  connection.close()
})

test.each([
  ['the API’s description', getOpenApi.path, {}],
  ['the region tree', getRegionTree.path, bearer(token)],
  ['a part of the region tree', `${getRegionTree.path}?code=360000`, bearer(token)],
])('%s has an ETag, is told unchanged by 304, and is sent compressed', async (_, path, headers) => {
  const plain = await get(path, headers)
  const text = await plain.text()
  expect(plain.headers.get('content-encoding')).toBeNull()
  const tags = [plain.headers.get('etag') as string]
  for (const encoding of ['br', 'gzip']) {
    const answer = await get(path, { ...headers, 'accept-encoding': encoding })
    expect([answer.headers.get('content-encoding'), answer.headers.get('vary')]).toEqual([encoding, 'accept-encoding'])
    expect(await answer.text()).toBe(text)
    const tag = answer.headers.get('etag') as string
    expect(tag).toMatch(/^"[\w-]+"$/)
    tags.push(tag)
    for (const known of [tag, `"other", W/${tag}`, '*']) {
      const again = await get(path, { ...headers, 'accept-encoding': encoding, 'if-none-match': known })
      expect([again.status, await again.text()]).toEqual([304, ''])
    }
  }
  expect(new Set(tags).size).toBe(3)
  const changed = await get(path, { ...headers, 'if-none-match': '"other"' })
  expect([changed.status, await changed.text()]).toEqual([200, text])
})

test('a large answer that is made for one caller is compressed when it takes that, and a small one never', async () => {
  const detail = { tag: '注'.repeat(512), detailAddress: '路'.repeat(255) }
  for (const members of [{}, detail]) {
    const created = await client.call('createDevice', deviceBody(appId, members), { token })
    const path = `${getDevice.path}?deviceNo=${created.data.deviceNo}`
    const plain = await get(path, bearer(token))
    const text = await plain.text()
    const isLarge = Buffer.byteLength(text) >= 2000
    expect(isLarge).toBe(members === detail)
    expect([plain.headers.get('content-encoding'), plain.headers.get('vary')]).toEqual([
      null,
      isLarge ? 'accept-encoding' : null,
    ])
    for (const encoding of ['br', 'gzip']) {
      const answer = await get(path, { ...bearer(token), 'accept-encoding': encoding })
      expect(answer.headers.get('content-encoding')).toBe(isLarge ? encoding : null)
      expect(await answer.text()).toBe(text)
      const head = await fetch(client.url + path, {
        method: 'HEAD',
        headers: { ...bearer(token), 'accept-encoding': encoding },
      })
      expect([head.status, await head.text()]).toEqual([200, ''])
    }
  }
})

test('what makes a record answers the ETag of its detail, also to a retry', async () => {
  const bare = { tag: null, provinceCode: '', cityCode: null, detailAddress: '' }
  const devices = [deviceBody(appId), deviceBody(appId, bare)]
  for (const body of devices) {
    await expectSameTag(createDevice, body, getDevice, () => ({ deviceNo: body.deviceNo }))
  }
  for (const body of [siteBody(appId), siteBody(appId, { coordinates: '115.10 , -28.67649300', contacts: '"\\' })]) {
    await expectSameTag(saveSite, body, getSite, ({ id }) => ({ id }))
  }
  const rule = { appId, ruleName: 'rule', ruleType: 1, periods: onePeriod }
  await expectSameTag(saveBillingRule, rule, getBillingRule, ({ id }) => ({ id }))
  const config = { appId, operatorName: 'Operator' }
  await expectSameTag(saveThirdPartyConfig, config, getThirdPartyConfig, () => ({ appId }))
  const operator = { operate: true }
  const made = { appName: 'tagged', thirdPartyConfig: config }
  await expectSameTag(createApplication, made, getApplication, ({ appId }) => ({ appId }), operator)
  const person = { name: newSerial('tagged'), role: 'viewer' }
  await expectSameTag(createOperator, person, getOperator, ({ id }) => ({ id }), operator)
})

async function expectSameTag<Data extends TSchema>(
  make: Operation<TObject, TObject, Data>,
  body: unknown,
  read: Operation<TObject, TObject, TSchema>,
  key: (made: Static<Data>) => unknown,
  { operate = false } = {},
): Promise<void> {
  const as = { token: operate ? client.operatorKey : token }
  const headers = { 'idempotency-key': newSerial('key') }
  const made = await client.call(make, body, { ...as, headers })
  const detail = await client.call(read, key(expectSuccess(made)), as)
  const tag = detail.headers.get('etag')
  expect(tag).toMatch(/^"[\w-]{22}"$/)
  expect([make.id, made.headers.get('etag')]).toEqual([make.id, tag])
  const again = await client.call(make, body, { ...as, headers })
  expect([make.id, again.headers.get('etag')]).toEqual([make.id, tag])
}

test('each encoding of a record has a strong tag of its own, and a change is let through by any of them', async () => {
  const created = await client.call('createDevice', deviceBody(appId, { tag: '注'.repeat(512) }), { token })
  const { deviceNo } = expectSuccess(created)
  const read = (encoding: string) =>
    get(`${getDevice.path}?deviceNo=${deviceNo}`, { ...bearer(token), 'accept-encoding': encoding })
  const tagOf = async (encoding: string) => (await read(encoding)).headers.get('etag') as string
  const [plain, br, gzip] = [await tagOf('identity'), await tagOf('br'), await tagOf('gzip')]
  expect([br, gzip]).toEqual([plain.replace(/"$/, '-br"'), plain.replace(/"$/, '-gzip"')])

  const change = (deviceName: string, known: string) =>
    client.call('updateDevice', { deviceNo, deviceName }, { token, headers: { 'if-match': known } })
  for (const no of [br.replace('-br', '-zstd'), br.replace('-br', '-br-br'), '"-br"', `"${'x'.repeat(22)}-br"`]) {
    expectRefusal(await change('refused', no), 'preconditionFailed')
  }
  for (const encoding of ['br', 'gzip', 'identity']) {
    const known = await tagOf(encoding)
    expectSuccess(await change(`by ${encoding}`, `"other", ${known}`))
    expectRefusal(await change('refused', known), 'preconditionFailed')
  }
})

test('an encoding that is refused or less liked is not sent', async () => {
  const sent = async (accepted: string) =>
    (await get(getOpenApi.path, { 'accept-encoding': accepted })).headers.get('content-encoding')
  expect(await sent('br;q=0, gzip')).toBe('gzip')
  expect(await sent('br;q=0.1, gzip;q=0.5')).toBe('gzip')
  expect(await sent('GZIP, deflate, BR')).toBe('br')
  expect(await sent('deflate')).toBeNull()
  expect(await sent('gzip;q=0')).toBeNull()
})

test('request ids do not follow one another', async () => {
  const ids = new Set<string>()
  for (let index = 0; index < 50; index++) {
    const { headers } = await client.call('getHealth', {})
    ids.add(headers.get('x-request-id') as string)
  }
  expect(ids.size).toBe(50)
  const beginnings = new Set([...ids].map((id) => id.slice(0, 8)))
  expect(beginnings.size).toBeGreaterThan(45)
})

test('answers with a secret or with people’s names and numbers are kept nowhere', async () => {
  const answers = [
    await client.operate('createApplication', { appName: 'secret' }),
    await client.call('saveSite', siteBody(appId), { token }),
    await client.call('saveSite', siteBody(appId, { siteName: '' }), { token }),
    await client.call('createDevice', deviceBody(appId), { token }),
  ]
  for (const answer of answers) expect(answer.headers.get('cache-control')).toBe('no-store')
})

test('an operator who names no application is told so beside the other faults', async () => {
  expectFaults(await client.operate('updateDevice', { deviceNo: '' }), ['appId', 'deviceNo'])
  expectFaults(await client.operate('getThirdPartyConfig', { id: 'x' }), ['appId', 'id'])
  expectFaults(await client.operate('getThirdPartyConfig', {}), ['appId'])
  expectFaults(await client.call('updateDevice', { deviceNo: '' }, { token }), ['deviceNo'])
  for (const broken of ['{', '[]', 'null']) expectFaults(await client.operate('updateDevice', broken), ['body'])
})
