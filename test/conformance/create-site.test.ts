import { expect, test } from 'bun:test'
import { saveThirdPartyConfig } from '../../src/applications/third-party-config/contract.ts'
import { saveSite } from '../../src/sites/contract.ts'
import { newApplication, newToken, siteBody, takeOffline } from '../harness.ts'
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
} from './support.ts'

/** Document §2.2: every member with its type. */
const documentedTypes: Record<string, string> = {
  id: 'number',
  appId: 'string',
  siteName: 'string',
  contacts: 'string',
  contactsPhone: 'string',
  customerServicePhone: 'string',
  businessWeekDay: 'string',
  businessStartTime: 'string',
  businessClosingTime: 'string',
  sitePictureUrl: 'string',
  fastChargeBillRuleId: 'number',
  rushingBillRuleId: 'number',
  placeholderBillRuleId: 'number',
  ipcIds: 'string',
  createTime: 'string',
  provinceCode: 'string',
  provinceName: 'string',
  cityCode: 'string',
  cityName: 'string',
  districtCode: 'string',
  districtName: 'string',
  detailAddress: 'string',
  longitude: 'number',
  latitude: 'number',
  coordinates: 'string',
}

const requiredFields = [
  'appId',
  'siteName',
  'contacts',
  'contactsPhone',
  'customerServicePhone',
  'businessWeekDay',
  'businessStartTime',
  'businessClosingTime',
  'provinceCode',
  'provinceName',
  'cityCode',
  'cityName',
  'districtCode',
  'districtName',
]

const optionalFields = [
  'sitePictureUrl',
  'fastChargeBillRuleId',
  'rushingBillRuleId',
  'placeholderBillRuleId',
  'ipcIds',
  'detailAddress',
  'coordinates',
]

test('create site is POST /api/charging/v1/siteManageThird/save and answers HTTP 200 with the envelope', async () => {
  const { appId, token } = await newApplication(client)
  const path = '/api/charging/v1/siteManageThird/save'
  const answer = await post(path, JSON.stringify(siteBody(appId)), bearer(token))
  expect(answer.status).toBe(200)
  expect(answer.code).toBe(0)
  expect(answer.msg).toBe('success')
  expect(Object.keys(JSON.parse(answer.text)).sort()).toEqual(['code', 'data', 'msg'])
})

test('saveSite answers a record of exactly the documented fields, each of its documented type', async () => {
  const application = await newApplication(client)
  const site = expectSuccess(
    await saveSiteOf(application, {
      sitePictureUrl: 'https://example.com/a.jpg,https://example.com/b.jpg',
      fastChargeBillRuleId: await newRule(application, 1),
      rushingBillRuleId: await newRule(application, 2),
      placeholderBillRuleId: await newRule(application, 3),
      ipcIds: '17,18',
      detailAddress: 'No. 1 Yangming Road',
      coordinates: '115.899918,28.676493',
    }),
  )
  const types = Object.fromEntries(Object.entries(site).map(([field, value]) => [field, typeof value as string]))
  expect(types).toEqual(documentedTypes)
})

test('saveSite answers every field as it was sent, with the site’s id, creation time, longitude and latitude', async () => {
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
  const site = expectSuccess(await saveSiteOf(application, sent))
  const { id, createTime, ...rest } = site
  expect(rest).toEqual({ ...sent, longitude: 115.899918, latitude: 28.676493 } as typeof rest)
  expect(Number.isSafeInteger(id) && id >= 0).toBe(true)
  expectNow(createTime)
})

test('saveSite gives no defaults: every optional field that is not given is null, and present', async () => {
  const application = await newApplication(client)
  const site = expectSuccess(await saveSiteOf(application))
  expect(Object.keys(site).sort()).toEqual(Object.keys(documentedTypes).sort())
  const nulls = Object.entries(site).flatMap(([field, value]) => (value === null ? [field] : []))
  expect(nulls.sort()).toEqual([...optionalFields, 'longitude', 'latitude'].sort())
})

test.each(optionalFields)('saveSite takes an absent, a null and an empty %s as the same: not given', async (field) => {
  const application = await newApplication(client)
  for (const value of [undefined, null, '']) {
    const site = expectSuccess(await saveSiteOf(application, { [field]: value }))
    expect(site[field as keyof typeof site]).toBeNull()
  }
})

test('saveSite names every required field that is absent, and no optional one', async () => {
  const { token } = await newApplication(client)
  expectFaults(await client.call(saveSite, {}, { token }), requiredFields)
})

test.each(requiredFields)('saveSite refuses a site without %s and names only that field', async (field) => {
  const application = await newApplication(client)
  expectFaults(await saveSiteOf(application, { [field]: undefined }), [field])
})

test('saveSite ignores members that it does not know', async () => {
  const application = await newApplication(client)
  const sent = { id: 5, createTime: '2001-01-01 00:00:00', longitude: 1, latitude: 2, colour: 'red', status: 1 }
  const site = expectSuccess(await saveSiteOf(application, sent))
  expect(Object.keys(site).sort()).toEqual(Object.keys(documentedTypes).sort())
  expect(site).toMatchObject({ longitude: null, latitude: null })
  expectNow(site.createTime)
})

