import { afterAll, expect, test } from 'bun:test'
import {
  endPreviousApplicationSecret,
  rotateApplicationSecret,
  takeApplicationOffline,
  updateApplication,
} from '../../src/applications/contract.ts'
import {
  getThirdPartyConfig,
  rotateCallbackSecret,
  saveThirdPartyConfig,
} from '../../src/applications/third-party-config/contract.ts'
import { revokeToken } from '../../src/applications/tokens/contract.ts'
import {
  deleteBillingRule,
  getBillingRule,
  pageBillingRules,
  saveBillingRule,
  updateBillingRule,
} from '../../src/billing-rules/contract.ts'
import { createAct, getAct } from '../../src/bulk/acts/contract.ts'
import { openDatabase, type Sql } from '../../src/database/open.ts'
import { getDelivery, pageDeliveries, replayDeliveries, testDelivery } from '../../src/deliveries/contract.ts'
import { createDevice, createDevices, getDevice, pageDevices, updateDevice } from '../../src/devices/contract.ts'
import { forceUnbindDevice, getDeviceHistory, unbindDevice } from '../../src/devices/ownership/contract.ts'
import {
  getPlacement,
  pagePlacementHistory,
  pagePlacements,
  removePlacement,
  savePlacement,
  savePlacements,
  suggestPlacements,
  summarizePlacements,
} from '../../src/devices/placement/contract.ts'
import { reportDeviceState, reportDeviceStates } from '../../src/devices/state/contract.ts'
import { getEvent, pageEvents } from '../../src/events/contract.ts'
import { deleteSite, getSite, pageSites, saveSite, updateSite } from '../../src/sites/contract.ts'
import {
  cancelPriceChange,
  getPriceChange,
  pagePriceChanges,
  schedulePriceChange,
  undoPriceChange,
} from '../../src/sites/price-changes/contract.ts'
import { getSitePrices } from '../../src/sites/prices/contract.ts'
import { type Answer, Client } from '../kit/client.ts'
import { deviceBody, newApplication, newToken, siteBody } from '../kit/records.ts'
import { type Service, startService } from '../kit/service.ts'
import { becomesTrue } from '../kit/waits.ts'
import { Cluster, coordinatorUrl } from './cluster.ts'
import { type SeenStatement, StatementWatch } from './statement-watch.ts'

// On a Citus cluster, a statement about one application must be a single task on the node that stores the application.
// Otherwise it would be slow and read several nodes without a common snapshot, and no other test would notice.

if (coordinatorUrl === undefined) {
  console.log('The plans on Citus are not looked at: FORECOURT_TEST_DATABASE_URL names no coordinator.')
}

let cluster: Cluster | undefined
let watch: StatementWatch | undefined
let service: Service | undefined
let sql: Sql | undefined
afterAll(async () => {
  await service?.stop()
  await sql?.end({ timeout: 1 })
  watch?.stop()
  await cluster?.clear()
}, 60_000)

/**
 * Whether a statement's text restricts it to one application, by a parameter or by a variable. Bindings are distributed
 * by serial, so a list of serials may be on several nodes, even for one application.
 */
const isOfOne = (text: string) =>
  /app_id = (\$\d+|v_\w+(\.app_id)?)\b/.test(text) && !/from device_binding\b/.test(text)

