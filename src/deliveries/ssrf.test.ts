import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type CallbackClient, type CallbackClientOptions, openCallbackClient, type Resolve } from './client.ts'
import { nameFault } from './names.ts'

// No callback reaches a private address, and a connection goes to the very address that was checked.

const privateWords = 'the address is private, local or reserved'

/** Hosts in every spelling that a URL parser understands. Names resolve to loopback here, as an attacker's would. */
const spellings = {
  'Loopback as IPv4, and what inet_aton makes of it': `
    127.0.0.1 127.0.0.1. 127.0.0.2 127.255.255.254 127.1 127.0.1 2130706433 017700000001 0177.0.0.1 0177.0.0.01
    0x7f000001 0x7F.0.0.1 0x7f.1 0x7f.0x0.0x0.0x1 127.0x0.0.01 00000177.0.0.1 %31%32%37.0.0.1 127%2e0%2e0%2e1`,
  'Digits and dots of other scripts': `１２７.０.０.１ 127。0。0。1 127．0．0．1 127｡0｡0｡1 ①②⑦.⓪.⓪.① 𝟏𝟐𝟕.𝟎.𝟎.𝟏`,
  'This network': `0 0.0.0.0 0.1.2.3 00 0x0`,
  'Private networks': `
    10.0.0.1 10.255.255.255 10.1 167772161 0xa000001 012.0.0.1 172.16.0.1 172.31.255.255 0xac100001 192.168.0.1
    192.168.255.255 192.168.65535 0xc0a80001 3232235521 100.64.0.1 100.127.255.255`,
  'Link-local, and the metadata addresses of clouds': `
    169.254.169.254 169.254.169.254. 169.254.0.1 0xa9fea9fe 0xa9.0xfe.0xa9.0xfe 2852039166 0251.0376.0251.0376
    169.254.43518 169.254.170.2 100.100.100.200 168.63.129.16 192.0.0.192`,
  Reserved: `
    192.0.0.1 192.0.2.1 192.88.99.1 198.18.0.1 198.19.255.255 198.51.100.1 203.0.113.1 224.0.0.1 239.255.255.255
    240.0.0.1 255.255.255.255 4294967295 0xffffffff`,
  IPv6: `
    [::] [::1] [0:0:0:0:0:0:0:1] [0000:0000:0000:0000:0000:0000:0000:0001] [::0001] [fe80::1] [FEBF::1] [fec0::1]
    [fc00::1] [fd00:ec2::254] [fd20:ce::254] [fdff:ffff::1] [ff02::1] [ff0e::1] [100::1] [2001:db8::1] [3fff::1]
    [5f00::1]`,
  'IPv4 inside IPv6: mapped, compatible, NAT64, 6to4, Teredo': `
    [::ffff:127.0.0.1] [::ffff:7f00:1] [::FFFF:7F00:0001] [0:0:0:0:0:ffff:127.0.0.1] [::ffff:10.0.0.1]
    [::ffff:a9fe:a9fe] [::ffff:8.8.8.8] [::127.0.0.1] [::7f00:1] [::ffff:0:127.0.0.1] [64:ff9b::7f00:1]
    [64:ff9b::169.254.169.254] [64:ff9b:1::a00:1] [2002:7f00:1::] [2002:7f00:0001::1] [2002:a9fe:a9fe::1]
    [2001:0:4136:e378:8000:63bf:3fff:fdd2]`,
  Names: `
    localhost LOCALHOST localhost. ⓛⓞⓒⓐⓛⓗⓞⓢⓣ l%6fcalhost app.localhost localtest.me 127.0.0.1.nip.io
    rebind.network metadata.google.internal xn--fiqs8s.test 中国.test user@127.0.0.1 user:8.8.8.8@127.0.0.1
    8.8.8.8@localhost 8.8.8.8%2f@localhost`,
}
const privateHosts = Object.values(spellings).flatMap((hosts) => hosts.trim().split(/\s+/))

/**
 * On Linux all of 127.0.0.0/8 is loopback, so the test can treat one of its addresses as public and the others as
 * private.
 */
const publicAddress = '127.0.0.1'
const privateAddress = '127.0.0.2'
const isPrivate = (address: string) => address !== publicAddress

let connections: string[] = []
let answer: (path: string) => { status: number; location?: string } = () => ({ status: 200 })
const servers: Server[] = []
let port = 0

function countConnections(server: Server): Server {
  servers.push(server)
  server.on('connection', ({ localAddress }: Socket) => connections.push(String(localAddress)))
  return server
}

async function listen(server: Server, at: number, host: string): Promise<number> {
  await new Promise<void>((resolve) => countConnections(server).listen(at, host, resolve))
  return (server.address() as AddressInfo).port
}

const receiver = () =>
  createServer((request, response) => {
    const { status, location } = answer(request.url ?? '')
    response.writeHead(status, location === undefined ? {} : { location })
    response.end()
  })

let open: CallbackClient[] = []

