import { expect, test } from 'bun:test'
import { createDevice, getDevice } from '../../src/devices/contract.ts'
import { getRegionTree } from '../../src/regions/contract.ts'
import { getOpenApi } from '../../src/service/contract.ts'
import type { OperationId } from '../kit/contracts.ts'
import { deviceBody, newApplication, newSerial, siteBody } from '../kit/records.ts'
import { bearer, client, expectFaults, expectRefusal, expectSuccess, onePeriod } from './support.ts'

const application = await newApplication(client)
const { appId, token } = application

/** The response with its headers as they were sent: `fetch` would decompress a body but keep the headers. */
function get(path: string, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(client.url + path, { headers: { 'accept-encoding': 'identity', ...headers } })
}

const ofApi = ['/healthz', '/openapi.json', '/nowhere', createDevice.path]

test('every answer has a request id, says that its type is not to be guessed, and an API’s that it loads nothing', async () => {
  for (const path of ['/', '/console', '/docs', ...ofApi]) {
    // The word of a peer that is no trusted proxy keeps no browser to https.
    for (const headers of [{ 'x-forwarded-proto': 'https' }, {}]) {
      const answer = await fetch(client.url + path, { redirect: 'manual', headers })
      const told = (name: string) => answer.headers.get(name)
      const policy = told('content-security-policy') === "default-src 'none'; frame-ancestors 'none'"
      expect([path, told('x-content-type-options'), told('strict-transport-security'), policy]).toEqual([
        ...[path, 'nosniff', null, ofApi.includes(path)],
      ])
      expect(told('x-request-id')).toMatch(/^\S+$/)
    }
  }
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

const bare = { tag: null, provinceCode: '', cityCode: null, detailAddress: '' }
const odd = { coordinates: '115.10 , -28.67649300', contacts: '"\\' }
const config = { operatorName: 'Operator' }

/** What makes a record, what reads it, the member that names it, and bodies. */
const makers: [make: OperationId, read: OperationId, key: string, ...bodies: object[]][] = [
  ['createDevice', 'getDevice', 'deviceNo', deviceBody(appId), deviceBody(appId, bare)],
  ['saveSite', 'getSite', 'id', siteBody(appId), siteBody(appId, odd)],
  ['saveBillingRule', 'getBillingRule', 'id', { ruleName: 'rule', ruleType: 1, periods: onePeriod }],
  ['saveThirdPartyConfig', 'getThirdPartyConfig', 'appId', config],
  ['createApplication', 'getApplication', 'appId', { appName: 'tagged', thirdPartyConfig: config }],
  ['createOperator', 'getOperator', 'id', { name: newSerial('tagged'), role: 'viewer' }],
]

test.each(makers)('%s answers the ETag of %s, also to a retry', async (make, read, key, ...bodies) => {
  const isOurs = make === 'createApplication' || make === 'createOperator'
  const as = { token: isOurs ? client.operatorKey : token }
  for (const body of bodies) {
    const keyed = { ...as, headers: { 'idempotency-key': newSerial('key') } }
    const made = await client.call(make, body, keyed)
    const record = expectSuccess<unknown>(made) as Record<string, unknown>
    const tag = (await client.call(read, { [key]: record[key] }, as)).headers.get('etag')
    expect(tag).toMatch(/^"[\w-]{22}"$/)
    expect(made.headers.get('etag')).toBe(tag)
    expect((await client.call(make, body, keyed)).headers.get('etag')).toBe(tag)
  }
})

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
  for (const broken of ['{', '[]', 'null']) expectFaults(await client.operate('updateDevice', broken), ['body'])
})
