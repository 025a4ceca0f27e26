import { describe, expect, test } from 'bun:test'
import type { TObject, TSchema } from 'typebox'
import { createApplication } from '../src/applications/contract.ts'
import { revokeToken } from '../src/applications/tokens/contract.ts'
import { deleteBillingRule, getBillingRule, saveBillingRule, updateBillingRule } from '../src/billing-rules/contract.ts'
import { createDevice, getDevice, updateDevice } from '../src/devices/contract.ts'
import { getDeviceHistory, unbindDevice } from '../src/devices/ownership/contract.ts'
import { getDeviceState, reportDeviceState } from '../src/devices/state/contract.ts'
import { operations } from '../src/reference/operations.ts'
import { deleteSite, getSite, saveSite, updateSite } from '../src/sites/contract.ts'
import type { Operation } from '../src/vocabulary/operation.ts'
import { everyRole } from '../src/vocabulary/roles.ts'
import {
  type Client,
  deviceBody,
  newApplication,
  newSerial,
  siteBody,
  type TestApplication,
  target,
} from './harness.ts'
import { newPerson, signIn } from './people.ts'

// Generated from the operations list: an operation without a line here fails the test, so none can be forgotten.

const client = await target()
const owner = await newApplication(client)
const stranger = await newApplication(client)
const rule = await newRule(client, owner)
const device = await newDevice(client, owner)
const site = await newSite(client, owner)

/** What each operation takes when it acts for the owner. */
const inputs: Record<string, unknown> = {
  issueToken: 'open',
  revokeToken: 'open',
  getAuthorizationServer: 'open',
  saveSite: siteBody(owner.appId),
  saveSites: { appId: owner.appId, sites: [siteBody(owner.appId)] },
  updateSite: { appId: owner.appId, id: site, siteName: 'taken over' },
  deleteSite: { appId: owner.appId, id: site },
  getSite: { appId: owner.appId, id: site },
  pageSites: { appId: owner.appId },
  saveBillingRule: { appId: owner.appId, ...occupancyTerms() },
  updateBillingRule: { appId: owner.appId, id: rule, ruleName: 'taken over' },
  deleteBillingRule: { appId: owner.appId, id: rule },
  getBillingRule: { appId: owner.appId, id: rule },
  pageBillingRules: { appId: owner.appId },
  saveThirdPartyConfig: { appId: owner.appId, operatorName: 'Test operator' },
  getThirdPartyConfig: { appId: owner.appId },
  rotateCallbackSecret: { appId: owner.appId },
  createDevice: deviceBody(owner.appId),
  createDevices: { appId: owner.appId, devices: [deviceBody(owner.appId)] },
  updateDevice: { appId: owner.appId, deviceNo: device, deviceName: 'taken over' },
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
  pageEvents: { appId: owner.appId },
  getEvent: { appId: owner.appId, id: 1 },
  pageDeliveries: { appId: owner.appId },
  getDelivery: { appId: owner.appId, id: 1 },
  replayDeliveries: { appId: owner.appId, id: 1 },
  testDelivery: { appId: owner.appId },
  pageRefusals: { appId: owner.appId },
  createImport: { appId: owner.appId, kind: 'devices' },
  getImport: { appId: owner.appId, id: 1 },
  pageImports: { appId: owner.appId },
  cancelImport: { appId: owner.appId, id: 1 },
  getImportResult: { appId: owner.appId, id: 1 },
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
  getOverview: {},
  pageAudit: {},
  getHealth: 'open',
  getReadiness: 'open',
  getMetrics: {},
  getOpenApi: 'open',
}

/** The roles that may call each operation: a(dmin), o(perator), v(iewer), d(eveloper). */
const admitted: Record<string, string> = {
  saveSite: 'aod',
  saveSites: 'aod',
  updateSite: 'aod',
  deleteSite: 'aod',
  getSite: 'aovd',
  pageSites: 'aovd',
  saveBillingRule: 'aod',
  updateBillingRule: 'aod',
  deleteBillingRule: 'aod',
  getBillingRule: 'aovd',
  pageBillingRules: 'aovd',
  saveThirdPartyConfig: 'aod',
  getThirdPartyConfig: 'aovd',
  rotateCallbackSecret: 'aod',
  createDevice: 'aod',
  createDevices: 'aod',
  updateDevice: 'aod',
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
  pageEvents: 'aovd',
  getEvent: 'aovd',
  pageDeliveries: 'aovd',
  getDelivery: 'aovd',
  replayDeliveries: 'aod',
  testDelivery: 'aod',
  pageRefusals: 'aovd',
  pageDevices: 'aovd',
  createImport: 'aod',
  getImport: 'aovd',
  pageImports: 'aovd',
  cancelImport: 'aod',
  getImportResult: 'aovd',
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
  getOverview: 'aov',
  pageAudit: 'aov',
  getMetrics: 'aov',
}

