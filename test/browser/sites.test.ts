import { describe, expect } from 'bun:test'
import type { Locator, Page } from 'playwright-core'
import { createApplication } from '../../src/applications/contract.ts'
import { saveBillingRule } from '../../src/billing-rules/contract.ts'
import { getSite, pageSites, type SiteRecord, saveSite, updateSite } from '../../src/sites/contract.ts'
import { newApplication, newSerial, siteBody, type TestApplication } from '../harness.ts'
import { browserTest, client, expectSound, narrow, picture, visit } from './support.ts'

const wideArea = { longitude: 115.899918, latitude: 28.676493 }

async function newSite(app: TestApplication, members: Record<string, unknown> = {}): Promise<SiteRecord> {
  const made = await client.call(saveSite, siteBody(app.appId, members), { token: app.token })
  if (made.code !== 0) throw new Error(`no site: ${made.text}`)
  return made.data
}

async function newRule(app: TestApplication, ruleType: number, ruleName: string): Promise<number> {
  const members =
    ruleType === 3
      ? { freeMinutes: 15, unitMinutes: 10, unitPrice: '1' }
      : { periods: [{ startTime: '00:00:00', electricityPrice: '0.6', servicePrice: '0.4' }] }
  const made = await client.call(saveBillingRule, { ruleName, ruleType, ...members }, { token: app.token })
  if (made.code !== 0) throw new Error(`no rule: ${made.text}`)
  return made.data.id
}

async function sitesOf({ token }: TestApplication): Promise<SiteRecord[]> {
  return (await client.call(pageSites, { pageSize: 100 }, { token })).data.list
}

async function siteNow({ token }: TestApplication, id: number): Promise<SiteRecord> {
  return (await client.call(getSite, { id }, { token })).data
}

/** Some sites round a town, two of them at the same place, and one of no place. */
async function newTown(app: TestApplication): Promise<SiteRecord[]> {
  const { longitude, latitude } = wideArea
  const names = ['Riverside park', 'Station square', 'Opera house', 'Old harbour', 'Airport road']
  const places = names.map((siteName, index) => ({
    siteName,
    coordinates: `${longitude + index * 0.05},${latitude + (index % 3) * 0.04}`,
  }))
  const sites: SiteRecord[] = []
  for (const place of places) sites.push(await newSite(app, place))
  sites.push(await newSite(app, { siteName: 'Riverside park, upper deck', coordinates: `${longitude},${latitude}` }))
  sites.push(await newSite(app, { siteName: 'Nowhere yet', contacts: 'Li Lei' }))
  return sites
}

const listOf = (appId: string, query = '') => `/console/sites?appId=${appId}${query}`

/** Takes WebGL away, as old machines do, and loads the page again. */
async function withoutWebGl(page: Page): Promise<void> {
  await page.addInitScript(() => {
    HTMLCanvasElement.prototype.getContext = () => null
  })
  await page.reload()
}

const hasWebGl = (page: Page) => page.evaluate(() => document.createElement('canvas').getContext('webgl2') !== null)

/** The map in full, once it is drawn. */
async function fullMap(page: Page): Promise<Locator> {
  await page.locator('.map-words-above span').first().waitFor()
  return page.locator('.maplibregl-canvas')
}

async function fillRequired(page: Page, siteName: string): Promise<void> {
  await page.getByLabel('Site name').fill(siteName)
  await page.getByLabel('Contact person').fill('Wang Fang')
  await page.getByLabel('Contact phone').fill('13800000000')
  await page.getByLabel('Customer service phone').fill('4000000000')
  await fillTime(page, 'Opens at', '08:00:00')
  await fillTime(page, 'Closes at', '02:00:00')
  await page.getByLabel('Working days').fill('Monday to Sunday')
}

async function fillTime(page: Page, label: string, time: string): Promise<void> {
  await page.getByLabel(label).fill(time)
  await page.keyboard.press('Tab')
}

async function chooseDistrict(page: Page, text: string, path: string): Promise<void> {
  await page.getByLabel('Province, city, district').fill(text)
  await page.getByText(path).click()
}

