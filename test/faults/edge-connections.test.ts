import { describe, expect, test } from 'bun:test'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { type Client, target } from '../kit/client.ts'
import { contractOf, type OperationId } from '../kit/contracts.ts'
import { ownWorkplace } from '../kit/own-workplace.ts'
import { RawConnection, rawPost } from '../kit/raw-connection.ts'
import { deviceBody, newApplication, type TestApplication } from '../kit/records.ts'
import { atScale, longTest, tell } from '../kit/scale.ts'
import type { Service } from '../kit/service.ts'
import { sleep, standStill, waitUntil } from '../kit/waits.ts'
import { Crowd } from './crowd.ts'

const place = ownWorkplace()

/** Each connection is an open file of the service and one of this process, and both need some more. */
const wanted = atScale(1500, 10_000)
const openFiles = Number(
  /^Max open files\s+\S+\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1] ?? wanted,
)
const count = Math.min(wanted, openFiles - 500)
if (count < wanted) tell(`only ${count} of ${wanted} connections: this machine lets a process open ${openFiles} files`)
/** The number for the kinds of connections that cost the service less. */
const fewer = Math.min(atScale(600, wanted), count)

/**
 * The time limit for an ordinary request right after a crowd has gone: a second on an idle machine, more on a busy one.
 */
const answeredWithinMs = 10_000
/** The memory that a connection may cost, apart from what the runtime itself retains. */
const mostMegabytesEach = 0.05

const head = (id: OperationId, ...lines: string[]) =>
  [`POST ${contractOf(id).path} HTTP/1.1`, 'Host: forecourt', 'Content-Type: application/json', ...lines, '', ''].join(
    '\r\n',
  )

/** The service waits 5 s for a body. */
const bodyEndsMs = 5500

type Said = (application: TestApplication) => string
const length = 'Content-Length: 60000'
const chunked = 'Transfer-Encoding: chunked'
const crowds: [count: number, kind: string, said: Said, endsWithinMs: number, haveBodies: boolean][] = [
  [fewer, 'unfinished bodies with a length, of nobody', () => head('issueToken', length), 30_000, true],
  [fewer, 'unfinished bodies in chunks, of nobody', () => `${head('issueToken', chunked)}5\r\n{"a":\r\n`, 30_000, true],
  // From callers without a token, some hundred bodies are read at once; from one application, thousands can time out at
  // the same moment.
  [
    ...([count, 'unfinished bodies of an application'] as const),
    ({ token }) => `${head('createDevice', `Authorization: Bearer ${token}`, length)}{`,
    ...([30_000, true] as const),
  ],
  [fewer, 'idle connections', () => '', 120_000, false],
  [fewer, 'half-sent heads', () => `POST ${contractOf('createDevice').path} HTTP/1.1\r\nHost: fore`, 60_000, false],
]

function residentMegabytes({ process: { pid } }: Service): number {
  return Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024
}

/**
 * Sends a probe, a token request and a create, each on a separate connection. Returns the longest time in milliseconds.
 */
async function honestRequests(client: Client, application: TestApplication): Promise<number> {
  const { appId, appSecret, token } = application
  const credentials = { grant_type: 'client_credentials', client_id: appId, client_secret: appSecret } as const
  const headers = { connection: 'close' }
  const times: number[] = []
  for (const ask of [
    () => client.call('getReadiness', {}, { headers }),
    () => client.call('issueToken', credentials, { headers }),
    () => client.call('createDevice', deviceBody(appId), { token, headers }),
  ]) {
    const began = performance.now()
    const { status, text } = await ask()
    times.push(performance.now() - began)
    expect(status, text).toBe(200)
  }
  return Math.max(...times)
}

function expectAlive({ process: { exitCode, signalCode }, stderr }: Service): void {
  expect([exitCode, signalCode], stderr().slice(-2000)).toEqual([null, null])
}

