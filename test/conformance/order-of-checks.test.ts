import { describe, expect, test } from 'bun:test'
import { createDevice } from '../../src/devices/contract.ts'
import { saveSite } from '../../src/sites/contract.ts'
import { deviceBody, newApplication, newSerial, siteBody, takeOffline } from '../kit/records.ts'
import {
  bearer,
  client,
  createDeviceOf,
  expectFaults,
  expectRefusal,
  expectSuccess,
  newBareApplication,
  newRule,
  post,
  saveSiteOf,
  succeed,
  withinOneSecond,
} from './support.ts'

describe.each([
  { id: createDevice.id, path: createDevice.path, body: deviceBody },
  { id: saveSite.id, path: saveSite.path, body: siteBody },
])('$id looks at', ({ path, body }) => {
  test('the token before the body, its media type and its size', async () => {
    for (const text of ['{', '{}', JSON.stringify(body('x')), 'x'.repeat(100_000)]) {
      expectRefusal(await post(path, text, { 'content-type': 'text/plain' }), 'tokenInvalid')
      expectRefusal(await post(path, text, bearer('wrong')), 'tokenInvalid')
    }
  })

  test('a freeze before the body', async () => {
    const { appId, token } = await newApplication(client)
    await succeed('freezeApplication', { appId, reason: 'order' })
    expectRefusal(await withinOneSecond(() => post(path, '{', bearer(token)), 10005), 'applicationFrozen')
  })

  test('the body before whose application it is, and whether that exists', async () => {
    const [{ token }, other] = await Promise.all([newApplication(client), newApplication(client)])
    const send = (by: string, body: unknown) => post(path, JSON.stringify(body), bearer(by))
    expectFaults(await post(path, '{', bearer(token)), ['body'])
    expectFaults(await send(token, body(other.appId, { districtCode: '' })), ['districtCode'])
    for (const by of [token, client.operatorKey]) {
      expectFaults(await send(by, body('no-such-application', { districtCode: 5 })), ['districtCode'])
    }
  })
})

test('createDevice looks at the body, then at whether the application is online, then at the serial, which stays free', async () => {
  const [application, other] = await Promise.all([newApplication(client), newApplication(client)])
  const [own, foreign, free] = [newSerial(), newSerial(), newSerial()]
  expectSuccess(await createDeviceOf(application, { deviceNo: own }))
  expectSuccess(await createDeviceOf(other, { deviceNo: foreign }))
  await takeOffline(client, application.appId)
  for (const deviceNo of [own, foreign, free]) {
    expectRefusal(await createDeviceOf(application, { deviceNo }), 'applicationOffline')
    expectFaults(await createDeviceOf(application, { deviceNo, coordinates: 'x' }), ['coordinates'])
  }
  expectRefusal(await client.operate('createDevice', deviceBody(application.appId)), 'applicationOffline')
  expectSuccess(await createDeviceOf(other, { deviceNo: free }))
  await succeed('takeApplicationOnline', { appId: application.appId })
  expectSuccess(await createDeviceOf(application))
})

test('saveSite looks at the body, at whose application it is, at its configuration and at rules before their types', async () => {
  const [application, bare] = await Promise.all([newApplication(client), newBareApplication()])
  expectFaults(await saveSiteOf(bare, { siteName: '' }), ['siteName'])
  expectRefusal(await client.call('saveSite', siteBody(bare.appId), application), 'notPermitted')
  const ofNone = await client.operate('saveSite', siteBody('no-such-application', { fastChargeBillRuleId: 0 }))
  expectRefusal(ofNone, 'applicationNotFound')
  expect(ofNone.data).toBeNull()
  for (const fastChargeBillRuleId of [0, await newRule(bare, 2)]) {
    expectRefusal(await saveSiteOf(bare, { fastChargeBillRuleId }), 'thirdPartyConfigMissing')
  }
  const slow = await newRule(application, 2)
  const answer = await saveSiteOf(application, { fastChargeBillRuleId: slow, placeholderBillRuleId: 0 })
  expectFaults(answer, ['placeholderBillRuleId'], 'billingRuleNotFound')
})
