import { describe, expect } from 'bun:test'
import type { Page } from 'playwright-core'
import type { SiteRecord } from '../../src/sites/contract.ts'
import { newApplication, newSerial, type TestApplication } from '../kit/records.ts'
import { newRule, newSite } from './records.ts'
import { browserTest, client, expectFramed, expectSound, longBrowserTest, loseAnswer, visit } from './support.ts'

async function sitesOf({ token }: TestApplication): Promise<SiteRecord[]> {
  return (await client.call('pageSites', { pageSize: 100 }, { token })).data.list
}

async function siteNow({ token }: TestApplication, id: number): Promise<SiteRecord> {
  return (await client.call('getSite', { id }, { token })).data
}

async function fillRequired(page: Page, siteName: string): Promise<void> {
  await page.getByLabel('Site name').fill(siteName)
  await page.getByLabel('Contact person').fill('Wang Fang')
  await page.getByLabel('Contact phone').fill('13800000000')
  await page.getByLabel('Customer service phone').fill('4000000000')
  await fillTime(page, 'Opens at', '08:00:00')
  await fillTime(page, 'Closes at', '02:00:00')
  await page.getByLabel('Opening days').fill('Monday to Sunday')
}

async function fillTime(page: Page, label: string, time: string): Promise<void> {
  await page.getByLabel(label).fill(time)
  await page.keyboard.press('Tab')
}

async function chooseDistrict(page: Page, text: string, path: string): Promise<void> {
  await page.getByLabel('Province, city, district').fill(text)
  await page.getByText(path).click()
}

