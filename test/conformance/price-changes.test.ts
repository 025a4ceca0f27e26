import { expect, test } from 'bun:test'
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
  newSite,
  onePeriod,
  saveSiteOf,
  siteRow,
  succeed,
} from './support.ts'

// Changes take effect at whole seconds, so the tests wait side by side.

const cancel = ({ token }: TestApplication, id: number, reason: unknown = 'a mistake') =>
  client.call('cancelPriceChange', { id, reason }, { token })
const remove = ({ token }: TestApplication, id: number) => client.call('deleteBillingRule', { id }, { token })
const page = async ({ token }: TestApplication, query: object = {}) =>
  await succeed('pagePriceChanges', query, { token })
const idsOf = async (application: TestApplication, query: object = {}) =>
  (await page(application, query)).list.map(({ id }) => id)

test.concurrent('schedulePriceChange of new terms answers what waits, and detail and page answer the same', async () => {
  const application = await newApplication(client)
  const rule = await newRule(application, 1)
  const effectiveTime = ahead(day)
  const terms = { billingRuleId: rule, periods: at('0.9') }
  const change = await scheduled(application, { effectiveTime, ...terms, reason: 'spring' })
  const { id, createTime, effectiveTime: shown, ...rest } = change
  expect(rest).toEqual({
    appId: application.appId,
    status: 1,
    effectiveAt: new Date(effectiveTime).toISOString(),
    ...terms,
    ...{ freeMinutes: null, unitMinutes: null, unitPrice: null, dailyCap: null },
    ...{ rules: null, siteCount: null, skippedCount: null, undoOf: null },
    ...{ reason: 'spring', createdBy: `application:${application.appId}` },
    ...{ appliedTime: null, cancelTime: null, cancelledBy: null },
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
  const region = { cityCode: '360200', provinceCode: '360000', districtCode: '360102' }
  const ids = [inCity, outside, inCity]
  for (const [sites, count] of [
    ...[[{ ids }, 2] as const, [{ all: true }, 3] as const, [{ cityCode: '360200' }, 1] as const],
    ...[[{ billingRuleId: rule }, 2] as const, [{ billingRuleId: rule, ...region }, 1] as const],
  ]) {
    expect([sites, await countOf(sites)]).toEqual([sites, count])
  }
  // A dry run writes nothing.
  expect((await page(application)).total).toBe(0)
  expect(await eventsOf(application, 'priceChange.*')).toEqual([])
  const cleared = { fastChargeBillRuleId: null, rushingBillRuleId: '' }
  const body = { effectiveTime: ahead(day), sites: { all: true }, rules: cleared }
  // Its key stays free for the change itself.
  const keyed = { token: application.token, headers: { 'idempotency-key': 'schedule' } }
  await succeed('schedulePriceChange', { ...body, dryRun: true }, keyed)
  const change = (await succeed('schedulePriceChange', body, keyed)) as PriceChangeRecord
  expect(change).toMatchObject({ siteCount: 3, rules: { fastChargeBillRuleId: null, rushingBillRuleId: null } })
  // A site that is created later does not belong to the change; a site that is deleted is taken out of it.
  await newSite(application)
  await succeed('deleteSite', { id: outside }, application)
  expect(await changeOf(application, change.id)).toEqual({ ...change, siteCount: 2 })
})

test.concurrent('new terms are in force from their moment on, and are written down within 2 seconds with their events', async () => {
  const application = await newApplication(client)
  const { appId, token } = application
  const rule = await newRule(application, 2)
  const before = await client.call('getBillingRule', { id: rule }, application)
  const change = await scheduledSoon(application, { billingRuleId: rule, periods: at('1.5') })
  const { effectiveTime } = change
  // An offline application’s take effect all the same.
  await takeOffline(client, appId)
  await untilAfter(effectiveTime)
  expectRefusal(await cancel(application, change.id), 'priceChangeWrongState')
  expect((await ruleOf(application, rule)).periods).toEqual(at('1.5'))
  expect((await succeed('pageBillingRules', {}, application)).list[0]?.periods).toEqual(at('1.5'))
  expect((await changeOf(application, change.id)).status).toBe(2)
  expect([await idsOf(application, { status: 2 }), await idsOf(application, { status: 1 })]).toEqual([[change.id], []])
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
  const stale = { token, headers: { 'if-match': before.headers.get('etag') as string } }
  expectRefusal(await client.call('updateBillingRule', { id: rule, ruleName: 'late' }, stale), 'preconditionFailed')
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
  const { cancelTime } = cancelled
  const shown = { status: 3, reason: 'not yet', cancelledBy: change.createdBy, cancelTime }
  expect(cancelled).toMatchObject({ ...change, ...shown })
  expectNow(cancelTime as string)
  expect(await changeOf(application, change.id)).toEqual(cancelled)
  expectRefusal(await cancel(application, change.id), 'priceChangeWrongState')
  expect((await eventsOf(application, 'priceChange.cancelled')).map(({ data }) => data)).toEqual([cancelled])
  await untilAfter(effectiveTime)
  expect((await ruleOf(application, rule)).periods).toEqual(onePeriod)
  expect((await page(application, { status: 3 })).list).toEqual([cancelled])
})

// That an update while a change waits counts at once, and the change still takes effect, is in test/linearizability.
test.concurrent('an update behind the moment first sees the change written down, with its events before its own', async () => {
  const application = await newApplication(client)
  const [rule, other] = [await newRule(application, 1), await newRule(application, 1)]
  const site = await newSite(application)
  await scheduledSoon(application, { billingRuleId: rule, periods: at('2') })
  const rules = { fastChargeBillRuleId: rule }
  const { effectiveTime } = await scheduledSoon(application, { sites: { ids: [site] }, rules })
  await untilAfter(effectiveTime)
  const [renamed, moved] = await Promise.all([
    succeed('updateBillingRule', { id: rule, ruleName: 'renamed' }, application),
    succeed('updateSite', { id: site, rushingBillRuleId: null, contacts: 'Li Na' }, application),
  ])
  expect([renamed.periods, moved.fastChargeBillRuleId]).toEqual([at('2'), rule])
  await succeed('updateSite', { id: site, fastChargeBillRuleId: other }, application)
  const own = `application:${application.appId}`
  for (const [type, actors] of [
    ['billingRule.updated', ['platform:prices', own]],
    ['site.updated', ['platform:prices', own, own]],
  ] as const) {
    expect<unknown>((await eventsOf(application, type)).map(({ actor }) => actor)).toEqual(actors)
  }
})

test.concurrent('a rule that a waiting change gives to sites cannot be deleted; its own waiting changes are cancelled with it', async () => {
  const application = await newApplication(client)
  const [rule, given] = [await newRule(application, 1), await newRule(application, 1)]
  const sites = { ids: [await newSite(application)] }
  const effectiveTime = ahead(day)
  const ofSite = await scheduled(application, { effectiveTime, sites, rules: { fastChargeBillRuleId: given } })
  const first = await scheduled(application, { effectiveTime, billingRuleId: rule, periods: at('2') })
  const second = await scheduled(application, { effectiveTime: ahead(2 * day), billingRuleId: rule, periods: at('3') })
  expectRefusal(await remove(application, given), 'billingRuleInUse')
  expectSuccess(await remove(application, rule))
  const cancelled = { status: 3, cancelledBy: `application:${application.appId}`, reason: null }
  for (const { id } of [first, second]) expect(await changeOf(application, id)).toMatchObject(cancelled)
  const events = await eventsOf(application, 'priceChange.cancelled,billingRule.deleted')
  expect(events.map(({ data }) => (data as { id: number }).id)).toEqual([first.id, second.id, rule])
  expectSuccess(await cancel(application, ofSite.id))
  expectSuccess(await remove(application, given))

  // A change whose sites are all deleted gives the rule to none.
  const [last, siteId] = [await newRule(application, 1), await newSite(application)]
  const rules = { fastChargeBillRuleId: last }
  await scheduled(application, { effectiveTime, sites: { ids: [siteId] }, rules })
  expectRefusal(await remove(application, last), 'billingRuleInUse')
  await succeed('deleteSite', { id: siteId }, application)
  expectSuccess(await remove(application, last))
})

test.concurrent('page answers the latest moment first, by status, rule, site and time', async () => {
  const application = await newApplication(client)
  const [rule, other] = [await newRule(application, 1), await newRule(application, 1)]
  const [site, elsewhere] = [await newSite(application), await newSite(application)]
  const late = await scheduled(application, { effectiveTime: ahead(3 * day), billingRuleId: rule, periods: at('2') })
  const early = await scheduled(application, { effectiveTime: ahead(day), billingRuleId: other, periods: at('2') })
  const rules = { fastChargeBillRuleId: rule }
  const atSite = await scheduled(application, { effectiveTime: ahead(2 * day), sites: { ids: [site] }, rules })
  const { nextCursor, ...first } = await page(application, { pageSize: 2 })
  expect(first).toMatchObject({ total: 3, pages: 2 })
  const filters: [filter: object, found: { id: number }[]][] = [
    [{}, [late, atSite, early]],
    [{ billingRuleId: rule }, [late, atSite]],
    [{ siteId: site }, [atSite]],
    [{ siteId: elsewhere }, []],
    [{ timeFrom: atSite.effectiveAt }, [late, atSite]],
    [{ timeTo: atSite.effectiveTime }, [atSite, early]],
    [{ pageSize: 2, cursor: nextCursor }, [early]],
  ]
  for (const [filter, found] of filters) expect(await idsOf(application, filter)).toEqual(found.map(({ id }) => id))
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
