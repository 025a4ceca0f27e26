import { expect, test } from 'bun:test'
import { once } from 'node:events'
import { connect } from 'node:net'
import { pageDevices } from '../../src/devices/contract.ts'
import { getDeviceState } from '../../src/devices/state/contract.ts'
import { deviceBody, newApplication, newSerial } from '../kit/records.ts'
import { expectAnswered, wireCases } from '../wire-cases.ts'
import { RawConnection } from './raw-connection.ts'
import { bearer, client, createDeviceOf, expectFaults, expectSuccess } from './support.ts'

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
  const [steps] = [
    bodies.map((body) => {
      const text = JSON.stringify(body)
      return `POST /api/device/entrance/guard/create HTTP/1.1\r\n${head}Content-Length: ${text.length}\r\n\r\n${text}`
    }),
  ]
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

test.each([
  ['without a host', 'GET /healthz HTTP/1.1\r\n\r\n', 400, 'Host'],
  ['with CONNECT', 'CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n', 404, 'path'],
  ['with another version', 'GET /healthz HTTP/2.0\r\n\r\n', 505, 'request'],
  ['with too long a head', `GET /healthz?${'a'.repeat(40_000)} HTTP/1.1\r\nHost: forecourt\r\n\r\n`, 431, 'request'],
])('a request %s is refused in the envelope', async (name, bytes, status, field) => {
  const connection = new RawConnection()
  connection.write(bytes)
  const answer = await connection.answer()
  // Node has no answer of its own for another version.
  const isOther = name === 'with another version' && answer.status === 400
  expectFaults(answer, [isOther ? 'Host' : field], 'invalidRequest', { status: isOther ? 400 : status })
  connection.close()
})

test('a hundred serial numbers of 64 characters fit into a query, percent-encoded', async () => {
  const { deviceNo } = expectSuccess(await createDeviceOf(application, { deviceNo: newSerial().padEnd(64, '/') }))
  const serials = [deviceNo, ...Array.from({ length: 99 }, (_, index) => `${index}`.padStart(64, '/'))]
  // Each character as three, as some clients write them.
  const encoded = (text: string) => Buffer.from(text).toString('hex').replaceAll(/../g, '%$&')
  const query = `deviceNos=${serials.map(encoded).join('%2C')}`
  expect(query.length).toBeGreaterThan(19_200)
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
  const head = async (path: string, method: string) =>
    (
      await fetch(client.url + path, {
        method,
        headers: { ...bearer(application.token), 'accept-encoding': 'identity' },
      })
    ).headers
  expect((await head(export_, 'HEAD')).get('content-length')).toBeNull()
  const page = `${pageDevices.path}?pageSize=1`
  expect((await head(page, 'HEAD')).get('content-length')).toBe((await head(page, 'GET')).get('content-length'))
})
