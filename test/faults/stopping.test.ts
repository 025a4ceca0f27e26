import { describe, expect, test } from 'bun:test'
import { once } from 'node:events'
import { connect } from 'node:net'
import { createAct } from '../../src/bulk/acts/contract.ts'
import { createExport, createImport } from '../../src/bulk/contract.ts'
import { createDevice } from '../../src/devices/contract.ts'
import { Client } from '../kit/client.ts'
import { databaseProcesses, embeddedConnection, withSql } from '../kit/database.ts'
import { ownWorkplace } from '../kit/own-workplace.ts'
import { RawConnection, rawPost } from '../kit/raw-connection.ts'
import { deviceBody, newApplication } from '../kit/records.ts'
import { atScale, randomNumbers, seed } from '../kit/scale.ts'
import type { Service } from '../kit/service.ts'
import { anyMoment, becomesTrue, sleep, waitUntil } from '../kit/waits.ts'
import { beginClients } from './stop-clients.ts'

const place = ownWorkplace()
const random = randomNumbers(seed)

describe.each(atScale(['SIGTERM'] as const, ['SIGTERM', 'SIGINT'] as const))('%s', (name) => {
  test('under load drops nothing, ends with 0 within 10 seconds, and takes the embedded database with it', async () => {
    const dataDir = place.preparedFolder()
    let service = await place.startService({ dataDir })
    const app = await newApplication(new Client(service))
    for (let round = 0; round < atScale(1, 3); round++) {
      const { seen, all } = beginClients(service, app)
      await becomesTrue(() => seen.created.length > 100)
      await anyMoment(random, 400)
      const before = seen.created.length
      service.process.kill(name)
      const [code] = await Promise.all([ended(service), ...all])
      expect(seen.dropped, `round ${round}`).toEqual([])
      expectEndedInTime(code, service)
      expect(databaseProcesses(dataDir), 'processes of the database').toEqual([])
      // Every client ran to the end, and requests were running when the signal came.
      expect(seen.refused).toBe(all.length)
      expect(seen.created.length).toBeGreaterThan(before)

      service = await place.startService({ dataDir })
      const kept = await withSql(embeddedConnection(dataDir), async (sql) => {
        const rows = await sql`select device_no from device where app_id = ${app.appId}`
        return new Set(rows.map((row) => row.device_no))
      })
      expect(
        seen.created.filter((serial) => !kept.has(serial)),
        'acknowledged and gone',
      ).toEqual([])
      expect(
        seen.neverTaken.filter((serial) => kept.has(serial)),
        'done and not told',
      ).toEqual([])
    }
    expect(await service.stop()).toBe(0)
  })
})

/**
 * Expects exit code 0. By its own clock the service exits with 1 if it has not ended after 9.5 s, so the test measures
 * no time.
 */
function expectEndedInTime(code: number | null, service: Service): void {
  expect(code, service.stderr()).toBe(0)
}

function ended(service: Service): Promise<number | null> {
  const { process: child } = service
  if (child.exitCode !== null) return Promise.resolve(child.exitCode)
  return new Promise((resolve) => child.once('exit', resolve))
}

describe.concurrent('a stop', () => {
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
      // By then the service has read the requests, which nothing shows.
      await sleep(200)
      service.process.kill('SIGTERM')
      const code = await ended(service)
      expect(await Promise.all(answers)).toEqual(Array(8).fill(503))
      expectEndedInTime(code, service)
    } finally {
      database.signalAll('SIGCONT')
    }
    await database.stop()
  })

  test('after SIGINT, and a SIGTERM while it stops, what began is answered, and refusals are logged and counted', async () => {
    const dataDir = place.preparedFolder()
    const service = await place.startService({ dataDir })
    const app = await newApplication(new Client(service))
    const begun = await Promise.all(
      [deviceBody(app.appId), { appId: app.appId }].map(async (body) => {
        const connection = await RawConnection.open(service.url)
        const [head, text] = rawPost(createDevice.path, app.token, body)
        connection?.send(head)
        return { connection, text }
      }),
    )
    // By then the service has read the heads, which nothing shows.
    await sleep(100)
    service.process.kill('SIGINT')
    // The service has begun to stop when it accepts no more connections.
    const isClosed = () =>
      fetch(service.url)
        .then(() => false)
        .catch(() => true)
    await waitUntil(isClosed, 10_000)
    service.process.kill('SIGTERM')
    for (const { connection, text } of begun) connection?.send(text)
    const answers = await Promise.all(begun.map(({ connection }) => connection?.answer()))
    expect(answers.map((answer) => answer?.status)).toEqual([200, 400])
    expectEndedInTime(await ended(service), service)
    expect(databaseProcesses(dataDir)).toEqual([])
    const again = await place.startService({ dataDir })
    const { data } = await new Client(again).call('pageRefusals', {}, { token: app.token })
    expect(data.list.map(({ operation, code }) => [operation, code])).toEqual([['createDevice', 10001]])
    const { minutes } = (await new Client(again).operate('getOverview', {})).data
    expect(minutes.reduce((sum, { refusals }) => sum + refusals, 0)).toBe(1)
    expect(await again.stop()).toBe(0)
  })
})

