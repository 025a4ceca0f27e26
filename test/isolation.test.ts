import { describe, expect, test } from 'bun:test'
import type { TObject, TSchema } from 'typebox'
import { createApplication } from '../src/applications/contract.ts'
import { getBillingRule, saveBillingRule } from '../src/billing-rules/contract.ts'
import { getDeviceHistory, unbindDevice } from '../src/device-ownership/contract.ts'
import { reportDeviceState } from '../src/device-state/contract.ts'
import { createDevice, getDevice, updateDevice } from '../src/devices/contract.ts'
import type { Operation } from '../src/http/operation.ts'
import { operations } from '../src/operations.ts'
import { saveSite } from '../src/sites/contract.ts'
import { revokeToken } from '../src/tokens/contract.ts'
import {
  type Client,
  deviceBody,
  newApplication,
  newSerial,
  siteBody,
  type TestApplication,
  target,
} from './harness.ts'

// Generated from the operations list: an operation without a line here fails the test, so none can be forgotten.

const client = await target()
const owner = await newApplication(client)
const stranger = await newApplication(client)
const rule = await newRule(client, owner)
const device = await newDevice(client, owner)

/** What each operation takes when it acts for the owner. */
const inputs: Record<string, unknown> = {
  issueToken: 'open',
  revokeToken: 'open',
  saveSite: siteBody(owner.appId),
  saveBillingRule: { appId: owner.appId, ...occupancyTerms() },
  getBillingRule: { appId: owner.appId, id: rule },
  pageBillingRules: { appId: owner.appId },
  saveThirdPartyConfig: { appId: owner.appId, operatorName: 'Test operator' },
  getThirdPartyConfig: { appId: owner.appId },
  createDevice: deviceBody(owner.appId),
  createDevices: { appId: owner.appId, devices: [deviceBody(owner.appId)] },
  updateDevice: { appId: owner.appId, deviceNo: device, deviceName: 'taken over' },
  getDevice: { appId: owner.appId, deviceNo: device },
  reportDeviceState: { appId: owner.appId, deviceNo: device, status: 2 },
  unbindDevice: { appId: owner.appId, deviceNo: device },
  getDeviceHistory: { appId: owner.appId, deviceNo: device },
  forceUnbindDevice: { deviceNo: device, reason: 'taken over' },
  transferDevice: { deviceNo: device, targetAppId: stranger.appId, reason: 'taken over' },
  pageEvents: { appId: owner.appId },
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
  getHealth: 'open',
  getReadiness: 'open',
  getMetrics: {},
  getOpenApi: 'open',
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
    test(`${operation.id} asks for no token, and only because it must not`, () => {
      expect(operation.callers).toEqual([])
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

    if (isShared(operation)) {
      test('belongs to no application: it answers every one, and operators, the same', async () => {
        const answers = [owner.token, stranger.token, client.operatorKey].map((token) =>
          client.call(operation, input, { token }),
        )
        const [first, ...others] = (await Promise.all(answers)).map(({ status, text }) => ({ status, text }))
        expect(first?.status).toBe(200)
        for (const other of others) expect(other).toEqual(first)
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
  for (const operation of [getDevice, updateDevice, reportDeviceState, unbindDevice, getDeviceHistory]) {
    test(`is not found by ${operation.id}`, async () => {
      for (const appId of [stranger.appId, '']) {
        const input = { ...(inputs[operation.id] as object), appId }
        const answer = await client.call<TObject, TObject, TSchema>(operation, input, { token: stranger.token })
        expect([answer.status, answer.code, answer.data]).toEqual([404, 20002, null])
      }
    })
  }

  test('is not found by getBillingRule', async () => {
    const input = { appId: stranger.appId, id: rule }
    const answer = await client.call(getBillingRule, input, { token: stranger.token })
    expect([answer.status, answer.code]).toEqual([404, 40002])
  })

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

test('what was refused above has changed nothing', async () => {
  const bound = await client.call(getDevice, { deviceNo: device }, { token: owner.token })
  expect(bound.data).toMatchObject({ appId: owner.appId, deviceName: 'East gate barrier', status: 1 })
  const answer = await client.call(getBillingRule, { appId: owner.appId, id: rule }, { token: owner.token })
  expect(answer.code).toBe(0)
  const fresh = await client.operate(createApplication, { appName: 'probe' })
  expect(fresh.data.status).toBe(1)
})
