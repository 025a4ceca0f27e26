import { expect, test } from 'bun:test'
import type { SiteRecord } from '../../src/sites/contract.ts'
import { newApplication, newToken, siteBody, takeOffline } from '../kit/records.ts'
import {
  bearer,
  client,
  expectFaults,
  expectNow,
  expectRefusal,
  expectSuccess,
  newBareApplication,
  newRule,
  post,
  saveSiteOf,
  succeed,
} from './support.ts'

const requiredFields = [
  ...['appId', 'siteName', 'contacts', 'contactsPhone', 'customerServicePhone', 'businessWeekDay'],
  ...['businessStartTime', 'businessClosingTime', 'provinceCode', 'provinceName', 'cityCode', 'cityName'],
  ...['districtCode', 'districtName'],
]

test('create site is POST /api/charging/v1/siteManageThird/save and answers what was sent, with the site’s id, times and numbers', async () => {
  const application = await newApplication(client)
  const sent = siteBody(application.appId, {
    sitePictureUrl: 'https://example.com/a.jpg,https://example.com/b.jpg',
    fastChargeBillRuleId: await newRule(application, 1),
    rushingBillRuleId: await newRule(application, 2),
    placeholderBillRuleId: await newRule(application, 3),
    ipcIds: '17,18',
    detailAddress: 'No. 1 Yangming Road',
    coordinates: '115.899918,28.676493',
  })
  const path = '/api/charging/v1/siteManageThird/save'
  const answer = await post(path, JSON.stringify(sent), bearer(application.token))
  const { id, createTime, ...rest } = expectSuccess(answer) as SiteRecord
  expect(rest).toEqual({ ...sent, longitude: 115.899918, latitude: 28.676493 } as typeof rest)
  expect(Number.isSafeInteger(id) && id >= 0).toBe(true)
  expectNow(createTime)
})

test('saveSite gives no defaults: every optional field that is not given is null, and present', async () => {
  const { appId, token } = await newApplication(client)
  const sent = siteBody(appId)
  const { id, createTime, ...rest } = await succeed('saveSite', sent, { token })
  const nulls = {
    ...{ sitePictureUrl: null, fastChargeBillRuleId: null, rushingBillRuleId: null, placeholderBillRuleId: null },
    ...{ ipcIds: null, detailAddress: null, coordinates: null, longitude: null, latitude: null },
  }
  expect(rest).toEqual({ ...sent, ...nulls } as never)
})

test('saveSite names every required field that is absent, and no optional one', async () => {
  const { token } = await newApplication(client)
  expectFaults(await client.call('saveSite', {}, { token }), requiredFields)
})

test('saveSite always makes a new site: the same body twice makes two', async () => {
  const application = await newApplication(client)
  const first = expectSuccess(await saveSiteOf(application))
  const second = expectSuccess(await saveSiteOf(application))
  expect(second.id).not.toBe(first.id)
  expect({ ...second, id: 0, createTime: '' }).toEqual({ ...first, id: 0, createTime: '' })
})

test('saveSite is refused before the third-party configuration was made, and not after', async () => {
  const application = await newBareApplication()
  expectRefusal(await saveSiteOf(application), 'thirdPartyConfigMissing')
  const { appId, token } = application
  await succeed('saveThirdPartyConfig', { appId, operatorName: 'Operator' }, { token })
  expectSuccess(await saveSiteOf(application))
})

test('an application that went offline still gets a token and saves a site with it', async () => {
  const { appId, appSecret } = await newApplication(client)
  await takeOffline(client, appId)
  expectSuccess(await saveSiteOf({ appId, appSecret, token: await newToken(client, appId, appSecret) }))
})

test('saveSite stores region codes and names as the caller gives them, whatever the national table says', async () => {
  const application = await newApplication(client)
  const region = {
    provinceCode: '110000',
    provinceName: 'Atlantis',
    cityCode: 'x',
    cityName: 'Kitezh',
    districtCode: '000000000000',
    districtName: '不存在',
  }
  expect(expectSuccess(await saveSiteOf(application, region))).toMatchObject(region)
})

test.each([
  { field: 'fastChargeBillRuleId', type: 1, others: [2, 3] },
  { field: 'rushingBillRuleId', type: 2, others: [1, 3] },
  { field: 'placeholderBillRuleId', type: 3, others: [1, 2] },
] as const)(
  'saveSite takes a rule of type $type of this application as $field, and no other',
  async ({ field, type, others }) => {
    const [application, other] = await Promise.all([newApplication(client), newApplication(client)])
    const save = (id: number) => saveSiteOf(application, { [field]: id })
    const id = await newRule(application, type)
    expect(expectSuccess(await save(id))[field]).toBe(id)
    for (const wrong of others) {
      expectFaults(await save(await newRule(application, wrong)), [field], 'billingRuleWrongType')
    }
    const unknown = await save(999_999_999_999)
    expect((await save(await newRule(other, type))).text).toBe(unknown.text)
    for (const id of [0, 999_999_999_999, Number.MAX_SAFE_INTEGER]) {
      expectFaults(await save(id), [field], 'billingRuleNotFound')
    }
  },
)

test('saveSite names every rule field whose rule does not exist, or has another type', async () => {
  const application = await newApplication(client)
  const fields = ['fastChargeBillRuleId', 'rushingBillRuleId', 'placeholderBillRuleId']
  const save = (id: number) => saveSiteOf(application, Object.fromEntries(fields.map((field) => [field, id])))
  expectFaults(await save(0), fields, 'billingRuleNotFound')
  expectFaults(await save(await newRule(application, 1)), fields.slice(1), 'billingRuleWrongType')
})

test('saveSite that is refused for one rule makes no site, and the same application can save one after it', async () => {
  const application = await newApplication(client)
  const headers = { 'idempotency-key': 'refused-for-a-rule' }
  const { appId, token } = application
  const withRule = siteBody(appId, { fastChargeBillRuleId: 0 })
  expectFaults(
    await client.call('saveSite', withRule, { token, headers }),
    ['fastChargeBillRuleId'],
    'billingRuleNotFound',
  )
  await succeed('saveSite', siteBody(appId), { token, headers })
})
