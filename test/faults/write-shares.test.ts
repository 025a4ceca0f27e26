import { afterAll, describe, expect, test } from 'bun:test'
import type { Sql } from 'postgres'
import { issueToken } from '../../src/applications/tokens/contract.ts'
import { saveBillingRule, updateBillingRule } from '../../src/billing-rules/contract.ts'
import { createAct, pageActs } from '../../src/bulk/acts/contract.ts'
import { createDevice, createDevices, getDevice, pageDevices, updateDevice } from '../../src/devices/contract.ts'
import { unbindDevice } from '../../src/devices/ownership/contract.ts'
import { savePlacement } from '../../src/devices/placement/contract.ts'
import { getReadiness } from '../../src/service/contract.ts'
import { saveSite, saveSites } from '../../src/sites/contract.ts'
import { getPriceChange, schedulePriceChange } from '../../src/sites/price-changes/contract.ts'
import { limits } from '../../src/vocabulary/limits.ts'
import {
  type Answer,
  Client,
  deviceBody,
  newApplication,
  newSerial,
  siteBody,
  type TestApplication,
} from '../harness.ts'
import { atScale, becomesTrue, sleep, tell, Workplace } from './support.ts'

const place = new Workplace()
afterAll(() => place.clear(), 60_000)

type Ask = () => Promise<Answer<unknown>>

/** A service with few places and an application of many records, and another application that must not notice it. */
async function start(places: number, rows: number) {
  const database = await place.findDatabase()
  const env = { DATABASE_URL: database.url(), FORECOURT_MAX_REQUESTS: String(places) }
  const service = await place.startService({ env })
  const client = new Client(service)
  const [greedy, other] = [await newApplication(client), await newApplication(client)]
  await makeSites(client, greedy, rows)
  return { database, service, client, greedy, other }
}

async function makeSites(client: Client, { appId, token }: TestApplication, count: number): Promise<void> {
  for (let made = 0; made < count; made += 1000) {
    const sites = Array.from({ length: Math.min(1000, count - made) }, () => siteBody(appId))
    expect((await client.call(saveSites, { appId, sites }, { token })).code).toBe(0)
  }
}

/** What the other application does, each a single request. */
async function modestRequests(client: Client, app: TestApplication) {
  const { appId, appSecret, token } = app
  const device = deviceBody(appId)
  await client.call(createDevice, device, { token })
  const site = await client.call(saveSite, siteBody(appId), { token })
  const rule = { ruleName: 'Night', ruleType: 3, freeMinutes: 1, unitMinutes: 1, unitPrice: '1', dailyCap: '2' }
  const { data } = await client.call(saveBillingRule, { appId, ...rule }, { token })
  const { deviceNo } = device
  const text = () => String(Math.random())
  return {
    read: () => client.call(getDevice, { deviceNo }, { token }),
    page: () => client.call(pageDevices, {}, { token }),
    create: () => client.call(createDevice, deviceBody(appId), { token }),
    update: () => client.call(updateDevice, { deviceNo, tag: text() }, { token }),
    place: () =>
      client.call(savePlacement, { deviceNo, siteId: site.data.id, laneType: 1, laneName: text() }, { token }),
    rule: () => client.call(updateBillingRule, { id: data.id, ruleName: text() }, { token }),
    token: () =>
      client.call(issueToken, { grant_type: 'client_credentials', client_id: appId, client_secret: appSecret }),
    ready: () => client.call(getReadiness, {}),
    unbind: async () => {
      const made = deviceBody(appId)
      const created = await client.call(createDevice, made, { token })
      return created.status === 200 ? client.call(unbindDevice, { deviceNo: made.deviceNo }, { token }) : created
    },
  } satisfies Record<string, Ask>
}

/** Asks again and again, each as soon as it is answered, until `stop`. Counts the codes. */
function flood(ask: Ask, count: number) {
  const codes = new Map<number, number>()
  let isOver = false
  const loops = Array.from({ length: count }, async () => {
    while (!isOver) {
      const { code } = await ask()
      codes.set(code, (codes.get(code) ?? 0) + 1)
      if (code !== 0) await sleep(50)
    }
  })
  return {
    codes,
    async stop() {
      isOver = true
      await Promise.all(loops)
    },
  }
}