describe('requests that cannot end in time', () => {
  test('an upload, and counts that wait, are answered 50003', async () => {
    const dataDir = place.preparedFolder()
    const { service, client } = await place.start({ dataDir })
    const app = await newApplication(client)
    const upload = await RawConnection.open(service.url)
    const lines = [
      `POST ${createImport.path}?kind=devices HTTP/1.1`,
      'Host: forecourt',
      `Authorization: Bearer ${app.token}`,
      'Content-Type: application/x-ndjson',
      'Transfer-Encoding: chunked',
    ]
    upload?.send(`${lines.join('\r\n')}\r\n\r\n`)
    const row = `${JSON.stringify(deviceBody(app.appId))}\n`
    const sendRow = () => upload?.send(`${Buffer.byteLength(row).toString(16)}\r\n${row}\r\n`)
    const sending = setInterval(sendRow, 200)
    const count = { kind: 'devices', act: 'update', filter: { cityCode: '360100' }, set: { tag: 'x' }, dryRun: true }
    const locked = withSql(embeddedConnection(dataDir), async (sql) =>
      sql.begin(async (held) => {
        await held`lock table device in access exclusive mode`
        await sleep(7_000)
      }),
    ).catch(() => {})
    try {
      await sleep(300)
      const counts = await Promise.all([1, 2, 3].map(() => RawConnection.open(service.url)))
      for (const connection of counts) connection?.send(rawPost(createAct.path, app.token, count).join(''))
      await sleep(500)
      service.process.kill('SIGTERM')
      const answers = await Promise.all([upload, ...counts].map((connection) => connection?.answer()))
      for (const answer of answers) {
        expect([answer?.status, answer?.closes], answer?.body).toEqual([503, true])
        expect(JSON.parse(answer?.body ?? '')).toMatchObject({ code: 50003, data: null })
      }
      // How it ends depends on how long the database takes for its own end, with the statements that wait there.
      await ended(service)
    } finally {
      clearInterval(sending)
      await locked
    }
  })

  test('a file that is being sent is cut off, and does not look whole, by HTTP/1.0 neither', async () => {
    const { service, client } = await place.start()
    const app = await newApplication(client)
    // More than the buffers of a connection hold.
    const parts = 3
    const fill = Array.from({ length: parts }, () => {
      const devices = Array.from({ length: 1000 }, () => deviceBody(app.appId, { tag: '标'.repeat(512) }))
      return client.call('createDevices', { appId: app.appId, devices }, { token: app.token })
    })
    await Promise.all(fill)
    const { hostname, port } = new URL(service.url)
    const readers = ['1.1', '1.0'].map((version) => {
      const socket = connect(Number(port), hostname)
      socket.write(
        `GET ${createExport.path}?kind=devices&format=ndjson HTTP/${version}\r\nHost: forecourt\r\nAuthorization: Bearer ${app.token}\r\n\r\n`,
      )
      const failed = once(socket, 'error').then(([error]) => (error as NodeJS.ErrnoException).code)
      return { version, socket, failed }
    })
    await Promise.all(readers.map(({ socket }) => once(socket, 'readable')))
    // They read nothing more until the service has stopped.
    service.process.kill('SIGTERM')
    await ended(service)
    for (const { version, socket, failed } of readers) {
      let received = ''
      socket.setEncoding('latin1')
      socket.on('data', (piece) => {
        received += piece
      })
      const how = await Promise.race([failed, once(socket, 'close').then(() => 'closed')])
      if (version === '1.0') expect(how).toBe('ECONNRESET')
      expect(received.endsWith('0\r\n\r\n')).toBe(false)
      expect(received.split('\n').length).toBeLessThan(parts * 1000)
    }
  })
})
