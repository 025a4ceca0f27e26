import { expect, test } from 'bun:test'
import { createConnection, type Socket } from 'node:net'
import { createExport } from '../../src/bulk/contract.ts'
import { deleteOldJobs } from '../../src/bulk/jobs/store.ts'
import { limits } from '../../src/vocabulary/limits.ts'
import { Client } from '../kit/client.ts'
import { ownWorkplace } from '../kit/own-workplace.ts'
import { newPerson, signIn } from '../kit/people.ts'
import { deviceBody, newApplication, newSerial, type TestApplication } from '../kit/records.ts'
import { atScale, longTest } from '../kit/scale.ts'
import { sleep, staysTrue, waitUntil } from '../kit/waits.ts'

// Files that are uploaded slowly, while the service removes old rows; and exports that are read slowly or not at all: their
// readers keep no connection to the database, and no turn among the readers.

const place = ownWorkplace()

const database = await place.findDatabase()
const client = new Client(await place.startService({ env: { DATABASE_URL: database.url() } }))

/** Uploads a file slowly; `pieces` is the number of stored pieces so far. */
async function sendSlowly({ appId, token }: TestApplication) {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>()
  const writer = writable.getWriter()
  const headers = { 'content-type': 'application/x-ndjson; charset=utf-8' }
  const answer = client.call('createImport', { kind: 'devices', file: readable }, { token, headers })
  const send = (rows: number) => {
    const bodies = Array.from({ length: rows }, () => deviceBody('', { deviceNo: newSerial('SLOW') }))
    return writer.write(Buffer.from(`${bodies.map((row) => JSON.stringify(row)).join('\n')}\n`))
  }
  await send(1)
  let id = 0
  const pieces = async () => {
    const [row] = await database.sql`select count(*)::int as count from import_piece where import_id = ${id}`
    return row?.count
  }
  const begins = async () => {
    const [row] = await database.sql`select id from import where app_id = ${appId}`
    id = row?.id ?? 0
    return id > 0
  }
  await waitUntil(begins)
  return { id, answer, send, pieces, end: () => writer.close() }
}

longTest('a file of which something comes is taken, however long a piece of it takes', async () => {
  const file = await sendSlowly(await newApplication(client))
  await database.sql`update import set lease_until = now() + interval '8 s' where id = ${file.id}`
  for (let second = 0; second < 9; second++) {
    await file.send(1)
    // Longer than the lease in all.
    await sleep(1_000)
  }
  await database.run((sql) => deleteOldJobs(sql, 1))
  await file.end()
  const { status, text, data } = await file.answer
  expect(status, text).toBe(200)
  expect(data.rows).toBe(10)
})

test('those who dally with files keep nobody else from theirs', async () => {
  const dawdlers = await Promise.all([1, 2].map(async () => signIn(client, await newPerson(client, 'operator'))))
  const writers: WritableStreamDefaultWriter<Uint8Array>[] = []
  const answers: Promise<unknown>[] = []
  const begin = async (headers: Record<string, string>) => {
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>()
    const writer = writable.getWriter()
    writers.push(writer)
    const { appId } = await newApplication(client)
    const sent = { kind: 'devices', appId, dryRun: 'true', file: readable }
    const answer = client.call('createImport', sent, {
      headers: { ...headers, 'content-type': 'application/x-ndjson' },
    })
    answers.push(answer)
    await writer.write(Buffer.from(`${JSON.stringify(deviceBody(''))}\n`))
    return { answer, isBegun: () => isTaken(appId) }
  }
  const isTaken = async (appId: string) => (await database.sql`select 1 from import where app_id = ${appId}`).length > 0
  for (const headers of dawdlers) {
    for (let place = 0; place < 4; place++) await waitUntil((await begin(headers)).isBegun)
    // The limit is for the caller, over all applications.
    const { status, code, headers: told } = await (await begin(headers)).answer
    expect([status, code, told.get('retry-after')]).toEqual([429, 10007, '5'])
  }
  const { appId, token } = await newApplication(client)
  const file = JSON.stringify(deviceBody('', { deviceNo: newSerial('FREE') }))
  const headers = { 'content-type': 'application/x-ndjson' }
  expect((await client.call('createImport', { kind: 'devices', file }, { token, headers })).code).toBe(0)
  expect((await client.operate('pageImports', { appId })).data.total).toBe(1)
  await Promise.all(writers.map((writer) => writer.close().catch(() => {})))
  await Promise.all(answers)
})

