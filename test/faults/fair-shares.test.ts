import { expect, test } from 'bun:test'
import { connect, type Socket } from 'node:net'
import { createExport } from '../../src/bulk/contract.ts'
import { createDevice } from '../../src/devices/contract.ts'
import { pageSites } from '../../src/sites/contract.ts'
import { Client } from '../kit/client.ts'
import { statisticsAreIn } from '../kit/database.ts'
import { whileTableLocked } from '../kit/locks.ts'
import { ownWorkplace } from '../kit/own-workplace.ts'
import { RawConnection, rawPost } from '../kit/raw-connection.ts'
import { deviceBody, newApplication } from '../kit/records.ts'
import type { Service } from '../kit/service.ts'
import { twoServices } from '../kit/two-services.ts'
import { becomesTrue, waitUntil } from '../kit/waits.ts'

const place = ownWorkplace()

/** So long that a read which ends earlier than this must have been cancelled. */
const statementTimeoutMs = 20_000

const database = await place.findDatabase()

const start = (env: Record<string, string>) => place.startService({ env: { DATABASE_URL: database.url(), ...env } })

test('an application reads twice at once, 128 more wait, and what nobody waits for is cancelled', async () => {
  const service = await start({ FORECOURT_STATEMENT_TIMEOUT_MS: String(statementTimeoutMs) })
  const client = new Client(service)
  const [app, other] = [await newApplication(client), await newApplication(client)]
  const { reads } = await whileTableLocked(database, 'site', async () => {
    const reads = Array.from({ length: 136 }, () => client.call('pageSites', {}, { token: app.token }))
    const refused: string[] = []
    for (const read of reads) {
      void read.then(({ status, code, headers }) => {
        if (status !== 200) refused.push(`${status} ${code} ${headers.get('retry-after')}`)
      })
    }
    expect(await becomesTrue(() => refused.length === 6), '130 of 136 are taken').toBe(true)
    expect(refused).toEqual(refused.map(() => '429 10007 1'))
    expect(await becomesTrue(async () => (await readsUnderWay()) === 2), 'two are read').toBe(true)
    // Meanwhile other applications, operators and probes are still served.
    expect((await client.call('pageBillingRules', {}, { token: other.token })).status).toBe(200)
    expect((await client.operate('pageAudit', {})).status).toBe(200)
    expect((await client.call('getReadiness', {})).status).toBe(200)
    return { reads }
  })
  expect((await Promise.all(reads)).filter(({ status }) => status === 200).length).toBe(130)
  const { others } = await whileTableLocked(database, 'site', async () => {
    for (const path of [pageSites.path, `${createExport.path}?kind=sites`]) {
      const sockets = Array.from({ length: 20 }, () => hangingRead(service, path, app.token))
      expect(await becomesTrue(async () => (await readsUnderWay()) === 2), `two of ${path}`).toBe(true)
      for (const socket of sockets) socket.destroy()
      expect(await becomesTrue(async () => (await readsUnderWay()) === 0), `none of ${path}`).toBe(true)
    }
    const others = client.call('pageSites', {}, { token: other.token })
    expect(await becomesTrue(async () => (await readsUnderWay()) === 1), 'there is room').toBe(true)
    return { others }
  })
  expect((await others).status).toBe(200)
  expect((await client.call('pageSites', {}, { token: app.token })).status).toBe(200)
  expect(await service.stop()).toBe(0)
})

test('however many ask whether the service is ready, the database is asked by few of them', async () => {
  const {
    services: [service],
    database,
  } = await twoServices()
  // Many more than the service's own statements in this time.
  const probes = 2_000
  const commits = () =>
    database.run(async (sql) => {
      await sql`select pg_stat_clear_snapshot()`
      const [row] = await sql`
        select xact_commit::int as count from pg_stat_database where datname = current_database()`
      return row?.count as number
    })
  const before = await commits()
  const ask = (count: number) => Promise.all(Array.from({ length: count }, () => fetch(`${service.url}/readyz`)))
  for (let asked = 0; asked < probes; asked += 400) {
    expect((await ask(400)).map(({ status }) => status)).toEqual(Array(400).fill(200))
  }
  // A session reports its statistics with its next statement.
  await statisticsAreIn()
  for (let again = 0; again < 10; again++) await ask(1)
  const asked = (await commits()) - before
  expect(asked).toBeLessThan(probes / 2)
})

test('a service is not ready while it has all the requests that it takes under way', async () => {
  const service = await start({ FORECOURT_MAX_REQUESTS: '1' })
  const client = new Client(service)
  const app = await newApplication(client)
  const readiness = async () => {
    const { status, data } = await client.call('getReadiness', {})
    return { status, ready: data.ready, failed: data.checks.filter(({ ok }) => !ok).map(({ name }) => name) }
  }
  expect(await readiness()).toEqual({ status: 200, ready: true, failed: [] })
  const connection = await RawConnection.open(service.url)
  const [head, body] = rawPost(createDevice.path, app.token, deviceBody(app.appId))
  connection?.send(head)
  let full: Awaited<ReturnType<typeof readiness>> | undefined
  const isFull = async () => {
    full = await readiness()
    return full.status === 503
  }
  await waitUntil(isFull)
  connection?.send(body)
  expect(full).toEqual({ status: 503, ready: false, failed: ['capacity'] })
  expect((await connection?.answer())?.status).toBe(200)
  expect(await readiness()).toEqual({ status: 200, ready: true, failed: [] })
  connection?.close()
  expect(await service.stop()).toBe(0)
})

/** Requests sites on a socket that a test can close early. */
function hangingRead(service: Service, path: string, token: string): Socket {
  const { hostname, port } = new URL(service.url)
  const socket = connect(Number(port), hostname)
  socket.write(`GET ${path} HTTP/1.1\r\nHost: ${hostname}\r\nAuthorization: Bearer ${token}\r\n\r\n`)
  return socket
}

/** The number of reads of sites that the database is still executing. */
async function readsUnderWay(): Promise<number> {
  const [row] = await database.sql`
    select count(*)::int as count from pg_stat_activity
    where datname = current_database() and application_name like 'forecourt %' and state = 'active' and query like '%from site where%'`
  return row?.count
}
