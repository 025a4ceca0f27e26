import { expect, test } from 'bun:test'
import type { ActRecord } from '../../src/bulk/acts/contract.ts'
import type { Call } from '../costs/calls.ts'
import { measuredOf } from '../costs/operations.ts'
import { deviceBody, newApplication, newSerial } from '../kit/records.ts'
import { ahead, at, day, scheduledSoon, untilApplied } from './price-support.ts'
import { client, expectSuccess, newRule, succeed } from './support.ts'
import { newWorld } from './world.ts'

// Sends every example of the published document to the service. Its placeholders, which are ids of records, free serial
// numbers and secrets, are replaced by those of the calls in test/costs/operations.ts.

interface Described {
  operationId: string
  parameters?: { $ref?: string; name?: string; required?: boolean; example?: unknown }[]
  requestBody?: { content: Record<string, { example?: Record<string, unknown> }> }
}
interface Document {
  paths: Record<string, Record<string, Described>>
  components: { parameters: Record<string, { name: string; required?: boolean; example?: unknown }> }
}

const { paths, components } = JSON.parse((await client.call('getOpenApi', {})).text) as Document
const published = Object.entries(paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), ...operation })),
)

const world = await newWorld()
const { owner } = world
// The model of the inventory in those calls.
await succeed('saveDeviceModel', { serialPrefix: newSerial('EXAMPLE'), modelName: 'Model' })

/** Members of examples that are placeholders wherever they appear. */
const placeholders = [
  ...['appId', 'targetAppId', 'id', 'deviceNo', 'siteId', 'siteIds', 'billingRuleId', 'operatorId', 'effectiveTime'],
  ...['client_id', 'client_secret', 'token', 'setUpToken'],
]

/** More of them, by operation. */
const placeholdersOf: Record<string, string[]> = {
  ...{ changePassword: ['password'], confirmSession: ['password'], createSession: ['name', 'password'] },
  ...{ createOperator: ['name'], createOperatorKey: ['name'], saveTotp: ['code'], deleteRegion: ['code'] },
  ...{ deleteDeviceModel: ['serialPrefix'], importDeviceInventory: ['entries'] },
}

/** Operations that ask for one of several members, none of which the example has. */
const withoutExample = ['getDeviceState', 'pagePlacementHistory', 'suggestPlacements']

/** Other calls than those of the register, which has a database at hand. */
const others: Record<string, () => Promise<Call>> = {
  async createSession() {
    const person = { name: newSerial('example'), password: 'a password of 12 characters or more' }
    await succeed('createOperator', { ...person, role: 'viewer' })
    return { input: person, as: {} }
  },
  schedulePriceChange: async () => ({
    input: { effectiveTime: ahead(day), billingRuleId: await newRule(owner, 1) },
  }),
  async undoPriceChange() {
    const { id } = await scheduledSoon(owner, { billingRuleId: await newRule(owner, 1), periods: at('1') })
    await untilApplied(owner, id)
    return { input: { id } }
  },
  // The example has no callback, which others need.
  saveThirdPartyConfig: async () => ({ input: {}, as: world.stranger }),
  getImport: async () => ({ input: { id: world.importId } }),
  getAct: async () => ({ input: { id: world.actId } }),
  // So many rows that they are still under way when they are cancelled.
  async cancelImport() {
    const app = await newApplication(client)
    const ndjson = { token: app.token, headers: { 'content-type': 'application/x-ndjson' } }
    const taken = await client.call('createImport', { kind: 'sites', file: '[]\n'.repeat(50_000) }, ndjson)
    return { input: { id: expectSuccess(taken).id }, as: app }
  },
  async cancelAct() {
    const app = await newApplication(client)
    const devices = Array.from({ length: 1_000 }, () => ({ ...deviceBody(''), appId: undefined }))
    await succeed('createDevices', { devices }, app)
    const body = { kind: 'devices', act: 'update', filter: { all: true }, set: { tag: newSerial() } }
    return { input: { id: ((await succeed('createAct', body, app)) as ActRecord).id }, as: app }
  },
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
    const call = others[operationId] ?? (() => measuredOf(operationId).call(world))
    const { input, as = owner } = await call()
    const replaced = [...placeholders, ...(placeholdersOf[operationId] ?? [])]
    const example = Object.entries(exampleOf(operation)).map(([member, value]) => [
      member,
      replaced.includes(member) ? (input as Record<string, unknown>)[member] : value,
    ])
    const sent: Record<string, unknown> = withoutExample.includes(operationId)
      ? (input as Record<string, unknown>)
      : Object.fromEntries(example)
    const isFile = operation.requestBody?.content['text/csv'] !== undefined
    const query = method === 'GET' || isFile ? `?${new URLSearchParams(sent as Record<string, string>)}` : ''
    const file = isFile ? (await client.operate('getTemplate', { kind: sent.kind })).text : JSON.stringify(sent)
    const answer = await client.send(path + query, {
      method,
      headers: {
        ...(as.token !== undefined && { authorization: `Bearer ${as.token}` }),
        ...('headers' in as && as.headers),
        'content-type': isFile ? 'text/csv' : 'application/json',
      },
      ...(method === 'POST' && { body: file }),
    })
    const why = `if the example of ${operationId} names what is not there, \`placeholdersOf\` needs a line for it`
    expect([answer.status, answer.text.slice(0, 200)], why).toEqual([200, expect.any(String)])
  },
)
