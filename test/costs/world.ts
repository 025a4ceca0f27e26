import type postgres from 'postgres'
import type { ActRecord } from '../../src/bulk/acts/contract.ts'
import { Authenticator } from '../kit/authenticator.ts'
import type { Client } from '../kit/client.ts'
import { newPerson } from '../kit/people.ts'
import { deviceBody, newApplication, newSerial, siteBody, type TestApplication } from '../kit/records.ts'
import { becomesTrue } from '../kit/waits.ts'

/** The rows that the measured operations use; they stay the same while the tables grow. */
export interface World {
  client: Client
  /** Without it, what only the database can prepare is named by a record that is there. */
  sql?: postgres.Sql
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

export type WorldWithDatabase = World & { sql: postgres.Sql }

export async function makeWorld(client: Client, sql: postgres.Sql, callbackUrl: string): Promise<WorldWithDatabase> {
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

export async function made<Data>(answer: Promise<{ code: number; text: string; data: Data }>): Promise<Data> {
  const { code, text, data } = await answer
  if (code !== 0) throw new Error(text)
  return data
}

export const newDevice = async ({ client, owner }: Makers) =>
  (await made(client.call('createDevice', deviceBody(owner.appId), owner))).deviceNo
export const newSite = async ({ client, owner }: Makers) =>
  (await made(client.call('saveSite', siteBody(owner.appId), owner))).id
export const terms = { ruleName: 'Occupancy', ruleType: 3, freeMinutes: 15, unitMinutes: 30, unitPrice: '2.00' }
/** A new device that stands at a site: a new one, so that no more devices stand at those that are read. */
export const newPlaced = async (world: Makers, at?: number) => {
  const [deviceNo, site] = [await newDevice(world), at ?? (await newSite(world))]
  const { client, owner } = world
  await made(client.call('savePlacement', { appId: owner.appId, deviceNo, siteId: site, laneType: 1 }, owner))
  return deviceNo
}
export const newRule = async ({ client, owner }: Makers) =>
  (await made(client.call('saveBillingRule', { appId: owner.appId, ...terms }, owner))).id

let minutes = 0
/** New terms of a rule, each at another moment. */
export const newTerms = (rule: number) => ({
  effectiveTime: new Date(Math.floor(Date.now() / 1000) * 1000 + ++minutes * 60_000 + 86_400_000).toISOString(),
  billingRuleId: rule,
  freeMinutes: 5,
  unitMinutes: 30,
  unitPrice: '3.00',
})
/** A price change of an occupancy rule that waits. */
export const newPriceChange = async ({ client, owner }: Makers, rule: number) => {
  const input = { appId: owner.appId, ...newTerms(rule) }
  return (await made(client.call('schedulePriceChange', input, owner))).id as number
}

/** A price change of a new rule that has taken effect. */
export async function appliedPriceChange(world: World): Promise<number> {
  const { client, owner, sql } = world
  if (sql === undefined) return world.priceChange
  const id = await newPriceChange(world, await newRule(world))
  await sql`update price_change set effective_at = now() where app_id = ${owner.appId} and id = ${id}`
  await sql`update rule_terms set from_at = now() where app_id = ${owner.appId} and change_id = ${id}`
  const isApplied = async () =>
    (await made(client.call('getPriceChange', { appId: owner.appId, id }, owner))).appliedTime !== null
  if (!(await becomesTrue(isApplied))) throw new Error('the price change is not written down')
  return id
}

export const fileOf = (serials: readonly string[]) =>
  serials.map((deviceNo) => `${JSON.stringify({ ...deviceBody('x'), appId: undefined, deviceNo })}\n`).join('')

export async function newImport({ client, owner }: Makers): Promise<number> {
  const input = { appId: owner.appId, kind: 'devices', file: fileOf([newSerial(), newSerial()]) }
  const { id } = await made(client.call('createImport', input, inNdjson(owner)))
  const isOver = async () => (await made(client.call('getImport', { appId: owner.appId, id }, owner))).status > 2
  if (!(await becomesTrue(isOver))) throw new Error('the import does not end')
  return id
}

export const actOn = (deviceNo: string) => ({
  kind: 'devices',
  act: 'update',
  filter: { deviceNo },
  set: { tag: newSerial('tag') },
})

export async function newAct({ client, owner }: Makers): Promise<number> {
  const { id } = (await made(
    client.call('createAct', { appId: owner.appId, ...actOn('no-such-device') }, owner),
  )) as ActRecord
  const isOver = async () => (await made(client.call('getAct', { appId: owner.appId, id }, owner))).status > 2
  if (!(await becomesTrue(isOver))) throw new Error('the act does not end')
  return id
}

/**
 * Waits until all imports and acts have ended: the background worker's statements for them would be counted for the next
 * operation.
 */
export async function allImportsOver({ sql }: World): Promise<void> {
  if (sql === undefined) return
  const isOver = async () => (await sql`select 1 from import where status in (1, 2)`).length === 0
  if (!(await becomesTrue(isOver))) throw new Error('an import does not end')
}

/** Creates a job with an endless lease, so that no worker starts it: an act, or null for an import. */
export async function waitingJob({ sql, owner, importId, actId }: World, act: string | null): Promise<number> {
  if (sql === undefined) return act === null ? importId : actId
  const [row] = await sql<[{ id: number }]>`
    insert into import (app_id, kind, format, act, filter, began_after, is_dry_run, status, actor, lease_until)
    values (${owner.appId}, 'devices', 'csv', ${act}, '{}', 0, false, 1, 'operatorKey', 'infinity') returning id`
  return row.id
}

export const newOperatorId = async ({ client }: Makers) => (await newPerson(client, 'viewer')).id

/** The address of the service whose operations are measured: passkeys belong to it. */
export const measuredOrigin = 'https://forecourt.example'

export async function newPasskey(client: Client, headers: { cookie: string }) {
  const { options, ticket } = await made(client.call('startPasskey', {}, { headers }))
  return { ticket, credential: new Authenticator(measuredOrigin).create(options), name: 'Laptop' }
}

export const inNdjson = ({ token }: TestApplication) => ({ token, headers: { 'content-type': 'application/x-ndjson' } })

export async function otherApplication(client: Client): Promise<string> {
  return (await made(client.operate('createApplication', { appName: 'test' }))).appId
}
