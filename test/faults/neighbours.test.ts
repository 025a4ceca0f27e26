import { expect, test } from 'bun:test'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { limits } from '../../src/vocabulary/limits.ts'
import type { Operation } from '../../src/vocabulary/operation.ts'
import type { Call } from '../costs/calls.ts'
import { fill } from '../costs/fill.ts'
import { measured } from '../costs/operations.ts'
import { variants } from '../costs/variants.ts'
import { makeWorld, measuredOrigin, newDevice, newRule, newSite, type WorldWithDatabase } from '../costs/world.ts'
import type { Answer, Client } from '../kit/client.ts'
import { contractOf, type OperationId } from '../kit/contracts.ts'
import { projectFolder } from '../kit/folders.ts'
import { ownWorkplace } from '../kit/own-workplace.ts'
import { deviceBody, newApplication, newSerial, siteBody } from '../kit/records.ts'
import { isLong, tell } from '../kit/scale.ts'
import { becomesTrue, sleep } from '../kit/waits.ts'
import { type FloodRequest, freshSerial } from './flood.ts'

// Fair shares for every operation (contract §4.4): while one application or operator keeps as many requests of an operation
// under way as it may, another application's single requests are served, and soon. A process of its own sends the many
// (flood.ts), so that this one has time to measure.

const place = ownWorkplace()

/** As many as one caller may have under way with the default settings; those of the flood that are refused come again. */
const atOnce = 2_000
/** Of requests with half a megabyte each: more would be a test of this machine’s loopback. */
const atOnceOfLarge = 200
/** Times below this are not compared: where the flood shares the service’s processors, requests meet pauses as long. */
const leastComparedMs = 100
const warmUpMs = 300
const measuredMs = 1_000
const leastRounds = 20
const quietRounds = 100

class Flood {
  private readonly child
  private readonly lines: AsyncIterator<string>

  constructor() {
    const program = join(projectFolder, 'test', 'faults', 'flood.ts')
    this.child = spawn(join(projectFolder, 'node_modules', '.bin', 'bun'), [program], {
      stdio: ['pipe', 'pipe', 'inherit'],
      env: { ...process.env, BUN_CONFIG_MAX_HTTP_REQUESTS: String(atOnce) },
    })
    this.lines = createInterface({ input: this.child.stdout })[Symbol.asyncIterator]()
  }

  /** Begins or stops; returns the number of responses until now by status and code. */
  async order(order: { begin: readonly FloodRequest[]; over: number } | { stop: true }): Promise<string> {
    this.child.stdin.write(`${JSON.stringify(order)}\n`)
    return (await this.lines.next()).value
  }

  async end(): Promise<void> {
    const ended = once(this.child, 'exit')
    this.child.stdin.end()
    await ended
  }
}

function requestOf(url: string, operation: Operation, { input, as }: Call & Required<Pick<Call, 'as'>>): FloodRequest {
  const { method, path, takes } = operation
  const { file = '', ...asked } = input as { file?: string }
  const query = method === 'GET' || takes !== undefined ? `?${new URLSearchParams(asked)}` : ''
  const headers: Record<string, string> = {
    'content-type': takes?.[0] ?? 'application/json',
    'x-forwarded-for': '198.51.100.7',
    ...(as.token !== undefined && { authorization: `Bearer ${as.token}` }),
    ...as.headers,
  }
  const body = takes === undefined ? JSON.stringify(input) : file
  return { url: `${url}${path}${query}`, init: { method, headers, ...(method === 'POST' && { body }) } }
}

type Ask = () => Promise<Answer<unknown>>

