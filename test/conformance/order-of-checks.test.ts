import { expect, test } from 'bun:test'
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

const operations = [
  { operation: createDevice, body: deviceBody },
  { operation: saveSite, body: siteBody },
]

for (const { operation, body } of operations) {
  const { id, path } = operation
  const send = (token: string, body: unknown) => post(path, JSON.stringify(body), bearer(token))

  test(`${id} looks at the token before the body, its media type and its size`, async () => {
    for (const text of ['{', '{}', JSON.stringify(body('x')), 'x'.repeat(100_000)]) {
      expectRefusal(await post(path, text, { 'content-type': 'text/plain' }), 'tokenInvalid')
      expectRefusal(await post(path, text, bearer('wrong')), 'tokenInvalid')
    }
  })

  test(`${id} looks at a freeze before the body`, async () => {
    const { appId, token } = await newApplication(client)
    await succeed('freezeApplication', { appId, reason: 'order' })
    expectRefusal(await withinOneSecond(() => post(path, '{', bearer(token)), 10005), 'applicationFrozen')
  })

  test(`${id} looks at the body before whether the caller may act for the appId`, async () => {
    const [{ token }, other] = await Promise.all([newApplication(client), newApplication(client)])
    expectFaults(await post(path, '{', bearer(token)), ['body'])
    expectFaults(await send(token, body(other.appId, { districtCode: '' })), ['districtCode'])
    expectFaults(await send(token, body('no-such-application', { districtCode: 5 })), ['districtCode'])
  })

  test(`${id} looks at the body before whether an operator’s application exists`, async () => {
    const unknown = body('no-such-application', { districtCode: '' })
    expectFaults(await send(client.operatorKey, unknown), ['districtCode'])
  })
}

test('createDevice looks at whether the caller may act for the appId before the application’s state and the serial', async () => {
  const [caller, other] = await Promise.all([newApplication(client), newApplication(client)])
  const deviceNo = newSerial()
  expectSuccess(await createDeviceOf(other, { deviceNo }))
  await takeOffline(client, other.appId)
  const { token } = caller
  expectRefusal(await client.call('createDevice', deviceBody(other.appId, { deviceNo }), { token }), 'notPermitted')
})

test('createDevice looks at the body, then at whether the application is online, then at the serial', async () => {
  const [application, other] = await Promise.all([newApplication(client), newApplication(client)])
  const [own, foreign] = [newSerial(), newSerial()]
  expectSuccess(await createDeviceOf(application, { deviceNo: own }))
  expectSuccess(await createDeviceOf(other, { deviceNo: foreign }))
  await takeOffline(client, application.appId)
  for (const deviceNo of [own, foreign, newSerial()]) {
    expectRefusal(await createDeviceOf(application, { deviceNo }), 'applicationOffline')
    expectFaults(await createDeviceOf(application, { deviceNo, coordinates: 'x' }), ['coordinates'])
  }
})

test('saveSite looks at the body, at whose application it is, at its configuration and at rules before their types', async () => {
  const [application, bare] = await Promise.all([newApplication(client), newBareApplication()])
  expectFaults(await saveSiteOf(bare, { siteName: '' }), ['siteName'])
  expectRefusal(await client.call('saveSite', siteBody(bare.appId), application), 'notPermitted')
  for (const fastChargeBillRuleId of [0, await newRule(bare, 2)]) {
    expectRefusal(await saveSiteOf(bare, { fastChargeBillRuleId }), 'thirdPartyConfigMissing')
  }
  const slow = await newRule(application, 2)
  const answer = await saveSiteOf(application, { fastChargeBillRuleId: slow, placeholderBillRuleId: 0 })
  expectFaults(answer, ['placeholderBillRuleId'], 'billingRuleNotFound')
})

test('saveSite by an operator looks at whether the application exists before its configuration and rules', async () => {
  const answer = await client.operate('saveSite', siteBody('no-such-application', { fastChargeBillRuleId: 0 }))
  expectRefusal(answer, 'applicationNotFound')
  expect(answer.data).toBeNull()
})