describe('new site', () => {
  browserTest('is made with everything that a site has', async () => {
    const app = await newApplication(client)
    const fast = await newRule(app, 1, 'Fast by day')
    const occupancy = await newRule(app, 3, 'Stay short')
    const visited = await visit(`/console/sites/new?appId=${app.appId}`, { role: 'operator' })
    const { page } = visited
    const siteName = newSerial('site')
    await page.getByRole('button', { name: 'Create' }).click()
    await page.getByText('Required.').first().waitFor()
    expect(await sitesOf(app)).toEqual([])
    await fillRequired(page, siteName)
    await page.getByText('Closes at 02:00:00 on the next day.').waitFor()
    await chooseDistrict(page, '东湖区', '江西省 / 南昌市 / 东湖区')
    await page.getByLabel('Coordinates').fill('28.676493，115.899918')
    await page.getByText('This looks like latitude,longitude.', { exact: false }).first().waitFor()
    await page.getByRole('button', { name: 'Swap' }).click()
    expect(await page.getByLabel('Coordinates').inputValue()).toBe('115.899918,28.676493')
    await page.getByLabel('Fast charging rule').click()
    await page.locator('.ant-select-item-option').getByText('Fast by day').click()
    // Each field offers only rules of its own type.
    await page.getByLabel('Occupancy rule').click()
    await page.locator('.ant-select-item-option').getByText('Stay short').click()
    await page.getByLabel('Picture URLs').fill('https://example.com/a.png, https://example.com/b.png')
    await expectSound(visited, 'New site')
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

  longBrowserTest('is refused without a third-party configuration, and loses nothing', async () => {
    const created = await client.operate('createApplication', { appName: newSerial('app'), rateLimitPerSecond: null })
    const { appId } = created.data
    const visited = await visit(`/console/sites/new?appId=${appId}`, { role: 'admin' })
    const { page } = visited
    await fillRequired(page, 'Kept as it was')
    await page.getByLabel('24:00 (end of day)').check()
    await chooseDistrict(page, '东湖区', '江西省 / 南昌市 / 东湖区')
    await page.getByRole('button', { name: 'Create' }).click()
    await page.getByText('Error 30003').waitFor()
    const link = page.getByRole('link', { name: 'Add configuration' })
    expect(await link.getAttribute('href')).toBe(`/console/applications/${appId}/callback`)
    expect(await page.getByLabel('Site name').inputValue()).toBe('Kept as it was')
    await expectFramed(visited, 'New site')
    const config = { appId, operatorName: 'Test operator' }
    const saved = await client.send<unknown>('/api/charging/v1/thirdPartyConfig/save', {
      method: 'POST',
      headers: { authorization: `Bearer ${client.operatorKey}`, 'content-type': 'application/json' },
      body: JSON.stringify(config),
    })
    expect(saved.code).toBe(0)
    await page.getByRole('button', { name: 'Create' }).click()
    await page.getByRole('heading', { level: 1, name: 'Kept as it was' }).waitFor()
    const { data } = await client.operate('pageSites', { appId })
    expect(data.list.map(({ businessClosingTime }) => businessClosingTime)).toEqual(['24:00:00'])
  })

  longBrowserTest('is made once, though the first answer was lost', async () => {
    const app = await newApplication(client)
    const { page } = await visit(`/console/sites/new?appId=${app.appId}`, { role: 'operator' })
    await fillRequired(page, 'Only one')
    // The table of regions contains no districts of this city.
    await chooseDistrict(page, '东莞市', '广东省 / 东莞市')
    await page.getByText('The region table has no districts here.', { exact: false }).waitFor()
    await page.getByLabel('District code').fill('441900')
    await page.getByLabel('District name').fill('东莞市')
    await page.route('**/siteManageThird/save', loseAnswer, { times: 1 })
    await page.getByRole('button', { name: 'Create' }).click()
    await page.getByText('The service didn’t respond.', { exact: false }).waitFor()
    expect(await sitesOf(app)).toHaveLength(1)
    await page.getByRole('button', { name: 'Create' }).click()
    await page.getByRole('heading', { level: 1, name: 'Only one' }).waitFor()
    expect(await sitesOf(app)).toMatchObject([{ siteName: 'Only one', cityCode: '441900', districtCode: '441900' }])
  })

  longBrowserTest('takes its place from a click on the map', async () => {
    const app = await newApplication(client)
    const visited = await visit(`/console/sites/new?appId=${app.appId}`, { role: 'operator' })
    const { page } = visited
    await page.getByLabel('Coordinates').fill('115.899918,28.676493')
    await page.getByRole('button', { name: 'Choose on map' }).click()
    const map = page.getByRole('group', { name: 'Map for choosing the site’s location' })
    await map.locator('.map-point span').waitFor()
    const { width = 0, height = 0 } = (await map.boundingBox()) ?? {}
    await map.click({ position: { x: width / 4, y: height / 4 } })
    const [longitude = 0, latitude = 0] = (await page.getByLabel('Coordinates').inputValue()).split(',').map(Number)
    expect(longitude).toBeLessThan(115.899918)
    expect(longitude).toBeGreaterThan(115.8)
    expect(latitude).toBeGreaterThan(28.676493)
    expect(latitude).toBeLessThan(28.7)
    await expectFramed(visited, 'New site')
    // The map moves to the coordinates that are typed.
    await page.getByLabel('Coordinates').fill('121.4737,31.2304')
    await page.getByText('121.47°E').waitFor()
  })
})

describe('a site', () => {
  browserTest('is changed, but not over what another changed meanwhile', async () => {
    const app = await newApplication(client)
    const site = await newSite(app, { detailAddress: 'No. 1', districtCode: '360199', districtName: 'New district' })
    const visited = await visit(`/console/sites/${app.appId}/${site.id}/edit`, { role: 'operator' })
    const { page } = visited
    // Codes that the table of regions does not contain are shown and kept.
    await page.getByText('They’re saved as entered.', { exact: false }).waitFor()
    expect(await page.getByLabel('District code').inputValue()).toBe('360199')
    await expectFramed(visited, 'Edit Riverside charging park')
    await page.getByLabel('Contact person').fill('Mine')
    await page.getByLabel('Site name').fill('My name')
    await page.getByLabel('Street address').fill('')
    const theirs = { id: site.id, siteName: 'Their name', contactsPhone: '13911111111' }
    expect((await client.call('updateSite', theirs, { token: app.token })).code).toBe(0)
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('You both changed: Site name.', { exact: false }).waitFor()
    expect(await siteNow(app, site.id)).toMatchObject({ siteName: 'Their name', contacts: site.contacts })
    await page.getByRole('cell', { name: '13911111111' }).waitFor()
    await page.getByRole('button', { name: 'Take theirs' }).click()
    expect(await page.getByLabel('Site name').inputValue()).toBe('Their name')
    expect(await page.getByLabel('Contact phone').inputValue()).toBe('13911111111')
    expect(await page.getByLabel('Contact person').inputValue()).toBe('Mine')
    await page.getByLabel('Site name').fill('My name')
    // The page asks before the user leaves unsaved changes.
    await page.getByRole('link', { name: 'Devices' }).click()
    const question = page.getByRole('dialog', { name: 'Leave without saving?' })
    await question.waitFor()
    await question.getByRole('button', { name: 'Stay' }).click()
    await question.waitFor({ state: 'detached' })
    expect(await page.getByLabel('Site name').inputValue()).toBe('My name')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('heading', { level: 1, name: 'My name' }).waitFor()
    expect(await siteNow(app, site.id)).toEqual({
      ...site,
      ...{ siteName: 'My name', contacts: 'Mine', contactsPhone: '13911111111', detailAddress: null },
    })
  })

  longBrowserTest('is the model of a new one, which has its own name, place and cameras', async () => {
    const app = await newApplication(client)
    const fastChargeBillRuleId = await newRule(app, 1, 'Fast by day')
    const site = await newSite(app, { fastChargeBillRuleId, ipcIds: 'ipc-1', coordinates: '115.9,28.7' })
    const visited = await visit(`/console/sites/${app.appId}/${site.id}`, { role: 'operator' })
    const { page } = visited
    await page.getByRole('link', { name: 'Duplicate' }).click()
    await page.getByText(`Based on “${site.siteName}”`).waitFor()
    expect(await page.getByLabel('Site name').inputValue()).toBe('')
    expect(await page.getByLabel('Coordinates').inputValue()).toBe('')
    expect(await page.getByLabel('Contact phone').inputValue()).toBe(site.contactsPhone)
    await expectSound(visited, 'New site')
    await page.getByLabel('Site name').fill('Second park')
    await page.getByRole('button', { name: 'Create' }).click()
    await page.getByRole('heading', { level: 1, name: 'Second park' }).waitFor()
    const made = (await sitesOf(app)).find(({ siteName }) => siteName === 'Second park')
    expect(made).toMatchObject({ fastChargeBillRuleId, contacts: site.contacts, districtCode: site.districtCode })
    expect(made).toMatchObject({ ipcIds: null, coordinates: null })
    expect(visited.faults).toEqual([])
  })

  longBrowserTest('is taken out of service by its working days, which everybody reads, and put back', async () => {
    const app = await newApplication(client)
    const { id } = await newSite(app, { businessWeekDay: 'Mon to Sun' })
    const days = async () => (await client.call('getSite', { id }, { token: app.token })).data.businessWeekDay
    const visited = await visit(`/console/sites/${app.appId}/${id}`, { role: 'operator' })
    const { page } = visited
    await page.getByRole('button', { name: 'Take out of service…' }).click()
    const dialog = page.getByRole('dialog', { name: /^Take .* out of service\?$/ })
    await dialog.getByText(/sees this text instead of “Mon to Sun”/).waitFor()
    const words = dialog.getByLabel('Opening days')
    // A write that was given up without a connection is not sent when there is one again.
    await words.fill('Out of service, given up')
    await page.context().setOffline(true)
    await dialog.getByRole('button', { name: 'Take out of service' }).click()
    await dialog.getByText(/didn’t respond/).waitFor()
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    await page.context().setOffline(false)
    await Bun.sleep(1_000)
    expect(await days()).toBe('Mon to Sun')
    await page.getByRole('button', { name: 'Take out of service…' }).click()
    expect(await words.inputValue()).toBe('Out of service (usually Mon to Sun)')
    // Another text would not be known again, and could not be taken back.
    for (const other of [' ', 'Closed for repairs until May']) {
      await words.fill(other)
      expect(await dialog.getByRole('button', { name: 'Take out of service' }).isDisabled()).toBe(true)
    }
    await words.fill('Out of service until May (usually Mon to Sun)')
    await dialog.getByRole('button', { name: 'Take out of service' }).click()
    await dialog.waitFor({ state: 'detached' })
    await page.locator('.page-head').getByText('Out of service').first().waitFor()
    expect(await days()).toBe('Out of service until May (usually Mon to Sun)')
    const listed = await visit(`/console/sites?appId=${app.appId}`, { role: 'viewer' })
    await listed.page.locator('tbody tr').getByText('Out of service').waitFor()
    await page.getByRole('button', { name: 'Put back in service…' }).click()
    const back = page.getByRole('dialog', { name: /^Put .* back in service\?$/ })
    expect(await back.getByLabel('Opening days').inputValue()).toBe('Mon to Sun')
    await back.getByLabel('Opening days').press('Enter')
    await page.getByRole('button', { name: 'Take out of service…' }).waitFor()
    expect(await days()).toBe('Mon to Sun')
    expect(visited.faults.filter((fault) => !fault.includes('ERR_INTERNET_DISCONNECTED'))).toEqual([])
  })

  longBrowserTest('is deleted when its name is typed, and not before', async () => {
    const app = await newApplication(client)
    const site = await newSite(app)
    const visited = await visit(`/console/sites/${app.appId}/${site.id}`, { role: 'operator' })
    const { page } = visited
    await page.getByRole('button', { name: 'Delete' }).click()
    const dialog = page.getByRole('dialog')
    expect(await dialog.getByRole('button', { name: 'Delete' }).isDisabled()).toBe(true)
    await dialog.getByRole('textbox').fill(site.siteName)
    await dialog.getByRole('button', { name: 'Delete' }).click()
    await page.getByText('No sites yet.').waitFor()
    expect(await sitesOf(app)).toEqual([])
    await page.goto(`${client.url}/console/sites/${app.appId}/${site.id}`)
    await page.getByText('Error 30002').waitFor()
    await expectFramed(visited, 'Site')
  })
})