/** Single requests of another application, each of them repeatable. */
async function neighbourOf(client: Client): Promise<Record<string, Ask>> {
  const owner = await newApplication(client)
  const { appId, appSecret } = owner
  const deviceNo = await newDevice({ client, owner })
  const siteId = await newSite({ client, owner })
  const id = await newRule({ client, owner })
  const secret = { grant_type: 'client_credentials', client_id: appId, client_secret: appSecret }
  const text = () => newSerial('text')
  return {
    read: () => client.call('getDevice', { deviceNo }, owner),
    create: () => client.call('createDevice', deviceBody(appId), owner),
    update: () => client.call('updateDevice', { deviceNo, tag: text() }, owner),
    place: () => client.call('savePlacement', { deviceNo, siteId, laneType: 1, laneName: text() }, owner),
    rule: () => client.call('updateBillingRule', { id, ruleName: text() }, owner),
    async token() {
      const issued = await client.call('issueToken', secret)
      // An application’s first tokens end when it has too many.
      owner.token = issued.data.accessToken
      return issued
    },
    ready: () => client.call('getReadiness', {}),
  }
}

interface Times {
  p50: number
  p95: number
  most: number
}

/** Sends the requests one after the other, for so long. Throws when one is refused. */
async function timesOf(requests: Record<string, Ask>, rounds: number, forMs = 0): Promise<Record<string, Times>> {
  const all: Record<string, number[]> = {}
  const began = performance.now()
  for (let round = 0; round < rounds || performance.now() - began < forMs; round++) {
    for (const [name, ask] of Object.entries(requests)) {
      const sentAt = performance.now()
      const { status, text } = await ask()
      if (status !== 200) throw new Error(`${name}: ${status} ${text}`)
      const times = all[name] ?? []
      all[name] = times
      times.push(performance.now() - sentAt)
    }
  }
  return Object.fromEntries(
    Object.entries(all).map(([name, times]) => {
      const sorted = times.toSorted((one, two) => one - two)
      const at = (share: number) => sorted[Math.ceil(sorted.length * share) - 1] as number
      return [name, { p50: at(0.5), p95: at(0.95), most: at(1) }]
    }),
  )
}

interface Kind {
  name: string
  operation: Operation
  calls: (world: WorldWithDatabase) => Promise<Call[]>
}

const operationOf = (name: string) => contractOf(name.split(':')[0] as OperationId)

/** What an application or an operator may send, by the register of the operations’ costs. */
const ofRegister: Kind[] = [...Object.entries(measured), ...Object.entries(variants)].map(([name, { call }]) => {
  const operation = operationOf(name)
  const calls = async (world: WorldWithDatabase) => {
    const made = [await call(world)]
    // Where each call has another owner, or one that the last one would disturb, one is repeated.
    const isOnce = /^(cancelImport|cancelAct|deleteRegion|createImport|createAct|testDelivery)$|Passkey|Totp/.test(name)
    const isRead = operation.method === 'GET'
    while (made.length < (isOnce || isRead ? 1 : 5)) made.push(await call(world))
    return made
  }
  return { name, operation, calls }
})

const rows = 1_000
const many = <Row>(make: () => Row) => Array.from({ length: rows }, make)
const { appId: _ofDevice, ...device } = deviceBody('', { deviceNo: freshSerial })
const { appId: _ofSite, ...site } = siteBody('')
const ofManySites = async ({ owner, rule, sql }: WorldWithDatabase) => {
  const found = await sql`select id from site where app_id = ${owner.appId} limit ${limits.priceChangeIds}`
  return {
    sites: { ids: found.map(({ id }) => Number(id)) },
    rules: { placeholderBillRuleId: rule },
    effectiveTime: new Date(Math.ceil(Date.now() / 1000) * 1000 + 86_400_000).toISOString(),
  }
}

