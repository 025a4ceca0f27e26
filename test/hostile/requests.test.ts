import { expect, test } from 'bun:test'
import { connect } from 'node:net'
import { createApplication, pageApplications } from '../../src/applications/contract.ts'
import { createDevice } from '../../src/devices/contract.ts'
import { target } from '../kit/client.ts'
import { newPerson, signIn } from '../kit/people.ts'
import { deviceBody, newApplication } from '../kit/records.ts'

// Requests that no ordinary client sends: two requests in one, requests from pages of other sites, paths with `..`.

const client = await target()
const { hostname, port } = new URL(client.url)
const app = await newApplication(client)

/**
 * Sends this text. Returns everything that is received until the service closes the connection or sends nothing for 1.5
 * s.
 */
function exchange(text: string): Promise<string> {
  const socket = connect(Number(port), hostname)
  let got = ''
  return new Promise((resolve) => {
    socket.setEncoding('latin1')
    socket.setTimeout(1_500, () => socket.destroy())
    socket.on('data', (piece) => {
      got += piece
    })
    socket.on('error', () => {})
    socket.on('close', () => resolve(got))
    socket.write(text, 'latin1')
  })
}

const lines = (...list: string[]) => `${list.join('\r\n')}\r\n\r\n`
const inner = lines('GET /smuggled HTTP/1.1', 'Host: inner', 'X-Request-Id: smuggled')
const post = (...headers: string[]) =>
  lines(
    `POST ${createDevice.path} HTTP/1.1`,
    'Host: a',
    `Authorization: Bearer ${app.token}`,
    'Content-Type: application/json',
    ...headers,
  )

/** Texts that a proxy could read as one request and the service as two. */
const ambiguous: Record<string, string> = {
  'a length and chunks': `${post('Content-Length: 4', 'Transfer-Encoding: chunked')}0\r\n\r\n${inner}`,
  'chunks and a length': `${post('Transfer-Encoding: chunked', 'Content-Length: 4')}0\r\n\r\n${inner}`,
  'two lengths': `${post('Content-Length: 0', `Content-Length: ${inner.length}`)}${inner}`,
  'two lengths in one': `${post(`Content-Length: 0, ${inner.length}`)}${inner}`,
  'a length with a sign': `${post('Content-Length: +0')}${inner}`,
  'a negative length': `${post('Content-Length: -1')}${inner}`,
  'a length in hexadecimal': `${post('Content-Length: 0x0')}${inner}`,
  'a length that is no number': `${post('Content-Length: 0a')}${inner}`,
  'an encoding twice': `${post('Transfer-Encoding: chunked', 'Transfer-Encoding: identity')}0\r\n\r\n${inner}`,
  'an unknown encoding': `${post('Transfer-Encoding: xchunked')}0\r\n\r\n${inner}`,
  'an encoding with a space before the colon': `${post('Content-Length: 5', 'Transfer-Encoding : chunked')}0\r\n\r\n${inner}`,
  'a length with a space before the colon': `${post('Content-Length : 5')}0\r\n\r\n${inner}`,
  'an encoding after a vertical tab': `${post('Content-Length: 5', 'Transfer-Encoding:\vchunked')}0\r\n\r\n${inner}`,
  'a folded header': `${post('X-Folded: a', ' Content-Length: 5')}0\r\n\r\n${inner}`,
  'a size of a chunk that overflows': `${post('Transfer-Encoding: chunked')}FFFFFFFFFFFFFFFFF\r\n${inner}`,
  'a size of a chunk that is negative': `${post('Transfer-Encoding: chunked')}-1\r\n${inner}`,
  'a chunk longer than its size': `${post('Transfer-Encoding: chunked')}1\r\nxx\r\n0\r\n\r\n${inner}`,
}

test('no text that is ambiguous is read as two requests', async () => {
  const answers = await Promise.all(Object.entries(ambiguous).map(async ([name, text]) => [name, await exchange(text)]))
  // The second request is never handled, and its id is in no response.
  expect(answers.filter(([, got = '']) => /x-request-id: smuggled|^HTTP\/1\.1 2/im.test(got))).toEqual([])
})

const hostile: Record<string, string> = {
  'a line feed in a header’s value': lines('GET /healthz HTTP/1.1', 'Host: a', 'X-Request-Id: a\nX-Injected: yes'),
  'a carriage return in a header’s value': lines(
    'GET /healthz HTTP/1.1',
    'Host: a',
    'X-Request-Id: a\rX-Injected: yes',
  ),
  'an encoded line end in the path': lines('GET /healthz%0d%0aX-Injected:%20yes HTTP/1.1', 'Host: a'),
  'an encoded line end in the query': lines('GET /console?%0d%0aX-Injected:%20yes HTTP/1.1', 'Host: a'),
  'a NUL in a header': lines('GET /healthz HTTP/1.1', 'Host: a', 'X-Request-Id: a\0b'),
  'a host with a line end': lines('GET / HTTP/1.1', 'Host: a%0d%0aX-Injected: yes'),
}

test('no text in a header, the path or the query adds a header to the answer', async () => {
  const answers = await Promise.all(Object.entries(hostile).map(async ([name, text]) => [name, await exchange(text)]))
  expect(answers.filter(([, got = '']) => /^x-injected/im.test(got))).toEqual([])
})

