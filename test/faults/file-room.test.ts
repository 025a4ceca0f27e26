import { afterAll, expect, test } from 'bun:test'
import { spawnSync } from 'node:child_process'
import { mkdirSync, rmSync, statfsSync } from 'node:fs'
import { join } from 'node:path'
import { deleteOldJobs } from '../../src/bulk/jobs/store.ts'
import { Client } from '../kit/client.ts'
import { prepareDatabase } from '../kit/database.ts'
import { despiteLoad, deviceBody, newApplication, newSerial, type TestApplication } from '../kit/records.ts'
import { waitUntil } from '../kit/waits.ts'
import { Workplace } from '../kit/workplace.ts'

// The storage limit for uploaded files: it holds for each application, over all processes together.

const place = new Workplace()
const most = 2_000_000

// Clients of two processes with one database.
const database = await place.findDatabase()
const env = {
  DATABASE_URL: database.url(),
  FORECOURT_FILE_BYTES: String(most),
  FORECOURT_OPERATOR_KEY: 'k'.repeat(40),
}
const start = async () => new Client(await place.startService({ env }))
const [client, beside] = await Promise.all([start(), start()])
afterAll(async () => {
  if (hasDisk) tool('umount', ['-l', disk])
  await place.clear()
}, 60_000)

const headers = { 'content-type': 'application/x-ndjson' }

function send(by: Client, { token }: TestApplication, file: string, more: object = {}) {
  return by.call('createImport', { kind: 'devices', dryRun: 'true', file, ...more }, { token, headers })
}

async function ended(id: number) {
  const told = async () => (await client.operate('getImport', { id })).data
  await waitUntil(async () => (await told()).status > 2)
  return told()
}

async function keptBytes(id: number) {
  const [row] = await database.sql`
        select i.kept_bytes as noted,
          (select coalesce(sum(octet_length(rows)), 0) from import_piece where import_id = i.id)::bigint
          + (select coalesce(sum(octet_length(outcomes)), 0) from import_result where import_id = i.id)::bigint as found
        from import i where id = ${id}`
  expect(row?.noted).toBe(row?.found)
  return row?.noted as number
}

const tool = (name: string, args: string[]) => spawnSync(name, args)

/** A small disk, where this user may mount one. */
const disk = place.newFolder()
mkdirSync(disk)
const hasDisk = tool('mount', ['-t', 'tmpfs', '-o', 'size=300m,mode=755', 'tmpfs', disk]).status === 0

test.skipIf(!hasDisk)('the last tenth of the disk of the embedded database is not filled', async () => {
  const dataDir = join(disk, 'data')
  prepareDatabase(dataDir)
  const { service, client: own } = await place.start({ dataDir })
  const application = await newApplication(own)
  const row = JSON.stringify(deviceBody(''))
  expect((await send(own, application, row)).code).toBe(0)
  const { bavail, blocks, bsize } = statfsSync(disk)
  tool('fallocate', ['-l', String((bavail - Math.floor(blocks / 20)) * bsize), join(disk, 'rest')])
  const idle = async () => (await own.operate('pageImports', { status: 3 })).data.total === 1
  await waitUntil(idle)
  const { status, code, data } = await send(own, application, row)
  expect([status, code]).toEqual([429, 10007])
  expect(data).toEqual({ errors: [{ field: 'body', reason: 'the disk is nearly full' }] } as never)
  rmSync(join(disk, 'rest'))
  expect((await send(own, application, row)).code).toBe(0)
  await service.stop()
})

test('what an application may keep is bounded, over all processes; others are not', async () => {
  const [application, other] = [await newApplication(client), await newApplication(client)]
  const serial = newSerial('ROOM')
  const file = `${JSON.stringify(deviceBody('', { deviceNo: serial, tag: 'x'.repeat(400) }))}\n`.repeat(1_000)
  let sent = 0
  for (let refused = false; !refused; sent++) {
    expect(sent).toBeLessThan(100)
    const answer = await send(sent % 2 === 0 ? client : beside, application, file)
    refused = answer.code !== 0
    if (!refused) await ended(answer.data.id)
    if (sent === 0) await database.sql`update import set kept_bytes = ${most - 100_000} where id = ${answer.data.id}`
  }
  expect(sent).toBeGreaterThan(1)
  for (const by of [client, beside]) {
    const { status, code, headers, data } = await send(by, application, file)
    expect([status, code, headers.get('retry-after')]).toEqual([429, 10007, '60'])
    expect(data).toEqual({
      errors: [{ field: 'body', reason: expect.stringContaining('FORECOURT_FILE_BYTES') }],
    } as never)
  }
  expect((await send(client, other, file)).code).toBe(0)
  expect(
    (await client.operate('createImport', { kind: 'inventory', dryRun: 'true', file: '{}' }, { headers })).code,
  ).toBe(0)
})

test('a file that is larger than the room is refused while it is taken, and leaves nothing for long', async () => {
  const application = await newApplication(client)
  const row = `${JSON.stringify(deviceBody('', { tag: 'x'.repeat(500) }))}\n`
  const { status, code } = await send(client, application, row.repeat(20_000))
  expect([status, code]).toEqual([429, 10007])
  const rest = () =>
    database.run(async (sql) => {
      await deleteOldJobs(sql, 1_000)
      return (await sql`select 1 from import where app_id = ${application.appId}`).length
    })
  await waitUntil(async () => (await rest()) === 0)
  expect((await send(client, application, row)).code).toBe(0)
})

test('what is cancelled gives its room back', async () => {
  const application = await newApplication(client)
  const { id } = (await send(client, application, '{}\n'.repeat(100_000))).data
  const cancel = () => client.call('cancelImport', { id }, { token: application.token })
  expect(await despiteLoad(cancel)).toMatchObject({ code: 0, data: { status: 5 } })
  const before = await keptBytes(id)
  while ((await database.run((sql) => deleteOldJobs(sql, 100))) > 0);
  expect(await keptBytes(id)).toBeLessThan(before)
})

test('an import ends with its millionth refused row', async () => {
  const application = await newApplication(client)
  const { id } = (await send(client, application, '{}\n'.repeat(30_000))).data
  await database.sql`update import set refused = refused + 990_000 where id = ${id}`
  const { status, refused, error, failure } = await ended(id)
  expect([status, refused]).toEqual([4, 1_000_000])
  expect(error).toMatch(/^The import stopped at line \d+, because 1000000 of its rows were refused\. Correct the file/)
  expect(failure).toMatchObject({ kind: 'rowsRefused', count: 1_000_000 })
})