describe('list of sites', () => {
  browserTest('narrows by its filters, which stand in the address', async () => {
    const app = await newApplication(client)
    await newTown(app)
    const visited = await visit(listOf(app.appId), { role: 'operator' })
    const { page } = visited
    await page.getByRole('link', { name: 'Station square', exact: true }).waitFor()
    await page.getByText('7 in all').waitFor()
    await expectSound(visited, 'Sites')
    await picture(page, 'sites')
    await page.getByLabel('Contact person').fill('li l')
    await page.getByText('1 in all').waitFor()
    await page.getByRole('link', { name: 'Nowhere yet', exact: true }).waitFor()
    expect(new URL(page.url()).searchParams.get('contacts')).toBe('li l')
    await page.getByLabel('Site name').fill('no such site')
    await page.getByText('Nothing fits these filters.').waitFor()
    await page.getByRole('button', { name: 'Clear the filters' }).click()
    await page.getByText('7 in all').waitFor()
    expect(new URL(page.url()).searchParams.get('appId')).toBe(app.appId)
  })

  browserTest('finds by region and by billing rule', async () => {
    const app = await newApplication(client)
    const ruleName = newSerial('rule')
    const rule = await newRule(app, 1, ruleName)
    await newSite(app, { siteName: 'With a rule', fastChargeBillRuleId: rule })
    await newSite(app, {
      siteName: 'In Beijing',
      ...{ provinceCode: '110000', provinceName: '北京市', cityCode: '110100', cityName: '北京市' },
      ...{ districtCode: '110101', districtName: '东城区' },
    })
    const { page } = await visit(listOf(app.appId), { role: 'viewer' })
    await page.getByText('2 in all').waitFor()
    await page.getByLabel('Billing rule').fill(ruleName.slice(0, 12))
    await page.getByTitle(ruleName).or(page.locator('.ant-select-item-option').getByText(ruleName)).first().click()
    await page.getByText('1 in all').waitFor()
    await page.getByRole('link', { name: 'With a rule' }).waitFor()
    await page.goto(client.url + listOf(app.appId, '&provinceCode=110000'))
    await page.getByRole('link', { name: 'In Beijing' }).waitFor()
    await page.getByText('1 in all').waitFor()
    await page.locator('.ant-cascader').getByText('北京市').waitFor()
  })

  browserTest('offers a viewer nothing but to look, and says so when there is nothing', async () => {
    const { appId } = await newApplication(client)
    const visited = await visit(listOf(appId), { role: 'viewer' })
    const { page } = visited
    await page.getByText('This application has no site yet.').waitFor()
    expect(await page.getByRole('link', { name: 'New site' }).count()).toBe(0)
    await expectSound(visited, 'Sites')
    const form = await visit(`/console/sites/new?appId=${appId}`, { role: 'viewer' })
    await form.page.getByText('Your role may not see this.').waitFor()
    await expectSound(form, 'New site')
  })

  browserTest('shows the sites on a map, light and dark', async () => {
    const app = await newApplication(client)
    await newTown(app)
    for (const isDark of [false, true]) {
      const visited = await visit(listOf(app.appId, '&view=map'), { role: 'viewer', isDark })
      const { page } = visited
      await page.getByText('6 on the map. 1 without coordinates.').waitFor()
      await page.getByText('No base map is configured.', { exact: false }).waitFor()
      if (await hasWebGl(page)) {
        const map = await fullMap(page)
        await page.locator('.map-counts span').getByText('2', { exact: true }).waitFor()
        await expectSound(visited, 'Sites')
        await picture(page, isDark ? 'sites-map-dark' : 'sites-map')
        // These two are at one place, so that no closer look would tell them apart.
        const {
          x = 0,
          y = 0,
          width = 0,
          height = 0,
        } = (await page.locator('.map-counts span').first().boundingBox()) ?? {}
        await page.mouse.click(x + width / 2, y + height / 2)
        await page.getByText('2 sites here').waitFor()
        expect(await map.count()).toBe(1)
      }
      await withoutWebGl(page)
      await page.locator('.map-point').first().waitFor()
      await page.getByText('This browser cannot draw the full map', { exact: false }).waitFor()
      await expectSound(visited, 'Sites')
      await picture(page, isDark ? 'sites-map-plain-dark' : 'sites-map-plain')
    }
  })

  browserTest('searches in a part of the map', async () => {
    const app = await newApplication(client)
    await newTown(app)
    const { page } = await visit(listOf(app.appId, '&view=map'), { role: 'viewer' })
    await withoutWebGl(page)
    await page.locator('.map-point').filter({ hasText: '2' }).click()
    await page.getByText('2 sites here').waitFor()
    await page.getByRole('status').getByRole('link', { name: 'Riverside park, upper deck' }).waitFor()
    await page.getByRole('button', { name: 'Search in this part of the map' }).click()
    // What has no place is in no part of the map.
    await page.getByText('6 in all').waitFor()
    const [minLng, minLat, maxLng, maxLat] = (new URL(page.url()).searchParams.get('bbox') ?? '').split(',').map(Number)
    expect(minLng).toBeLessThan(wideArea.longitude)
    expect(maxLng).toBeGreaterThan(wideArea.longitude)
    expect(minLat).toBeLessThan(wideArea.latitude)
    expect(maxLat).toBeGreaterThan(wideArea.latitude)
    await page.getByRole('button', { name: 'Zoom in' }).click()
    await page.getByRole('button', { name: 'Search in this part of the map' }).click()
    await page.getByText(/^[1-5] in all/).waitFor()
    await page.getByRole('button', { name: 'Search everywhere' }).first().click()
    await page.getByText('7 in all').waitFor()
  })

  browserTest('reads no more sites than a map can show, and says so', async () => {
    const app = await newApplication(client)
    for (let made = 0; made < 1_010; made += 101) {
      await Promise.all(
        Array.from({ length: 101 }, (_, index) => {
          const coordinates = `${110 + made / 101},${20 + index / 10}`
          return newSite(app, { coordinates })
        }),
      )
    }
    const visited = await visit(listOf(app.appId), { role: 'viewer' })
    const { page } = visited
    await page.getByText('1,010 in all').waitFor()
    let asked = 0
    page.on('request', (request) => {
      if (request.url().includes('pageSize=100')) asked++
    })
    await page.getByText('Table and map').click()
    await page.getByText('The newest 1,000 sites are on the map.', { exact: false }).waitFor()
    expect(asked).toBe(10)
    expect(visited.faults).toEqual([])
  })

  browserTest('fits a phone, in Chinese', async () => {
    const app = await newApplication(client)
    const [site] = await newTown(app)
    const visited = await visit(listOf(app.appId, '&view=map'), { role: 'operator', language: 'zh', viewport: narrow })
    const { page } = visited
    await page.getByText('地图上有 6 个站点。', { exact: false }).waitFor()
    await expectSound(visited, '站点')
    await picture(page, 'sites-phone')
    await page.goto(`${client.url}/console/sites/${app.appId}/${site?.id}`)
    await page.getByText('site.created').waitFor()
    await expectSound(visited, 'Riverside park')
    await picture(page, 'site-phone')
    await page.getByRole('link', { name: '编辑' }).click()
    await page.getByLabel('站点名称').waitFor()
    await expectSound(visited, '编辑 Riverside park')
    await picture(page, 'site-edit-phone')
  })
})