/** Sessions of one person for each role; the developer is a member of the owner's application. */
const sessions = Object.fromEntries(
  await Promise.all(
    everyRole.map(async (role) => {
      const person = await newPerson(client, role, role === 'developer' ? [owner.appId] : [])
      return [role, await signIn(client, person)] as const
    }),
  ),
)
const foreignDeveloper = await signIn(client, await newPerson(client, 'developer', [stranger.appId]))

/** Sends a body that no operation accepts, so that nothing happens: 10003 is not permitted, 10001 is permitted. */
function probe({ method, path }: Operation, headers: Record<string, string>) {
  if (method === 'GET') return client.send<unknown>(path, { headers })
  return client.send<unknown>(path, { method, headers: { ...headers, 'content-type': 'application/json' }, body: '[]' })
}

function occupancyTerms() {
  return { ruleName: 'Occupancy', ruleType: 3, freeMinutes: 15, unitMinutes: 30, unitPrice: '2.00' }
}

async function newRule(through: Client, { appId, token }: TestApplication): Promise<number> {
  const saved = await through.call(saveBillingRule, { appId, ...occupancyTerms() }, { token })
  return saved.data.id
}

async function newDevice(through: Client, { appId, token }: TestApplication): Promise<string> {
  const created = await through.call(createDevice, deviceBody(appId), { token })
  return created.data.deviceNo
}

async function newSite(through: Client, { appId, token }: TestApplication): Promise<number> {
  const saved = await through.call(saveSite, siteBody(appId), { token })
  return saved.data.id
}

function inputOf(operation: Operation): unknown {
  const input = inputs[operation.id]
  if (input === undefined) throw new Error(`test/isolation.test.ts does not know ${operation.id}`)
  return input
}

/** Applications may call it, and it is about none of them. */
function isShared({ callers, body, query }: Operation): boolean {
  return callers.includes('application') && !Object.hasOwn((body ?? query)?.properties ?? {}, 'appId')
}

for (const operation of operations) {
  const input = inputOf(operation)
  if (input === 'open') {
    test(`${operation.id} is answered without a token, and whatever token it is sent`, async () => {
      for (const token of [undefined, 'x', owner.token]) {
        expect((await client.call(operation, {}, { token })).code).not.toBe(10002)
      }
    })
    continue
  }

  describe(operation.id, () => {
    test('is refused without a token, before anything that was sent is looked at', async () => {
      for (const sent of [input, {}]) {
        const answer = await client.call(operation, sent)
        expect([answer.status, answer.code, answer.data]).toEqual([401, 10002, null])
        expect(answer.headers.get('www-authenticate')).toStartWith('Bearer')
      }
    })

    test('is refused with a token that nobody was given', async () => {
      for (const token of ['x', 'A'.repeat(43), `${owner.token}x`, owner.appSecret, '']) {
        const answer = await client.call(operation, input, { token })
        expect([answer.status, answer.code]).toEqual([401, 10002])
      }
    })

    for (const role of everyRole) {
      const isAdmitted = admitted[operation.id]?.includes(role.slice(0, 1)) === true
      test(`is ${isAdmitted ? 'open' : 'refused'} to the role ${role}`, async () => {
        const answer = await probe(operation, sessions[role] ?? {})
        if (!isAdmitted) expect([answer.status, answer.code, answer.data]).toEqual([403, 10003, null])
        else expect([401, 403]).not.toContain(answer.status)
      })
    }

    if (operation.callers.includes('application') && !isShared(operation)) {
      test('is refused to a developer of another application', async () => {
        const answer = await client.call(operation, input, { headers: foreignDeveloper })
        expect([answer.status, answer.code, answer.data]).toEqual([403, 10003, null])
        const nowhere = JSON.parse(JSON.stringify(input).replaceAll(owner.appId, 'no-such-application'))
        const notThere = await client.call(operation, nowhere, { headers: foreignDeveloper })
        expect([notThere.status, notThere.text]).toEqual([answer.status, answer.text])
      })
    }

    if (isShared(operation)) {
      test('belongs to no application: it answers every one, and operators, the same', async () => {
        const callers = [owner.token, stranger.token, client.operatorKey]
        const answers = await Promise.all(callers.map((token) => client.call(operation, input, { token })))
        expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
        expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
      })
      return
    }

    test('is refused to another application', async () => {
      const answer = await client.call(operation, input, { token: stranger.token })
      expect([answer.status, answer.code, answer.data]).toEqual([403, 10003, null])
      expect(answer.text).not.toContain(owner.appId)
    })

    if (operation.callers.includes('application')) {
      test('answers an application that does not exist as it answers one that is not the caller’s', async () => {
        const there = await client.call(operation, input, { token: stranger.token })
        const nowhere = JSON.parse(JSON.stringify(input).replaceAll(owner.appId, 'no-such-application'))
        const notThere = await client.call(operation, nowhere, { token: stranger.token })
        expect([notThere.status, notThere.text]).toEqual([there.status, there.text])
      })

      test('tells an operator that there is no such application', async () => {
        const nowhere = JSON.parse(JSON.stringify(input).replaceAll(owner.appId, 'no-such-application'))
        const answer = await client.operate(operation, nowhere)
        expect([answer.status, answer.code]).toEqual([404, 10004])
      })
    } else {
      test('is refused to an application even for itself', async () => {
        const answer = await client.call(operation, input, { token: owner.token })
        expect([answer.status, answer.code]).toEqual([403, 10003])
      })
    }
  })
}

