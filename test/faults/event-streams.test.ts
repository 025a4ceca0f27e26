import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { freezeApplication } from '../../src/applications/contract.ts'
import { createDevices } from '../../src/devices/contract.ts'
import { findProcess, signal } from '../../src/embedded/processes.ts'
import { pageEvents, streamEvents } from '../../src/events/contract.ts'
import { saveSite } from '../../src/sites/contract.ts'
import { EventReader } from '../event-reader.ts'
import {
  Client,
  deviceBody,
  newApplication,
  newSerial,
  type Service,
  siteBody,
  type TestApplication,
} from '../harness.ts'
import { longTest } from '../long.ts'
import {
  atScale,
  becomes,
  becomesTrue,
  distribution,
  load,
  type OwnDatabase,
  sleep,
  tell,
  Workplace,
} from './support.ts'

const place = new Workplace()
const open = new Set<EventReader>()
afterEach(() => {
  for (const reader of open) reader.close()
  open.clear()
})
afterAll(() => place.clear(), 60_000)

async function read(client: Client, { token }: TestApplication, query: Record<string, string | number> = {}) {
  const reader = await EventReader.open(client.url, { token, query })
  open.add(reader)
  return reader
}

async function listed(client: Client, { token }: TestApplication): Promise<number[]> {
  const ids: number[] = []
  for (;;) {
    const { list } = (await client.call(pageEvents, { afterId: ids.at(-1) ?? 0, pageSize: 100 }, { token })).data
    ids.push(...list.map(({ id }) => id))
    if (list.length < 100) return ids
  }
}

const change = (client: Client, { appId, token }: TestApplication) => client.call(saveSite, siteBody(appId), { token })

/** Writes this many events with one request. */
async function changeMany(client: Client, { appId, token }: TestApplication, count: number): Promise<void> {
  const devices = Array.from({ length: count }, () => {
    const { appId: _, ...device } = deviceBody(appId, { deviceNo: newSerial('ST'), tag: 'x'.repeat(500) })
    return device
  })
  expect((await client.call(createDevices, { appId, devices }, { token })).code).toBe(0)
}

/** Follows the events as a program does that is told only where the service is: over any number of connections. */
class Follower {
  isOver = false
  readonly done: Promise<void>
  private readonly taken: number[] = []
  private reader: EventReader | undefined

  constructor(urlOf: () => string, { token }: TestApplication, mostPauseMs = 300) {
    this.done = (async () => {
      while (!this.isOver) {
        const headers = { 'last-event-id': String(this.ids.at(-1) ?? 0) }
        const reader = await EventReader.open(urlOf(), { token, headers }).catch(() => undefined)
        if (reader !== undefined) {
          this.reader = reader
          while (!reader.isOver && !this.isOver) await reader.until(() => false, 100).catch(() => {})
          reader.close()
          await reader.ended.catch(() => {})
          this.reader = undefined
          this.taken.push(...reader.ids)
        }
        await sleep(Math.random() * mostPauseMs)
      }
    })()
  }

  get ids(): number[] {
    return [...this.taken, ...(this.reader?.ids ?? [])]
  }
}

