import { expect, test } from 'bun:test'
import { newApplication } from '../kit/records.ts'
import {
  ahead,
  askPrices,
  at,
  day,
  pricesOf,
  scheduled,
  scheduledSoon,
  untilAfter,
  untilApplied,
} from './price-support.ts'
import {
  client,
  expectFaults,
  expectRefusal,
  expectSuccess,
  newRule,
  occupancyTerms,
  onePeriod,
  saveSiteOf,
  succeed,
} from './support.ts'

/** The moment some seconds after another one, as RFC 3339. */
const from = (moment: string, seconds: number) =>
  new Date(new Date(moment).getTime() + seconds * 1000).toISOString().replace('.000', '')

test.concurrent('prices of a site answer the rules that it names, with their terms, since it was made', async () => {
  const application = await newApplication(client)
  const [fast, occupancy] = [await newRule(application, 1), await newRule(application, 3)]
  const named = { fastChargeBillRuleId: fast, placeholderBillRuleId: occupancy }
  const site = expectSuccess(await saveSiteOf(application, named))
  const prices = await pricesOf(application, site.id)
  const held = { sinceTime: site.createTime, untilTime: null, untilAt: null, priceChangeId: null }
  const none = { freeMinutes: null, unitMinutes: null, unitPrice: null, dailyCap: null }
  expect(prices).toMatchObject({ siteId: site.id, appId: application.appId, slow: null })
  expect(prices.fast).toMatchObject({
    billingRuleId: fast,
    ruleName: 'rule',
    periods: onePeriod,
    period: onePeriod[0],
    ...none,
    ...held,
  })
  expect(prices.occupancy).toMatchObject({
    billingRuleId: occupancy,
    periods: null,
    period: null,
    ...occupancyTerms,
    ...held,
  })
  expect(new Date(prices.at).getMilliseconds()).toBe(0)
  // The site has prices from the second of its creation, and not before.
  expect((await pricesOf(application, site.id, site.createTime)).fast).toMatchObject({ billingRuleId: fast, ...held })
  expectFaults(await askPrices(application, site.id, '2020-01-01 00:00:00'), ['time'])
  expectFaults(await askPrices(application, site.id, 'yesterday'), ['time'])
  expectRefusal(await askPrices(application, 9_000_000_000), 'siteNotFound')
  expectRefusal(await askPrices(await newApplication(client), site.id), 'siteNotFound')
})

test.concurrent('prices of a moment of the future tell what waits, and of the past what was, exact to the second', async () => {
  const application = await newApplication(client)
  const { appId, token } = application
  const [rule, other] = [await newRule(application, 1), await newRule(application, 1)]
  const site = expectSuccess(await saveSiteOf(application, { fastChargeBillRuleId: rule })).id
  const change = await scheduledSoon(application, { billingRuleId: rule, periods: at('2') })
  const later = ahead(day)
  const atSite = await scheduled(application, {
    effectiveTime: later,
    sites: { ids: [site] },
    rules: { fastChargeBillRuleId: other },
  })
  const fastAt = async (time?: string) => (await pricesOf(application, site, time)).fast
  const { effectiveTime } = change
  const afterwards = {
    periods: at('2'),
    sinceAt: change.effectiveAt,
    untilAt: atSite.effectiveAt,
    priceChangeId: change.id,
  }
  expect(await fastAt(from(effectiveTime, -1))).toMatchObject({
    periods: onePeriod,
    untilAt: change.effectiveAt,
    priceChangeId: null,
  })
  expect(await fastAt(effectiveTime)).toMatchObject(afterwards)
  expect(await fastAt(from(later, -1))).toMatchObject(afterwards)
  expect(await fastAt(later)).toMatchObject({
    billingRuleId: other,
    sinceAt: atSite.effectiveAt,
    untilAt: null,
    priceChangeId: atSite.id,
  })
  // When the moment has come, the prices are the same before and after the change is written.
  await untilAfter(effectiveTime)
  expect(await fastAt()).toMatchObject(afterwards)
  await untilApplied(application, change.id)
  expect(await fastAt(from(effectiveTime, -1))).toMatchObject({ periods: onePeriod, untilAt: change.effectiveAt })
  expect(await fastAt(effectiveTime)).toMatchObject(afterwards)
  expect(await fastAt()).toMatchObject(afterwards)
  // What is cancelled waits no more.
  await succeed('cancelPriceChange', { appId, id: atSite.id, reason: 'x' }, { token })
  expect(await fastAt(later)).toMatchObject({ ...afterwards, untilAt: null })
})

