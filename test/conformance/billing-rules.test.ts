import { describe, expect, test } from 'bun:test'
import { newApplication, type TestApplication } from '../kit/records.ts'
import {
  client,
  expectFaults,
  expectNow,
  expectRefusal,
  expectSuccess,
  newRule,
  occupancyTerms,
  onePeriod,
  saveSiteOf,
  succeed,
} from './support.ts'

const owner = await newApplication(client)

function save({ appId, token }: TestApplication, members: Record<string, unknown>) {
  return client.call('saveBillingRule', { appId, ruleName: 'rule', ...members }, { token })
}

async function detail({ appId, token }: TestApplication, id: number) {
  return await succeed('getBillingRule', { appId, id }, { token })
}

/** A period from this time on, with prices that suit any test. */
function from(startTime: unknown, members: Record<string, unknown> = {}) {
  return { startTime, electricityPrice: '0.65', servicePrice: '0.8', ...members }
}

for (const ruleType of [1, 2]) {
  test(`saveBillingRule makes a rule of type ${ruleType} with its periods, and its detail answers the same`, async () => {
    const application = await newApplication(client)
    const periods = [from('00:00:00'), from('08:30:00', { electricityPrice: '1.0500' }), from('23:59:59')]
    const rule = expectSuccess(await save(application, { ruleName: '峰谷', ruleType, periods }))
    const { id, createTime, ...rest } = rule
    expect(rest).toEqual({
      appId: application.appId,
      ruleName: '峰谷',
      ruleType,
      periods: periods as typeof rest.periods,
      freeMinutes: null,
      unitMinutes: null,
      unitPrice: null,
      dailyCap: null,
    })
    expect(Number.isSafeInteger(id)).toBe(true)
    expectNow(createTime)
    expect(await detail(application, id)).toEqual(rule)
  })

  test(`a rule of type ${ruleType} needs periods, 1 to 32`, async () => {
    const application = await newApplication(client)
    for (const periods of [undefined, null, '', [], {}, 'x', 5]) {
      expectFaults(await save(application, { ruleType, periods }), ['periods'])
    }
    const minutes = (count: number) =>
      Array.from({ length: count }, (_, minute) => from(`00:${String(minute).padStart(2, '0')}:00`))
    expect(expectSuccess(await save(application, { ruleType, periods: minutes(32) })).periods).toHaveLength(32)
    expectFaults(await save(application, { ruleType, periods: minutes(33) }), ['periods'])
  })
}

test('saveBillingRule makes an occupancy rule of minutes and prices, and its detail answers the same', async () => {
  const application = await newApplication(client)
  const terms = { freeMinutes: 15, unitMinutes: 30, unitPrice: '1.50', dailyCap: '20' }
  const rule = expectSuccess(await save(application, { ruleType: 3, ...terms }))
  expect(rule).toMatchObject({ ruleType: 3, periods: null, ...terms })
  expect(await detail(application, rule.id)).toEqual(rule)
})

test('an occupancy rule needs its minutes and its unit price; the daily cap may be left out', async () => {
  const application = await newApplication(client)
  expectFaults(await save(application, { ruleType: 3 }), ['freeMinutes', 'unitMinutes', 'unitPrice'])
  for (const dailyCap of [undefined, null, '']) {
    expect(expectSuccess(await save(application, { ruleType: 3, ...occupancyTerms, dailyCap })).dailyCap).toBeNull()
  }
})

test('an occupancy rule may have no free minutes, and none of no length', async () => {
  const application = await newApplication(client)
  const free = { ruleType: 3, ...occupancyTerms, freeMinutes: 0 }
  expect(expectSuccess(await save(application, free)).freeMinutes).toBe(0)
  expectFaults(await save(application, { ...free, unitMinutes: 0 }), ['unitMinutes'])
})

/** Faulty periods, and the places of their faults. */
const faultyPeriods: [string, unknown[], string[]][] = [
  ...['00:00:01', '08:00:00', '23:59:59'].map((first): [string, unknown[], string[]] => [
    `the first begins at ${first}`,
    [from(first)],
    ['[0].startTime'],
  ]),
  [
    'some begin when the one before does, or earlier',
    ['00:00:00', '08:00:00', '08:00:00', '07:59:59', '09:00:00', '00:00:00'].map((time) => from(time)),
    ['[2].startTime', '[3].startTime', '[5].startTime'],
  ],
  ...['24:00:00', '12:60:00', '12:00:60', '8:00:00', '12:00', ' 12:00:00', 120000, null, undefined, ''].map(
    (time): [string, unknown[], string[]] => [
      `one begins at ${time}`,
      [from('00:00:00'), from(time)],
      ['[1].startTime'],
    ],
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
  const answer = await save(owner, { ruleType: 1, periods })
  expectFaults(
    answer,
    places.map((place) => `periods${place}`),
  )
})

