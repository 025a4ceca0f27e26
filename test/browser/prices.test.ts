import { expect } from 'bun:test'
import { ahead } from '../conformance/price-support.ts'
import { newApplication, newSerial, type TestApplication } from '../kit/records.ts'
import { becomesTrue, sleep } from '../kit/waits.ts'
import { Hand, shows } from './hand.ts'
import { newRule, newSite } from './records.ts'
import { browserTest, client, expectFramed, expectSound, leadTo, longBrowserTest, narrow, visit } from './support.ts'

/** The most clicks of a task, starting from any page. */
const mostClicks = 8

const changesOf = async ({ appId }: TestApplication, page = {}) =>
  (await client.operate('pagePriceChanges', { appId, ...page })).data.list

async function begin() {
  const { page } = await visit('/console/account', { role: 'operator' })
  return { page, hand: new Hand(page) }
}

const periodsAt = (electricityPrice: string) => [{ startTime: '00:00:00', electricityPrice, servicePrice: '0.4' }]

longBrowserTest('a rule gets other prices from tomorrow on, which wait, counted down, and are cancelled', async () => {
  const appName = newSerial('Priced')
  const app = await newApplication(client, { appName })
  const name = newSerial('Fast')
  const rule = await newRule(app, 1, name)
  await newSite(app, { fastChargeBillRuleId: rule })
  const { page, hand } = await begin()
  await hand.go('Billing rules')
  await hand.type(page.getByLabel('Name', { exact: true }), name)
  await page.getByText('1 total').waitFor()
  await hand.click(page.getByRole('link', { name, exact: true }))
  await page.getByText('Used by 1 site.').waitFor()
  await hand.click(page.getByRole('link', { name: 'Schedule price change…' }))
  await page.getByRole('heading', { level: 1, name: `Schedule a price change: ${name}` }).waitFor()
  await page.getByRole('button', { name: 'Tomorrow', pressed: true }).waitFor()
  await hand.type(page.getByRole('textbox', { name: 'Electricity, period 1' }), '0.85')
  await page.getByRole('region', { name: 'Old and new prices' }).getByText('1.25 yuan/kWh').waitFor()
  await page.getByText('Used by 1 site.').waitFor()
  await expectSound(page, `Schedule a price change: ${name}`)
  await hand.press('Schedule')
  await page.getByText(/^in \d+ (h|min) \d+ (min|s)$/).waitFor()
  expect(hand.clicks).toBeLessThanOrEqual(mostClicks)
  const [change] = await changesOf(app)
  expect(change).toMatchObject({ billingRuleId: rule, status: 1 })
  expect(change?.effectiveTime).toEndWith(' 00:00:00')
  const present = (await client.operate('getBillingRule', { appId: app.appId, id: rule })).data
  expect(present.periods?.[0]?.electricityPrice).toBe('0.6')
  await expectSound(page, name)

  // Lists mark the rule, and the site that names it.
  await hand.go('Billing rules')
  await page.getByLabel('Name', { exact: true }).fill(name)
  await page.getByTitle(`Price change from ${change?.effectiveTime}`).waitFor()
  await leadTo(page, `/console/sites?appId=${app.appId}`)
  await page.getByTitle(`Price change from ${change?.effectiveTime}`).waitFor()

  await leadTo(page, `/console/billing-rules/${app.appId}/${rule}`)
  await page.getByRole('button', { name: `Cancel the price change for ${change?.effectiveTime}` }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Reason').fill('A mistake')
  await dialog.getByRole('button', { name: 'Cancel price change' }).click()
  await page.getByText('Price change cancelled.').waitFor()
  expect(await changesOf(app)).toMatchObject([{ status: 3 }])
  // The page keeps what was scheduled and cancelled, by whom, and names the application.
  await page.getByRole('heading', { name: 'Cancelled before taking effect' }).waitFor()
  const [cancelled] = await changesOf(app)
  await shows(page, `scheduled ${cancelled?.createTime}`, `Cancelled ${cancelled?.cancelTime}`)
  await page.getByText('Application:').getByRole('link', { name: appName, exact: true }).waitFor()
  await leadTo(page, `/console/price-changes?appId=${app.appId}`)
  await page.locator('tbody tr').filter({ hasText: 'A mistake' }).getByText('Cancelled by').waitFor()
})

longBrowserTest('all sites of a city get another rule from next Monday on, counted before', async () => {
  const appName = newSerial('City')
  const app = await newApplication(client, { appName })
  const rule = await newRule(app, 1, newSerial('Monday'))
  const there = { provinceCode: '360000', cityCode: '360700', districtCode: '360702' }
  const sites = [await newSite(app, there), await newSite(app, there)]
  await newSite(app)
  const { page, hand } = await begin()
  await hand.go('Sites')
  await hand.find(page.getByRole('combobox', { name: 'Application' }), appName)
  await page.getByText('3 total').waitFor()
  await hand.find(page.getByRole('combobox', { name: 'Province, city, district' }), '赣州市')
  await page.getByText('2 total').waitFor()
  await hand.press('Schedule rule change…')
  const dialog = page.getByRole('dialog', { name: 'Schedule a change of billing rules' })
  await hand.press('Next Monday', dialog)
  await hand.find(dialog.getByRole('combobox', { name: 'Fast charging rule' }), 'Monday')
  await hand.press('Count matches', dialog)
  await dialog.getByText('2 sites get other rules.').waitFor()
  await expectSound(page, 'Sites')
  await hand.press('Schedule for 2 sites', dialog)
  await page.getByText('Price change scheduled.').waitFor()
  expect(hand.clicks).toBeLessThanOrEqual(mostClicks)
  const [change] = await changesOf(app)
  expect(change).toMatchObject({ siteCount: 2, status: 1, rules: { fastChargeBillRuleId: rule } })
  expect(new Date(`${change?.effectiveTime.slice(0, 10)}T00:00:00Z`).getUTCDay()).toBe(1)

  // Each site is marked, with the prices that follow.
  await page.getByTitle(`Price change from ${change?.effectiveTime}`).nth(1).waitFor()
  await leadTo(page, `/console/sites/${app.appId}/${sites[0]?.id}`)
  await page.getByText(`From ${change?.effectiveTime}`).waitFor()
  await page.getByText(/^in \d d \d+ h$/).waitFor()
  await expectSound(page, sites[0]?.siteName ?? '')
  await leadTo(page, `/console/price-changes?appId=${app.appId}`)
  expect(await page.getByRole('link', { name: 'Rules at 2 sites' }).getAttribute('href')).toBe(
    `/console/sites?appId=${app.appId}&billingRuleId=${rule}`,
  )
  await expectSound(page, 'Scheduled price changes')
})

longBrowserTest('prices that somebody changed are put back, and the dialog says which', async () => {
  const app = await newApplication(client, { appName: newSerial('Undone') })
  const name = newSerial('Changed')
  const id = await newRule(app, 1, name)
  await client.operate('updateBillingRule', { appId: app.appId, id, periods: periodsAt('0.9') })
  const { page, hand } = await begin()
  await hand.go('Billing rules')
  await hand.type(page.getByLabel('Name', { exact: true }), name)
  await page.getByText('1 total').waitFor()
  await hand.click(page.getByRole('link', { name, exact: true }))
  await hand.press(/^Undo the price change of /)
  const dialog = page.getByRole('dialog')
  await dialog.getByText('1 period per day, 1.00 yuan/kWh').waitFor()
  await hand.press('Undo', dialog)
  await page.getByText('Previous prices restored.').waitFor()
  expect(hand.clicks).toBeLessThanOrEqual(mostClicks)
  const { data } = await client.operate('getBillingRule', { appId: app.appId, id })
  expect(data.periods?.[0]?.electricityPrice).toBe('0.6')
})

browserTest('a price change that took effect is undone for a reason, and the line tells both, on a phone', async () => {
  const app = await newApplication(client, { appName: newSerial('Line') })
  const id = await newRule(app, 1, 'Line')
  const change = { billingRuleId: id, effectiveTime: ahead(2_000), periods: periodsAt('0.9') }
  await client.operate('schedulePriceChange', { appId: app.appId, ...change })
  const chinese = { role: 'operator', language: 'zh', viewport: narrow } as const
  const { page } = await visit(`/console/billing-rules/${app.appId}/${id}`, chinese)
  // At the moment of the change, the page reads its data again.
  await page.getByRole('button', { name: /^撤销 / }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText('全天 1 个时段，1.00 元/千瓦时').waitFor()
  await dialog.getByLabel('原因').fill('改错了')
  await dialog.getByRole('button', { name: /^撤\s?销$/ }).click()
  // The dialog shows the reason too, until the undo has succeeded.
  await dialog.waitFor({ state: 'hidden' })
  await page.getByText('改错了').waitFor()
  await expectFramed(page, 'Line')
  const [undo, undone] = await changesOf(app)
  expect(undo).toMatchObject({ undoOf: undone?.id, status: 2 })
  await leadTo(page, `/console/billing-rules/${app.appId}/${id}/prices`)
  await page.getByRole('button', { name: '下周一' }).waitFor()
  await expectFramed(page, '定时调价：Line')
  await leadTo(page, `/console/price-changes?appId=${app.appId}`)
  await page.getByText(`撤销调价 ${undone?.id}`).waitFor()
  await expectFramed(page, '调价')
})

longBrowserTest('a price change that changed nothing offers no undo in its rule’s line', async () => {
  const app = await newApplication(client, { appName: newSerial('Same') })
  const id = await newRule(app, 1, 'Same')
  const schedule = async () => {
    const change = { billingRuleId: id, effectiveTime: ahead(1_000), periods: periodsAt('0.9') }
    await client.operate('schedulePriceChange', { appId: app.appId, ...change })
    expect(await becomesTrue(async () => (await changesOf(app))[0]?.status === 2)).toBe(true)
  }
  await schedule()
  const { page } = await visit(`/console/billing-rules/${app.appId}/${id}`, { role: 'operator' })
  const offers = page.getByRole('button', { name: /^Undo the price change of / })
  await offers.waitFor()
  await schedule()
  await page.reload()
  await page.locator('.price-line-held').nth(1).waitFor()
  expect(await offers.count()).toBe(0)
})

longBrowserTest('of many changes that wait for a site, it shows the soonest', async () => {
  const app = await newApplication(client)
  const { appId, token } = app
  const rule = await newRule(app, 1, 'Night')
  const { id } = await newSite(app)
  const times = Array.from({ length: 110 }, (_, day) => ahead((day + 1) * 86_400_000))
  for (const effectiveTime of times) {
    const body = { appId, effectiveTime, sites: { ids: [id] }, rules: { fastChargeBillRuleId: rule } }
    expect((await client.call('schedulePriceChange', body, { token })).code).toBe(0)
  }
  const { effectiveTime } = (await changesOf(app, { pageNo: 11 })).at(-1) ?? {}
  const { page } = await visit(`/console/sites?appId=${appId}`, { role: 'operator' })
  await page.getByTitle(`Price change from ${effectiveTime}`).waitFor()
  await leadTo(page, `/console/sites/${appId}/${id}`)
  await page.getByText(`From ${effectiveTime}`).waitFor()
})

longBrowserTest('the list says what an undo puts back, also where other prices came between', async () => {
  const app = await newApplication(client)
  const { appId } = app
  const id = await newRule(app, 1, 'Between')
  const body = { appId, effectiveTime: ahead(1_500), billingRuleId: id, periods: periodsAt('0.9') }
  expect((await client.operate('schedulePriceChange', body)).code).toBe(0)
  expect(await becomesTrue(async () => (await changesOf(app))[0]?.status === 2)).toBe(true)
  // The line of a rule orders its entries by the second.
  await sleep(1_100)
  for (const price of ['0.7', '0.9'])
    expect((await client.operate('updateBillingRule', { appId, id, periods: periodsAt(price) })).code).toBe(0)
  const { page } = await visit(`/console/price-changes?appId=${appId}`, { role: 'operator' })
  await page.getByRole('button', { name: /^Undo the price change of / }).click()
  await page.getByRole('dialog').getByText('1 period per day, 1.00 yuan/kWh').waitFor()
})

longBrowserTest('the list offers to undo what can be undone, and says what was', async () => {
  const app = await newApplication(client)
  const { appId, token } = app
  const [rule, other] = [await newRule(app, 1, 'Now'), await newRule(app, 1, 'Then')]
  const { id } = await newSite(app, { fastChargeBillRuleId: rule })
  const ofRule = { billingRuleId: other, periods: periodsAt('0.9') }
  const ofSites = { sites: { ids: [id] }, rules: { fastChargeBillRuleId: other } }
  for (const change of [ofRule, ofSites]) {
    const body = { appId, effectiveTime: ahead(3_000), ...change }
    expect((await client.call('schedulePriceChange', body, { token })).code).toBe(0)
  }
  const areApplied = async () => (await changesOf(app)).every(({ appliedTime }) => appliedTime !== null)
  expect(await becomesTrue(areApplied)).toBe(true)
  const undo = (id: number) => client.call('undoPriceChange', { appId, id, reason: 'too dear' }, { token })
  const { page } = await visit(`/console/price-changes?appId=${appId}`, { role: 'operator' })
  const offers = page.getByRole('button', { name: /^Undo the price change of / })
  const undone = page.getByRole('cell', { name: 'Undone', exact: true })
  await offers.nth(1).waitFor()
  expect(await undone.count()).toBe(0)
  // What it puts back is said before.
  const dialog = page.getByRole('dialog')
  for (const [row, words] of [
    ['1 period per day', '1 period per day, 1.00 yuan/kWh'],
    ['Rules at 1 site', 'Sites: 1'],
  ] as const) {
    await page.getByRole('row', { name: row }).first().getByRole('button').click()
    await dialog.getByText(words).waitFor()
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    await dialog.waitFor({ state: 'hidden' })
  }
  const undos: number[] = []
  for (const change of await changesOf(app)) undos.push((await undo(change.id)).data.id)
  await page.reload()
  await undone.nth(1).waitFor()
  // An undo can be undone like any other change.
  await offers.nth(1).waitFor()
  expect(await offers.count()).toBe(2)
  await expectSound(page, 'Scheduled price changes')
  for (const id of undos) expect((await undo(id)).code).toBe(0)
  await page.reload()
  await undone.nth(1).waitFor()
  // The changes hold again: the undos are undone, the changes are not.
  await offers.nth(3).waitFor()
})
