import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { findProcess, signal } from '../../src/embedded/processes.ts'
import { streamEvents } from '../../src/events/contract.ts'
import { Client } from '../kit/client.ts'
import type { OwnDatabase } from '../kit/database.ts'
import { EventReader, Follower, listed } from '../kit/event-reader.ts'
import { whileTableLocked } from '../kit/locks.ts'
import { ownWorkplace } from '../kit/own-workplace.ts'
import { despiteLoad, newApplication, siteBody, type TestApplication } from '../kit/records.ts'
import { atScale, isLong, longTest } from '../kit/scale.ts'
import type { Service } from '../kit/service.ts'
import { becomes, becomesTrue, load, sleep, waitUntil } from '../kit/waits.ts'

const place = ownWorkplace()
const open = new Set<EventReader>()
afterEach(() => {
  for (const reader of open) reader.close()
  open.clear()
})

/** Opens a stream; again, while an overloaded service refuses it with 50003. */
async function read(client: Client, { token }: TestApplication): Promise<EventReader> {
  for (let tries = 1; ; tries++) {
    const reader = await EventReader.open(client.url, { token })
    open.add(reader)
    if (reader.response.status !== 503 || tries === 30) return reader
    await sleep(500)
  }
}

const change = (client: Client, { appId, token }: TestApplication) =>
  client.call('saveSite', siteBody(appId), { token })

/** Writes this many hundreds of events of 10 kB. */
async function changeMany(client: Client, { appId, token }: TestApplication, hundreds: number): Promise<void> {
  const long = { ipcIds: '电'.repeat(1024), sitePictureUrl: '站'.repeat(2048) }
  const { appId: _, ...site } = siteBody(appId, long)
  const sites = Array(100).fill(site)
  for (let count = 0; count < hundreds; count++) {
    const headers = { 'idempotency-key': crypto.randomUUID() }
    const saved = await despiteLoad(() => client.call('saveSites', { appId, sites }, { token, headers }))
    expect(saved.code).toBe(0)
  }
}