const money = ['0', '0.0', '0.5', '0.50', '0.0001', '1', '12.3456', '999999999.9999', '100.00']
const neverMoney: unknown[] = [
  ...['0.00001', '1.23456', '1.00000', '-1', '-0', '+1', '1.', '.5', '01', '00.5', '1e3', '0x1', '1,5', '1 000', ' 1'],
  ...['1 ', '１', '¥1', 'NaN', 'Infinity', 'x', '1.2.3', '1000000000', '9'.repeat(400), 0.5, 1, 0, true, {}, [], ['1']],
]

test('money is a decimal string with up to 4 decimals and is kept as it is sent', async () => {
  const application = await newApplication(client)
  for (const amount of money) {
    const periods = [from('00:00:00', { electricityPrice: amount, servicePrice: amount })]
    const rule = expectSuccess(await save(application, { ruleType: 1, periods }))
    expect((await detail(application, rule.id)).periods).toEqual(periods as typeof rule.periods)
    const occupancy = { ruleType: 3, ...occupancyTerms, unitPrice: amount, dailyCap: amount }
    const { id } = expectSuccess(await save(application, occupancy))
    expect(await detail(application, id)).toMatchObject({ unitPrice: amount, dailyCap: amount })
  }
})

test('money is never a float, a sign, an exponent or five decimals', async () => {
  const application = await newApplication(client)
  for (const amount of neverMoney) {
    const periods = [from('00:00:00', { electricityPrice: amount, servicePrice: amount })]
    const inPeriods = ['periods[0].electricityPrice', 'periods[0].servicePrice']
    expectFaults(await save(application, { ruleType: 1, periods }), inPeriods)
    const occupancy = { ruleType: 3, ...occupancyTerms, unitPrice: amount, dailyCap: amount }
    expectFaults(await save(application, occupancy), ['unitPrice', 'dailyCap'])
  }
})

test('a rule’s type is 1, 2 or 3', async () => {
  const application = await newApplication(client)
  for (const ruleType of [0, 4, -1, 1.5, '1', null, '', undefined, true, [1]]) {
    const answer = await save(application, { ruleType, ...occupancyTerms, periods: onePeriod })
    expectFaults(answer, ['ruleType'])
  }
})

test('pageBillingRules finds rules by a part of their name and by type', async () => {
  const application = await newApplication(client)
  const { appId, token } = application
  const names = ['Night 100%', 'Day', 'night_shift']
  for (const ruleName of names) expectSuccess(await save(application, { ruleName, ruleType: 1, periods: onePeriod }))
  expectSuccess(await save(application, { ruleName: 'Night parking', ruleType: 3, ...occupancyTerms }))
  const found = async (filter: Record<string, unknown>) =>
    (await succeed('pageBillingRules', { appId, ...filter }, { token })).list.map((rule) => rule.ruleName)
  expect(await found({})).toEqual(['Night parking', 'night_shift', 'Day', 'Night 100%'])
  expect(await found({ ruleName: 'night' })).toEqual(['Night parking', 'night_shift', 'Night 100%'])
  expect(await found({ ruleType: 3 })).toEqual(['Night parking'])
  expect(await found({ ruleName: 'night', ruleType: 1 })).toEqual(['night_shift', 'Night 100%'])
  expect(await found({ ruleName: '%' })).toEqual(['Night 100%'])
  expect(await found({ ruleName: '_' })).toEqual(['night_shift'])
  expect(await found({ ruleName: '', ruleType: '' })).toHaveLength(4)
})

const newFast = async () => expectSuccess(await save(owner, { ruleType: 1, periods: onePeriod }))

function update({ token }: TestApplication, body: Record<string, unknown>, headers: Record<string, string> = {}) {
  return client.call('updateBillingRule', body, { token, headers })
}

function remove({ token }: TestApplication, body: Record<string, unknown>, headers: Record<string, string> = {}) {
  return client.call('deleteBillingRule', body, { token, headers })
}

/** The rule's events, oldest first. */
async function eventsOf({ token }: TestApplication, billingRuleId: number) {
  return (await succeed('pageEvents', { billingRuleId, pageSize: '100' }, { token })).list
}

describe('updateBillingRule', () => {
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
    expect(await detail(owner, rule.id)).toEqual(rule)
  })
})

describe('deleteBillingRule', () => {
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
    await succeed('updateSite', other, { token })
    const refused = await remove(owner, { id })
    expectRefusal(refused, 'billingRuleInUse')
    expect(refused.data).toBeNull()
    await succeed('deleteSite', { id: saved?.id }, { token })
    expectRefusal(await client.operate('deleteBillingRule', { appId: owner.appId, id }), 'billingRuleInUse')
    await detail(owner, id)
    expect((await eventsOf(owner, id)).map((event) => event.type)).toEqual(['billingRule.created'])
    await succeed('updateSite', { ...other, [field]: null }, { token })
    expectSuccess(await remove(owner, { id }))
  })
})
