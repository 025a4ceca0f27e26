import { expect } from 'bun:test'
import { newApplication, newSerial, type TestApplication } from '../kit/records.ts'
import { becomesTrue } from '../kit/waits.ts'
import { newRule, newSite, newSites } from './records.ts'
import { browserTest, client, expectFramed, expectSound, leadTo, longBrowserTest, visit } from './support.ts'

const wideArea = { longitude: 115.899918, latitude: 28.676493 }

/** Creates sites around a town: two of them have equal coordinates, and one has none. */
async function newTown(app: TestApplication): Promise<void> {
  const { longitude, latitude } = wideArea
  const names = ['Riverside park', 'Station square', 'Opera house', 'Old harbour', 'Airport road']
  for (const [index, siteName] of names.entries()) {
    await newSite(app, { siteName, coordinates: `${longitude + index * 0.05},${latitude + (index % 3) * 0.04}` })
  }
  await newSite(app, { siteName: 'Riverside park, upper deck', coordinates: `${longitude},${latitude}` })
  await newSite(app, { siteName: 'Nowhere yet', contacts: 'Li Lei', businessWeekDay: '暂停营业' })
}

const listOf = (appId: string, query = '') => `/console/sites?appId=${appId}${query}`

browserTest('the list of sites narrows by its filters, which stand in the address', async () => {
  const app = await newApplication(client)
  await newTown(app)
  const { page } = await visit(listOf(app.appId), { role: 'operator' })
  await page.getByRole('link', { name: 'Station square', exact: true }).waitFor()
  await page.getByText('7 total').waitFor()
  await expectFramed(page, 'Sites')
  await page.getByLabel('Contact person').fill('li l')
  await page.getByText('1 total').waitFor()
  // Taken out of service in the Chinese console.
  await page.getByRole('row', { name: 'Nowhere yet' }).getByText('Out of service').waitFor()
  expect(new URL(page.url()).searchParams.get('contacts')).toBe('li l')
  await page.getByLabel('Site name').fill('no such site')
  await page.getByText('No results match these filters.').waitFor()
  await page.getByRole('button', { name: 'Clear filters' }).click()
  await page.getByText('7 total').waitFor()
  expect(new URL(page.url()).searchParams.get('appId')).toBe(app.appId)
})

longBrowserTest('the list of sites finds by region and by billing rule', async () => {
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
  await page.getByText('2 total').waitFor()
  await page.getByLabel('Billing rule').fill(ruleName.slice(0, 12))
  await page.getByTitle(ruleName).or(page.locator('.ant-select-item-option').getByText(ruleName)).first().click()
  await page.getByText('1 total').waitFor()
  await page.getByRole('link', { name: 'With a rule' }).waitFor()
  await leadTo(page, listOf(app.appId, '&provinceCode=110000'))
  await page.getByRole('link', { name: 'In Beijing' }).waitFor()
  await page.getByText('1 total').waitFor()
  await page.locator('.ant-cascader').getByText('北京市').waitFor()
})

longBrowserTest('the list of sites shows the sites on a map, and searches in a part of it', async () => {
  const app = await newApplication(client)
  await newTown(app)
  const { page } = await visit(listOf(app.appId, '&view=map'), { role: 'viewer' })
  await page.getByText('6 sites on the map. 1 site without coordinates.').waitFor()
  // All sites are in one city, so the map names the district.
  await page.locator('.map-name').getByText('东湖区').waitFor()
  await expectSound(page, 'Sites', 'sites-map')
  // The choice of the map is kept for the next visit.
  await leadTo(page, listOf(app.appId))
  await page.getByRole('radio', { name: 'Table', exact: true, checked: true }).waitFor({ state: 'attached' })
  await page.getByText('Table and map').click()
  const menu = page.getByRole('navigation', { name: 'Menu' })
  await menu.getByRole('link', { name: 'Refused requests' }).click()
  await page.getByRole('heading', { level: 1, name: 'Refused requests' }).waitFor()
  await menu.getByRole('link', { name: 'Sites' }).click()
  await page.getByRole('region', { name: 'Map of sites' }).waitFor()
  await leadTo(page, listOf(app.appId))
  await page.getByText('6 sites on the map. 1 site without coordinates.').waitFor()
  // The two sites have equal coordinates, so no zoom separates them.
  await page.locator('.map-group').getByText('2', { exact: true }).click()
  await page.getByText('2 sites here').waitFor()
  expect(await page.locator('.map-chosen').allInnerTexts()).toEqual(['2'])
  // What was clicked is told on the map itself, not below it.
  const [card, map] = await Promise.all(['.map-here', '.map-ground'].map((name) => page.locator(name).boundingBox()))
  expect((card?.y ?? 0) + (card?.height ?? 0)).toBeLessThan((map?.y ?? 0) + (map?.height ?? 0))

  await page.getByRole('status').getByRole('link', { name: 'Riverside park, upper deck' }).waitFor()
  await page.getByRole('button', { name: 'Search this area' }).click()
  // A site without coordinates is in no part of the map.
  await page.getByText('6 total').waitFor()
  const [minLng, minLat, maxLng, maxLat] = (new URL(page.url()).searchParams.get('bbox') ?? '').split(',').map(Number)
  expect(minLng).toBeLessThan(wideArea.longitude)
  expect(maxLng).toBeGreaterThan(wideArea.longitude)
  expect(minLat).toBeLessThan(wideArea.latitude)
  expect(maxLat).toBeGreaterThan(wideArea.latitude)
  await page.getByRole('button', { name: 'Zoom in' }).click()
  await page.getByRole('button', { name: 'Search this area' }).click()
  await page.getByText(/^[1-5] total/).waitFor()
  await page.getByRole('button', { name: 'Clear map area' }).first().click()
  await page.getByText('7 total').waitFor()
  const places = () => page.locator('.map-point').evaluateAll((marks) => marks.map(({ style }) => style.transform))
  const before = await places()
  await page.getByRole('button', { name: 'Zoom in' }).click()
  expect(await becomesTrue(async () => String(await places()) !== String(before), 5_000)).toBe(true)
  await page.getByRole('button', { name: 'Show all' }).click()
  expect(await becomesTrue(async () => String(await places()) === String(before), 5_000)).toBe(true)
})

longBrowserTest('the list of sites reads no more sites than a map can show, and says so', async () => {
  const app = await newApplication(client)
  const placeOf = (index: number) => ({ coordinates: `${110 + (index % 10)},${20 + index / 100}` })
  for (let batch = 0; batch < 2; batch++) await newSites(app, 505, 'Park', placeOf)
  const { page } = await visit(listOf(app.appId), { role: 'viewer' })
  await page.getByText('1,010 total').waitFor()
  let asked = 0
  page.on('request', (request) => {
    if (request.url().includes('pageSize=100')) asked++
  })
  await page.getByText('Table and map').click()
  await page.getByText('Showing the 1,000 newest sites.', { exact: false }).waitFor()
  expect(asked).toBe(10)
})