/** Waits until the followers have the newest event, and expects that they have received exactly what the feed lists. */
async function expectAllListed(followers: Follower[], client: Client, application: TestApplication): Promise<void> {
  const ids = await listed(client, application)
  for (const follower of followers) {
    await becomesTrue(() => follower.ids.at(-1) === ids.at(-1), 20_000)
    await sleep(100)
    follower.isOver = true
    await follower.done
    expect(follower.ids).toEqual(ids)
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
    await changeMany(client, application, 1)
    await expectAllListed(followers, client, application)
  })

  test('a stop ends every stream within a second, with a time to come again that spreads the readers', async () => {
    const applications = await Promise.all(Array.from({ length: 10 }, () => newApplication(client)))
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
    // Of 5,000 readers at most 600 open a stream in any second; of 200, 24. Half as many more are allowed to chance.
    for (const retries of [
      lasts.map(([retry]) => Number(retry?.retry)),
      readers.map(({ blocks }) => Number(blocks[0]?.retry)),
    ]) {
      const most = Math.max(...retries.map((from) => retries.filter((at) => at >= from && at < from + 1_000).length))
      expect(most).toBeLessThan(200 * (600 / 5_000) * 1.5)
      expect(Math.min(...retries)).toBeWithin(1_000, 2_500)
      expect(Math.max(...retries)).toBeWithin(13_500, 15_001)
    }
    service = await start()
    client = new Client(service)
  })

  test('a read of the log that fails beside another is not repeated beside it, so nothing is sent twice', async () => {
    const writer = new Client(await start())
    const applications = [await newApplication(client), await newApplication(client)]
    const readers = await Promise.all(applications.map((application) => read(client, application)))
    await Promise.all(readers.map((reader) => reader.until(() => reader.blocks.length >= 2)))
    const before = readers.map(({ blocks }) => blocks.find(({ id }) => id !== undefined)?.id ?? '')
    const waiting = async () =>
      (await database.sql`
        select pid from pg_stat_activity where wait_event_type = 'Lock' and query like '%subject%order by id%' order by query_start`) as {
        pid: number
      }[]
    // Both logs are read again at one moment, within 0.8 s, and neither read comes to its end.
    for (let isCaught = false; !isCaught; ) {
      await Promise.all(applications.map((application) => change(writer, application)))
      isCaught = await whileTableLocked(database, 'event', async () => {
        if (!(await becomesTrue(async () => (await waiting()).length === 2, 1_500))) return false
        const [lasting] = await waiting()
        // The second time, events are looked for again.
        for (let times = 0; times < 2; times++) {
          const failing = (await waiting()).filter(({ pid }) => pid !== lasting?.pid)
          for (const { pid } of failing) await database.sql`select pg_terminate_backend(${pid})`
          await sleep(1_000)
        }
        return true
      })
    }
    await Promise.all(applications.map((application) => change(client, application)))
    for (const [index, application] of applications.entries()) {
      const ids = (await listed(client, application)).filter((id) => id > Number(before[index]))
      const { token } = application
      const again = await EventReader.open(client.url, { token, query: { afterId: before[index] ?? '' } })
      open.add(again)
      for (const reader of [again, readers[index] as EventReader]) {
        await reader.untilEvents(ids.length)
        expect(reader.ids).toEqual(ids)
      }
    }
  })

  describe('a reader that takes nothing', () => {
    const stalledReaders = atScale(3, 18)
    let application: TestApplication
    let sockets: Socket[] = []
    let before = 0
    afterAll(() => {
      for (const socket of sockets) socket.destroy()
    })

    /** Opens a stream from the beginning, whose connection is not read. */
    async function stall(): Promise<Socket> {
      const { hostname, port } = new URL(client.url)
      const socket = connect({ host: hostname, port: Number(port) })
      await once(socket, 'connect')
      socket.pause()
      const authorization = `authorization: Bearer ${application.token}`
      socket.write(`GET ${streamEvents.path}?afterId=0 HTTP/1.1\r\nhost: x\r\n${authorization}\r\n\r\n`)
      return socket
    }

    const memory = () =>
      Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${service.process.pid}/status`, 'utf8'))?.[1]) * 1024

    /** Waits until the connections take no more: they hold some megabytes. */
    async function isStalled(): Promise<boolean> {
      let last = -1
      return becomesTrue(async () => {
        const sent = await metricOf(client, 'forecourt_stream_events_total')
        const isSame = sent === last
        last = sent
        await sleep(400)
        return isSame && sent > 0
      })
    }

    test('delays nobody, and holds little of the process', async () => {
      application = await newApplication(client)
      await changeMany(client, application, 8)
      before = memory()
      sockets = await Promise.all(Array.from({ length: stalledReaders }, stall))
      const reader = await read(client, application)
      expect(await isStalled()).toBe(true)
      const sent = await metricOf(client, 'forecourt_stream_events_total')
      expect(sent).toBeLessThan(stalledReaders * 800)
      await changeMany(client, application, 1)
      await reader.untilEvents(100, 10_000)
      expect(reader.ids).toEqual((await listed(client, application)).slice(-100))
      // Nothing was prepared for the others, each of whom still has megabytes to take.
      expect(await metricOf(client, 'forecourt_stream_events_total')).toBe(sent + 100)
      const more = (memory() - before) / 1024 / 1024
      // The service’s own memory moves by tens of megabytes: only many readers show.
      if (isLong) expect(more).toBeLessThan(stalledReaders * 3.5)
    })

    longTest('is disconnected after 60 s', async () => {
      const reader = await read(client, application)
      await stall()
      const from = performance.now()
      expect(await becomes(1, () => streamsOf(client), 90_000)).toBe(1)
      expect(performance.now() - from).toBeWithin(59_000, 75_000)
      expect(reader.isOver).toBe(false)
      reader.close()
      sockets = await Promise.all(Array.from({ length: stalledReaders }, stall))
      expect(await isStalled()).toBe(true)
    })

    test('ends within 5 s after its access, without the last block', async () => {
      expect(await becomes(stalledReaders, () => streamsOf(client), 5_000)).toBe(stalledReaders)
      await client.operate('freezeApplication', { appId: application.appId, reason: 'test' })
      expect(await becomes(0, () => streamsOf(client), 5_000)).toBe(0)
      for (const socket of sockets.slice(0, 3)) {
        let last = ''
        socket.on('data', (piece) => {
          last = `${last}${piece}`.slice(-2_000)
        })
        socket.on('error', () => {})
        socket.resume()
        if (!socket.closed) await once(socket, 'close')
        expect(last.includes('event: closed')).toBe(false)
      }
    })
  })
})

/** A metric over all processes of a service. */
async function metricOf(client: Client, name: string): Promise<number> {
  const { text } = await client.send('/metrics', { headers: { authorization: `Bearer ${client.operatorKey}` } })
  return Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(text)?.[1])
}

const streamsOf = (client: Client) => metricOf(client, 'forecourt_streams')

describe('three processes', () => {
  let service: Service
  let client: Client
  beforeAll(async () => {
    service = await place.startService({ env: { FORECOURT_WORKERS: '3' } })
    client = new Client(service)
  }, 120_000)

  const workerPids = () => place.workersOf(service)

  function killNow(pid: number): void {
    const process = findProcess(pid)
    if (process !== undefined) signal(process, 'SIGKILL')
  }

  test('share the limits, and one that is killed gives its streams back', async () => {
    const application = await newApplication(client)
    const opened = await Promise.all(Array.from({ length: 40 }, () => read(client, application)))
    const statuses = opened.map(({ response }) => response.status)
    expect([statuses.filter((each) => each === 200).length, new Set(statuses)]).toEqual([20, new Set([200, 429])])
    const lost = () => opened.filter(({ isOver, response }) => response.status === 200 && isOver).length
    // On Node one process may have accepted all connections, so one after another is killed until some are lost.
    for (const victim of workerPids()) {
      killNow(victim)
      await waitUntil(() => !workerPids().includes(victim) && workerPids().length === 3, 20_000)
      if (await becomesTrue(() => lost() > 0, 2_000)) break
    }
    await sleep(200)
    const count = lost()
    expect(count).toBeGreaterThan(0)
    const again = await Promise.all(Array.from({ length: 20 }, () => read(client, application)))
    expect(again.filter(({ response }) => response.status === 200).length).toBe(count)
  })

  test('send what each of them writes, in the same order, within 1.2 s', async () => {
    const application = await newApplication(client)
    const readers = await Promise.all(Array.from({ length: 9 }, () => read(client, application)))
    await Promise.all(readers.map((reader) => reader.until(() => reader.blocks.length >= 2)))
    const writtenAt = new Map<number, number>()
    const count = 25
    for (let written = 0; written < count; written++) {
      const { id } = (await change(client, application)).data
      writtenAt.set(id, performance.now())
      await sleep(30)
    }
    await Promise.all(readers.map((reader) => reader.untilEvents(count)))
    const all = await listed(client, application)
    const tookMs: number[] = []
    for (const reader of readers) {
      expect(reader.ids).toEqual(all.slice(-count))
      for (const { data, at } of reader.events) tookMs.push(at - (writtenAt.get(JSON.parse(data ?? '').data.id) ?? 0))
    }
    expect(tookMs.sort((a, b) => a - b)[Math.floor(tookMs.length * 0.95)]).toBeLessThan(1_200)
  })

  test('readers over all of them miss nothing while processes are killed', async () => {
    const application = await newApplication(client)
    const followers = Array.from({ length: 6 }, () => new Follower(() => client.url, application))
    const writing = load(() => change(client, application).catch(() => {}), { loops: 3, pauseMs: 10 })
    for (let kills = 0; kills < atScale(2, 8); kills++) {
      await sleep(atScale(700, 1_000))
      killNow(workerPids()[0] ?? 0)
    }
    await sleep(atScale(700, 1_000))
    await writing.stop()
    // On a busy machine the last process may end before another serves.
    const answers = () =>
      listed(client, application).then(
        () => true,
        () => false,
      )
    await waitUntil(answers)
    await expectAllListed(followers, client, application)
  })
})
