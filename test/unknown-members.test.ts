import { afterAll, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Row } from 'postgres'
import type { TSchema } from 'typebox'
import { createApplication, updateApplication } from '../src/applications/contract.ts'
import { saveThirdPartyConfig } from '../src/applications/third-party-config/contract.ts'
import { saveBillingRule, updateBillingRule } from '../src/billing-rules/contract.ts'
import { openDatabase } from '../src/database/open.ts'
import { createDevice, createDevices, updateDevice, updateDevices } from '../src/devices/contract.ts'
import { importDeviceInventory } from '../src/devices/inventory/contract.ts'
import { saveDeviceModel } from '../src/devices/models/contract.ts'
import {
  forceUnbindDevice,
  transferDevice,
  transferDevices,
  unbindDevice,
  unbindDevices,
} from '../src/devices/ownership/contract.ts'
import { reportDeviceState, reportDeviceStates } from '../src/devices/state/contract.ts'
import { createOperator, createOperatorKey, updateOperator } from '../src/people/operators/contract.ts'
import { operations } from '../src/reference/operations.ts'
import { saveRegion } from '../src/regions/contract.ts'
import { saveSite, saveSites, updateSite, updateSites } from '../src/sites/contract.ts'
import { schedulePriceChange } from '../src/sites/price-changes/contract.ts'
import type { Operation } from '../src/vocabulary/operation.ts'
import { shownKey } from '../src/vocabulary/values.ts'
import { atScale } from './faults/support.ts'
import {
  Client,
  deviceBody,
  newApplication,
  newSerial,
  siteBody,
  startService,
  type TestApplication,
} from './harness.ts'

// A member that a contract does not name is ignored, even when a table or record has one of that name. Each write is
// sent unchanged for one subject and with all such members for another: both must leave the same rows.

const service = await startService()
const client = new Client(service)
const { socketDir, port, user, password } = JSON.parse(readFileSync(join(service.dataDir, 'embedded.json'), 'utf8'))
const database = openDatabase({
  target: { host: socketDir, port, user, password, database: 'forecourt' },
  connections: 2,
  statementTimeoutMs: 30_000,
})
afterAll(async () => {
  await database.end()
  await service.stop()
})

interface Subject extends TestApplication {
  serial: string
  name: string
}

/** Prepares a subject for a write, and returns the write's body. */
type Body = (subject: Subject) => unknown

const withDevice =
  (body: Body): Body =>
  async (subject) => {
    await client.operate(createDevice, deviceBody(subject.appId, { deviceNo: subject.serial }))
    return body(subject)
  }
const withId =
  (operation: Operation, made: Body, body: Record<string, unknown>): Body =>
  async (subject) => {
    const { data } = await client.operate(operation, await made(subject))
    return {
      ...(operation === createOperator ? {} : { appId: subject.appId }),
      ...body,
      id: (data as { id: number }).id,
    }
  }

const occupancyRule = ({ appId, name }: Subject) => ({
  appId,
  ruleName: name,
  ruleType: 3,
  freeMinutes: 0,
  unitMinutes: 1,
  unitPrice: '1',
})
const periods = [{ startTime: '00:00:00', electricityPrice: '1', servicePrice: '1' }]

