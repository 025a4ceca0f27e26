import { expect } from 'bun:test'
import type { Page } from 'playwright-core'
import { newApplication, siteBody, type TestApplication } from '../kit/records.ts'
import { confirm, fillIn, row, shows } from './hand.ts'
import { browserTest, client, expectFramed, expectSound, longBrowserTest, loseAnswer, visit } from './support.ts'

const periods = [
  { startTime: '00:00:00', electricityPrice: '0.3', servicePrice: '0.4' },
  { startTime: '08:00:00', electricityPrice: '0.8535', servicePrice: '0.45' },
  { startTime: '12:30:00', electricityPrice: '0.6100', servicePrice: '0.40' },
  { startTime: '18:00:00', electricityPrice: '1.1', servicePrice: '0.5' },
  { startTime: '22:00:00', electricityPrice: '0.3', servicePrice: '0.4' },
]

async function newRule({ appId }: TestApplication, members: Record<string, unknown> = {}) {
  const body = { appId, ruleName: 'Fast by day', ruleType: 1, periods, ...members }
  const made = await client.operate('saveBillingRule', body)
  if (made.code !== 0) throw new Error(made.text)
  return made.data
}

const rulesOf = async ({ appId }: TestApplication) => (await client.operate('pageBillingRules', { appId })).data.list
const readRule = async ({ appId, id }: { appId: string; id: number }) =>
  (await client.operate('getBillingRule', { appId, id })).data

const pageOf = ({ appId, id }: { appId: string; id: number }) => `/console/billing-rules/${appId}/${id}`

const cell = (page: Page, what: string, number: number) =>
  page.getByRole('textbox', { name: `${what}, period ${number}` })

browserTest('billing rules are listed with their day, their terms and their sites, light and dark', async () => {
  const app = await newApplication(client)
  const terms = { periods: undefined, freeMinutes: 30, unitMinutes: 15, unitPrice: '2.50', dailyCap: '40' }
  await newRule(app, { ruleName: 'Occupancy', ruleType: 3, ...terms })
  const always = await newRule(app, { ruleName: 'Slow, all day', ruleType: 2, periods: periods.slice(0, 1) })
  await newRule(app)
  const { page } = await visit(`/console/billing-rules?appId=${app.appId}`, { role: 'viewer' })
  await page.getByText('First 30 minutes free, then 2.50 yuan per 15 minutes. Maximum 40 yuan per day.').waitFor()
  await page.getByText('5 periods per day, 0.70 to 1.60 yuan/kWh').waitFor()
  const slow = row(page, /Slow, all day/)
  await slow.getByText('0.70 yuan/kWh', { exact: true }).waitFor()
  await expectSound(page, 'Billing rules', 'rules')
  const sites = slow.getByRole('link', { name: 'Sites that use this rule' })
  expect(await sites.getAttribute('href')).toContain(`billingRuleId=${always.id}`)
  await page.getByLabel('Name', { exact: true }).fill('no such rule')
  await page.getByText('No results match these filters.').waitFor()
  await page.getByRole('button', { name: 'Clear filters' }).click()
  await page.getByText('Fast by day').waitFor()
  // A viewer has no buttons that change anything.
  expect(await page.getByRole('button', { name: /New billing rule|Delete/ }).count()).toBe(0)
})

browserTest('billing rules are made with the amounts exactly as they were typed', async () => {
  const app = await newApplication(client)
  const { page } = await visit(`/console/billing-rules?appId=${app.appId}`, { role: 'operator' })
  await page.getByText('No billing rules yet.').waitFor()
  await page.getByRole('button', { name: 'New billing rule' }).first().click()
  await page.getByRole('heading', { level: 1, name: 'New billing rule' }).waitFor()
  await page.getByLabel('Name', { exact: true }).fill('Evening')
  await cell(page, 'Electricity', 1).fill('0.10')
  await cell(page, 'Service', 1).fill('0.2')
  await page.getByRole('cell', { name: '0.30', exact: true }).waitFor()
  await page.getByRole('button', { name: 'Add period' }).click()
  await cell(page, 'Start', 2).fill('18:00:00')
  await cell(page, 'Electricity', 2).fill('1.23456')
  await page.getByRole('button', { name: 'Create' }).click()
  await page.getByText('Enter an amount with up to 4 decimals.').waitFor()
  expect(await rulesOf(app)).toEqual([])
  await cell(page, 'Electricity', 2).fill('1.2000')
  await expectSound(page, 'New billing rule')
  await page.getByRole('button', { name: 'Create' }).click()
  await page.waitForURL(`**/console/billing-rules?appId=${app.appId}`)
  await page.getByText('Evening').waitFor()
  const [made] = await rulesOf(app)
  expect(made).toMatchObject({
    ruleName: 'Evening',
    ruleType: 1,
    periods: [
      { startTime: '00:00:00', electricityPrice: '0.10', servicePrice: '0.2' },
      { startTime: '18:00:00', electricityPrice: '1.2000', servicePrice: '0.2' },
    ],
  })

  // Of occupancy, with the defaults.
  await page.goto(`${client.url}/console/billing-rules/new?appId=${app.appId}`)
  await page.getByLabel('Name', { exact: true }).fill('Stay short')
  await page.getByText('Occupancy', { exact: true }).click()
  await fillIn(page, { 'Price per unit (yuan)': '2.5', 'Daily maximum (yuan)': '1.23456' })
  await page.getByRole('button', { name: 'Create' }).click()
  await page.getByText('Enter an amount with up to 4 decimals.').waitFor()
  await page.getByLabel('Daily maximum (yuan)').fill('')
  await page.getByRole('button', { name: 'Create' }).click()
  await page.getByText('Stay short').waitFor()
  const terms = { ruleType: 3, freeMinutes: 30, unitMinutes: 15, unitPrice: '2.5', dailyCap: null }
  expect(await rulesOf(app)).toContainEqual(expect.objectContaining(terms))
})

