import { afterAll, describe, expect, test } from 'bun:test'
import { createDevice } from '../../src/devices/contract.ts'
import { Client, deviceBody, newApplication, type Service, type TestApplication } from '../harness.ts'
import { RawConnection, rawPost } from './raw-connection.ts'
import {
  atScale,
  becomesTrue,
  databaseProcesses,
  embeddedConnection,
  randomNumbers,
  seed,
  sleep,
  tell,
  Workplace,
  withSql,
} from './support.ts'

const place = new Workplace()
const random = randomNumbers(seed)
const said = `seed ${seed}`
afterAll(() => place.clear(), 60_000)

/** What clients saw while the service went away. */
interface Seen {
  /** Serials whose create was answered 200. */
  created: string[]
  /** Connections whose last answer said `connection: close`. */
  toldToClose: number
  /** Connections that were refused. */
  refused: number
  /** Serials sent on new connections that were reset: the system had taken them, and the service never did. */
  neverTaken: string[]
  /** Requests that a connection took and did not answer, and answers other than 200. */
  dropped: string[]
}

type ClientKind = (service: Service, app: TestApplication, seen: Seen) => Promise<void>

/** Sends the parts of one create with pauses between them. Answers whether the connection may be used again. */
async function createRaw(
  connection: RawConnection,
  app: TestApplication,
  seen: Seen,
  options: { headers?: string[]; pauseMs?: number; kind: string },
): Promise<boolean> {
  const body = deviceBody(app.appId, { deviceName: '道闸' })
  const [head, text] = rawPost(createDevice.path, app.token, body, options.headers)
  const half = Math.floor(text.length / 2)
  connection.send(head + (options.pauseMs === undefined ? text : text.slice(0, half)))
  if (options.pauseMs !== undefined) {
    await sleep(options.pauseMs)
    connection.send(text.slice(half))
  }
  try {
    const answer = await connection.answer()
    if (answer.status === 200) seen.created.push(body.deviceNo)
    else seen.dropped.push(`${options.kind}: ${answer.status} ${answer.body}`)
    if (answer.closes) seen.toldToClose++
    return !answer.closes
  } catch (error) {
    if (connection.answers === 0 && connection.characters === 0) seen.neverTaken.push(body.deviceNo)
    else seen.dropped.push(`${options.kind}: ${(error as Error).message}`)
    return false
  }
}

/** Uses one connection until it is told to close it, and opens others until it is refused. */
function keepAlive(options: { pauseMs?: number; kind: string }): ClientKind {
  return async (service, app, seen) => {
    for (;;) {
      const connection = await RawConnection.open(service.url)
      if (connection === undefined) {
        seen.refused++
        return
      }
      while (await createRaw(connection, app, seen, options));
      connection.close()
    }
  }
}

const newConnectionEach: ClientKind = async (service, app, seen) => {
  for (;;) {
    const connection = await RawConnection.open(service.url)
    if (connection === undefined) {
      seen.refused++
      return
    }
    await createRaw(connection, app, seen, { kind: 'a new connection', headers: ['Connection: close'] })
    connection.close()
  }
}

const clients: { kind: ClientKind; count: number }[] = [
  { kind: keepAlive({ kind: 'a busy connection' }), count: 16 },
  { kind: keepAlive({ kind: 'a slow body', pauseMs: 300 }), count: 6 },
  { kind: newConnectionEach, count: 4 },
]

describe.each(['SIGTERM', 'SIGINT'] as const)('%s', (name) => {
  test('under load drops nothing, ends with 0 within 10 seconds, and takes the embedded database with it', async () => {
    const dataDir = place.newFolder()
    let service = await place.startService({ dataDir })
    const app = await newApplication(new Client(service))
    for (let round = 0; round < atScale(1, 3); round++) {
      const seen: Seen = { created: [], toldToClose: 0, refused: 0, neverTaken: [], dropped: [] }
      const all = clients.flatMap(({ kind, count }) => Array.from({ length: count }, () => kind(service, app, seen)))
      await becomesTrue(() => seen.created.length > 100)
      await sleep(random() * 400)
      const before = seen.created.length
      const began = performance.now()
      service.process.kill(name)
      const [code] = await Promise.all([ended(service), ...all])
      const took = performance.now() - began
      tell(
        `${name}: ended with ${code} after ${took.toFixed(0)} ms, ${before} creates answered before and ` +
          `${seen.created.length - before} after, ${seen.toldToClose} connections told to close, ` +
          `${seen.neverTaken.length} reset before they were taken`,
      )
      expect(seen.dropped, `${said}: round ${round}`).toEqual([])
      expect(code, service.stderr()).toBe(0)
      expect(took).toBeLessThan(10_000)
      expect(databaseProcesses(dataDir), 'processes of the database').toEqual([])
      // Every client was there to the end, and work was under way when the signal came.
      expect(seen.refused).toBe(all.length)
      expect(seen.created.length).toBeGreaterThan(before)

      service = await place.startService({ dataDir })
      const kept = await withSql(embeddedConnection(dataDir), async (sql) => {
        const rows = await sql`select device_no from device where app_id = ${app.appId}`
        return new Set(rows.map((row) => row.device_no))
      })
      expect(
        seen.created.filter((serial) => !kept.has(serial)),
        `${said}: acknowledged and gone`,
      ).toEqual([])
      expect(
        seen.neverTaken.filter((serial) => kept.has(serial)),
        `${said}: done and not told`,
      ).toEqual([])
    }
    expect(await service.stop()).toBe(0)
  }, 120_000)
})

function ended(service: Service): Promise<number | null> {
  const { process: child } = service
  if (child.exitCode !== null) return Promise.resolve(child.exitCode)
  return new Promise((resolve) => child.once('exit', resolve))
}

test('SIGTERM ends the service within 10 seconds also while its database does not answer', async () => {
  const database = await place.startDatabase()
  const service = await place.startService({ env: { DATABASE_URL: database.url() } })
  const app = await newApplication(new Client(service))
  const connections = await Promise.all(Array.from({ length: 8 }, () => RawConnection.open(service.url)))
  database.signalAll('SIGSTOP')
  try {
    const answers = connections.map(async (connection) => {
      connection?.send(rawPost(createDevice.path, app.token, deviceBody(app.appId)).join(''))
      return (await connection?.answer())?.status
    })
    await sleep(200)
    const began = performance.now()
    service.process.kill('SIGTERM')
    const code = await ended(service)
    const took = performance.now() - began
    tell(`SIGTERM with a database that does not answer: ended with ${code} after ${took.toFixed(0)} ms`)
    expect(await Promise.all(answers)).toEqual(Array(8).fill(503))
    expect(code).toBe(0)
    expect(took).toBeLessThan(10_000)
  } finally {
    database.signalAll('SIGCONT')
  }
  await database.stop()
}, 120_000)

test('a second SIGTERM while it stops changes nothing', async () => {
  const dataDir = place.newFolder()
  const service = await place.startService({ dataDir })
  const app = await newApplication(new Client(service))
  const connection = await RawConnection.open(service.url)
  const [head, body] = rawPost(createDevice.path, app.token, deviceBody(app.appId))
  connection?.send(head)
  await sleep(100)
  service.process.kill('SIGTERM')
  await sleep(100)
  service.process.kill('SIGTERM')
  connection?.send(body)
  expect((await connection?.answer())?.status).toBe(200)
  expect(await ended(service)).toBe(0)
  expect(databaseProcesses(dataDir)).toEqual([])
}, 120_000)
