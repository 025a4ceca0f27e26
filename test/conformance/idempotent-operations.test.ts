import { expect, test } from 'bun:test'
import { createApplication, rotateApplicationSecret } from '../../src/applications/contract.ts'
import { rotateCallbackSecret, saveThirdPartyConfig } from '../../src/applications/third-party-config/contract.ts'
import { deleteBillingRule, saveBillingRule } from '../../src/billing-rules/contract.ts'
import { createAct } from '../../src/bulk/acts/contract.ts'
import { replayDeliveries, testDelivery } from '../../src/deliveries/contract.ts'
import { createDevice, createDevices, updateDevices } from '../../src/devices/contract.ts'
import { deleteDeviceInventory, importDeviceInventory } from '../../src/devices/inventory/contract.ts'
import { deleteDeviceModel, saveDeviceModel } from '../../src/devices/models/contract.ts'
import {
  forceUnbindDevice,
  transferDevice,
  transferDevices,
  unbindDevice,
  unbindDevices,
} from '../../src/devices/ownership/contract.ts'
import {
  removePlacement,
  removePlacements,
  savePlacement,
  savePlacements,
} from '../../src/devices/placement/contract.ts'
import { reportDeviceStates } from '../../src/devices/state/contract.ts'
import {
  createOperator,
  createOperatorKey,
  deleteOperator,
  deleteOperatorKey,
  handOverOperatorKey,
  resetOperator,
} from '../../src/people/operators/contract.ts'
import { resetSecondFactors } from '../../src/people/second-factor/contract.ts'
import { createSession, deleteSession, getSession } from '../../src/people/sessions/contract.ts'
import { operations } from '../../src/reference/operations.ts'
import { deleteRegion, saveRegion } from '../../src/regions/contract.ts'
import { deleteSite, saveSite, saveSites, updateSites } from '../../src/sites/contract.ts'
import { cancelPriceChange, schedulePriceChange, undoPriceChange } from '../../src/sites/price-changes/contract.ts'
import type { Operation } from '../../src/vocabulary/operation.ts'
import { type Answer, deviceBody, newApplication, newSerial, siteBody } from '../harness.ts'
import { cookieOf, newGenerator, newPerson, signIn } from '../people.ts'
import { untyped } from '../untyped.ts'
import { ahead, at, day, scheduled, scheduledSoon, untilApplied } from './price-support.ts'
import {
  client,
  createDeviceOf,
  expectFaults,
  expectRefusal,
  expectSuccess,
  newBareApplication,
  newRule,
  saveSiteOf,
} from './support.ts'

/** A write that would fail, or have another effect, if it were carried out twice. */
interface Case {
  operation: { id: string; path: string; idempotent?: boolean }
  /** Creates the records that the operation needs; returns its body. */
  prepare(): Promise<object>
  /** Paths of the secrets that the response shows only once. */
  secrets?: string[]
  /** Whether the operation, while it runs, may refuse the same operation from another request (contract §6). */
  runsAlone?: true
}

const owner = await newApplication(client)
const { appId } = owner
const unheard = { operatorName: 'Operator', callbackUrl: 'https://nowhere.example.com/callback' }

async function newDevice() {
  return { deviceNo: expectSuccess(await createDeviceOf(owner)).deviceNo }
}

async function newModel() {
  const model = { serialPrefix: newSerial('PRE'), modelName: newSerial('Model') }
  expectSuccess(await client.operate(saveDeviceModel, model))
  return model
}

async function newRegion() {
  const region = { code: '360197', name: newSerial('Region') }
  expectSuccess(await client.operate(saveRegion, region))
  return region
}

async function newEntries() {
  const { modelName } = await newModel()
  return { entries: [{ deviceNo: newSerial(), modelName }] }
}

async function newCalledBack() {
  return (await newApplication(client, { thirdPartyConfig: unheard })).appId
}

async function newPlacement() {
  const siteId = expectSuccess(await saveSiteOf(owner)).id
  return { ...(await newDevice()), siteId, laneType: 1 }
}

async function placed() {
  const placement = await newPlacement()
  expectSuccess(await client.operate(savePlacement, { appId, ...placement }))
  return { deviceNo: placement.deviceNo }
}

