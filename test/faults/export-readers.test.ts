import { afterAll, expect, test } from 'bun:test'
import { createConnection, type Socket } from 'node:net'
import { createExport, createImport, getImport } from '../../src/bulk/contract.ts'
import { pageDevices } from '../../src/devices/contract.ts'
import { Client, deviceBody, newApplication } from '../harness.ts'
import { longTest } from '../long.ts'
import { atScale, becomesTrue, staysTrue, Workplace } from './support.ts'

// A client that reads an export slowly, or not at all, keeps no resource that others need: no connection to the
// database, and no turn among the readers.

const place = new Workplace()
afterAll(() => place.clear(), 120_000)

/** More rows than fit into the buffers of a connection. */
const rows = 12_000
const readers = atScale(9, 60)

longTest(`${readers} readers of exports that stand still hold no connection of the database`, async () => {
  const database = await place.startDatabase()
  const service = await place.startService({ env: { DATABASE_URL: database.url() } })
  const client = new Client(service)
  const { appId, token } = await newApplication(client)
  const file = Array.from({ length: rows }, () => JSON.stringify(deviceBody(appId))).join('\n')
  const headers = { 'content-type': 'application/x-ndjson' }
  const { id } = (await client.call(createImport, { kind: 'devices', file }, { token, headers })).data
  expect(await becomesTrue(async () => (await client.operate(getImport, { id })).data.created === rows)).toBe(true)

  const path = `${createExport.path}?kind=devices&format=ndjson`
  const standing = await Promise.all(Array.from({ length: readers }, () => beginToRead(service.url, path, token)))
  const atWork = () =>
    database.run(
      async (sql) =>
        await sql`
          select state, query from pg_stat_activity
          where backend_type = 'client backend' and pid <> pg_backend_pid() and state <> 'idle'
            and now() - state_change > interval '1 second'`,
    )
  expect(await becomesTrue(async () => (await atWork()).length === 0)).toBe(true)
  expect(await staysTrue(async () => (await atWork()).length === 0, 2_000)).toBe(true)
  // No stalled reader has the whole file, and another reader gets it.
  const whole = await client.call(createExport, { kind: 'devices', format: 'ndjson' }, { token })
  expect(linesOf(whole.text)).toBe(rows)
  for (const { taken } of standing) expect(taken().length).toBeLessThan(whole.text.length)
  expect((await client.call(pageDevices, { deviceName: 'gate' }, { token })).data.totalIsExact).toBe(false)

  // A reader that continues gets the whole file; a reader that disconnects leaves no work behind.
  const [goesOn, ...others] = standing
  for (const { socket } of others) socket.destroy()
  goesOn?.socket.resume()
  expect(await becomesTrue(() => goesOn?.taken().endsWith('\r\n0\r\n\r\n') === true)).toBe(true)
  const names = goesOn?.taken().match(/"deviceNo":"[^"]+"/g)
  expect(new Set(names).size).toBeGreaterThan(rows - 100)
  expect(await becomesTrue(async () => (await atWork()).length === 0)).toBe(true)
  expect((await client.call(createExport, { kind: 'devices' }, { token })).status).toBe(200)
  await service.stop()
})

test.each(atScale(['gzip'], ['identity', 'gzip', 'br']))(
  'an export (%s) whose reader goes away is read no further',
  async (encoding) => {
    const database = await place.startDatabase()
    const service = await place.startService({ env: { DATABASE_URL: database.url() } })
    const client = new Client(service)
    const { appId, token } = await newApplication(client)
    await database.run(
      (sql) => sql`
      insert into device (device_no, app_id, device_name, province_code, city_code, district_code, coordinates, bound_at)
      select 'GO-' || i, ${appId}, 'gate', '1', '1', '1', '1,1', now() from generate_series(1, 100000) as i`,
    )
    const reading = new AbortController()
    const headers = { authorization: `Bearer ${token}`, 'accept-encoding': encoding }
    const path = `${service.url}${createExport.path}?kind=devices`
    const answer = await fetch(path, { headers, signal: reading.signal })
    await answer.body?.getReader().read()
    reading.abort()
    // The wait of 3 s is twice the time that the whole export takes.
    const rowsRead = () =>
      database.run(async (sql) => {
        const [read] = await sql`select idx_tup_fetch as rows from pg_stat_user_tables where relname = 'device'`
        return Number(read?.rows)
      })
    expect(await staysTrue(async () => (await rowsRead()) < 50_000, 3_000)).toBe(true)
    await service.stop()
  },
)

const linesOf = (text: string) => text.split('\n').filter((line) => line !== '').length

/** Requests an export, and stops reading after the beginning. */
async function beginToRead(url: string, path: string, token: string): Promise<{ socket: Socket; taken: () => string }> {
  const { hostname: host, port } = new URL(url)
  const socket = createConnection({ host, port: Number(port) })
  const pieces: string[] = []
  socket.setEncoding('latin1')
  socket.on('error', () => {})
  socket.write(`GET ${path} HTTP/1.1\r\nhost: ${host}\r\nauthorization: Bearer ${token}\r\n\r\n`)
  await new Promise<void>((resolve) => {
    socket.on('data', (piece) => {
      pieces.push(String(piece))
      if (pieces.length > 1) return
      socket.pause()
      resolve()
    })
  })
  expect(pieces[0]).toStartWith('HTTP/1.1 200 ')
  return { socket, taken: () => pieces.join('') }
}
