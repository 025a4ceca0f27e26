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
  ...['appId', 'callbackEvents', 'callbackSecret', 'callbackStopReason', 'callbackStopTime', 'callbackUrl'],
  ...['operatorId', 'operatorName', 'updateTime'],
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

test('saving again replaces the configuration, and what is not given is cleared; the secret is shown when it is made', async () => {
  const application = await newBareApplication()
  const first = { operatorId: 'MA1234567', callbackUrl: 'https://example.com/a', callbackEvents: ['device.bound'] }
  const { callbackSecret } = expectSuccess(await save(application, first))
  const again = await save(application, { operatorName: 'Another' })
  expect(again.text).not.toContain(String(callbackSecret))
  const replaced = await detail(application)
  expect(replaced).toMatchObject({ operatorName: 'Another', operatorId: null, callbackUrl: null, callbackSecret: null })
  expect(replaced.callbackEvents.toSorted()).toEqual(eventTypes.toSorted())
  expect(expectSuccess(again)).toEqual(replaced)
})

test('a refused configuration makes none: sites stay refused until there is one', async () => {
  const application = await newBareApplication()
  expectFaults(await save(application, { callbackUrl: 'http://example.com' }), ['callbackUrl'])
  expectRefusal(await saveSiteOf(application), 'thirdPartyConfigMissing')
  const { appId, token } = application
  expectRefusal(await client.call('getThirdPartyConfig', { appId }, { token }), 'thirdPartyConfigMissing')
  expectRefusal(await client.call('rotateCallbackSecret', { appId }, { token }), 'thirdPartyConfigMissing')
  expectSuccess(await save(application))
  expectSuccess(await saveSiteOf(application))
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
    ...['12345678', '1234567890', '12345 789', '12345-789', '１２３４５６７８９', 'MA123456Ω', ' 12345678'],
    ...['123456789\n', 123456789, true, {}],
  ]
  for (const operatorId of refused) {
    expectFaults(await save(application, { operatorId }), ['operatorId'])
  }
})

test('callbackEvents are documented types, at least one, and not given means all; unknown ones are named by their place', async () => {
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
  const unknown = ['device.bound', 'device.*', '', 'Device.Bound', 5, null]
  const places = [1, 2, 3, 4, 5].map((place) => `callbackEvents[${place}]`)
  expectFaults(await save(application, { callbackEvents: unknown }), places)
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
  const application = await newBareApplication()
  const made = expectSuccess(await save(application))
  const added = expectSuccess(await save(application, { callbackUrl: 'https://callbacks.example.org/a' }))
  expect(made.callbackSecret).toMatch(/^whsec_/)
  expect(added.callbackSecret).toMatch(/^whsec_/)
  expect(added.callbackSecret).not.toBe(made.callbackSecret)
  const changed = expectSuccess(await save(application, { callbackUrl: 'https://callbacks.example.org/b' }))
  expect(changed.callbackSecret).toBeNull()
})
