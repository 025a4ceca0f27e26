import { expect, test } from 'bun:test'
import { getBillingRule as getRule } from '../../src/billing-rules/contract.ts'
import type { PriceChangeRecord } from '../../src/sites/price-changes/contract.ts'
import { limits } from '../../src/vocabulary/limits.ts'
import { newApplication, type TestApplication, takeOffline } from '../kit/records.ts'
import {
  ahead,
  at,
  changeOf,
  day,
  eventsOf,
  ruleOf,
  schedule,
  scheduled,
  scheduledSoon,
  siteOf,
  untilAfter,
  untilApplied,
} from './price-support.ts'
import {
  client,
  expectNow,
  expectRefusal,
  expectSuccess,
  newRule,
  onePeriod,
  saveSiteOf,
  siteRow,
  succeed,
} from './support.ts'

// Changes take effect at whole seconds, so the tests wait side by side.

const cancel = ({ appId, token }: TestApplication, id: number, reason: unknown = 'a mistake') =>
  client.call('cancelPriceChange', { appId, id, reason }, { token })

const page = async ({ appId, token }: TestApplication, query: Record<string, unknown> = {}) =>
  await succeed('pagePriceChanges', { appId, ...query }, { token })

async function newSite(application: TestApplication, members: Record<string, unknown> = {}): Promise<number> {
  return expectSuccess(await saveSiteOf(application, members)).id
}

test.concurrent('schedulePriceChange of new terms answers what waits, and detail and page answer the same', async () => {
  const application = await newApplication(client)
  const rule = await newRule(application, 1)
  const effectiveTime = ahead(day)
  const change = await scheduled(application, {
    effectiveTime,
    billingRuleId: rule,
    periods: at('0.9'),
    reason: 'spring',
  })
  const { id, createTime, effectiveTime: shown, ...rest } = change
  expect(rest).toEqual({
    appId: application.appId,
    status: 1,
    effectiveAt: new Date(effectiveTime).toISOString(),
    billingRuleId: rule,
    periods: at('0.9'),
    freeMinutes: null,
    unitMinutes: null,
    unitPrice: null,
    dailyCap: null,
    rules: null,
    siteCount: null,
    skippedCount: null,
    reason: 'spring',
    undoOf: null,
    createdBy: `application:${application.appId}`,
    appliedTime: null,
    cancelTime: null,
    cancelledBy: null,
  })
  expect(shown).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/)
  expectNow(createTime)
  expect(await changeOf(application, id)).toEqual(change)
  expect((await page(application)).list).toEqual([change])
  // An operator need not name the application.
  expect(await succeed('getPriceChange', { id })).toEqual(change)
  expect((await succeed('pagePriceChanges', { billingRuleId: rule })).list).toEqual([change])
  expect((await ruleOf(application, rule)).periods).toEqual(onePeriod)
  const [event, ...others] = await eventsOf(application, 'priceChange.*')
  expect(event).toMatchObject({ type: 'priceChange.scheduled', actor: change.createdBy, data: change })
  expect(others).toEqual([])
})