/** Statements about many applications or about none: batches, searches for work, maintenance, and operators' lists. */
const ofMany = [
  /^(with \w+ as \( )?insert into \w+ .* from (json_to_recordset|rows from)/,
  /^with bound as/,
  // Devices of several applications that are transferred together.
  /^(v_changed := array\(\s*)?select d\.device_no from device d, |^delete from device d using /,
  /from (device_binding|past_binding|application_lock|event_head|device_presence)\b/,
  /^update device_presence p /,
  /^(delete|select \S+) from idempotency_key/,
  /from callback_endpoint (e )?where /,
  // Statements of a service's start.
  /^select split_part\(callback_secret, ':', 1\) as key_id from|from third_party_config where app_id > |^update third_party_config c .* from json_to_recordset/,
  // Rows of all applications that were written before their partition existed.
  /^(select exists \(select 1|delete) from (event|state_change)_default /,
  // The price changes that are due next.
  /^select app_id, .* from price_change where applied_at is null and cancelled_at is null order by effective_at/,
  // The audit trail.
  /^select app_id from price_change where applied_at is null and .* group by app_id order by min\(effective_at\)/,
  /as in_ms from price_change where applied_at is null and cancelled_at is null order by effective_at limit 1/,
  /from fleet_count where app_id <> '' and round > /,
  // The count of the fleet, of many applications at once.
  / where app_id = any\(\$1::text\[\]\) group by app_id/,
  /where \(app_id = '' or starts_with\(actor, 'operator'\) or type = 'priceChange.applied'\)/,
]

test.if(coordinatorUrl !== undefined)(
  'every statement about one application is one task of one node',
  async () => {
    cluster = await Cluster.find()
    const url = await cluster.newDistributed()
    watch = new StatementWatch(url)
    const env = { DATABASE_URL: await watch.start(url), FORECOURT_PRIVATE_CALLBACKS: 'allow' }
    service = await startService({ env })
    await liveOneLife(new Client(service))
    const { seen, wide } = watch
    // This checks the statements as PostgreSQL ran them, including those inside functions.
    expect(wide.filter(isOfOne)).toEqual([])
    expect(wide.filter((text) => !ofMany.some((known) => known.test(text)))).toEqual([])
    // A binding and its device may be stored on different nodes.
    expect(wide.filter((text) => /\bdevice_binding\b/.test(text) && /\bdevice\b/.test(text))).toEqual([])
    await expectFewTransactions(watch, new Client(service))
    // This checks the statements as EXPLAIN shows them, which also reveals rows that are first moved to the
    // coordinator.
    sql = openDatabase({ target: url, connections: 1, statementTimeoutMs: 10_000 })
    const ofOne = new Map(seen.filter(({ text }) => isOfOne(text)).map((statement) => [statement.text, statement]))
    expect(ofOne.size, 'different statements').toBeGreaterThan(45)
    const searches = await searchesOfOperators(watch, new Client(service))
    expect(searches.length, 'searches').toBeGreaterThanOrEqual(3)
    for (const search of searches) expectOnNodes(await explain(sql, search), search.text)
    for (const statement of ofOne.values()) {
      const plan = await explain(sql, statement)
      const tasks = [...plan.matchAll(/Task Count: (\d+)/g)].map(([, count]) => count)
      expect(tasks.length === 0 || tasks.every((count) => count === '1'), `${statement.text}\n${plan}`).toBe(true)
      expect(plan, statement.text).not.toContain('pull to coordinator')
    }
  },
  300_000,
)

async function explain(sql: Sql, { text, values }: SeenStatement): Promise<string> {
  const literal = (value: string | null | undefined) => (value == null ? 'null' : `'${value.replaceAll("'", "''")}'`)
  const written = text.replace(/\$(\d+)/g, (_, number) => literal(values[number - 1]))
  const rows = await sql.unsafe(`explain (costs off) ${written}`)
  return rows.map((row) => row['QUERY PLAN']).join('\n')
}

/** Calls every operation about one application, with and without filters. */
async function liveOneLife(client: Client): Promise<void> {
  const callbackUrl = 'http://127.0.0.1:9/'
  const app = await newApplication(client, { thirdPartyConfig: { operatorName: 'Test operator', callbackUrl } })
  const { appId, appSecret, token } = app
  const succeeds = <Data>(answer: Answer<Data>): Data => {
    expect(answer.code, answer.text).toBe(0)
    return answer.data
  }
  // Calls an operation as the application itself.
  const ask: typeof client.call = async (operation, input, options) => {
    const answer = await client.call(operation, input, { token, ...options })
    succeeds(answer)
    return answer
  }
  const operate: typeof client.operate = async (operation, input) => {
    const answer = await client.operate(operation, input)
    succeeds(answer)
    return answer
  }
  const terms = { ruleName: 'Occupancy', ruleType: 3, freeMinutes: 15, unitMinutes: 30, unitPrice: '2.00' }
  const { id: rule } = (await ask(saveBillingRule, { appId, ...terms }, { headers: key() })).data
  await ask(updateBillingRule, { appId, id: rule, ruleName: 'Other' })
  await ask(getBillingRule, { appId, id: rule })
  await ask(pageBillingRules, { appId, ruleName: 'o', ruleType: 3 })
  const site = (await ask(saveSite, siteBody(appId, { placeholderBillRuleId: rule }), { headers: key() })).data
  await ask(updateSite, { appId, id: site.id, siteName: 'Other' })
  await ask(getSite, { appId, id: site.id })
  const time = '2026-01-01 00:00:00'
  const bbox = '110,20,120,30'
  const filters = { siteName: 'o', contacts: 'w', provinceCode: '360000', billingRuleId: rule, bbox }
  await ask(pageSites, { appId, ...filters, timeFrom: time })
  await client.call('deleteBillingRule', { appId, id: rule }, { token })
  await ask(deleteSite, { appId, id: site.id })
  await ask(deleteBillingRule, { appId, id: rule })

  await liveOnSites(ask, appId)

  const device = deviceBody(appId)
  const { deviceNo } = device
  await ask(createDevice, device, { headers: key() })
  const [second, third] = [deviceBody(appId), deviceBody(appId)]
  await ask(createDevices, { appId, devices: [second, third] }, { headers: key() })
  await ask(updateDevice, { appId, deviceNo, tag: 'lane=2' })
  await ask(getDevice, { appId, deviceNo })
  await operate(getDevice, { deviceNo })
  await ask(reportDeviceState, { appId, deviceNo, runStatus: 1 })
  await ask(reportDeviceState, { appId, deviceNo, runStatus: 1 })
  await ask(reportDeviceState, { appId, deviceNo, onlineStatus: 2 })
  const page = await ask(pageDevices, { appId, pageSize: 1 })
  await ask(pageDevices, { appId, pageSize: 1, cursor: page.data.nextCursor })
  await ask(pageDevices, { appId, deviceName: 'gate', status: 1, onlineStatus: 2, provinceCode: '360000' })
  await ask(getDeviceHistory, { appId, deviceNo })
  await ask(unbindDevice, { appId, deviceNo })
  await operate(forceUnbindDevice, { deviceNo: second.deviceNo, reason: 'lost' })

  for (const filter of [
    {},
    { deviceNo },
    { type: 'device.bound' },
    { timeFrom: time, timeTo: '2999-01-01 00:00:00' },
  ]) {
    await ask(pageEvents, { appId, ...filter })
  }
  const [event] = (await ask(pageEvents, { appId, type: 'device.*,site.created', pageSize: 1 })).data.list
  await ask(getEvent, { appId, id: event?.id })
  await ask(testDelivery, { appId })
  for (const filter of [{}, { status: 3 }, { type: 'device.bound' }]) await ask(pageDeliveries, { appId, ...filter })
  const [delivery] = (await ask(pageDeliveries, { appId, timeFrom: time, timeTo: '2999-01-01 00:00:00' })).data.list
  await ask(getDelivery, { appId, id: delivery?.id })
  await ask(replayDeliveries, { appId, timeFrom: time, timeTo: '2999-01-01 00:00:00' })
  await ask(rotateCallbackSecret, { appId })
  await ask(getThirdPartyConfig, { appId })
  await operate(updateApplication, { appId, appName: 'other', rateLimitPerSecond: 5 })
  await operate(rotateApplicationSecret, { appId, overlapSeconds: 60 })
  await ask(revokeToken, {
    token: await newToken(client, appId, appSecret),
    client_id: appId,
    client_secret: appSecret,
  })
  await operate(endPreviousApplicationSecret, { appId })
  await operate(takeApplicationOffline, { appId })
  await operate(saveThirdPartyConfig, { appId, operatorName: 'Test operator' })
}

/** Searches by a part of a name in all applications. Returns the statements that compare names. */
async function searchesOfOperators({ seen }: StatementWatch, client: Client): Promise<SeenStatement[]> {
  const before = seen.length
  for (const answer of [
    await client.operate('pageDevices', { deviceName: 'GATE' }),
    await client.operate('pageSites', { siteName: 'RIVER', contacts: 'w' }),
    await client.operate('pageBillingRules', { ruleName: 'OCC' }),
  ]) {
    expect(answer.code, answer.text).toBe(0)
  }
  return seen.slice(before).filter(({ text }) => /strpos\(lower\((device_name|site_name|rule_name)/.test(text))
}

/** Expects that each node compares the names that it stores: otherwise all rows would be moved to the coordinator. */
function expectOnNodes(plan: string, text: string): void {
  const lines = plan.split('\n')
  const depthOf = (line = '') => line.search(/[^ ]/)
  const isInTask = (from: number) => {
    let depth = depthOf(lines[from])
    for (let at = from - 1; at >= 0; at--) {
      if (depthOf(lines[at]) >= depth) continue
      depth = depthOf(lines[at])
      if (/^ *-> +Task$/.test(lines[at] ?? '')) return true
    }
    return false
  }
  const compared = lines.flatMap((line, at) => (line.includes('strpos(') ? [at] : []))
  expect(compared.length, `${text}\n${plan}`).toBeGreaterThan(0)
  expect(compared.every(isInTask), `${text}\n${plan}`).toBe(true)
}

/** On a cluster a transaction costs more than its rows: a batch must be only a few transactions. */
async function expectFewTransactions({ seen }: StatementWatch, client: Client): Promise<void> {
  const { appId, token } = await newApplication(client)
  const devices = Array.from({ length: 1000 }, () => deviceBody(appId))
  const callsOf = (routine: string) => seen.filter(({ text }) => text.startsWith(`select * from ${routine}_`)).length
  const routines = ['register_devices', 'apply_reports']
  const before = routines.map(callsOf)
  const created = await client.call('createDevices', { devices }, { token, headers: key() })
  expect(new Set(created.data.results.map(({ code }) => code))).toEqual(new Set([0]))
  const reports = devices.map(({ deviceNo }) => ({ deviceNo, runStatus: 1 }))
  const reported = await client.call('reportDeviceStates', { reports }, { token, headers: key() })
  expect(new Set(reported.data.results.map(({ code }) => code))).toEqual(new Set([0]))
  // There are 4 portions, and up to 4 more if a portion begins before all of its rows have arrived.
  for (const [at, routine] of routines.entries()) {
    expect(callsOf(routine) - (before[at] ?? 0), routine).toBeLessThanOrEqual(8)
  }
}

/** Calls the operations on placements, prices and acts. */
async function liveOnSites(ask: Client['call'], appId: string): Promise<void> {
  const terms = { ruleName: 'Fast', ruleType: 1, periods: day('1.0') }
  const { id: rule } = (await ask(saveBillingRule, { appId, ...terms }, { headers: key() })).data
  const { id: other } = (await ask(saveBillingRule, { appId, ...terms, ruleName: 'Faster' }, { headers: key() })).data
  const coordinates = { longitude: 115.9, latitude: 28.67 }
  const body = siteBody(appId, { fastChargeBillRuleId: rule, ...coordinates })
  const { id: siteId } = (await ask(saveSite, body, { headers: key() })).data
  const devices = [deviceBody(appId), deviceBody(appId), deviceBody(appId)]
  const [deviceNo = '', second, third] = devices.map((device) => device.deviceNo)
  await ask(createDevices, { appId, devices }, { headers: key() })
  await ask(suggestPlacements, { appId, siteId })
  await ask(savePlacement, { appId, deviceNo, siteId, laneType: 1 }, { headers: key() })
  const placements = [second, third].map((serial) => ({ deviceNo: serial, siteId, laneType: 2, laneName: 'East' }))
  await ask(savePlacements, { appId, placements }, { headers: key() })
  await ask(getPlacement, { appId, deviceNo })
  await ask(pagePlacements, { appId, siteId, deviceNo: 'SN', laneType: 1, status: 1, cityCode: '360100' })
  await ask(pagePlacementHistory, { appId, deviceNo })
  await ask(pagePlacementHistory, { appId, siteId })
  await ask(summarizePlacements, { appId, siteIds: String(siteId) })
  await ask(suggestPlacements, { appId, deviceNo })
  await ask(pageDevices, { appId, siteId })
  await ask(pageDevices, { appId, isPlaced: 'false' })
  const reports = devices.map((device) => ({ deviceNo: device.deviceNo, onlineStatus: 1 }))
  await ask(reportDeviceStates, { appId, reports }, { headers: key() })
  await ask(removePlacement, { appId, deviceNo: second }, { headers: key() })

  const schedule = async (seconds: number, members: Record<string, unknown>) => {
    const effectiveTime = new Date(Math.ceil(Date.now() / 1000 + seconds) * 1000).toISOString()
    const { data } = await ask(schedulePriceChange, { appId, effectiveTime, ...members }, { headers: key() })
    return data.id
  }
  const given = { sites: { ids: [siteId] }, rules: { fastChargeBillRuleId: other } }
  const changes = [await schedule(5, { billingRuleId: rule, periods: day('1.1') }), await schedule(5, given)]
  for (const id of changes) {
    const isWritten = async () => (await ask(getPriceChange, { appId, id })).data.appliedTime !== null
    expect(await becomesTrue(isWritten), `the price change ${id} is written down`).toBe(true)
  }
  await ask(undoPriceChange, { appId, id: changes[1], reason: 'tried' }, { headers: key() })
  const cancelled = await schedule(86_400, { ...given, sites: { all: true } })
  await ask(pagePriceChanges, { appId })
  await ask(pagePriceChanges, { appId, siteId, status: 1 })
  await ask(cancelPriceChange, { appId, id: cancelled, reason: 'tried' })
  await ask(getSitePrices, { appId, id: siteId })
  await ask(getSitePrices, { appId, id: siteId, time: new Date().toISOString() })

  const act = async (members: Record<string, unknown>) => {
    const { id } = (await ask(createAct, { appId, ...members }, { headers: key() })).data
    const isOver = async () => (await ask(getAct, { appId, id })).data.status > 2
    expect(await becomesTrue(isOver), `the act ${id} ends`).toBe(true)
    expect((await ask(getAct, { appId, id })).data).toMatchObject({ refused: 0, error: null })
  }
  await act({ kind: 'devices', act: 'update', filter: { siteId }, set: { tag: 'lane=9' } })
  await act({ kind: 'devices', act: 'unbind', filter: { all: true } })
  await act({ kind: 'sites', act: 'update', filter: { siteName: 'RIVER' }, set: { contacts: 'Li Na' } })
  await act({ kind: 'sites', act: 'delete', filter: { all: true } })
}

/** One period of a whole day. */
const day = (electricityPrice: string) => [{ startTime: '00:00:00', electricityPrice, servicePrice: '0.8' }]

const key = () => ({ 'idempotency-key': crypto.randomUUID() })
