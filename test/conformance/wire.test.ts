import { expect, test } from 'bun:test'
import { once } from 'node:events'
import { connect } from 'node:net'
import { pageDevices } from '../../src/devices/contract.ts'
import { getDeviceState } from '../../src/devices/state/contract.ts'
import { deviceBody, newApplication, newSerial } from '../kit/records.ts'
import { expectAnswered, wireCases } from '../wire-cases.ts'
import { sendRaw } from './raw-connection.ts'
import { bearer, client, createDeviceOf, expectFaults, expectRefusal, expectSuccess } from './support.ts'

const application = await newApplication(client)
const { hostname, port, host } = new URL(client.url)

async function open() {
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true })
  await once(socket, 'connect')
  return socket
}

test.each(wireCases(host, application))('$name', async (wireCase) => {
  await expectAnswered(wireCase, open, client, application)
})

test('more requests at once than may wait: those without an answer are not carried out', async () => {
  const bodies = Array.from({ length: 200 }, () => deviceBody(application.appId))
  const head = `Host: ${host}\r\nAuthorization: Bearer ${application.token}\r\nContent-Type: application/json\r\n`
  const steps = bodies.map((body) => {
    const text = JSON.stringify(body)
    return `POST /api/device/entrance/guard/create HTTP/1.1\r\n${head}Content-Length: ${text.length}\r\n\r\n${text}`
  })
  const socket = await open()
  let received = ''
  socket.on('data', (piece) => {
    received += piece
  })
  socket.write(steps.join(''))
  const answered = () => [...received.matchAll(/"deviceNo":"([^"]+)"/g)].map(([, serial]) => serial)
  await Promise.race([
    once(socket, 'end'),
    (async () => {
      while (answered().length < bodies.length) await Bun.sleep(20)
    })(),
  ])
  socket.destroy()
  for (const [index, { deviceNo }] of bodies.entries()) {
    if (index % 10 !== 0) continue
    const { code } = await client.call('getDevice', { deviceNo }, application)
    expect([index, code === 0]).toEqual([index, answered().includes(deviceNo)])
  }
  expect(answered().length).toBeGreaterThanOrEqual(60)
})

const request = (line: string, ...headers: string[]) => `${[line, ...headers].join('\r\n')}\r\n\r\n`
const get = (path: string, ...headers: string[]) => request(`GET ${path} HTTP/1.1`, ...headers)
const create = (...headers: string[]) =>
  request('POST /api/device/entrance/guard/create HTTP/1.1', 'Host: forecourt', ...headers)
const ofJson = (token: string) => [`Authorization: Bearer ${token}`, 'Content-Type: application/json']

type Refused = [status: number, field: string]
/** Requests that are refused: with which status, and what is named; also by Node, where it cannot tell. */
const malformed: [what: string, bytes: string, refused: Refused, byNode?: Refused][] = [
  ['without a host', get('/healthz'), [400, 'Host']],
  ['with CONNECT', request('CONNECT example.com:443 HTTP/1.1', 'Host: example.com:443'), [404, 'path']],
  ['with another version', 'GET /healthz HTTP/2.0\r\n\r\n', [505, 'request'], [400, 'Host']],
  ['with too long a head', get(`/healthz?${'a'.repeat(100_000)}`, 'Host: forecourt'), [431, 'request']],
  ['that is no HTTP', request('FOO / HTTP/1.1'), [400, 'request']],
  ...['/', '/console', '/healthz', '/api/device/entrance/guard/create'].flatMap((path): typeof malformed => [
    [`of ${path} with two hosts`, get(path, 'Host: a.example', 'Host: b.example'), [400, 'Host']],
    [`of ${path} with one host twice`, get(path, 'Host: a.example', 'Host: a.example'), [400, 'Host']],
  ]),
  ...['a/b', 'a?b', 'u@b', '%65xample.com', 'a b'].map((host): (typeof malformed)[number] => {
    const bytes = get('/.well-known/oauth-authorization-server', `Host: ${host}`)
    return [`with the host ${host}, which makes no issuer,`, bytes, [400, 'Host']]
  }),
  // Also with equal values, however long the body is.
  ...[2, 200_000].map((length): (typeof malformed)[number] => {
    const twice = [`Content-Length: ${length}`, `Content-Length: ${length}`]
    const bytes = create(...ofJson(application.token), ...twice) + ' '.repeat(length)
    return [`with the length ${length} twice`, bytes, [400, 'Content-Length'], [400, 'request']]
  }),
]

