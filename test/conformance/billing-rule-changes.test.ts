import { describe, expect, test } from 'bun:test'
import {
  type BillingRuleRecord,
  deleteBillingRule,
  getBillingRule,
  pageBillingRules,
  saveBillingRule,
  updateBillingRule,
} from '../../src/billing-rules/contract.ts'
import { pageEvents } from '../../src/events/contract.ts'
import { deleteSite, getSite, updateSite } from '../../src/sites/contract.ts'
import { newApplication, type TestApplication } from '../harness.ts'
import {
  client,
  expectFaults,
  expectRefusal,
  expectSuccess,
  newRule,
  occupancyTerms,
  onePeriod,
  saveSiteOf,
} from './support.ts'

const owner = await newApplication(client)
const unknownId = 999_999_999_999
const twoPeriods = [...onePeriod, { startTime: '08:00:00', electricityPrice: '1.0500', servicePrice: '0' }]

async function save({ appId, token }: TestApplication, members: Record<string, unknown>): Promise<BillingRuleRecord> {
  return expectSuccess(await client.call(saveBillingRule, { appId, ruleName: 'rule', ...members }, { token }))
}
const newFast = () => save(owner, { ruleType: 1, periods: onePeriod })
const newOccupancy = () => save(owner, { ruleType: 3, ...occupancyTerms, dailyCap: '20' })

function update({ token }: TestApplication, body: Record<string, unknown>, headers: Record<string, string> = {}) {
  return client.call(updateBillingRule, body, { token, headers })
}

function detail({ token }: TestApplication, id: number) {
  return client.call(getBillingRule, { id }, { token })
}

function remove({ token }: TestApplication, body: Record<string, unknown>, headers: Record<string, string> = {}) {
  return client.call(deleteBillingRule, body, { token, headers })
}

/** The rule's events, oldest first. */
async function eventsOf({ token }: TestApplication, billingRuleId: number) {
  return expectSuccess(await client.call(pageEvents, { billingRuleId, pageSize: '100' }, { token })).list
}

describe('getBillingRule and pageBillingRules', () => {
  test('know an application by its token; the detail answers an ETag', async () => {
    const rule = await newFast()
    const plain = await detail(owner, rule.id)
    expect(expectSuccess(plain)).toEqual(rule)
    expect(plain.headers.get('etag')).toMatch(/^"[\w-]{22}"$/)
    for (const appId of [owner.appId, '']) {
      const named = await client.call(getBillingRule, { appId, id: rule.id }, { token: owner.token })
      expect([named.text, named.headers.get('etag')]).toEqual([plain.text, plain.headers.get('etag')])
      const page = await client.call(pageBillingRules, { appId, pageSize: 1 }, { token: owner.token })
      expect(expectSuccess(page).list).toEqual([rule])
    }
  })
})