describe('one process', () => {
  let database: OwnDatabase
  let service: Service
  let client: Client
  const start = () => place.startService({ env: { DATABASE_URL: database.url() } })
  beforeAll(async () => {
    database = await place.findDatabase()
    service = await start()
    client = new Client(service)
  }, 120_000)

  test('readers that come again receive exactly what the feed lists, over stops and kills', async () => {
    const application = await newApplication(client)
    let { url } = service
    const followers = Array.from({ length: 4 }, () => new Follower(() => url, application))
    for (const name of atScale(['SIGTERM', 'SIGKILL'], ['SIGTERM', 'SIGKILL', 'SIGKILL', 'SIGTERM', 'SIGKILL'])) {
      const writing = load(() => change(client, application).catch(() => {}), { loops: 4, pauseMs: 5 })
      await sleep(500)
      await service.kill(name as NodeJS.Signals)
      await writing.stop()
      service = await start()
      url = service.url
      client = new Client(service)
    }
    await changeMany(client, application, 50)
    const ids = await listed(client, application)
    for (const follower of followers) {
      await becomesTrue(() => follower.ids.at(-1) === ids.at(-1), 20_000)
      follower.isOver = true
      await follower.done
      expect(follower.ids).toEqual(ids)
    }
  }, 120_000)

  test('a stop ends every stream within a second, with a time to come again that spreads the readers', async () => {
    const applications = await Promise.all(Array.from({ length: 15 }, () => newApplication(client)))
    const readers = await Promise.all(
      applications.flatMap((application) => Array.from({ length: 20 }, () => read(client, application))),
    )
    await Promise.all(readers.map((reader) => reader.until(() => reader.blocks.length >= 2)))
    const stoppedAt = performance.now()
    const stopping = service.stop()
    await Promise.all(readers.map(({ ended }) => ended))
    expect(performance.now() - stoppedAt).toBeLessThan(1_000)
    expect(await stopping).toBe(0)
    const lasts = readers.map(({ blocks }) => blocks.slice(-2))
    for (const [retry, closed] of lasts) {
      expect([Number(retry?.retry) >= 1_000, closed?.event, closed?.id]).toEqual([true, 'closed', undefined])
      expect(JSON.parse(closed?.data ?? '').code).toBe(50003)
    }
    // Of 5,000 readers at most 600 open a stream in any second; of 300, 36. Half as many more are allowed to chance.
    for (const retries of [
      lasts.map(([retry]) => Number(retry?.retry)),
      readers.map(({ blocks }) => Number(blocks[0]?.retry)),
    ]) {
      const most = Math.max(...retries.map((from) => retries.filter((at) => at >= from && at < from + 1_000).length))
      expect(most).toBeLessThan(300 * (600 / 5_000) * 1.5)
      expect(Math.min(...retries)).toBeWithin(1_000, 2_500)
      expect(Math.max(...retries)).toBeWithin(13_500, 15_001)
    }
    service = await start()
    client = new Client(service)
  }, 60_000)

  describe('a reader that takes nothing', () => {
    /** Opens a stream whose connection is not read. */
    async function stalled({ token }: TestApplication, query: string): Promise<Socket> {
      const { hostname, port } = new URL(client.url)
      const socket = connect({ host: hostname, port: Number(port) })
      await once(socket, 'connect')
      socket.pause()
      socket.write(`GET ${streamEvents.path}?${query} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${token}\r\n\r\n`)
      return socket
    }

    const memoryOf = () =>
      Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${service.process.pid}/status`, 'utf8'))?.[1]) * 1024

    test('delays nobody, and holds little of the process', async () => {
      const application = await newApplication(client)
      for (let count = 0; count < 6; count++) await changeMany(client, application, 1_000)
      const before = memoryOf()
      const sockets = await Promise.all(Array.from({ length: 18 }, () => stalled(application, 'afterId=0')))
      const reader = await read(client, application)
      await sleep(2_000)
      await changeMany(client, application, 1_000)
      await reader.untilEvents(1_000, 10_000)
      expect(reader.ids).toEqual((await listed(client, application)).slice(-1_000))
      await sleep(2_000)
      // Each would have 7 MB to send. The process’s own memory moves by some megabytes.
      tell(`18 stalled readers: ${((memoryOf() - before) / 1024 / 1024).toFixed(1)} MiB more`)
      expect(memoryOf() - before).toBeLessThan(60 * 1024 * 1024)
      for (const socket of sockets) socket.destroy()
    }, 60_000)

    test('ends within 5 s after its access, without the last block', async () => {
      const application = await newApplication(client)
      for (let count = 0; count < 4; count++) await changeMany(client, application, 1_000)
      const sockets = await Promise.all(Array.from({ length: 3 }, () => stalled(application, 'afterId=0')))
      await becomes(3, () => streamsOf(client), 10_000)
      await sleep(1_500)
      const frozenAt = performance.now()
      await client.operate(freezeApplication, { appId: application.appId, reason: 'test' })
      expect(await becomes(0, () => streamsOf(client), 5_500)).toBe(0)
      expect(performance.now() - frozenAt).toBeLessThan(5_500)
      for (const socket of sockets) {
        let text = ''
        socket.on('data', (piece) => {
          text += piece
        })
        socket.on('error', () => {})
        socket.resume()
        if (!socket.closed) await once(socket, 'close')
        expect(text).not.toContain('event: closed')
      }
    }, 60_000)

    longTest('is disconnected after 60 s', async () => {
      const application = await newApplication(client)
      for (let count = 0; count < 4; count++) await changeMany(client, application, 1_000)
      await stalled(application, 'afterId=0')
      const reader = await read(client, application)
      await becomes(2, () => streamsOf(client), 10_000)
      await sleep(55_000)
      expect(await streamsOf(client)).toBe(2)
      expect(await becomes(1, () => streamsOf(client), 15_000)).toBe(1)
      expect(reader.isOver).toBe(false)
    })
  })
})

/** The open streams of all processes of a service. */
async function streamsOf(client: Client): Promise<number> {
  const { text } = await client.send('/metrics', { headers: { authorization: `Bearer ${client.operatorKey}` } })
  return Number(/^forecourt_streams (\d+)$/m.exec(text)?.[1])
}

describe('three processes', () => {
  let service: Service
  let client: Client
  beforeAll(async () => {
    service = await place.startService({ env: { FORECOURT_WORKERS: '3' } })
    client = new Client(service)
  }, 120_000)

  const workerPids = () =>
    place
      .services()
      .map(({ pid }) => pid)
      .filter((pid) => {
        const status = readFileSync(`/proc/${pid}/status`, 'utf8')
        const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8')
        return new RegExp(`^PPid:\\s+${service.process.pid}$`, 'm').test(status) && command.includes('worker.')
      })

  test('share the limits, and one that is killed gives its streams back', async () => {
    const application = await newApplication(client)
    const opened = await Promise.all(Array.from({ length: 40 }, () => read(client, application)))
    const statuses = opened.map(({ response }) => response.status)
    expect([statuses.filter((each) => each === 200).length, new Set(statuses)]).toEqual([20, new Set([200, 429])])
    const [victim = 0] = workerPids()
    const process = findProcess(victim)
    if (process !== undefined) signal(process, 'SIGKILL')
    await sleep(500)
    const lost = opened.filter(({ isOver, response }) => response.status === 200 && isOver).length
    tell(`${lost} of 20 streams were those of the killed process`)
    const again = await Promise.all(Array.from({ length: 20 }, () => read(client, application)))
    expect(again.filter(({ response }) => response.status === 200).length).toBe(lost)
  }, 60_000)

  test('send what each of them writes, in the same order, within 1.2 s', async () => {
    const application = await newApplication(client)
    const readers = await Promise.all(Array.from({ length: 9 }, () => read(client, application)))
    await Promise.all(readers.map((reader) => reader.until(() => reader.blocks.length >= 2)))
    const writtenAt = new Map<number, number>()
    for (let count = 0; count < 40; count++) {
      const { id } = (await change(client, application)).data
      writtenAt.set(id, performance.now())
      await sleep(50)
    }
    await Promise.all(readers.map((reader) => reader.untilEvents(40)))
    const all = await listed(client, application)
    const tookMs: number[] = []
    for (const reader of readers) {
      expect(reader.ids).toEqual(all.slice(-40))
      for (const { data, at } of reader.events) tookMs.push(at - (writtenAt.get(JSON.parse(data ?? '').data.id) ?? 0))
    }
    tell(`from the response to the write until the event arrived: ${distribution(tookMs)}`)
    expect(tookMs.sort((a, b) => a - b)[Math.floor(tookMs.length * 0.95)]).toBeLessThan(1_200)
  }, 60_000)

  test('readers over all of them miss nothing while processes are killed', async () => {
    const application = await newApplication(client)
    const followers = Array.from({ length: 6 }, () => new Follower(() => client.url, application))
    const writing = load(() => change(client, application).catch(() => {}), { loops: 3, pauseMs: 10 })
    for (let kill = 0; kill < atScale(2, 8); kill++) {
      await sleep(1_000)
      const [victim = 0] = workerPids()
      const process = findProcess(victim)
      if (process !== undefined) signal(process, 'SIGKILL')
    }
    await sleep(1_000)
    await writing.stop()
    const ids = await listed(client, application)
    for (const follower of followers) {
      await becomesTrue(() => follower.ids.at(-1) === ids.at(-1), 5_000)
      await sleep(100)
      follower.isOver = true
      await follower.done
      expect(follower.ids).toEqual(ids)
    }
  }, 120_000)
})
