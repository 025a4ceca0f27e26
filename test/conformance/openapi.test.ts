import { expect, test } from 'bun:test'
import { saveBillingRule } from '../../src/billing-rules/contract.ts'
import { createAct } from '../../src/bulk/acts/contract.ts'
import { createImport, getTemplate } from '../../src/bulk/contract.ts'
import { testDelivery } from '../../src/deliveries/contract.ts'
import { createDevice, createDevices } from '../../src/devices/contract.ts'
import { importDeviceInventory } from '../../src/devices/inventory/contract.ts'
import { saveDeviceModel } from '../../src/devices/models/contract.ts'
import { savePlacement } from '../../src/devices/placement/contract.ts'
import { pageEvents } from '../../src/events/contract.ts'
import { createOperator, createOperatorKey } from '../../src/people/operators/contract.ts'
import { saveView } from '../../src/people/views/contract.ts'
import { saveRegion } from '../../src/regions/contract.ts'
import { getOpenApi } from '../../src/service/contract.ts'
import { saveSite } from '../../src/sites/contract.ts'
import { schedulePriceChange } from '../../src/sites/price-changes/contract.ts'
import { deviceBody, newApplication, newSerial, newToken, siteBody } from '../harness.ts'
import { codeOf, newGenerator, signIn, startedSecret } from '../people.ts'
import { ahead, at, day, scheduledSoon, untilApplied } from './price-support.ts'
import { client, expectSuccess, newIdleApplication, newRule, occupancyTerms } from './support.ts'

// Sends every example of the published document to the service. Placeholders in an example are replaced first: its
// application, record ids, free serial numbers and secrets.

interface Described {
  operationId: string
  tags: string[]
  parameters?: { $ref?: string; name?: string; required?: boolean; example?: unknown }[]
  requestBody?: { content: Record<string, { example?: Record<string, unknown> }> }
}
interface Document {
  paths: Record<string, Record<string, Described>>
  components: { parameters: Record<string, { name: string; required?: boolean; example?: unknown }> }
}

const { paths, components } = JSON.parse((await client.call(getOpenApi, {})).text) as Document
const published = Object.entries(paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), ...operation })),
)

const application = await newApplication(client)
const { appId, appSecret, token } = application
const other = await newApplication(client)
const callbackUrl = 'https://nowhere.example.com/callback'
const newCalledBack = () => newApplication(client, { thirdPartyConfig: { operatorName: 'Operator', callbackUrl } })
const calledBack = await newCalledBack()
const operator = { authorization: `Bearer ${client.operatorKey}` }

const ndjson = { headers: { 'content-type': 'application/x-ndjson' } }

const made = {
  device: async () => {
    const created = await client.call(createDevice, deviceBody(appId), { token })
    return { deviceNo: expectSuccess(created).deviceNo }
  },
  site: async () => ({ id: expectSuccess(await client.call(saveSite, siteBody(appId), { token })).id }),
  rule: async () => {
    const body = { appId, ruleName: 'rule', ruleType: 3, ...occupancyTerms }
    return { id: expectSuccess(await client.call(saveBillingRule, body, { token })).id }
  },
  event: async () => ({ id: expectSuccess(await client.call(pageEvents, {}, { token })).list[0]?.id }),
  person: async () => {
    const body = { name: newSerial('example'), role: 'viewer' }
    return { id: expectSuccess(await client.operate(createOperator, body)).id }
  },
  invited: async () => {
    const body = { name: newSerial('example'), role: 'viewer' }
    const { setUpPath } = expectSuccess(await client.operate(createOperator, body))
    return { setUpToken: setUpPath?.split('#')[1] }
  },
  priceChange: async () => {
    const terms = {
      effectiveTime: ahead(day),
      billingRuleId: await newRule({ appId, appSecret, token }, 1),
      periods: at('1'),
    }
    return { id: expectSuccess(await client.call(schedulePriceChange, terms, { token })).id as number }
  },
  delivery: async () => ({ id: expectSuccess(await client.call(testDelivery, {}, { token: calledBack.token })).id }),
  // The file has so many rows that the import is still running when it is cancelled.
  import: async () => {
    const { appId } = await newIdleApplication()
    const taken = await client.operate(
      createImport,
      { kind: 'sites', appId, format: 'ndjson', file: '[]\n'.repeat(50_000) },
      ndjson,
    )
    return { id: expectSuccess(taken).id }
  },
  // An application can have only one act under way, so each act is for another application.
  act: async (count: number) => {
    const owner = await newApplication(client)
    for (let made = 0; made < count; made += 300) {
      const devices = Array.from({ length: 300 }, () => ({ ...deviceBody(''), appId: undefined }))
      expectSuccess(await client.call(createDevices, { devices }, { token: owner.token }))
    }
    const body = { kind: 'devices', act: 'update', filter: { all: true }, set: { tag: newSerial() } }
    return { id: expectSuccess(await client.call(createAct, body, { token: owner.token })).id }
  },
  key: async () => {
    const body = { name: newSerial('example'), role: 'viewer' }
    return { id: expectSuccess(await client.operate(createOperatorKey, body)).id }
  },
  model: async () => {
    const serialPrefix = newSerial('EXAMPLE')
    expectSuccess(await client.operate(saveDeviceModel, { serialPrefix, modelName: 'Barrier 300' }))
    return { serialPrefix }
  },
  entry: async () => {
    const deviceNo = newSerial('EXAMPLE')
    expectSuccess(
      await client.operate(importDeviceInventory, { entries: [{ deviceNo, modelName: (await model).modelName }] }),
    )
    return { deviceNo }
  },
}
const model = (async () => {
  const modelName = newSerial('Barrier')
  expectSuccess(await client.operate(saveDeviceModel, { serialPrefix: newSerial('EXAMPLE'), modelName }))
  return { modelName }
})()

