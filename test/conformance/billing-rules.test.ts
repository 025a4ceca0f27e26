import { expect, test } from 'bun:test'
import { newApplication } from '../kit/records.ts'
import {
  client,
  expectFaults,
  expectNow,
  expectRefusal,
  expectSuccess,
  feedOf,
  newRule,
  newSite,
  occupancyTerms,
  onePeriod,
  succeed,
  typesOf,
} from './support.ts'

// What becomes of updates and deletions, in any order, is in test/model/billing-rules.ts.

const owner = await newApplication(client)

const save = (members: object) => client.call('saveBillingRule', { ruleName: 'rule', ...members }, owner)
const detail = async (id: number) => await succeed('getBillingRule', { id }, owner)

/** A period from this time on, with prices that suit any test. */
function from(startTime: unknown, members: Record<string, unknown> = {}) {
  return { startTime, electricityPrice: '0.65', servicePrice: '0.8', ...members }
}

for (const ruleType of [1, 2]) {
  test(`saveBillingRule makes a rule of type ${ruleType} with its periods, and its detail answers the same`, async () => {
    const periods = [from('00:00:00'), from('08:30:00', { electricityPrice: '1.0500' }), from('23:59:59')]
    const rule = expectSuccess(await save({ ruleName: '峰谷', ruleType, periods }))
    const { id, createTime, ...rest } = rule
    const none = { freeMinutes: null, unitMinutes: null, unitPrice: null, dailyCap: null }
    expect<unknown>(rest).toEqual({ appId: owner.appId, ruleName: '峰谷', ruleType, periods, ...none })
    expect(Number.isSafeInteger(id)).toBe(true)
    expectNow(createTime)
    expect(await detail(id)).toEqual(rule)
  })

  test(`a rule of type ${ruleType} needs periods, 1 to 32`, async () => {
    for (const periods of [undefined, null, '', [], {}, 'x', 5]) {
      expectFaults(await save({ ruleType, periods }), ['periods'])
    }
    const minutes = (count: number) =>
      Array.from({ length: count }, (_, minute) => from(`00:${String(minute).padStart(2, '0')}:00`))
    expect(expectSuccess(await save({ ruleType, periods: minutes(32) })).periods).toHaveLength(32)
    expectFaults(await save({ ruleType, periods: minutes(33) }), ['periods'])
  })
}

test('saveBillingRule makes an occupancy rule of minutes and prices, and its detail answers the same', async () => {
  const terms = { freeMinutes: 15, unitMinutes: 30, unitPrice: '1.50', dailyCap: '20' }
  const rule = expectSuccess(await save({ ruleType: 3, ...terms }))
  expect(rule).toMatchObject({ ruleType: 3, periods: null, ...terms })
  expect(await detail(rule.id)).toEqual(rule)
})

test('an occupancy rule needs its minutes and its unit price; the daily cap may be left out', async () => {
  expectFaults(await save({ ruleType: 3 }), ['freeMinutes', 'unitMinutes', 'unitPrice'])
  for (const dailyCap of [undefined, null, '']) {
    expect(expectSuccess(await save({ ruleType: 3, ...occupancyTerms, dailyCap })).dailyCap).toBeNull()
  }
})

test('an occupancy rule may have no free minutes, and none of no length', async () => {
  const free = { ruleType: 3, ...occupancyTerms, freeMinutes: 0 }
  expect(expectSuccess(await save(free)).freeMinutes).toBe(0)
  expectFaults(await save({ ...free, unitMinutes: 0 }), ['unitMinutes'])
})

type Faulty = [what: string, periods: unknown[], places: string[]]
/** Faulty periods, and the places of their faults. */
const faultyPeriods: Faulty[] = [
  ...['00:00:01', '08:00:00', '23:59:59'].map(
    (first): Faulty => [`the first begins at ${first}`, [from(first)], ['[0].startTime']],
  ),
  [
    'some begin when the one before does, or earlier',
    ['00:00:00', '08:00:00', '08:00:00', '07:59:59', '09:00:00', '00:00:00'].map((time) => from(time)),
    ['[2].startTime', '[3].startTime', '[5].startTime'],
  ],
  ...['24:00:00', '12:60:00', '12:00:60', '8:00:00', '12:00', ' 12:00:00', 120000, null, undefined, ''].map(
    (time): Faulty => [`one begins at ${time}`, [from('00:00:00'), from(time)], ['[1].startTime']],
  ),
  [
    'each has other faults',
    [{}, from('x', { electricityPrice: 1 }), 5, from('12:00:00', { servicePrice: '0.00001' })],
    [
      ...['[0].startTime', '[0].electricityPrice', '[0].servicePrice', '[1].startTime', '[1].electricityPrice'],
      ...['[2]', '[3].servicePrice'],
    ],
  ],
  [
    'they do not ascend, and have other faults',
    [
      from('01:00:00', { electricityPrice: 1 }),
      from('00:30:00', { servicePrice: 'x' }),
      { electricityPrice: '1', servicePrice: '1' },
    ],
    ['[0].startTime', '[0].electricityPrice', '[1].startTime', '[1].servicePrice', '[2].startTime'],
  ],
]

