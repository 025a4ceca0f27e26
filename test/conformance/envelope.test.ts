import { expect, test } from 'bun:test'
import type { Answer, Faults } from '../kit/client.ts'
import { deviceBody, newApplication, newSerial, siteBody, type TestApplication, takeOffline } from '../kit/records.ts'
import type { RefusalName } from './refusals.ts'
import { client, createDeviceOf, expectFaults, expectRefusal, newBareApplication, newRule } from './support.ts'

type Provoke = (headers: Record<string, string>) => Promise<Answer<unknown>>

/** For each refusal that a caller can cause, a request that causes it. */
const provocations: Record<string, Provoke> = {
  invalidRequest: async (headers) => {
    const { token } = await newApplication(client)
    return client.call('createDevice', {}, { token, headers })
  },
  tokenInvalid: (headers) => client.call('createDevice', deviceBody('x'), { headers }),
  notPermitted: async (headers) => {
    const { token } = await newApplication(client)
    return client.call('createDevice', deviceBody('another'), { token, headers })
  },
  applicationNotFound: (headers) => client.operate('getApplication', { appId: 'no-such-application' }, { headers }),
  applicationFrozen: async (headers) => {
    const { appId, appSecret } = await frozenApplication()
    return client.call(
      'issueToken',
      { grant_type: 'client_credentials', client_id: appId, client_secret: appSecret },
      { headers },
    )
  },
  applicationOffline: async (headers) => {
    const { appId, token } = await newApplication(client)
    await takeOffline(client, appId)
    return client.call('createDevice', deviceBody(appId), { token, headers })
  },
  idempotencyKeyReused: async (headers) => {
    const { appId, token } = await newApplication(client)
    const withKey = { token, headers: { ...headers, 'idempotency-key': 'k' } }
    await client.call('createDevice', deviceBody(appId), withKey)
    return client.call('createDevice', deviceBody(appId), withKey)
  },
  clientInvalid: (headers) =>
    client.call('issueToken', { grant_type: 'client_credentials', client_id: 'x', client_secret: 'y' }, { headers }),
  deviceBoundElsewhere: async (headers) => {
    const [owner, other] = await Promise.all([newApplication(client), newApplication(client)])
    const deviceNo = newSerial()
    await createDeviceOf(owner, { deviceNo })
    return client.call('createDevice', deviceBody(other.appId, { deviceNo }), { token: other.token, headers })
  },
  deviceAlreadyYours: async (headers) => {
    const application = await newApplication(client)
    const { appId, token } = application
    const deviceNo = newSerial()
    await createDeviceOf(application, { deviceNo })
    return client.call('createDevice', deviceBody(appId, { deviceNo }), { token, headers })
  },
  thirdPartyConfigMissing: async (headers) => {
    const { appId, token } = await newBareApplication()
    return client.call('saveSite', siteBody(appId), { token, headers })
  },
  billingRuleNotFound: async (headers) => {
    const { appId, token } = await newApplication(client)
    return client.call('saveSite', siteBody(appId, { rushingBillRuleId: 0 }), { token, headers })
  },
  billingRuleWrongType: async (headers) => {
    const application = await newApplication(client)
    const { appId, token } = application
    const body = siteBody(appId, { rushingBillRuleId: await newRule(application, 1) })
    return client.call('saveSite', body, { token, headers })
  },
}

async function frozenApplication(): Promise<TestApplication> {
  const application = await newApplication(client)
  await client.operate('freezeApplication', { appId: application.appId, reason: 'test' })
  return application
}

const withFields = ['invalidRequest', 'billingRuleNotFound', 'billingRuleWrongType']
const oauth = ['applicationFrozen', 'clientInvalid']

test.each(Object.entries(provocations))(
  '%s has its status, code and data, in English, and in Chinese when Accept-Language prefers it',
  async (refusal, provoke) => {
    const [plain, english, chinese] = await Promise.all([
      provoke({}),
      provoke({ 'accept-language': 'en-GB' }),
      provoke({ 'accept-language': 'zh-CN' }),
    ])
    const options = oauth.includes(refusal) ? { beside: ['error', 'error_description'] } : {}
    for (const answer of [plain, english, chinese]) expectRefusal(answer, refusal as RefusalName, options)
    if (withFields.includes(refusal)) expect((plain.data as Faults).errors.length).toBeGreaterThan(0)
    else expect(plain.data).toBeNull()
    expect(plain.msg).toMatch(/^[\x20-\x7e]+$/)
    expect(english.msg).toBe(plain.msg)
    expect(chinese.msg).toMatch(/\p{Script=Han}/u)
  },
)