test.concurrent('prices remember updates of the rule and of the site, undo, and rules that are deleted', async () => {
  const application = await newApplication(client)
  const { appId, token } = application
  const [rule, other] = [await newRule(application, 1), await newRule(application, 1)]
  const site = expectSuccess(await saveSiteOf(application, { fastChargeBillRuleId: rule })).id
  const fastAt = async (time?: string) => (await pricesOf(application, site, time)).fast
  /** Waits for the next second, so that each step has its own. */
  const nextSecond = async () => {
    const moment = ahead(1)
    await untilAfter(moment)
    return moment
  }
  await nextSecond()
  await succeed('updateBillingRule', { appId, id: rule, periods: at('2') }, { token })
  const updated = (await fastAt()) as NonNullable<Awaited<ReturnType<typeof fastAt>>>
  expect(updated).toMatchObject({ periods: at('2'), priceChangeId: null })
  expect(await fastAt(updated.sinceTime)).toMatchObject({ periods: at('2') })
  expect(await fastAt(from(updated.sinceAt, -1))).toMatchObject({ periods: onePeriod, untilTime: updated.sinceTime })
  // A name is no price.
  await succeed('updateBillingRule', { appId, id: rule, ruleName: 'renamed' }, { token })
  expect(await fastAt()).toEqual({ ...updated, ruleName: 'renamed' })
  const change = await scheduledSoon(application, { billingRuleId: rule, periods: at('3') })
  await untilApplied(application, change.id)
  await nextSecond()
  const undone = await succeed('undoPriceChange', { appId, id: change.id, reason: 'x' }, { token })
  expect(await fastAt()).toMatchObject({ periods: at('2'), priceChangeId: undone.id, sinceTime: undone.effectiveTime })
  expect(await fastAt(change.effectiveTime)).toMatchObject({
    periods: at('3'),
    priceChangeId: change.id,
    untilTime: undone.effectiveTime,
  })
  await nextSecond()
  await succeed('updateSite', { appId, id: site, fastChargeBillRuleId: other }, { token })
  await succeed('deleteBillingRule', { appId, id: rule }, { token })
  const moved = await fastAt()
  expect(moved).toMatchObject({ billingRuleId: other, periods: onePeriod, priceChangeId: null })
  expect(await fastAt(from(moved?.sinceAt as string, -1))).toMatchObject({
    billingRuleId: rule,
    periods: at('2'),
    ruleName: 'renamed',
  })
  expect(await fastAt(change.effectiveTime)).toMatchObject({ periods: at('3') })
  await succeed('deleteSite', { appId, id: site }, { token })
  expectRefusal(await askPrices(application, site), 'siteNotFound')
})

test.concurrent('the period that holds at a time of day is one of the periods', async () => {
  const application = await newApplication(client)
  const rule = await newRule(application, 2)
  const site = expectSuccess(await saveSiteOf(application, { rushingBillRuleId: rule })).id
  const periods = ['00:00:00', '08:00:00', '22:30:00'].map((startTime) => ({
    startTime,
    electricityPrice: '1',
    servicePrice: '0',
  }))
  await scheduled(application, { effectiveTime: '2027-01-01 00:00:00', billingRuleId: rule, periods })
  const startAt = async (time: string) =>
    (await pricesOf(application, site, `2027-01-02 ${time}`)).slow?.period?.startTime
  expect(await Promise.all(['00:00:00', '07:59:59', '08:00:00', '22:29:59', '23:59:59'].map(startAt))).toEqual([
    ...['00:00:00', '00:00:00', '08:00:00', '08:00:00', '22:30:00'],
  ])
})
