import { expect, test } from 'bun:test'
import type { ActRecord } from '../../src/bulk/acts/contract.ts'
import type { ImportRecord } from '../../src/bulk/contract.ts'
import { forecourt } from '../cli/support.ts'
import { Client } from '../kit/client.ts'
import { onDisk } from '../kit/folders.ts'
import { ownWorkplace } from '../kit/own-workplace.ts'
import { deviceBody, newApplication, newSerial, siteBody, type TestApplication } from '../kit/records.ts'
import { atScale, longTest, randomNumbers, seed } from '../kit/scale.ts'
import { anyMoment, becomes, becomesTrue, waitUntil } from '../kit/waits.ts'
import { strike } from './strikes.ts'

// A process that runs an import or an act is killed or stopped at any moment. Another process continues it, and every row
// takes effect once, has one event and is counted once.

const rounds = atScale(1, 20)
const deviceRows = atScale(2_000, 4_000)
const siteRows = atScale(800, 1_500)
const actRows = 6_000
const place = ownWorkplace(onDisk)
const random = randomNumbers(seed)

const database = await place.findDatabase()
const survivor = new Client(await place.startService({ env: { DATABASE_URL: database.url() } }))

const headers = { 'content-type': 'application/x-ndjson' }
const linesOf = (rows: object[]) => rows.map((row) => JSON.stringify(row)).join('\n')

/** Uploads a file that contains every tenth row twice. Returns the import's id. */
async function sendTo(
  victim: Client,
  { token }: TestApplication,
  kind: 'sites' | 'devices',
  count = kind === 'sites' ? siteRows : deviceRows,
): Promise<number> {
  const rows = Array.from({ length: count }, (_, row) =>
    kind === 'sites' ? siteBody('', { siteName: `site ${row}` }) : deviceBody('', { deviceNo: newSerial('KILL') }),
  )
  const file = linesOf(rows.flatMap((row, index) => (index % 10 === 0 ? [row, row] : [row])))
  return (await victim.call('createImport', { kind, file }, { token, headers })).data.id
}

const told = async (id: number): Promise<ImportRecord> => (await survivor.operate('getImport', { id })).data

/** The number of an application's rows in each table. */
function countsOf(appId: string) {
  return database.run(async (sql) => {
    const [row] = await sql`
      select (select count(*)::int from device where app_id = ${appId}) as devices,
        (select count(*)::int from site where app_id = ${appId}) as sites,
        (select count(*)::int from event where app_id = ${appId} and type = 'device.bound') as bound,
        (select count(*)::int from event where app_id = ${appId} and type = 'site.created') as created`
    return row
  })
}

test(`imports whose process is killed or stands still, ${rounds} times, take effect once and count once`, async () => {
  const inMiddle: number[] = []
  for (let round = 0; round < rounds || (inMiddle.length === 0 && round < rounds + 5); round++) {
    const isStill = round % 4 === 3
    const { service: victim, client } = await place.start({ env: { DATABASE_URL: database.url() } })
    const [ofSites, ofDevices] = [await newApplication(survivor), await newApplication(survivor)]
    const ids = await Promise.all([sendTo(client, ofSites, 'sites'), sendTo(client, ofDevices, 'devices')])
    if (round % 2 === atScale(1, 0)) await anyMoment(random, 200)
    else await becomesTrue(async () => (await Promise.all(ids.map(told))).some(({ created }) => created > 0))
    await strike(victim, isStill)
    const struck = await Promise.all(ids.map(told))
    inMiddle.push(...struck.filter(({ status, created }) => status === 2 && created > 0).map(({ id }) => id))
    await becomesTrue(async () => (await Promise.all(ids.map(told))).every(({ status }) => status === 3))
    if (isStill) await victim.stop()
    const [sites, devices] = await Promise.all(ids.map(told))
    const twice = { sites: siteRows / 10, devices: deviceRows / 10 }
    expect(sites).toMatchObject({
      created: siteRows,
      existing: twice.sites,
      refused: 0,
      rows: siteRows + twice.sites,
    })
    expect(devices).toMatchObject({ created: deviceRows, existing: twice.devices, refused: 0 })
    expect(await countsOf(ofSites.appId)).toMatchObject({ sites: siteRows, created: siteRows })
    expect(await countsOf(ofDevices.appId)).toMatchObject({ devices: deviceRows, bound: deviceRows })
    for (const [id, rows] of [
      [ids[0], siteRows + twice.sites],
      [ids[1], deviceRows + twice.devices],
    ] as const) {
      const { text } = await survivor.operate('getImportResult', { id })
      const lines = text
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line).line)
      expect(lines).toEqual(Array.from({ length: rows }, (_, index) => index + 1))
    }
  }
  expect(inMiddle.length).toBeGreaterThan(0)
}, 600_000)