async function timesOf(requests: Record<string, Ask>, rounds: number): Promise<Map<string, number[]>> {
  const times = new Map<string, number[]>()
  for (let round = 0; round < rounds; round++) {
    for (const [name, ask] of Object.entries(requests)) {
      const began = performance.now()
      const { status, text } = await ask()
      expect(status, `${name}: ${text}`).toBe(200)
      times.set(name, [...(times.get(name) ?? []), performance.now() - began])
    }
  }
  return times
}

const medianOf = (times: number[] = []) => times.toSorted((one, two) => one - two)[times.length >> 1] ?? 0

describe('beside one application that keeps as many requests under way as it may', () => {
  const rounds = atScale(2, 40)

  test('single requests of another are served, whatever the first one asks for', async () => {
    const { service, client, greedy, other, database } = await start(atScale(200, 10_000), atScale(2_000, 10_000))
    const { appId, token } = greedy
    const rule = {
      ruleName: 'Day',
      ruleType: 1,
      periods: [{ startTime: '00:00:00', electricityPrice: '1', servicePrice: '1' }],
    }
    const { data } = await client.call(saveBillingRule, { appId, ...rule }, { token })
    const tomorrow = `${new Date(Date.now() + 86_400_000).toISOString().slice(0, 19)}Z`
    const change = { sites: { all: true }, rules: { fastChargeBillRuleId: data.id }, effectiveTime: tomorrow }
    const act = { kind: 'sites', act: 'update', filter: { all: true }, set: { contacts: 'y' }, dryRun: true }
    const kinds: Record<string, Ask> = {
      acts: () => client.call(createAct, { appId, ...act }, { token }),
      'dry runs of price changes': () =>
        client.call(schedulePriceChange, { appId, ...change, dryRun: true }, { token }),
      'updates of one rule': () =>
        client.call(updateBillingRule, { id: data.id, ruleName: String(Math.random()) }, { token }),
      'batches of devices': () =>
        client.call(
          createDevices,
          { appId, devices: Array.from({ length: 200 }, () => ({ deviceNo: newSerial(), deviceName: 'x' })) },
          { token },
        ),
    }
    const modest = await modestRequests(client, other)
    await timesOf(modest, 2)
    const quiet = await timesOf(modest, rounds)
    for (const [kind, ask] of Object.entries(kinds)) {
      const load = flood(ask, atScale(90, 300))
      await sleep(500)
      const beside = await timesOf(modest, rounds)
      await load.stop()
      const ratios = [...beside].map(
        ([name, times]) => `${name} ${(medianOf(times) / medianOf(quiet.get(name))).toFixed(1)}`,
      )
      tell(`${kind}: ${[...load.codes].map(([code, count]) => `${count} × ${code}`).join(', ')}; ${ratios.join(', ')}`)
      expect(load.codes.get(0) ?? 0, kind).toBeGreaterThan(0)
      expect(
        [...load.codes.keys()].filter((code) => ![0, 10007, 50003].includes(code)),
        kind,
      ).toEqual([])
    }
    expect(await service.stop()).toBe(0)
    await database.stop()
  }, 240_000)
})

/** Locks a table until the returned function is called. */
async function lockTable(sql: Sql, table: string): Promise<() => Promise<void>> {
  let release = () => {}
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  let isLocked = () => {}
  const locked = new Promise<void>((resolve) => {
    isLocked = resolve
  })
  const over = sql.begin(async (tx) => {
    await tx`lock table ${tx(table)} in access exclusive mode`
    isLocked()
    await released
  })
  await locked
  return async () => {
    release()
    await over
  }
}