test.each([
  'zh',
  'ZH',
  'zh-CN',
  'zh-Hans-CN',
  'zh-TW',
  'zh-CN,zh;q=0.9,en;q=0.8',
  'fr,zh;q=0.5,en;q=0.4',
  'en;q=0.4, zh;q=0.5',
])('Accept-Language %s prefers Chinese, for the message and for the reasons', async (language) => {
  const { token } = await newApplication(client)
  const answer = await client.call('saveSite', { siteName: 5 }, { token, headers: { 'accept-language': language } })
  expectRefusal(answer, 'invalidRequest')
  expect(answer.msg).toMatch(/\p{Script=Han}/u)
  for (const { reason } of (answer.data as unknown as Faults).errors) expect(reason).toMatch(/\p{Script=Han}/u)
})

test.each([
  '',
  'en',
  'en-US,en;q=0.9,zh;q=0.8',
  'fr',
  'de-DE,de;q=0.9',
  'zh;q=0',
  'zh;q=0.3,en;q=0.7',
  '*',
  'nonsense;;;q=,',
  'zhx',
  'x'.repeat(4000),
])('Accept-Language "%s" does not prefer Chinese: everything is English', async (language) => {
  const { token } = await newApplication(client)
  const answer = await client.call('saveSite', { siteName: 5 }, { token, headers: { 'accept-language': language } })
  expectRefusal(answer, 'invalidRequest')
  expect(answer.text).not.toMatch(/\p{Script=Han}/u)
})

const saneIds = ['a', '0c2f8f0e-6b0e-4e43-9d7e-2d6f8b9a1c11', '01JD0Q5K3V7Y8Z9ABCDEFGHJKM', 'trace-1.2_3']

test.each(saneIds)('X-Request-Id %s is the caller’s own in every answer', async (id) => {
  const application = await newApplication(client)
  const { appId, token } = application
  const headers = { 'x-request-id': id }
  const answers = [
    await client.call('createDevice', deviceBody(appId), { token, headers }),
    await client.call('createDevice', {}, { token, headers }),
    await client.call('createDevice', {}, { headers }),
    await client.send('/nowhere', { headers }),
    await client.call('getHealth', {}, { headers }),
  ]
  for (const answer of answers) expect(answer.headers.get('x-request-id')).toBe(id)
})

test.each([
  '',
  'has space',
  'x'.repeat(5000),
  '<script>alert(1)</script>',
  '"quoted"',
  'caf\u00e9',
  '{"a":1}',
  "a';drop table device;--",
])('an X-Request-Id that is not sane is replaced by the service’s own: "%s"', async (id) => {
  const answer = await client.call('getHealth', {}, { headers: { 'x-request-id': id } })
  const answered = answer.headers.get('x-request-id') as string
  expect(answered).toMatch(/^[\w.:-]{1,128}$/)
  expect(answered).not.toBe(id)
})

test('no answer tells what the service is made with', async () => {
  const application = await newApplication(client)
  const answers = [
    await createDeviceOf(application),
    await createDeviceOf(application, { deviceNo: '' }),
    await client.call('getHealth', {}),
    await client.send('/nowhere', {}),
  ]
  for (const { headers } of answers) {
    for (const header of ['x-powered-by', 'server', 'via', 'x-aspnet-version', 'x-runtime']) {
      expect(headers.get(header)).toBeNull()
    }
  }
})

test('a refusal does not repeat what was sent as a value', async () => {
  const application = await newApplication(client)
  const answer = await createDeviceOf(application, { deviceName: 'SecretValue\0', tag: ['SecretValue'] })
  expectFaults(answer, ['deviceName', 'tag'])
  expect(answer.text).not.toContain('SecretValue')
})
