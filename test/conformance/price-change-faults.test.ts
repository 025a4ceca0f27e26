import { expect, test } from 'bun:test'
import { momentFormat } from '../../src/vocabulary/moments.ts'
import { newApplication } from '../kit/records.ts'
import { longTest } from '../kit/scale.ts'
import { ahead, at, day, schedule, scheduled } from './price-support.ts'
import {
  client,
  expectFaults,
  expectRefusal,
  expectSuccess,
  newRule,
  newSite,
  occupancyTerms,
  siteRow,
  succeed,
} from './support.ts'

test('schedulePriceChange takes exactly one of billingRuleId and sites', async () => {
  const application = await newApplication(client)
  const rule = await newRule(application, 1)
  const terms = { billingRuleId: rule, periods: at('1') }
  const atSites = { sites: { all: true }, rules: { fastChargeBillRuleId: rule } }
  const faulty: [members: object, fields: string[]][] = [
    [{}, ['billingRuleId', 'sites']],
    [{ billingRuleId: null, sites: '' }, ['billingRuleId', 'sites']],
    [{ ...terms, ...atSites }, ['billingRuleId', 'sites']],
    // A member that belongs to the other kind of change is a fault too.
    [{ ...terms, rules: atSites.rules }, ['rules']],
    [{ ...atSites, periods: at('1') }, ['periods']],
  ]
  for (const [members, fields] of faulty) {
    expectFaults(await schedule(application, { effectiveTime: ahead(day), ...members }), fields)
  }
})

test('schedulePriceChange refuses terms as saveBillingRule does, field by field', async () => {
  const application = await newApplication(client)
  const [charging, occupancy] = [await newRule(application, 2), await newRule(application, 3)]
  const wrong: [number, 2 | 3, Record<string, unknown>][] = [
    [charging, 2, {}],
    [charging, 2, { periods: [] }],
    [charging, 2, { periods: [{ startTime: '08:00:00', electricityPrice: '1', servicePrice: '1' }] }],
    [charging, 2, { periods: [{ startTime: '00:00:00', electricityPrice: 1, servicePrice: '-1' }] }],
    [charging, 2, { periods: [...at('1'), ...at('2')] }],
    [charging, 2, occupancyTerms],
    [occupancy, 3, {}],
    [occupancy, 3, { ...occupancyTerms, unitMinutes: 0 }],
    [occupancy, 3, { freeMinutes: 1, dailyCap: 'x' }],
    [occupancy, 3, { periods: at('1') }],
  ]
  for (const [billingRuleId, ruleType, terms] of wrong) {
    const saved = await client.call('saveBillingRule', { ruleName: 'rule', ruleType, ...terms }, application)
    const refused = await schedule(application, { effectiveTime: ahead(day), billingRuleId, ...terms })
    expectRefusal(refused, 'invalidRequest')
    expect(refused.data).toEqual(saved.data as never)
  }
  const changed = { ...occupancyTerms, unitPrice: '9' }
  const change = await scheduled(application, { effectiveTime: ahead(day), billingRuleId: occupancy, ...changed })
  expect(change).toMatchObject({ periods: null, ...changed, dailyCap: null })
})

test('effectiveTime is a whole second later than now, at most 731 days away', async () => {
  const application = await newApplication(client)
  const rule = await newRule(application, 1)
  const terms = { billingRuleId: rule, periods: at('1') }
  const text = (milliseconds: number) => new Date(Date.now() + milliseconds).toISOString()
  const shown = momentFormat(process.env.FORECOURT_TIME_ZONE ?? 'Asia/Shanghai')
  const faulty = [
    ...[undefined, null, '', 5, 'tomorrow', '2030-02-30 00:00:00', '2030-01-01', '2030-01-01T00:00:00'],
    ...[text(-1000), text(-day), shown(new Date(Date.now() - 2000)), ahead(731 * day + 5000)],
    ...['2027-01-01T00:00:00.5Z', '2027-01-01T00:00:00.0001Z'],
  ]
  for (const effectiveTime of faulty) {
    expectFaults(await schedule(application, { effectiveTime, ...terms }), ['effectiveTime'])
  }
  const fitting = ['2027-01-01T00:00:00.000Z', '2027-01-01T00:00:00+08:00', ahead(731 * day - 5000)]
  fitting.push(shown(new Date(Date.now() + day)))
  for (const effectiveTime of fitting) await scheduled(application, { effectiveTime, ...terms })
  // Faults that are found at different steps are reported together.
  const several = await schedule(application, { effectiveTime: ahead(-day), billingRuleId: rule })
  expectFaults(several, ['effectiveTime', 'periods'])
})