// In the long run one after the other: each crowd takes half of the files that a process may open.
atScale(describe.concurrent, describe)('the service lives, stays small and goes on answering beside', () => {
  /**
   * The short run tests two kinds, which the service handles differently: bodies without an end, and heads without an
   * end.
   */
  test.each(
    atScale(
      crowds.filter((_, index) => [2, 4].includes(index)),
      crowds,
    ),
  )(
    '%d %s',
    async (size, _, said, endsWithinMs, haveBodies) => {
      const { service, client } = await place.start()
      const application = await newApplication(client)
      await honestRequests(client, application)
      const before = residentMegabytes(service)
      const crowd = await Crowd.open(service.url, size, said(application))
      const opened = performance.now()
      const beside: number[] = []
      let most = residentMegabytes(service)
      for (let look = 0; look < atScale(2, 10); look++) {
        beside.push(await honestRequests(client, application))
        most = Math.max(most, residentMegabytes(service))
        // The service is stopped, as on a busy machine: when it continues, the time of every body is over.
        if (look === 0 && haveBodies) {
          const stillMs = Math.max(0, opened + bodyEndsMs - performance.now())
          await standStill((name) => service.process.kill(name), stillMs)
        }
        // Memory is read once a second.
        else await sleep(1000)
      }
      // The service closes all of them by itself; the less a connection has sent, the longer it takes.
      if (endsWithinMs <= atScale(30_000, endsWithinMs)) expect(await crowd.isGoneWithin(endsWithinMs)).toBe(true)
      else crowd.leave()
      expectAlive(service)
      const after = await honestRequests(client, application)
      expect(crowd.refused).toBe(0)
      expect(after).toBeLessThan(answeredWithinMs)
      expect(most - before).toBeLessThan(mostMegabytesEach * size)
      // Warnings about the way in which the service was started are allowed.
      expect(service.stderr().replaceAll(/^\{"level":40,.*\n/gm, '')).toBe('')
      expect(await service.stop()).toBe(0)
    },
    240_000,
  )

  test('more idle connections than it takes: the oldest of them are closed, and no honest request is refused', async () => {
    const { service, client } = await place.start({ openFiles: 512 })
    const application = await newApplication(client)
    await honestRequests(client, application)
    const crowds: Crowd[] = []
    const meetCrowd = async () => {
      crowds.push(await Crowd.open(service.url, 200, ''))
      await honestRequests(client, application)
    }
    for (let round = 0; round < atScale(2, 4); round++) await meetCrowd()
    // A connection with an unfinished body is not idle, however many come behind it within its 30 seconds.
    const slow = (await RawConnection.open(service.url)) as RawConnection
    const [slowHead, slowBody] = rawPost(
      contractOf('createDevice').path,
      application.token,
      deviceBody(application.appId),
    )
    slow.send(slowHead + slowBody.slice(0, 9))
    for (let round = 0; round < 2; round++) await meetCrowd()
    slow.send(slowBody.slice(9))
    expect((await slow.answer()).status).toBe(200)
    for (const crowd of crowds) crowd.leave()
    expectAlive(service)
    await honestRequests(client, application)
    expect(await service.stop()).toBe(0)
  })

  longTest('a connection without a request is kept for longer than the 60 s of most balancers', async () => {
    const service = await place.startService()
    const connection = (await RawConnection.open(service.url)) as RawConnection
    const probe = `GET ${contractOf('getHealth').path} HTTP/1.1\r\nHost: forecourt\r\n\r\n`
    for (const silentMs of [0, 71_000]) {
      await sleep(silentMs)
      connection.send(probe)
      expect(await connection.answer()).toMatchObject({ status: 200, closes: false })
    }
    const began = performance.now()
    await expect(connection.answer()).rejects.toThrow('closed')
    expect(performance.now() - began).toBeGreaterThan(70_000)
    expect(performance.now() - began).toBeLessThan(90_000)
    expect(await service.stop()).toBe(0)
  })

  test('a client that never closes the connection after its last answer is cut off', async () => {
    const { hostname, port } = new URL((await target()).url)
    const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true })
    socket.write(`GET ${contractOf('getHealth').path} HTTP/1.1\r\nHost: forecourt\r\nConnection: close\r\n\r\n`)
    socket.resume()
    await once(socket, 'end')
    // What is sent to a closed connection is answered with a reset.
    const cut = once(socket, 'error')
    const sending = setInterval(() => socket.write('x'), 200)
    await cut
    clearInterval(sending)
  })

  test('connections that are reset after any byte of a request', async () => {
    const { service, client } = await place.start({ env: { FORECOURT_MAX_REQUESTS: '50' } })
    const application = await newApplication(client)
    const body = deviceBody(application.appId)
    const [lines, text] = rawPost(contractOf('createDevice').path, application.token, body)
    const chunked = lines.replace(/Content-Length: \d+/, 'Transfer-Encoding: chunked')
    const requests = [lines + text, `${chunked}${text.length.toString(16)}\r\n${text}\r\n0\r\n\r\n`]
    for (const request of requests) {
      // The short run resets after every sixteenth byte, with a random offset in each run.
      const step = atScale(16, 1)
      for (let bytes = 1 + Math.floor(Math.random() * step); bytes < request.length; bytes += step) {
        const connection = await RawConnection.open(service.url)
        connection?.send(request.slice(0, bytes))
        // Every second time the service has read the bytes before the reset.
        if (bytes % 2 === 0) await sleep(1)
        connection?.reset()
      }
    }
    expectAlive(service)
    // No reset request still counts among the 50 that may run at once.
    await waitUntil(async () => (await client.call('getReadiness', {})).status === 200)
    expect(await honestRequests(client, application)).toBeLessThan(answeredWithinMs)
    expect(await service.stop()).toBe(0)
  }, 240_000)
})

longTest('bodies of strangers that time out give their places back, and hold at most half of them', async () => {
  const places = 20
  const { service, client } = await place.start({ env: { FORECOURT_MAX_REQUESTS: String(places) } })
  const application = await newApplication(client)
  const readiness = async () => {
    const { status, data } = await client.call('getReadiness', {})
    return { status, capacity: data.checks.find(({ name }) => name === 'capacity')?.ok }
  }
  expect(await readiness()).toEqual({ status: 200, capacity: true })
  for (const lines of [length, chunked]) {
    for (let round = 0; round < atScale(1, 6); round++) {
      const crowd = await Crowd.open(service.url, places, head('issueToken', lines))
      // Half of the places stay free for callers who are known.
      await waitUntil(() => crowd.answers.get('HTTP/1.1 429') === places / 2)
      expect(await readiness()).toEqual({ status: 200, capacity: true })
      await waitUntil(() => crowd.answers.get('HTTP/1.1 408') === places / 2, 30_000)
      crowd.leave()
      expect(await readiness()).toEqual({ status: 200, capacity: true })
      await honestRequests(client, application)
    }
  }
  expect(await service.stop()).toBe(0)
})
