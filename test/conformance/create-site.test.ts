import { expect, test } from 'bun:test'
import type { SiteRecord } from '../../src/sites/contract.ts'
import { newApplication, siteBody, takeOffline } from '../kit/records.ts'
import { bearer, client, expectFaults, expectNow, expectSuccess, newRule, post, saveSiteOf } from './support.ts'

test('create site is POST /api/charging/v1/siteManageThird/save and answers what was sent, with the site’s id, times and numbers', async () => {
  const application = await newApplication(client)
  const full = siteBody(application.appId, {
    sitePictureUrl: 'https://example.com/a.jpg,https://example.com/b.jpg',
    fastChargeBillRuleId: await newRule(application, 1),
    rushingBillRuleId: await newRule(application, 2),
    placeholderBillRuleId: await newRule(application, 3),
    ipcIds: '17,18',
    detailAddress: 'No. 1 Yangming Road',
    coordinates: '115.899918,28.676493',
  })
  const bare = siteBody(application.appId)
  // There are no defaults: what is not given is null, and present.
  const nulls = {
    ...{ sitePictureUrl: null, fastChargeBillRuleId: null, rushingBillRuleId: null, placeholderBillRuleId: null },
    ...{ ipcIds: null, detailAddress: null, coordinates: null, longitude: null, latitude: null },
  }
  const ids = new Set<number>()
  // The same body twice makes two sites.
  for (const [sent, numbers] of [
    [full, { longitude: 115.899918, latitude: 28.676493 }],
    [bare, nulls],
    [bare, nulls],
  ] as const) {
    const path = '/api/charging/v1/siteManageThird/save'
    const answer = await post(path, JSON.stringify(sent), bearer(application.token))
    const { id, createTime, ...rest } = expectSuccess(answer) as SiteRecord
    expect(rest).toEqual({ ...sent, ...numbers } as typeof rest)
    expect(Number.isSafeInteger(id) && id >= 0).toBe(true)
    expectNow(createTime)
    ids.add(id)
  }
  expect(ids.size).toBe(3)
})

test('an application that is offline saves sites', async () => {
  const application = await newApplication(client)
  await takeOffline(client, application.appId)
  expectSuccess(await saveSiteOf(application))
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