test('a file that upkeep has begun to remove is not taken', async () => {
  const file = await sendSlowly(await newApplication(client))
  await file.send(1_000)
  await waitUntil(async () => (await file.pieces()) === 2)
  await database.run((sql) =>
    sql.begin(async (tx) => {
      await tx`update import set lease_until = '-infinity' where id = ${file.id}`
      await deleteOldJobs(tx, 1)
    }),
  )
  expect(await file.pieces()).toBe(1)
  await file.send(1_000)
  await file.end()
  const { status, headers, text } = await file.answer
  expect([status, headers.get('retry-after')], text).toEqual([503, '1'])
  await database.run((sql) => deleteOldJobs(sql, 100))
  expect((await client.operate('getImport', { id: file.id })).data ?? null).toBeNull()
})

/** More rows than fit into the buffers of a connection. */
const rows = 12_000
const readers = atScale(9, 60)

longTest(`${readers} readers of exports that stand still hold no connection of the database`, async () => {
  const { appId, token } = await newApplication(client)
  const file = Array.from({ length: rows }, () => JSON.stringify(deviceBody(appId))).join('\n')
  const headers = { 'content-type': 'application/x-ndjson' }
  const { id } = (await client.call('createImport', { kind: 'devices', file }, { token, headers })).data
  await waitUntil(async () => (await client.operate('getImport', { id })).data.created === rows)

  const path = `${createExport.path}?kind=devices&format=ndjson`
  const standing = await Promise.all(Array.from({ length: readers }, () => beginToRead(client.url, path, token)))
  const atWork = () =>
    database.sql`
          select state, query from pg_stat_activity
          where backend_type = 'client backend' and pid <> pg_backend_pid() and state <> 'idle'
            and now() - state_change > interval '1 second'`
  await waitUntil(async () => (await atWork()).length === 0)
  expect(await staysTrue(async () => (await atWork()).length === 0, 2_000)).toBe(true)
  // No stalled reader has the whole file, and another reader gets it.
  const whole = await client.call('createExport', { kind: 'devices', format: 'ndjson' }, { token })
  expect(linesOf(whole.text)).toBe(rows)
  for (const { taken } of standing) expect(taken().length).toBeLessThan(whole.text.length)
  // Each keeps a page in memory, so only so many are sent at once.
  const more = Array.from({ length: limits.downloadsOfOne - readers }, () => beginToRead(client.url, path, token))
  const opened = await Promise.all(more)
  const another = () => client.call('createExport', { kind: 'devices' }, { token })
  expect((await another()).code).toBe(10007)
  for (const { socket } of opened) socket.destroy()
  await waitUntil(async () => (await another()).status === 200)
  expect((await client.call('pageDevices', { deviceName: 'gate' }, { token })).data.totalIsExact).toBe(false)

  // A reader that continues gets the whole file; a reader that disconnects leaves no work behind.
  const [goesOn, ...others] = standing
  for (const { socket } of others) socket.destroy()
  goesOn?.socket.resume()
  await waitUntil(() => goesOn?.taken().endsWith('\r\n0\r\n\r\n') === true)
  const names = goesOn?.taken().match(/"deviceNo":"[^"]+"/g)
  expect(new Set(names).size).toBeGreaterThan(rows - 100)
  await waitUntil(async () => (await atWork()).length === 0)
  expect((await client.call('createExport', { kind: 'devices' }, { token })).status).toBe(200)
})

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