/** Sends an upsert of existing devices that changes the name of every second one. Returns the import's id. */
async function upsertBy(victim: Client, { token }: TestApplication, serials: readonly string[], name: string) {
  const rows = serials.map((deviceNo, row) => ({ deviceNo, ...(row % 2 === 0 && { deviceName: name }) }))
  const input = { kind: 'devices', mode: 'upsert', file: linesOf(rows) } as const
  return (await victim.call('createImport', input, { token, headers })).data.id
}

test('an import that updates and whose process is killed has each row’s effect and outcome, or neither', async () => {
  const app = await newApplication(survivor)
  const serials = Array.from({ length: deviceRows }, () => newSerial('UPSERT'))
  const file = linesOf(serials.map((deviceNo) => deviceBody('', { deviceNo, deviceName: 'old' })))
  const made = await survivor.call('createImport', { kind: 'devices', file }, { token: app.token, headers })
  await becomesTrue(async () => (await told(made.data.id)).status === 3)
  let struckInMiddle = 0
  for (let round = 0; round < rounds || (struckInMiddle === 0 && round < rounds + 5); round++) {
    const victim = await place.startService({ env: { DATABASE_URL: database.url() } })
    const id = await upsertBy(new Client(victim), app, serials, `round ${round}`)
    await becomesTrue(async () => (await told(id)).updated > 0)
    await strike(victim)
    const { status, updated } = await told(id)
    if (status === 2 && updated > 0) struckInMiddle++
    await becomesTrue(async () => (await told(id)).status === 3)
    expect(await told(id)).toMatchObject({
      updated: deviceRows / 2,
      existing: deviceRows / 2,
      refused: 0,
      created: 0,
    })
    const [found] = await database.sql`
        select (select count(*)::int from device where app_id = ${app.appId} and device_name = ${`round ${round}`}) as devices,
          (select count(*)::int from event where app_id = ${app.appId} and type = 'device.updated') as events`
    expect(found).toMatchObject({ devices: deviceRows / 2, events: (deviceRows / 2) * (round + 1) })
  }
  expect(struckInMiddle).toBeGreaterThan(0)
}, 600_000)

test('an import that fails tells where and why, and of the database’s words nothing; sent again, it goes on', async () => {
  await database.run((sql) =>
    sql`
      create function refuse() returns trigger language plpgsql as $$ begin raise 'tel. 13812345678'; end $$;
      create trigger refuse before insert on device for each row when (new.device_name = 'poison') execute function refuse()`.simple(),
  )
  const { appId, token } = await newApplication(survivor)
  const rows = Array.from({ length: 501 }, (_, row) => deviceBody('', row === 500 ? { deviceName: 'poison' } : {}))
  const settings = { FORECOURT_URL: survivor.url, FORECOURT_OPERATOR_KEY: survivor.operatorKey }
  const args = ['import', 'devices', '-', '--format', 'ndjson', '--app', appId]
  const { code, stdout, stderr } = await forecourt([...args, '--json'], settings, linesOf(rows))
  const failed = JSON.parse(stdout)
  const { id, error } = failed
  expect(error).toMatch(/ line 501 .* P0001\)/)
  const failure = { kind: 'attemptsFailed', place: '501', code: null, count: 20, cause: 'PostgresError P0001' }
  expect(failed).toMatchObject({ status: 4, created: 500, failure })
  expect(`${stdout}${stderr}`).not.toContain('13812345678')
  expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining(error) })
  expect((await survivor.call('getImport', { id }, { token })).data.error).toBe(error)

  await database.sql`drop trigger refuse on device`
  const again = await forecourt(args, settings, linesOf(rows))
  expect(again).toEqual({ code: 0, stdout: expect.stringMatching(/^created +1\nexisting +500$/m), stderr: '' })
})

/** Fills an application with devices. Returns their serial numbers. */
async function fill({ token }: TestApplication, count: number): Promise<string[]> {
  const serials = Array.from({ length: count }, () => newSerial('KILL'))
  const file = linesOf(serials.map((deviceNo) => deviceBody('', { deviceNo })))
  const { id } = (await survivor.call('createImport', { kind: 'devices', file }, { token, headers })).data
  await becomesTrue(async () => (await told(id)).status === 3, 120_000)
  return serials
}

const actOf = async (id: number): Promise<ActRecord> => (await survivor.operate('getAct', { id })).data

/** How often each device is in the application's events of a type. */
function eventsOf(appId: string, type: string): Promise<string[]> {
  return database.run(async (sql) => {
    const found = await sql`select subject from event where app_id = ${appId} and type = ${type} order by subject`
    return found.map((row) => row.subject)
  })
}

const devicesIn = async (id: number): Promise<string[]> =>
  (await survivor.operate('getActResult', { id })).text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line).deviceNo)
    .sort()

