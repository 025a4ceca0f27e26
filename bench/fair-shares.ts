import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Sql } from 'postgres'
import { type Answer, Client } from '../test/kit/client.ts'
import { deviceBody, newApplication, type TestApplication } from '../test/kit/records.ts'
import type { Service } from '../test/kit/service.ts'

export interface Greed {
  sites: number
  events: number
  /** Quiet and loaded periods alternate, so that other work on the machine affects both. */
  rounds: number
  /** How long each period is. */
  seconds: number
}

export interface Share {
  operation: string
  quietMs: number[]
  loadedMs: number[]
  /** Responses other than 200 that did not go to the load. */
  refused: string[]
}

/** What the load itself got done, over all loaded periods. */
export interface Load {
  searches: number
  replays: number
  hangUps: number
  seconds: number
}

/** The callback of the greedy application: nothing listens there, and the endpoint is soon held. */
const callbackUrl = 'http://127.0.0.1:9/'

/**
 * Measures the service that another application gets, alone and beside one that searches many sites, replays many
 * events and hangs up. The service must allow private callbacks. `onPeriod` is called when a period begins and when it
 * ends.
 */
export async function measureShares(
  service: Service,
  sql: Sql,
  { sites, events, rounds, seconds }: Greed,
  onPeriod: (period: 'quiet' | 'loaded', isOver: boolean, load?: ChildProcess) => void = () => {},
): Promise<{ shares: Share[]; load: Load }> {
  const client = new Client(service)
  const thirdPartyConfig = { operatorName: 'Greedy', callbackUrl }
  const greedy = await newApplication(client, { rateLimitPerSecond: 1000, thirdPartyConfig })
  const modest = await newApplication(client)
  await fill(sql, greedy.appId, sites, events)
  const operations = await operationsOf(client, modest)
  const shares = Object.keys(operations).map(
    (operation): Share => ({ operation, quietMs: [], loadedMs: [], refused: [] }),
  )
  const load: Load = { searches: 0, replays: 0, hangUps: 0, seconds: 0 }
  await measure(operations, 1)
  for (let round = 0; round < rounds; round++) {
    onPeriod('quiet', false)
    const quiet = await measure(operations, seconds)
    onPeriod('quiet', true)
    const greed = startGreed(service, greedy.token)
    try {
      await greed.isUnderWay
      onPeriod('loaded', false, greed.child)
      const loaded = await measure(operations, seconds)
      onPeriod('loaded', true, greed.child)
      for (const share of shares) {
        share.quietMs.push(...(quiet.get(share.operation)?.tookMs ?? []))
        share.loadedMs.push(...(loaded.get(share.operation)?.tookMs ?? []))
        share.refused.push(...(loaded.get(share.operation)?.refused ?? []))
      }
    } finally {
      const done = await greed.stop()
      for (const what of ['searches', 'replays', 'hangUps', 'seconds'] as const) load[what] += done[what]
    }
    await replaysEnd(sql, greedy.appId)
  }
  return { shares, load }
}

const underWayWithinMs = 60_000

function startGreed(service: Service, token: string) {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'greedy.ts'), service.url, token], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let told = ''
  const isUnderWay = new Promise<void>((resolve, reject) => {
    child.stdout.on('data', (piece) => {
      told += piece
      if (told.includes('\n')) resolve()
    })
    // A load that is refused would measure nothing.
    setTimeout(reject, underWayWithinMs, new Error('the load is not under way')).unref()
  })
  const closed = once(child, 'close')
  return {
    child,
    isUnderWay,
    async stop(): Promise<Load> {
      child.kill('SIGTERM')
      await closed
      return JSON.parse(told.split('\n').at(-1) ?? '')
    },
  }
}

/** A replay continues after its caller has gone, and would disturb the next period. */
async function replaysEnd(sql: Sql, appId: string): Promise<void> {
  for (;;) {
    const [row] = await sql`select replay_next_id from callback_endpoint where app_id = ${appId}`
    if (row?.replay_next_id === null) return
    await sleep(100)
  }
}

async function fill(sql: Sql, appId: string, sites: number, events: number): Promise<void> {
  await sql`
    insert into site (app_id, id, site_name, contacts, contacts_phone, customer_service_phone, business_week_day,
      business_start_time, business_closing_time, province_code, province_name, city_code, city_name, district_code,
      district_name, created_at)
    select ${appId}, 1000000000 + n, 'Riverside charging park ' || n, 'Wang Fang', '13800000000', '4000000000',
      'Monday to Sunday', '08:00:00', '22:00:00', '360000', '江西省', '360100', '南昌市', '360102', '东湖区', now()
    from generate_series(1, ${sites}::int) as n`
  await sql`
    insert into event (app_id, id, type, time, actor, subject, data)
    select ${appId}, (floor(extract(epoch from now())) - 60)::bigint * 1000000 + n, 'device.updated', now(), 'operator:operator', 'SN' || n, '{}'
    from generate_series(1, ${events}::int) as n`
  await sql`
    update callback_endpoint set through_event_id = (select max(id) from event where app_id = ${appId})
    where app_id = ${appId}`
  await sql`analyze site, event`
}

async function operationsOf(client: Client, { appId, appSecret, ...first }: TestApplication) {
  const made = deviceBody(appId)
  /** The newest of the session's tokens is used: an application has a thousand at most. */
  let { token } = first
  await client.call('createDevice', made, { token })
  return {
    token: async () => {
      const credentials = { grant_type: 'client_credentials', client_id: appId, client_secret: appSecret }
      const issued = await client.call('issueToken', credentials)
      if (issued.code === 0) token = issued.data.accessToken
      return issued
    },
    create: () => client.call('createDevice', deviceBody(appId), { token }),
    detail: () => client.call('getDevice', { deviceNo: made.deviceNo }, { token }),
    readyz: () => client.call('getReadiness', {}),
  }
}

/** On a busy machine a period lasts longer, so that there is something to compare. */
const leastTurns = 10

async function measure(operations: Record<string, () => Promise<Answer<unknown>>>, seconds: number) {
  const shares = new Map<string, { tookMs: number[]; refused: string[] }>()
  const end = performance.now() + seconds * 1000
  for (let turn = 0; turn < leastTurns || performance.now() < end; turn++) {
    for (const [name, operation] of Object.entries(operations)) {
      const share = shares.get(name) ?? { tookMs: [], refused: [] }
      shares.set(name, share)
      const began = performance.now()
      const { status, code } = await operation()
      share.tookMs.push(performance.now() - began)
      if (status !== 200) share.refused.push(`${status} ${code}`)
    }
    await sleep(5)
  }
  return shares
}

/** The 95th percentile. */
export function p95(milliseconds: number[]): number {
  const sorted = milliseconds.toSorted((a, b) => a - b)
  return sorted[Math.floor(sorted.length * 0.95)] ?? Number.NaN
}
