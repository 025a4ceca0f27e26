import { expect, test } from 'bun:test'
import { getBillingRule, pageBillingRules, saveBillingRule } from '../../src/billing-rules/contract.ts'
import { newApplication, type TestApplication } from '../harness.ts'
import {
  client,
  expectFaults,
  expectNow,
  expectRefusal,
  expectSuccess,
  newRule,
  occupancyTerms,
  onePeriod,
  raw,
  withRaw,
} from './support.ts'
import { neverIntegers, neverText, notGiven, storedAsSent } from './texts.ts'

const recordMembers = [
  'appId',
  'createTime',
  'dailyCap',
  'freeMinutes',
  'id',
  'periods',
  'ruleName',
  'ruleType',
  'unitMinutes',
  'unitPrice',
]

function save({ appId, token }: TestApplication, members: Record<string, unknown>) {
  return client.call(saveBillingRule, { appId, ruleName: 'rule', ...members }, { token })
}

async function detail({ appId, token }: TestApplication, id: number) {
  return expectSuccess(await client.call(getBillingRule, { appId, id }, { token }))
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
  expect(Object.keys(rule).sort()).toEqual(recordMembers)
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

test('the first period begins at 00:00:00', async () => {
  const application = await newApplication(client)
  for (const startTime of ['00:00:01', '08:00:00', '23:59:59']) {
    expectFaults(await save(application, { ruleType: 1, periods: [from(startTime)] }), ['periods[0].startTime'])
  }
})

test('periods ascend: none begins when the one before does, or earlier', async () => {
  const application = await newApplication(client)
  const periods = ['00:00:00', '08:00:00', '08:00:00', '07:59:59', '09:00:00', '00:00:00'].map((time) => from(time))
  expectFaults(await save(application, { ruleType: 2, periods }), [
    'periods[2].startTime',
    'periods[3].startTime',
    'periods[5].startTime',
  ])
})

test('a period begins at a time of day, HH:mm:ss, before 24:00:00', async () => {
  const application = await newApplication(client)
  for (const startTime of [
    '24:00:00',
    '12:60:00',
    '12:00:60',
    '8:00:00',
    '12:00',
    ' 12:00:00',
    120000,
    null,
    undefined,
    '',
  ]) {
    const periods = [from('00:00:00'), from(startTime)]
    expectFaults(await save(application, { ruleType: 1, periods }), ['periods[1].startTime'])
  }
})

test('every fault of every period is named by its place', async () => {
  const application = await newApplication(client)
  const periods = [{}, from('x', { electricityPrice: 1 }), 5, from('12:00:00', { servicePrice: '0.00001' })]
  expectFaults(await save(application, { ruleName: '', ruleType: 1, periods }), [
    'ruleName',
    'periods[0].startTime',
    'periods[0].electricityPrice',
    'periods[0].servicePrice',
    'periods[1].startTime',
    'periods[1].electricityPrice',
    'periods[2]',
    'periods[3].servicePrice',
  ])
})

const money = ['0', '0.0', '0.5', '0.50', '0.0001', '1', '12.3456', '999999999.9999', '100.00']
const neverMoney: unknown[] = [
  '0.00001',
  '1.23456',
  '1.00000',
  '-1',
  '-0',
  '+1',
  '1.',
  '.5',
  '01',
  '00.5',
  '1e3',
  '0x1',
  '1,5',
  '1 000',
  ' 1',
  '1 ',
  '１',
  '¥1',
  'NaN',
  'Infinity',
  'x',
  '1.2.3',
  '1000000000',
  '9'.repeat(400),
  0.5,
  1,
  0,
  true,
  {},
  [],
  ['1'],
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

test('minutes are integers', async () => {
  const { appId, token } = await newApplication(client)
  for (const field of ['freeMinutes', 'unitMinutes']) {
    const body = { appId, ruleName: 'rule', ruleType: 3, ...occupancyTerms, [field]: raw }
    for (const written of neverIntegers) {
      expectFaults(await client.call(saveBillingRule, withRaw(body, written), { token }), [field])
    }
  }
})

test('members of the other types are not given', async () => {
  const application = await newApplication(client)
  const everything = { ...occupancyTerms, dailyCap: '9', periods: onePeriod }
  expect(expectSuccess(await save(application, { ruleType: 1, ...everything }))).toMatchObject({
    periods: onePeriod,
    freeMinutes: null,
    unitMinutes: null,
    unitPrice: null,
    dailyCap: null,
  })
  expect(expectSuccess(await save(application, { ruleType: 3, ...everything }))).toMatchObject({
    periods: null,
    ...occupancyTerms,
    dailyCap: '9',
  })
})

test('members of a period that nobody knows are ignored and not kept', async () => {
  const application = await newApplication(client)
  const rule = expectSuccess(await save(application, { ruleType: 1, periods: [from('00:00:00', { colour: 'red' })] }))
  expect((await detail(application, rule.id)).periods).toEqual(onePeriod)
})

test('a rule’s type is 1, 2 or 3', async () => {
  const application = await newApplication(client)
  for (const ruleType of [0, 4, -1, 1.5, '1', null, '', undefined, true, [1]]) {
    const answer = await save(application, { ruleType, ...occupancyTerms, periods: onePeriod })
    expectFaults(answer, ['ruleType'])
  }
})

test('a rule’s name has 1 to 64 characters and is kept as it is sent', async () => {
  const application = await newApplication(client)
  for (const ruleName of storedAsSent({ max: 64 })) {
    const { id } = expectSuccess(await save(application, { ruleName, ruleType: 1, periods: onePeriod }))
    expect((await detail(application, id)).ruleName).toBe(ruleName)
  }
  for (const ruleName of [...neverText({ max: 64 }), ...notGiven]) {
    expectFaults(await save(application, { ruleName, ruleType: 1, periods: onePeriod }), ['ruleName'])
  }
})

test('a rule that does not exist, or is another application’s, is one answer: billingRuleNotFound with 404', async () => {
  const [application, other] = await Promise.all([newApplication(client), newApplication(client)])
  const { appId, token } = application
  const foreign = await newRule(other, 1)
  const answers = await Promise.all(
    [foreign, 999_999_999_999, Number.MAX_SAFE_INTEGER].map((id) =>
      client.call(getBillingRule, { appId, id }, { token }),
    ),
  )
  for (const answer of answers) {
    expectRefusal(answer, 'billingRuleNotFound', { status: 404 })
    expect(answer.text).toBe(answers[0]?.text as string)
  }
})

test('the detail of a rule wants an id, and of an operator an appId', async () => {
  const { appId, token } = await newApplication(client)
  expectFaults(await client.call(getBillingRule, {}, { token }), ['id'])
  expectFaults(await client.operate(getBillingRule, { id: 1 }), ['appId'])
  for (const id of ['', 'x', '1.5', '-1', '9007199254740993', '1e3', ' 1', '0x1', '\0', 'true']) {
    expectFaults(await client.call(getBillingRule, { appId, id }, { token }), ['id'])
  }
})

test('an application saves and sees only its own rules', async () => {
  const [application, other] = await Promise.all([newApplication(client), newApplication(client)])
  const id = await newRule(other, 1)
  const { token } = application
  for (const appId of [other.appId, 'no-such-application']) {
    expectRefusal(await save({ ...application, appId }, { ruleType: 1, periods: onePeriod }), 'notPermitted')
    expectRefusal(await client.call(getBillingRule, { appId, id }, { token }), 'notPermitted')
    expectRefusal(await client.call(pageBillingRules, { appId }, { token }), 'notPermitted')
  }
})

test('an operator names the application, and an unknown one is applicationNotFound', async () => {
  const { appId } = await newApplication(client)
  const rule = { ruleName: 'by an operator', ruleType: 1, periods: onePeriod }
  const saved = expectSuccess(await client.operate(saveBillingRule, { appId, ...rule }))
  expect(expectSuccess(await client.operate(getBillingRule, { appId, id: saved.id }))).toEqual(saved)
  expect(expectSuccess(await client.operate(pageBillingRules, { appId })).list).toEqual([saved])
  const unknown = 'no-such-application'
  expectRefusal(await client.operate(saveBillingRule, { appId: unknown, ...rule }), 'applicationNotFound')
  expectRefusal(await client.operate(getBillingRule, { appId: unknown, id: saved.id }), 'applicationNotFound')
  expectRefusal(await client.operate(pageBillingRules, { appId: unknown }), 'applicationNotFound')
})

test('pageBillingRules finds rules by a part of their name and by type', async () => {
  const application = await newApplication(client)
  const { appId, token } = application
  const names = ['Night 100%', 'Day', 'night_shift']
  for (const ruleName of names) expectSuccess(await save(application, { ruleName, ruleType: 1, periods: onePeriod }))
  expectSuccess(await save(application, { ruleName: 'Night parking', ruleType: 3, ...occupancyTerms }))
  const found = async (filter: Record<string, unknown>) =>
    expectSuccess(await client.call(pageBillingRules, { appId, ...filter }, { token })).list.map(
      (rule) => rule.ruleName,
    )
  expect(await found({})).toEqual(['Night parking', 'night_shift', 'Day', 'Night 100%'])
  expect(await found({ ruleName: 'night' })).toEqual(['Night parking', 'night_shift', 'Night 100%'])
  expect(await found({ ruleType: 3 })).toEqual(['Night parking'])
  expect(await found({ ruleName: 'night', ruleType: 1 })).toEqual(['night_shift', 'Night 100%'])
  expect(await found({ ruleName: '%' })).toEqual(['Night 100%'])
  expect(await found({ ruleName: '_' })).toEqual(['night_shift'])
  expect(await found({ ruleName: '', ruleType: '' })).toHaveLength(4)
})

test('of periods with other faults it is told too that their starts do not ascend', async () => {
  const application = await newApplication(client)
  const periods = [
    { startTime: '01:00:00', electricityPrice: 1, servicePrice: '0.1' },
    { startTime: '00:30:00', electricityPrice: '1', servicePrice: 'x' },
    { electricityPrice: '1', servicePrice: '1' },
  ]
  expectFaults(await save(application, { ruleType: 1, periods }), [
    'periods[0].startTime',
    'periods[0].electricityPrice',
    'periods[1].startTime',
    'periods[1].servicePrice',
    'periods[2].startTime',
  ])
})