/** Creates a person with the password that the examples show. */
async function withPassword() {
  const person = { name: newSerial('example'), password: 'a password of 12 characters or more' }
  const { id } = expectSuccess(await client.operate(createOperator, { ...person, role: 'viewer' }))
  return { ...person, id }
}

async function placed() {
  const { deviceNo } = await made.device()
  const { id: siteId } = await made.site()
  expectSuccess(await client.call(savePlacement, { deviceNo, siteId, laneType: 1 }, { token }))
  return { deviceNo }
}

/** The session of the person whose second factors or views an example is about. */
let session = { cookie: '' }
async function ownSession() {
  session = await signIn(client, await withPassword())
  return {}
}
async function ofGenerator() {
  await ownSession()
  await newGenerator(client, session)
  return {}
}

const fresh = () => ({ deviceNo: newSerial('FC-GATE') })
const secrets = { client_id: appId, client_secret: appSecret }

/** Creates the record that an example names, by the operation's tag and the member that names the record. */
const namedRecords: Record<string, () => Promise<object>> = {
  'Sites id': made.site,
  'Billing rules id': made.rule,
  'Price changes id': made.priceChange,
  'Devices deviceNo': made.device,
  'Device ownership deviceNo': made.device,
  'Device models serialPrefix': made.model,
  'Device inventory deviceNo': made.entry,
  'Events id': made.event,
  'Deliveries id': made.delivery,
  'Bulk id': made.import,
  'Operators id': made.person,
  'Operator keys id': made.key,
}

/** Values for the other placeholders of an example, by operation. */
const substitutes: Record<string, () => Promise<object> | object> = {
  issueToken: () => secrets,
  revokeToken: async () => ({ ...secrets, token: await newToken(client, appId, appSecret) }),
  createDevice: fresh,
  getDeviceState: () => made.device(),
  unbindDevices: async () => ({ deviceNos: [(await made.device()).deviceNo] }),
  transferDevice: async () => ({ ...(await made.device()), targetAppId: other.appId }),
  transferDevices: async () => ({ deviceNos: [(await made.device()).deviceNo], targetAppId: other.appId }),
  savePlacements: async () => ({
    placements: [{ ...(await made.device()), siteId: (await made.site()).id, laneType: 1 }],
  }),
  savePlacement: async () => ({ ...(await made.device()), siteId: (await made.site()).id }),
  removePlacement: placed,
  removePlacements: async () => ({ deviceNos: [(await placed()).deviceNo] }),
  getPlacement: placed,
  pagePlacementHistory: placed,
  summarizePlacements: async () => ({ siteIds: (await made.site()).id }),
  suggestPlacements: async () => ({ siteId: (await made.site()).id }),
  schedulePriceChange: async () => ({
    effectiveTime: ahead(day),
    billingRuleId: await newRule({ appId, appSecret, token }, 1),
  }),
  getAct: () => made.act(0),
  getActResult: () => made.act(0),
  // So many devices that the act is still running when it is cancelled.
  cancelAct: async () => ({ ...(await made.act(1_200)), appId: undefined }),
  undoPriceChange: async () => {
    const rule = await newRule({ appId, appSecret, token }, 1)
    const { id } = await scheduledSoon({ appId, appSecret, token }, { billingRuleId: rule, periods: at('1') })
    await untilApplied({ appId, appSecret, token }, id)
    return { id }
  },
  startTotp: ownSession,
  saveTotp: async () => {
    await ownSession()
    return { code: codeOf(await startedSecret(client, session)) }
  },
  deleteTotp: ofGenerator,
  deleteView: async () => {
    await ownSession()
    const { data } = await client.call(saveView, { page: 'devices', name: 'Faulty' }, { headers: session })
    return { id: data.id }
  },
  renewRecoveryCodes: ofGenerator,
  resetSecondFactors: async () => {
    const person = await withPassword()
    await newGenerator(client, await signIn(client, person))
    return { id: person.id }
  },
  createSession: async () => ({ name: (await withPassword()).name }),
  setUpOperator: made.invited,
  getApplication: () => ({ appId }),
  rotateApplicationSecret: () => ({ appId }),
  endPreviousApplicationSecret: () => ({ appId }),
  deleteRegion: async () => {
    const code = '360190'
    expectSuccess(await client.operate(saveRegion, { code, name: '新区' }))
    return { code }
  },
  importDeviceInventory: async () => ({ entries: [{ ...fresh(), ...(await model) }] }),
  createOperator: () => ({ name: newSerial('example') }),
  createOperatorKey: () => ({ name: newSerial('example') }),
  deleteSession: async () => ({ id: undefined }),
  handOverOperatorKey: async () => ({ ...(await made.key()), operatorId: (await made.person()).id }),
}

