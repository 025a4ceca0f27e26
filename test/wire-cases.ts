import { expect } from 'bun:test'
import type { Socket } from 'node:net'
import { createDevice } from '../src/devices/contract.ts'
import type { Client } from './kit/client.ts'
import { deviceBody, type TestApplication } from './kit/records.ts'

/** What a client sends on one connection; a number is a pause in milliseconds, `half` closes its half. */
type Step = string | number | 'half'

export interface WireCase {
  name: string
  /** The serial numbers that the requests create, in order. */
  serials: string[]
  steps: Step[]
  /** The statuses of the answers; writes that are refused must not be carried out. */
  statuses: number[]
  /** What the service answers on Node, where that differs. */
  byNode?: number[]
}

const isNode = process.env.FORECOURT_TEST_RUNTIME === 'node'

interface Written {
  serial: string
  /** The head without a length, its lines in front of the body. */
  head(lines: string[], version?: string): string
  text: string
}

/** Requests in every form that HTTP allows, and in some that it does not. */
export function wireCases(host: string, { appId, token }: TestApplication): WireCase[] {
  const newWrite = (): Written => {
    const body = deviceBody(appId, { deviceName: '东门' })
    const text = JSON.stringify(body)
    const head = (lines: string[], version = '1.1') =>
      `${[`POST ${createDevice.path} HTTP/${version}`, `Host: ${host}`, `authorization: Bearer ${token}`, 'Content-Type: application/json', ...lines].join('\r\n')}\r\n\r\n`
    return { serial: body.deviceNo, head, text }
  }
  const whole = ({ head, text }: Written, lines: string[] = [], version?: string) =>
    head([`Content-Length: ${Buffer.byteLength(text)}`, ...lines], version) + text
  const chunked = ({ head, text }: Written, end = '0\r\n\r\n', lines: string[] = []) =>
    `${head(['Transfer-Encoding: chunked', ...lines])}${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n${end}`
  const probe = `GET /healthz HTTP/1.1\r\nHost: ${host}\r\n\r\n`
  const one = (name: string, steps: (write: Written) => Step[], more: Partial<WireCase> = {}): WireCase => {
    const write = newWrite()
    return { name, serials: [write.serial], steps: steps(write), statuses: [200], ...more }
  }
  const two = (name: string, steps: (first: Written, second: Written) => Step[], more: Partial<WireCase> = {}) => {
    const [first, second] = [newWrite(), newWrite()]
    return {
      name,
      serials: [first.serial, second.serial],
      steps: steps(first, second),
      statuses: [200, 200],
      ...more,
    } satisfies WireCase
  }
  const many = Array.from({ length: 20 }, newWrite)
  return [
    two('two writes in one packet', (first, second) => [whole(first) + whole(second)]),
    // The first answer ends the connection on Bun, where nothing behind it begins.
    one(
      'a refused file, then a write',
      (write) => [
        `POST /api/bulk/v1/import/create?kind=devices&ignoreColumns=tag HTTP/1.1\r\nHost: ${host}\r\nauthorization: Bearer ${token}\r\nContent-Type: text/csv\r\nContent-Length: 1\r\n\r\na${whole(write)}`,
      ],
      { statuses: [400], byNode: [400, 200] },
    ),
    two('a second write before the first answer', (first, second) => [whole(first), 3, whole(second)]),
    two('a write, a probe and a write', (first, second) => [whole(first) + probe + whole(second)], {
      statuses: [200, 200, 200],
    }),
    two('a chunked write, then another', (first, second) => [chunked(first) + chunked(second)]),
    two('the second write in pieces', (first, second) => {
      const bytes = whole(second)
      return [whole(first) + bytes.slice(0, 9), 10, bytes.slice(9, 200), 10, bytes.slice(200)]
    }),
    one('a probe, then a write', (write) => [probe + whole(write)], { statuses: [200, 200] }),
    {
      name: 'twenty writes in one packet',
      serials: many.map(({ serial }) => serial),
      steps: [many.map((write) => whole(write)).join('')],
      statuses: many.map(() => 200),
    },
    one('an empty line behind the body', (write) => [`${whole(write)}\r\n`]),
    one('an empty line behind the body, later', (write) => [whole(write), 3, '\r\n']),
    two('empty lines between requests', (first, second) => [`${whole(first)}\r\n\r\n${whole(second)}`]),
    one('empty lines before the request line', (write) => [`\r\n\r\n${whole(write)}`]),
    one('a trailer', (write) => [chunked(write, '0\r\nX-Sum: 1\r\n\r\n', ['Trailer: X-Sum'])]),
    one('two trailers that nobody announced', (write) => [chunked(write, '0\r\nX-Sum: 1\r\nX-Two: 2\r\n\r\n')]),
    one('a chunk with an extension', ({ head, text }) => [
      `${head(['Transfer-Encoding: chunked'])}${Buffer.byteLength(text).toString(16)};a=b\r\n${text}\r\n0\r\n\r\n`,
    ]),
    one('a closed half', (write) => [whole(write), 'half']),
    one('a closed half behind chunks', (write) => [chunked(write), 'half']),
    two('a closed half behind two writes', (first, second) => [whole(first) + whole(second), 'half']),
    one('a closed half in the midst of the body', (write) => [whole(write).slice(0, -1), 'half'], {
      statuses: [400],
    }),
    one('100-continue, and the body after it', ({ head, text }) => [
      head([`Content-Length: ${Buffer.byteLength(text)}`, 'Expect: 100-continue']),
      150,
      text,
    ]),
    one('100-continue, and the body at once', (write) => [whole(write, ['Expect: 100-continue'])]),
    one('another expectation', (write) => [whole(write, ['Expect: 200-ok'])], { statuses: [417] }),
    one('HTTP/1.0', (write) => [whole(write, [], '1.0')]),
    one('HTTP/1.0 that keeps the connection', (write) => [whole(write, ['Connection: keep-alive'], '1.0')]),
    one('a connection that is to be closed', (write) => [whole(write, ['Connection: close'])]),
    two('a write behind the last one', (first, second) => [whole(first, ['Connection: close']) + whole(second)], {
      statuses: [200],
    }),
    one('an offer of HTTP/2', (write) => [
      whole(write, ['Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AAM']),
    ]),
    two(
      'an offer of WebSocket, then another write',
      (first, second) => [whole(first, ['Connection: Upgrade', 'Upgrade: websocket']) + whole(second)],
      { byNode: [200] },
    ),
    one('what is no HTTP behind the body', (write) => [`${whole(write)}no HTTP\r\n\r\n`], { statuses: [200, 400] }),
    one('a length with a plus', ({ head, text }) => [head([`Content-Length: +${Buffer.byteLength(text)}`]) + text], {
      statuses: [400],
    }),
    one(
      'a length beside chunks',
      ({ head, text }) => [
        `${head(['Transfer-Encoding: chunked', `Content-Length: ${Buffer.byteLength(text)}`])}${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n0\r\n\r\n`,
      ],
      { statuses: [400] },
    ),
    one(
      'a chunk whose size is none',
      ({ head, text }) => [`${head(['Transfer-Encoding: chunked'])}x\r\n${text}\r\n0\r\n\r\n`],
      { statuses: [400] },
    ),
    one('a last chunk that is none', (write) => [chunked(write, '0\r\n:\r\n\r\n')], { statuses: [400] }),
    one('a byte at a time', (write) => [...Buffer.from(whole(write)).toString('latin1')], { statuses: [200] }),
    one('lines that end without a carriage return', (write) => [whole(write).replaceAll('\r\n', '\n')], {
      statuses: [400],
    }),
  ]
}

