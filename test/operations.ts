import type postgres from 'postgres'
import { createApplication, takeApplicationOnline } from '../src/applications/contract.ts'
import { issueToken } from '../src/applications/tokens/contract.ts'
import { saveBillingRule } from '../src/billing-rules/contract.ts'
import { createAct, getAct } from '../src/bulk/acts/contract.ts'
import { createImport, getImport } from '../src/bulk/contract.ts'
import { mostLookedAt } from '../src/deliveries/health/contract.ts'
import { createDevice } from '../src/devices/contract.ts'
import { importDeviceInventory } from '../src/devices/inventory/contract.ts'
import { saveDeviceModel } from '../src/devices/models/contract.ts'
import { savePlacement } from '../src/devices/placement/contract.ts'
import { createOperator, createOperatorKey } from '../src/people/operators/contract.ts'
import { savePasskey, startPasskey } from '../src/people/second-factor/contract.ts'
import { saveView } from '../src/people/views/contract.ts'
import { saveSite } from '../src/sites/contract.ts'
import { getPriceChange, schedulePriceChange } from '../src/sites/price-changes/contract.ts'
import { limits } from '../src/vocabulary/limits.ts'
import type { Operation } from '../src/vocabulary/operation.ts'
import { Authenticator } from './authenticator.ts'
import { becomesTrue } from './faults/support.ts'
import { type Client, deviceBody, newApplication, newSerial, siteBody, type TestApplication } from './harness.ts'
import { codeOf, newGenerator, newPassword, newPerson, type Person, signIn, startedSecret } from './people.ts'

/** The rows that the measured operations use; they stay the same while the tables grow. */
export interface World {
  client: Client
  sql: postgres.Sql
  owner: TestApplication
  stranger: TestApplication
  /** A separate application, for operations that change an application as a whole. */
  spare: TestApplication
  device: string
  site: number
  rule: number
  priceChange: number
  event: number
  delivery: number
  importId: number
  actId: number
  callbackUrl: string
}

export async function makeWorld(client: Client, sql: postgres.Sql, callbackUrl: string): Promise<World> {
  const thirdPartyConfig = { operatorName: 'Test operator', callbackUrl }
  const owner = await newApplication(client, { thirdPartyConfig })
  const stranger = await newApplication(client)
  const spare = await newApplication(client, { thirdPartyConfig })
  const world = { client, owner }
  const device = await newDevice(world)
  const site = await newSite(world)
  await newPlaced(world, site)
  const rule = await newRule(world)
  const importId = await newImport(world)
  const priceChange = await newPriceChange(world, rule)
  const actId = await newAct(world)
  // The application's first event, older than all others, and a delivery of that event.
  const [first] = await sql<[{ id: number }]>`select min(id) as id from event where app_id = ${owner.appId}`
  await sql`
    insert into delivery (app_id, id, type, status, attempts, event_time, created_at, finished_at, attempt_log)
    values (${owner.appId}, ${first.id}, 'device.bound', 2, 1, now(), now(), now(), '[]') on conflict do nothing`
  const ids = { device, site, rule, priceChange, importId, actId, event: first.id, delivery: first.id }
  return { client, sql, owner, stranger, spare, callbackUrl, ...ids }
}

type Makers = Pick<World, 'client' | 'owner'>

async function made<Data>(answer: Promise<{ code: number; text: string; data: Data }>): Promise<Data> {
  const { code, text, data } = await answer
  if (code !== 0) throw new Error(text)
  return data
}

const newDevice = async ({ client, owner }: Makers) =>
  (await made(client.call(createDevice, deviceBody(owner.appId), owner))).deviceNo
const newSite = async ({ client, owner }: Makers) =>
  (await made(client.call(saveSite, siteBody(owner.appId), owner))).id
const terms = { ruleName: 'Occupancy', ruleType: 3, freeMinutes: 15, unitMinutes: 30, unitPrice: '2.00' }
/** A new device that stands at a site: a new one, so that no more devices stand at those that are read. */
const newPlaced = async (world: Makers, at?: number) => {
  const [deviceNo, site] = [await newDevice(world), at ?? (await newSite(world))]
  const { client, owner } = world
  await made(client.call(savePlacement, { appId: owner.appId, deviceNo, siteId: site, laneType: 1 }, owner))
  return deviceNo
}
const newRule = async ({ client, owner }: Makers) =>
  (await made(client.call(saveBillingRule, { appId: owner.appId, ...terms }, owner))).id

let minutes = 0
/** New terms of a rule, each at another moment. */
const newTerms = (rule: number) => ({
  effectiveTime: new Date(Math.floor(Date.now() / 1000) * 1000 + ++minutes * 60_000 + 86_400_000).toISOString(),
  billingRuleId: rule,
  freeMinutes: 5,
  unitMinutes: 30,
  unitPrice: '3.00',
})
/** A price change of an occupancy rule that waits. */
export const newPriceChange = async ({ client, owner }: Makers, rule: number) => {
  const input = { appId: owner.appId, ...newTerms(rule) }
  return (await made(client.call(schedulePriceChange, input, owner))).id as number
}