test.each(malformed.map(([what, bytes, refused, byNode = refused]) => [what, bytes, refused, byNode] as const))(
  'a request %s is refused in the envelope',
  async (_, bytes, refused, byNode) => {
    const answer = await sendRaw(bytes)
    const isByNode = byNode[0] === answer.status && answer.text.includes(`"field":"${byNode[1]}"`)
    const [status, field] = isByNode ? byNode : refused
    expectFaults(answer, [field], 'invalidRequest', { status })
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff')
    expect(answer.headers.get('cache-control')).toBe('no-store')
  },
)

test('two Authorization headers are no token, and a body without a Content-Type is no JSON', async () => {
  const [authorization = ''] = ofJson(application.token)
  const twice = get(getDeviceState.path, 'Host: forecourt', authorization, authorization)
  expectRefusal(await sendRaw(twice), 'tokenInvalid')
  const text = JSON.stringify(deviceBody(application.appId))
  const untyped = create(authorization, `Content-Length: ${text.length}`) + text
  expectFaults(await sendRaw(untyped), ['Content-Type'], 'invalidRequest', { status: 415 })
})

test('a probe that speaks HTTP/1.0 and names no host is answered', async () => {
  expectSuccess(await sendRaw(request('GET /healthz HTTP/1.0')))
})

test('a hundred serial numbers of 64 characters fit into a query, percent-encoded', async () => {
  // Characters of four bytes are the longest.
  const long = (text: string, filling: string) => text + filling.repeat(64 - text.length)
  const { deviceNo } = expectSuccess(await createDeviceOf(application, { deviceNo: long(newSerial(), '𠮷') }))
  const serials = [deviceNo, ...Array.from({ length: 99 }, (_, index) => long(`${index}`, '𠮷'))]
  // Each character as three, as some clients write them.
  const encoded = (text: string) => Buffer.from(text).toString('hex').replaceAll(/../g, '%$&')
  const query = `deviceNos=${serials.map(encoded).join('%2C')}`
  expect(query.length).toBeGreaterThan(70_000)
  const answer = await client.send(`${getDeviceState.path}?${query}`, { headers: bearer(application.token) })
  expect(answer).toMatchObject({ status: 200, code: 0, data: { list: [{ deviceNo }] } })
})

test('a read of a client that has closed its half is answered', async () => {
  const socket = await open()
  let received = ''
  socket.on('data', (piece) => {
    received += piece
  })
  socket.end(
    `GET ${pageDevices.path}?pageSize=1 HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${application.token}\r\n\r\n`,
  )
  await once(socket, 'close')
  expect(received).toStartWith('HTTP/1.1 200 ')
  expect(received).toContain('"code":0')
})

test('HEAD of a file tells no length, and that of a record the length that GET tells', async () => {
  const export_ = '/api/bulk/v1/export/create?kind=devices&format=ndjson'
  const headers = { ...bearer(application.token), 'accept-encoding': 'identity' }
  const head = async (path: string, method: string) => (await fetch(client.url + path, { method, headers })).headers
  expect((await head(export_, 'HEAD')).get('content-length')).toBeNull()
  const page = `${pageDevices.path}?pageSize=1`
  expect((await head(page, 'HEAD')).get('content-length')).toBe((await head(page, 'GET')).get('content-length'))
})
