import { expect, test } from 'bun:test'
import { once } from 'node:events'
import type postgres from 'postgres'
import { Client } from '../kit/client.ts'
import { onDisk } from '../kit/folders.ts'
import { ownWorkplace } from '../kit/own-workplace.ts'
import { deviceBody, newApplication, newSerial, siteBody, type TestApplication } from '../kit/records.ts'
import { atScale } from '../kit/scale.ts'
import { twoServices } from '../kit/two-services.ts'
import { becomesTrue } from '../kit/waits.ts'
import { killAtAnyMoment } from './strikes.ts'

const kills = atScale(1, 9)
const rows = 1000
const place = ownWorkplace(onDisk)

const database = await place.findDatabase()

/** The devices of these serials that exist, each with the record in its event. Each serial has one event or none. */
function readRecords(serials: string[]): Promise<Map<string, string>> {
  return database.run(async (sql) => {
    const found = await sql`
      select device_no, data from device d left join event e on e.app_id = d.app_id and e.subject = d.device_no
      where device_no in ${sql(serials)}`
    const records = new Map(found.map((row) => [row.device_no as string, row.data as string]))
    expect(records.size, 'a device has one event').toBe(found.length)
    return records
  })
}

/**
 * Kills the process that is handling a batch: soon after its first rows are committed, or at a random moment. Returns
 * how many rows were committed.
 */
async function killMidBatch(app: TestApplication, body: string, key: string, serials: string[], isSoon: boolean) {
  const victim = await place.startService({ env: { DATABASE_URL: database.url() } })
  const options = { token: app.token, headers: { 'idempotency-key': key } }
  const sending = new Client(victim).call('createDevices', body, options).catch(() => undefined)
  if (isSoon) {
    const look = async (sql: postgres.Sql) => (await sql`select from device where app_id = ${app.appId} limit 1`).length
    await database.run((sql) => becomesTrue(async () => (await look(sql)) > 0))
  }
  await Promise.all([killAtAnyMoment([victim.process.pid as number], isSoon ? 20 : 300), sending])
  if (victim.process.exitCode === null && victim.process.signalCode === null) await once(victim.process, 'exit')
  return (await readRecords(serials)).size
}

test(`a batch with a key whose process is killed, ${kills} times, is there once after its retry, as first answered`, async () => {
  const survivor = new Client(await place.startService({ env: { DATABASE_URL: database.url() } }))
  const found: number[] = []
  const isInMiddle = (count: number) => count > 0 && count < rows
  // Repeats the kills if none of them has interrupted a batch in the middle.
  for (let kill = 0; kill < kills || (!found.some(isInMiddle) && kill < kills * 5); kill++) {
    const app = await newApplication(survivor)
    const serials = Array.from({ length: rows }, () => newSerial())
    const devices = serials.map((deviceNo, index) => deviceBody(app.appId, { deviceNo, deviceName: `row ${index}` }))
    const body = JSON.stringify({ devices })
    const key = `killed-${kill}`
    found.push(await killMidBatch(app, body, key, serials, kill % 3 < 2))
    const before = await readRecords(serials)
    const options = { token: app.token, headers: { 'idempotency-key': key } }
    const retried = await survivor.call('createDevices', body, options)
    const { results } = retried.data
    expect(results.filter((row, index) => row.code !== 0 || row.deviceNo !== serials[index])).toEqual([])
    // Rows of the first attempt are returned as they were written then, and every row exists once.
    const after = await readRecords(serials)
    expect(after.size).toBe(rows)
    for (const [deviceNo, record] of before) expect(after.get(deviceNo)).toBe(record)
    for (const row of results) expect<unknown>(row.data).toEqual(JSON.parse(after.get(row.deviceNo ?? '') ?? ''))
    const again = await survivor.call('createDevices', body, options)
    expect(again.text).toBe(retried.text)
    const [events] = await database.sql`select count(*)::int as n from event
      where app_id = ${app.appId} and type = 'device.bound'`
    expect(events?.n).toBe(rows)
  }
  expect(found.some(isInMiddle), 'a kill in the middle').toBe(true)
})

test('a batch’s key is new a day after it began, also for rows that a retry wrote hours later', async () => {
  const {
    database,
    clients: [service],
  } = await twoServices()
  const { appId, token } = await newApplication(service)
  const send = async (sites: object[]) => {
    const options = { token, headers: { 'idempotency-key': 'late' } }
    const answer = await service.call('saveSites', { appId, sites }, options)
    expect(answer.data?.results.map(({ code }) => code)).toEqual([0, 0])
    return answer.text
  }
  const newSites = () => [siteBody(''), siteBody('')].map((site) => ({ ...site, appId: undefined }))
  const [body, other] = [newSites(), newSites()]
  const countSites = async () => (await database.sql`select from site where app_id = ${appId}`).length
  /** Sets how long ago the batch's key was first used; its rows keep their times. */
  const begin = (hoursAgo: number) =>
    database.sql`
      update idempotency_key set created_at = now() - ${hoursAgo} * interval '1 hour'
      where app_id = ${appId} and key = 'late'`
  const first = await send(body)
  await begin(23)
  expect(await send(body)).toBe(first)
  await begin(25)
  const second = await send(body)
  expect(await countSites()).toBe(4)
  // The state that a killed process leaves: the key exists, but its response is not stored.
  await database.sql`update idempotency_key set answer = '' where app_id = ${appId} and key = 'late'`
  expect(await send(body)).toBe(second)
  expect(await countSites()).toBe(4)
  await begin(25)
  await send(other)
  expect(await countSites()).toBe(6)
})
