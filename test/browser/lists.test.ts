import { expect } from 'bun:test'
import type { Page } from 'playwright-core'
import { newPerson } from '../kit/people.ts'
import { deviceBody, newApplication, type TestApplication } from '../kit/records.ts'
import { becomesTrue } from '../kit/waits.ts'
import { shows } from './hand.ts'
import { failingUrl as callbackUrl, newDevices, newSite, newSites } from './records.ts'
import { browserTest, client, expectFramed, longBrowserTest, narrow, visit, watchShifts } from './support.ts'

/** Changes a filter of the page. */
type Narrow = (page: Page) => Promise<void>

const typing =
  (label: string, text: string): Narrow =>
  (page) =>
    page.getByLabel(label, { exact: true }).fill(text)

const choosing =
  (label: string, option: string): Narrow =>
  async (page) => {
    await page.getByRole('combobox', { name: label, exact: true }).click()
    await page
      .locator('.ant-select-item-option:visible, .ant-cascader-menu-item:visible')
      .getByText(option, { exact: true })
      .click()
  }

/** An application whose lists have rows of many widths. */
async function manyRows(): Promise<TestApplication> {
  const app = await newApplication(client, { thirdPartyConfig: { operatorName: 'Test operator', callbackUrl } })
  const { appId, token } = app
  const serials = await newDevices(app, 30)
  for (const deviceNo of serials.slice(0, 3)) {
    await client.call('reportDeviceState', { deviceNo, status: 2, runStatus: 2, onlineStatus: 1 }, { token })
  }
  for (const name of ['P0', 'P1', 'P2']) await newSites(app, 8, name)
  const { id } = await newSite(app, { siteName: 'Last' })
  await client.call('updateSite', { id, contacts: 'Li Lei' }, { token })
  // Refusals: of a serial number that exists, and of a field.
  for (const deviceNo of serials.slice(0, 12))
    await client.call('createDevice', deviceBody(appId, { deviceNo }), { token })
  await client.call('createDevice', deviceBody(appId, { deviceNo: 'REFUSED-1', deviceName: '' }), { token })
  const sent = async () => (await client.operate('pageDeliveries', { appId })).data.total
  // Nothing answers, so that only the first are tried.
  expect(await becomesTrue(async () => (await sent()) >= 4)).toBe(true)
  return app
}

/** Narrows a list, and returns what moved until some time after its rows are shown. */
async function whatMoves(page: Page, narrowing: Narrow): Promise<string[]> {
  const whatMoved = await watchShifts(page)
  const asked = page.url()
  await narrowing(page)
  await page.waitForURL((url) => url.href !== asked)
  await page.locator('main table[aria-busy=false]').first().waitFor()
  await Bun.sleep(600)
  return whatMoved()
}

browserTest('a list is sorted by headings, keeps a selection over pages, and goes to a page by number', async () => {
  const app = await newApplication(client)
  const [first = ''] = await newDevices(app, 45)
  const site = await newSite(app, { siteName: 'Riverside park' })
  await client.call('savePlacement', { deviceNo: first, siteId: site.id, laneType: 1 }, { token: app.token })
  const { page } = await visit(`/console/devices?appId=${app.appId}`, { role: 'operator' })
  const asked: string[] = []
  page.on('request', (request) => {
    if (request.url().includes('/placement/')) asked.push(request.url())
  })
  const names = () => page.locator('tbody td[data-title]').allTextContents()
  const heading = page.getByRole('columnheader', { name: 'Name' })
  await heading.getByRole('button').click()
  await page.locator('tbody tr').first().getByRole('link', { name: 'Gate 000' }).waitFor()
  expect([await heading.getAttribute('aria-sort'), (await names())[0]]).toEqual(['ascending', 'Gate 000'])
  await heading.getByRole('button').click()
  await page.getByRole('link', { name: 'Gate 044' }).waitFor()
  expect(new URL(page.url()).searchParams.get('order')).toBe('desc')
  // A selection on one page is kept on the next page, where its bar stays visible.
  await page.getByRole('checkbox', { name: 'Select all' }).check()
  await page.getByText('20 selected').waitFor()
  await page.evaluate(() => scrollTo(0, 0))
  const bar = await page.locator('.pager').boundingBox()
  const height = page.viewportSize()?.height ?? 0
  expect((bar?.y ?? height) + (bar?.height ?? 0)).toBeLessThanOrEqual(height + 1)
  await page.getByRole('button', { name: 'Next page' }).click()
  await page.getByRole('link', { name: 'Gate 024' }).waitFor()
  await page.locator('tbody input[type=checkbox]').first().check()
  await page.getByText('21 selected').waitFor()
  await page.getByRole('button', { name: 'Transfer 21' }).waitFor()
  // By its number, and back.
  await page.getByLabel('Go to page').fill('3')
  await page.keyboard.press('Enter')
  await page.getByRole('link', { name: 'Gate 000' }).waitFor()
  expect(await names()).toHaveLength(5)
  await page.getByText('21 selected').waitFor()
  await page.getByRole('button', { name: 'Previous page' }).click()
  await page.getByRole('link', { name: 'Gate 024' }).waitFor()
  await page.getByRole('button', { name: 'Clear selection' }).click()
  await page.getByText('21 selected').waitFor({ state: 'detached' })
  // Another filter begins at the first page without the selection, and the order stays.
  await page.locator('tbody input[type=checkbox]').first().check()
  await page.getByText('1 selected').waitFor()
  await page.getByLabel('Serial number').fill(first)
  await page.getByText('1 total').waitFor()
  expect(await page.getByText('1 selected').count()).toBe(0)
  expect([...new URL(page.url()).searchParams.keys()].toSorted()).toEqual(['appId', 'deviceNo', 'order', 'sort'])
  expect(asked.every((url) => url.includes('deviceNos='))).toBe(true)
})