longTest(
  `acts whose process is killed or stands still, ${rounds} times, do each row once`,
  async () => {
    let inMiddle = 0
    for (let round = 0; round < rounds || (inMiddle === 0 && round < rounds + 5); round++) {
      const isStill = round % 4 === 3
      const { service: victim, client } = await place.start({ env: { DATABASE_URL: database.url() } })
      const [updated, from, to] = [
        await newApplication(survivor),
        await newApplication(survivor),
        await newApplication(survivor),
      ]
      const [ofUpdate, ofTransfer] = [await fill(updated, actRows), await fill(from, actRows)]
      const all = { kind: 'devices', filter: { all: true }, expectedRows: actRows }
      const begun = await Promise.all([
        client.call('createAct', { ...all, act: 'update', set: { tag: 'struck' } }, updated),
        client.operate('createAct', {
          ...all,
          appId: from.appId,
          act: 'transfer',
          targetAppId: to.appId,
          reason: 'struck',
        }),
      ])
      const ids = begun.map(({ data }) => data.id as number)
      if (round % 2 === 0)
        await becomesTrue(async () => (await Promise.all(ids.map(actOf))).some(({ done }) => done > 0))
      else await anyMoment(random, 200)
      await strike(victim, isStill)
      const struck = await Promise.all(ids.map(actOf))
      inMiddle += struck.filter(({ status, done }) => status === 2 && done > 0).length
      await becomesTrue(async () => (await Promise.all(ids.map(actOf))).every(({ status }) => status === 3), 180_000)
      if (isStill) await victim.stop()
      for (const id of ids)
        expect(await actOf(id)).toMatchObject({
          rows: actRows,
          done: actRows,
          unchanged: 0,
          refused: 0,
          error: null,
        })
      expect(await eventsOf(updated.appId, 'device.updated')).toEqual(ofUpdate.toSorted())
      expect(await eventsOf(from.appId, 'device.transferred')).toEqual(ofTransfer.toSorted())
      expect(await eventsOf(to.appId, 'device.transferred')).toEqual(ofTransfer.toSorted())
      expect(await devicesIn(ids[0] as number)).toEqual(ofUpdate.toSorted())
      expect(await devicesIn(ids[1] as number)).toEqual(ofTransfer.toSorted())
    }
    expect(inMiddle).toBeGreaterThan(0)
  },
  900_000,
)

test('a row that no longer matches when an act comes to it is in no count', async () => {
  const app = await newApplication(survivor)
  const serials = await fill(app, atScale(700, 1_200))
  const filter = { tag: deviceBody('').tag }
  const { data: begun } = await survivor.call('createAct', { kind: 'devices', act: 'unbind', filter }, app)
  const id = begun.id as number
  // The device that the act reaches last: the oldest one.
  const changed = await survivor.call('updateDevice', { deviceNo: serials[0], tag: 'kept' }, app)
  await becomesTrue(async () => (await actOf(id)).status === 3, 120_000)
  const { rows: matched, done } = await actOf(id)
  expect(matched).toBe(serials.length)
  expect(done).toBe(changed.code === 0 ? matched - 1 : matched)
}, 180_000)

longTest('an import gives way to writes beside it, of another process and application', async () => {
  const other = await place.startService({ env: { DATABASE_URL: database.url() } })
  const app = await newApplication(survivor)
  const elsewhere = new Client(other)
  let isOver = false
  let made = 0
  const creating = [app, await newApplication(survivor)].map(async ({ appId, token }) => {
    const created = () => elsewhere.call('createDevice', deviceBody(appId), { token })
    for (; !isOver; made++) if ((await created()).code !== 0) throw new Error('a device was refused')
  })
  // Even on a fast machine, this many rows take longer than a portion should take while others write.
  await database.run((sql) =>
    sql.unsafe(`
      create function dawdle() returns trigger language plpgsql as
        $$ begin perform pg_sleep(0.0005 * count(*)) from made; return null; end $$;
      create trigger dawdle after insert on device referencing new table as made
        for each statement execute function dawdle()`),
  )
  // An import checks for other writers at its beginning, and then three times a second.
  await waitUntil(() => made > 10)
  const portionsOf = async (id: number) => {
    await becomesTrue(async () => (await told(id)).status === 3)
    const rows =
      await database.sql`select created + existing + refused as rows from import_result where import_id = ${id}`
    return rows.map((row) => Number(row.rows))
  }
  for (const one of [app, await newApplication(survivor)]) {
    const portions = await portionsOf(await sendTo(survivor, one, 'devices', 1_500))
    // The import may have written its first portion before it noticed the other writes, and another one while a busy
    // machine let these wait.
    const small = portions.filter((rows) => rows === 100)
    expect(small.length, String(portions)).toBeGreaterThanOrEqual(5)
  }
  isOver = true
  await Promise.all(creating)
  const most = async () => Math.max(...(await portionsOf(await sendTo(survivor, app, 'devices', 1_000))))
  expect(await becomes(500, most)).toBe(500)
  await database.sql`drop trigger dawdle on device`
  await other.stop()
})