const cases: Case[] = [
  { operation: saveSite, prepare: async () => siteBody(appId) },
  { operation: saveSites, prepare: async () => ({ appId, sites: [siteBody(appId), {}] }) },
  {
    operation: updateSites,
    prepare: async () => ({ appId, sites: [{ id: expectSuccess(await saveSiteOf(owner)).id, siteName: 'new' }, {}] }),
  },
  { operation: deleteSite, prepare: async () => ({ appId, id: expectSuccess(await saveSiteOf(owner)).id }) },
  {
    operation: saveBillingRule,
    prepare: async () => ({ appId, ruleName: 'A', ruleType: 3, freeMinutes: 15, unitMinutes: 30, unitPrice: '2' }),
  },
  { operation: deleteBillingRule, prepare: async () => ({ appId, id: await newRule(owner, 1) }) },
  {
    operation: schedulePriceChange,
    prepare: async () => ({
      appId,
      effectiveTime: ahead(day),
      billingRuleId: await newRule(owner, 1),
      periods: at('1'),
    }),
  },
  {
    operation: undoPriceChange,
    async prepare() {
      const { id } = await scheduledSoon(owner, { billingRuleId: await newRule(owner, 1), periods: at('1') })
      await untilApplied(owner, id)
      return { appId, id, reason: 'a mistake' }
    },
  },
  {
    operation: cancelPriceChange,
    async prepare() {
      const terms = { effectiveTime: ahead(day), billingRuleId: await newRule(owner, 1), periods: at('1') }
      return { appId, id: (await scheduled(owner, terms)).id, reason: 'a mistake' }
    },
  },
  {
    operation: saveThirdPartyConfig,
    prepare: async () => ({ appId: (await newBareApplication()).appId, ...unheard }),
    secrets: ['callbackSecret'],
  },
  { operation: rotateCallbackSecret, prepare: async () => ({ appId }), secrets: ['callbackSecret'] },
  { operation: createDevice, prepare: async () => deviceBody(appId) },
  { operation: createDevices, prepare: async () => ({ appId, devices: [deviceBody(appId), {}] }) },
  {
    operation: updateDevices,
    prepare: async () => ({ appId, devices: [{ ...(await newDevice()), tag: 'new' }, {}] }),
  },
  {
    operation: reportDeviceStates,
    prepare: async () => ({ appId, reports: [{ ...(await newDevice()), runStatus: 1 }, {}] }),
  },
  { operation: savePlacements, prepare: async () => ({ appId, placements: [await newPlacement(), {}] }) },
  { operation: removePlacement, prepare: async () => ({ appId, ...(await placed()) }) },
  {
    operation: removePlacements,
    prepare: async () => ({ appId, deviceNos: [(await placed()).deviceNo, newSerial(), 7] }),
  },
  { operation: unbindDevice, prepare: async () => ({ appId, ...(await newDevice()) }) },
  {
    operation: unbindDevices,
    prepare: async () => ({ appId, deviceNos: [(await newDevice()).deviceNo, newSerial(), 7] }),
  },
  {
    operation: transferDevices,
    prepare: async () => ({
      deviceNos: [(await newDevice()).deviceNo, newSerial(), 7],
      targetAppId: (await newBareApplication()).appId,
      reason: 'x',
    }),
  },
  { operation: forceUnbindDevice, prepare: async () => ({ ...(await newDevice()), reason: 'x' }) },
  {
    operation: transferDevice,
    prepare: async () => ({ ...(await newDevice()), targetAppId: (await newBareApplication()).appId, reason: 'x' }),
  },
  {
    operation: replayDeliveries,
    prepare: async () => ({
      appId: await newCalledBack(),
      timeFrom: '2000-01-01 00:00:00',
      timeTo: '2999-12-31 23:59:59',
    }),
    runsAlone: true,
  },
  {
    operation: createAct,
    prepare: async () => ({
      appId: (await newBareApplication()).appId,
      kind: 'devices',
      act: 'unbind',
      filter: { all: true },
    }),
  },
  { operation: testDelivery, prepare: async () => ({ appId: await newCalledBack() }), runsAlone: true },
  {
    operation: createApplication,
    prepare: async () => ({ appName: 'made', thirdPartyConfig: unheard }),
    secrets: ['appSecret', 'thirdPartyConfig.callbackSecret'],
  },
  {
    operation: rotateApplicationSecret,
    prepare: async () => ({ appId: (await newBareApplication()).appId, overlapSeconds: 60 }),
    secrets: ['appSecret'],
  },
  { operation: saveDeviceModel, prepare: newModel },
  { operation: deleteDeviceModel, prepare: newModel },
  { operation: saveRegion, prepare: newRegion },
  { operation: deleteRegion, prepare: newRegion },
  { operation: importDeviceInventory, prepare: newEntries },
  {
    operation: deleteDeviceInventory,
    async prepare() {
      const { entries } = await newEntries()
      expectSuccess(await client.operate(importDeviceInventory, { entries }))
      return { deviceNo: entries[0]?.deviceNo }
    },
  },
  {
    operation: createOperator,
    prepare: async () => ({ name: newSerial('p'), role: 'viewer' }),
    secrets: ['setUpPath'],
  },
  { operation: deleteOperator, prepare: async () => ({ id: (await newPerson(client, 'viewer')).id }) },
  {
    operation: resetOperator,
    prepare: async () => ({ id: (await newPerson(client, 'viewer')).id }),
    secrets: ['setUpPath'],
  },
  {
    operation: resetSecondFactors,
    async prepare() {
      const person = await newPerson(client, 'viewer')
      await newGenerator(client, await signIn(client, person))
      return { id: person.id, reason: 'a lost phone' }
    },
  },
  {
    operation: createOperatorKey,
    prepare: async () => ({ name: newSerial('k'), role: 'viewer' }),
    secrets: ['operatorKey'],
  },
  {
    operation: deleteOperatorKey,
    async prepare() {
      const { id } = expectSuccess(await client.operate(createOperatorKey, { name: newSerial('k'), role: 'viewer' }))
      return { id }
    },
  },
  {
    operation: handOverOperatorKey,
    async prepare() {
      const { id } = expectSuccess(await client.operate(createOperatorKey, { name: newSerial('k'), role: 'viewer' }))
      return { id, operatorId: (await newPerson(client, 'viewer')).id }
    },
  },
  {
    operation: deleteSession,
    async prepare() {
      const { name, password } = await newPerson(client, 'viewer')
      const headers = { cookie: cookieOf(await client.call(createSession, { name, password })) }
      return { id: expectSuccess(await client.call(getSession, {}, { headers })).id }
    },
  },
]

