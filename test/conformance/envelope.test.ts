import { expect, test } from 'bun:test'
import type { Answer, Faults } from '../kit/client.ts'
import { deviceBody, newApplication, siteBody } from '../kit/records.ts'
import type { RefusalName } from './refusals.ts'
import { client, createDeviceOf, expectFaults, expectRefusal, oauthMembers } from './support.ts'

const application = await newApplication(client)
const { appId, token } = application

/** Requests that are refused: for members, for a reason alone, and by OAuth's operation. */
const provocations: Partial<Record<RefusalName, (headers: Record<string, string>) => Promise<Answer<unknown>>>> = {
  invalidRequest: (headers) => client.call('createDevice', {}, { token, headers }),
  billingRuleNotFound: (headers) =>
    client.call('saveSite', siteBody(appId, { rushingBillRuleId: 0 }), { token, headers }),
  applicationNotFound: (headers) => client.operate('getApplication', { appId: 'no-such-application' }, { headers }),
  clientInvalid: (headers) =>
    client.call('issueToken', { grant_type: 'client_credentials', client_id: 'x', client_secret: 'y' }, { headers }),
}

test.each(Object.entries(provocations))(
  '%s has its status, code and data, in English, and in Chinese when Accept-Language prefers it',
  async (refusal, provoke) => {
    const answers = await Promise.all([{}, { 'accept-language': 'en-GB' }, { 'accept-language': 'zh-CN' }].map(provoke))
    const options = refusal === 'clientInvalid' ? oauthMembers : {}
    for (const answer of answers) {
      expectRefusal(answer, refusal as RefusalName, options)
      expect(answer.data !== null).toBe(['invalidRequest', 'billingRuleNotFound'].includes(refusal))
    }
    const [plain, english, chinese] = answers.map(({ msg }) => msg)
    expect([plain, english]).toEqual([expect.stringMatching(/^[\x20-\x7e]+$/), plain])
    expect(chinese).toMatch(/\p{Script=Han}/u)
  },
)

const refusedIn = async (language: string) => {
  const answer = await client.call('saveSite', { siteName: 5 }, { token, headers: { 'accept-language': language } })
  expectRefusal(answer, 'invalidRequest')
  return answer
}

test.each([
  ...['zh', 'ZH', 'zh-CN', 'zh-Hans-CN', 'zh-TW', 'zh-CN,zh;q=0.9,en;q=0.8', 'fr,zh;q=0.5,en;q=0.4'],
  'en;q=0.4, zh;q=0.5',
])('Accept-Language %s prefers Chinese, for the message and for the reasons', async (language) => {
  const answer = await refusedIn(language)
  expect(answer.msg).toMatch(/\p{Script=Han}/u)
  for (const { reason } of (answer.data as unknown as Faults).errors) expect(reason).toMatch(/\p{Script=Han}/u)
})

test.each([
  ...['', 'en', 'en-US,en;q=0.9,zh;q=0.8', 'fr', 'de-DE,de;q=0.9', 'zh;q=0', 'zh;q=0.3,en;q=0.7', '*'],
  ...['nonsense;;;q=,', 'zhx', 'x'.repeat(4000)],
])('Accept-Language "%s" does not prefer Chinese: everything is English', async (language) => {
  expect((await refusedIn(language)).text).not.toMatch(/\p{Script=Han}/u)
})

const saneIds = ['a', '0c2f8f0e-6b0e-4e43-9d7e-2d6f8b9a1c11', '01JD0Q5K3V7Y8Z9ABCDEFGHJKM', 'trace-1.2_3']

test.each(saneIds)('X-Request-Id %s is the caller’s own in every answer', async (id) => {
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
  ...['', 'has space', 'x'.repeat(5000), '<script>alert(1)</script>', '"quoted"', 'caf\u00e9', '{"a":1}'],
  "a';drop table device;--",
])('an X-Request-Id that is not sane is replaced by the service’s own: "%s"', async (id) => {
  const answer = await client.call('getHealth', {}, { headers: { 'x-request-id': id } })
  const answered = answer.headers.get('x-request-id') as string
  expect(answered).toMatch(/^[\w.:-]{1,128}$/)
  expect(answered).not.toBe(id)
})

test('no answer tells what the service is made with', async () => {
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
  const answer = await createDeviceOf(application, { deviceName: 'SecretValue\0', tag: ['SecretValue'] })
  expectFaults(answer, ['deviceName', 'tag'])
  expect(answer.text).not.toContain('SecretValue')
})
