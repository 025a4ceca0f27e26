import { describe, expect, test } from 'bun:test'
import { limits } from '../../src/vocabulary/limits.ts'
import { Client } from '../kit/client.ts'
import { contractOf, type OperationId } from '../kit/contracts.ts'
import { whileApplicationLocked, whileTableLocked } from '../kit/locks.ts'
import { ownWorkplace } from '../kit/own-workplace.ts'
import { deviceBody, newApplication, newSerial, siteBody, type TestApplication } from '../kit/records.ts'
import type { Service } from '../kit/service.ts'
import { sleep, waitUntil } from '../kit/waits.ts'

// The places of requests of one application, what becomes of requests that are over, and locks that one application holds.

const place = ownWorkplace()
/** A service with few places, and one with the usual number. */
const database = await place.findDatabase()
const start = (env: object) => place.startService({ env: { DATABASE_URL: database.url(), ...env } })
const [few, usual] = await Promise.all([
  start({ FORECOURT_MAX_REQUESTS: '100', FORECOURT_STATEMENT_TIMEOUT_MS: '4000' }),
  start({}),
])

/** An application that asks for much at a service, and another one that must not notice it. */
async function twoOf(service: Service) {
  const client = new Client(service)
  return { client, greedy: await newApplication(client), other: await newApplication(client) }
}

describe('nothing begins after its request is over, and it holds no place', () => {
  test.each([
    ['answered with 50003', false],
    ['left by its caller', true],
  ])('%s', async (_, hangsUp) => {
    const { client, greedy, other } = await twoOf(few)
    const { appId, token } = greedy
    const devices = Array.from({ length: 12 }, () => deviceBody(appId))
    for (const device of devices) await client.call('createDevice', device, { token })
    const act = { kind: 'devices', act: 'update', filter: { all: true } }
    const places = async (of: string) => {
      const { text } = await client.operate('getMetrics', {})
      return Number(new RegExp(`^forecourt_requests_under_way\\{of="${of}"\\} (\\d+)`, 'm').exec(text)?.[1])
    }
    await whileTableLocked(database, 'device', async () => {
      const ended = new AbortController()
      const asks: Promise<number | undefined>[] = []
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
      const ask = (id: OperationId, body: object) => {
        const request = fetch(few.url + contractOf(id).path, {
          ...{ method: 'POST', headers, signal: ended.signal },
          body: JSON.stringify({ appId, ...body }),
        })
        asks.push(request.then(({ status }) => status).catch(() => undefined))
      }
      for (let dry = 0; dry < 4; dry++) ask('createAct', { ...act, set: { tag: 'dry' }, dryRun: true })
      ask('createAct', { ...act, set: { tag: 'late' } })
      // The first update is in the lane's batch, which has begun; the others wait for the next.
      for (const { deviceNo } of devices) {
        ask('updateDevice', { deviceNo, tag: 'late' })
        await sleep(20)
      }
      for (let more = 0; more < 4; more++) {
        ask('createDevice', deviceBody(appId, { tag: 'late' }))
        await sleep(50)
      }
      // A fifth of the places, and one more request than they are.
      expect(asks.length).toBe(21)
      await waitUntil(async () => (await places('one_caller')) === 20, 2_500)
      expect((await client.call('getApplication', { appId }, { token })).code).toBe(10007)
      expect((await client.call('getApplication', { appId: other.appId }, { token: other.token })).code).toBe(0)
      if (hangsUp) ended.abort()
      await Promise.all(asks)
      // A client that has only closed its sending half still waits; one that has gone is known after this time.
      await waitUntil(async () => (await places('all')) === 0, limits.halfClosedMs + 1_000)
      expect((await client.call('getApplication', { appId }, { token })).code).toBe(0)
    })
    await waitUntil(async () => (await client.call('getReadiness', {})).status === 200)
    await sleep(1_000)
    const { data } = await client.call('pageActs', { appId }, { token })
    expect(data.list.filter(({ set }) => set?.tag === 'late')).toEqual([])
    const late = await client.call('pageDevices', { tag: 'late' }, { token })
    // Of 16: what had begun, the first batches of each lane.
    expect(late.data.total).toBeLessThanOrEqual(6)
  })
})