test('saveSite always makes a new site: the same body twice makes two', async () => {
  const application = await newApplication(client)
  const first = expectSuccess(await saveSiteOf(application))
  const second = expectSuccess(await saveSiteOf(application))
  expect(second.id).not.toBe(first.id)
  expect({ ...second, id: 0, createTime: '' }).toEqual({ ...first, id: 0, createTime: '' })
})

test('saveSite makes a site of its own for each of many requests at once', async () => {
  const application = await newApplication(client)
  const names = Array.from({ length: 100 }, (_, index) => `site ${index}`)
  const sites = await Promise.all(
    names.map(async (siteName) => expectSuccess(await saveSiteOf(application, { siteName }))),
  )
  expect(new Set(sites.map((site) => site.id)).size).toBe(100)
  expect(sites.map((site) => site.siteName)).toEqual(names)
})

test('saveSite is refused before the third-party configuration was made, and not after', async () => {
  const application = await newBareApplication()
  expectRefusal(await saveSiteOf(application), 'thirdPartyConfigMissing')
  const { appId, token } = application
  expectSuccess(await client.call(saveThirdPartyConfig, { appId, operatorName: 'Operator' }, { token }))
  expectSuccess(await saveSiteOf(application))
})

test('saveSite works while the application is offline: the document refuses only devices', async () => {
  const application = await newApplication(client)
  await takeOffline(client, application.appId)
  expectSuccess(await saveSiteOf(application))
})

test('an application that went offline still gets a token and saves a site with it', async () => {
  const { appId, appSecret } = await newApplication(client)
  await takeOffline(client, appId)
  expectSuccess(await saveSiteOf({ appId, appSecret, token: await newToken(client, appId, appSecret) }))
})

test('saveSite by an operator makes the site of the application that the body names', async () => {
  const { appId } = await newApplication(client)
  expect(expectSuccess(await client.operate(saveSite, siteBody(appId))).appId).toBe(appId)
})

test('saveSite by an operator for an unknown application is applicationNotFound', async () => {
  expectRefusal(await client.operate(saveSite, siteBody('no-such-application')), 'applicationNotFound')
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

const ruleFields = [
  { field: 'fastChargeBillRuleId', type: 1, others: [2, 3] },
  { field: 'rushingBillRuleId', type: 2, others: [1, 3] },
  { field: 'placeholderBillRuleId', type: 3, others: [1, 2] },
] as const

for (const { field, type, others } of ruleFields) {
  test(`saveSite takes a rule of type ${type} as ${field}`, async () => {
    const application = await newApplication(client)
    const id = await newRule(application, type)
    expect(expectSuccess(await saveSiteOf(application, { [field]: id }))[field]).toBe(id)
  })

  test(`saveSite refuses rules of types ${others.join(' and ')} as ${field} and names the field`, async () => {
    const application = await newApplication(client)
    for (const other of others) {
      const answer = await saveSiteOf(application, { [field]: await newRule(application, other) })
      expectFaults(answer, [field], 'billingRuleWrongType')
    }
  })

  test(`saveSite refuses a ${field} that does not exist and names the field`, async () => {
    const application = await newApplication(client)
    for (const id of [0, 1_000_000_000_000, Number.MAX_SAFE_INTEGER]) {
      expectFaults(await saveSiteOf(application, { [field]: id }), [field], 'billingRuleNotFound')
    }
  })

  test(`saveSite refuses another application’s rule as ${field} as if it did not exist`, async () => {
    const [application, other] = await Promise.all([newApplication(client), newApplication(client)])
    const id = await newRule(other, type)
    const unknown = await saveSiteOf(application, { [field]: 999_999_999_999 })
    const foreign = await saveSiteOf(application, { [field]: id })
    expectFaults(foreign, [field], 'billingRuleNotFound')
    expect(foreign.text).toBe(unknown.text)
  })
}

test('saveSite names every rule field whose rule does not exist', async () => {
  const application = await newApplication(client)
  const unknown = { fastChargeBillRuleId: 0, rushingBillRuleId: 0, placeholderBillRuleId: 0 }
  expectFaults(await saveSiteOf(application, unknown), Object.keys(unknown), 'billingRuleNotFound')
})

test('saveSite names every rule field whose rule has another type', async () => {
  const application = await newApplication(client)
  const fast = await newRule(application, 1)
  const answer = await saveSiteOf(application, {
    fastChargeBillRuleId: fast,
    rushingBillRuleId: fast,
    placeholderBillRuleId: fast,
  })
  expectFaults(answer, ['rushingBillRuleId', 'placeholderBillRuleId'], 'billingRuleWrongType')
})

test('saveSite that is refused for one rule makes no site, and the same application can save one after it', async () => {
  const application = await newApplication(client)
  const headers = { 'idempotency-key': 'refused-for-a-rule' }
  const { appId, token } = application
  const withRule = siteBody(appId, { fastChargeBillRuleId: 0 })
  expectFaults(
    await client.call(saveSite, withRule, { token, headers }),
    ['fastChargeBillRuleId'],
    'billingRuleNotFound',
  )
  expectSuccess(await client.call(saveSite, siteBody(appId), { token, headers }))
})