describe('updateBillingRule', () => {
  test('changes the members that are given and leaves the others', async () => {
    const rule = await newFast()
    const renamed = expectSuccess(await update(owner, { id: rule.id, ruleName: '峰谷' }))
    expect(renamed).toEqual({ ...rule, ruleName: '峰谷' })
    expect(Object.keys(renamed)).toEqual(Object.keys(rule))
    const repriced = expectSuccess(await update(owner, { id: rule.id, ruleType: 1, periods: twoPeriods }))
    expect(repriced).toEqual({ ...renamed, periods: twoPeriods })
    expect(expectSuccess(await detail(owner, rule.id))).toEqual(repriced)

    const occupancy = await newOccupancy()
    const terms = { freeMinutes: 0, unitMinutes: 15, unitPrice: '0.50', dailyCap: null }
    const updated = expectSuccess(await update(owner, { id: occupancy.id, ...terms }))
    expect(updated).toEqual({ ...occupancy, ...terms })
    expect(expectSuccess(await detail(owner, occupancy.id))).toEqual(updated)
  })

  test('refuses another type than the rule has, in both languages, and changes nothing', async () => {
    const rule = await newFast()
    const change = { id: rule.id, ruleName: 'x', ruleType: 2 }
    expect(expectFaults(await update(owner, change), ['ruleType']).ruleType).toBe('cannot be changed')
    const chinese = await update(owner, change, { 'accept-language': 'zh' })
    expect(expectFaults(chinese, ['ruleType']).ruleType).toBe('不可更改')
    expectFaults(await update(owner, { ...change, ruleType: 3, ...occupancyTerms, periods: null }), [
      'ruleType',
      'periods',
    ])
    expect(expectSuccess(await detail(owner, rule.id))).toEqual(rule)
  })

  test('holds the rule to the checks of create: what its type needs cannot be cleared', async () => {
    const rule = await newFast()
    const occupancy = await newOccupancy()
    for (const empty of [null, '']) {
      expectFaults(await update(owner, { id: rule.id, periods: empty }), ['periods'])
      const cleared = { freeMinutes: empty, unitMinutes: empty, unitPrice: empty, dailyCap: empty }
      expectFaults(await update(owner, { id: occupancy.id, ...cleared }), ['freeMinutes', 'unitMinutes', 'unitPrice'])
      expectFaults(await update(owner, { id: rule.id, ruleName: empty, ruleType: empty }), ['ruleName', 'ruleType'])
    }
    expect(expectSuccess(await detail(owner, rule.id))).toEqual(rule)
    expect(expectSuccess(await detail(owner, occupancy.id))).toEqual(occupancy)
  })

  test('names every faulty member at once', async () => {
    const rule = await newFast()
    const periods = [
      { ...onePeriod[0], startTime: '01:00:00' },
      { ...onePeriod[0], startTime: '00:30:00' },
    ]
    expectFaults(await update(owner, { id: rule.id, ruleName: ' ', unitPrice: '1.00000', periods }), [
      'ruleName',
      'unitPrice',
      'periods[0].startTime',
      'periods[1].startTime',
    ])
    const wrong = [{ startTime: '00:00:00', electricityPrice: 1, servicePrice: '0.00001' }]
    expectFaults(await update(owner, { periods: wrong }), [
      'id',
      'periods[0].electricityPrice',
      'periods[0].servicePrice',
    ])
    for (const empty of [[], Array(33).fill(onePeriod[0])]) {
      expectFaults(await update(owner, { id: rule.id, periods: empty }), ['periods'])
    }
    expect(expectSuccess(await detail(owner, rule.id))).toEqual(rule)
  })

  test('leaves out members of the other types, and what it does not know', async () => {
    const rule = await newFast()
    const occupancy = await newOccupancy()
    expect(expectSuccess(await update(owner, { id: rule.id, ...occupancyTerms, createTime: 'x' }))).toEqual(rule)
    const withPeriods = { id: occupancy.id, periods: twoPeriods, colour: 'red' }
    expect(expectSuccess(await update(owner, withPeriods))).toEqual(occupancy)
    const coloured = [{ ...onePeriod[0], colour: 'red' }]
    expect(expectSuccess(await update(owner, { id: rule.id, periods: coloured }))).toEqual(rule)
  })

  test('writes one event with the record that it answers, and none when nothing changes', async () => {
    const rule = await newFast()
    const { id } = rule
    for (const same of [{}, { ...rule, appId: '' }, { ruleType: 1 }, { periods: onePeriod }, { dailyCap: null }]) {
      const answer = await update(owner, { ...same, id })
      expect(expectSuccess(answer)).toEqual(rule)
      expect(answer.headers.get('etag')).toBe((await detail(owner, id)).headers.get('etag') as string)
    }
    const updated = expectSuccess(await update(owner, { id, periods: twoPeriods }))
    const operated = expectSuccess(await client.operate(updateBillingRule, { appId: owner.appId, id, ruleName: 'new' }))
    const by = `application:${owner.appId}`
    expect((await eventsOf(owner, id)).map(({ type, actor, data }) => ({ type, actor, data }))).toEqual([
      { type: 'billingRule.created', actor: by, data: rule },
      { type: 'billingRule.updated', actor: by, data: updated },
      { type: 'billingRule.updated', actor: 'operator:operator', data: operated },
    ])
  })

  test('works while a site names the rule', async () => {
    const rule = await newFast()
    const site = expectSuccess(await saveSiteOf(owner, { fastChargeBillRuleId: rule.id }))
    expectSuccess(await update(owner, { id: rule.id, periods: twoPeriods }))
    expect(expectSuccess(await client.call(getSite, { id: site.id }, { token: owner.token }))).toEqual(site)
  })

  test('answers one refusal for an unknown rule and for another application’s, and changes neither', async () => {
    const stranger = await newApplication(client)
    const rule = await newFast()
    const { id } = rule
    const unknown = await update(stranger, { id: unknownId, ruleName: 'taken over' })
    expectRefusal(unknown, 'billingRuleNotFound', { status: 404 })
    expect((await update(stranger, { id, ruleName: 'taken over' })).text).toBe(unknown.text)
    expectRefusal(await update(stranger, { appId: owner.appId, id, ruleName: 'x' }), 'notPermitted')
    const operated = await client.operate(updateBillingRule, { appId: stranger.appId, id, ruleName: 'x' })
    expectRefusal(operated, 'billingRuleNotFound', { status: 404 })
    expectFaults(await client.operate(updateBillingRule, { id, ruleName: 'x' }), ['appId'])
    const nowhere = await client.operate(updateBillingRule, { appId: 'no-such-application', id })
    expectRefusal(nowhere, 'applicationNotFound')
    expect(expectSuccess(await detail(owner, id))).toEqual(rule)
  })
})