test('a write that has the lock only after its answer is not carried out', async () => {
  const { client, greedy } = await twoOf(few)
  const { appId, token } = greedy
  const { id } = (await client.call('saveSite', siteBody(appId), { token })).data
  const asked = await whileApplicationLocked(database, appId, () =>
    Promise.all([
      client.call('rotateApplicationSecret', { appId, overlapSeconds: 0 }, { token }),
      client.call('deleteSite', { id }, { token }),
    ]),
  )
  expect(asked.map(({ code }) => code)).toEqual([50003, 50003])
  await sleep(500)
  expect((await client.call('getSite', { id }, { token })).code).toBe(0)
})

test('a price change is written on time while the lock of another application with due changes is held', async () => {
  const { client, greedy, other } = await twoOf(few)
  const rule = {
    ruleName: 'Day',
    ruleType: 1,
    periods: [{ startTime: '00:00:00', electricityPrice: '1', servicePrice: '1' }],
  }
  const moment = Math.ceil(Date.now() / 1000) * 1000 + 4_000
  const effectiveTime = new Date(moment).toISOString()
  const ids: number[] = []
  for (const { appId, token } of [greedy, other]) {
    expect((await client.call('saveSite', siteBody(appId), { token })).code).toBe(0)
    const { data } = await client.call('saveBillingRule', { appId, ...rule }, { token })
    const change = { sites: { all: true }, rules: { fastChargeBillRuleId: data.id }, effectiveTime }
    ids.push((await client.call('schedulePriceChange', { appId, ...change }, { token })).data.id as number)
  }
  const isWritten = async ({ token }: TestApplication, id: number | undefined) =>
    (await client.call('getPriceChange', { id: String(id) }, { token })).data.appliedTime !== null
  await whileApplicationLocked(database, greedy.appId, async () => {
    await waitUntil(() => isWritten(other, ids[1]), moment - Date.now() + 8_000)
    const lateMs = Date.now() - moment
    expect(lateMs).toBeLessThan(2_000)
    expect(await isWritten(greedy, ids[0])).toBe(false)
  })
  await waitUntil(() => isWritten(greedy, ids[0]), 10_000)
})

test('while the lock of one application is held, writes of others wait for a moment only, and its own until it is free', async () => {
  const { client, greedy, other } = await twoOf(usual)
  /** One write for each lane, each repeatable. */
  async function writesOf({ appId, token }: TestApplication) {
    const device = deviceBody(appId)
    const { deviceNo } = device
    await client.call('createDevice', device, { token })
    const site = await client.call('saveSite', siteBody(appId), { token })
    const text = () => newSerial('text')
    return {
      devices: () => client.call('createDevice', deviceBody(appId), { token }),
      sites: () => client.call('saveSite', siteBody(appId), { token }),
      'device updates': () => client.call('updateDevice', { deviceNo, tag: text() }, { token }),
      'site updates': () => client.call('updateSite', { id: site.data.id, siteName: text() }, { token }),
      states: () => client.call('reportDeviceState', { deviceNo, statusRemark: text() }, { token }),
      ownership: async () => {
        const made = deviceBody(appId)
        const created = await client.call('createDevice', made, { token })
        return created.code === 0 ? client.call('unbindDevice', { deviceNo: made.deviceNo }, { token }) : created
      },
    }
  }
  const [held, free] = [await writesOf(greedy), await writesOf(other)]
  const longest = new Map<string, number>()
  const asked: Promise<{ code: number }>[] = []
  await whileApplicationLocked(database, greedy.appId, async () => {
    const end = performance.now() + 2_500
    while (performance.now() < end) {
      if (asked.length < 200) asked.push(...Object.values(held).map((write) => write()))
      for (const [lane, write] of Object.entries(free)) {
        const began = performance.now()
        expect((await write()).code, lane).toBe(0)
        longest.set(lane, Math.max(longest.get(lane) ?? 0, performance.now() - began))
      }
    }
  })
  expect(new Set((await Promise.all(asked)).map(({ code }) => code))).toEqual(new Set([0]))
  for (const [lane, ms] of longest) expect(ms, lane).toBeLessThan(1_500)
})