describe('nothing begins after its request is over', () => {
  test.each([
    ['answered with 50003', false],
    ['left by its caller', true],
  ])(
    '%s',
    async (_, hangsUp) => {
      const { service, client, greedy, database } = await start(100, 10)
      const { appId, token } = greedy
      const devices = Array.from({ length: 12 }, () => deviceBody(appId))
      for (const device of devices) await client.call(createDevice, device, { token })
      const act = { kind: 'devices', act: 'update', filter: { all: true } }
      await database.run(async (sql) => {
        const release = await lockTable(sql, 'device')
        const ended = new AbortController()
        const asks: Promise<number | undefined>[] = []
        const ask = (path: string, body: object) => {
          const request = fetch(service.url + path, {
            method: 'POST',
            headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
            body: JSON.stringify(body),
            signal: ended.signal,
          })
          asks.push(request.then(({ status }) => status).catch(() => undefined))
        }
        for (let dry = 0; dry < 4; dry++) ask(createAct.path, { appId, ...act, set: { tag: 'dry' }, dryRun: true })
        ask(createAct.path, { appId, ...act, set: { tag: 'late' } })
        // The first update is in the lane's batch, which has begun; the others wait for the next.
        for (const { deviceNo } of devices) {
          ask(updateDevice.path, { appId, deviceNo, tag: 'late' })
          await sleep(20)
        }
        ask(createDevice.path, { ...deviceBody(appId), tag: 'late' })
        for (let more = 0; more < 3; more++) {
          await sleep(50)
          ask(createDevice.path, { ...deviceBody(appId), tag: 'late' })
        }
        await sleep(300)
        if (hangsUp) ended.abort()
        await Promise.all(asks)
        // A client that has only closed its sending half still waits; one that has gone is known after this time.
        await sleep(limits.halfClosedMs + 500)
        await release()
      })
      expect(await becomesTrue(async () => (await client.call(getReadiness, {})).status === 200)).toBe(true)
      await sleep(1_000)
      const { data } = await client.call(pageActs, { appId }, { token })
      expect(data.list.filter(({ set }) => set?.tag === 'late')).toEqual([])
      const late = await client.call(pageDevices, { tag: 'late' }, { token })
      // Of 16: what had begun, the first batches of each lane.
      expect(late.data.total).toBeLessThanOrEqual(6)
      expect(await service.stop()).toBe(0)
      await database.stop()
    },
    120_000,
  )
})

test('a price change is written on time while the lock of another application with due changes is held', async () => {
  const { service, client, greedy, other, database } = await start(100, 10)
  await makeSites(client, other, 1)
  const rule = {
    ruleName: 'Day',
    ruleType: 1,
    periods: [{ startTime: '00:00:00', electricityPrice: '1', servicePrice: '1' }],
  }
  const moment = Math.ceil(Date.now() / 1000) * 1000 + 4_000
  const effectiveTime = new Date(moment).toISOString()
  const ids: number[] = []
  for (const { appId, token } of [greedy, other]) {
    const { data } = await client.call(saveBillingRule, { appId, ...rule }, { token })
    const change = { sites: { all: true }, rules: { fastChargeBillRuleId: data.id }, effectiveTime }
    ids.push((await client.call(schedulePriceChange, { appId, ...change }, { token })).data.id as number)
  }
  const isWritten = async ({ token }: TestApplication, id: number | undefined) =>
    (await client.call(getPriceChange, { id: String(id) }, { token })).data.appliedTime !== null
  await database.run(async (sql) => {
    await sql.begin(async (tx) => {
      await tx`select 1 from application_lock where app_id = ${greedy.appId} for update`
      expect(await becomesTrue(() => isWritten(other, ids[1]), moment - Date.now() + 8_000)).toBe(true)
      const lateMs = Date.now() - moment
      tell(`written ${lateMs} ms after its moment`)
      expect(lateMs).toBeLessThan(2_000)
      expect(await isWritten(greedy, ids[0])).toBe(false)
    })
  })
  expect(await becomesTrue(() => isWritten(greedy, ids[0]), 10_000)).toBe(true)
  expect(await service.stop()).toBe(0)
  await database.stop()
}, 60_000)