describe('an id of another application', () => {
  for (const operation of [
    getDevice,
    updateDevice,
    reportDeviceState,
    getDeviceState,
    unbindDevice,
    getDeviceHistory,
  ]) {
    test(`is not found by ${operation.id}`, async () => {
      for (const appId of [stranger.appId, '']) {
        const input = { ...(inputs[operation.id] as object), appId }
        const answer = await client.call<TObject, TObject, TSchema>(operation, input, { token: stranger.token })
        expect([answer.status, answer.code, answer.data]).toEqual([404, 20002, null])
      }
    })
  }

  for (const operation of [getSite, updateSite, deleteSite, getBillingRule, updateBillingRule, deleteBillingRule]) {
    const code = operation.path.includes('/billingRule/') ? 40002 : 30002
    test(`is not found by ${operation.id}`, async () => {
      for (const appId of [stranger.appId, '']) {
        const input = { ...(inputs[operation.id] as object), appId }
        const answer = await client.call<TObject, TObject, TSchema>(operation, input, { token: stranger.token })
        expect([answer.status, answer.code, answer.data]).toEqual([404, code, null])
      }
    })
  }

  test('is not a billing rule that saveSite takes', async () => {
    const body = siteBody(stranger.appId, { placeholderBillRuleId: rule })
    const answer = await client.call(saveSite, body, { token: stranger.token })
    expect([answer.status, answer.code]).toEqual([409, 40002])
  })

  test('does not let one application revoke another’s token', async () => {
    const { appId, appSecret } = stranger
    const input = { token: owner.token, client_id: appId, client_secret: appSecret }
    expect((await client.call(revokeToken, input)).status).toBe(200)
    await Bun.sleep(1100)
    const still = await client.call(getBillingRule, { appId: owner.appId, id: rule }, { token: owner.token })
    expect(still.code).toBe(0)
  })
})

/** Ways to name the owner's application beside, or instead of, the stranger's own. */
const spelledBodies = (input: object): string[] => {
  const own = { ...input, appId: stranger.appId }
  const named = `"appId":${JSON.stringify(owner.appId)}`
  const rest = JSON.stringify(own).slice(1)
  return [
    ...[owner.appId.toUpperCase(), ` ${owner.appId}`, `${owner.appId} `, `${stranger.appId},${owner.appId}`].map(
      (appId) => JSON.stringify({ ...own, appId }),
    ),
    ...[[owner.appId], [stranger.appId, owner.appId], { appId: owner.appId }].map((appId) =>
      JSON.stringify({ ...own, appId }),
    ),
    `{${named},${rest}`,
    `${JSON.stringify(own).slice(0, -1)},${named}}`,
    `{"\\u0061ppId":${JSON.stringify(owner.appId)},${rest}`,
  ]
}
const writesOfOne = operations.filter(
  ({ id, method, callers, body }) =>
    method === 'POST' &&
    callers.includes('application') &&
    Object.hasOwn((inputs[id] ?? {}) as object, 'appId') &&
    body,
)

test.each(writesOfOne.map((operation) => [operation.id, operation] as const))(
  '%s is refused to another application, however the appId in its body is spelled',
  async (_, operation) => {
    for (const body of spelledBodies(inputs[operation.id] as object)) {
      const answer = await client.call(operation, body, { token: stranger.token })
      expect([body, answer.status >= 400 && answer.status < 500]).toEqual([body, true])
      expect(answer.text).not.toContain(owner.appId)
    }
    const path = `${operation.path}?appId=${owner.appId}`
    const beside = await client.send<unknown>(path, {
      method: 'POST',
      headers: { authorization: `Bearer ${stranger.token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ ...(inputs[operation.id] as object), appId: stranger.appId }),
    })
    expect([beside.status, beside.code]).toEqual([400, 10001])
  },
)

test('what was refused above has changed nothing', async () => {
  const bound = await client.call(getDevice, { deviceNo: device }, { token: owner.token })
  expect(bound.data).toMatchObject({ appId: owner.appId, deviceName: 'East gate barrier', status: 1 })
  const named = await client.call(getBillingRule, { id: rule }, { token: owner.token })
  expect(named.data).toMatchObject({ appId: owner.appId, ruleName: 'Occupancy' })
  const standing = await client.call(getSite, { id: site }, { token: owner.token })
  expect(standing.data).toMatchObject({ appId: owner.appId, siteName: 'Riverside charging park' })
  const fresh = await client.operate(createApplication, { appName: 'probe' })
  expect(fresh.data.status).toBe(1)
})
