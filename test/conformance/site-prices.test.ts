import { expect, test } from 'bun:test'
import { newApplication, type TestApplication } from '../kit/records.ts'
import {
  ahead,
  applied,
  askPrices,
  at,
  day,
  pricesOf,
  scheduled,
  scheduledSoon,
  siteOf,
  untilAfter,
  untilApplied,
} from './price-support.ts'
import { client, expectFaults, expectRefusal, newRule, newSite, occupancyTerms, onePeriod, succeed } from './support.ts'

/** The moment some seconds after another one, as RFC 3339. */
const from = (moment: string, seconds: number) =>
  new Date(new Date(moment).getTime() + seconds * 1000).toISOString().replace('.000', '')

const fastOf = (application: TestApplication, site: number) => async (time?: string) =>
  (await pricesOf(application, site, time)).fast

test.concurrent('prices of a site answer the rules that it names, with their terms, since it was made', async () => {
  const application = await newApplication(client)
  const [fast, occupancy] = [await newRule(application, 1), await newRule(application, 3)]
  const id = await newSite(application, { fastChargeBillRuleId: fast, placeholderBillRuleId: occupancy })
  const { createTime } = await siteOf(application, id)
  const prices = await pricesOf(application, id)
  const held = { sinceTime: createTime, untilTime: null, untilAt: null, priceChangeId: null }
  const none = { freeMinutes: null, unitMinutes: null, unitPrice: null, dailyCap: null }
  expect(prices).toMatchObject({
    siteId: id,
    appId: application.appId,
    fast: { billingRuleId: fast, ruleName: 'rule', periods: onePeriod, period: onePeriod[0], ...none, ...held },
    slow: null,
    occupancy: { billingRuleId: occupancy, periods: null, period: null, ...occupancyTerms, ...held },
  })
  expect(new Date(prices.at).getMilliseconds()).toBe(0)
  // The site has prices from the second of its creation, and not before.
  expect((await pricesOf(application, id, createTime)).fast).toMatchObject({ billingRuleId: fast, ...held })
  expectFaults(await askPrices(application, id, '2020-01-01 00:00:00'), ['time'])
  expectFaults(await askPrices(application, id, 'yesterday'), ['time'])
})

test.concurrent('prices of a moment of the future tell what waits, and of the past what was, exact to the second', async () => {
  const application = await newApplication(client)
  const [rule, other] = [await newRule(application, 1), await newRule(application, 1)]
  const site = await newSite(application, { fastChargeBillRuleId: rule })
  const fastAt = fastOf(application, site)
  const change = await scheduledSoon(application, { billingRuleId: rule, periods: at('2') })
  const later = ahead(day)
  const atSite = await scheduled(application, {
    effectiveTime: later,
    sites: { ids: [site] },
    rules: { fastChargeBillRuleId: other },
  })
  const { effectiveTime, effectiveAt } = change
  const before = { periods: onePeriod, untilAt: effectiveAt, priceChangeId: null }
  const after = { periods: at('2'), sinceAt: effectiveAt, untilAt: atSite.effectiveAt, priceChangeId: change.id }
  const last = { billingRuleId: other, sinceAt: atSite.effectiveAt, untilAt: null, priceChangeId: atSite.id }
  expect(await fastAt(from(effectiveTime, -1))).toMatchObject(before)
  expect(await fastAt(effectiveTime)).toMatchObject(after)
  expect(await fastAt(from(later, -1))).toMatchObject(after)
  expect(await fastAt(later)).toMatchObject(last)
  // When the moment has come, the prices are the same before and after the change is written.
  await untilAfter(effectiveTime)
  expect(await fastAt()).toMatchObject(after)
  await untilApplied(application, change.id)
  expect(await fastAt(from(effectiveTime, -1))).toMatchObject(before)
  expect(await fastAt(effectiveTime)).toMatchObject(after)
  expect(await fastAt()).toMatchObject(after)
  // What is cancelled waits no more.
  await succeed('cancelPriceChange', { id: atSite.id, reason: 'x' }, application)
  expect(await fastAt(later)).toMatchObject({ ...after, untilAt: null })
})

test.concurrent('prices remember updates of the rule and of the site, undo, and rules that are deleted', async () => {
  const application = await newApplication(client)
  const [rule, other] = [await newRule(application, 1), await newRule(application, 1)]
  const site = await newSite(application, { fastChargeBillRuleId: rule })
  const fastAt = fastOf(application, site)
  /** Waits for the next second, so that each step has its own. */
  const nextSecond = () => untilAfter(ahead(1))
  await nextSecond()
  await succeed('updateBillingRule', { id: rule, periods: at('2') }, application)
  const updated = (await fastAt()) as NonNullable<Awaited<ReturnType<typeof fastAt>>>
  expect(updated).toMatchObject({ periods: at('2'), priceChangeId: null })
  expect(await fastAt(updated.sinceTime)).toMatchObject({ periods: at('2') })
  expect(await fastAt(from(updated.sinceAt, -1))).toMatchObject({ periods: onePeriod, untilTime: updated.sinceTime })
  // A name is no price.
  await succeed('updateBillingRule', { id: rule, ruleName: 'renamed' }, application)
  expect(await fastAt()).toEqual({ ...updated, ruleName: 'renamed' })
  const change = await applied(application, { billingRuleId: rule, periods: at('3') })
  await nextSecond()
  const undone = await succeed('undoPriceChange', { id: change.id, reason: 'x' }, application)
  const { effectiveTime: undoneTime } = undone
  expect(await fastAt()).toMatchObject({ periods: at('2'), priceChangeId: undone.id, sinceTime: undoneTime })
  const changed = { periods: at('3'), priceChangeId: change.id, untilTime: undoneTime }
  expect(await fastAt(change.effectiveTime)).toMatchObject(changed)
  await nextSecond()
  await succeed('updateSite', { id: site, fastChargeBillRuleId: other }, application)
  await succeed('deleteBillingRule', { id: rule }, application)
  const moved = await fastAt()
  expect(moved).toMatchObject({ billingRuleId: other, periods: onePeriod, priceChangeId: null })
  const gone = { billingRuleId: rule, periods: at('2'), ruleName: 'renamed' }
  expect(await fastAt(from(moved?.sinceAt as string, -1))).toMatchObject(gone)
  expect(await fastAt(change.effectiveTime)).toMatchObject({ periods: at('3') })
  await succeed('deleteSite', { id: site }, application)
  expectRefusal(await askPrices(application, site), 'siteNotFound')
})

test.concurrent('the period that holds at a time of day is one of the periods', async () => {
  const application = await newApplication(client)
  const rule = await newRule(application, 2)
  const site = await newSite(application, { rushingBillRuleId: rule })
  const prices = { electricityPrice: '1', servicePrice: '0' }
  const periods = ['00:00:00', '08:00:00', '22:30:00'].map((startTime) => ({ startTime, ...prices }))
  await scheduled(application, { effectiveTime: '2027-01-01 00:00:00', billingRuleId: rule, periods })
  const startAt = async (time: string) =>
    (await pricesOf(application, site, `2027-01-02 ${time}`)).slow?.period?.startTime
  expect(await Promise.all(['00:00:00', '07:59:59', '08:00:00', '22:29:59', '23:59:59'].map(startAt))).toEqual([
    ...['00:00:00', '00:00:00', '08:00:00', '08:00:00', '22:30:00'],
  ])
})
