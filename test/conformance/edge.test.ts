import { expect, test } from 'bun:test'
import { createApplication } from '../../src/applications/contract.ts'
import { createDevice } from '../../src/devices/contract.ts'
import { getRegionTree } from '../../src/regions/contract.ts'
import { getHealth, getOpenApi } from '../../src/service/contract.ts'
import { saveSite } from '../../src/sites/contract.ts'
import { deviceBody, newApplication, siteBody } from '../harness.ts'
import { bearer, client, expectFaults, expectRefusal, RawConnection } from './support.ts'

const application = await newApplication(client)
const { appId, token } = application

/** As it was sent: `fetch` unpacks what is compressed, but leaves the headers. */
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

// Bun answers them itself, with a bare status.
test.skipIf(process.env.FORECOURT_TEST_RUNTIME !== 'node')(
  'bytes that are no HTTP have an answer of that kind too',
  async () => {
    const connection = new RawConnection()
    connection.write('FOO / HTTP/1.1\r\n\r\n')
    const answer = await connection.answer()
    expectFaults(answer, ['request'])
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff')
    expect(answer.headers.get('cache-control')).toBe('no-store')
    connection.close()
  },
)

test('behind https every answer keeps browsers to https, and otherwise none does', async () => {
  for (const path of everywhere) {
    const secure = await fetch(client.url + path, { redirect: 'manual', headers: { 'x-forwarded-proto': 'https' } })
    expect([path, secure.headers.get('strict-transport-security')]).toEqual([path, 'max-age=31536000'])
    const plain = await fetch(client.url + path, { redirect: 'manual' })
    expect([path, plain.headers.get('strict-transport-security')]).toEqual([path, null])
  }
})

test('answers with a secret or with people’s names and numbers are kept nowhere', async () => {
  const answers = [
    await client.operate(createApplication, { appName: 'secret' }),
    await client.call(saveSite, siteBody(appId), { token }),
    await client.call(saveSite, siteBody(appId, { siteName: '' }), { token }),
    await client.call(createDevice, deviceBody(appId), { token }),
  ]
  for (const answer of answers) expect(answer.headers.get('cache-control')).toBe('no-store')
})

test('request ids do not follow one another', async () => {
  const ids = new Set<string>()
  for (let index = 0; index < 50; index++) {
    const { headers } = await client.call(getHealth, {})
    ids.add(headers.get('x-request-id') as string)
  }
  expect(ids.size).toBe(50)
  const beginnings = new Set([...ids].map((id) => id.slice(0, 8)))
  expect(beginnings.size).toBeGreaterThan(45)
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

test('a length that is given twice is refused, also with equal values, however long the body is', async () => {
  for (const length of [2, 200_000]) {
    const connection = new RawConnection()
    const lines = [`Content-Length: ${length}`, `Content-Length: ${length}`, 'Content-Type: application/json']
    const head = `POST ${createDevice.path} HTTP/1.1\r\nHost: forecourt\r\nAuthorization: Bearer ${token}\r\n`
    connection.write(`${head}${lines.join('\r\n')}\r\n\r\n${' '.repeat(length)}`)
    const answer = await connection.answer()
    // Node cannot tell which part of a request is not well-formed.
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

test('an encoding that is refused or less liked is not sent', async () => {
  const sent = async (accepted: string) =>
    (await get(getOpenApi.path, { 'accept-encoding': accepted })).headers.get('content-encoding')
  expect(await sent('br;q=0, gzip')).toBe('gzip')
  expect(await sent('br;q=0.1, gzip;q=0.5')).toBe('gzip')
  expect(await sent('GZIP, deflate, BR')).toBe('br')
  expect(await sent('deflate')).toBeNull()
  expect(await sent('gzip;q=0')).toBeNull()
})
