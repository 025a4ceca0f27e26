import { spawn } from 'node:child_process'
import { join } from 'node:path'
import type { Sql } from 'postgres'
import { createDevice, getDevice } from '../src/devices/contract.ts'
import { getReadiness } from '../src/service/contract.ts'
import { issueToken } from '../src/tokens/contract.ts'
import { type Answer, Client, deviceBody, newApplication, type Service, type TestApplication } from '../test/harness.ts'

export interface Greed {
  sites: number
  events: number
  /** How long is measured, quietly and then beside the load. */
  seconds: number
}

export interface Share {
  operation: string
  quietMs: number[]
  loadedMs: number[]
  /** Answers that were not 200, beside the load. */
  refused: string[]
}

/** Where the greedy application's callbacks go: nobody listens there, and the endpoint is soon left alone. */
const callbackUrl = 'http://127.0.0.1:9/'

/**
 * Measures what another application has of the service, quietly and beside one that searches many sites, replays many
 * events and hangs up. The service must allow private callbacks.
 */
export async function measureShares(service: Service, sql: Sql, { sites, events, seconds }: Greed): Promise<Share[]> {
  const client = new Client(service)
  const thirdPartyConfig = { operatorName: 'Greedy', callbackUrl }
  const greedy = await newApplication(client, { rateLimitPerSecond: 1000, thirdPartyConfig })
  const modest = await newApplication(client)
  await fill(sql, greedy.appId, sites, events)
  const operations = await operationsOf(client, modest)
  await measure(operations, 1)
  const quiet = await measure(operations, seconds)
  const load = spawn('bun', [join(import.meta.dirname, 'greedy.ts'), service.url, greedy.token], { stdio: 'ignore' })
  try {
    await new Promise((resolve) => setTimeout(resolve, 1000))
    const loaded = await measure(operations, seconds)
    return Object.keys(operations).map((operation) => {
      const { tookMs = [], refused = [] } = loaded.get(operation) ?? {}
      return { operation, quietMs: quiet.get(operation)?.tookMs ?? [], loadedMs: tookMs, refused }
    })
  } finally {
    load.kill('SIGKILL')
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
    insert into event (app_id, type, time, actor, subject, data)
    select ${appId}, 'device.updated', now(), 'operator:operator', 'SN' || n, '{}'
    from generate_series(1, ${events}::int) as n`
  await sql`
    update callback_endpoint set through_event_id = (select max(id) from event where app_id = ${appId})
    where app_id = ${appId}`
  await sql`analyze site, event`
}

async function operationsOf(client: Client, { appId, appSecret, ...first }: TestApplication) {
  const made = deviceBody(appId)
  /** The newest: an application has a thousand at most. */
  let { token } = first
  await client.call(createDevice, made, { token })
  return {
    token: async () => {
      const credentials = { grant_type: 'client_credentials', client_id: appId, client_secret: appSecret }
      const issued = await client.call(issueToken, credentials)
      if (issued.code === 0) token = issued.data.accessToken
      return issued
    },
    create: () => client.call(createDevice, deviceBody(appId), { token }),
    detail: () => client.call(getDevice, { deviceNo: made.deviceNo }, { token }),
    readyz: () => client.call(getReadiness, {}),
  }
}

async function measure(operations: Record<string, () => Promise<Answer<unknown>>>, seconds: number) {
  const shares = new Map<string, { tookMs: number[]; refused: string[] }>()
  for (const end = performance.now() + seconds * 1000; performance.now() < end; ) {
    for (const [name, operation] of Object.entries(operations)) {
      const share = shares.get(name) ?? { tookMs: [], refused: [] }
      shares.set(name, share)
      const began = performance.now()
      const { status, code } = await operation()
      share.tookMs.push(performance.now() - began)
      if (status !== 200) share.refused.push(`${status} ${code}`)
    }
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  return shares
}

/** The time that 19 of 20 took no longer than. */
export function p95(milliseconds: number[]): number {
  const sorted = milliseconds.toSorted((a, b) => a - b)
  return sorted[Math.floor(sorted.length * 0.95)] ?? Number.NaN
}
