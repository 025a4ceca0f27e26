import { expect, test } from 'bun:test'
import { eventTypes } from '../../src/vocabulary/event-types.ts'
import type { TestApplication } from '../kit/records.ts'
import {
  client,
  expectFaults,
  expectNow,
  expectRefusal,
  expectSuccess,
  newBareApplication,
  saveSiteOf,
  succeed,
} from './support.ts'

const recordMembers = [
  'appId',
  'callbackEvents',
  'callbackSecret',
  'callbackStopReason',
  'callbackStopTime',
  'callbackUrl',
  'operatorId',
  'operatorName',
  'updateTime',
]

function save({ appId, token }: TestApplication, members: Record<string, unknown> = {}) {
  return client.call('saveThirdPartyConfig', { appId, operatorName: 'Operator', ...members }, { token })
}

async function detail({ appId, token }: TestApplication) {
  return await succeed('getThirdPartyConfig', { appId }, { token })
}

test('saveThirdPartyConfig makes the configuration, and its detail answers it without the secret', async () => {
  const application = await newBareApplication()
  const sent = {
    operatorName: 'Parking Ltd',
    operatorId: 'MA1234567',
    callbackUrl: 'https://example.com/callback?x=1',
    callbackEvents: ['device.bound', 'site.created'],
  }
  const saved = expectSuccess(await save(application, sent))
  expect(Object.keys(saved).sort()).toEqual(recordMembers)
  expect(saved).toMatchObject({ appId: application.appId, ...sent })
  expect(saved.callbackSecret).toMatch(/^whsec_[A-Za-z0-9+/]{32,}=*$/)
  expectNow(saved.updateTime)
  expect(await detail(application)).toEqual({ ...saved, callbackSecret: null })
})

test('only operatorName is required, and the events default to all', async () => {
  const application = await newBareApplication()
  expect(expectSuccess(await save(application))).toMatchObject({ operatorId: null, callbackUrl: null })
  expect((await detail(application)).callbackEvents.toSorted()).toEqual(eventTypes.toSorted())
  for (const members of [{ operatorName: undefined }, { operatorName: null }, { operatorName: '' }]) {
    expectFaults(await save(application, members), ['operatorName'])
  }
})

test('saving again replaces the configuration: what is not given is cleared', async () => {
  const application = await newBareApplication()
  const first = { operatorId: 'MA1234567', callbackUrl: 'https://example.com/a', callbackEvents: ['device.bound'] }
  expectSuccess(await save(application, first))
  expectSuccess(await save(application, { operatorName: 'Another' }))
  const replaced = await detail(application)
  expect(replaced).toMatchObject({ operatorName: 'Another', operatorId: null, callbackUrl: null })
  expect(replaced.callbackEvents).toHaveLength(eventTypes.length)
})

test('the callback secret is shown when it is made, and not when the configuration is saved again', async () => {
  const application = await newBareApplication()
  const { callbackSecret } = expectSuccess(await save(application))
  const again = await save(application, { operatorName: 'Another' })
  expect(expectSuccess(again).callbackSecret).toBeNull()
  expect(again.text).not.toContain(String(callbackSecret))
})

test('a refused configuration makes none: sites stay refused', async () => {
  const application = await newBareApplication()
  expectFaults(await save(application, { callbackUrl: 'http://example.com' }), ['callbackUrl'])
  expectRefusal(await saveSiteOf(application), 'thirdPartyConfigMissing')
})

test('an operatorId is 9 letters or digits, or not given', async () => {
  const application = await newBareApplication()
  for (const operatorId of ['123456789', 'MA1234567', 'abcdefghi', 'ZZZZZZZZZ']) {
    expect(expectSuccess(await save(application, { operatorId })).operatorId).toBe(operatorId)
  }
  for (const operatorId of [undefined, null, '']) {
    expect(expectSuccess(await save(application, { operatorId })).operatorId).toBeNull()
  }
  const refused = [
    '12345678',
    '1234567890',
    '12345 789',
    '12345-789',
    '１２３４５６７８９',
    'MA123456Ω',
    ' 12345678',
    '123456789\n',
  ]
  for (const operatorId of [...refused, 123456789, true, {}]) {
    expectFaults(await save(application, { operatorId }), ['operatorId'])
  }
})

test('callbackEvents are documented types, at least one, and not given means all', async () => {
  const application = await newBareApplication()
  for (const type of eventTypes) {
    expect(expectSuccess(await save(application, { callbackEvents: [type] })).callbackEvents).toEqual([type])
  }
  for (const callbackEvents of [undefined, null, '', eventTypes]) {
    expect(expectSuccess(await save(application, { callbackEvents })).callbackEvents).toHaveLength(eventTypes.length)
  }
  for (const callbackEvents of [[], {}, 'device.bound', 5, true]) {
    expectFaults(await save(application, { callbackEvents }), ['callbackEvents'])
  }
})

test('every unknown callback event is named by its place', async () => {
  const application = await newBareApplication()
  const callbackEvents = ['device.bound', 'device.*', '', 'Device.Bound', 5, null]
  expectFaults(await save(application, { callbackEvents }), [
    'callbackEvents[1]',
    'callbackEvents[2]',
    'callbackEvents[3]',
    'callbackEvents[4]',
    'callbackEvents[5]',
  ])
})

test('the detail of an application without configuration is thirdPartyConfigMissing', async () => {
  const { appId, token } = await newBareApplication()
  expectRefusal(await client.call('getThirdPartyConfig', { appId }, { token }), 'thirdPartyConfigMissing')
  expectRefusal(await client.call('rotateCallbackSecret', { appId }, { token }), 'thirdPartyConfigMissing')
})

test('a rotated callback secret is shown once, and everything else stays', async () => {
  const application = await newBareApplication()
  const saved = expectSuccess(await save(application, { callbackUrl: 'https://example.com:1/a' }))
  const rotated = await succeed('rotateCallbackSecret', {}, application)
  expect(rotated.callbackSecret).toMatch(/^whsec_[A-Za-z0-9+/]{32,}=*$/)
  expect(rotated.callbackSecret).not.toBe(saved.callbackSecret)
  expect({ ...rotated, updateTime: saved.updateTime, callbackSecret: saved.callbackSecret }).toEqual(saved)
  expect(await detail(application)).toEqual({ ...rotated, callbackSecret: null })
  const again = await succeed('rotateCallbackSecret', { appId: application.appId })
  expect(again.callbackSecret).not.toBe(rotated.callbackSecret)
})

test('a callback that is added later gets a secret that is shown then', async () => {
  const { appId, token } = await newBareApplication()
  const save = async (members: object) =>
    await succeed('saveThirdPartyConfig', { operatorName: 'Operator', ...members }, { token })
  const made = await save({})
  const added = await save({ callbackUrl: 'https://callbacks.example.org/a' })
  expect(made.callbackSecret).toMatch(/^whsec_/)
  expect(added.callbackSecret).toMatch(/^whsec_/)
  expect(added.callbackSecret).not.toBe(made.callbackSecret)
  expect((await save({ callbackUrl: 'https://callbacks.example.org/b' })).callbackSecret).toBeNull()
  expect(added.appId).toBe(appId)
})