test.concurrent('schedulePriceChange of other rules counts the sites that fit, by ids, by filters, or all', async () => {
  const application = await newApplication(client)
  const [rule, other] = [await newRule(application, 1), await newRule(application, 1)]
  const inCity = await newSite(application, { cityCode: '360200', fastChargeBillRuleId: rule })
  const outside = await newSite(application, { fastChargeBillRuleId: rule })
  await newSite(application)
  const rules = { fastChargeBillRuleId: other }
  const countOf = async (sites: unknown) => {
    const dry = expectSuccess(await schedule(application, { effectiveTime: ahead(day), sites, rules, dryRun: true }))
    expect(dry).toMatchObject({ id: null, status: 1, billingRuleId: null, periods: null, rules })
    return dry.siteCount
  }
  expect(await countOf({ ids: [inCity, outside, inCity] })).toBe(2)
  expect(await countOf({ all: true })).toBe(3)
  expect(await countOf({ cityCode: '360200' })).toBe(1)
  expect(await countOf({ billingRuleId: rule })).toBe(2)
  expect(
    await countOf({ billingRuleId: rule, cityCode: '360200', provinceCode: '360000', districtCode: '360102' }),
  ).toBe(1)
  // A dry run writes nothing.
  expect((await page(application)).total).toBe(0)
  expect(await eventsOf(application, 'priceChange.*')).toEqual([])
  const cleared = { fastChargeBillRuleId: null, rushingBillRuleId: '' }
  const body = { appId: application.appId, effectiveTime: ahead(day), sites: { all: true }, rules: cleared }
  // Its key stays free for the change itself.
  const keyed = { token: application.token, headers: { 'idempotency-key': 'schedule' } }
  await succeed('schedulePriceChange', { ...body, dryRun: true }, keyed)
  const change = (await succeed('schedulePriceChange', body, keyed)) as PriceChangeRecord
  expect(change).toMatchObject({ siteCount: 3, rules: { fastChargeBillRuleId: null, rushingBillRuleId: null } })
  // A site that is created later does not belong to the change; a site that is deleted is taken out of it.
  await newSite(application)
  await succeed('deleteSite', { appId: application.appId, id: outside })
  expect(await changeOf(application, change.id)).toEqual({ ...change, siteCount: 2 })
})

test.concurrent('new terms are in force from their moment on, and are written down within 2 seconds with their events', async () => {
  const application = await newApplication(client)
  const { appId, token } = application
  const rule = await newRule(application, 2)
  const before = await client.call(getRule, { appId, id: rule }, { token })
  const change = await scheduledSoon(application, { billingRuleId: rule, periods: at('1.5') })
  const { effectiveTime } = change
  // An offline application’s take effect all the same.
  await takeOffline(client, appId)
  await untilAfter(effectiveTime)
  expectRefusal(await cancel(application, change.id), 'priceChangeWrongState')
  expect((await ruleOf(application, rule)).periods).toEqual(at('1.5'))
  const listed = await succeed('pageBillingRules', { appId }, { token })
  expect(listed.list[0]?.periods).toEqual(at('1.5'))
  expect((await changeOf(application, change.id)).status).toBe(2)
  expect((await page(application, { status: 2 })).list.map(({ id }) => id)).toEqual([change.id])
  expect((await page(application, { status: 1 })).list).toEqual([])
  await untilApplied(application, change.id)
  expect(Date.now() - new Date(effectiveTime).getTime()).toBeLessThan(2_500)
  const [updated, applied, ...others] = (await eventsOf(application, 'priceChange.*,billingRule.*')).slice(-2)
  expect(updated).toMatchObject({ type: 'billingRule.updated', actor: 'platform:prices' })
  expect(updated?.data).toEqual(await ruleOf(application, rule))
  expect(applied).toMatchObject({ type: 'priceChange.applied', actor: 'platform:prices' })
  expect(applied?.data).toEqual(await changeOf(application, change.id))
  expect(others).toEqual([])
  // Operators find in their own trail when the prices took effect, though no person did it.
  const trail = await succeed('pageAudit', { appId, type: 'priceChange.*' })
  expect(trail.list).toMatchObject([{ type: 'priceChange.applied', actor: 'platform:prices', appId }])
  // An edit that began before the moment is refused, because the record has changed.
  const etag = before.headers.get('etag') as string
  const stale = { token, headers: { 'if-match': etag } }
  expectRefusal(
    await client.call('updateBillingRule', { appId, id: rule, ruleName: 'late' }, stale),
    'preconditionFailed',
  )
})

