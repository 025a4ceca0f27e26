import type { Methods } from '../../sdk/src/api.ts'
import { mostLookedAt } from '../../src/deliveries/health/contract.ts'
import { operations } from '../../src/reference/operations.ts'
import type { Operation } from '../../src/vocabulary/operation.ts'
import { codeOf, newGenerator, newPassword, newPerson, signIn, startedSecret } from '../kit/people.ts'
import { deviceBody, newApplication, newSerial, siteBody } from '../kit/records.ts'
import {
  asColleague,
  asOperator,
  asPerson,
  counting,
  type Measured,
  none,
  ofEachApplication,
  own,
  searching,
  walking,
} from './calls.ts'
import {
  actOn,
  allImportsOver,
  appliedPriceChange,
  fileOf,
  inNdjson,
  made,
  newDevice,
  newOperatorId,
  newPasskey,
  newPlaced,
  newPriceChange,
  newRule,
  newSite,
  newTerms,
  otherApplication,
  terms,
  type World,
  waitingJob,
} from './world.ts'

const credentials = ({ spare }: World) => ({ client_id: spare.appId, client_secret: spare.appSecret })

export const measuredOf = (id: string) => measured[id as keyof Methods]

/** Every operation, by its id: one that is missing does not compile. */
export const measured: Record<keyof Methods, Measured> = {
  issueToken: { call: (world) => ({ input: { grant_type: 'client_credentials', ...credentials(world) }, as: {} }) },
  revokeToken: {
    call: async (world) => {
      const input = { grant_type: 'client_credentials', ...credentials(world) }
      const { accessToken } = await made(world.client.call('issueToken', input))
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
  streamEvents: own(none),
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
    allowed: { blocks: 4_000, because: `It looks at ${mostLookedAt} latest deliveries.` },
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
  saveRegion: asOperator(() => ({ code: '360199', name: 'Region' })),
  deleteRegion: asOperator(async ({ client }) => {
    await made(client.operate('saveRegion', { code: '360198', name: 'Region' }))
    return { code: '360198' }
  }),
  pageRegions: counting(asOperator(none)),
  createApplication: asOperator(() => ({ appName: 'test' })),
  updateApplication: asOperator(({ spare }) => ({ appId: spare.appId, appName: newSerial('renamed') })),
  takeApplicationOnline: asOperator(({ spare }) => ({ appId: spare.appId })),
  takeApplicationOffline: {
    call: async ({ client, spare }) => {
      await made(client.operate('takeApplicationOnline', { appId: spare.appId }))
      return { input: { appId: spare.appId }, as: { token: client.operatorKey } }
    },
  },
  freezeApplication: asOperator(async ({ client }) => ({ appId: await otherApplication(client), reason: 'unpaid' })),
  unfreezeApplication: asOperator(async ({ client }) => ({ appId: await otherApplication(client) })),
  rotateApplicationSecret: asOperator(async ({ client }) => ({ appId: await otherApplication(client) })),
  endPreviousApplicationSecret: asOperator(async ({ client }) => {
    const appId = await otherApplication(client)
    await made(client.operate('rotateApplicationSecret', { appId, overlapSeconds: 600 }))
    return { appId }
  }),
  getApplication: own(none),
  pageApplications: counting(asOperator(none)),
  saveDeviceModel: asOperator(() => ({ serialPrefix: newSerial('COST'), modelName: 'Model' })),
  deleteDeviceModel: asOperator(async ({ client }) => {
    const serialPrefix = newSerial('COST')
    await made(client.operate('saveDeviceModel', { serialPrefix, modelName: 'Model' }))
    return { serialPrefix }
  }),
  pageDeviceModels: counting(asOperator(none)),
  importDeviceInventory: asOperator(() => ({ entries: [{ deviceNo: newSerial(), modelName: 'Model' }] })),
  pageDeviceInventory: counting(asOperator(none)),
  deleteDeviceInventory: asOperator(async ({ client }) => {
    const deviceNo = newSerial()
    await made(client.operate('importDeviceInventory', { entries: [{ deviceNo, modelName: 'Model' }] }))
    return { deviceNo }
  }),
  createSession: { call: ({ client }) => ({ input: { operatorKey: client.operatorKey }, as: {} }) },
  getSession: asOperator(none),
  confirmSession: asColleague(({ password }) => ({ password })),
  getSecondFactors: asColleague(none),
  startTotp: asColleague(none),
  saveTotp: asPerson(async (_, client, headers) => ({ code: codeOf(await startedSecret(client, headers)) })),
  deleteTotp: asPerson(async (_, client, headers) => {
    await newGenerator(client, headers)
    return {}
  }),
  getSignOn: { call: () => ({ input: {}, as: {} }) },
  startSignOn: { call: () => ({ input: { purpose: 'signIn' }, as: {} }) },
  finishSignOn: { call: () => ({ input: { state: 'x' }, as: {} }) },
  logOutByProvider: { call: () => ({ input: { logout_token: 'x' }, as: {} }) },
  unlinkSignOn: asColleague(none),
  completeSignOn: asColleague(none),
  startPasskey: asColleague(none),
  savePasskey: asPerson((_, client, headers) => newPasskey(client, headers)),
  deletePasskey: asPerson(async (_, client, headers) => {
    const { data } = await client.call('savePasskey', await newPasskey(client, headers), { headers })
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
  updateOperator: asOperator(async (world) => ({
    id: await newOperatorId(world),
    name: newSerial('cost'),
    role: 'operator',
  })),
  deleteOperator: asOperator(async (world) => ({ id: await newOperatorId(world) })),
  resetOperator: asOperator(async (world) => ({ id: await newOperatorId(world) })),
  setUpOperator: {
    call: async ({ client }) => {
      const { setUpPath } = await made(client.operate('createOperator', { name: newSerial('cost'), role: 'viewer' }))
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
    const { id } = await made(client.operate('createOperatorKey', { name: newSerial('cost'), role: 'viewer' }))
    return { id }
  }),
  handOverOperatorKey: asOperator(async (world) => {
    const { client } = world
    const { id } = await made(client.operate('createOperatorKey', { name: newSerial('cost'), role: 'viewer' }))
    return { id, operatorId: await newOperatorId(world) }
  }),
  pageOperatorKeys: counting(asOperator(none)),
  pageOwnOperatorKeys: asColleague(none),
  saveView: asPerson(() => ({ page: 'devices', name: 'Faulty', query: 'status=2' })),
  pageViews: asColleague(none),
  deleteView: asPerson(async (_, client, headers) => {
    const { id } = await made(client.call('saveView', { page: 'devices', name: 'Faulty' }, { headers }))
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

type Growth = Partial<Record<string, number>>

const nothing: Growth = {}
const event: Growth = { event: 1 }
const device: Growth = { device: 1, device_binding: 1, event: 1 }
const unbound: Growth = { past_binding: 1, event: 1 }
const moved: Growth = { past_binding: 1, event: 2 }
const twice = (growth: Growth): Growth =>
  Object.fromEntries(Object.entries(growth).map(([table, rows = 0]) => [table, 2 * rows]))

/** The rows that one call may leave behind, by table, if not none of a read and one event of a write. */
const leaves: Partial<Record<keyof Methods, Growth>> = {
  // Bounded by the number of an application’s living tokens.
  issueToken: nothing,
  revokeToken: nothing,
  saveSite: { site: 1, event: 1 },
  saveSites: { site: 2, event: 2 },
  updateSites: twice(event),
  saveBillingRule: { billing_rule: 1, rule_terms: 1, event: 1 },
  deleteBillingRule: { event: 1, rule_terms: 1 },
  schedulePriceChange: { price_change: 1, rule_terms: 1, event: 1 },
  undoPriceChange: { price_change: 1, rule_terms: 1, event: 3 },
  createDevice: device,
  createDevices: twice(device),
  updateDevices: twice(event),
  reportDeviceState: { state_change: 1, device_presence: 1 },
  reportDeviceStates: { state_change: 1, device_presence: 1 },
  unbindDevice: unbound,
  unbindDevices: twice(unbound),
  forceUnbindDevice: unbound,
  transferDevice: moved,
  transferDevices: twice(moved),
  savePlacement: { placement: 1, event: 1 },
  savePlacements: { placement: 2, event: 2 },
  removePlacements: twice(event),
  // A dry run: its job and its result stay for a day, those of ten at most.
  createImport: { import: 1, import_result: 1 },
  createAct: { import: 1, import_result: 1, event: 2 },
  createApplication: { application: 1, application_lock: 1, event_head: 1, event: 1 },
  saveDeviceModel: { device_model: 1, event: 1 },
  importDeviceInventory: { device_inventory: 1, event: 1 },
  startPasskeySession: nothing,
  confirmSession: nothing,
  startSignOn: nothing,
  logOutByProvider: nothing,
  unlinkSignOn: nothing,
  startTotp: { operator_totp_draft: 1 },
  saveTotp: { operator_totp: 1, operator_recovery_code: 10, event: 1 },
  startPasskey: nothing,
  savePasskey: { operator_passkey: 1, operator_recovery_code: 10, used_ticket: 1, event: 1 },
  createOperator: { operator: 1, operator_setup: 1, event: 1 },
  resetOperator: { operator_setup: 1, event: 1 },
  setUpOperator: twice(event),
  createOperatorKey: { operator_key: 1, event: 1 },
  completeSignOn: { used_ticket: 1, event: 1 },
  saveRegion: { region: 1, event: 1 },
  saveView: { saved_view: 1 },
  deleteView: nothing,
}

export function leftBy({ id, method }: Operation): Growth {
  return leaves[id as keyof Methods] ?? (method === 'GET' ? nothing : event)
}

/** Whether an application may call the operation, or it names one. */
const concernsOne = ({ callers, body, query }: Operation) =>
  callers.includes('application') || Object.hasOwn((body ?? query)?.properties ?? {}, 'appId')

/** Inputs of all operations that concern an application, by their IDs, without their files. */
export async function inputsOf(world: World): Promise<Record<string, Record<string, unknown>>> {
  const inputs: Record<string, Record<string, unknown>> = {}
  for (const operation of operations.filter(concernsOne)) {
    const { input } = await measuredOf(operation.id).call(world)
    const { file: _, ...members } = input as Record<string, unknown>
    inputs[operation.id] = members
  }
  return inputs
}
