import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { sentencesOf, spokenMembers } from '../../console/src/words/sentences.ts'
import { actFilters } from '../../src/bulk/acts/contract.ts'
import { eventTypes, platformEventTypes } from '../../src/vocabulary/event-types.ts'
import { everyRole } from '../../src/vocabulary/roles.ts'
import { projectFolder } from '../kit/folders.ts'

// No event is told with the API's own words: each member of each type's data, and each value of a fixed set, has words in
// both languages. Texts of people are `some` here and numbers that mean nothing but themselves `plain`, so that a letter
// of the alphabet in a Chinese sentence, or a small number, is a name or a code without words.

const some = '某'
const plain = 77

interface Schema {
  $ref?: string
  type?: string | string[]
  enum?: unknown[]
  const?: unknown
  anyOf?: Schema[]
  oneOf?: Schema[]
  allOf?: Schema[]
  items?: Schema
  properties?: Record<string, Schema>
}

const { schemas } = JSON.parse(readFileSync(join(projectFolder, 'openapi.json'), 'utf8')).components as {
  schemas: Record<string, Schema>
}

/** Values of a schema that together have each value of each fixed set in it. */
function valuesOf(schema: Schema): unknown[] {
  const { $ref, enum: fixed, anyOf, oneOf, allOf, items, properties } = schema
  if ($ref !== undefined) return valuesOf(schemas[$ref.split('/').at(-1) ?? ''] ?? {})
  if (fixed !== undefined) return fixed.filter((value) => value !== null)
  if (schema.const !== undefined) return [schema.const]
  const union = anyOf ?? oneOf
  if (union !== undefined) return union.filter(({ type }) => type !== 'null').flatMap(valuesOf)
  if (allOf !== undefined) return combined(allOf.map((part) => valuesOf(part) as object[]))
  if (properties !== undefined) {
    return combined(
      Object.entries(properties).map(([name, member]) => valuesOf(member).map((value) => ({ [name]: value }))),
    )
  }
  if (items !== undefined) return valuesOf(items).map((value) => [value])
  const types = [schema.type].flat()
  if (types.includes('boolean')) return [true]
  return [types.includes('integer') || types.includes('number') ? plain : some]
}

/** Objects that have, of each list, every part at least once. */
const combined = (lists: object[][]): object[] => {
  const most = Math.max(1, ...lists.map((list) => list.length))
  return Array.from({ length: most }, (_, place) =>
    Object.assign({}, ...lists.map((list) => list[place % list.length])),
  )
}

/** Records of a schema, each with one of `more`. */
const of = (name: string, more: object[] = [{}]): object[] => combined([valuesOf({ $ref: name }) as object[], more])
const roles = everyRole.map((role) => ({ role }))
const actors = [
  ...['operator:first start', 'operator:command line', 'operator:operator', 'platform:prices', 'anyone'],
  ...[`operator:${some}`, `operatorKey:${some}`, `application:${some}`],
]
const account = of('Operator', [...roles, { before: { role: 'viewer' } }])
const key = of(
  'OperatorKey',
  actors.map((createdBy) => ({ createdBy, role: 'viewer' })),
)
const session = of('Session', roles)
const attempts = ['browser', 'source', 'nameAndSource', 'name', 'code']
const tried = { operatorId: plain, name: some }
const factors = ['totp', 'passkey', 'recoveryCodes'].map((factor) => ({ ...tried, factor }))
const passkey = { ...tried, factor: 'passkey', passkeyId: plain, passkeyName: some }
const acts = (['devices', 'sites'] as const).flatMap((kind) => {
  const [set] = valuesOf({ $ref: kind === 'sites' ? 'SiteChanges' : 'DeviceChanges' })
  const filters = valuesOf({ $ref: 'ActFilter' }).map((filter) =>
    Object.fromEntries(Object.entries(filter as object).filter(([name]) => name in actFilters[kind].properties)),
  )
  return of('Act').map((act, place) => ({ ...act, kind, set, filter: filters[place % filters.length] }))
})

/** The record of a noun, which is the data of its types. */
const records: Record<string, object[]> = {
  site: of('Site'),
  device: of('UnownedDevice'),
  billingRule: of('BillingRule'),
  priceChange: of('PriceChange'),
  application: of('Application'),
  thirdPartyConfig: of('ThirdPartyConfig'),
  deviceModel: of('DeviceModel'),
  region: of('SavedRegion'),
  operator: account,
  operatorKey: key,
  session,
  import: of('Import'),
  act: acts,
}