describe('new site', () => {
  browserTest('is made with everything that a site has', async () => {
    const app = await newApplication(client)
    const fast = await newRule(app, 1, 'Fast by day')
    const occupancy = await newRule(app, 3, 'Stay short')
    const visited = await visit(`/console/sites/new?appId=${app.appId}`, { role: 'operator' })
    const { page } = visited
    const siteName = newSerial('site')
    await page.getByRole('button', { name: 'Create' }).click()
    await page.getByText('This is needed.').first().waitFor()
    expect(await sitesOf(app)).toEqual([])
    await fillRequired(page, siteName)
    await page.getByText('Closes at 02:00:00 on the next day.').waitFor()
    await chooseDistrict(page, '东湖区', '江西省 / 南昌市 / 东湖区')
    await page.getByLabel('Coordinates').fill('28.676493，115.899918')
    await page.getByText('This looks like latitude,longitude.', { exact: false }).first().waitFor()
    await page.getByRole('button', { name: 'Swap the two' }).click()
    expect(await page.getByLabel('Coordinates').inputValue()).toBe('115.899918,28.676493')
    await page.getByLabel('Fast charging rule').click()
    await page.locator('.ant-select-item-option').getByText('Fast by day').click()
    // A field offers rules of its own type only.
    await page.getByLabel('Occupancy rule').click()
    await page.locator('.ant-select-item-option').getByText('Stay short').click()
    await page.getByLabel('Picture addresses').fill('https://example.com/a.png, https://example.com/b.png')
    await expectSound(visited, 'New site')
    await picture(page, 'site-new')
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

  browserTest('is refused without a third-party configuration, and loses nothing', async () => {
    const created = await client.operate(createApplication, { appName: newSerial('app'), rateLimitPerSecond: null })
    const { appId } = created.data
    const visited = await visit(`/console/sites/new?appId=${appId}`, { role: 'admin' })
    const { page } = visited
    await fillRequired(page, 'Kept as it was')
    await page.getByLabel('24:00, the end of the day').check()
    await chooseDistrict(page, '东湖区', '江西省 / 南昌市 / 东湖区')
    await page.getByRole('button', { name: 'Create' }).click()
    await page.getByText('Code 30003').waitFor()
    const link = page.getByRole('link', { name: 'Make the third-party configuration' })
    expect(await link.getAttribute('href')).toBe(`/console/applications/${appId}/callback`)
    expect(await page.getByLabel('Site name').inputValue()).toBe('Kept as it was')
    await expectSound(visited, 'New site')
    await picture(page, 'site-new-refused')
    const config = { appId, operatorName: 'Test operator' }
    const saved = await client.send<unknown>('/api/charging/v1/thirdPartyConfig/save', {
      method: 'POST',
      headers: { authorization: `Bearer ${client.operatorKey}`, 'content-type': 'application/json' },
      body: JSON.stringify(config),
    })
    expect(saved.code).toBe(0)
    await page.getByRole('button', { name: 'Create' }).click()
    await page.getByRole('heading', { level: 1, name: 'Kept as it was' }).waitFor()
    const { data } = await client.operate(pageSites, { appId })
    expect(data.list.map(({ businessClosingTime }) => businessClosingTime)).toEqual(['24:00:00'])
  })

  browserTest('marks the fields that the service refuses', async () => {
    const app = await newApplication(client)
    const { page } = await visit(`/console/sites/new?appId=${app.appId}`, { role: 'developer', appIds: [app.appId] })
    await fillRequired(page, 'Far away')
    await page.getByRole('button', { name: 'Type codes and names' }).click()
    for (const level of ['Province', 'City', 'District']) {
      await page.getByLabel(`${level} code`).fill('999999')
      await page.getByLabel(`${level} name`).fill(`${level} of the moon`)
    }
    await page.getByText('The division table does not have exactly these codes and names.', { exact: false }).waitFor()
    // A character that no stored text may hold.
    await page.getByLabel('Contact person').fill('Wang\u0085Fang')
    await page.getByRole('button', { name: 'Create' }).click()
    await page.getByText('Code 10001').waitFor()
    const contacts = page.getByLabel('Contact person')
    expect(await contacts.getAttribute('aria-invalid')).toBe('true')
    await picture(page, 'site-new-faulty')
    expect(await sitesOf(app)).toEqual([])
    await contacts.fill('Wang Fang')
    await page.getByRole('button', { name: 'Create' }).click()
    await page.getByRole('heading', { level: 1, name: 'Far away' }).waitFor()
    expect(await sitesOf(app)).toMatchObject([{ districtCode: '999999', districtName: 'District of the moon' }])
  })

  browserTest('is made once, though the first answer was lost', async () => {
    const app = await newApplication(client)
    const { page } = await visit(`/console/sites/new?appId=${app.appId}`, { role: 'operator' })
    await fillRequired(page, 'Only one')
    // The table has no districts of this city.
    await chooseDistrict(page, '东莞市', '广东省 / 东莞市')
    await page.getByText('The division table has no district here.', { exact: false }).waitFor()
    await page.getByLabel('District code').fill('441900')
    await page.getByLabel('District name').fill('东莞市')
    await page.route(
      '**/siteManageThird/save',
      async (route) => {
        await route.fetch()
        await route.abort()
      },
      { times: 1 },
    )
    await page.getByRole('button', { name: 'Create' }).click()
    await page.getByText('The service did not answer.', { exact: false }).waitFor()
    expect(await sitesOf(app)).toHaveLength(1)
    await page.getByRole('button', { name: 'Create' }).click()
    await page.getByRole('heading', { level: 1, name: 'Only one' }).waitFor()
    expect(await sitesOf(app)).toMatchObject([{ siteName: 'Only one', cityCode: '441900', districtCode: '441900' }])
  })

  browserTest('takes its place from a click on the map', async () => {
    const app = await newApplication(client)
    const visited = await visit(`/console/sites/new?appId=${app.appId}`, { role: 'operator' })
    const { page } = visited
    await withoutWebGl(page)
    await page.getByLabel('Coordinates').fill('115.899918,28.676493')
    await page.getByRole('button', { name: 'Pick on the map' }).click()
    const map = page.getByRole('img', { name: 'Map to pick the site’s place on' })
    await map.locator('.map-point').waitFor()
    const { width = 0, height = 0 } = (await map.boundingBox()) ?? {}
    await map.click({ position: { x: width / 4, y: height / 4 } })
    const [longitude = 0, latitude = 0] = (await page.getByLabel('Coordinates').inputValue()).split(',').map(Number)
    expect(longitude).toBeLessThan(115.899918)
    expect(longitude).toBeGreaterThan(115.8)
    expect(latitude).toBeGreaterThan(28.676493)
    expect(latitude).toBeLessThan(28.7)
    await expectSound(visited, 'New site')
    await picture(page, 'site-pick')
    // What is typed is where the map looks.
    await page.getByLabel('Coordinates').fill('121.4737,31.2304')
    await map.getByText('121.47°E').waitFor()
  })
})

describe('a site', () => {
  browserTest('shows all that is known of it, and its events', async () => {
    const app = await newApplication(client)
    const fastChargeBillRuleId = await newRule(app, 1, 'Fast by day')
    const site = await newSite(app, {
      ...{ fastChargeBillRuleId, businessStartTime: '18:00:00', businessClosingTime: '06:00:00' },
      ...{ coordinates: '115.899918,28.676493', detailAddress: 'No. 1 Yangming Road', ipcIds: 'ipc-1,ipc-2' },
      sitePictureUrl: `${client.url}/console/favicon.svg,not an address`,
    })
    for (const isDark of [false, true]) {
      const visited = await visit(`/console/sites/${app.appId}/${site.id}`, { role: 'viewer', isDark })
      const { page } = visited
      await page.getByText('site.created').waitFor()
      await page.getByText('18:00:00–06:00:00 (next day)').waitFor()
      const rule = page.getByRole('link', { name: 'Fast by day' })
      await rule.waitFor()
      expect(await rule.getAttribute('href')).toBe(`/console/billing-rules/${app.appId}/${fastChargeBillRuleId}`)
      await page.getByText('ipc-1, ipc-2').waitFor()
      await page.locator('.map-point, .map-words-above span').first().waitFor()
      expect(await page.getByRole('button', { name: 'Delete' }).count()).toBe(0)
      expect(await page.getByRole('link', { name: 'Edit' }).count()).toBe(0)
      await expectSound(visited, site.siteName)
      await picture(page, isDark ? 'site-dark' : 'site')
      await page.getByRole('button', { name: 'Show', exact: true }).click()
      await page.locator('pre').getByText('"siteName"').first().waitFor()
    }
  })

  browserTest('is changed, but not over what another changed meanwhile', async () => {
    const app = await newApplication(client)
    const site = await newSite(app, { detailAddress: 'No. 1', districtCode: '360199', districtName: 'New district' })
    const visited = await visit(`/console/sites/${app.appId}/${site.id}/edit`, { role: 'operator' })
    const { page } = visited
    // Codes that the table does not have are shown and kept.
    await page.getByText('They are kept as they are.', { exact: false }).waitFor()
    expect(await page.getByLabel('District code').inputValue()).toBe('360199')
    await expectSound(visited, 'Edit Riverside charging park')
    await picture(page, 'site-edit')
    await page.getByLabel('Contact person').fill('Mine')
    await page.getByLabel('Site name').fill('My name')
    await page.getByLabel('Street address').fill('')
    const theirs = { id: site.id, siteName: 'Their name', contactsPhone: '13911111111' }
    expect((await client.call(updateSite, theirs, { token: app.token })).code).toBe(0)
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Code 10009').waitFor()
    expect(await siteNow(app, site.id)).toMatchObject({ siteName: 'Their name', contacts: site.contacts })
    await page.getByRole('button', { name: 'Show how it is now' }).click()
    await page.getByText('yours is kept. Theirs: Their name', { exact: false }).waitFor()
    expect(await page.getByLabel('Contact phone').inputValue()).toBe('13911111111')
    expect(await page.getByLabel('Contact person').inputValue()).toBe('Mine')
    await picture(page, 'site-edit-merged')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('heading', { level: 1, name: 'My name' }).waitFor()
    expect(await siteNow(app, site.id)).toEqual({
      ...site,
      ...{ siteName: 'My name', contacts: 'Mine', contactsPhone: '13911111111', detailAddress: null },
    })
  })

  browserTest('is deleted when its name is typed, and not before', async () => {
    const app = await newApplication(client)
    const site = await newSite(app)
    const visited = await visit(`/console/sites/${app.appId}/${site.id}`, { role: 'operator' })
    const { page } = visited
    await page.getByRole('button', { name: 'Delete' }).click()
    const dialog = page.getByRole('dialog')
    expect(await dialog.getByRole('button', { name: 'Delete' }).isDisabled()).toBe(true)
    await dialog.getByRole('textbox').fill(site.siteName)
    await dialog.getByRole('button', { name: 'Delete' }).click()
    await page.getByText('This application has no site yet.').waitFor()
    expect(await sitesOf(app)).toEqual([])
    await page.goto(`${client.url}/console/sites/${app.appId}/${site.id}`)
    await page.getByText('Code 30002').waitFor()
    await expectSound(visited, 'Site')
  })
})
