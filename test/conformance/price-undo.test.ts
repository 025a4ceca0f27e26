import { expect, test } from 'bun:test'
import { newApplication, type TestApplication } from '../kit/records.ts'
import {
  ahead,
  applied,
  at,
  changeOf,
  day,
  eventsOf,
  pricesOf,
  ruleOf,
  scheduled,
  scheduledSoon,
  siteOf,
  untilApplied,
} from './price-support.ts'
import {
  client,
  expectFaults,
  expectRefusal,
  expectSuccess,
  newRule,
  newSite,
  onePeriod,
  succeed,
  typesOf,
} from './support.ts'

const undo = ({ token }: TestApplication, id: number, reason: unknown = 'too dear') =>
  client.call('undoPriceChange', { id, reason }, { token })

test.concurrent('undo puts the terms of a rule back at once, by a price change of its own', async () => {
  const application = await newApplication(client)
  const rule = await newRule(application, 1)
  const change = await applied(application, { billingRuleId: rule, periods: at('2') })
  const undone = expectSuccess(await undo(application, change.id))
  expect(undone).toMatchObject({ status: 2, undoOf: change.id, reason: 'too dear' })
  expect(undone).toMatchObject({ billingRuleId: rule, periods: onePeriod })
  expect(undone).toMatchObject({ siteCount: null, skippedCount: null, rules: null })
  expect(undone.appliedTime).not.toBeNull()
  expect((await ruleOf(application, rule)).periods).toEqual(onePeriod)
  expect(await changeOf(application, undone.id)).toEqual(undone)
  const events = (await eventsOf(application, 'priceChange.*,billingRule.updated')).slice(-3)
  expect(events.map(({ type, actor }) => [type, actor])).toEqual([
    ['priceChange.scheduled', `application:${application.appId}`],
    ['billingRule.updated', 'platform:prices'],
    ['priceChange.applied', 'platform:prices'],
  ])
  // The undo is found by what it undoes.
  const undosOf = async (undoOf: string) => (await succeed('pagePriceChanges', { undoOf }, application)).list
  expect(await undosOf(`${change.id},${undone.id}`)).toEqual([undone])
  expect(await undosOf(String(undone.id))).toEqual([])
  for (const undoOf of ['x', '0', '1,', Array(101).fill(1).join()]) {
    expectFaults(await client.call('pagePriceChanges', { undoOf }, application), ['undoOf'])
  }
  // Nothing of the first change is left to undo. The undo can be undone like any other change.
  expectRefusal(await undo(application, change.id), 'priceChangeWrongState')
  expect(expectSuccess(await undo(application, undone.id)).periods).toEqual(at('2'))
  // A site that is made afterwards has these terms since it was made, also within the same second.
  const site = await newSite(application, { fastChargeBillRuleId: rule })
  expect((await pricesOf(application, site)).fast).toMatchObject({ periods: at('2'), priceChangeId: null })
  expect((await ruleOf(application, rule)).periods).toEqual(at('2'))
})

test.concurrent('undo of a change whose terms no longer hold, that waits, was cancelled or changed nothing is refused', async () => {
  const application = await newApplication(client)
  const [rule, gone] = [await newRule(application, 1), await newRule(application, 1)]
  const waits = await scheduled(application, { effectiveTime: ahead(day), billingRuleId: rule, periods: at('5') })
  expectRefusal(await undo(application, waits.id), 'priceChangeWrongState')
  const change = await scheduledSoon(application, { billingRuleId: rule, periods: at('2') })
  const ofGone = await scheduledSoon(application, { billingRuleId: gone, periods: at('2') })
  await untilApplied(application, change.id)
  const same = await scheduledSoon(application, { billingRuleId: rule, periods: at('2') })
  for (const { id } of [change, ofGone, same]) await untilApplied(application, id)
  expectRefusal(await undo(application, same.id), 'priceChangeWrongState')
  await succeed('updateBillingRule', { id: rule, periods: at('3') }, application)
  expectRefusal(await undo(application, change.id), 'priceChangeWrongState')
  await succeed('deleteBillingRule', { id: gone }, application)
  expectRefusal(await undo(application, ofGone.id), 'priceChangeWrongState')
  expectRefusal(await undo(application, 9_000_000_000), 'priceChangeNotFound')
  for (const reason of [null, '', ' ', 5]) expectFaults(await undo(application, change.id, reason), ['reason'])
})

test.concurrent('undo puts back the rules of each site that still has what the change gave it, and counts the others', async () => {
  const application = await newApplication(client)
  const [first, second] = [await newRule(application, 1), await newRule(application, 1)]
  const [given, gone] = [await newRule(application, 1), await newRule(application, 1)]
  // The fourth has another one meanwhile.
  const [before, after] = [
    [first, second, null, first, gone, given],
    [first, second, null, second, given, given],
  ]
  const ids: number[] = []
  for (const rule of before) ids.push(await newSite(application, { fastChargeBillRuleId: rule }))
  const change = await applied(application, { sites: { all: true }, rules: { fastChargeBillRuleId: given } })
  await succeed('updateSite', { id: ids[3], fastChargeBillRuleId: second }, application)
  await succeed('deleteBillingRule', { id: gone }, application)
  const undone = expectSuccess(await undo(application, change.id))
  expect(undone).toMatchObject({ status: 2, undoOf: change.id, siteCount: 3, skippedCount: 3, rules: null })
  const ruleOfSite = async (id: number) => (await siteOf(application, id)).fastChargeBillRuleId
  expect(await Promise.all(ids.map(ruleOfSite))).toEqual(after)
  expect(typesOf(await eventsOf(application, 'priceChange.*,site.updated')).slice(-5)).toEqual([
    ...['priceChange.scheduled', 'site.updated', 'site.updated', 'site.updated', 'priceChange.applied'],
  ])
  expectRefusal(await undo(application, change.id), 'priceChangeWrongState')
})

test.concurrent('undo leaves a site alone that has got another rule in one of the fields which the change set', async () => {
  const application = await newApplication(client)
  const [before, given] = [await newRule(application, 1), await newRule(application, 1)]
  const [slow, later] = [await newRule(application, 2), await newRule(application, 2)]
  const id = await newSite(application, { fastChargeBillRuleId: before })
  const rules = { fastChargeBillRuleId: given, rushingBillRuleId: slow }
  const change = await applied(application, { sites: { ids: [id] }, rules })
  await succeed('updateSite', { id, rushingBillRuleId: later }, application)
  expectRefusal(await undo(application, change.id), 'priceChangeWrongState')
  expect(await siteOf(application, id)).toMatchObject({ fastChargeBillRuleId: given, rushingBillRuleId: later })
})