/** The data of the other types, as the service writes it. */
const data: Partial<Record<string, object[]>> = {
  'device.placed': of('Placement'),
  'device.transferred': of('TransferredDevice'),
  'device.stateChanged': of('DeviceStateChange'),
  'device.unplaced': of('Placement', [{ removedBy: 'operator:command line' }]),
  'priceChange.scheduled': of('PriceChange', [{ createdBy: 'operator:first start' }]),
  'priceChange.cancelled': of('PriceChange', [{ cancelledBy: 'platform:prices' }]),
  'deviceInventory.imported': [{ added: plain, changed: plain }],
  'deviceInventory.deleted': of('InventoryEntry'),
  'operator.updated': [...account, { id: plain, hasLeft: true, before: { hasLeft: false } }],
  'view.handedOver': ['devices', 'sites', 'events', 'audit', 'deliveries', 'refusals'].map((page) => ({
    ...{ id: plain, name: some, newOwner: some, newOwnerId: plain, views: [{ id: plain, page, name: some }] },
  })),
  'session.refused': [{ ...tried, count: plain }],
  'session.locked': attempts.map((limit) => ({ ...tried, limit, seconds: plain })),
  'secondFactor.added': [...factors, passkey],
  'secondFactor.removed': [...factors, passkey],
  'secondFactor.reset': [{ ...tried, reason: some }],
  'secondFactor.recoveryCodeUsed': [{ ...tried, recoveryCodesLeft: plain }],
  'secondFactor.suspected': [{ ...passkey, counter: plain }],
  'delivery.replayed': [
    { appId: some, id: plain, replayed: plain },
    ...[1, 2, 3].map((status) => ({ appId: some, timeFrom: some, timeTo: some, status, replayed: plain })),
    { appId: some, timeFrom: some, timeTo: some, status: null, isDelivered: false, replayed: plain },
  ],
  'delivery.tested': [1, 2, 3].map((status) => ({
    ...{ appId: some, id: plain, url: some, status, responseStatus: plain, error: 'HTTP 500' },
  })),
  'site.erased': [{ siteIds: [plain], events: plain }],
}

/** Abbreviations and names that Chinese texts have too. */
const spoken = /\b(ID|HTTP|URL|TLS|CSV|NDJSON|Forecourt)\b/g

/** What to do where the test fails. */
const remedy = 'the words of members and values are in console/src/words/member-words.ts and value-words.ts'

test.each([...eventTypes, ...platformEventTypes])('%s has words for each member and value', (type) => {
  const list = data[type] ?? records[type.split('.')[0] ?? '']
  if (list === undefined)
    throw new Error(`What is the data of ${type}? Add it to \`data\`, or its noun to \`records\`.`)
  for (const record of list) {
    for (const { what, after } of sentencesOf(type, undefined, record, 'zh')) {
      const told = `${what}：${after}`
      expect(told.replaceAll(spoken, ''), remedy).not.toMatch(/[A-Za-z]/)
      expect(`${told} of ${JSON.stringify(record)}`, remedy).not.toMatch(/：\d of /)
    }
    for (const { what, after } of sentencesOf(type, undefined, record, 'en')) {
      const words = `${what} ${after}`.replaceAll(spoken, '')
      // One word of the API is written in one: recoveryCodes, forceUnbind.
      expect(words, remedy).not.toMatch(/\p{Ll}\p{Lu}/u)
      expect(`${after} of ${JSON.stringify(record)}`, remedy).not.toMatch(/^\d of /)
    }
  }
})

test('every member of the records that events hold has words', () => {
  const names = [
    ...['Site', 'BillingRule', 'Period', 'PriceChange', 'GivenRules', 'UnownedDevice', 'DeviceAddress', 'DeviceState'],
    ...['Placement', 'Application', 'ThirdPartyConfig', 'Operator', 'OperatorKey', 'Session', 'DeviceModel'],
    ...['InventoryEntry', 'Import', 'Act', 'SavedRegion'],
  ]
  const members = names.flatMap((name) => Object.keys(schemas[name]?.properties ?? {}))
  expect(members.length).toBeGreaterThan(100)
  expect(members.filter((member) => !spokenMembers.has(member))).toEqual([])
})