test.each([
  ...['/../package.json', '/console/../../package.json', '/console/..%2f..%2fpackage.json'],
  ...['/console/..%5c..%5cpackage.json', '/console/%2e%2e%2f%2e%2e%2fpackage.json'],
  ...['/console/%252e%252e%252fpackage.json', '/console/assets/..;/..;/package.json'],
  ...['/console/assets/....//....//package.json', '/console/assets/%c0%ae%c0%ae/package.json'],
  ...['/console/assets/\\..\\..\\package.json', '/console/assets//etc/passwd', '/console/assets/%00../package.json'],
  ...['/docs/../../package.json', '/docs/%2e%2e/%2e%2e/package.json', 'file:///etc/passwd'],
  'http://inner/console/../package.json',
])('the path %s leads out of no folder', async (path) => {
  const got = await exchange(lines(`GET ${path} HTTP/1.1`, 'Host: a', 'Connection: close'))
  expect(got).not.toMatch(/root:x:0|"forecourt"|"allowScripts"/)
  expect(got).not.toMatch(/^HTTP\/1\.1 5/m)
})

test('no header turns a read into a write, nor the other way', async () => {
  const appName = 'overridden'
  for (const name of ['X-HTTP-Method-Override', 'X-HTTP-Method', 'X-Method-Override']) {
    const headers = { authorization: `Bearer ${client.operatorKey}`, [name]: 'POST' }
    const answer = await client.send(`${createApplication.path}?appName=${appName}&_method=POST`, { headers })
    expect(answer.status).toBe(405)
  }
  for (const method of ['TRACE', 'TRACK', 'CONNECT', 'PROPFIND']) {
    const got = await exchange(
      lines(`${method} /healthz HTTP/1.1`, 'Host: a', 'X-Echo: told back', 'Connection: close'),
    )
    expect(got).not.toMatch(/^HTTP\/1\.1 2/m)
    expect(got).not.toContain('told back')
  }
})

const origin = new URL(client.url).origin
/** A browser's `Sec-Fetch-Site` and `Origin`, and whether the service accepts a write with these headers. */
const sources: [site: string | undefined, from: string | undefined, admitted: boolean][] = [
  ['same-origin', origin, true],
  ['same-origin', undefined, true],
  [undefined, origin, true],
  ['cross-site', origin, false],
  ['cross-site', 'https://elsewhere.example', false],
  ['cross-site', undefined, false],
  ['same-site', undefined, false],
  ['same-site', 'https://sub.elsewhere.example', false],
  [undefined, 'https://elsewhere.example', false],
  [undefined, 'null', false],
  [undefined, `${origin}.elsewhere.example`, false],
  [undefined, `${origin}0`, false],
]
const mediaTypes: [type: string, admitted: boolean][] = [
  ['application/json', true],
  ['text/plain', false],
  ['application/x-www-form-urlencoded', false],
  ['multipart/form-data; boundary=x', false],
]

test('a session writes only from a page of the same origin, and only as JSON', async () => {
  const { cookie } = await signIn(client, await newPerson(client, 'admin'))
  const outcomes: unknown[] = []
  const expected: unknown[] = []
  for (const [site, from, mayCome] of sources) {
    for (const [type, isTaken] of mediaTypes) {
      const headers: Record<string, string> = { cookie, 'content-type': type }
      if (site !== undefined) headers['sec-fetch-site'] = site
      if (from !== undefined) headers.origin = from
      const body = JSON.stringify({ appName: 'created by a page' })
      const answer = await client.send(createApplication.path, { method: 'POST', headers, body })
      outcomes.push([site, from, type, answer.status])
      expected.push([site, from, type, mayCome ? (isTaken ? 200 : 415) : 401])
    }
  }
  expect(outcomes).toEqual(expected)
})

test('a token is no cookie, a cookie is no token, and neither is a key', async () => {
  const { cookie } = await signIn(client, await newPerson(client, 'admin'))
  const session = cookie.slice(cookie.indexOf('=') + 1)
  const name = cookie.slice(0, cookie.indexOf('='))
  const attempts: Record<string, string>[] = [
    { authorization: `Bearer ${session}` },
    { cookie: `${name}=${client.operatorKey}` },
    { cookie: `${name}=${app.token}` },
    { cookie: `${name}=${app.appSecret}` },
    { authorization: `Bearer ${app.appSecret}` },
    { authorization: `Bearer ${client.operatorKey.toUpperCase()}x` },
    { cookie: `${name}=; ${name}x=${session}` },
    { 'x-access-token': app.token },
  ]
  for (const headers of attempts) {
    expect((await client.send(pageApplications.path, { headers })).status, JSON.stringify(headers)).toBe(401)
  }
})

test('hostile text in every member of a device shifts nothing in its batch', async () => {
  const other = await newApplication(client)
  const pieces = `' " \\ {} {"a":1} NULL null , ; | $1 \\N \\x1e (,) <b> %s $x {{x}}`.split(' ')
  const sent = pieces.flatMap((piece) =>
    [app, other].map(({ appId, token }) => ({
      token,
      body: deviceBody(appId, { deviceName: `n${piece}`, tag: `t${piece}`, detailAddress: `d${piece}` }),
    })),
  )
  const answers = await Promise.all(sent.map(({ token, body }) => client.call('createDevice', body, { token })))
  const told = answers.map(({ code, data }) => {
    const { appId, deviceNo, deviceName, tag, deviceBattery } = data
    return [code, appId, deviceNo, deviceName, tag, deviceBattery.detailAddress]
  })
  const expected = sent.map(({ body: { appId, deviceNo, deviceName, tag, detailAddress } }) => [
    0,
    ...[appId, deviceNo, deviceName, tag, detailAddress],
  ])
  expect(told).toEqual(expected as typeof told)
})