/** The largest and slowest requests of an application. */
const heaviest: Kind[] = (
  [
    ['createDevice: new ones', () => device],
    ['createDevices: 1,000 rows', () => ({ devices: many(() => device) })],
    ['saveSites: 1,000 rows', () => ({ sites: many(() => site) })],
    [
      'updateDevices: 1,000 rows',
      async ({ owner, sql }) => {
        const found = await sql`select device_no from device where app_id = ${owner.appId} limit ${rows}`
        return { devices: found.map(({ device_no }) => ({ deviceNo: device_no, tag: freshSerial })) }
      },
    ],
    [
      'schedulePriceChange: a dry run over many sites',
      async (world) => ({ ...(await ofManySites(world)), dryRun: true }),
    ],
    ['schedulePriceChange: of many sites', ofManySites],
    [
      'createAct: a dry run over all devices',
      () => ({ kind: 'devices', act: 'update', filter: { all: true }, set: { tag: 'x' }, dryRun: true }),
    ],
  ] satisfies [string, (world: WorldWithDatabase) => object][]
).map(([name, membersOf]) => ({
  name,
  operation: operationOf(name),
  calls: async (world) => [{ input: { appId: world.owner.appId, ...(await membersOf(world)) } }],
}))

// A machine that other work keeps busy gives no proof, so it is for the long run.
test.skipIf(!isLong)(
  'while one caller keeps 2,000 requests under way, others are served as soon as before',
  async () => {
    const database = await place.findDatabase()
    const receiver = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response(null, { status: 204 }) })
    const env = {
      DATABASE_URL: database.url(),
      FORECOURT_PRIVATE_CALLBACKS: 'allow',
      FORECOURT_PUBLIC_URL: measuredOrigin,
      FORECOURT_PRESENCE_SECONDS: '86400',
      // Callers without a token are distinguished by their address.
      FORECOURT_TRUSTED_PROXIES: '127.0.0.1',
    }
    const { service, client } = await place.start({ env })
    const flood = new Flood()
    const failed: string[] = []
    await database.run(async (sql) => {
      const world = await makeWorld(client, sql, `http://127.0.0.1:${receiver.port}/`)
      await fill(sql, world.owner, 1, 20_000)
      await sql`analyze`
      const neighbour = await neighbourOf(client)
      await timesOf(neighbour, 10)
      const quiet = await timesOf(neighbour, quietRounds)
      tell(`quiet: ${lineOf(quiet)}`)
      const only = process.env.FORECOURT_TEST_FLOOD
      const isMeant = ({ name }: Kind) => only === undefined || new RegExp(only).test(name)
      const kinds = [...heaviest, ...ofRegister].filter(isMeant)
      for (const one of kinds) {
        const calls = await one.calls(world)
        const requests = calls.map((call) => requestOf(service.url, one.operation, { as: world.owner, ...call }))
        await flood.order({ begin: requests, over: one.name.includes('1,000 rows') ? atOnceOfLarge : atOnce })
        await sleep(warmUpMs)
        let result: string
        try {
          const beside = await timesOf(neighbour, leastRounds, measuredMs)
          result = lineOf(beside)
          for (const [name, { p95 }] of Object.entries(beside)) {
            const { p95: before } = quiet[name] as Times
            if (p95 > 3 * before && p95 > leastComparedMs) failed.push(`${one.name}: ${name} ${p95.toFixed(0)} ms`)
          }
        } catch (error) {
          result = String(error)
          failed.push(`${one.name}: ${error}`)
        }
        const answers = await flood.order({ stop: true })
        tell(`${one.name}: ${result} | ${answers}`)
        if (heaviest.includes(one) && !answers.includes('"200 0"')) failed.push(`${one.name}: none succeeded`)
        await becomesTrue(
          async () =>
            (await client.operate('getMetrics', {})).text.includes('forecourt_requests_under_way{of="all"} 0'),
          20_000,
        )
      }
    })
    await flood.end()
    receiver.stop(true)
    expect(failed).toEqual([])
    expect(await service.stop()).toBe(0)
    await database.stop()
  },
  3_600_000,
)

const lineOf = (times: Record<string, Times>) =>
  Object.entries(times)
    .map(([name, { p50, p95, most }]) => `${name} ${[p50, p95, most].map((ms) => ms.toFixed(0)).join('/')}`)
    .join(', ')