/** Sends what a case says, and expects that exactly the writes with an answer of success were carried out. */
export async function expectAnswered(
  wireCase: WireCase,
  connect: () => Promise<Socket>,
  client: Client,
  { token }: TestApplication,
  isProxied = false,
): Promise<void> {
  const { name, serials, steps } = wireCase
  const statuses = (isNode ? wireCase.byNode : undefined) ?? wireCase.statuses
  // A proxy passes on both of two requests, where the service ends the connection behind the first.
  const most = Math.max(wireCase.statuses.length, isProxied ? (wireCase.byNode?.length ?? 0) : 0)
  const received = await exchange(await connect(), steps, isProxied ? most : statuses.length)
  const answers = answersIn(received)
  const asked = answers.filter(({ status }) => status !== 100)
  const answered = asked.filter(({ status, body }) => status === 200 && body.includes('deviceNo'))
  const carriedOut: string[] = []
  for (const deviceNo of serials) {
    if ((await client.call('getDevice', { deviceNo }, { token })).code === 0) carriedOut.push(deviceNo)
  }
  expect([name, answered.map(({ body }) => JSON.parse(body).data.deviceNo)]).toEqual([name, carriedOut])
  const given = asked.map(({ status }) => status)
  // A proxy decides by itself what it passes on of a request that is not well-formed.
  if (!isProxied || statuses.every((status) => status === 200)) expect([name, given]).toEqual([name, statuses])
  if (isProxied) return
  for (const { status, body, head } of asked) {
    expect(head.toLowerCase()).toContain('x-request-id: ')
    if (status >= 400) expect(JSON.parse(body)).toMatchObject({ code: 10001, data: { errors: [{}] } })
  }
}

/** Returns what arrives until there are as many answers, or the connection ends. */
async function exchange(socket: Socket, steps: Step[], answers: number): Promise<string> {
  let received = ''
  let ended = false
  let wake = () => {}
  socket.setNoDelay(true)
  socket.setEncoding('utf8')
  socket.on('data', (piece) => {
    received += piece
    wake()
  })
  socket.on('error', () => {})
  socket.on('close', () => {
    ended = true
    wake()
  })
  socket.on('end', () => {
    ended = true
    wake()
  })
  for (const step of steps) {
    if (typeof step === 'number') await Bun.sleep(step)
    else if (step === 'half') socket.end()
    else socket.write(step, steps.length > 100 ? 'latin1' : 'utf8')
  }
  const late = setTimeout(() => {
    ended = true
    wake()
  }, 5000)
  while (!ended && answersIn(received).filter(({ status }) => status !== 100).length < answers) {
    await new Promise<void>((resolve) => {
      wake = resolve
    })
  }
  clearTimeout(late)
  socket.destroy()
  return received
}

/** The complete answers of a text. */
function answersIn(received: string): { status: number; head: string; body: string }[] {
  const end = received.indexOf('\r\n\r\n')
  if (end === -1) return []
  const head = received.slice(0, end)
  const status = Number(head.slice(9, 12))
  const rest = received.slice(end + 4)
  if (status === 100) return [{ status, head, body: '' }, ...answersIn(rest)]
  const length = Number(/^content-length: (\d+)$/im.exec(head)?.[1] ?? Buffer.byteLength(rest))
  const bytes = Buffer.from(rest)
  if (bytes.byteLength < length) return []
  const body = bytes.subarray(0, length).toString()
  return [{ status, head, body }, ...answersIn(bytes.subarray(length).toString())]
}