longBrowserTest('billing rules are edited by the borders of their day, by keys and by hand', async () => {
  const app = await newApplication(client)
  const rule = await newRule(app)
  const { page } = await visit(`${pageOf(rule)}/edit`, { role: 'operator', isCutOff: true })
  const border = page.getByRole('slider', { name: 'Start of period 2' })
  await border.focus()
  await page.keyboard.press('ArrowRight')
  expect(await border.getAttribute('aria-valuetext')).toBe('08:15:00')
  expect(await cell(page, 'Start', 2).inputValue()).toBe('08:15:00')
  // Drag the border to 06:00, a quarter of the bar's width.
  const bar = (await page.locator('.day-bar-plot').boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 }
  await border.hover({ force: true })
  await page.mouse.down()
  await page.mouse.move(bar.x + bar.width * 0.1, bar.y + 60, { steps: 4 })
  await page.mouse.move(bar.x + bar.width * 0.2501, bar.y + 60, { steps: 4 })
  await page.mouse.up()
  expect(await cell(page, 'Start', 2).inputValue()).toBe('06:00:00')
  // A click inside a period splits the period at that time.
  await page.mouse.click(bar.x + bar.width * (20 / 24), bar.y + 100)
  await page.getByRole('slider', { name: 'Start of period 6' }).waitFor()
  expect(await cell(page, 'Start', 5).inputValue()).toBe('20:00:00')
  await cell(page, 'Electricity', 5).fill('1.5')
  await page.getByRole('button', { name: 'Remove period 3' }).click()
  // Before saving, the page shows the old prices next to the new ones.
  await page.getByRole('region', { name: 'Old and new prices' }).getByText('No sites use this rule.').waitFor()
  await expectFramed(page, 'Fast by day')
  // If the response to the user's own change is lost, saving again reports no conflict.
  await page.route('**/billingRule/update', loseAnswer)
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('The service didn’t respond.').waitFor()
  await page.unroute('**/billingRule/update')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.waitForURL(`**${pageOf(rule)}`)
  expect((await readRule(rule)).periods).toEqual([
    { startTime: '00:00:00', electricityPrice: '0.3', servicePrice: '0.4' },
    { startTime: '06:00:00', electricityPrice: '0.8535', servicePrice: '0.45' },
    { startTime: '18:00:00', electricityPrice: '1.1', servicePrice: '0.5' },
    { startTime: '20:00:00', electricityPrice: '1.5', servicePrice: '0.5' },
    { startTime: '22:00:00', electricityPrice: '0.3', servicePrice: '0.4' },
  ])
})

longBrowserTest('billing rules are deleted, but not while a site uses them', async () => {
  const app = await newApplication(client)
  const used = await newRule(app, { ruleName: 'Used' })
  const unused = await newRule(app, { ruleName: 'Unused' })
  await client.operate('saveSite', siteBody(app.appId, { fastChargeBillRuleId: used.id }))
  const { page } = await visit(pageOf(used), { role: 'developer', appIds: [app.appId] })
  const dialog = page.getByRole('dialog')
  await confirm(page, 'Delete')
  await shows(dialog, 'Error 40004', 'Sites still use this rule.')
  await dialog.getByRole('link', { name: 'Sites that use this rule' }).waitFor()
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  await page.goto(client.url + pageOf(unused))
  await page.getByRole('heading', { name: 'Unused' }).waitFor()
  await confirm(page, 'Delete')
  await page.getByText('Billing rule deleted.', { exact: true }).waitFor()
  expect((await rulesOf(app)).map(({ ruleName }) => ruleName)).toEqual(['Used'])
})