test('sites are chosen in one way, and must be the application’s', async () => {
  const [application, stranger] = [await newApplication(client), await newApplication(client)]
  const rule = await newRule(application, 1)
  const [site, foreign] = [await newSite(application), await newSite(stranger)]
  const rules = { fastChargeBillRuleId: rule }
  const askFor = (sites: unknown, given: unknown) =>
    schedule(application, { effectiveTime: ahead(day), sites, rules: given })
  const ask = (sites: unknown) => askFor(sites, rules)
  const faulty: [sites: unknown, fields: string[]][] = [
    ...[{}, { all: false }, { cityCode: null }, [site], { cityCode: '999999' }, { billingRuleId: 9_000_000_000 }].map(
      (sites): [unknown, string[]] => [sites, ['sites']],
    ),
    [{ all: true, cityCode: '360100' }, ['sites']],
    [{ ids: [site], all: true }, ['sites']],
    // A misspelt filter must not choose every site.
    [{ citycode: '1' }, ['sites', 'sites.citycode']],
    [{ provinceCode: '360000', citycode: '1' }, ['sites.citycode']],
    [{ cityCode: '', city: '1', all: null }, ['sites', 'sites.city']],
    [{ cityCode: 5, city: '1' }, ['sites.cityCode', 'sites.city']],
    [{ ids: [] }, ['sites.ids']],
    [{ ids: Array.from({ length: 1001 }, (_, index) => index + 1) }, ['sites.ids']],
    [{ ids: [site, 'x', 0] }, ['sites.ids[1]', 'sites.ids[2]']],
  ]
  for (const [sites, fields] of faulty) expectFaults(await ask(sites), fields)
  for (const id of [foreign, 9_000_000_000]) expectRefusal(await ask({ ids: [site, id] }), 'siteNotFound')
  for (const given of [undefined, null, {}, { other: rule }])
    expectFaults(await askFor({ all: true }, given), ['rules'])
  expectFaults(await askFor({ all: true }, { fastChargeBillRuleId: 'x' }), ['rules.fastChargeBillRuleId'])
})

test('an unknown or foreign rule is 40002, and in rules 40002 and 40003 name the members', async () => {
  const [application, stranger] = [await newApplication(client), await newApplication(client)]
  const [fast, occupancy] = [await newRule(application, 1), await newRule(application, 3)]
  const foreign = await newRule(stranger, 1)
  await newSite(application)
  const effectiveTime = ahead(day)
  for (const billingRuleId of [foreign, 9_000_000_000]) {
    const refused = await schedule(application, { effectiveTime, billingRuleId, periods: at('1') })
    expectRefusal(refused, 'billingRuleNotFound', { status: 404 })
  }
  const ask = (rules: unknown) => schedule(application, { effectiveTime, sites: { all: true }, rules })
  const unknown = { fastChargeBillRuleId: foreign, rushingBillRuleId: 9_000_000_000, placeholderBillRuleId: occupancy }
  const members = ['rules.fastChargeBillRuleId', 'rules.rushingBillRuleId']
  expectFaults(await ask(unknown), members, 'billingRuleNotFound')
  const swapped = { fastChargeBillRuleId: occupancy, placeholderBillRuleId: fast }
  const both = Object.keys(swapped).map((member) => `rules.${member}`)
  expectFaults(await ask(swapped), both, 'billingRuleWrongType')
})

test('two that wait may not change the same at the same moment', async () => {
  const application = await newApplication(client)
  const [rule, other] = [await newRule(application, 1), await newRule(application, 1)]
  const [first, second] = [await newSite(application), await newSite(application)]
  const effectiveTime = ahead(day)
  const terms = { effectiveTime, periods: at('2') }
  await scheduled(application, { ...terms, billingRuleId: rule })
  expectRefusal(await schedule(application, { ...terms, billingRuleId: rule }), 'priceChangeClash')
  expectRefusal(await schedule(application, { ...terms, billingRuleId: rule, dryRun: true }), 'priceChangeClash')
  await scheduled(application, { ...terms, billingRuleId: other })
  const at1 = { effectiveTime, sites: { ids: [first] }, rules: { fastChargeBillRuleId: rule } }
  await scheduled(application, at1)
  expectRefusal(await schedule(application, { ...at1, sites: { all: true } }), 'priceChangeClash')
  await scheduled(application, { ...at1, sites: { ids: [second] } })
  await scheduled(application, { ...at1, rules: { rushingBillRuleId: null } })
  await scheduled(application, { ...at1, effectiveTime: ahead(day + 5000) })
})

test('at most 32 wait for a rule and 200 for an application', async () => {
  const application = await newApplication(client)
  const rules: number[] = []
  for (let count = 0; count < 7; count++) rules.push(await newRule(application, 1))
  const ask = (billingRuleId: number | undefined, days: number) =>
    schedule(application, { effectiveTime: ahead(days * day), billingRuleId, periods: at('1') })
  const fill = async (rule: number | undefined, most: number) => {
    for (let days = 1; days <= most; days++) expectSuccess(await ask(rule, days))
  }
  await Promise.all(rules.slice(0, 6).map((rule) => fill(rule, 32)))
  for (const rule of rules.slice(0, 6)) expectRefusal(await ask(rule, 33), 'priceChangeClash')
  await fill(rules[6], 8)
  expectRefusal(await ask(rules[6], 9), 'priceChangeClash')
})

longTest('more than 10,000 sites are refused', async () => {
  const application = await newApplication(client)
  const rule = await newRule(application, 1)
  const sites = Array.from({ length: 1000 }, () => siteRow())
  for (let batch = 0; batch < 10; batch++) await succeed('saveSites', { sites }, application)
  const ask = { effectiveTime: ahead(day), sites: { all: true }, rules: { fastChargeBillRuleId: rule } }
  expect((await scheduled(application, ask)).siteCount).toBe(10_000)
  await newSite(application)
  expectFaults(await schedule(application, { ...ask, effectiveTime: ahead(2 * day) }), ['sites'])
})
