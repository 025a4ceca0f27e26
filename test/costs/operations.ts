import type { Methods } from '../../sdk/src/api.ts'
import { mostLookedAt } from '../../src/deliveries/health/contract.ts'
import { limits } from '../../src/vocabulary/limits.ts'
import { codeOf, newGenerator, newPassword, newPerson, signIn, startedSecret } from '../kit/people.ts'
import { deviceBody, newApplication, newSerial, siteBody, type TestApplication } from '../kit/records.ts'
import {
  acrossAll,
  asColleague,
  asOperator,
  asPerson,
  type Call,
  counting,
  joining,
  type Measured,
  none,
  ofEachApplication,
  ofFew,
  own,
  searching,
  sorting,
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
const ofSpare = (more: object = {}) => asOperator(({ spare }) => ({ appId: spare.appId, ...more }))

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
  updateApplication: ofSpare({ appName: 'renamed' }),
  takeApplicationOnline: ofSpare(),
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
  updateOperator: asOperator(async (world) => ({ id: await newOperatorId(world), role: 'operator' })),
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

/** As a developer of two applications that have few rows. */
const ofDeveloper: Measured = {
  call: async ({ client, stranger, spare }) => {
    const developer = await newPerson(client, 'developer', [stranger.appId, spare.appId])
    return { input: {}, as: { headers: await signIn(client, developer) } }
  },
}

/**
 * Requests for which an operation runs other SQL than for its simplest request, named `operation: what is requested`.
 */
export const variants: Record<string, Measured> = {
  'streamEvents: from the beginning': own(() => ({ afterId: 0 })),
  'pageEvents: of one device': own(({ device }) => ({ deviceNo: device })),
  'pageEvents: of one site': own(({ site }) => ({ siteId: site })),
  'pageEvents: of one type': own(() => ({ type: 'site.created' })),
  'pageEvents: behind the first': counting(own(({ event }) => ({ afterId: event, pageSize: 1 }))),
  'getDevice: of any application': asOperator(({ device }) => ({ deviceNo: device })),
  'pageDevices: Has a site': own(({ site }) => ({ siteId: site })),
  'getDeviceState: of several devices': own(({ device }) => ({ deviceNos: `${device},${device}x` })),
  'getDeviceState: of several devices of any application': asOperator(({ device }) => ({ deviceNos: device })),
  'pageDevices: that were silent': joining(own(() => ({ lastReportTo: '2020-01-01 00:00:00' }))),
  'pageDevices: that reported': {
    ...own(() => ({ lastReportFrom: '2020-01-01 00:00:00' })),
    allowed: { blocks: 90_000, because: `It looks up the reports of ${limits.joinedDevicesLookedAt} devices at most.` },
  },
  'pageDevices: that Never reported': joining(own(() => ({ hasReported: 'false' }))),
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
  'pageDevices: of few, by states': ofFew({ status: 2, onlineStatus: 1, runStatus: 2 }),
  'pageDevices: of few, by a part of the serial': ofFew({ deviceNo: '7a7' }),
  'pageDevices: of few, by a part of the name': ofFew({ deviceName: 'gate 77' }),
  'pageDevices: of few, by a tag': ofFew({ tag: 'south' }),
  'pageDevices: of few, by a division': ofFew({ provinceCode: '360000', cityCode: '360100', districtCode: 'none' }),
  'pageDevices: of few, by a time': ofFew({ timeFrom: '2026-01-01 00:00:00', timeTo: '2026-01-02 00:00:00' }),
  'pageDevices: of few, by a box': ofFew({ bbox: '10,10,12,12' }),
  'pageDevices: of few, by a report': ofFew({ hasReported: 'true', modelName: 'model 7' }),
  'pageDevices: of few, sorted by model': ofFew({ sort: 'modelName' }),
  'pageDevices: on a later page': counting(
    own(() => ({ pageNo: 50, pageSize: 20 })),
    4_500,
  ),
  'pageDevices: of two applications': ofDeveloper,
  'pageSites: of few, by parts of names': ofFew({ siteName: 'site 77', contacts: 'nobody' }),
  'pageSites: of few, by a time': ofFew({ timeFrom: '2026-01-01 00:00:00', timeTo: '2026-01-02 00:00:00' }),
  'pageSites: of few, by a box': ofFew({ bbox: '30,30,31,31' }),
  'pageSites: of few, in a division': ofFew({ provinceCode: '360000', cityCode: '360100', districtCode: '360102' }),
  'pageSites: of two applications': ofDeveloper,
  'pageSites: by a rule that none names': own(() => ({ billingRuleId: 9_999_999 })),
  'pagePlacements: of several devices': own(({ device }) => ({ deviceNos: `${device},${device}x` })),
  'pageSites: by a billing rule': own(({ rule }) => ({ billingRuleId: rule })),
  'getPriceChange: of any application': asOperator(({ priceChange }) => ({ id: priceChange })),
  'pagePriceChanges: of one site': own(({ site }) => ({ siteId: site })),
  'pageAudit: of one application': counting(asOperator(({ spare }) => ({ appId: spare.appId }))),
  'updateOperator: that hands over': asOperator(async (world) => ({
    id: await newOperatorId(world),
    status: 2,
    handOverTo: await newOperatorId(world),
  })),
  'pageDeliveries: that wait': own(() => ({ status: 1 })),
  'pageDeliveries: that are not delivered': own(() => ({ isDelivered: 'false' })),
  'pageDeliveries: over all applications': acrossAll(asOperator(none)),
  'pageRefusals: of all applications, by time': counting(asOperator(() => ({ sort: 'time', order: 'desc' }))),
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