const writes: [Operation, Body][] = [
  [createApplication, ({ name }) => ({ appName: name, thirdPartyConfig: { operatorName: name } })],
  [updateApplication, ({ appId, name }) => ({ appId, appName: name })],
  [saveThirdPartyConfig, ({ appId, name }) => ({ appId, operatorName: name })],
  [saveSite, ({ appId, name }) => siteBody(appId, { siteName: name })],
  [saveSites, ({ appId, name }) => ({ appId, sites: [siteBody(appId, { siteName: name })] })],
  [updateSite, withId(saveSite, ({ appId }) => siteBody(appId), { contacts: 'Li Na' })],
  [
    updateSites,
    async (subject) => {
      const { id, appId } = (await withId(saveSite, () => siteBody(subject.appId), {})(subject)) as {
        id: number
        appId: string
      }
      return { appId, sites: [{ id, contacts: 'Li Lei' }] }
    },
  ],
  [saveBillingRule, ({ appId, name }) => ({ appId, ruleName: name, ruleType: 1, periods })],
  [updateBillingRule, withId(saveBillingRule, occupancyRule, { unitMinutes: 2 })],
  [
    schedulePriceChange,
    async (subject) => {
      const { data } = await client.operate(saveBillingRule, occupancyRule(subject))
      const { appId, freeMinutes, unitMinutes, unitPrice } = occupancyRule(subject)
      const effectiveTime = new Date(Math.ceil(Date.now() / 1000) * 1000 + 86_400_000).toISOString()
      return { appId, effectiveTime, billingRuleId: data.id, freeMinutes, unitMinutes, unitPrice }
    },
  ],
  [createDevice, ({ appId, serial }) => deviceBody(appId, { deviceNo: serial })],
  [createDevices, ({ appId, serial }) => ({ appId, devices: [deviceBody(appId, { deviceNo: serial })] })],
  [updateDevices, withDevice(({ appId, serial }) => ({ appId, devices: [{ deviceNo: serial, tag: 'lane=3' }] }))],
  [updateDevice, withDevice(({ appId, serial }) => ({ appId, deviceNo: serial, tag: 'lane=2' }))],
  [reportDeviceState, withDevice(({ appId, serial }) => ({ appId, deviceNo: serial, runStatus: 1 }))],
  [reportDeviceStates, withDevice(({ appId, serial }) => ({ appId, reports: [{ deviceNo: serial, runStatus: 1 }] }))],
  [unbindDevice, withDevice(({ appId, serial }) => ({ appId, deviceNo: serial }))],
  [unbindDevices, withDevice(({ appId, serial }) => ({ appId, deviceNos: [serial] }))],
  [forceUnbindDevice, withDevice(({ serial }) => ({ deviceNo: serial, reason: 'sold' }))],
  [
    transferDevice,
    withDevice(async ({ serial }) => ({
      deviceNo: serial,
      targetAppId: (await newApplication(client)).appId,
      reason: 'sold',
    })),
  ],
  [
    transferDevices,
    withDevice(async ({ serial }) => ({
      deviceNos: [serial],
      targetAppId: (await newApplication(client)).appId,
      reason: 'sold',
    })),
  ],
  [saveDeviceModel, ({ serial, name }) => ({ serialPrefix: serial, modelName: name })],
  [saveRegion, ({ name }) => ({ code: '360196', name })],
  [
    importDeviceInventory,
    async ({ serial, name }) => {
      await client.operate(saveDeviceModel, { serialPrefix: serial, modelName: name })
      return { entries: [{ deviceNo: serial, modelName: name }] }
    },
  ],
  [createOperator, ({ name }) => ({ name, role: 'viewer', password: `${name} has a long one` })],
  [
    updateOperator,
    withId(createOperator, ({ name }) => ({ name, role: 'viewer', password: `${name} has one as well` }), {}),
  ],
  [createOperatorKey, ({ name }) => ({ name, role: 'viewer' })],
]

/** The names of all columns and record members, in the spellings that a caller could use. */
async function namesWithin(): Promise<string[]> {
  const columns =
    await database`select distinct column_name from information_schema.columns where table_schema = 'public'`
  const names = new Set<string>(['__proto__', 'constructor', 'toString', 'passwordHash'])
  for (const { column_name: column } of columns) {
    names.add(column)
    names.add(column.replace(/_(\w)/g, (_: string, letter: string) => letter.toUpperCase()))
  }
  const collect = (schema: TSchema) => {
    const { properties = {}, items, anyOf = [] } = schema as Shape
    for (const [member, within] of Object.entries(properties)) {
      names.add(member)
      collect(within)
    }
    for (const within of [...anyOf, ...(items === undefined ? [] : [items])]) collect(within)
  }
  for (const { data } of operations) collect(data)
  return [...names]
}