test.concurrent('other rules hold at the sites from their moment on: site.updated for each that changed, then priceChange.applied', async () => {
  const application = await newApplication(client)
  const [rule, other] = [await newRule(application, 1), await newRule(application, 1)]
  const occupancy = await newRule(application, 3)
  const first = await newSite(application, { fastChargeBillRuleId: rule, placeholderBillRuleId: occupancy })
  const same = await newSite(application, { fastChargeBillRuleId: other })
  const last = await newSite(application)
  const rules = { fastChargeBillRuleId: other, placeholderBillRuleId: null }
  const change = await scheduledSoon(application, { sites: { all: true }, rules })
  // A site that is created meanwhile, with one of the rules, keeps what it was given.
  const later = expectSuccess(await saveSiteOf(application, { fastChargeBillRuleId: rule }))
  await untilApplied(application, change.id)
  expect(await siteOf(application, later.id)).toEqual(later)
  expect(await siteOf(application, first)).toMatchObject({ fastChargeBillRuleId: other, placeholderBillRuleId: null })
  expect(await siteOf(application, last)).toMatchObject({ fastChargeBillRuleId: other, placeholderBillRuleId: null })
  const events = await eventsOf(application, 'priceChange.*,site.updated')
  expect(events.map(({ type, data }) => [type, (data as { id: number }).id])).toEqual([
    ['priceChange.scheduled', change.id],
    ['site.updated', first],
    ['site.updated', last],
    ['priceChange.applied', change.id],
  ])
  expect(events[1]).toMatchObject({ actor: 'platform:prices', data: await siteOf(application, first) })
  expect(await siteOf(application, same)).toMatchObject({ fastChargeBillRuleId: other })
})

test.concurrent('a change that waits is cancelled, with its reason, and never takes effect', async () => {
  const application = await newApplication(client)
  const rule = await newRule(application, 1)
  const effectiveTime = ahead(6000)
  const change = await scheduled(application, { effectiveTime, billingRuleId: rule, periods: at('3') })
  const cancelled = expectSuccess(await cancel(application, change.id, 'not yet'))
  expect(cancelled).toMatchObject({
    ...change,
    status: 3,
    reason: 'not yet',
    cancelledBy: change.createdBy,
    cancelTime: cancelled.cancelTime,
  })
  expectNow(cancelled.cancelTime as string)
  expect(await changeOf(application, change.id)).toEqual(cancelled)
  expectRefusal(await cancel(application, change.id), 'priceChangeWrongState')
  expect((await eventsOf(application, 'priceChange.cancelled')).map(({ data }) => data)).toEqual([cancelled])
  await untilAfter(effectiveTime)
  expect((await ruleOf(application, rule)).periods).toEqual(onePeriod)
  expect((await page(application, { status: 3 })).list).toEqual([cancelled])
})

test.concurrent('an update while a change waits counts at once, and the change still takes effect with its own terms', async () => {
  const application = await newApplication(client)
  const { appId, token } = application
  const [rule, other] = [await newRule(application, 1), await newRule(application, 1)]
  const site = await newSite(application)
  const effectiveTime = ahead(6000)
  const change = await scheduled(application, { effectiveTime, billingRuleId: rule, periods: at('2') })
  const atSite = await scheduled(application, {
    effectiveTime,
    sites: { ids: [site] },
    rules: { fastChargeBillRuleId: rule },
  })
  const update = { appId, id: rule, ruleName: 'renamed', periods: at('7') }
  await succeed('updateBillingRule', update, { token })
  expect((await ruleOf(application, rule)).periods).toEqual(at('7'))
  await succeed('updateSite', { appId, id: site, fastChargeBillRuleId: other }, { token })
  expect((await siteOf(application, site)).fastChargeBillRuleId).toBe(other)
  await untilApplied(application, change.id)
  await untilApplied(application, atSite.id)
  expect(await ruleOf(application, rule)).toMatchObject({ ruleName: 'renamed', periods: at('2') })
  expect((await siteOf(application, site)).fastChargeBillRuleId).toBe(rule)
})

test.concurrent('an update behind the moment first sees the change written down, with its events before its own', async () => {
  const application = await newApplication(client)
  const { appId, token } = application
  const [rule, other] = [await newRule(application, 1), await newRule(application, 1)]
  const site = await newSite(application)
  await scheduledSoon(application, { billingRuleId: rule, periods: at('2') })
  const rules = { fastChargeBillRuleId: rule }
  const { effectiveTime } = await scheduledSoon(application, { sites: { ids: [site] }, rules })
  await untilAfter(effectiveTime)
  const [renamed, moved] = await Promise.all([
    client.call('updateBillingRule', { appId, id: rule, ruleName: 'renamed' }, { token }),
    client.call('updateSite', { appId, id: site, rushingBillRuleId: null, contacts: 'Li Na' }, { token }),
  ])
  expect(expectSuccess(renamed).periods).toEqual(at('2'))
  expect(expectSuccess(moved).fastChargeBillRuleId).toBe(rule)
  await succeed('updateSite', { appId, id: site, fastChargeBillRuleId: other }, { token })
  const ofRule = await eventsOf(application, 'billingRule.updated')
  const own = `application:${appId}`
  expect(ofRule.map(({ actor }) => actor)).toEqual(['platform:prices', own])
  const ofSite = await eventsOf(application, 'site.updated')
  expect(ofSite.map(({ actor }) => actor)).toEqual(['platform:prices', own, own])
})

