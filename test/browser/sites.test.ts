import { expect } from 'bun:test'
import type { Page } from 'playwright-core'
import type { SiteRecord } from '../../src/sites/contract.ts'
import { newApplication, newSerial, type TestApplication } from '../kit/records.ts'
import { fillIn, press } from './hand.ts'
import { newRule, newSite } from './records.ts'
import { browserTest, client, expectFramed, expectSound, longBrowserTest, loseAnswer, visit } from './support.ts'

async function sitesOf({ token }: TestApplication): Promise<SiteRecord[]> {
  return (await client.call('pageSites', { pageSize: 100 }, { token })).data.list
}

async function siteNow({ token }: TestApplication, id: number): Promise<SiteRecord> {
  return (await client.call('getSite', { id }, { token })).data
}

async function fillRequired(page: Page, siteName: string): Promise<void> {
  const phones = { 'Contact phone': '13800000000', 'Customer service phone': '4000000000' }
  await fillIn(page, { 'Site name': siteName, 'Contact person': 'Wang Fang', ...phones })
  for (const [label, time] of Object.entries({ 'Opens at': '08:00:00', 'Closes at': '02:00:00' })) {
    await page.getByLabel(label).fill(time)
    await page.keyboard.press('Tab')
  }
  await page.getByLabel('Opening days').fill('Monday to Sunday')
}

async function chooseDistrict(page: Page, text: string, path: string): Promise<void> {
  await page.getByLabel('Province, city, district').fill(text)
  await page.getByText(path).click()
}

browserTest('a new site is made with everything that a site has', async () => {
  const app = await newApplication(client)
  const fast = await newRule(app, 1, 'Fast by day')
  const occupancy = await newRule(app, 3, 'Stay short')
  const { page } = await visit(`/console/sites/new?appId=${app.appId}`, { role: 'operator' })
  const siteName = newSerial('site')
  await press(page, 'Create')
  await page.getByText('Required.').first().waitFor()
  expect(await sitesOf(app)).toEqual([])
  await fillRequired(page, siteName)
  await page.getByText('Closes at 02:00:00 on the next day.').waitFor()
  await chooseDistrict(page, '东湖区', '江西省 / 南昌市 / 东湖区')
  await page.getByLabel('Coordinates').fill('115.899918,28.676493')
  await page.getByLabel('Fast charging rule').click()
  await page.locator('.ant-select-item-option').getByText('Fast by day').click()
  // Each field offers only rules of its own type.
  await page.getByLabel('Occupancy rule').click()
  await page.locator('.ant-select-item-option').getByText('Stay short').click()
  // The tests reach no other machine.
  await page.route('https://example.com/**', (route) => route.fulfill({ contentType: 'image/png', body: '' }))
  await page.getByLabel('Picture URLs').fill('https://example.com/a.png, https://example.com/b.png')
  await expectSound(page, 'New site')
  await page.getByLabel('Street address').fill('No. 1 Yangming Road')
  await page.keyboard.press('Enter')
  await page.waitForURL(/\/console\/sites\/[^/]+\/\d+$/)
  const [site, ...others] = await sitesOf(app)
  expect(others).toEqual([])
  expect(site).toMatchObject({
    ...{ siteName, contacts: 'Wang Fang', businessStartTime: '08:00:00', businessClosingTime: '02:00:00' },
    ...{ provinceCode: '360000', provinceName: '江西省', cityCode: '360100', cityName: '南昌市' },
    ...{ districtCode: '360102', districtName: '东湖区', detailAddress: 'No. 1 Yangming Road' },
    ...{ coordinates: '115.899918,28.676493', fastChargeBillRuleId: fast, placeholderBillRuleId: occupancy },
    ...{ rushingBillRuleId: null, ipcIds: null },
    sitePictureUrl: 'https://example.com/a.png, https://example.com/b.png',
  })
})