longBrowserTest('a list of more rows than are counted goes to any page, and back from behind the last', async () => {
  const app = await newApplication(client)
  await newDevices(app, 10_030)
  const { page } = await visit(`/console/devices?appId=${app.appId}&pageSize=100`, { role: 'viewer' })
  await shows(page, 'More than 10,000', 'of 100+')
  const field = page.getByLabel('Go to page')
  await field.fill('101')
  await page.keyboard.press('Enter')
  await page.waitForFunction(() => document.querySelectorAll('tbody tr').length === 30)
  await field.fill('5000')
  await page.keyboard.press('Enter')
  await page.getByText('This page has no rows. Go back to an earlier page.').waitFor()
  // The last page that has a number.
  expect(await field.inputValue()).toBe('1000')
  await page.getByRole('button', { name: 'First page' }).last().click()
  await page.getByText('of 100+').waitFor()
  await page.locator('tbody tr').nth(99).waitFor()
})

longBrowserTest('a list has low rows on a phone, sorted by name, and its calendars and divisions fit', async () => {
  const app = await newApplication(client)
  await newDevices(app, 45)
  const { page } = await visit(`/console/devices?appId=${app.appId}`, { role: 'operator', viewport: narrow })
  await page.getByText('45 total').waitFor()
  const heights = await page.locator('tbody tr').evaluateAll((rows) => rows.map((row) => row.clientHeight))
  expect(Math.max(...heights)).toBeLessThanOrEqual(96)
  // Without headings, both directions of a column are chosen by name.
  const sort = page.getByLabel('Sorted by')
  const inAddress = (order: string) => page.waitForURL(({ search }) => search.split('&').slice(1).join('&') === order)
  const first = page.locator('tbody tr [data-title]').first()
  await sort.selectOption({ label: 'Name, ascending' })
  await inAddress('sort=deviceName')
  await first.filter({ hasText: 'Gate 000' }).waitFor()
  await sort.selectOption({ label: 'Name, descending' })
  await inAddress('sort=deviceName&order=desc')
  await first.filter({ hasText: 'Gate 044' }).waitFor()
  await sort.selectOption({ index: 0 })
  await inAddress('')
  await expectFramed(page, 'Devices')
  // What opens is on the screen.
  await page.getByRole('button', { name: 'Filters' }).click()
  await page.getByRole('button', { name: 'More filters' }).click()
  const opened = async (popup: string) => {
    await page.locator(popup).first().waitFor()
    await Bun.sleep(300)
    const box = await page.locator(popup).first().boundingBox()
    if (box === null) throw new Error(`${popup} has no box`)
    return [box.x >= 0, box.y >= 0, box.x + box.width <= narrow.width, box.y + box.height <= narrow.height]
  }
  const isInside = [true, true, true, true]
  for (const label of ['Last report', 'Created']) {
    // It opens when the field is pressed, and may cover it before it is released.
    await page.getByLabel(label, { exact: true }).click({ force: true })
    expect(await opened('.ant-picker-dropdown:visible')).toEqual(isInside)
    expect(await page.locator('.ant-picker-dropdown:visible .ant-picker-date-panel').count()).toBe(1)
    // The browser is in Berlin, the service in Shanghai.
    expect(await page.locator('.ant-picker-cell-today:visible').getAttribute('title')).toBe(
      new Intl.DateTimeFormat('sv-SE', { timeZone: 'Asia/Shanghai' }).format(new Date()),
    )
    const preset = page.locator('.ant-picker-dropdown:visible .ant-picker-presets li').first()
    expect((await preset.boundingBox())?.height).toBeGreaterThan(16)
    await page.keyboard.press('Escape')
    await page.getByRole('heading', { level: 1 }).click()
  }
  await page.getByRole('combobox', { name: 'Province, city, district' }).click()
  await page.locator('.ant-cascader-menu-item').getByText('江西省', { exact: true }).click()
  await page.locator('.ant-cascader-menu-item').getByText('南昌市', { exact: true }).click()
  await page.locator('.ant-cascader-menu').nth(2).waitFor()
  expect(await opened('.ant-cascader-dropdown:visible')).toEqual(isInside)
})

