import { expect, test } from 'bun:test'
import { freezeApplication } from '../../src/applications/contract.ts'
import { createDevice } from '../../src/devices/contract.ts'
import { saveSite } from '../../src/sites/contract.ts'
import { deviceBody, newApplication, newSerial, siteBody, takeOffline } from '../harness.ts'
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
    expectSuccess(await client.operate(freezeApplication, { appId, reason: 'order' }))
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

test('createDevice looks at the body before whether the application is online', async () => {
  const application = await newApplication(client)
  await takeOffline(client, application.appId)
  expectFaults(await createDeviceOf(application, { coordinates: 'x' }), ['coordinates'])
})

test('createDevice looks at whether the caller may act for the appId before the application’s state and the serial', async () => {
  const [caller, other] = await Promise.all([newApplication(client), newApplication(client)])
  const deviceNo = newSerial()
  expectSuccess(await createDeviceOf(other, { deviceNo }))
  await takeOffline(client, other.appId)
  const { token } = caller
  expectRefusal(await client.call(createDevice, deviceBody(other.appId, { deviceNo }), { token }), 'notPermitted')
})

test('createDevice looks at whether the application is online before the serial', async () => {
  const [application, other] = await Promise.all([newApplication(client), newApplication(client)])
  const [own, foreign] = [newSerial(), newSerial()]
  expectSuccess(await createDeviceOf(application, { deviceNo: own }))
  expectSuccess(await createDeviceOf(other, { deviceNo: foreign }))
  await takeOffline(client, application.appId)
  for (const deviceNo of [own, foreign, newSerial()]) {
    expectRefusal(await createDeviceOf(application, { deviceNo }), 'applicationOffline')
  }
})

test('saveSite looks at the body before the third-party configuration', async () => {
  expectFaults(await saveSiteOf(await newBareApplication(), { siteName: '' }), ['siteName'])
})

test('saveSite looks at whether the caller may act for the appId before the third-party configuration', async () => {
  const [caller, bare] = await Promise.all([newApplication(client), newBareApplication()])
  expectRefusal(await client.call(saveSite, siteBody(bare.appId), { token: caller.token }), 'notPermitted')
})

test('saveSite looks at the third-party configuration before the billing rules', async () => {
  const application = await newBareApplication()
  expectRefusal(await saveSiteOf(application, { fastChargeBillRuleId: 0 }), 'thirdPartyConfigMissing')
  const slow = await newRule(application, 2)
  expectRefusal(await saveSiteOf(application, { fastChargeBillRuleId: slow }), 'thirdPartyConfigMissing')
})

test('saveSite looks at whether the rules exist before their types', async () => {
  const application = await newApplication(client)
  const slow = await newRule(application, 2)
  const answer = await saveSiteOf(application, { fastChargeBillRuleId: slow, placeholderBillRuleId: 0 })
  expectFaults(answer, ['placeholderBillRuleId'], 'billingRuleNotFound')
})

test('saveSite by an operator looks at whether the application exists before its configuration and rules', async () => {
  const answer = await client.operate(saveSite, siteBody('no-such-application', { fastChargeBillRuleId: 0 }))
  expectRefusal(answer, 'applicationNotFound')
  expect(answer.data).toBeNull()
})