type Json = Record<string, unknown>

/** The secrets at these paths of a response's data. */
function secretsOf(data: unknown, places: string[]): unknown[] {
  return places.map((place) => place.split('.').reduce((value, member) => (value as Json)[member], data as unknown))
}

function withoutSecrets(data: unknown, places: string[]): unknown {
  const shown = structuredClone(data) as Json
  for (const place of places) {
    const members = place.split('.')
    const last = members.pop() as string
    const holder = members.reduce((value, member) => value[member] as Json, shown)
    holder[last] = null
  }
  return shown
}

test('every operation that takes an Idempotency-Key is looked at here', () => {
  // Operations that take a file are tested together with files.
  const declared = operations.filter(({ idempotent, takes }) => idempotent && !takes).map(({ id }) => id)
  expect(cases.map(({ operation }) => operation.id).sort()).toEqual(declared.sort())
})

for (const { operation, prepare, secrets = [], runsAlone } of cases) {
  test(`${operation.id} with one key, twice at once and once more, is done once`, async () => {
    const body = await prepare()
    const send = (key: string, sent: unknown = body) =>
      client.operate(untyped(operation), sent, { headers: { 'idempotency-key': key } })
    expectFaults(await send(''), ['Idempotency-Key'])
    const key = newSerial('key')
    const both = await Promise.all([send(key), send(key)])
    const done = both.filter(({ code }) => !(runsAlone && code === 10007))
    for (const answer of done) expectSuccess(answer)
    const first = done.find(({ headers }) => !headers.has('idempotency-replayed')) as Answer<unknown>
    for (const secret of secretsOf(first.data, secrets)) expect(secret).toBeString()
    const kept = { code: 0, msg: 'success', data: withoutSecrets(first.data, secrets) }
    const again = await send(key)
    expect(again.headers.get('idempotency-replayed')).toBe('true')
    for (const replayed of [again, ...done.filter((answer) => answer !== first)]) {
      // Two concurrent requests with one key may share the rows of a batch: each row is written once, by one of them.
      if (replayed.headers.has('idempotency-replayed')) expect(JSON.parse(replayed.text)).toEqual(kept)
      if (secrets.length === 0) expect(replayed.text).toBe(first.text)
    }
    expectRefusal(await send(key, { ...body, other: 1 }), 'idempotencyKeyReused')
  })
}

test('updates and switches ignore the header, whatever it holds', async () => {
  const ignoring = operations.filter(({ idempotent, method }) => !idempotent && method === 'POST')
  const id = expectSuccess(await saveSiteOf(owner)).id
  const updateSite = ignoring.find((operation) => operation.id === 'updateSite') as Operation
  for (const contacts of ['Li Na', 'Wang Fang']) {
    const headers = { 'idempotency-key': 'two words' }
    const updated = await client.operate(updateSite, { appId, id, contacts }, { headers })
    expect(expectSuccess(updated)).toMatchObject({ contacts })
  }
})

test('an operator’s keys are its own', async () => {
  const token = expectSuccess(
    await client.operate(createOperatorKey, { name: newSerial('k'), role: 'admin' }),
  ).operatorKey
  const headers = { 'idempotency-key': newSerial('key') }
  const body = { appName: 'mine' }
  const mine = expectSuccess(await client.operate(createApplication, body, { headers }))
  const theirs = await client.call(createApplication, body, { token: token ?? '', headers })
  expect(expectSuccess(theirs).appId).not.toBe(mine.appId)
})