describe('deleteBillingRule', () => {
  test('answers the record as it was; nobody finds or names the rule any more, and one event tells of it', async () => {
    const rule = await newFast()
    const { id } = rule
    expect(expectSuccess(await remove(owner, { id }))).toEqual(rule)
    for (const answer of [await detail(owner, id), await update(owner, { id }), await remove(owner, { id })]) {
      expectRefusal(answer, 'billingRuleNotFound', { status: 404 })
    }
    const named = await saveSiteOf(owner, { fastChargeBillRuleId: id })
    expectFaults(named, ['fastChargeBillRuleId'], 'billingRuleNotFound')
    const events = await eventsOf(owner, id)
    expect(events.map(({ type }) => type)).toEqual(['billingRule.created', 'billingRule.deleted'])
    expect(events.at(-1)?.data).toEqual(rule)
  })

  const ruleFields = [
    { field: 'fastChargeBillRuleId', type: 1 },
    { field: 'rushingBillRuleId', type: 2 },
    { field: 'placeholderBillRuleId', type: 3 },
  ] as const

  test.each(ruleFields)('is billingRuleInUse while a site has it as $field', async ({ field, type }) => {
    const { token } = owner
    const id = await newRule(owner, type)
    const [saved, updated] = [await saveSiteOf(owner, { [field]: id }), await saveSiteOf(owner)].map(expectSuccess)
    const other = { id: updated?.id, [field]: id }
    expectSuccess(await client.call(updateSite, other, { token }))
    const refused = await remove(owner, { id })
    expectRefusal(refused, 'billingRuleInUse')
    expect(refused.data).toBeNull()
    expectSuccess(await client.call(deleteSite, { id: saved?.id }, { token }))
    expectRefusal(await client.operate(deleteBillingRule, { appId: owner.appId, id }), 'billingRuleInUse')
    expectSuccess(await detail(owner, id))
    expect((await eventsOf(owner, id)).map((event) => event.type)).toEqual(['billingRule.created'])
    expectSuccess(await client.call(updateSite, { ...other, [field]: null }, { token }))
    expectSuccess(await remove(owner, { id }))
  })

  test('answers one refusal for an unknown rule and for another application’s, and deletes neither', async () => {
    const stranger = await newApplication(client)
    const { id } = await newFast()
    const unknown = await remove(stranger, { id: unknownId })
    expectRefusal(unknown, 'billingRuleNotFound', { status: 404 })
    expect((await remove(stranger, { id })).text).toBe(unknown.text)
    expectRefusal(await remove(stranger, { appId: owner.appId, id }), 'notPermitted')
    expectFaults(await client.operate(deleteBillingRule, { id }), ['appId'])
    expectFaults(await remove(owner, {}), ['id'])
    expectRefusal(await client.operate(deleteBillingRule, { appId: 'no-such-application', id }), 'applicationNotFound')
    expectSuccess(await detail(owner, id))
  })
})

describe('If-Match', () => {
  test('lets an update through while the rule is the one that was read, and refuses it afterwards', async () => {
    const { id } = await newFast()
    const read = (await detail(owner, id)).headers.get('etag') ?? ''
    const first = await update(owner, { id, ruleName: 'first' }, { 'if-match': read })
    expectSuccess(first)
    // The precondition is checked first, because the caller has not seen the current rule; here some changes are
    // invalid too.
    for (const change of [{ ruleName: 'second' }, { ruleType: 2 }, { periods: null }]) {
      expectRefusal(await update(owner, { id, ...change }, { 'if-match': read }), 'preconditionFailed')
    }
    const now = await detail(owner, id)
    expect(now.data.ruleName).toBe('first')
    expect(now.headers.get('etag')).toBe(first.headers.get('etag') as string)
    expectSuccess(await update(owner, { id, ruleName: 'second' }, { 'if-match': first.headers.get('etag') ?? '' }))
  })

  test('lets a delete through while the rule is the one that was read, and refuses it afterwards', async () => {
    const { id } = await newFast()
    const read = (await detail(owner, id)).headers.get('etag') ?? ''
    const updated = await update(owner, { id, ruleName: 'changed' })
    expectRefusal(await remove(owner, { id }, { 'if-match': read }), 'preconditionFailed')
    expectSuccess(await detail(owner, id))
    expectSuccess(await remove(owner, { id }, { 'if-match': updated.headers.get('etag') ?? '' }))
  })
})