test.concurrent('a rule that a waiting change gives to sites cannot be deleted; its own waiting changes are cancelled with it', async () => {
  const application = await newApplication(client)
  const { appId, token } = application
  const [rule, given] = [await newRule(application, 1), await newRule(application, 1)]
  const site = await newSite(application)
  const remove = (id: number) => client.call('deleteBillingRule', { appId, id }, { token })
  const ofSite = await scheduled(application, {
    effectiveTime: ahead(day),
    sites: { ids: [site] },
    rules: { fastChargeBillRuleId: given },
  })
  const first = await scheduled(application, { effectiveTime: ahead(day), billingRuleId: rule, periods: at('2') })
  const second = await scheduled(application, { effectiveTime: ahead(2 * day), billingRuleId: rule, periods: at('3') })
  expectRefusal(await remove(given), 'billingRuleInUse')
  expectSuccess(await remove(rule))
  for (const { id } of [first, second]) {
    expect(await changeOf(application, id)).toMatchObject({
      status: 3,
      cancelledBy: `application:${appId}`,
      reason: null,
    })
  }
  const events = await eventsOf(application, 'priceChange.cancelled,billingRule.deleted')
  expect(events.map(({ data }) => (data as { id: number }).id)).toEqual([first.id, second.id, rule])
  expectSuccess(await cancel(application, ofSite.id))
  expectSuccess(await remove(given))
})

test.concurrent('page answers the latest moment first, by status, rule, site and time', async () => {
  const application = await newApplication(client)
  const [rule, other] = [await newRule(application, 1), await newRule(application, 1)]
  const [site, elsewhere] = [await newSite(application), await newSite(application)]
  const late = await scheduled(application, { effectiveTime: ahead(3 * day), billingRuleId: rule, periods: at('2') })
  const early = await scheduled(application, { effectiveTime: ahead(day), billingRuleId: other, periods: at('2') })
  const rules = { fastChargeBillRuleId: rule }
  const atSite = await scheduled(application, { effectiveTime: ahead(2 * day), sites: { ids: [site] }, rules })
  const idsOf = async (query: Record<string, unknown>) => (await page(application, query)).list.map(({ id }) => id)
  expect(await idsOf({})).toEqual([late.id, atSite.id, early.id])
  expect(await idsOf({ billingRuleId: rule })).toEqual([late.id, atSite.id])
  expect(await idsOf({ siteId: site })).toEqual([atSite.id])
  expect(await idsOf({ siteId: elsewhere })).toEqual([])
  expect(await idsOf({ timeFrom: atSite.effectiveAt })).toEqual([late.id, atSite.id])
  expect(await idsOf({ timeTo: atSite.effectiveTime })).toEqual([atSite.id, early.id])
  const first = await page(application, { pageSize: 2 })
  expect(first).toMatchObject({ total: 3, pages: 2 })
  expect(await idsOf({ pageSize: 2, cursor: first.nextCursor as string })).toEqual([early.id])
})

test.concurrent('a change of more sites than one transaction writes gives its rules to all of them', async () => {
  const application = await newApplication(client)
  const rule = await newRule(application, 1)
  const sites = Array.from({ length: limits.pricePortionSites + 1 }, () => siteRow())
  await succeed('saveSites', { sites }, application)
  const change = await scheduledSoon(application, { sites: { all: true }, rules: { fastChargeBillRuleId: rule } })
  await untilApplied(application, change.id)
  const { total } = await succeed('pageSites', { billingRuleId: rule }, application)
  expect(total).toBe(sites.length)
})