function client(options: Partial<CallbackClientOptions> = {}): CallbackClient {
  const opened = openCallbackClient({ privateCallbacks: 'refuse', timeoutMs: 2_000, ...options })
  open.push(opened)
  return opened
}

async function send(through: CallbackClient, url: string) {
  const result = await through.send({ appId: 'app', url: new URL(url), headers: {}, body: '{}' })
  if (result === undefined) throw new Error('the client was closed')
  return result
}

/** Returns these addresses one after the other, the last repeatedly, and counts its calls. */
function resolver(...answers: (readonly string[])[]) {
  const asked: string[] = []
  const resolve: Resolve = async (hostname) => {
    const addresses = answers[Math.min(asked.length, answers.length - 1)] ?? []
    asked.push(hostname)
    return addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))
  }
  return { resolve, asked }
}

beforeAll(async () => {
  port = await listen(receiver(), 0, publicAddress)
  await listen(receiver(), port, privateAddress)
})
beforeEach(() => {
  connections = []
  answer = () => ({ status: 200 })
  for (const opened of open) opened.close()
  open = []
})
afterAll(() => {
  for (const opened of open) opened.close()
  for (const server of servers) {
    server.closeAllConnections()
    server.close()
  }
})

describe('a private address', () => {
  test('is told apart in more than 100 spellings', () => {
    expect(new Set(privateHosts).size).toBeGreaterThanOrEqual(100)
  })

  test.each([...new Set(privateHosts)])('is not connected to as %s', async (host) => {
    const { resolve } = resolver([publicAddress])
    for (const protocol of ['http', 'https']) {
      const { error, responseStatus } = await send(client({ resolve }), `${protocol}://${host}:${port}/latest`)
      expect([error, responseStatus]).toEqual([privateWords, null])
    }
    expect(connections).toEqual([])
  })

  test('is connected to where it is allowed, so that the tests above could fail', async () => {
    const { resolve } = resolver([publicAddress])
    for (const host of ['127.0.0.1', '0x7f.1', 'localhost', 'rebind.network', '[::ffff:127.0.0.1]']) {
      const { error } = await send(client({ resolve, privateCallbacks: 'allow' }), `http://${host}:${port}/`)
      expect([host, error]).toEqual([host, null])
    }
    expect(connections).toHaveLength(5)
  })

  test.each([
    { addresses: ['127.0.0.1'] },
    { addresses: ['10.0.0.7'] },
    { addresses: ['169.254.169.254'] },
    { addresses: ['::1'] },
    { addresses: ['fe80::1%lo'] },
    { addresses: ['::ffff:127.0.0.1'] },
    { addresses: ['::ffff:8.8.8.8'] },
    { addresses: ['64:ff9b::808:808'] },
    { addresses: ['2002:808:808::1'] },
    { addresses: ['fd00:ec2::254'] },
    { addresses: ['8.8.8.8', '10.0.0.1'] },
    { addresses: ['10.0.0.1', '8.8.8.8'] },
    { addresses: ['8.8.8.8', '2606:4700:4700::1111', '::1'] },
    { addresses: ['8.8.8.8', '8.8.4.4', '1.1.1.1', '127.0.0.1'] },
  ])('among the answers of a name ($addresses) refuses them all', async ({ addresses }) => {
    const { resolve, asked } = resolver(addresses)
    const { error } = await send(client({ resolve }), `http://callback.example.com:${port}/`)
    expect([error, asked]).toEqual([privateWords, ['callback.example.com']])
    expect(connections).toEqual([])
  })

  test('that the system’s own resolver finds is refused, too', async () => {
    const { error } = await send(client(), `http://localhost:${port}/`)
    expect(error).toBe(privateWords)
    expect(connections).toEqual([])
  })

  test('is not reached by a redirect', async () => {
    const through = client({ isPrivate, resolve: resolver([publicAddress]).resolve })
    for (const status of [301, 302, 303, 307, 308]) {
      answer = (path) => (path === '/' ? { status, location: `http://${privateAddress}:${port}/in` } : { status: 200 })
      const { error, responseStatus } = await send(through, `http://callback.example.com:${port}/`)
      expect([error, responseStatus]).toEqual([`answered ${status}`, status])
    }
    expect(new Set(connections)).toEqual(new Set([publicAddress]))
  })
})