const names = await namesWithin()
const values = atScale(
  [1, 'a\0b', { planted: true }],
  ['planted', 1, null, '2020-01-01T00:00:00Z', ['planted'], { planted: true }, 'a\0b'],
)

interface Shape {
  properties?: Record<string, TSchema>
  items?: TSchema
  anyOf?: TSchema[]
  [shownKey]?: Shape
}

/** The body as JSON text, with all these names added to each object that does not declare them. */
function loaded(body: unknown, schema: Shape, value: unknown): string {
  // The rows of a batch are checked one by one, by a separate schema.
  const whole = schema.properties === undefined ? (schema[shownKey] ?? schema) : schema
  const within = [whole, ...((whole.anyOf ?? []) as Shape[])]
  if (Array.isArray(body)) {
    const items = within.find((option) => option.items !== undefined)?.items ?? {}
    return `[${body.map((item) => loaded(item, items, value)).join(',')}]`
  }
  if (typeof body !== 'object' || body === null) return JSON.stringify(body)
  const declared: Record<string, TSchema> = within.find((option) => option.properties !== undefined)?.properties ?? {}
  const own = Object.entries(body).map(([member, text]) => [member, loaded(text, declared[member] ?? {}, value)])
  const added = names
    .filter((name) => !Object.hasOwn(declared, name) && !Object.hasOwn(body, name))
    .map((name) => [name, JSON.stringify(value)])
  return `{${[...own, ...added].map(([member, text]) => `${JSON.stringify(member)}:${text}`).join(',')}}`
}

const tables = (
  await database`select table_name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE'`
).map((row) => row.table_name as string)

/** Every row that names the subject, without the values that always differ between two rows. */
async function rowsOf({ appId, serial, name }: Subject): Promise<string[]> {
  const found = await Promise.all(
    tables.map(async (table) => {
      const rows = await database`
        select to_json(t)::text as text from ${database(table)} t
        where strpos(to_json(t)::text, ${appId}) + strpos(to_json(t)::text, ${serial}) + strpos(to_json(t)::text, ${name}) > 0`
      return rows.map((row: Row) => `${table} ${row.text}`)
    }),
  )
  return found
    .flat()
    .map((text) => withoutOwn(text, { appId, serial, name }))
    .sort()
}

function withoutOwn(text: string, { appId, serial, name }: Pick<Subject, 'appId' | 'serial' | 'name'>): string {
  return text
    .replaceAll(appId, 'APP')
    .replaceAll(serial, 'SERIAL')
    .replaceAll(name, 'NAME')
    .replace(/\d{4}-\d\d-\d\d[T ][\d:.+]+/g, 'TIME')
    .replace(/\b[0-9a-f]{20}\b/g, 'OTHER')
    .replace(/(secret\w*|hash|Key)(\\?":\\?")[^"\\]{40,}/gi, '$1$2SECRET')
    .replace(/([iI]d|subject)(\\?":\\?"?)\d+/g, '$1$2NUMBER')
    .replace(/(?<![\w.])\d{3,16}(?![\w.])/g, 'NUMBER')
}

let count = 0
async function newSubject(): Promise<Subject> {
  const application = await newApplication(client)
  return { ...application, serial: newSerial('UM'), name: `subject-${newSerial('n')}-${++count}` }
}

async function outcomeOf(operation: Operation, make: Body, value: unknown, isLoaded: boolean) {
  const subject = await newSubject()
  const body = await make(subject)
  const sent = isLoaded ? loaded(body, operation.body as TSchema, value) : JSON.stringify(body)
  const answer = await client.operate(operation, sent)
  return {
    status: answer.status,
    code: answer.code,
    data: withoutOwn(JSON.stringify(answer.data), subject),
    rows: await rowsOf(subject),
  }
}

for (const [operation, make] of writes) {
  test(`${operation.id} takes no member that its contract does not name`, async () => {
    const plain = await outcomeOf(operation, make, null, false)
    expect(plain).toMatchObject({ status: 200, code: 0 })
    for (const value of values) {
      expect(await outcomeOf(operation, make, value, true)).toEqual(plain)
    }
  })
}