longBrowserTest('a new site is made once, and loses nothing, after a refusal and a lost answer', async () => {
  const { appId } = (await client.operate('createApplication', { appName: newSerial('app') })).data
  const { page } = await visit(`/console/sites/new?appId=${appId}`, { role: 'admin', isCutOff: true })
  await fillRequired(page, 'Only one')
  await page.getByLabel('24:00 (end of day)').check()
  // The table of regions contains no districts of this city.
  await chooseDistrict(page, '东莞市', '广东省 / 东莞市')
  await page.getByText('The region table has no districts here.').waitFor()
  await fillIn(page, { 'District code': '441900', 'District name': '东莞市' })
  await press(page, 'Create')
  await page.getByText('Error 30003').waitFor()
  const link = page.getByRole('link', { name: 'Add configuration' })
  expect(await link.getAttribute('href')).toBe(`/console/applications/${appId}/callback`)
  expect(await page.getByLabel('Site name').inputValue()).toBe('Only one')
  await expectFramed(page, 'New site')
  expect((await client.operate('saveThirdPartyConfig', { appId, operatorName: 'Operator' })).code).toBe(0)
  await page.route('**/siteManageThird/save', loseAnswer, { times: 1 })
  await press(page, 'Create')
  await page.getByText('The service didn’t respond.').waitFor()
  const made = async () => (await client.operate('pageSites', { appId })).data.list
  expect(await made()).toHaveLength(1)
  await press(page, 'Create')
  await page.getByRole('heading', { level: 1, name: 'Only one' }).waitFor()
  const codes = { cityCode: '441900', districtCode: '441900' }
  expect(await made()).toMatchObject([{ siteName: 'Only one', businessClosingTime: '24:00:00', ...codes }])
})

longBrowserTest('a new site takes its place from a click on the map', async () => {
  const app = await newApplication(client)
  const { page } = await visit(`/console/sites/new?appId=${app.appId}`, { role: 'operator' })
  await page.getByLabel('Coordinates').fill('115.899918,28.676493')
  await press(page, 'Choose on map')
  const map = page.getByRole('group', { name: 'Map for choosing the site’s location' })
  await map.locator('.map-point span').waitFor()
  const { width = 0, height = 0 } = (await map.boundingBox()) ?? {}
  await map.click({ position: { x: width / 4, y: height / 4 } })
  const [longitude = 0, latitude = 0] = (await page.getByLabel('Coordinates').inputValue()).split(',').map(Number)
  expect(longitude).toBeLessThan(115.899918)
  expect(longitude).toBeGreaterThan(115.8)
  expect(latitude).toBeGreaterThan(28.676493)
  expect(latitude).toBeLessThan(28.7)
  await expectFramed(page, 'New site')
  // The map moves to the coordinates that are typed.
  await page.getByLabel('Coordinates').fill('121.4737,31.2304')
  await page.getByText('121.47°E').waitFor()
})

browserTest('a site is changed, but not over what another changed meanwhile', async () => {
  const app = await newApplication(client)
  const site = await newSite(app, { detailAddress: 'No. 1', districtCode: '360199', districtName: 'New district' })
  const { page } = await visit(`/console/sites/${app.appId}/${site.id}/edit`, { role: 'operator' })
  // Codes that the table of regions does not contain are shown and kept.
  await page.getByText('They’re saved as entered.', { exact: false }).waitFor()
  expect(await page.getByLabel('District code').inputValue()).toBe('360199')
  await expectFramed(page, 'Edit Riverside charging park')
  await fillIn(page, { 'Contact person': 'Mine', 'Site name': 'My name', 'Street address': '' })
  const theirs = { id: site.id, siteName: 'Their name', contactsPhone: '13911111111' }
  expect((await client.call('updateSite', theirs, { token: app.token })).code).toBe(0)
  await press(page, 'Save')
  await page.getByText('You both changed: Site name.', { exact: false }).waitFor()
  expect(await siteNow(app, site.id)).toMatchObject({ siteName: 'Their name', contacts: site.contacts })
  await page.getByRole('cell', { name: '13911111111' }).waitFor()
  await press(page, 'Take theirs')
  expect(await page.getByLabel('Site name').inputValue()).toBe('Their name')
  expect(await page.getByLabel('Contact phone').inputValue()).toBe('13911111111')
  expect(await page.getByLabel('Contact person').inputValue()).toBe('Mine')
  await page.getByLabel('Site name').fill('My name')
  // The page asks before the user leaves unsaved changes.
  await page.getByRole('link', { name: 'Devices' }).click()
  const question = page.getByRole('dialog', { name: 'Leave without saving?' })
  await question.waitFor()
  await press(question, 'Stay')
  await question.waitFor({ state: 'detached' })
  expect(await page.getByLabel('Site name').inputValue()).toBe('My name')
  await press(page, 'Save')
  await page.getByRole('heading', { level: 1, name: 'My name' }).waitFor()
  expect(await siteNow(app, site.id)).toEqual({
    ...site,
    ...{ siteName: 'My name', contacts: 'Mine', contactsPhone: '13911111111', detailAddress: null },
  })
})