test.each(faultyPeriods)('periods are refused by their places where %s', async (_, periods, places) => {
  const fields = places.map((place) => `periods${place}`)
  expectFaults(await save({ ruleType: 1, periods }), fields)
})

const money = ['0', '0.0', '0.5', '0.50', '0.0001', '1', '12.3456', '999999999.9999', '100.00']
const neverMoney: unknown[] = [
  ...['0.00001', '1.23456', '1.00000', '-1', '-0', '+1', '1.', '.5', '01', '00.5', '1e3', '0x1', '1,5', '1 000', ' 1'],
  ...['1 ', '１', '¥1', 'NaN', 'Infinity', 'x', '1.2.3', '1000000000', '9'.repeat(400), 0.5, 1, 0, true, {}, [], ['1']],
]

test('money is a decimal string with up to 4 decimals and is kept as it is sent', async () => {
  for (const amount of money) {
    const periods = [from('00:00:00', { electricityPrice: amount, servicePrice: amount })]
    const rule = expectSuccess(await save({ ruleType: 1, periods }))
    expect((await detail(rule.id)).periods).toEqual(periods as typeof rule.periods)
    const occupancy = { ruleType: 3, ...occupancyTerms, unitPrice: amount, dailyCap: amount }
    const { id } = expectSuccess(await save(occupancy))
    expect(await detail(id)).toMatchObject({ unitPrice: amount, dailyCap: amount })
  }
})

test('money is never a float, a sign, an exponent or five decimals', async () => {
  for (const amount of neverMoney) {
    const periods = [from('00:00:00', { electricityPrice: amount, servicePrice: amount })]
    const inPeriods = ['periods[0].electricityPrice', 'periods[0].servicePrice']
    expectFaults(await save({ ruleType: 1, periods }), inPeriods)
    const occupancy = { ruleType: 3, ...occupancyTerms, unitPrice: amount, dailyCap: amount }
    expectFaults(await save(occupancy), ['unitPrice', 'dailyCap'])
  }
})

test('a rule’s type is 1, 2 or 3', async () => {
  for (const ruleType of [0, 4, -1, 1.5, '1', null, '', undefined, true, [1]]) {
    expectFaults(await save({ ruleType, ...occupancyTerms, periods: onePeriod }), ['ruleType'])
  }
})

test('updateBillingRule refuses another type than the rule has, in both languages, and changes nothing', async () => {
  const rule = expectSuccess(await save({ ruleType: 1, periods: onePeriod }))
  const change = { id: rule.id, ruleName: 'x', ruleType: 2 }
  const update = (body: object, language = 'en') =>
    client.call('updateBillingRule', body, { token: owner.token, headers: { 'accept-language': language } })
  expect(expectFaults(await update(change), ['ruleType']).ruleType).toBe('cannot be changed')
  expect(expectFaults(await update(change, 'zh'), ['ruleType']).ruleType).toBe('不可更改')
  const terms = { ...change, ruleType: 3, ...occupancyTerms, periods: null }
  expectFaults(await update(terms), ['ruleType', 'periods'])
  expect(await detail(rule.id)).toEqual(rule)
})

test('deleteBillingRule is billingRuleInUse while a site has it, and tells nothing', async () => {
  const id = await newRule(owner, 1)
  const site = await newSite(owner, { fastChargeBillRuleId: id })
  const refused = await client.operate('deleteBillingRule', { appId: owner.appId, id })
  expectRefusal(refused, 'billingRuleInUse')
  expect(refused.data).toBeNull()
  expect(typesOf(await feedOf(owner, { billingRuleId: id }))).toEqual(['billingRule.created'])
  await succeed('updateSite', { id: site, fastChargeBillRuleId: null }, owner)
  await succeed('deleteBillingRule', { id }, owner)
})