/** A price change of a new rule that has taken effect. */
async function appliedPriceChange(world: World): Promise<number> {
  const { client, owner, sql } = world
  const id = await newPriceChange(world, await newRule(world))
  await sql`update price_change set effective_at = now() where app_id = ${owner.appId} and id = ${id}`
  const isApplied = async () =>
    (await made(client.call(getPriceChange, { appId: owner.appId, id }, owner))).appliedTime !== null
  if (!(await becomesTrue(isApplied))) throw new Error('the price change is not written down')
  return id
}

const fileOf = (serials: readonly string[]) =>
  serials.map((deviceNo) => `${JSON.stringify({ ...deviceBody('x'), appId: undefined, deviceNo })}\n`).join('')

async function newImport({ client, owner }: Makers): Promise<number> {
  const input = { appId: owner.appId, kind: 'devices', file: fileOf([newSerial(), newSerial()]) }
  const { id } = await made(client.call(createImport, input, inNdjson(owner)))
  const isOver = async () => (await made(client.call(getImport, { appId: owner.appId, id }, owner))).status > 2
  if (!(await becomesTrue(isOver))) throw new Error('the import does not end')
  return id
}

const actOn = (deviceNo: string) => ({
  kind: 'devices',
  act: 'update',
  filter: { deviceNo },
  set: { tag: newSerial('tag') },
})

async function newAct({ client, owner }: Makers): Promise<number> {
  const { id } = await made(client.call(createAct, { appId: owner.appId, ...actOn('no-such-device') }, owner))
  const isOver = async () => (await made(client.call(getAct, { appId: owner.appId, id }, owner))).status > 2
  if (!(await becomesTrue(isOver))) throw new Error('the act does not end')
  return id
}

/**
 * Waits until all imports and acts have ended: the background worker's statements for them would be counted for the next
 * operation.
 */
async function allImportsOver({ sql }: World): Promise<void> {
  const isOver = async () => (await sql`select 1 from import where status in (1, 2)`).length === 0
  if (!(await becomesTrue(isOver))) throw new Error('an import does not end')
}

/** Creates a job with an endless lease, so that no worker starts it: an act, or null for an import. */
async function waitingJob({ sql, owner }: World, act: string | null): Promise<number> {
  const [row] = await sql<[{ id: number }]>`
    insert into import (app_id, kind, format, act, filter, began_after, is_dry_run, status, actor, lease_until)
    values (${owner.appId}, 'devices', 'csv', ${act}, '{}', 0, false, 1, 'operatorKey', 'infinity') returning id`
  return row.id
}

const newOperatorId = async ({ client }: Makers) => (await newPerson(client, 'viewer')).id

/** One call of an operation: its input, and the caller where that is not the owner. */
interface Call {
  input: unknown
  as?: { token?: string; headers?: Record<string, string> }
}

/** The reason why an operation may read more when tables have more rows, and the limit. */
interface Allowance {
  blocks: number
  because: string
}

export interface Measured {
  /** Creates the rows that one call needs; these statements are not measured. */
  call: (world: World) => Call | Promise<Call>
  allowed?: Allowance
  /**
   * Why the cost grows although it should not. The test fails once it no longer grows, so that this mark is removed.
   */
  isOpen?: string
}

const own = (members: (world: World) => object | Promise<object>): Measured => ({
  call: async (world) => ({ input: { appId: world.owner.appId, ...(await members(world)) } }),
})
const asOperator = (input: (world: World) => object | Promise<object>): Measured => ({
  call: async (world) => ({ input: await input(world), as: { token: world.client.operatorKey } }),
})
const none = () => ({})
/** The address of the service whose operations are measured: passkeys belong to it. */
export const measuredOrigin = 'https://forecourt.example'

async function newPasskey(client: Client, headers: { cookie: string }) {
  const { options, ticket } = await made(client.call(startPasskey, {}, { headers }))
  return { ticket, credential: new Authenticator(measuredOrigin).create(options), name: 'Laptop' }
}

/** As a person of their own, in a session. */
const asPerson = (
  input: (person: Person, client: Client, headers: { cookie: string }) => object | Promise<object>,
): Measured => ({
  call: async ({ client }) => {
    const person = await newPerson(client, 'viewer')
    const headers = await signIn(client, person)
    return { input: await input(person, client, headers), as: { headers } }
  },
})
/** A page with a total counts up to 10,000 rows, and so reads as many. */
const counting = (of: Measured, blocks = 2_500): Measured => ({
  ...of,
  allowed: { blocks, because: 'Its total counts up to 10,000 rows.' },
})
const searching = (of: Measured): Measured => ({
  ...of,
  allowed: { blocks: 5_000, because: 'It searches the devices of the application for a part of the serial number.' },
})
/** A filter that looks into another table finds more rows than a total counts. */
const joining = (of: Measured): Measured => ({
  ...of,
  allowed: { blocks: 6_000, because: `It finds up to ${limits.joinedDevicesFound} devices whose reports fit.` },
})
const sorting = (of: Measured, blocks = 6_000): Measured => ({
  ...of,
  allowed: { blocks, because: 'It reads all rows that it sorts, of one index or of the table.' },
})
const acrossAll = (of: Measured): Measured => ({
  ...of,
  allowed: { blocks: 5_000, because: 'It sorts the rows of the first application that it shows.' },
})
const ofEachApplication = (of: Measured): Measured => ({
  ...of,
  allowed: { blocks: 3_000, because: 'It, or the import’s worker, reads the newest event id of each application.' },
})
const walking = (of: Measured): Measured => ({
  ...of,
  allowed: { blocks: 5_000, because: `It looks at ${limits.searchRowsWalked} rows of each kind at most.` },
})
const inNdjson = ({ token }: TestApplication) => ({ token, headers: { 'content-type': 'application/x-ndjson' } })
const credentials = ({ spare }: World) => ({ client_id: spare.appId, client_secret: spare.appSecret })
const ofSpare = (more: object = {}) => asOperator(({ spare }) => ({ appId: spare.appId, ...more }))