longBrowserTest('a site is the model of a new one, which has its own name, place and cameras', async () => {
  const app = await newApplication(client)
  const fastChargeBillRuleId = await newRule(app, 1, 'Fast by day')
  const site = await newSite(app, { fastChargeBillRuleId, ipcIds: 'ipc-1', coordinates: '115.9,28.7' })
  const { page } = await visit(`/console/sites/${app.appId}/${site.id}`, { role: 'operator' })
  await page.getByRole('link', { name: 'Duplicate' }).click()
  await page.getByText(`Based on “${site.siteName}”`).waitFor()
  expect(await page.getByLabel('Contact phone').inputValue()).toBe(site.contactsPhone)
  await expectSound(page, 'New site')
  await page.getByLabel('Site name').fill('Second park')
  await press(page, 'Create')
  await page.getByRole('heading', { level: 1, name: 'Second park' }).waitFor()
  const made = (await sitesOf(app)).find(({ siteName }) => siteName === 'Second park')
  expect(made).toMatchObject({ fastChargeBillRuleId, contacts: site.contacts, ipcIds: null, coordinates: null })
})

longBrowserTest('a site is taken out of service by its working days, which everybody reads, and put back', async () => {
  const app = await newApplication(client)
  const { id } = await newSite(app, { businessWeekDay: 'Mon to Sun' })
  const days = async () => (await siteNow(app, id)).businessWeekDay
  const { page } = await visit(`/console/sites/${app.appId}/${id}`, { role: 'operator', isCutOff: true })
  await press(page, 'Take out of service…')
  const dialog = page.getByRole('dialog', { name: /^Take .* out of service\?$/ })
  await dialog.getByText(/sees this text instead of “Mon to Sun”/).waitFor()
  const words = dialog.getByLabel('Opening days')
  // A write that was given up without a connection is not sent when there is one again.
  await words.fill('Out of service, given up')
  await page.context().setOffline(true)
  await press(dialog, 'Take out of service')
  await dialog.getByText(/didn’t respond/).waitFor()
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
  await page.context().setOffline(false)
  await Bun.sleep(1_000)
  expect(await days()).toBe('Mon to Sun')
  await press(page, 'Take out of service…')
  expect(await words.inputValue()).toBe('Out of service (usually Mon to Sun)')
  // Another text would not be known again, and could not be taken back.
  for (const other of [' ', 'Closed for repairs until May']) {
    await words.fill(other)
    expect(await dialog.getByRole('button', { name: 'Take out of service' }).isDisabled()).toBe(true)
  }
  await words.fill('Out of service until May (usually Mon to Sun)')
  await press(dialog, 'Take out of service')
  await dialog.waitFor({ state: 'detached' })
  await page.locator('.page-head').getByText('Out of service').first().waitFor()
  expect(await days()).toBe('Out of service until May (usually Mon to Sun)')
  const listed = await visit(`/console/sites?appId=${app.appId}`, { role: 'viewer' })
  await listed.page.locator('tbody tr').getByText('Out of service').waitFor()
  await press(page, 'Put back in service…')
  const back = page.getByRole('dialog', { name: /^Put .* back in service\?$/ })
  expect(await back.getByLabel('Opening days').inputValue()).toBe('Mon to Sun')
  await back.getByLabel('Opening days').press('Enter')
  await page.getByRole('button', { name: 'Take out of service…' }).waitFor()
  expect(await days()).toBe('Mon to Sun')
})

longBrowserTest('a site is deleted when its name is typed, and not before', async () => {
  const app = await newApplication(client)
  const site = await newSite(app)
  const { page } = await visit(`/console/sites/${app.appId}/${site.id}`, { role: 'operator' })
  await press(page, 'Delete')
  const dialog = page.getByRole('dialog')
  expect(await dialog.getByRole('button', { name: 'Delete' }).isDisabled()).toBe(true)
  await dialog.getByRole('textbox').fill(site.siteName)
  await press(dialog, 'Delete')
  await page.getByText('No sites yet.').waitFor()
  expect(await sitesOf(app)).toEqual([])
  await page.goto(`${client.url}/console/sites/${app.appId}/${site.id}`)
  await page.getByText('Error 30002').waitFor()
  await expectFramed(page, 'Site')
})
