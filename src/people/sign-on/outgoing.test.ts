import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { outgoingTo } from './outgoing.ts'

// Where a provider may be: at its issuer's host, and at what its discovery names on other hosts where those are public.

const wordsOf = (asked: Promise<unknown>) =>
  asked.then(
    () => 'answered',
    (error: Error) => error.message,
  )
const isPrivate = 'the address is private, local or reserved'

describe('of an issuer on the net', () => {
  const ask = outgoingTo(new URL('https://login.example/realms/x'))

  test('nothing is asked by plain http, not even its own host', async () => {
    for (const url of [
      'http://login.example/token',
      'http://other.example/',
      'http://127.0.0.1/',
      'ftp://login.example/',
    ]) {
      expect(await wordsOf(ask(url))).toBe(
        `${new URL(url).origin} is not called: the provider’s addresses must be https, or on this machine like its issuer`,
      )
    }
  })

  test.each(['127.0.0.1', '10.0.0.7', '192.168.1.1', '169.254.169.254', '0.0.0.0', '2130706433', '[::1]', '[fd00::1]'])(
    'another host at %s is not asked',
    async (host) => {
      expect(await wordsOf(ask(`https://${host}:1/token`))).toBe(isPrivate)
    },
  )

  test('another host whose name leads to this machine is not asked', async () => {
    expect(await wordsOf(ask('https://localhost:1/keys'))).toBe(isPrivate)
  })

  test('its own host may be private, for an admin chose it', async () => {
    const words = await wordsOf(outgoingTo(new URL('https://0.0.0.0:1'))('https://0.0.0.0:1/keys'))
    expect(words).not.toBe(isPrivate)
    expect(words).not.toBe('answered')
  })
})

describe('of an issuer on this machine', () => {
  let server: Server
  let url: string
  const waiting: ServerResponse[] = []
  let most = 0
  beforeAll(async () => {
    server = createServer((request, response) => {
      if (request.url === '/else') response.writeHead(302, { location: '/keys' }).end()
      else if (request.url === '/much') response.end('x'.repeat(1024 * 1024 + 1))
      else if (request.url === '/enough') response.end('x'.repeat(1024 * 1024))
      else most = Math.max(most, waiting.push(response))
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  })
  afterAll(() => {
    server.closeAllConnections()
    server.close()
  })

  test('no other host is asked, be it public or this machine at another port', async () => {
    const ask = outgoingTo(new URL(url))
    for (const other of ['https://login.example/', 'http://127.0.0.1:1/', 'http://localhost/', 'https://127.0.0.2/']) {
      expect(await wordsOf(ask(other))).toContain('is not called')
    }
  })

  test('no redirect is followed, and an answer has 1 MiB at most', async () => {
    const ask = outgoingTo(new URL(url))
    expect((await ask(`${url}/else`)).status).toBe(302)
    expect((await (await ask(`${url}/enough`)).text()).length).toBe(1024 * 1024)
    expect(await wordsOf(ask(`${url}/much`))).toBe('the answer is too large')
    expect(waiting).toHaveLength(0)
  })

  test('8 requests are under way at once, and others wait', async () => {
    const ask = outgoingTo(new URL(url))
    const asked = Array.from({ length: 20 }, () => ask(`${url}/keys`))
    let answered = 0
    while (answered < 20) {
      await new Promise((resolve) => setTimeout(resolve, 20))
      if (waiting.length < Math.min(8, 20 - answered)) continue
      for (const response of waiting.splice(0)) {
        response.end('{}')
        answered++
      }
    }
    expect((await Promise.all(asked)).map(({ status }) => status)).toEqual(Array(20).fill(200))
    expect(most).toBe(8)
  })
})