/** Every operation, by its id; a missing operation fails the test. */
export const measured: Record<string, Measured> = {
  issueToken: { call: (world) => ({ input: { grant_type: 'client_credentials', ...credentials(world) }, as: {} }) },
  revokeToken: {
    call: async (world) => {
      const input = { grant_type: 'client_credentials', ...credentials(world) }
      const { accessToken } = await made(world.client.call(issueToken, input))
      return { input: { token: accessToken, ...credentials(world) }, as: {} }
    },
  },
  getAuthorizationServer: { call: () => ({ input: {}, as: {} }) },
  saveSite: { call: ({ owner }) => ({ input: siteBody(owner.appId) }) },
  saveSites: own(({ owner }) => ({ sites: [siteBody(owner.appId), siteBody(owner.appId)] })),
  updateSite: own(({ site }) => ({ id: site, siteName: newSerial('site') })),
  updateSites: own(async (world) => ({
    sites: [
      { id: world.site, siteName: newSerial('site') },
      { id: await newSite(world), siteName: newSerial('site') },
    ],
  })),
  deleteSite: own(async (world) => ({ id: await newSite(world) })),
  getSite: own(({ site }) => ({ id: site })),
  pageSites: counting(own(none), 12_000),
  getSitePrices: own(({ site }) => ({ id: site })),
  saveBillingRule: own(() => terms),
  updateBillingRule: own(({ rule }) => ({ id: rule, ruleName: newSerial('rule') })),
  deleteBillingRule: own(async (world) => ({ id: await newRule(world) })),
  getBillingRule: own(({ rule }) => ({ id: rule })),
  pageBillingRules: counting(own(none)),
  // A rule may have 32 changes that wait, so each call uses another rule.
  schedulePriceChange: own(async (world) => newTerms(await newRule(world))),
  cancelPriceChange: own(async (world) => ({
    id: await newPriceChange(world, await newRule(world)),
    reason: 'a mistake',
  })),
  undoPriceChange: own(async (world) => ({ id: await appliedPriceChange(world), reason: 'a mistake' })),
  getPriceChange: own(({ priceChange }) => ({ id: priceChange })),
  pagePriceChanges: counting(own(none)),
  saveThirdPartyConfig: own(({ callbackUrl }) => ({ operatorName: newSerial('Operator'), callbackUrl })),
  getThirdPartyConfig: own(none),
  rotateCallbackSecret: { call: ({ spare }) => ({ input: { appId: spare.appId }, as: spare }) },
  createDevice: { call: ({ owner }) => ({ input: deviceBody(owner.appId) }) },
  createDevices: own(({ owner }) => ({ devices: [deviceBody(owner.appId), deviceBody(owner.appId)] })),
  updateDevice: own(({ device }) => ({ deviceNo: device, tag: newSerial('tag') })),
  updateDevices: own(async (world) => ({
    devices: [
      { deviceNo: world.device, tag: newSerial('tag') },
      { deviceNo: await newDevice(world), tag: newSerial('tag') },
    ],
  })),
  getDevice: own(({ device }) => ({ deviceNo: device })),
  pageDevices: counting(own(none)),
  reportDeviceState: own(({ device }) => ({ deviceNo: device, statusRemark: newSerial('remark') })),
  reportDeviceStates: own(({ device }) => ({ reports: [{ deviceNo: device, statusRemark: newSerial('remark') }] })),
  getDeviceState: own(({ device }) => ({ deviceNo: device })),
  unbindDevice: own(async (world) => ({ deviceNo: await newDevice(world) })),
  unbindDevices: own(async (world) => ({ deviceNos: [await newDevice(world), await newDevice(world)] })),
  getDeviceHistory: own(({ device }) => ({ deviceNo: device })),
  forceUnbindDevice: asOperator(async (world) => ({ deviceNo: await newDevice(world), reason: 'lost' })),
  transferDevice: asOperator(async (world) => ({
    deviceNo: await newDevice(world),
    targetAppId: world.stranger.appId,
    reason: 'sold',
  })),
  transferDevices: asOperator(async (world) => ({
    deviceNos: [await newDevice(world), await newDevice(world)],
    targetAppId: world.stranger.appId,
    reason: 'sold',
  })),
  savePlacement: own(async (world) => ({
    deviceNo: await newDevice(world),
    siteId: await newSite(world),
    laneType: 1,
  })),
  savePlacements: own(async (world) => {
    const [siteId, ...deviceNos] = [await newSite(world), await newDevice(world), await newDevice(world)] as const
    return { placements: deviceNos.map((deviceNo) => ({ deviceNo, siteId, laneType: 1 })) }
  }),
  removePlacement: own(async (world) => ({ deviceNo: await newPlaced(world) })),
  removePlacements: own(async (world) => ({ deviceNos: [await newPlaced(world), await newPlaced(world)] })),
  getPlacement: own(async (world) => ({ deviceNo: await newPlaced(world) })),
  pagePlacements: counting(own(none)),
  pagePlacementHistory: own(({ site }) => ({ siteId: site })),
  summarizePlacements: own(({ site }) => ({ siteIds: site })),
  suggestPlacements: {
    ...own(({ site }) => ({ siteId: site })),
    allowed: { blocks: 5_000, because: 'It searches the devices of the application for those near the site.' },
  },
  pageEvents: counting(own(none)),
  getEvent: own(({ event }) => ({ id: event })),
  pageDeliveries: counting(own(none)),
  getDelivery: own(({ delivery }) => ({ id: delivery })),
  replayDeliveries: own(({ delivery }) => ({ id: delivery })),
  testDelivery: {
    call: async ({ client, callbackUrl }) => {
      // An application may send one test every 3 s, so each call uses another application.
      const app = await newApplication(client, { thirdPartyConfig: { operatorName: 'Test operator', callbackUrl } })
      return { input: { appId: app.appId }, as: app }
    },
  },
  getCallbackHealth: {
    ...own(none),
    allowed: { blocks: 4_000, because: `It looks at ${mostLookedAt} newest deliveries.` },
  },
  pageRefusals: counting(own(none)),
  createImport: ofEachApplication({
    // An application may run one import at a time, so each call uses another application.
    call: async ({ client }) => {
      const app = await newApplication(client)
      return {
        input: { appId: app.appId, kind: 'devices', dryRun: 'true', file: fileOf([newSerial()]) },
        as: inNdjson(app),
      }
    },
  }),
  getImport: own(async (world) => {
    await allImportsOver(world)
    return { id: world.importId }
  }),
  pageImports: counting(own(none)),
  cancelImport: own(async (world) => ({ id: await waitingJob(world, null) })),
  getImportResult: own(({ importId }) => ({ id: importId })),
  createAct: ofEachApplication({
    // An application may run one act at a time, so each call uses another application.
    call: async ({ client }) => {
      const app = await newApplication(client)
      const device = await newDevice({ client, owner: app })
      return { input: { appId: app.appId, ...actOn(device) }, as: app }
    },
  }),
  getAct: own(async (world) => {
    await allImportsOver(world)
    return { id: world.actId }
  }),
  pageActs: counting(own(none)),
  cancelAct: own(async (world) => ({ id: await waitingJob(world, 'unbind') })),
  getActResult: own(({ actId }) => ({ id: actId })),
  createExport: searching(own(({ device }) => ({ kind: 'devices', deviceNo: device }))),
  getTemplate: { call: () => ({ input: { kind: 'sites' } }) },
  getRegionTree: { call: () => ({ input: {} }) },
  getRegion: { call: () => ({ input: { code: '360000' } }) },
  createApplication: asOperator(() => ({ appName: 'test' })),
  updateApplication: ofSpare({ appName: 'renamed' }),
  takeApplicationOnline: ofSpare(),
  takeApplicationOffline: {
    call: async ({ client, spare }) => {
      await made(client.operate(takeApplicationOnline, { appId: spare.appId }))
      return { input: { appId: spare.appId }, as: { token: client.operatorKey } }
    },
  },
  freezeApplication: asOperator(async ({ client }) => ({ appId: await otherApplication(client), reason: 'unpaid' })),
  unfreezeApplication: asOperator(async ({ client }) => ({ appId: await otherApplication(client) })),
  rotateApplicationSecret: asOperator(async ({ client }) => ({ appId: await otherApplication(client) })),
  getApplication: own(none),
  pageApplications: counting(asOperator(none)),
  saveDeviceModel: asOperator(() => ({ serialPrefix: newSerial('COST'), modelName: 'Model' })),
  deleteDeviceModel: asOperator(async ({ client }) => {
    const serialPrefix = newSerial('COST')
    await made(client.operate(saveDeviceModel, { serialPrefix, modelName: 'Model' }))
    return { serialPrefix }
  }),
  pageDeviceModels: counting(asOperator(none)),
  importDeviceInventory: asOperator(() => ({ entries: [{ deviceNo: newSerial(), modelName: 'Model' }] })),
  pageDeviceInventory: counting(asOperator(none)),
  deleteDeviceInventory: asOperator(async ({ client }) => {
    const deviceNo = newSerial()
    await made(client.operate(importDeviceInventory, { entries: [{ deviceNo, modelName: 'Model' }] }))
    return { deviceNo }
  }),
  createSession: { call: ({ client }) => ({ input: { operatorKey: client.operatorKey }, as: {} }) },
  getSession: asOperator(none),
  confirmSession: asPerson(({ password }) => ({ password })),
  getSecondFactors: asPerson(none),
  startTotp: asPerson(none),
  saveTotp: asPerson(async (_, client, headers) => ({ code: codeOf(await startedSecret(client, headers)) })),
  deleteTotp: asPerson(async (_, client, headers) => {
    await newGenerator(client, headers)
    return {}
  }),
  getSignOn: { call: () => ({ input: {}, as: {} }) },
  startSignOn: { call: () => ({ input: { purpose: 'signIn' }, as: {} }) },
  finishSignOn: { call: () => ({ input: { state: 'x' }, as: {} }) },
  logOutByProvider: { call: () => ({ input: { logout_token: 'x' }, as: {} }) },
  unlinkSignOn: asPerson(none),
  startPasskey: asPerson(none),
  savePasskey: asPerson((_, client, headers) => newPasskey(client, headers)),
  deletePasskey: asPerson(async (_, client, headers) => {
    const { data } = await client.call(savePasskey, await newPasskey(client, headers), { headers })
    return { id: data.passkeys[0]?.id }
  }),
  startPasskeySession: { call: () => ({ input: {}, as: {} }) },
  renewRecoveryCodes: asPerson(async (_, client, headers) => {
    await newGenerator(client, headers)
    return {}
  }),
  resetSecondFactors: asOperator(async ({ client }) => {
    const person = await newPerson(client, 'viewer')
    await newGenerator(client, await signIn(client, person))
    return { id: person.id, reason: 'a lost phone' }
  }),
  getSettings: asOperator(none),
  pageSessions: counting(asOperator(none)),
  deleteSession: {
    call: async ({ client }) => ({
      input: {},
      as: { headers: await signIn(client, await newPerson(client, 'viewer')) },
    }),
  },
  createOperator: asOperator(() => ({ name: newSerial('cost'), role: 'viewer' })),
  updateOperator: asOperator(async (world) => ({ id: await newOperatorId(world), role: 'operator' })),
  deleteOperator: asOperator(async (world) => ({ id: await newOperatorId(world) })),
  resetOperator: asOperator(async (world) => ({ id: await newOperatorId(world) })),
  setUpOperator: {
    call: async ({ client }) => {
      const { setUpPath } = await made(client.operate(createOperator, { name: newSerial('cost'), role: 'viewer' }))
      return { input: { setUpToken: setUpPath?.split(/[#=]/).at(-1), password: newPassword() }, as: {} }
    },
  },
  changePassword: {
    call: async ({ client }) => {
      const person = await newPerson(client, 'viewer')
      const headers = await signIn(client, person)
      return { input: { password: person.password, newPassword: newPassword() }, as: { headers } }
    },
  },
  getOperator: asOperator(async (world) => ({ id: await newOperatorId(world) })),
  pageOperators: counting(asOperator(none)),
  createOperatorKey: asOperator(() => ({ name: newSerial('cost'), role: 'viewer' })),
  deleteOperatorKey: asOperator(async ({ client }) => {
    const { id } = await made(client.operate(createOperatorKey, { name: newSerial('cost'), role: 'viewer' }))
    return { id }
  }),
  handOverOperatorKey: asOperator(async (world) => {
    const { client } = world
    const { id } = await made(client.operate(createOperatorKey, { name: newSerial('cost'), role: 'viewer' }))
    return { id, operatorId: await newOperatorId(world) }
  }),
  pageOperatorKeys: counting(asOperator(none)),
  saveView: asPerson(() => ({ page: 'devices', name: 'Faulty', query: 'status=2' })),
  pageViews: asPerson(none),
  deleteView: asPerson(async (_, client, headers) => {
    const { id } = await made(client.call(saveView, { page: 'devices', name: 'Faulty' }, { headers }))
    return { id }
  }),
  getOverview: ofEachApplication(asOperator(none)),
  search: walking(asOperator(({ device }) => ({ text: device }))),
  pageAudit: counting(asOperator(none)),
  getHealth: { call: () => ({ input: {}, as: {} }) },
  getReadiness: { call: () => ({ input: {}, as: {} }) },
  getMetrics: asOperator(none),
  getOpenApi: { call: () => ({ input: {}, as: {} }) },
  getServiceDetail: asOperator(none),
}

async function otherApplication(client: Client): Promise<string> {
  return (await made(client.operate(createApplication, { appName: 'test' }))).appId
}

/**
 * Requests for which an operation runs other SQL than for its simplest request, named `operation: what is requested`.
 */
export const variants: Record<string, Measured> = {
  'updateOperator: that hands over': asOperator(async (world) => ({
    id: await newOperatorId(world),
    status: 2,
    handOverTo: await newOperatorId(world),
  })),
  'pageEvents: of one device': own(({ device }) => ({ deviceNo: device })),
  'pageEvents: of one site': own(({ site }) => ({ siteId: site })),
  'pageEvents: of one type': own(() => ({ type: 'site.created' })),
  'pageEvents: behind the first': counting(own(({ event }) => ({ afterId: event, pageSize: 1 }))),
  'getDevice: of any application': asOperator(({ device }) => ({ deviceNo: device })),
  'pageDevices: at a site': own(({ site }) => ({ siteId: site })),
  'getDeviceState: of several devices': own(({ device }) => ({ deviceNos: `${device},${device}x` })),
  'getDeviceState: of several devices of any application': asOperator(({ device }) => ({ deviceNos: device })),
  'pageDevices: that were silent': joining(own(() => ({ lastReportTo: '2020-01-01 00:00:00' }))),
  'pageDevices: that reported': {
    ...own(() => ({ lastReportFrom: '2020-01-01 00:00:00' })),
    allowed: { blocks: 90_000, because: `It looks up the reports of ${limits.joinedDevicesLookedAt} devices at most.` },
  },
  'pageDevices: that never reported': joining(own(() => ({ hasReported: 'false' }))),
  'pageDevices: over all applications': acrossAll(asOperator(none)),
  'pageDevices: sorted by time': counting(own(() => ({ sort: 'createTime', order: 'desc' }))),
  'pageDevices: of all applications, sorted by time': counting(
    asOperator(() => ({ sort: 'createTime', order: 'desc' })),
  ),
  'pageDevices: of all applications, sorted by serial': counting(asOperator(() => ({ sort: 'deviceNo' }))),
  'pageDevices: sorted by name': sorting(own(() => ({ sort: 'deviceName' }))),
  'pageSites: sorted by time': sorting(own(() => ({ sort: 'createTime', order: 'desc' }))),
  'pageSites: sorted by name': sorting(own(() => ({ sort: 'siteName' }))),
  'pageBillingRules: sorted by name': sorting(own(() => ({ sort: 'ruleName' }))),
  'pageApplications: sorted by name': sorting(asOperator(() => ({ sort: 'appName' }))),
  'pagePlacements: of several devices': own(({ device }) => ({ deviceNos: `${device},${device}x` })),
  'pageSites: by a billing rule': own(({ rule }) => ({ billingRuleId: rule })),
  'getPriceChange: of any application': asOperator(({ priceChange }) => ({ id: priceChange })),
  'pagePriceChanges: of one site': own(({ site }) => ({ siteId: site })),
  'pageAudit: of one application': counting(asOperator(({ spare }) => ({ appId: spare.appId }))),
  'pageDeliveries: that wait': own(() => ({ status: 1 })),
  'pageDeliveries: over all applications': acrossAll(asOperator(none)),
  'pageSites: over all applications': counting(asOperator(none)),
  'search: of what is nowhere': walking(asOperator(() => ({ text: 'no-such-thing' }))),
  'search: by a developer': walking({
    call: async ({ client, owner, device }) => ({
      input: { text: device },
      as: { headers: await signIn(client, await newPerson(client, 'developer', [owner.appId])) },
    }),
  }),
  'createDevice: with a key': { call: ({ owner }) => keyed(owner, deviceBody(owner.appId)) },
  'saveSite: with a key': { call: ({ owner }) => keyed(owner, siteBody(owner.appId)) },
  'unbindDevice: with a key': { call: async (world) => keyed(world.owner, { deviceNo: await newDevice(world) }) },
  'reportDeviceState: that changes nothing': own(({ device }) => ({ deviceNo: device })),
  'createDevice: of a serial that is held': own(({ owner, device }) => deviceBody(owner.appId, { deviceNo: device })),
}

const keyed = ({ token }: TestApplication, input: object): Call => ({
  input,
  as: { token, headers: { 'idempotency-key': newSerial('key') } },
})

/** Codes of requests that are refused on purpose: the cost of finding the reason is measured. */
const refusedOnPurpose = [20_017, 10_060]

/** Sends one call and throws if it fails, except with a code that is expected. */
export async function send(world: World, operation: Operation, { input, as = world.owner }: Call): Promise<void> {
  const { status, code, text } = await world.client.call(operation, input, as)
  if (status >= 400 && !refusedOnPurpose.includes(code)) throw new Error(`${operation.id}: ${text}`)
}

/** The input of each operation for the owner and its records; `open` means that the operation needs no token. */
export const inputsOf = ({
  owner,
  stranger,
  rule,
  device,
  site,
  priceChange,
}: Pick<World, 'owner' | 'stranger' | 'rule' | 'device' | 'site' | 'priceChange'>): Record<string, unknown> => ({
  issueToken: 'open',
  revokeToken: 'open',
  getAuthorizationServer: 'open',
  saveSite: siteBody(owner.appId),
  saveSites: { appId: owner.appId, sites: [siteBody(owner.appId)] },
  updateSite: { appId: owner.appId, id: site, siteName: 'taken over' },
  updateSites: { appId: owner.appId, sites: [{ id: site, siteName: 'taken over' }] },
  deleteSite: { appId: owner.appId, id: site },
  getSite: { appId: owner.appId, id: site },
  pageSites: { appId: owner.appId },
  getSitePrices: { appId: owner.appId, id: site },
  saveBillingRule: { appId: owner.appId, ...terms },
  updateBillingRule: { appId: owner.appId, id: rule, ruleName: 'taken over' },
  deleteBillingRule: { appId: owner.appId, id: rule },
  getBillingRule: { appId: owner.appId, id: rule },
  pageBillingRules: { appId: owner.appId },
  schedulePriceChange: { appId: owner.appId, ...newTerms(rule) },
  cancelPriceChange: { appId: owner.appId, id: priceChange, reason: 'taken over' },
  undoPriceChange: { appId: owner.appId, id: priceChange, reason: 'taken over' },
  getPriceChange: { appId: owner.appId, id: priceChange },
  pagePriceChanges: { appId: owner.appId },
  saveThirdPartyConfig: { appId: owner.appId, operatorName: 'Test operator' },
  getThirdPartyConfig: { appId: owner.appId },
  rotateCallbackSecret: { appId: owner.appId },
  createDevice: deviceBody(owner.appId),
  createDevices: { appId: owner.appId, devices: [deviceBody(owner.appId)] },
  updateDevice: { appId: owner.appId, deviceNo: device, deviceName: 'taken over' },
  updateDevices: { appId: owner.appId, devices: [{ deviceNo: device, deviceName: 'taken over' }] },
  getDevice: { appId: owner.appId, deviceNo: device },
  reportDeviceState: { appId: owner.appId, deviceNo: device, status: 2 },
  reportDeviceStates: { appId: owner.appId, reports: [{ deviceNo: device, status: 2 }] },
  getDeviceState: { appId: owner.appId, deviceNo: device },
  unbindDevice: { appId: owner.appId, deviceNo: device },
  unbindDevices: { appId: owner.appId, deviceNos: [device] },
  getDeviceHistory: { appId: owner.appId, deviceNo: device },
  forceUnbindDevice: { deviceNo: device, reason: 'taken over' },
  transferDevice: { deviceNo: device, targetAppId: stranger.appId, reason: 'taken over' },
  transferDevices: { deviceNos: [device], targetAppId: stranger.appId, reason: 'taken over' },
  savePlacement: { appId: owner.appId, deviceNo: device, siteId: site, laneType: 1 },
  savePlacements: { appId: owner.appId, placements: [{ deviceNo: device, siteId: site, laneType: 1 }] },
  removePlacement: { appId: owner.appId, deviceNo: device },
  removePlacements: { appId: owner.appId, deviceNos: [device] },
  getPlacement: { appId: owner.appId, deviceNo: device },
  pagePlacements: { appId: owner.appId },
  pagePlacementHistory: { appId: owner.appId, deviceNo: device },
  summarizePlacements: { appId: owner.appId, siteIds: site },
  suggestPlacements: { appId: owner.appId, siteId: site },
  pageEvents: { appId: owner.appId },
  getEvent: { appId: owner.appId, id: 1 },
  pageDeliveries: { appId: owner.appId },
  getDelivery: { appId: owner.appId, id: 1 },
  replayDeliveries: { appId: owner.appId, id: 1 },
  getCallbackHealth: { appId: owner.appId },
  testDelivery: { appId: owner.appId },
  pageRefusals: { appId: owner.appId },
  createImport: { appId: owner.appId, kind: 'devices' },
  getImport: { appId: owner.appId, id: 1 },
  pageImports: { appId: owner.appId },
  cancelImport: { appId: owner.appId, id: 1 },
  getImportResult: { appId: owner.appId, id: 1 },
  createAct: { appId: owner.appId, kind: 'devices', act: 'unbind', filter: { deviceNo: device } },
  getAct: { appId: owner.appId, id: 1 },
  pageActs: { appId: owner.appId },
  cancelAct: { appId: owner.appId, id: 1 },
  getActResult: { appId: owner.appId, id: 1 },
  createExport: { appId: owner.appId, kind: 'devices' },
  getTemplate: { kind: 'sites' },
  pageDevices: { appId: owner.appId },
  getRegionTree: { depth: 1 },
  getRegion: { code: '360000' },
  createApplication: { appName: 'test' },
  updateApplication: { appId: owner.appId, appName: 'taken over' },
  takeApplicationOnline: { appId: owner.appId },
  takeApplicationOffline: { appId: owner.appId },
  freezeApplication: { appId: owner.appId, reason: 'taken over' },
  unfreezeApplication: { appId: owner.appId },
  rotateApplicationSecret: { appId: owner.appId },
  getApplication: { appId: owner.appId },
  pageApplications: {},
  saveDeviceModel: { serialPrefix: newSerial('ISO'), modelName: 'taken over' },
  deleteDeviceModel: { serialPrefix: newSerial('ISO') },
  pageDeviceModels: {},
  importDeviceInventory: { entries: [{ deviceNo: newSerial(), modelName: 'taken over' }] },
  pageDeviceInventory: {},
  deleteDeviceInventory: { deviceNo: newSerial() },
  createSession: 'open',
  getSession: {},
  confirmSession: { password: 'x' },
  getSecondFactors: {},
  startTotp: {},
  saveTotp: { code: '000000' },
  deleteTotp: {},
  getSignOn: 'open',
  startSignOn: 'open',
  finishSignOn: 'open',
  logOutByProvider: 'open',
  unlinkSignOn: {},
  startPasskey: {},
  savePasskey: { ticket: 'x', credential: {}, name: 'x' },
  deletePasskey: { id: 1 },
  startPasskeySession: 'open',
  renewRecoveryCodes: {},
  resetSecondFactors: { id: 1, reason: 'taken over' },
  getSettings: {},
  pageSessions: {},
  deleteSession: { id: 1 },
  createOperator: { name: newSerial('iso'), role: 'admin' },
  updateOperator: { id: 1, role: 'viewer' },
  deleteOperator: { id: 1 },
  resetOperator: { id: 1 },
  setUpOperator: 'open',
  changePassword: { password: 'x', newPassword: 'taken over by another' },
  getOperator: { id: 1 },
  pageOperators: {},
  createOperatorKey: { name: newSerial('iso'), role: 'admin' },
  deleteOperatorKey: { id: 1 },
  handOverOperatorKey: { id: 1, operatorId: 1 },
  pageOperatorKeys: {},
  saveView: { page: 'devices', name: 'Faulty' },
  pageViews: {},
  deleteView: { id: 1 },
  getOverview: {},
  search: { text: device },
  getServiceDetail: {},
  pageAudit: {},
  getHealth: 'open',
  getReadiness: 'open',
  getMetrics: {},
  getOpenApi: 'open',
})

/** The roles that may call each operation: a(dmin), o(perator), v(iewer), d(eveloper). */
export const admitted: Record<string, string> = {
  saveSite: 'aod',
  saveSites: 'aod',
  updateSite: 'aod',
  updateSites: 'aod',
  deleteSite: 'aod',
  getSite: 'aovd',
  pageSites: 'aovd',
  getSitePrices: 'aovd',
  saveBillingRule: 'aod',
  updateBillingRule: 'aod',
  deleteBillingRule: 'aod',
  getBillingRule: 'aovd',
  pageBillingRules: 'aovd',
  schedulePriceChange: 'aod',
  cancelPriceChange: 'aod',
  undoPriceChange: 'aod',
  getPriceChange: 'aovd',
  pagePriceChanges: 'aovd',
  saveThirdPartyConfig: 'aod',
  getThirdPartyConfig: 'aovd',
  rotateCallbackSecret: 'aod',
  createDevice: 'aod',
  createDevices: 'aod',
  updateDevice: 'aod',
  updateDevices: 'aod',
  getDevice: 'aovd',
  reportDeviceState: 'aod',
  reportDeviceStates: 'aod',
  getDeviceState: 'aovd',
  unbindDevice: 'aod',
  unbindDevices: 'aod',
  getDeviceHistory: 'aovd',
  forceUnbindDevice: 'ao',
  transferDevice: 'ao',
  transferDevices: 'ao',
  savePlacement: 'aod',
  savePlacements: 'aod',
  removePlacement: 'aod',
  removePlacements: 'aod',
  getPlacement: 'aovd',
  pagePlacements: 'aovd',
  pagePlacementHistory: 'aovd',
  summarizePlacements: 'aovd',
  suggestPlacements: 'aovd',
  pageEvents: 'aovd',
  getEvent: 'aovd',
  pageDeliveries: 'aovd',
  getDelivery: 'aovd',
  replayDeliveries: 'aod',
  getCallbackHealth: 'aovd',
  testDelivery: 'aod',
  pageRefusals: 'aovd',
  pageDevices: 'aovd',
  createImport: 'aod',
  getImport: 'aovd',
  pageImports: 'aovd',
  cancelImport: 'aod',
  getImportResult: 'aovd',
  createAct: 'aod',
  getAct: 'aovd',
  pageActs: 'aovd',
  cancelAct: 'aod',
  getActResult: 'aovd',
  createExport: 'aovd',
  getTemplate: 'aovd',
  getRegionTree: 'aovd',
  getRegion: 'aovd',
  createApplication: 'ao',
  updateApplication: 'ao',
  takeApplicationOnline: 'ao',
  takeApplicationOffline: 'ao',
  freezeApplication: 'ao',
  unfreezeApplication: 'ao',
  rotateApplicationSecret: 'aod',
  getApplication: 'aovd',
  pageApplications: 'aovd',
  saveDeviceModel: 'ao',
  deleteDeviceModel: 'ao',
  pageDeviceModels: 'aov',
  importDeviceInventory: 'ao',
  pageDeviceInventory: 'aov',
  deleteDeviceInventory: 'ao',
  getSession: 'aovd',
  confirmSession: 'aovd',
  getSecondFactors: 'aovd',
  startTotp: 'aovd',
  saveTotp: 'aovd',
  deleteTotp: 'aovd',
  unlinkSignOn: 'aovd',
  startPasskey: 'aovd',
  savePasskey: 'aovd',
  deletePasskey: 'aovd',
  renewRecoveryCodes: 'aovd',
  resetSecondFactors: 'a',
  getSettings: 'aovd',
  pageSessions: 'aovd',
  deleteSession: 'aovd',
  createOperator: 'a',
  updateOperator: 'a',
  deleteOperator: 'a',
  resetOperator: 'a',
  changePassword: 'aovd',
  getOperator: 'a',
  pageOperators: 'a',
  createOperatorKey: 'a',
  deleteOperatorKey: 'a',
  handOverOperatorKey: 'a',
  pageOperatorKeys: 'a',
  saveView: 'aovd',
  pageViews: 'aovd',
  deleteView: 'aovd',
  getOverview: 'aov',
  search: 'aovd',
  getServiceDetail: 'ao',
  pageAudit: 'aov',
  getMetrics: 'aov',
}