const ofCalledBack = { authorization: `Bearer ${calledBack.token}` }
const ofSession = async () => signIn(client, await withPassword())

/** The callers for examples that only certain callers may send. */
const senders: Record<string, () => Promise<Record<string, string>> | Record<string, string>> = {
  getDelivery: () => ofCalledBack,
  getImport: () => operator,
  cancelImport: () => operator,
  getImportResult: () => operator,
  getAct: () => operator,
  cancelAct: () => operator,
  getActResult: () => operator,
  // An application may send one test every 3 s, so each call uses another application.
  testDelivery: async () => ({ authorization: `Bearer ${(await newCalledBack()).token}` }),
  replayDeliveries: () => ofCalledBack,
  rotateCallbackSecret: () => ofCalledBack,
  changePassword: ofSession,
  confirmSession: ofSession,
  getSecondFactors: ofSession,
  saveView: ofSession,
  pageOwnOperatorKeys: ofSession,
  pageViews: ofSession,
  deleteView: () => session,
  unlinkSignOn: ofSession,
  startTotp: () => session,
  saveTotp: () => session,
  deleteTotp: () => session,
  renewRecoveryCodes: () => session,
  deleteSession: ofSession,
}

/** Headers for an operation; those that need no token get none. */
function senderOf(path: string): Record<string, string> {
  if (path.startsWith('/api/auth/')) return {}
  return path.startsWith('/api/platform/') || path === '/metrics' ? operator : { authorization: `Bearer ${token}` }
}

function exampleOf({ requestBody, parameters = [] }: Described): Record<string, unknown> {
  const body = requestBody?.content['application/json']?.example
  const named = parameters.map(({ $ref, ...own }) => ($ref ? components.parameters[$ref.split('/').at(-1) ?? ''] : own))
  const query = named.flatMap((own) => (own?.required === true ? [[own.name ?? '', own.example]] : []))
  return body ?? Object.fromEntries(query)
}

/** Examples that need a setting of the service, and an example that no fixed text could be. */
const needASetting = new Set([
  ...['startPasskey', 'savePasskey', 'deletePasskey', 'startPasskeySession'],
  ...['startSignOn', 'finishSignOn', 'completeSignOn', 'logOutByProvider'],
])

test.each(published.flatMap((each) => (needASetting.has(each.operationId) ? [] : [[each.operationId, each] as const])))(
  'the example of %s is accepted',
  async (operationId, operation) => {
    const { path, method } = operation
    const example = exampleOf(operation)
    const acting = path.includes('/application/') ? (await newIdleApplication()).appId : appId
    const about = 'appId' in example ? { appId: acting } : {}
    const naming = Object.keys(example).map((member) => namedRecords[`${operation.tags[0]} ${member}`])
    const named = substitutes[operationId] ?? naming.find((make) => make !== undefined)
    const sent: Record<string, unknown> = { ...example, ...about, ...(await named?.()) }
    const isFile = operation.requestBody?.content['text/csv'] !== undefined
    const query = method === 'GET' || isFile ? `?${new URLSearchParams(sent as Record<string, string>)}` : ''
    const file = isFile ? (await client.operate(getTemplate, { kind: sent.kind })).text : JSON.stringify(sent)
    const answer = await client.send(path + query, {
      method,
      headers: {
        ...(await (senders[operationId]?.() ?? senderOf(path))),
        'content-type': isFile ? 'text/csv' : 'application/json',
      },
      ...(method === 'POST' && { body: file }),
    })
    const why = `where the example names what is not set, \`substitutes\` wants a line for ${operationId}`
    expect([answer.status, answer.text.slice(0, 200)], why).toEqual([200, expect.any(String)])
  },
)