longBrowserTest('a list keeps its place when one goes back to it, and the page between begins at its top', async () => {
  const app = await newApplication(client)
  await newDevices(app, 45)
  const { page } = await visit(`/console/devices?appId=${app.appId}&pageSize=50`, { role: 'operator' })
  // Far down: devices of one batch are in the order of their serial numbers.
  const link = page.getByRole('link', { name: /^Gate \d+$/ }).nth(35)
  await link.scrollIntoViewIfNeeded()
  const name = await link.innerText()
  const place = await page.evaluate(() => scrollY)
  expect(place).toBeGreaterThan(300)
  await link.click()
  await page.getByRole('heading', { level: 1, name }).waitFor()
  expect(await page.evaluate(() => scrollY)).toBe(0)
  // Saved from far down, too.
  await page.getByRole('link', { name: 'Edit', exact: true }).first().click()
  await page.getByLabel('Name', { exact: true }).fill('Gate five')
  await page.evaluate(() => scrollTo(0, document.documentElement.scrollHeight))
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await page.getByRole('heading', { level: 1, name: 'Gate five' }).waitFor()
  expect(await page.evaluate(() => scrollY)).toBe(0)
  await page.goBack()
  await page.goBack()
  await page.getByRole('link', { name: 'Gate five' }).waitFor()
  await page.waitForFunction((wanted) => Math.abs(scrollY - wanted) <= 1, place)
})

longBrowserTest('a list moves nothing when a filter is set or cleared', async () => {
  const { appId } = await manyRows()
  const { name } = await newPerson(client, 'admin')
  await newPerson(client, 'viewer')
  const lists: [string, ...Narrow[]][] = [
    [`sites?appId=${appId}`, typing('Site name', 'P1'), typing('Site name', ''), choosing('Devices', 'With devices')],
    ['sites', typing('Site name', 'P1'), typing('Site name', '')],
    ['sites?siteName=Last', typing('Site name', ''), typing('Site name', 'P2')],
    [`devices?appId=${appId}`, choosing('Health', 'Faulty'), choosing('Health', 'All'), typing('Name', 'Gate 01')],
    ['devices', typing('Name', 'Gate 01'), choosing('Connection', 'Offline')],
    [`events?appId=${appId}`, choosing('Event', 'Site updated'), typing('Serial number', 'NONE-0')],
    ['events?tab=audit', choosing('Event', 'Site updated')],
    [`refusals?appId=${appId}`, typing('Serial number', 'REFUSED'), typing('Serial number', '')],
    ['refusals', typing('Serial number', 'REFUSED')],
    [`deliveries?appId=${appId}`, choosing('Status', 'Failed'), choosing('Status', 'Pending')],
    ['deliveries', choosing('Type', 'Site updated')],
    ['people', typing('Name', name), typing('Name', ''), choosing('Role', 'Viewer')],
  ]
  const moved: string[] = []
  for (const [path, ...narrowings] of lists) {
    const viewport = { width: 1440, height: 900 }
    const { page } = await visit(`/console/${path}`, { role: 'admin', viewport, isPolling: true })
    await page.locator('main table[aria-busy=false] tbody tr').first().waitFor()
    await page.waitForLoadState('networkidle')
    await page.locator('.field-place').first().waitFor({ state: 'detached' })
    for (const [index, narrowing] of narrowings.entries()) {
      for (const what of await whatMoves(page, narrowing)) moved.push(`${path}, ${index}: ${what}`)
    }
  }
  expect(moved).toEqual([])
})
