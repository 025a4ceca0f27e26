import { afterAll, expect, test } from 'bun:test'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { openCallbackClient } from './client.ts'

// What receivers send behind their status line: the status alone decides (contract §6).

const client = openCallbackClient({ privateCallbacks: 'allow', timeoutMs: 5_000 })
afterAll(() => client.close())

const ok = 'HTTP/1.1 200 OK\r\n'
const chunked = `${ok}Transfer-Encoding: chunked\r\n\r\n`
const send = (text: string) => (socket: Socket) => void socket.write(text)
const end = (text: string) => (socket: Socket) => void socket.end(text)

function resetAfter(text: string) {
  return (socket: Socket) => {
    socket.write(text)
    setTimeout(() => socket.resetAndDestroy(), 20)
  }
}

/** Sends the rest in a packet of its own, some time after the first one. */
function later(text: string, rest: string) {
  return (socket: Socket) => {
    socket.setNoDelay(true)
    socket.write(text)
    setTimeout(() => socket.write(rest), 50)
  }
}

/** Posts to a receiver that answers each connection so. Returns the result, and how many requests came. */
async function postTo(answer: (socket: Socket) => void, by = client) {
  let requests = 0
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', () => {
      requests++
      answer(socket)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
  const result = await by.send({ appId: 'a', url, headers: {}, body: '{"a":1}' })
  server.close()
  return { ...result, requests }
}

test.each<[string, number, (socket: Socket) => void]>([
  ['a body behind 204', 204, send('HTTP/1.1 204 No Content\r\nContent-Length: 2\r\n\r\n{}')],
  ['a length in characters', 200, send(`${ok}Content-Length: 2\r\n\r\n成功`)],
  ['a body that ends early', 200, end(`${ok}Content-Length: 50\r\n\r\nab`)],
  ['a connection that is reset', 200, resetAfter(`${ok}Content-Length: 50\r\n\r\nab`)],
  ['chunks that end early', 200, end(`${chunked}5\r\nab`)],
  ['a chunk without a size', 200, send(`${chunked}zz\r\nab`)],
  ['a bad trailer', 200, send(`${chunked}0\r\nBad Trailer\r\n\r\n`)],
  ['more than the body', 200, send(`${ok}Content-Length: 2\r\n\r\nok\0GARBAGE`)],
  ['two lengths', 200, send(`${ok}Content-Length: 2\r\nContent-Length: 3\r\n\r\nok`)],
  ['a length beside chunks', 200, send(`${ok}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`)],
  ['a bad header', 200, send(`${ok}Bad Header: x\r\nContent-Length: 2\r\n\r\nok`)],
  ['line feeds alone', 200, send('HTTP/1.1 200 OK\nContent-Length: 2\n\nok')],
  ['HTTP/1.0', 200, end('HTTP/1.0 200 OK\r\n\r\nok')],
  ['no reason', 200, send('HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n')],
  ['headers in a later packet', 200, later(ok, 'Content-Length: 0\r\n\r\n')],
  ['a bad header in a later packet', 204, later('HTTP/1.1 204 No Content\r\n', 'Bad Header: x\r\n\r\n')],
  ['a status line in two packets', 200, later('HTTP/1.1 2', '00 OK\r\nBad Header: x\r\n\r\n')],
  ['the end of the connection behind its first line', 200, end(ok)],
  ['a reset behind its first line', 200, resetAfter(ok)],
  ['an early hint before it', 200, send(`HTTP/1.1 103 Early Hints\r\n\r\n${ok}Content-Length: 0\r\n\r\n`)],
])('a 2xx is a success beside %s', async (_, status, answer) => {
  expect(await postTo(answer)).toMatchObject({ responseStatus: status, error: null, requests: 1 })
})

test('a 2xx is a success though its headers never come', async () => {
  const hasty = openCallbackClient({ privateCallbacks: 'allow', timeoutMs: 300 })
  expect(await postTo(send(ok), hasty)).toMatchObject({ responseStatus: 200, error: null, requests: 1 })
  hasty.close()
})

test.each<[string, number, (socket: Socket) => void]>([
  ['500 with a bad header in a later packet', 500, later('HTTP/1.1 500 Oops\r\n', 'Bad Header: x\r\n\r\n')],
  ['410 with a wrong length', 410, send('HTTP/1.1 410 Gone\r\nContent-Length: 2\r\n\r\nlonger')],
  ['500 with a bad header', 500, send('HTTP/1.1 500 Oops\r\nBad Header: x\r\n\r\n')],
])('%s is told by its status', async (_, status, answer) => {
  expect(await postTo(answer)).toMatchObject({ responseStatus: status, error: `answered ${status}`, requests: 1 })
})

test('no response is none, whatever is sent in its place', async () => {
  for (const answer of [end(''), end('HTTP/1.1 20'), send('garbage\r\n\r\n'), send('HTTP/9.9 200 OK\r\n\r\n')]) {
    expect(await postTo(answer)).toMatchObject({
      responseStatus: null,
      error: expect.stringMatching(/^the connection/),
    })
  }
})