describe('a resolver that changes its answer', () => {
  test('is asked once for each connection, and what it said then is where the connection goes', async () => {
    const { resolve, asked } = resolver([publicAddress], [privateAddress])
    const through = client({ isPrivate, resolve })
    const url = `http://rebind.example.com:${port}/`
    expect((await send(through, url)).error).toBeNull()
    // The connection stays open, to the address that was checked.
    expect((await send(through, url)).error).toBeNull()
    expect([asked.length, connections]).toEqual([1, [publicAddress]])
    for (const server of servers) server.closeAllConnections()
    await Bun.sleep(50)
    expect((await send(through, url)).error).toBe(privateWords)
    expect([asked.length, connections]).toEqual([2, [publicAddress]])
  })

  test('never gets a second question for one attempt, so it cannot answer one thing to the check and another to the connection', async () => {
    for (let tries = 0; tries < 20; tries++) {
      const { resolve, asked } = resolver([publicAddress], [privateAddress])
      expect((await send(client({ isPrivate, resolve }), `http://rebind.example.com:${port}/`)).error).toBeNull()
      expect(asked).toHaveLength(1)
    }
    expect(connections).toEqual(Array(20).fill(publicAddress))
  })

  test('to both at once is refused at once', async () => {
    for (const both of [
      [publicAddress, privateAddress],
      [privateAddress, publicAddress],
    ]) {
      const { resolve } = resolver(both)
      const { error } = await send(client({ isPrivate, resolve }), `http://rebind.example.com:${port}/`)
      expect(error).toBe(privateWords)
    }
    expect(connections).toEqual([])
  })

  test('that fails, or answers nothing, fails the attempt', async () => {
    const unknown: Resolve = () => Promise.reject(nameFault('ENOTFOUND'))
    for (const resolve of [unknown, resolver([]).resolve]) {
      const { error } = await send(client({ resolve }), `http://callback.example.com:${port}/`)
      expect(error).toBe('the name was not found (ENOTFOUND)')
    }
  })

  test('that never answers costs the attempt its time, and no more', async () => {
    const never: Resolve = () => new Promise(() => {})
    const { error, durationMs } = await send(
      client({ resolve: never, timeoutMs: 300 }),
      `http://callback.example.com:${port}/`,
    )
    expect(error).toBe('no answer in time')
    expect(durationMs).toBeLessThan(5_000)
  })
})

const hasOpenssl = spawnSync('openssl', ['version']).status === 0

describe.skipIf(!hasOpenssl)('TLS', () => {
  const folder = mkdtempSync(join(tmpdir(), 'forecourt-tls-'))
  let ca = ''
  let named: string | undefined
  let tlsPort = 0

  const path = (name: string) => join(folder, name)

  /** A certificate for a name, by an authority that the test makes. */
  function certify(name: string, alternative: string) {
    const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-subj', `/CN=${name}`]
    const run = (...args: string[]) => {
      const { status, stderr } = spawnSync('openssl', args, { cwd: folder, encoding: 'utf8' })
      if (status !== 0) throw new Error(stderr)
    }
    if (ca === '') {
      run('req', '-x509', ...key, '-keyout', 'ca.key', '-out', 'ca.crt', '-days', '2')
      ca = readFileSync(path('ca.crt'), 'utf8')
    }
    writeFileSync(path('extensions'), `subjectAltName=${alternative}\n`)
    run('req', ...key, '-keyout', 'server.key', '-out', 'server.csr')
    const authority = ['-CA', 'ca.crt', '-CAkey', 'ca.key', '-CAcreateserial', '-extfile', 'extensions']
    run('x509', '-req', '-in', 'server.csr', ...authority, '-out', 'server.crt', '-days', '2')
    return { key: readFileSync(path('server.key')), cert: readFileSync(path('server.crt')) }
  }

  async function listenTls(alternative: string) {
    const server = createTlsServer(certify('callback', alternative), ({ socket, headers }, response) => {
      named = `${(socket as Socket & { servername?: string | false }).servername || 'none'} ${headers.host}`
      response.end()
    })
    tlsPort = await listen(server as unknown as Server, 0, publicAddress)
  }

  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  test('goes to the checked address under the URL’s name, and the certificate must be for that name', async () => {
    await listenTls('DNS:callback.example.com')
    const options = { isPrivate, resolve: resolver([publicAddress]).resolve, ca }
    const { error } = await send(client(options), `https://callback.example.com:${tlsPort}/`)
    expect([error, named]).toEqual([null, `callback.example.com callback.example.com:${tlsPort}`])
    expect((await send(client(options), `https://callback.example.com.:${tlsPort}/`)).error).toBeNull()
    const other = await send(client(options), `https://other.example.com:${tlsPort}/`)
    expect(other.error).toBe('the connection failed (ERR_TLS_CERT_ALTNAME_INVALID)')
    // The same holds where a connection to the same address is kept open under the right name.
    const through = client(options)
    expect((await send(through, `https://callback.example.com:${tlsPort}/`)).error).toBeNull()
    const borrowed = await send(through, `https://other.example.com:${tlsPort}/`)
    expect(borrowed.error).toBe('the connection failed (ERR_TLS_CERT_ALTNAME_INVALID)')
    const untrusted = await send(client({ ...options, ca: '' }), `https://callback.example.com:${tlsPort}/`)
    expect(untrusted.error).toMatch(/^the connection failed \((UNABLE_TO|SELF_SIGNED|DEPTH_ZERO)/)
  })

  test('of an address without a name is checked against the address', async () => {
    await listenTls(`IP:${publicAddress}`)
    const { error } = await send(client({ isPrivate, ca }), `https://${publicAddress}:${tlsPort}/`)
    expect([error, named]).toEqual([null, `none ${publicAddress}:${tlsPort}`])
  })
})
